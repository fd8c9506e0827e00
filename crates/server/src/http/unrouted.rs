//! Answers to requests that reach no route: the web app, or a refusal in the shape of the protocol that the path belongs to.

use axum::{
    extract::Request,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use domain::ProblemCode;

use super::{openai, web};
use crate::error::ApiError;

/// First segments of addresses that programs use: there, an unknown one is an error and not a page.
const PROGRAM_ADDRESSES: [&str; 12] = [
    "ag-ui",
    "api",
    "chat",
    "copilotkit",
    "healthz",
    "mcp",
    "metrics",
    "oauth",
    "readyz",
    "runs",
    "tasks",
    "v1",
];

pub(super) async fn fallback(request: Request) -> Response {
    let path = request.uri().path();
    if PROGRAM_ADDRESSES.contains(&first_segment(path)) {
        let message = format!("There is nothing at {} {path}.", request.method());
        return refuse(is_openai(path), ApiError::not_found(message));
    }
    web::serve(&request)
}

pub(super) async fn wrong_method(request: Request) -> Response {
    let path = request.uri().path();
    let message = format!("{path} does not take {}.", request.method());
    let refused = ApiError::new(ProblemCode::InvalidRequest, message);
    refuse(is_openai(path), refused.with_status(StatusCode::METHOD_NOT_ALLOWED))
}

/// Whether OpenAI's packages ask there.
pub(super) fn is_openai(path: &str) -> bool {
    first_segment(path) == "v1"
}

/// A refusal before or beside a route.
pub(super) fn refuse(is_openai: bool, refused: ApiError) -> Response {
    let refused = refused.into_response();
    if is_openai { openai::reword(refused) } else { refused }
}

fn first_segment(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or("")
}
