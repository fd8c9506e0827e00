//! Rest: a run that only waits for people leaves the memory but for a small entry, and goes on from its log, as after
//! a restart, when somebody answers.

use std::{
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use agent::{Journal, PreparedRun, StandingApproval};
use domain::{EventBody, LocalizedText, RunId};
use futures_util::future::BoxFuture;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use super::{LiveRun, LogSoFar, Runs, live::asks};
use crate::platform::clock::Clock;

/// How many logs are read at a time to go on with runs.
const READ_AT_ONCE: usize = 16;
/// How long whoever answers waits for the run to be there again.
const WAKES_WITHIN: Duration = Duration::from_secs(30);

/// A run read back from its log.
pub enum Resume {
    /// It can continue.
    Continue(Box<PreparedRun>, LogSoFar),
    /// It has to end, for this reason, in a sentence for its owner.
    End(LogSoFar, Box<Journal>, LocalizedText),
}

/// Reads one run's log; fails where that may be tried again.
type ReadLog = Box<dyn Fn(RunId) -> BoxFuture<'static, anyhow::Result<Resume>> + Send + Sync>;

/// How runs come back from their rest.
pub(super) struct Hibernation {
    pub(super) read_log: OnceLock<ReadLog>,
    pub(super) reading: Semaphore,
}

impl Default for Hibernation {
    fn default() -> Self {
        Self {
            read_log: OnceLock::new(),
            reading: Semaphore::new(READ_AT_ONCE),
        }
    }
}

/// What one run needs for its rest.
#[derive(Debug, Default)]
pub(super) struct HibernationState {
    /// Drops the agent, where the run can go on from its log.
    put_down: Mutex<Option<CancellationToken>>,
    /// The log's last event at the last look.
    looked_at: AtomicU64,
    wanted: Notify,
}

/// A run that could not be brought back to take an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StillHibernated;

impl Runs {
    /// Says how a run's log is read to go on with it. Before that no run is put to rest.
    pub fn read_logs_with(
        &self,
        read_log: impl Fn(RunId) -> BoxFuture<'static, anyhow::Result<Resume>> + Send + Sync + 'static,
    ) {
        // The first one stays.
        drop(self.0.rest.read_log.set(Box::new(read_log)));
    }

    /// Puts those to rest that only wait for people and have done nothing since the last call.
    pub fn rest_where_quiet(&self) {
        if self.0.rest.read_log.get().is_none() {
            return;
        }
        let live: Vec<_> = self
            .lock()
            .values()
            .filter(|live| live.is_waiting())
            .cloned()
            .collect();
        live.iter().for_each(|live| live.rest_where_quiet());
    }
}

impl LiveRun {
    /// Says what drops the agent, where its log is enough to go on.
    pub(super) fn may_rest(&self, put_down: Option<CancellationToken>) {
        self.bed.looked_at.store(0, Ordering::Relaxed);
        *self
            .bed
            .put_down
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = put_down;
    }

    fn rest_where_quiet(&self) {
        let last = self.last_seq();
        if self.bed.looked_at.swap(last, Ordering::Relaxed) != last {
            return;
        }
        let mut place = self
            .bed
            .put_down
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if place.is_some()
            && self.pending_input.rest(self.waiting().len())
            && let Some(put_down) = place.take()
        {
            put_down.cancel();
        }
    }

    /// Waits until a resting run is to go on: somebody has an answer or wants it stopped, or an ask expires.
    pub(super) async fn wanted(&self, clock: &Clock) {
        let expires = self.expires_in(clock.now_ms());
        tokio::select! {
            () = self.bed.wanted.notified() => {}
            () = self.cancel.cancelled() => {}
            () = tokio::time::sleep(expires.unwrap_or_default()), if expires.is_some() => {}
        }
    }

    /// How long its next ask waits yet, by the clock's time `now_ms`.
    fn expires_in(&self, now_ms: i64) -> Option<Duration> {
        let left = |at: i64, expires_in_ms: u64| {
            Duration::from_millis(
                expires_in_ms.saturating_sub(u64::try_from(now_ms.saturating_sub(at)).unwrap_or(0)),
            )
        };
        let open = self.waiting();
        let expiring = open.iter().filter_map(|asked| match &asked.event.body {
            EventBody::ApprovalAsked { expires_in_ms, .. }
            | EventBody::QuestionAsked { expires_in_ms, .. } => {
                expires_in_ms.map(|expires_in_ms| left(asked.event.at, expires_in_ms))
            }
            _ => None,
        });
        expiring.min()
    }

    /// Brings the run back, where it rests, to take the answer to this ask.
    ///
    /// # Errors
    /// Where it does not come back in time, as when the database does not answer.
    pub async fn wake_for(&self, ask: &str) -> Result<(), StillHibernated> {
        if !self.pending_input.is_away() || !self.waits_for(ask) {
            return Ok(());
        }
        self.bed.wanted.notify_one();
        tokio::select! {
            () = self.pending_input.asked(ask) => Ok(()),
            () = self.withdrawn(ask) => Ok(()),
            () = self.ended() => Ok(()),
            () = tokio::time::sleep(WAKES_WITHIN) => Err(StillHibernated),
        }
    }

    /// Brings the run back, where it rests: whatever it waits for is not needed any more.
    ///
    /// # Errors
    /// Those of [`LiveRun::wake_for`].
    pub async fn wake_waiting(&self) -> Result<(), StillHibernated> {
        match self.waiting().first().and_then(|asked| asks(asked)) {
            Some(ask) => self.wake_for(ask).await,
            None => Ok(()),
        }
    }

    /// Brings the run back, where it rests, to stop this sub-agent of it, if that or one under it waits for somebody.
    ///
    /// # Errors
    /// Those of [`LiveRun::wake_for`].
    pub async fn wake_agent(&self, agent: &str) -> Result<(), StillHibernated> {
        let open = self.waiting();
        let waits = open
            .iter()
            .find(|asked| asked.event.agent.ids().any(|id| id == agent));
        match waits.and_then(|asked| asks(asked)) {
            Some(ask) => self.wake_for(ask).await,
            None => Ok(()),
        }
    }

    /// Waits until the log says that the run no longer waits for this.
    async fn withdrawn(&self, ask: &str) {
        let mut seen = self.watch();
        while self.waits_for(ask) && seen.changed().await.is_ok() {}
    }

    /// Allows what waits and fits, bringing the run back for it where it rests.
    pub async fn allow_all(&self, allowed: &StandingApproval) {
        let open = self.waiting();
        let fitting = open.iter().find_map(|asked| match &asked.event.body {
            EventBody::ApprovalAsked {
                approval,
                name,
                arguments,
                may_remember: true,
                ..
            } => allowed.fits(name, arguments).then_some(approval),
            _ => None,
        });
        if let Some(approval) = fitting
            && self.wake_for(approval).await.is_err()
        {
            tracing::warn!(run = %self.id, "a run that rests could not be told that its call is allowed");
        }
        self.pending_input.allow_all(allowed);
    }
}
