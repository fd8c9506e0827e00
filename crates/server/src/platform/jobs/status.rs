//! The status of a job: its latest pass, its failures and its next pass.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::Job;

/// Maximum length of a stored error text, bytes.
const MAX_ERROR_BYTES: usize = 1_000;

/// The status of a job. Counts are since the start of the process; times are in milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobStatus {
    /// Its name in the table of jobs.
    pub name: &'static str,
    /// The time between passes; `None` if it is only woken.
    pub every: Option<Duration>,
    /// When the current pass began; with several, the oldest.
    pub running_since: Option<i64>,
    /// The latest pass that has ended.
    pub last_run: Option<LastRun>,
    /// Passes that have ended.
    pub runs: u64,
    /// Those of them that failed.
    pub failures: u64,
    /// Consecutive failures since the last success.
    pub failures_in_row: u64,
    /// The latest failure.
    pub last_failure: Option<LastFailure>,
    /// When the next pass begins, unless the job is woken before.
    pub next_run_at: Option<i64>,
}

/// A pass that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastRun {
    /// When it began.
    pub started_at: i64,
    /// When it ended.
    pub finished_at: i64,
    /// How long it took, by a monotonic clock.
    pub duration: Duration,
}

/// A pass that has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastFailure {
    /// When it ended.
    pub at: i64,
    /// The error, without secrets.
    pub error: String,
}

#[derive(Debug)]
pub(super) struct State(Mutex<Known>);

#[derive(Debug)]
struct Known {
    workers: Vec<Worker>,
    /// When a pass last ended, or when the job was started.
    last_end: Instant,
    last_run: Option<LastRun>,
    runs: u64,
    failures: u64,
    failures_in_row: u64,
    last_failure: Option<LastFailure>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Worker {
    running_since: Option<i64>,
    next_run_at: Option<i64>,
}

impl State {
    pub(super) fn new(workers: usize) -> Self {
        Self(Mutex::new(Known {
            workers: vec![Worker::default(); workers],
            last_end: Instant::now(),
            last_run: None,
            runs: 0,
            failures: 0,
            failures_in_row: 0,
            last_failure: None,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self, worker: usize, now_ms: i64) {
        self.lock().workers[worker] = Worker {
            running_since: Some(now_ms),
            next_run_at: None,
        };
    }

    pub(super) fn interrupt(&self, worker: usize) {
        self.lock().workers[worker] = Worker::default();
    }

    /// Records a pass that has ended, and logs a failure unless it repeats the previous one.
    pub(super) fn finish(&self, worker: usize, job: &str, run: LastRun, error: Option<&str>) {
        let mut known = self.lock();
        known.workers[worker] = Worker::default();
        known.last_end = Instant::now();
        known.last_run = Some(run);
        known.runs += 1;
        let Some(error) = error else {
            let failures = std::mem::take(&mut known.failures_in_row);
            if failures > 0 {
                tracing::info!(job, failures, "background job recovered");
            }
            return;
        };
        let error = shortened(redact::text(error).into_owned());
        let failed_before = known.failures_in_row > 0;
        let last = known.last_failure.as_ref();
        if failed_before && last.is_some_and(|last| last.error == error) {
            tracing::debug!(job, error, "background job failed again");
        } else {
            tracing::warn!(job, error, "background job failed; retrying");
        }
        known.failures += 1;
        known.failures_in_row += 1;
        known.last_failure = Some(LastFailure {
            at: run.finished_at,
            error,
        });
    }

    pub(super) fn note_next(&self, worker: usize, at: Option<i64>) {
        self.lock().workers[worker].next_run_at = at;
    }

    /// The time since a pass last ended, or since the start of the job.
    pub(super) fn no_pass_for(&self) -> Duration {
        self.lock().last_end.elapsed()
    }

    pub(super) fn status(&self, job: &Job) -> JobStatus {
        let known = self.lock();
        let workers = known.workers.iter();
        JobStatus {
            name: job.name,
            every: job.every,
            running_since: workers.clone().filter_map(|it| it.running_since).min(),
            last_run: known.last_run,
            runs: known.runs,
            failures: known.failures,
            failures_in_row: known.failures_in_row,
            last_failure: known.last_failure.clone(),
            next_run_at: workers.filter_map(|it| it.next_run_at).min(),
        }
    }
}

fn shortened(mut error: String) -> String {
    if error.len() > MAX_ERROR_BYTES {
        error.truncate(error.floor_char_boundary(MAX_ERROR_BYTES));
        error.push('…');
    }
    error
}
