//! What answers where no route does: a file of the page, or an error where programs ask.

use axum::{
    extract::Request,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use domain::ProblemCode;

use super::{openai, web};
use crate::error::ApiError;

/// First segments of addresses that programs use: there, an unknown one is an error and not a page.
const PROGRAM_ADDRESSES: [&str; 11] =
    ["ag-ui", "api", "chat", "copilotkit", "healthz", "mcp", "metrics", "oauth", "readyz", "runs", "v1"];

/// Answers an address that no route has.
pub(super) async fn answer(request: Request) -> Response {
    let first = request.uri().path().split('/').nth(1).unwrap_or("");
    if PROGRAM_ADDRESSES.contains(&first) {
        let message = format!("There is nothing at {} {}.", request.method(), request.uri().path());
        let refused = ApiError::not_found(message).into_response();
        return if first == "v1" { openai::reword(refused) } else { refused };
    }
    web::serve(&request)
}

/// Answers a method that the route does not take.
pub(super) async fn wrong_method(request: Request) -> ApiError {
    let message = format!("{} does not take {}.", request.uri().path(), request.method());
    ApiError::new(ProblemCode::InvalidRequest, message).with_status(StatusCode::METHOD_NOT_ALLOWED)
}
