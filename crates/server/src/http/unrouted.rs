//! Answers to requests that reach no route: the web app, or a refusal in the shape of the protocol that the path belongs to.

use axum::{
    extract::Request,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use domain::ProblemCode;

use super::{PROGRAM_ADDRESSES, openai, web};
use crate::error::ApiError;

pub(super) async fn fallback(request: Request) -> Response {
    let path = request.uri().path();
    if PROGRAM_ADDRESSES.contains(&first_segment(path)) {
        let message = format!("There is nothing at {} {path}.", request.method());
        return refuse(path, ApiError::not_found(message));
    }
    web::serve(&request)
}

pub(super) async fn wrong_method(request: Request) -> Response {
    let path = request.uri().path();
    let message = format!("{path} does not take {}.", request.method());
    let refused = ApiError::new(ProblemCode::InvalidRequest, message);
    refuse(path, refused.with_status(StatusCode::METHOD_NOT_ALLOWED))
}

/// A refusal before or beside a route.
pub(super) fn refuse(path: &str, refused: ApiError) -> Response {
    let refused = refused.into_response();
    if first_segment(path) == "v1" { openai::reword(refused) } else { refused }
}

fn first_segment(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or("")
}
