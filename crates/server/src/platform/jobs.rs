//! Background jobs: each a name, triggers, a back-off and a function that does one pass of work, run until the server
//! stops.

mod outcome;
mod row;
mod status;

use std::{
    any::Any,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::{
    FutureExt,
    future::{pending, select_all},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{error::panic_text, platform::clock::Clock};
pub use outcome::{Failure, Next};
use row::Until;
use status::State;
pub use status::{JobStatus, LastFailure, LastRun};
pub(crate) use {
    outcome::Steps,
    row::{Job, job},
};

/// Runs jobs and tracks their state. Cheap to clone.
#[derive(Clone)]
pub struct Jobs(Arc<Registry>);

struct Registry {
    clock: Clock,
    stopping: CancellationToken,
    closing: CancellationToken,
    tasks: TaskTracker,
    running: Mutex<Vec<Arc<Running>>>,
}

struct Running {
    job: Job,
    clock: Clock,
    stop: CancellationToken,
    state: State,
}

enum Waited {
    /// The wait has elapsed.
    Due,
    Woken,
    Stopped,
}

impl Jobs {
    /// Jobs stop at one of the two tokens; `tasks` tracks them.
    pub(crate) fn new(
        clock: Clock,
        stopping: CancellationToken,
        closing: CancellationToken,
        tasks: TaskTracker,
    ) -> Self {
        Self(Arc::new(Registry {
            clock,
            stopping,
            closing,
            tasks,
            running: Mutex::default(),
        }))
    }

    /// Starts the jobs that are needed.
    pub(crate) fn start(&self, jobs: Vec<Job>) {
        for job in jobs.into_iter().filter(|job| job.is_needed) {
            let stop = match job.until {
                Until::Stopping => &self.0.stopping,
                Until::Closing => &self.0.closing,
            };
            let running = Arc::new(Running {
                clock: self.0.clock.clone(),
                stop: stop.clone(),
                state: State::new(job.workers),
                job,
            });
            for worker in 0..running.job.workers {
                let running = Arc::clone(&running);
                self.0
                    .tasks
                    .spawn(async move { running.work(worker).await });
            }
            self.lock().push(running);
        }
    }

    /// The status of each job, in the order in which they were started.
    #[must_use]
    pub fn status(&self) -> Vec<JobStatus> {
        let running = self.lock();
        running
            .iter()
            .map(|running| running.state.status(&running.job))
            .collect()
    }

    /// The time since a pass of this job last ended; zero if there is no such job here.
    pub(crate) fn no_pass_for(&self, name: &str) -> Duration {
        let running = self.lock();
        let job = running.iter().find(|running| running.job.name == name);
        job.map_or(Duration::ZERO, |running| running.state.no_pass_for())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Running>>> {
        self.0
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    /// Runs passes until the server stops.
    async fn work(&self, worker: usize) {
        let mut next = match self.job.is_delayed {
            true => Next::Idle,
            false => Next::Now,
        };
        let mut failures = 0;
        loop {
            let pause = match next {
                Next::Now => Some(Duration::ZERO),
                Next::Idle => self.job.interval(),
                Next::After(pause) => Some(pause),
                Next::Done => return self.state.note_next(worker, None),
            };
            match self.wait(worker, pause, failures > 0).await {
                Waited::Due => {}
                Waited::Woken => failures = 0,
                Waited::Stopped => return,
            }
            let Some(outcome) = self.pass(worker).await else {
                return;
            };
            next = match outcome {
                Ok(next) => {
                    failures = 0;
                    next
                }
                Err(failure) => {
                    failures += 1;
                    let pause = failure
                        .retry_in
                        .or_else(|| self.job.backoff.pause(failures));
                    pause.map_or(Next::Idle, Next::After)
                }
            };
        }
    }

    /// Waits for the next pass.
    async fn wait(&self, worker: usize, pause: Option<Duration>, is_failing: bool) -> Waited {
        if self.stop.is_cancelled() {
            return Waited::Stopped;
        }
        if pause == Some(Duration::ZERO) {
            return Waited::Due;
        }
        self.state.note_next(
            worker,
            pause.map(|pause| self.clock.now_ms() + millis(pause)),
        );
        let due = async {
            match pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => pending().await,
            }
        };
        let wakes = self.job.wakes.iter();
        let wakes: Vec<_> = wakes
            .filter(|wake| wake.while_failing || !is_failing)
            .map(|wake| Box::pin(wake.notify.notified()))
            .collect();
        let woken = async {
            match wakes.is_empty() {
                true => pending().await,
                false => _ = select_all(wakes).await,
            }
        };
        tokio::select! {
            () = self.stop.cancelled() => Waited::Stopped,
            () = woken => Waited::Woken,
            () = due => Waited::Due,
        }
    }

    /// One pass; `None` if it was interrupted. A panic fails this pass only.
    async fn pass(&self, worker: usize) -> Option<Result<Next, Failure>> {
        let began = tokio::time::Instant::now();
        let started_at = self.clock.now_ms();
        self.state.begin(worker, started_at);
        let pass = AssertUnwindSafe(async { (self.job.pass)().await }).catch_unwind();
        let outcome = tokio::select! {
            () = self.stop.cancelled(), if self.job.is_interruptible => {
                self.state.interrupt(worker);
                return None;
            }
            outcome = pass => outcome,
        };
        let outcome = outcome
            .unwrap_or_else(|panic: Box<dyn Any + Send>| Err(Failure::new(panic_text(&*panic))));
        let run = LastRun {
            started_at,
            finished_at: self.clock.now_ms(),
            duration: began.elapsed(),
        };
        let failed = outcome.as_ref().err().map(|failure| &*failure.error);
        self.state.finish(worker, self.job.name, run, failed);
        Some(outcome)
    }
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX / 2)
}

#[cfg(test)]
mod tests;
