//! Whether this server makes progress with the database. Its lease and its readiness depend on that: a server that can
//! renew its lease but neither stores logs nor notices what others have changed leaves its runs to other servers.

use std::time::Duration;

use store::{Store, StoreError};

use crate::platform::jobs::Jobs;

/// The jobs whose passes have to end regularly.
const WATCHED: [&str; 2] = ["end_revoked_access", "receive_commands"];
/// After this time without progress a server is not ready for requests.
const UNREADY_AFTER: Duration = Duration::from_secs(5);

/// Watches the writer of logs and the jobs that follow changes of other servers.
pub(crate) struct Progress {
    pub(crate) jobs: Jobs,
    pub(crate) store: Store,
}

impl Progress {
    /// What has made no progress for longer than that, if anything.
    pub(crate) fn stalled(&self, longer_than: Duration) -> Option<&'static str> {
        if self.store.writer_silent_for() > longer_than {
            return Some("storing logs");
        }
        WATCHED
            .into_iter()
            .find(|name| self.jobs.no_pass_for(name) > longer_than)
    }

    /// Checks that the server can work on runs.
    ///
    /// # Errors
    /// If the database does not answer, the lease is lost, or something is stalled.
    pub(crate) async fn check(&self) -> Result<(), StoreError> {
        self.store.ping().await?;
        if !self.store.has_lease() {
            return Err(StoreError::Unavailable("the lease is lost".to_owned()));
        }
        match self.stalled(UNREADY_AFTER) {
            Some(what) => Err(StoreError::Unavailable(format!("no progress: {what}"))),
            None => Ok(()),
        }
    }
}
