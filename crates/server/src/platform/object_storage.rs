//! The object storage of the configuration: checked at the start, and the jobs that move contents there, remove what nothing
//! refers to, seal logs, and arrange their partitions.

use std::{
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use anyhow::{Context, bail};
use blobs::{Blobs, Problem};
use store::{ArrangedPartitions, MovedTo, Store, StoreError};

use super::{
    clock::Clock,
    config::Config,
    jobs::{Failure, Next},
    live_config::LiveConfig,
};

/// Logs that are sealed before the next look.
const SEALED_AT_A_TIME: u32 = 100;

/// The object storage of the configuration; `None` if there is none. It is not asked yet.
///
/// # Errors
/// A sentence that names the setting.
pub(crate) fn of(config: &Config) -> anyhow::Result<Option<Blobs>> {
    let settings = config.object_storage.as_ref();
    Ok(settings.map(Blobs::new).transpose()?)
}

/// Lets the store use the object storage of the configuration, after checking that it is the right one.
///
/// # Errors
/// A sentence, if it cannot be used, does not have the objects of this database, or is missing. If it only does not
/// answer, and is in use already, that is a warning.
pub(crate) async fn attach(config: &Config, store: &Store, clock: &Clock) -> anyhow::Result<()> {
    let is_in_use = store
        .refers_to_objects()
        .await
        .context("cannot read the database")?;
    let Some(blobs) = of(config)? else {
        if is_in_use {
            bail!(
                "contents of this database are in an object storage, but object_storage.url is not set: set it, or \
                 move them back where it is set with `glasshouse storage move --to database`"
            );
        }
        return Ok(());
    };
    let place = blobs.place().to_owned();
    let probed = blobs.probe().await;
    let clock = clock.clone();
    store.use_objects(blobs, move || clock.now_ms());
    match probed {
        Ok(()) => {}
        Err(problem @ Problem::Unavailable(_)) if is_in_use => {
            tracing::error!(%problem, "large contents cannot be read or stored for now");
            return Ok(());
        }
        Err(problem) => bail!("object_storage cannot be used: {problem}"),
    }
    match store.find_objects().await {
        Ok(()) => Ok(()),
        Err(error @ StoreError::Corrupt(_)) => bail!(
            "{place} is not the object storage that this database was used with: {error}. Correct object_storage.url"
        ),
        Err(error) => Err(error).with_context(|| format!("cannot read from {place}")),
    }
}

/// Where contents are, and the jobs about them.
pub(crate) struct Contents {
    pub(crate) clock: Clock,
    pub(crate) config: LiveConfig,
    pub(crate) store: Store,
}

impl Contents {
    /// Seals logs of runs that ended some time ago.
    pub(crate) async fn seal_logs(self: Arc<Self>) -> Result<Next, Failure> {
        let Some(age_ms) = self.config.now().seal_logs_ms else {
            return Ok(Next::Idle);
        };
        let before = self.clock.now_ms().saturating_sub(age_ms);
        let mut runs = self.store.logs_to_seal(before, SEALED_AT_A_TIME).await?;
        let is_more = runs.len() == SEALED_AT_A_TIME as usize;
        // Each server begins elsewhere, as one log need not be compressed by several.
        let order = RandomState::new();
        runs.sort_by_key(|run| order.hash_one(run));
        for run in runs {
            self.store.seal_log(run).await?;
        }
        Ok(if is_more { Next::Now } else { Next::Idle })
    }

    /// Creates and drops partitions of the logs.
    pub(crate) async fn arrange_log_partitions(self: Arc<Self>) -> Result<(), Failure> {
        let arranged = self.store.arrange_log_partitions().await?;
        if arranged != ArrangedPartitions::default() {
            tracing::info!(created = ?arranged.created, dropped = arranged.dropped, "arranged the partitions of logs");
        }
        Ok(())
    }

    /// Moves large contents of earlier rows to the object storage.
    pub(crate) async fn move_contents(self: Arc<Self>) -> Result<Next, Failure> {
        let moved = self.store.move_contents(MovedTo::Objects).await?;
        Ok(match moved.contents {
            0 => Next::Idle,
            _ => Next::Now,
        })
    }

    /// Removes objects to which nothing refers any more.
    pub(crate) async fn remove_objects(self: Arc<Self>) -> Result<Next, Failure> {
        let is_more = self.store.remove_objects().await?;
        Ok(if is_more { Next::Now } else { Next::Idle })
    }
}
