//! Background jobs of the server: when each ran last, how that went, and when it runs next.

use axum::extract::State;
use serde::Serialize;

use crate::{
    http::extract::Json,
    platform::jobs::{JobStatus, Jobs},
};

#[derive(Debug, Serialize)]
pub(super) struct JobList {
    jobs: Vec<JobView>,
}

/// Counts are since the start of the server that answers.
#[derive(Debug, Serialize)]
struct JobView {
    name: &'static str,
    /// Milliseconds between passes; `None` if it runs only when it is woken.
    every_ms: Option<u64>,
    /// Since when a pass is under way.
    running_since: Option<i64>,
    last_run: Option<LastRunView>,
    runs: u64,
    failures: u64,
    failures_in_row: u64,
    last_failure: Option<LastFailureView>,
    /// When the next pass begins, unless the job is woken before.
    next_run_at: Option<i64>,
}

#[derive(Debug, Serialize)]
struct LastRunView {
    started_at: i64,
    finished_at: i64,
    duration_ms: u64,
}

#[derive(Debug, Serialize)]
struct LastFailureView {
    at: i64,
    error: String,
}

/// `GET /api/v1/jobs`: in the order of the table of jobs.
pub(super) async fn list(State(jobs): State<Jobs>) -> Json<JobList> {
    Json(JobList {
        jobs: jobs.status().into_iter().map(JobView::from).collect(),
    })
}

impl From<JobStatus> for JobView {
    fn from(status: JobStatus) -> Self {
        let millis =
            |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            name: status.name,
            every_ms: status.every.map(millis),
            running_since: status.running_since,
            last_run: status.last_run.map(|run| LastRunView {
                started_at: run.started_at,
                finished_at: run.finished_at,
                duration_ms: millis(run.duration),
            }),
            runs: status.runs,
            failures: status.failures,
            failures_in_row: status.failures_in_row,
            last_failure: status.last_failure.map(|failure| LastFailureView {
                at: failure.at,
                error: failure.error,
            }),
            next_run_at: status.next_run_at,
        }
    }
}
