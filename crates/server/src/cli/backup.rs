//! `glasshouse backup` and `glasshouse restore`: the database, and the key that decrypts its secrets, in one file.

mod file;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use store::{Damage, Part, Restored, Store, StoreError, dump, restore};

use crate::platform::{
    clock::Clock,
    config::Config,
    data_dir::{create_data_dir, hold_data_dir},
    object_storage,
    secret::{KEY_BYTES, random_token, write_private},
    secret_key,
};
use file::{Copy, Entry, Writer};

/// Maximum number of damaged values that are listed.
const MAX_NAMED: usize = 100;

/// What was backed up.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BackedUp {
    /// Number of rows.
    pub rows: u64,
    /// The values that could not be read and were replaced: the first `MAX_NAMED`.
    pub damaged: Vec<Damage>,
    /// Number of further ones.
    pub more_damaged: u64,
    /// The object storage that has to be backed up besides.
    pub objects_in: Option<String>,
}

/// What a backup contains besides the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Included {
    /// The key that decrypts secrets.
    pub key: bool,
    /// Contents that are in the object storage.
    pub objects: bool,
}

/// Backs up a consistent snapshot into `target`, which must not exist. The server may be running. Damaged values are
/// reported, and everything else is backed up.
///
/// # Errors
/// A sentence; then `target` does not exist.
pub async fn back_up(
    config: &Config,
    target: &Path,
    included: Included,
) -> anyhow::Result<BackedUp> {
    ensure!(
        !target.exists(),
        "{} is there already: choose another name",
        target.display()
    );
    check_is_there(config)?;
    let unfinished = beside(target)?;
    let written = write(config, &unfinished, included).await;
    let kept = written.and_then(|copied| {
        // Unlike renaming, this does not overwrite a file that was created meanwhile.
        fs::hard_link(&unfinished, target)
            .with_context(|| format!("cannot write {}", target.display()))?;
        Ok(copied)
    });
    let removed = fs::remove_file(&unfinished);
    let copied = kept?;
    removed.with_context(|| format!("cannot remove {}", unfinished.display()))?;
    Ok(copied)
}

async fn write(config: &Config, unfinished: &Path, included: Included) -> anyhow::Result<BackedUp> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    // It contains the key, password hashes and everyone's chats.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options
        .open(unfinished)
        .with_context(|| format!("cannot write {}", unfinished.display()))?;
    let mut writer = Writer::new(&file, Clock::real().now_ms()).context("cannot write the copy")?;
    let mut copied = BackedUp::default();
    let objects = match included.objects {
        true => object_storage::of(config)?,
        false => None,
    };
    copied.objects_in = match included.objects {
        true => None,
        false => object_storage::of(config)?.map(|blobs| blobs.place().to_owned()),
    };
    let take = |part: Part| {
        writer.part(&part)?;
        if let Part::Damaged(damage) = part {
            copied.note(damage);
        }
        Ok(())
    };
    dump(&config.database_url, objects.as_ref(), take)
        .await
        .context("the database cannot be copied")?;
    if included.key {
        // A server that was never started has encrypted nothing.
        if let Some(key) = config.secret_key.existing()? {
            writer
                .file(secret_key::FILE, &key)
                .context("cannot write the copy")?;
        }
    }
    copied.rows = writer.finish().context("cannot write the copy")?;
    file.sync_all().context("cannot write the copy")?;
    Ok(copied)
}

impl BackedUp {
    fn note(&mut self, damage: Damage) {
        tracing::error!(%damage, "left a damaged value out of the backup");
        match self.damaged.len() < MAX_NAMED {
            true => self.damaged.push(damage),
            false => self.more_damaged += 1,
        }
    }

    /// The report for the terminal.
    #[must_use]
    pub fn report(&self, file: &Path) -> String {
        let mut lines = vec![format!(
            "{} has everything: {} rows.",
            file.display(),
            self.rows
        )];
        let damaged = self.damaged.len() as u64 + self.more_damaged;
        if damaged > 0 {
            lines[0] = format!(
                "{} has everything that can be read: {} rows. Damaged values, in whose place others stand: {damaged}.",
                file.display(),
                self.rows
            );
            lines.extend(self.damaged.iter().map(Damage::to_string));
            if self.more_damaged > 0 {
                lines.push(format!("… and {} more", self.more_damaged));
            }
        }
        if let Some(place) = &self.objects_in {
            lines.push(format!(
                "The objects in {place} are not in it: back them up, too, and keep deleted ones for as long as backups."
            ));
        }
        lines.join("\n")
    }
}

/// Opening a missing database would create an empty one, and a backup of that is useless.
pub(super) fn check_is_there(config: &Config) -> anyhow::Result<()> {
    if config.database_url.starts_with("sqlite://") && !config.data_dir.exists() {
        bail!(
            "there is no data folder {}: start the server once first",
            config.data_dir.display()
        );
    }
    Ok(())
}

fn beside(target: &Path) -> anyhow::Result<PathBuf> {
    let mut name = target
        .file_name()
        .context("the copy needs a name")?
        .to_owned();
    name.push(random_token(".unfinished-")?.reveal());
    Ok(target.with_file_name(name))
}

/// Restores a backup into an empty database. The server must not be running.
///
/// # Errors
/// A sentence; then nothing was restored.
pub async fn bring_back(config: &Config, source: &Path) -> anyhow::Result<Restored> {
    // The whole backup is verified before anything is written.
    let mut copy = Copy::open(source)?;
    let mut key = None;
    for entry in &mut copy {
        if let Entry::File { name, content } = entry? {
            ensure!(
                name == secret_key::FILE,
                "the copy has a file that does not belong in it"
            );
            let content: [u8; KEY_BYTES] = content
                .try_into()
                .ok()
                .context("the key in the copy is damaged")?;
            ensure!(key.replace(content).is_none(), "the copy has two keys");
        }
    }
    create_data_dir(&config.data_dir)?;
    let _held = hold_data_dir(&config.data_dir).await?;
    let existing = config.secret_key.existing()?;
    if let (Some(key), Some(existing)) = (&key, &existing) {
        ensure!(
            key == existing,
            "{} is another key than the copy's: name an empty data folder, or move that key away",
            config.secret_key.place()
        );
    }
    let parts = Copy::open(source)?.filter_map(|entry| match entry {
        Ok(Entry::Part(part)) => Some(Ok(part)),
        Ok(Entry::File { .. }) => None,
        Err(error) => Some(Err(format!("{error:#}"))),
    });
    // The key goes first: rows are useless without it, but not the other way round.
    if let (Some(key), None) = (&key, existing) {
        let place = config.data_dir.join(secret_key::FILE);
        write_private(&place, key).with_context(|| format!("cannot write {}", place.display()))?;
    }
    let restored = restore(&config.database_url, parts).await.map_err(|error| match error {
        StoreError::Conflict("not empty") => anyhow::anyhow!(
            "the database is not empty: name another data folder, or an empty database, and change the settings once \
             all is well"
        ),
        StoreError::Conflict("newer") => {
            anyhow::anyhow!("the copy, or the database, is of another version of Glasshouse: use the newer of the two")
        }
        StoreError::Conflict(_) => anyhow::anyhow!("the copy holds two rows that cannot both be there"),
        error => anyhow::Error::from(error).context("the copy cannot be brought back"),
    })?;
    if key.is_none() && existing.is_none() {
        // Its secrets have to be entered again, with the key of this server.
        let store = Store::open(&config.database_url).await?;
        secret_key::forget(&store).await?;
        store.close().await;
    }
    Ok(restored)
}
