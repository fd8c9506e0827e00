//! `GET /metrics`: figures for Prometheus and what reads its format.

use std::sync::Arc;

use axum::{extract::State, http::header, response::IntoResponse};
use llm::openai::Breaker;

use crate::{app::App, gateway::models::KnownConnection, platform::metrics};

pub(super) async fn get(State(app): State<Arc<App>>) -> impl IntoResponse {
    let catalogue = app.models.catalogue();
    let is_open = |known: &&KnownConnection| known.server.breaker() != Breaker::Closed;
    let left_alone = catalogue.connections.iter().filter(is_open).count();
    let figures = app.runs.figures() + &metrics::of_attempts(app.models.attempts(), left_alone);
    (
        [(
            header::CONTENT_TYPE,
            "text/plain; version=0.0.4; charset=utf-8",
        )],
        figures,
    )
}
