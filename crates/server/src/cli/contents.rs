//! `glasshouse storage move`: moves large contents between the database and the object storage.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::ValueEnum;
use store::{Moved, MovedTo, Store};

use crate::platform::{clock::Clock, config::Config, data_dir::hold_data_dir, object_storage};

/// Progress is shown this often.
const SHOWN_EVERY: Duration = Duration::from_secs(2);

/// Where contents are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Target {
    /// Rows of the database.
    Database,
    /// Objects of the object storage.
    Objects,
}

/// Moves everything, a few contents at a time, and shows how far it is.
///
/// # Errors
/// A sentence; what was moved until then stays there.
pub(super) async fn move_all(
    config: &Config,
    to: Target,
    show: impl Fn(&str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    ensure!(
        config.object_storage.is_some(),
        "object_storage.url is not set: it names the object storage for both directions"
    );
    // A server would move the contents to the objects again.
    let _held = match to {
        Target::Database => Some(hold_data_dir(&config.data_dir).await?),
        Target::Objects => None,
    };
    let store = Store::open(&config.database_url)
        .await
        .context("cannot open the database")?;
    object_storage::attach(config, &store, &Clock::real()).await?;
    let target = match to {
        Target::Database => MovedTo::Database,
        Target::Objects => MovedTo::Objects,
    };
    let moved = move_batches(&store, target, &show).await?;
    show(&format!("Moved: {}.", words(moved)))?;
    if to == Target::Database && moved.failed == 0 {
        let removed = store.remove_all_objects().await?;
        show(&format!(
            "Objects deleted: {removed}. Remove object_storage.url before you start the server."
        ))?;
    }
    store.close().await;
    ensure!(
        moved.failed == 0,
        "{} contents are missing or damaged and stay where they are: see the log",
        moved.failed
    );
    Ok(())
}

async fn move_batches(
    store: &Store,
    to: MovedTo,
    show: &impl Fn(&str) -> anyhow::Result<()>,
) -> anyhow::Result<Moved> {
    let mut all = Moved::default();
    let mut shown = Instant::now();
    loop {
        let moved = store.move_contents(to).await?;
        all.contents += moved.contents;
        all.bytes += moved.bytes;
        // Those that cannot be moved are met in each batch.
        all.failed = moved.failed;
        if moved.contents == 0 {
            return Ok(all);
        }
        if shown.elapsed() >= SHOWN_EVERY {
            show(&format!("Moved so far: {}", words(all)))?;
            shown = Instant::now();
        }
    }
}

fn words(moved: Moved) -> String {
    format!(
        "{} contents, {:.1} MB",
        moved.contents,
        moved.bytes as f64 / 1e6
    )
}
