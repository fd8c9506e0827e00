//! `/api/v1/runner/…`: what runners of programs ask for and report. It is not part of the public API: runners and servers have
//! the same version, or neighbouring ones.

use std::sync::Arc;

use agent::workspace::{BYTES_LIMIT, FileProblem};
use axum::{
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use runner_protocol::{Ask, Beat, BeatReply, Call, CallResult, Output, ResultReply, Sha256};
use serde::de::DeserializeOwned;

use crate::{
    app::App,
    error::ApiError,
    http::{
        body::read_body,
        extract::{Json, Path},
    },
    tools::runners::{RunnerError, Runners},
};

/// Maximum size of a message beside contents.
const MESSAGE_BYTES: usize = 8_000_000;

pub(super) async fn beat(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<BeatReply>, ApiError> {
    let beat: Beat = message(&app, request).await?;
    Ok(Json(runners(&app)?.beat(&beat).await?))
}

pub(super) async fn lease(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Option<Call>>, ApiError> {
    let ask: Ask = message(&app, request).await?;
    Ok(Json(runners(&app)?.lease(&ask).await?))
}

pub(super) async fn get_file(
    State(app): State<Arc<App>>,
    Path((lease, sha256)): Path<(String, Sha256)>,
) -> Result<Response, ApiError> {
    let content = runners(&app)?.content(&lease, sha256).await?;
    let kind = [(header::CONTENT_TYPE, "application/octet-stream")];
    Ok((kind, content).into_response())
}

pub(super) async fn put_file(
    State(app): State<Arc<App>>,
    Path((lease, sha256)): Path<(String, Sha256)>,
    request: Request,
) -> Result<StatusCode, ApiError> {
    let content = read_body(&app, request, BYTES_LIMIT).await?;
    runners(&app)?
        .store_content(&lease, sha256, &content)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn print(
    State(app): State<Arc<App>>,
    Path(lease): Path<String>,
    request: Request,
) -> Result<StatusCode, ApiError> {
    let output: Output = message(&app, request).await?;
    runners(&app)?.print(&lease, &output).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn finish(
    State(app): State<Arc<App>>,
    Path(lease): Path<String>,
    request: Request,
) -> Result<Json<ResultReply>, ApiError> {
    let result: CallResult = message(&app, request).await?;
    Ok(Json(runners(&app)?.finish(&lease, &result).await?))
}

/// Output of programs may have U+0000, which other messages must not have.
async fn message<T: DeserializeOwned>(app: &App, request: Request) -> Result<T, ApiError> {
    let body = read_body(app, request, MESSAGE_BYTES).await?;
    serde_json::from_slice(&body)
        .map_err(|error| ApiError::invalid(format!("The message does not fit: {error}.")))
}

fn runners(app: &App) -> Result<&Runners, ApiError> {
    // Without a token, no caller comes here.
    app.runners
        .as_deref()
        .ok_or_else(|| ApiError::not_found("This server has no runners."))
}

impl From<RunnerError> for ApiError {
    fn from(error: RunnerError) -> Self {
        match error {
            RunnerError::Unfit(_) | RunnerError::Wrong(_) => Self::invalid(error.to_string()),
            RunnerError::NoLease => Self::conflict(error.to_string()),
            RunnerError::Missing => Self::not_found(error.to_string()),
            RunnerError::TooMuch => {
                Self::invalid(error.to_string()).with_status(StatusCode::PAYLOAD_TOO_LARGE)
            }
            RunnerError::Store(error) => error.into(),
            RunnerError::Files(FileProblem::Unavailable(why)) => Self::internal(why),
            // The runner leaves the file out.
            RunnerError::Files(problem) => Self::not_found(problem.to_string()),
        }
    }
}
