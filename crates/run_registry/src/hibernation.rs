//! Hibernation: a run that only waits for users is dropped from memory except for a small entry, and resumes from its
//! log on an answer, as after a restart.

use std::{
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use agent::{Journal, PreparedRun, StandingApproval};
use domain::{Clock, EventBody, LocalizedText, RunId};
use futures_util::future::BoxFuture;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::{LiveRun, LogSoFar, Runs, live::asks};

/// Maximum number of logs read concurrently to resume runs.
const READ_AT_ONCE: usize = 16;
/// How long an answer waits for the run to wake up.
const WAKES_WITHIN: Duration = Duration::from_secs(30);

/// A run read back from its log.
pub enum Resume {
    /// It can continue.
    Continue(Box<PreparedRun>, LogSoFar),
    /// It has to end, for this reason, shown to its owner.
    End(LogSoFar, Box<Journal>, LocalizedText),
}

/// Reads one run's log; an error means that it may be retried.
type ReadLog = Box<dyn Fn(RunId) -> BoxFuture<'static, anyhow::Result<Resume>> + Send + Sync>;

/// What runs need to wake up.
pub(crate) struct Hibernation {
    pub(crate) read_log: OnceLock<ReadLog>,
    pub(crate) reading: Semaphore,
}

impl Default for Hibernation {
    fn default() -> Self {
        Self {
            read_log: OnceLock::new(),
            reading: Semaphore::new(READ_AT_ONCE),
        }
    }
}

/// The hibernation state of one run.
#[derive(Debug, Default)]
pub(crate) struct HibernationState {
    /// Drops the agent, if the run can resume from its log.
    suspend: Mutex<Option<CancellationToken>>,
    /// The log's last event at the last check.
    looked_at: AtomicU64,
    wanted: Notify,
}

/// The error if a run did not wake up to take an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StillHibernated;

impl Runs {
    /// Sets how a run's log is read to resume it. Before that, no run hibernates.
    pub fn read_logs_with(
        &self,
        read_log: impl Fn(RunId) -> BoxFuture<'static, anyhow::Result<Resume>> + Send + Sync + 'static,
    ) {
        // Only the first call counts.
        drop(self.0.hibernation.read_log.set(Box::new(read_log)));
    }

    /// Hibernates the runs that only wait for users and have done nothing since the last call.
    pub fn hibernate_idle(&self) {
        if self.0.hibernation.read_log.get().is_none() {
            return;
        }
        let live: Vec<_> = self
            .lock()
            .values()
            .filter(|live| live.is_waiting())
            .cloned()
            .collect();
        live.iter().for_each(|live| live.hibernate_idle());
    }
}

impl Runs {
    /// Hibernates the runs that only wait, for users or to be handed over.
    pub(crate) fn hibernate_waiting(&self) {
        let live: Vec<_> = self.lock().values().cloned().collect();
        live.iter().for_each(|live| live.hibernate());
    }
}

impl LiveRun {
    /// Sets what drops the agent, if its log is enough to resume.
    pub(crate) fn allow_hibernation(&self, suspend: Option<CancellationToken>) {
        self.hibernation.looked_at.store(0, Ordering::Relaxed);
        *self
            .hibernation
            .suspend
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = suspend;
    }

    fn hibernate_idle(&self) {
        let last = self.last_seq();
        if self.hibernation.looked_at.swap(last, Ordering::Relaxed) != last {
            return;
        }
        self.hibernate();
    }

    /// Drops the agent if the run only waits.
    fn hibernate(&self) {
        let mut place = self
            .hibernation
            .suspend
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if place.is_some()
            && self.pending_input.rest(self.waiting().len())
            && let Some(suspend) = place.take()
        {
            suspend.cancel();
        }
    }

    /// Waits until a hibernated run has to wake up: for an answer, for a stop request, or because a request to the user
    /// expires.
    pub(crate) async fn wanted(&self, clock: &Clock) {
        let expires = self.expires_in(clock.now_ms());
        tokio::select! {
            () = self.hibernation.wanted.notified() => {}
            () = self.cancel.cancelled() => {}
            () = tokio::time::sleep(expires.unwrap_or_default()), if expires.is_some() => {}
        }
    }

    /// The time until its next request to the user expires, at the clock's time `now_ms`.
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

    /// Wakes the run, if it is hibernated, to take the answer to this request.
    ///
    /// # Errors
    /// If it does not wake up in time, for example because the database does not answer.
    pub async fn wake_for(&self, ask: &str) -> Result<(), StillHibernated> {
        if !self.pending_input.is_away() || !self.waits_for(ask) {
            return Ok(());
        }
        self.hibernation.wanted.notify_one();
        tokio::select! {
            () = self.pending_input.asked(ask) => Ok(()),
            () = self.withdrawn(ask) => Ok(()),
            () = self.ended() => Ok(()),
            () = tokio::time::sleep(WAKES_WITHIN) => Err(StillHibernated),
        }
    }

    /// Wakes the run, if it is hibernated, as its pending requests are no longer needed.
    ///
    /// # Errors
    /// Those of [`LiveRun::wake_for`].
    pub async fn wake_waiting(&self) -> Result<(), StillHibernated> {
        match self.waiting().first().and_then(|asked| asks(asked)) {
            Some(ask) => self.wake_for(ask).await,
            None => Ok(()),
        }
    }

    /// Waits until the run accepts inputs; wakes it for that, if it is hibernated.
    ///
    /// # Errors
    /// Those of [`LiveRun::wake_for`].
    pub async fn wake_for_input(&self) -> Result<(), StillHibernated> {
        if self.inputs.is_open() {
            return Ok(());
        }
        if self.pending_input.rests() {
            self.hibernation.wanted.notify_one();
        }
        tokio::select! {
            () = self.inputs.opened() => Ok(()),
            () = self.ended() => Ok(()),
            () = tokio::time::sleep(WAKES_WITHIN) => Err(StillHibernated),
        }
    }

    /// Wakes the run, if it is hibernated, to stop this sub-agent, if that or one below it waits for a user.
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

    /// Waits until the log shows that the run no longer waits for this.
    async fn withdrawn(&self, ask: &str) {
        let mut seen = self.log.watch();
        while self.waits_for(ask) && seen.changed().await.is_ok() {}
    }

    /// Allows the pending calls that match, and wakes the run for that if it is hibernated.
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
            tracing::warn!(run = %self.id, "failed to wake a hibernated run for a standing approval");
        }
        self.pending_input.allow_all(allowed);
    }
}
