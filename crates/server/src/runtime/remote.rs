//! Publishes the activity of runs that are not live in this process: runs of other servers on the same database, and
//! own runs that cannot resume yet. With a bus, other servers tell what their runs do, and nothing is polled.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex as SyncMutex, MutexGuard, PoisonError},
};

use bus::Bus;
use domain::{Outcome, RunId, UserId};
use run_registry::{Activity, ActivityState, Runs};
use store::{ActiveRun, Principal, Store, StoreError};
use tokio::sync::Mutex;

use crate::{platform::clock::Clock, runtime::commands::Commands};

/// How long a run that has ended is looked for. Clocks of servers may differ by less.
const ENDS_SEEN_MS: i64 = 10_000;

/// Activity of runs that are not live in this process.
pub(crate) struct Remote {
    pub(crate) bus: Bus,
    pub(crate) clock: Clock,
    /// The accounts with subscribers here, and how many each has.
    pub(crate) watching: SyncMutex<HashMap<UserId, usize>>,
    /// The last published state.
    pub(crate) known: Mutex<HashMap<RunId, ActiveRun>>,
    /// Runs whose end was published, and when they were last found.
    pub(crate) told_ends: SyncMutex<HashMap<RunId, i64>>,
    pub(crate) commands: Arc<Commands>,
    pub(crate) runs: Runs,
    pub(crate) store: Store,
}

/// One subscriber; until dropped, the account's runs are watched.
pub(crate) struct Watching(Arc<Remote>, UserId);

impl Drop for Watching {
    fn drop(&mut self) {
        let mut watching = self.0.watching();
        if let Some(count) = watching.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                watching.remove(&self.1);
            }
        }
    }
}

impl Remote {
    /// Watches the runs of an account.
    pub(crate) fn watch(self: &Arc<Self>, account: UserId) -> Watching {
        *self.watching().entry(account).or_default() += 1;
        Watching(Arc::clone(self), account)
    }

    /// Polls once if there are subscribers, and no bus that tells them.
    pub(crate) async fn follow(self: Arc<Self>) -> Result<(), StoreError> {
        let owners: Vec<UserId> = self.watching().keys().copied().collect();
        if owners.is_empty() || self.bus.is_up() {
            self.known.lock().await.clear();
            return Ok(());
        }
        self.look(&owners).await
    }

    /// The current activity of the principal's remote runs; later changes are published to subscribers.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn going(&self, principal: &Principal) -> Result<Vec<Activity>, StoreError> {
        if !self.commands.may_go_unseen() {
            return Ok(Vec::new());
        }
        let mut known = self.known.lock().await;
        let mut runs = self
            .store
            .active_runs(&[principal.account], i64::MAX)
            .await?;
        runs.retain(|run| self.is_elsewhere(run.id));
        known.extend(runs.iter().map(|run| (run.id, run.clone())));
        Ok(runs
            .into_iter()
            .filter(|run| run.principal.is_same_individual(principal))
            .map(activity)
            .collect())
    }

    /// Publishes the changes since the last poll.
    async fn look(&self, owners: &[UserId]) -> Result<(), StoreError> {
        // Held throughout, so that concurrent polls publish in order.
        let mut known = self.known.lock().await;
        known.retain(|_, run| owners.contains(&run.principal.account));
        let now_ms = self.clock.now_ms();
        let found = self
            .store
            .active_runs(owners, now_ms - ENDS_SEEN_MS)
            .await?;
        let (ended, going): (Vec<_>, Vec<_>) = found
            .into_iter()
            .filter(|run| self.is_elsewhere(run.id))
            .partition(|run| run.is_finished);
        for run in &going {
            if known.get(&run.id) != Some(run) {
                self.runs.tell_here(activity(run.clone()));
            }
        }
        let now: HashMap<_, _> = going.into_iter().map(|run| (run.id, run)).collect();
        let gone = known
            .values()
            .filter(|run| !now.contains_key(&run.id) && self.is_elsewhere(run.id));
        // Those that were known, and those that were too short for that.
        let ended: HashMap<_, _> = gone
            .cloned()
            .chain(ended)
            .map(|run| (run.id, run))
            .collect();
        known.clone_from(&now);
        for run in ended.into_values() {
            self.tell_end(run, now_ms).await?;
        }
        let mut told_ends = self.told_ends();
        told_ends.retain(|_, found_at| now_ms - *found_at < 2 * ENDS_SEEN_MS);
        Ok(())
    }

    /// Publishes the end of a run, once.
    async fn tell_end(&self, run: ActiveRun, now_ms: i64) -> Result<(), StoreError> {
        if self.told_ends().contains_key(&run.id) {
            return Ok(());
        }
        let outcome = self.outcome(run.id).await?;
        self.told_ends().insert(run.id, now_ms);
        self.runs.tell_here(Activity {
            state: ActivityState::Finished,
            outcome,
            ..activity(run)
        });
        Ok(())
    }

    fn is_elsewhere(&self, run: RunId) -> bool {
        self.runs.live(run).is_none()
    }

    /// How a run ended; `None` if it was deleted.
    async fn outcome(&self, run: RunId) -> Result<Option<Outcome>, StoreError> {
        match self.store.run(run).await {
            Ok(run) => Ok(run.summary.and_then(|summary| summary.outcome)),
            Err(StoreError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn watching(&self) -> MutexGuard<'_, HashMap<UserId, usize>> {
        self.watching.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told_ends(&self) -> MutexGuard<'_, HashMap<RunId, i64>> {
        self.told_ends
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn activity(run: ActiveRun) -> Activity {
    let ActiveRun {
        id,
        principal,
        chat,
        title,
        waiting_seq,
        is_finished: _,
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
