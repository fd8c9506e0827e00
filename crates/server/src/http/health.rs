//! Whether the server lives, and whether it can work.

use std::sync::Arc;

use axum::extract::State;
use domain::{ProblemCode, refusal};

use crate::{app::App, error::ApiError};

/// `GET /healthz`: the process lives.
pub(super) async fn live() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: the database answers and we are not stopping.
pub(super) async fn ready(State(app): State<Arc<App>>) -> Result<&'static str, ApiError> {
    if app.stopping.is_cancelled() {
        return Err(ApiError::new(
            ProblemCode::Unavailable,
            refusal::Request::Stopping,
        ));
    }
    app.store.ping().await?;
    Ok("ok\n")
}
