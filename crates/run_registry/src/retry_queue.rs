//! A queue of runs whose logs could not be stored for too long, waiting to be resumed.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::RunId;
use tokio::sync::Notify;

use crate::{Inner, Runs, recorder::GIVE_UP_AFTER};

/// The queued runs, and the time after which a run is given up.
#[derive(Debug)]
pub(crate) struct RetryQueue {
    runs: Mutex<Vec<RunId>>,
    more: Arc<Notify>,
    after: Mutex<Duration>,
}

impl Default for RetryQueue {
    fn default() -> Self {
        Self {
            runs: Mutex::default(),
            more: Arc::default(),
            after: Mutex::new(GIVE_UP_AFTER),
        }
    }
}

impl RetryQueue {
    pub(crate) fn push(&self, run: RunId) {
        self.runs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(run);
        self.more.notify_one();
    }
}

impl Inner {
    /// How long writes are retried while the database does not answer.
    pub(crate) fn patience(&self) -> Duration {
        *self
            .given_up
            .after
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Runs {
    /// Gives up runs after this time, rather than after two minutes.
    pub fn give_up_after(&self, time: Duration) {
        *self
            .0
            .given_up
            .after
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = time;
    }

    /// Gives up a run that is not live in this process.
    pub fn give_up(&self, run: RunId) {
        self.0.given_up.push(run);
    }

    /// Notified when a run is given up.
    #[must_use]
    pub fn given_up_notice(&self) -> &Arc<Notify> {
        &self.0.given_up.more
    }

    /// Returns each given-up run once. No task of this process works on them.
    #[must_use]
    pub fn take_given_up(&self) -> Vec<RunId> {
        std::mem::take(
            &mut *self
                .0
                .given_up
                .runs
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Waits for runs to be given up, and returns each once.
    pub async fn given_up(&self) -> Vec<RunId> {
        loop {
            let runs = self.take_given_up();
            if !runs.is_empty() {
                return runs;
            }
            self.0.given_up.more.notified().await;
        }
    }
}
