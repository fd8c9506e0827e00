//! Logs one line per request, within a span that has the request id and the caller.

use std::time::Instant;

use axum::{
    extract::{MatchedPath, Request},
    http::{Method, StatusCode, Uri},
};
use tracing::{Span, field};

use crate::{identity::auth::Caller, platform::config::LogFormat};

/// The target of these lines: `log.level = "info,requests=off"` leaves them out.
const TARGET: &str = "requests";
/// Routes that are polled, and the web app's page: logged at debug level only.
const QUIET: [&str; 4] = ["/", "/healthz", "/readyz", "/metrics"];
/// Maximum length of a logged path without a route, bytes.
const MAX_PATH_BYTES: usize = 200;
/// The client disconnected before the response; nginx uses the same status.
const LEFT: u16 = 499;

/// The span of a request; the caller is added once known.
pub(super) fn span(id: Option<&str>) -> Span {
    // At error level, so that it is enabled at every log level.
    tracing::error_span!("request", id, user = field::Empty, person = field::Empty)
}

/// Adds the caller to the span of the current request.
pub(super) fn note_caller(caller: &Caller) {
    let span = Span::current();
    span.record("user", field::display(caller.id()));
    if let Some(person) = &caller.person {
        span.record("person", person.id.as_str());
    }
}

/// The log line of a request, which is written on drop.
pub(super) struct RequestLine {
    span: Span,
    method: Method,
    route: Route,
    began: Instant,
    format: LogFormat,
    status: u16,
}

enum Route {
    Known(MatchedPath),
    Other(Uri),
}

impl RequestLine {
    /// Starts the line of a request.
    pub(super) fn begin(span: &Span, request: &Request, format: LogFormat) -> Self {
        let known = request.extensions().get::<MatchedPath>().cloned();
        Self {
            span: span.clone(),
            method: request.method().clone(),
            route: known.map_or_else(|| Route::Other(request.uri().clone()), Route::Known),
            began: Instant::now(),
            format,
            status: LEFT,
        }
    }

    /// Sets the status.
    pub(super) fn end(mut self, status: StatusCode) {
        self.status = status.as_u16();
    }

    fn is_quiet(&self) -> bool {
        self.status < 400
            && match &self.route {
                Route::Known(route) => QUIET.contains(&route.as_str()),
                // A file of the web app.
                Route::Other(_) => true,
            }
    }
}

impl Drop for RequestLine {
    fn drop(&mut self) {
        let Self {
            method,
            status,
            format,
            ..
        } = &*self;
        let route = match &self.route {
            Route::Known(route) => route.as_str(),
            // Without the query, which may contain secrets. A path is ASCII.
            Route::Other(uri) => uri.path().get(..MAX_PATH_BYTES).unwrap_or(uri.path()),
        };
        let ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let _about = self.span.enter();
        match (self.is_quiet(), format) {
            (true, _) => tracing::debug!(target: TARGET, status, ms, "{method} {route}"),
            (false, LogFormat::Text) => {
                tracing::info!(target: TARGET, status, ms, "{method} {route}")
            }
            (false, LogFormat::Json) => {
                tracing::info!(target: TARGET, %method, route, status, ms, "{method} {route}");
            }
        }
    }
}
