//! CORS for the API protocols: pages of origins that the administrator allows can call them with a bearer key.
//! Responses never allow credentials, so a page cannot use a visitor's session.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::platform::config::Config;

/// The paths that programs use, each with everything below it. Those of the web app are not among them.
const API_PATHS: [&str; 8] = [
    "/ag-ui",
    "/api/chat",
    "/api/ui-message-stream",
    "/chat/stream",
    "/copilotkit",
    "/mcp",
    "/runs",
    "/v1",
];

/// The response headers that pages may read.
const SHOWN: HeaderValue = HeaderValue::from_static(
    "mcp-session-id, retry-after, x-request-id, x-run-id, x-upstream-request-id, x-vercel-ai-ui-message-stream",
);
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");
/// How long a browser may cache the result of a preflight request, seconds.
const MAX_AGE_SECONDS: HeaderValue = HeaderValue::from_static("3600");

/// Answers preflight requests and adds CORS headers to the responses that an allowed origin may read.
pub(super) async fn allow_named_origins(
    State(config): State<Arc<Config>>,
    request: Request,
    next: Next,
) -> Response {
    if !is_api_path(request.uri().path()) {
        return next.run(request).await;
    }
    let origin = request
        .headers()
        .get(header::ORIGIN)
        .and_then(|origin| origin.to_str().ok());
    let named = origin.is_some_and(|origin| {
        config
            .cors_allow_origins
            .iter()
            .any(|known| known == origin)
    });
    let Some(origin) = request
        .headers()
        .get(header::ORIGIN)
        .filter(|_| named)
        .cloned()
    else {
        let mut response = next.run(request).await;
        vary(response.headers_mut());
        return response;
    };
    let asks_first = request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if asks_first {
        may_ask(request.headers())
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, SHOWN);
    vary(headers);
    response
}

fn is_api_path(path: &str) -> bool {
    let is_at = |prefix: &str| {
        path.strip_prefix(prefix)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    API_PATHS.into_iter().any(is_at)
}

/// Allows any header: clients have many of their own, and only the key grants access.
fn may_ask(asked: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECONDS);
    if let Some(wanted) = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    response
}

/// Caches must not serve the response for one origin to another.
fn vary(headers: &mut HeaderMap) {
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}
