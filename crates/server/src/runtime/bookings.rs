//! Writes the usage ledger down, and books runs whose server ended before it could.

use std::{sync::Arc, time::Duration};

use domain::RunId;
use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;

use crate::{gateway::usage::Usage, platform::clock::Clock, runtime::runs::Runs};

/// How often what was used is written down.
const WRITE: Duration = Duration::from_secs(1);
/// Runs of servers that are gone are looked for so often, and are theirs no more after so long.
const LOOK: Duration = Duration::from_secs(60);

/// Books the usage of runs whose server ended before it could.
pub(crate) struct Bookings {
    pub(crate) clock: Clock,
    pub(crate) runs: Runs,
    pub(crate) store: Store,
    pub(crate) usage: Arc<Usage>,
}

impl Bookings {
    /// Books the usage of runs that ended just before their server did.
    async fn note_left_runs(&self) -> Result<(), StoreError> {
        let before = match self.store.is_shared() {
            // A server that lives writes them down itself.
            true => self.clock.now_ms() - i64::try_from(LOOK.as_millis()).unwrap_or(i64::MAX),
            false => i64::MAX,
        };
        for run in self.store.unbooked_runs(before).await? {
            // One log that cannot be read must not keep the others out; a run may be deleted meanwhile.
            if let Err(error) = self.note_left_run(run).await {
                tracing::warn!(%run, %error, "what a run has used cannot be read from its log");
            }
        }
        Ok(())
    }

    async fn note_left_run(&self, run: RunId) -> Result<(), StoreError> {
        let run = self.store.run(run).await?;
        self.runs.note_past_of(&run).await?;
        self.usage.run_is_over(run.id, run.last_seq);
        Ok(())
    }
}

/// Writes down what is used, once a second until the server stops.
pub(crate) async fn keep_usage(bookings: Arc<Bookings>, closing: CancellationToken) {
    let mut look_in = 0;
    loop {
        if look_in == 0 {
            look_in = LOOK.as_secs() / WRITE.as_secs().max(1);
            if let Err(error) = bookings.note_left_runs().await {
                tracing::warn!(%error, "cannot look for runs whose usage is not written down");
            }
            bookings.usage.forget_unused();
        }
        look_in -= 1;
        tokio::select! {
            () = closing.cancelled() => return,
            () = tokio::time::sleep(WRITE) => {}
        }
        let keep = async {
            bookings.usage.write_down().await?;
            bookings.usage.catch_up().await
        };
        if let Err(error) = keep.await {
            tracing::warn!(%error, "usage cannot be written down; trying again");
        }
    }
}
