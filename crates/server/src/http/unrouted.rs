//! Responses to requests without a route: the web app, or an error in the format of the path's protocol.

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use domain::ProblemCode;
use tower::ServiceExt;

use super::{anthropic, openai, web::Site};
use crate::error::ApiError;

/// First path segments of APIs, where an unknown path is an error and not the web app.
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

/// Retries the request of an API with empty path segments removed: some clients join URLs to paths such as
/// `/v1//models`.
pub(super) async fn by_plain_path(routes: Router, site: Site, mut request: Request) -> Response {
    match plain_path(request.uri()) {
        Some(uri) => {
            *request.uri_mut() = uri;
            routes.oneshot(request).await.into_response()
        }
        None => fallback(State(site), request).await,
    }
}

/// The URI without empty segments; `None` if there are none, or it is not an API path.
fn plain_path(uri: &Uri) -> Option<Uri> {
    let path = uri.path();
    let plain: String = path
        .split('/')
        .filter(|part| !part.is_empty())
        .flat_map(|part| ["/", part])
        .collect();
    if plain == path || !PROGRAM_ADDRESSES.contains(&first_segment(&plain)) {
        return None;
    }
    let query = uri
        .query()
        .map(|query| format!("?{query}"))
        .unwrap_or_default();
    format!("{plain}{query}").parse().ok()
}

pub(super) async fn fallback(State(site): State<Site>, request: Request) -> Response {
    let path = request.uri().path();
    if PROGRAM_ADDRESSES.contains(&first_segment(path)) {
        let message = format!("There is nothing at {} {path}.", request.method());
        let protocol = Protocol::of(path).asked_by(request.headers());
        return refuse(protocol, ApiError::not_found(message));
    }
    site.serve(&request)
}

pub(super) async fn wrong_method(request: Request) -> Response {
    let path = request.uri().path();
    let message = format!("{path} does not take {}.", request.method());
    let refused = ApiError::new(ProblemCode::InvalidRequest, message);
    let protocol = Protocol::of(path).asked_by(request.headers());
    refuse(
        protocol,
        refused.with_status(StatusCode::METHOD_NOT_ALLOWED),
    )
}

/// The protocol of a path, which determines the format of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Ours,
    OpenAi,
    Anthropic,
}

impl Protocol {
    pub(super) fn of(path: &str) -> Self {
        match path.strip_prefix(anthropic::PREFIX) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => Self::Anthropic,
            _ if first_segment(path) == "v1" => Self::OpenAi,
            _ => Self::Ours,
        }
    }

    /// Some paths, such as that of the models, belong to both.
    pub(super) fn asked_by(self, headers: &HeaderMap) -> Self {
        match self {
            Self::OpenAi if anthropic::is_asked(headers) => Self::Anthropic,
            protocol => protocol,
        }
    }

    /// Converts our errors to the protocol's format; leaves other responses as they are.
    pub(super) fn reword(self, response: Response) -> Response {
        match self {
            Self::Ours => response,
            Self::OpenAi => openai::reword(response),
            Self::Anthropic => anthropic::reword(response),
        }
    }
}

/// An error before or without a route.
pub(super) fn refuse(protocol: Protocol, refused: ApiError) -> Response {
    protocol.reword(refused.into_response())
}

fn first_segment(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_too_many_are_left_out_where_programs_ask() {
        for (uri, plain) in [
            ("/v1/models/", Some("/v1/models")),
            ("/v1//models?a=b//c", Some("/v1/models?a=b//c")),
            ("//v1/chat/completions/", Some("/v1/chat/completions")),
            ("/v1/models", None),
            ("/assets//app.js", None),
            ("//evil.example/", None),
            ("/", None),
        ] {
            let found = plain_path(&uri.parse().unwrap());
            assert_eq!(found, plain.map(|plain| plain.parse().unwrap()), "{uri}");
        }
    }
}
