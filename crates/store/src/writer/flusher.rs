//! Flushes SQLite's write-ahead log to the disk as it grows.
//!
//! SQLite does so only before a checkpoint, and all writers then wait for the accumulated data. Regular flushes also
//! limit the loss after a power failure to the last moments instead of minutes.

use std::{fs::File, path::PathBuf, sync::Arc, time::Duration};

use tokio::{
    sync::Notify,
    task::{JoinSet, spawn_blocking},
    time::sleep,
};

/// The minimum interval between flushes.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// The owner of the flushing task; dropping it ends the task.
#[derive(Debug)]
pub(super) struct Flusher {
    grown: Arc<Notify>,
    _task: JoinSet<()>,
}

impl Flusher {
    /// Flushes the file at that path, which need not exist yet.
    pub(super) fn start(path: PathBuf) -> Self {
        let grown = Arc::new(Notify::new());
        let mut task = JoinSet::new();
        task.spawn(flush(path, Arc::clone(&grown)));
        Self { grown, _task: task }
    }

    /// Data was written: it will be flushed soon.
    pub(super) fn note(&self) {
        self.grown.notify_one();
    }
}

async fn flush(path: PathBuf, grown: Arc<Notify>) {
    // Kept open: SQLite holds no lock on this file, and its name stays while the database is open.
    let mut kept: Option<File> = None;
    loop {
        grown.notified().await;
        let known = kept.take();
        let path = path.clone();
        let flushed = spawn_blocking(move || {
            let file = known.map_or_else(|| File::options().write(true).open(path), Ok)?;
            file.sync_data().map(|()| file)
        });
        match flushed.await {
            Ok(Ok(file)) => kept = Some(file),
            // SQLite reports disk errors when it flushes the file itself.
            Ok(Err(error)) => tracing::debug!(%error, "failed to flush the write-ahead log"),
            Err(error) => tracing::debug!(%error, "flush of the write-ahead log was aborted"),
        }
        sleep(MIN_INTERVAL).await;
    }
}
