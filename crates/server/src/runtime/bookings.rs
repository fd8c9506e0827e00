//! Books the usage of runs whose server stopped before it could.

use std::{sync::Arc, time::Duration};

use domain::RunId;
use run_registry::{Runs, UsageLedger};
use store::{Store, StoreError};

use crate::{
    gateway::usage::Usage,
    platform::{
        clock::Clock,
        jobs::{Failure, Steps},
    },
};

/// After this time, an ended run counts as not booked by its own server.
const ABANDONED_AFTER: Duration = Duration::from_secs(60);

/// Books the usage of runs whose server stopped before it could.
pub(crate) struct Bookings {
    pub(crate) clock: Clock,
    pub(crate) runs: Runs,
    pub(crate) store: Store,
    pub(crate) usage: Arc<Usage>,
}

impl Bookings {
    /// Books the usage of runs that ended just before their server stopped, and drops cached usage that no limit needs.
    pub(crate) async fn book_left_runs(self: Arc<Self>) -> Result<(), Failure> {
        self.usage.forget_unused();
        let before = match self.store.is_shared() {
            // A live server books its runs itself.
            true => {
                let age_ms = i64::try_from(ABANDONED_AFTER.as_millis()).unwrap_or(i64::MAX);
                self.clock.now_ms() - age_ms
            }
            false => i64::MAX,
        };
        let mut steps = Steps::default();
        for run in self.store.unbooked_runs(before).await? {
            match self.book_left_run(run).await {
                // Deleted meanwhile.
                Err(StoreError::NotFound) => {}
                // One unreadable log must not keep the others from being booked.
                booked => steps.note(&run.to_string(), booked),
            }
        }
        steps.finish()
    }

    async fn book_left_run(&self, run: RunId) -> Result<(), StoreError> {
        let run = self.store.run(run).await?;
        self.runs.note_past_of(&run).await?;
        self.usage.run_is_over(run.id, run.last_seq);
        Ok(())
    }
}
