//! The data folder: created for its owner only, locked by one server at a time, its files closed to other users.

use std::{
    ffi::OsStr,
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use tokio::time::Instant;

use crate::platform::config::Config;

/// How long to wait for another server on the same data to stop.
const STOPPING_TIME: Duration = Duration::from_secs(5);

/// The folder holds a key and people's chats, so only its owner may access it.
pub(crate) fn create_data_dir(dir: &Path) -> anyhow::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(dir)
        .with_context(|| format!("cannot make the data folder {}", dir.display()))
}

/// Locks the data folder for this process until the file is closed: two servers that resume the same runs would do
/// everything twice. Waits for a server that is just stopping.
pub(crate) async fn hold_data_dir(dir: &Path) -> anyhow::Result<File> {
    let path = dir.join("glasshouse.lock");
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&path);
    let file = file.with_context(|| format!("cannot open {}", path.display()))?;
    let give_up = Instant::now() + STOPPING_TIME;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < give_up => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            Err(TryLockError::WouldBlock) => {
                anyhow::bail!(
                    "another Glasshouse uses the data folder {}; stop it first",
                    dir.display()
                );
            }
            Err(TryLockError::Error(error)) => {
                // Some network file systems do not support locks.
                tracing::warn!(%error, "failed to lock the data folder; do not start a second server on it");
                return Ok(file);
            }
        }
    }
}

/// Restricts files that an earlier version or a copy left readable for everyone. New files are created
/// for their owner only, whatever folder they are in.
pub(crate) fn tighten(config: &Config) {
    #[cfg(unix)]
    for path in own_files(config) {
        match close_to_others(&path) {
            Ok(false) => {}
            Ok(true) => {
                tracing::warn!(file = %path.display(), "other users could read this file; changed its mode to 0600")
            }
            Err(error) => {
                tracing::warn!(%error, file = %path.display(), "other users can read this file; run chmod 600 on it");
            }
        }
    }
    #[cfg(not(unix))]
    let _ = config;
}

/// The lock file, and the database with the files that SQLite and updates create next to it.
#[cfg(unix)]
fn own_files(config: &Config) -> Vec<PathBuf> {
    let mut files = vec![config.data_dir.join("glasshouse.lock")];
    let Some(database) = config.database_url.strip_prefix("sqlite://").map(Path::new) else {
        return files;
    };
    let (Some(folder), Some(name)) = (
        database.parent(),
        database.file_name().and_then(OsStr::to_str),
    ) else {
        return files;
    };
    let siblings = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_part = |file: &OsStr| {
        let rest = file.to_str().and_then(|file| file.strip_prefix(name));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
    };
    files.extend(
        siblings
            .filter(|file| is_part(&file.file_name()))
            .map(|file| file.path()),
    );
    files
}

/// Whether other users had access.
#[cfg(unix)]
fn close_to_others(path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    let found = path.symlink_metadata()?;
    if !found.is_file() || found.permissions().mode() & 0o077 == 0 {
        return Ok(false);
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(true)
}
