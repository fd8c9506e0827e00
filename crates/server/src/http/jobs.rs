//! Background jobs of the server: when each ran last, how that went, and when it runs next.

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    http::{extract::Json, openapi::Operations},
    platform::jobs::{JobStatus, Jobs},
};

/// Background jobs, in the order of the table of jobs.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct JobList {
    jobs: Vec<JobView>,
}

/// A background job. Counts are since the start of the server that answers, times in milliseconds since 1970-01-01 UTC.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Job")]
struct JobView {
    name: &'static str,
    /// Milliseconds between passes; `null` if it runs only when it is woken.
    every_ms: Option<u64>,
    /// When the pass that is running began.
    running_since: Option<i64>,
    /// The last pass that finished.
    last_run: Option<LastRunView>,
    /// How often it has run.
    runs: u64,
    /// How many of these runs failed.
    failures: u64,
    /// How many of the last runs failed, one after the other.
    failures_in_row: u64,
    last_failure: Option<LastFailureView>,
    /// When the next pass begins, unless the job is woken before.
    next_run_at: Option<i64>,
}

/// A run of a job. Times in milliseconds since 1970-01-01 UTC.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "JobRun")]
struct LastRunView {
    started_at: i64,
    finished_at: i64,
    duration_ms: u64,
}

/// The last failure of a job.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "JobFailure")]
struct LastFailureView {
    /// Milliseconds since 1970-01-01 UTC.
    at: i64,
    error: String,
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/jobs",
        list,
        "Lists the [background jobs](docs/operate/monitoring.md#background-jobs) of the server that answers",
    );
}

/// `GET /api/v1/jobs`: lists the jobs, in the order of the table of jobs.
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
