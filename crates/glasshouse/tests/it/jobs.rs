//! Background jobs as administrators and Prometheus see them.

use std::{future::Future, time::Duration};

use serde_json::Value;
use tokio::{net::TcpListener, time::timeout};

use crate::harness::Server;

/// Asks again until the job looks as it should.
async fn job_when(
    server: &Server,
    admin: &str,
    name: &str,
    is_so: impl Fn(&Value) -> bool,
) -> Value {
    until(async || {
        let list = server.get("/api/v1/jobs", admin).await.json();
        let jobs = list["jobs"].as_array().unwrap().iter();
        jobs.clone()
            .find(|job| job["name"] == name && is_so(job))
            .cloned()
    })
    .await
}

async fn until<T, F: Future<Output = Option<T>>>(ask: impl Fn() -> F) -> T {
    let found = async {
        loop {
            if let Some(found) = ask().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(20), found).await.unwrap()
}

#[tokio::test]
async fn a_job_shows_its_last_and_next_pass() {
    let (server, admin) = Server::start_signed_in().await;
    let now = server.clock.now_ms();
    let purge = job_when(&server, &admin, "purge_expired", |job| job["runs"] == 1).await;
    assert_eq!(purge["every_ms"], 3_600_000);
    assert_eq!(purge["last_run"]["finished_at"], now);
    assert_eq!(purge["failures"], 0);
    assert_eq!(purge["last_failure"], Value::Null);
    assert_eq!(purge["running_since"], Value::Null);
    assert_eq!(purge["next_run_at"], now + 3_600_000);
    let figures = server.get("/metrics", &admin).await.text;
    for line in [
        "glasshouse_job_runs_total{job=\"purge_expired\"} 1",
        "glasshouse_job_failures_total{job=\"purge_expired\"} 0",
        "glasshouse_job_last_run_timestamp_seconds{job=\"purge_expired\"} 1800000000.0",
        "glasshouse_job_next_run_timestamp_seconds{job=\"purge_expired\"} 1800003600.0",
    ] {
        assert!(
            figures.lines().any(|written| written == line),
            "{line} in {figures}"
        );
    }
    // Only one of several servers has these.
    assert!(!figures.contains("take_over_runs"), "{figures}");
}

#[tokio::test]
async fn a_job_that_fails_says_why_and_tries_again() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let url = format!("http://{address}/v1");
    let server = Server::start_with(&[("OPENAI_API_BASE_URL", &url)]).await;
    let admin = server.set_up().await;
    let name = "list_configured_models";
    let list = job_when(&server, &admin, name, |job| {
        job["failures"].as_u64() >= Some(2)
    })
    .await;
    let now = server.clock.now_ms();
    assert_eq!(list["failures_in_row"], list["failures"]);
    assert_eq!(list["last_failure"]["at"], now);
    let error = list["last_failure"]["error"].as_str().unwrap();
    assert!(!error.is_empty());
    assert!(list["next_run_at"].as_i64().unwrap() >= now + 1_000);
    let figures = server.get("/metrics", &admin).await.text;
    let failed = format!("glasshouse_job_failures_total{{job=\"{name}\"}} ");
    let counted = figures.lines().find_map(|line| line.strip_prefix(&failed));
    assert!(counted.unwrap().parse::<u64>().unwrap() >= 2);
}
