//! Background jobs: each a name, triggers, a back-off and a function that does one pass of work, run until the server stops.

mod status;

use std::{
    any::Any, fmt::Display, future::Future, panic::AssertUnwindSafe, sync::Arc, time::Duration,
};

use futures_util::{
    FutureExt,
    future::{BoxFuture, pending, select_all},
};
use ring::rand::{SecureRandom, SystemRandom};
use store::StoreError;
use tokio::sync::Notify;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    error::{ApiError, panic_text},
    platform::clock::Clock,
};
use status::State;
pub use status::{JobStatus, LastFailure, LastRun};

/// When a job's next pass begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// At once: there may be more to do.
    Now,
    /// After the job's interval, or when it is woken.
    Idle,
    /// After this time, or when it is woken.
    After(Duration),
    /// Never: nothing is left to do for this process.
    Done,
}

/// Why a pass failed, for the log and for administrators.
#[derive(Debug)]
pub struct Failure {
    error: String,
    retry_in: Option<Duration>,
}

impl Failure {
    pub(crate) fn new(error: impl Display) -> Self {
        Self {
            error: error.to_string(),
            retry_in: None,
        }
    }

    /// Has the next pass begin after this time instead of the job's back-off.
    pub(crate) fn retry_in(self, time: Duration) -> Self {
        Self {
            retry_in: Some(time),
            ..self
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::new(error)
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::new(error.with_cause())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::new(format_args!("{error:#}"))
    }
}

/// Collects the failures of steps of one pass that do not depend on each other.
#[derive(Debug, Default)]
pub(crate) struct Steps(Vec<String>);

impl Steps {
    pub(crate) fn note<T, E: Into<Failure>>(&mut self, step: &str, result: Result<T, E>) {
        if let Err(error) = result {
            self.0.push(format!("{step}: {}", error.into().error));
        }
    }

    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self.0.is_empty() {
            true => Ok(()),
            false => Err(Failure::new(self.0.join("; "))),
        }
    }
}

/// What a pass may return.
pub(crate) trait Outcome {
    fn into_next(self) -> Result<Next, Failure>;
}

impl Outcome for () {
    fn into_next(self) -> Result<Next, Failure> {
        Ok(Next::Idle)
    }
}

impl<E: Into<Failure>> Outcome for Result<(), E> {
    fn into_next(self) -> Result<Next, Failure> {
        self.map(|()| Next::Idle).map_err(E::into)
    }
}

impl<E: Into<Failure>> Outcome for Result<Next, E> {
    fn into_next(self) -> Result<Next, Failure> {
        self.map_err(E::into)
    }
}

/// How long a job waits after passes that failed.
#[derive(Debug, Clone, Copy)]
enum Backoff {
    /// As long as after any other pass.
    Interval,
    Fixed(Duration),
    Doubling {
        first: Duration,
        longest: Duration,
    },
}

impl Backoff {
    /// The wait after so many failures in a row; `None` is the job's interval.
    fn pause(self, failures: u32) -> Option<Duration> {
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

/// When no pass begins any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// The server begins to shut down.
    Stopping,
    /// All connections have ended and only the database is left to be closed.
    Closing,
}

struct Wake {
    notify: Arc<Notify>,
    /// Whether it also ends the wait after a failure.
    while_failing: bool,
}

type Pass = Box<dyn Fn() -> BoxFuture<'static, Result<Next, Failure>> + Send + Sync>;

/// One row of the table of jobs.
#[must_use]
pub(crate) struct Job {
    name: &'static str,
    pass: Pass,
    every: Option<Duration>,
    has_jitter: bool,
    is_delayed: bool,
    wakes: Vec<Wake>,
    backoff: Backoff,
    workers: usize,
    until: Until,
    is_interruptible: bool,
    is_needed: bool,
}

/// A job that calls `pass` with the service at its triggers. Its first pass begins at once; a pass under way is completed
/// when the server stops.
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
    /// Begins a pass so long after the last one has ended.
    pub(crate) fn every(self, interval: Duration) -> Self {
        Self {
            every: Some(interval),
            ..self
        }
    }

    /// Makes the interval up to half as long again by chance, so that several servers do not all act at once.
    pub(crate) fn with_jitter(self) -> Self {
        Self {
            has_jitter: true,
            ..self
        }
    }

    /// Has the first pass wait for a trigger, too.
    pub(crate) fn delayed(self) -> Self {
        Self {
            is_delayed: true,
            ..self
        }
    }

    /// Begins a pass as soon as this is notified, and starts the back-off anew.
    pub(crate) fn woken_by(self, notify: &Arc<Notify>) -> Self {
        self.wake(notify, true)
    }

    /// The same, but not after a failure: more work does not repair what failed.
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

    /// Waits so long after a pass that failed.
    pub(crate) fn retry_after(self, pause: Duration) -> Self {
        Self {
            backoff: Backoff::Fixed(pause),
            ..self
        }
    }

    /// Waits `first` after a pass that failed, and twice as long after each further one, up to `longest`.
    pub(crate) fn back_off(self, first: Duration, longest: Duration) -> Self {
        Self {
            backoff: Backoff::Doubling { first, longest },
            ..self
        }
    }

    /// Has so many passes run side by side.
    pub(crate) fn workers(self, workers: usize) -> Self {
        Self { workers, ..self }
    }

    /// Goes on while the server shuts down, until only the database is left to be closed.
    pub(crate) fn until_closing(self) -> Self {
        Self {
            until: Until::Closing,
            ..self
        }
    }

    /// Drops a pass under way when the server stops: what it has done so far is stored.
    pub(crate) fn interruptible(self) -> Self {
        Self {
            is_interruptible: true,
            ..self
        }
    }

    /// Leaves the job out where this server has no use for it.
    pub(crate) fn only_if(self, is_needed: bool) -> Self {
        Self { is_needed, ..self }
    }

    /// The wait before the next pass; `None` if only a wake-up ends it.
    fn interval(&self) -> Option<Duration> {
        let every = self.every?;
        Some(match self.has_jitter {
            true => every + every.mul_f64(0.5 * chance()),
            false => every,
        })
    }
}

/// Runs jobs and knows how they do. Cloning is cheap.
#[derive(Clone)]
pub struct Jobs(Arc<Registry>);

struct Registry {
    clock: Clock,
    stopping: CancellationToken,
    closing: CancellationToken,
    tasks: TaskTracker,
    running: std::sync::Mutex<Vec<Arc<Running>>>,
}

struct Running {
    job: Job,
    clock: Clock,
    stop: CancellationToken,
    state: State,
}

enum Waited {
    /// The time is over.
    Due,
    Woken,
    Stopped,
}

impl Jobs {
    /// Jobs end with one of the two tokens; `tasks` waits for them.
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
            running: std::sync::Mutex::default(),
        }))
    }

    /// Starts those jobs that are needed.
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

    /// How each job does, in the order in which they were started.
    #[must_use]
    pub fn status(&self) -> Vec<JobStatus> {
        let running = self.lock();
        running
            .iter()
            .map(|running| running.state.status(&running.job))
            .collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Running>>> {
        self.0
            .running
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Running {
    /// One pass after the other until the server stops.
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

/// From 0 to 1.
fn chance() -> f64 {
    let mut bytes = [0; 4];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX),
        // Without randomness the passes are only less well spread.
        Err(_) => 0.5,
    }
}

#[cfg(test)]
mod tests;
