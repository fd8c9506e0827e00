//! Publishes the activity of runs that are not live in this process: runs of other servers on the same database, and
//! own runs that cannot resume yet.

use std::{collections::HashMap, sync::Arc};

use domain::{Outcome, RunId};
use run_registry::{Activity, ActivityState, Runs};
use store::{ActiveRun, Principal, Store, StoreError};
use tokio::sync::Mutex;

use crate::runtime::commands::Commands;

/// Activity of runs that are not live in this process.
pub(crate) struct Remote {
    /// The last published state.
    pub(crate) known: Mutex<HashMap<RunId, ActiveRun>>,
    pub(crate) commands: Arc<Commands>,
    pub(crate) runs: Runs,
    pub(crate) store: Store,
}

impl Remote {
    /// Polls once if there are subscribers.
    pub(crate) async fn follow(self: Arc<Self>) -> Result<(), StoreError> {
        if self.runs.is_watched() {
            self.look().await?;
        } else {
            self.known.lock().await.clear();
        }
        Ok(())
    }

    /// The current activity of the principal's remote runs; later changes are published to subscribers.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn going(&self, principal: &Principal) -> Result<Vec<Activity>, StoreError> {
        if !self.commands.may_go_unseen() {
            return Ok(Vec::new());
        }
        let known = self.look().await?;
        Ok(known
            .into_values()
            .filter(|run| run.principal.is_same_individual(principal))
            .map(activity)
            .collect())
    }

    /// Publishes the changes since the last poll, and returns the current state.
    async fn look(&self) -> Result<HashMap<RunId, ActiveRun>, StoreError> {
        // Held throughout, so that concurrent polls publish in order.
        let mut known = self.known.lock().await;
        let going = self.store.active_runs().await?;
        let is_elsewhere = |run: &ActiveRun| self.runs.live(run.id).is_none();
        let now: HashMap<_, _> = going
            .into_iter()
            .filter(is_elsewhere)
            .map(|run| (run.id, run))
            .collect();
        for run in now.values().filter(|run| known.get(&run.id) != Some(run)) {
            self.runs.tell(activity(run.clone()));
        }
        let gone: Vec<ActiveRun> = known
            .values()
            .filter(|run| !now.contains_key(&run.id))
            .cloned()
            .collect();
        for run in gone.into_iter().filter(is_elsewhere) {
            let outcome = self.outcome(run.id).await?;
            self.runs.tell(Activity {
                state: ActivityState::Finished,
                outcome,
                ..activity(run)
            });
        }
        known.clone_from(&now);
        Ok(now)
    }

    /// How a run ended; `None` if it was deleted.
    async fn outcome(&self, run: RunId) -> Result<Option<Outcome>, StoreError> {
        match self.store.run(run).await {
            Ok(run) => Ok(run.summary.and_then(|summary| summary.outcome)),
            Err(StoreError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn activity(run: ActiveRun) -> Activity {
    let ActiveRun {
        id,
        principal,
        chat,
        title,
        waiting_seq,
    } = run;
    let state = if waiting_seq > 0 {
        ActivityState::Waiting
    } else {
        ActivityState::Running
    };
    Activity {
        principal,
        chat,
        run: Some(id),
        state,
        outcome: None,
        title,
    }
}
