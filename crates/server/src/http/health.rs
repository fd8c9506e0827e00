//! Liveness and readiness checks.

use std::sync::Arc;

use axum::extract::State;

use crate::{app::App, error::ApiError, http::openapi::Operations};

/// `GET /healthz`: the process is alive.
pub(super) async fn live() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: the server can work on runs and is not stopping.
pub(super) async fn ready(State(app): State<Arc<App>>) -> Result<&'static str, ApiError> {
    if app.draining.is_cancelled() {
        return Err(ApiError::stopping());
    }
    app.progress.check().await?;
    Ok("ok\n")
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.operation("GET /healthz", "Returns 200 while the process lives")
        .answers_media(200, &["text/plain"]);
    api.operation(
        "GET /readyz",
        "Returns 200 while the database answers, logs can be stored and the server is not stopping, otherwise 503",
    )
    .answers_media(200, &["text/plain"]);
}
