//! The caller's browser sessions: listing and ending them.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Session, Store, StoreError};

use super::session::session_cookie;
use crate::{
    app::App,
    error::ApiError,
    http::{
        extract::{Json, Path, Query},
        openapi::Operations,
    },
    identity::auth::{Caller, Credential, Device},
    messages,
    platform::clock::Clock,
};

/// A browser the caller is signed in with.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BrowserSession")]
pub(super) struct SessionView {
    id: SessionId,
    #[serde(flatten)]
    device: Device,
    /// The address from which it was created.
    address: Option<String>,
    created_at: i64,
    /// Exact to a minute.
    last_used_at: i64,
    expires_at: i64,
    /// Whether it is the session of this request.
    current: bool,
}

/// Sessions, the most recently used first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BrowserSessionList")]
pub(super) struct SessionList {
    sessions: Vec<SessionView>,
}

/// The session of the request; `None` for an API key.
fn own(caller: &Caller) -> Option<SessionId> {
    match caller.credential {
        Credential::Session(id) => Some(id),
        Credential::Key(_) | Credential::Proxy | Credential::Local => None,
    }
}

/// `GET /api/v1/me/sessions`: the caller's sessions, the most recently used first.
pub(super) async fn list(
    State(clock): State<Clock>,
    State(store): State<Store>,
    caller: Caller,
) -> Result<Json<SessionList>, ApiError> {
    let own = own(&caller);
    let view = |session: Session| SessionView {
        id: session.id,
        device: Device::of(session.user_agent.as_deref()),
        address: session.address,
        created_at: session.created_at,
        last_used_at: session.last_used_at,
        expires_at: session.expires_at,
        current: own == Some(session.id),
    };
    let sessions = store.sessions(caller.id(), clock.now_ms()).await?;
    Ok(Json(SessionList {
        sessions: sessions.into_iter().map(view).collect(),
    }))
}

/// `DELETE /api/v1/me/sessions/{session}`: ends one. Its open streams end within half a second, on all servers.
pub(super) async fn end(
    State(clock): State<Clock>,
    State(store): State<Store>,
    caller: Caller,
    Path(session): Path<SessionId>,
) -> Result<StatusCode, ApiError> {
    let ended = store
        .end_session(caller.id(), session, clock.now_ms())
        .await;
    ended.map_err(|error| match error {
        StoreError::NotFound => ApiError::not_found(messages::Accounts::NoSuchSession),
        error => error.into(),
    })?;
    Ok(StatusCode::NO_CONTENT)
}

/// Which sessions.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "SessionsToEnd")]
pub(super) struct Which {
    /// Whether to end the session of this request too.
    #[serde(default)]
    all: bool,
}

/// `DELETE /api/v1/me/sessions`: ends all except the current one, or with `all=true` that one too.
pub(super) async fn end_all(
    State(app): State<Arc<App>>,
    caller: Caller,
    Query(which): Query<Which>,
) -> Result<Response, ApiError> {
    let kept = own(&caller).filter(|_| !which.all);
    app.store
        .end_sessions(caller.id(), kept, app.clock.now_ms())
        .await?;
    if kept.is_some() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok((
        StatusCode::NO_CONTENT,
        [(header::SET_COOKIE, session_cookie(&app, "", 0)?)],
    )
        .into_response())
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/me/sessions",
        list,
        "Lists the browsers the caller is signed in with",
    );
    api.operation(
        "DELETE /api/v1/me/sessions",
        "Ends all sessions but the caller's own",
    )
    .query::<Which>()
    .answers_nothing(204);
    api.handler(
        "DELETE /api/v1/me/sessions/{session}",
        end,
        "Ends a session",
    )
    .details("404 if it has ended.");
}
