//! `GET /metrics`: metrics in Prometheus' text format.

use std::sync::Arc;

use axum::{extract::State, http::header, response::IntoResponse};
use bus::Bus;
use llm::openai::Breaker;
use prometheus_client::encoding::prometheus_text;
use run_registry::Runs;

use crate::{
    app::App,
    gateway::models::{KnownConnection, Models},
    platform::{
        jobs::Jobs,
        metrics::{self, Metrics},
    },
};

pub(super) async fn get(
    State(models): State<Arc<Models>>,
    State(runs): State<Runs>,
    State(metrics): State<Arc<Metrics>>,
    State(jobs): State<Jobs>,
    State(bus): State<Bus>,
    State(app): State<Arc<App>>,
) -> impl IntoResponse {
    let catalogue = models.catalogue();
    let is_open = |known: &&KnownConnection| known.server.breaker() != Breaker::Closed;
    let left_alone = catalogue.connections.iter().filter(is_open).count();
    let figures = metrics.text(runs.live_counts())
        + &metrics::of_attempts(models.attempts(), left_alone)
        + &metrics::of_bus(&bus)
        + &of_runners(&app)
        + &metrics::of_jobs(&jobs.status());
    (
        [(header::CONTENT_TYPE, prometheus_text::CONTENT_TYPE)],
        figures,
    )
}

fn of_runners(app: &App) -> String {
    let Some(runners) = &app.runners else {
        return String::new();
    };
    let status = runners.status();
    let running = status.connected.values();
    metrics::of_runners(
        status.waiting,
        running.map(|(name, count)| (name.as_str(), *count)),
    )
}
