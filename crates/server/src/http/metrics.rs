//! `GET /metrics`: figures for Prometheus and what reads its format.

use std::sync::Arc;

use axum::{extract::State, http::header, response::IntoResponse};

use crate::app::App;

pub(super) async fn get(State(app): State<Arc<App>>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.runs.figures())
}
