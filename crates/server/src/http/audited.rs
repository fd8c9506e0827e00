//! Writes an audit entry for each request to a route that declares an audit action.

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, RawPathParams, Request},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use tokio::sync::oneshot;
use tracing::Instrument;

use crate::{
    app::App,
    error::ApiError,
    identity::audit::Noted,
    platform::{client_info::ClientInfo, request_context},
};

/// Handles a request and writes its audit entry. It runs to its end even if the client disconnects, so that nothing is
/// done without an entry.
///
/// A refusal is answered before its entry is written: only some refusals leave one, such as a wrong password for an
/// existing account, and the response time must not tell which.
pub(super) async fn audited<F>(
    app: &Arc<App>,
    action: &'static str,
    request: Request,
    answer: impl FnOnce(Request) -> F + Send + 'static,
) -> Response
where
    F: Future<Output = Response> + Send + 'static,
{
    let proxies = &app.config.now().trusted_proxies;
    let place = ClientInfo::of(proxies, request.extensions(), request.headers()).ok();
    let caller = request.extensions().get().cloned();
    let (mut parts, body) = request.into_parts();
    // The parameters of the path, unless the handler names the subject more precisely.
    let subject = match RawPathParams::from_request_parts(&mut parts, app).await {
        Ok(named) => {
            let named: Vec<&str> = named.iter().map(|(_, value)| value).collect();
            (!named.is_empty()).then(|| named.join("/"))
        }
        Err(_) => None,
    };
    let now = app.clock.now_ms();
    let noted = Noted::new(now, action, place.as_ref(), caller.as_ref(), subject);
    let mut request = Request::from_parts(parts, body);
    request.extensions_mut().insert(noted.clone());
    let identity = Arc::clone(&app.identity);
    let hints = Arc::clone(&app.hints);
    let origin = request_context::current();
    let (sender, receiver) = oneshot::channel();
    let work = async move {
        let response = answer(request).await;
        let is_done = response.status().is_success() || response.status() == StatusCode::SEE_OTHER;
        if is_done {
            hints.tell_change();
        }
        let entry = noted.entry(is_done);
        if let Some(entry) = entry.as_ref().filter(|_| is_done) {
            identity.note_or_log(entry).await;
        }
        // The client may have disconnected.
        _ = sender.send(response);
        if let Some(entry) = entry.filter(|_| !is_done) {
            identity.note_or_log(&entry).await;
        }
    };
    app.tasks
        .spawn(request_context::on_behalf_of(origin, work).in_current_span());
    receiver
        .await
        .unwrap_or_else(|_| ApiError::internal("a noted request broke off").into_response())
}
