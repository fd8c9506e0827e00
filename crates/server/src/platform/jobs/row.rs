//! A row of the table of jobs, and its builder.

use std::{future::Future, sync::Arc, time::Duration};

use futures_util::{FutureExt, future::BoxFuture};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::sync::Notify;

use super::outcome::{Failure, Next, Outcome};

/// How long a job waits after passes that failed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Backoff {
    /// The same as after a successful pass.
    Interval,
    Fixed(Duration),
    Doubling {
        first: Duration,
        longest: Duration,
    },
}

impl Backoff {
    /// The wait after this many consecutive failures; `None` means the job's interval.
    pub(super) fn pause(self, failures: u32) -> Option<Duration> {
        match self {
            Self::Interval => None,
            Self::Fixed(pause) => Some(pause),
            Self::Doubling { first, longest } => {
                let doublings = failures.saturating_sub(1).min(31);
                Some(first.saturating_mul(1 << doublings).min(longest))
            }
        }
    }
}

/// Until when passes begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// The server begins to shut down.
    Stopping,
    /// All connections have ended and only the database is left to be closed.
    Closing,
}

pub(super) struct Wake {
    pub(super) notify: Arc<Notify>,
    /// Whether it also ends the wait after a failure.
    pub(super) while_failing: bool,
}

type Pass = Box<dyn Fn() -> BoxFuture<'static, Result<Next, Failure>> + Send + Sync>;

/// One row of the table of jobs.
#[must_use]
pub(crate) struct Job {
    pub(super) name: &'static str,
    pub(super) pass: Pass,
    pub(super) every: Option<Duration>,
    pub(super) has_jitter: bool,
    pub(super) is_delayed: bool,
    pub(super) wakes: Vec<Wake>,
    pub(super) backoff: Backoff,
    pub(super) workers: usize,
    pub(super) until: Until,
    pub(super) is_interruptible: bool,
    pub(super) is_needed: bool,
}

/// A job that calls `pass` with the service at its triggers. Its first pass begins at once; a pass under way is
/// completed when the server stops.
pub(crate) fn job<S, F>(
    name: &'static str,
    service: &S,
    pass: impl Fn(S) -> F + Send + Sync + 'static,
) -> Job
where
    S: Clone + Send + Sync + 'static,
    F: Future<Output: Outcome> + Send + 'static,
{
    let service = service.clone();
    Job {
        name,
        pass: Box::new(move || pass(service.clone()).map(Outcome::into_next).boxed()),
        every: None,
        has_jitter: false,
        is_delayed: false,
        wakes: Vec::new(),
        backoff: Backoff::Interval,
        workers: 1,
        until: Until::Stopping,
        is_interruptible: false,
        is_needed: true,
    }
}

impl Job {
    /// Begins a pass this long after the last one has ended.
    pub(crate) fn every(self, interval: Duration) -> Self {
        Self {
            every: Some(interval),
            ..self
        }
    }

    /// Randomly extends the interval by up to half, so that several servers do not act at the same time.
    pub(crate) fn with_jitter(self) -> Self {
        Self {
            has_jitter: true,
            ..self
        }
    }

    /// Makes the first pass wait for a trigger, too.
    pub(crate) fn delayed(self) -> Self {
        Self {
            is_delayed: true,
            ..self
        }
    }

    /// Begins a pass as soon as this is notified, and resets the back-off.
    pub(crate) fn woken_by(self, notify: &Arc<Notify>) -> Self {
        self.wake(notify, true)
    }

    /// Like [`Job::woken_by`], but not after a failure: more work does not repair what failed.
    pub(crate) fn woken_unless_failing_by(self, notify: &Arc<Notify>) -> Self {
        self.wake(notify, false)
    }

    fn wake(mut self, notify: &Arc<Notify>, while_failing: bool) -> Self {
        self.wakes.push(Wake {
            notify: Arc::clone(notify),
            while_failing,
        });
        self
    }

    /// Waits this long after a failed pass.
    pub(crate) fn retry_after(self, pause: Duration) -> Self {
        Self {
            backoff: Backoff::Fixed(pause),
            ..self
        }
    }

    /// Waits `first` after a failed pass, and twice as long after each further one, up to `longest`.
    pub(crate) fn back_off(self, first: Duration, longest: Duration) -> Self {
        Self {
            backoff: Backoff::Doubling { first, longest },
            ..self
        }
    }

    /// Runs this many passes concurrently.
    pub(crate) fn workers(self, workers: usize) -> Self {
        Self { workers, ..self }
    }

    /// Continues during shutdown, until only the database is left to be closed.
    pub(crate) fn until_closing(self) -> Self {
        Self {
            until: Until::Closing,
            ..self
        }
    }

    /// Drops a pass under way when the server stops: its progress is stored.
    pub(crate) fn interruptible(self) -> Self {
        Self {
            is_interruptible: true,
            ..self
        }
    }

    /// Leaves the job out if this server does not need it.
    pub(crate) fn only_if(self, is_needed: bool) -> Self {
        Self { is_needed, ..self }
    }

    /// The wait before the next pass; `None` if only a wake-up ends it.
    pub(super) fn interval(&self) -> Option<Duration> {
        let every = self.every?;
        Some(match self.has_jitter {
            true => every + every.mul_f64(0.5 * chance()),
            false => every,
        })
    }
}

/// A random number from 0 to 1.
fn chance() -> f64 {
    let mut bytes = [0; 4];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX),
        // Without randomness, passes are only spread less well.
        Err(_) => 0.5,
    }
}
