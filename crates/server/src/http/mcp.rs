//! `/mcp`: our agent as a tool of MCP clients, over streamable HTTP. `rmcp` implements the protocol; access, session
//! ownership and the tools are ours.

mod asks;
mod call;
mod files;
mod graph;
mod handler;
mod lenient;
mod progress;
mod search;
mod sessions;
mod stored;
mod web;

use std::{sync::Arc, time::Duration};

use axum::{
    Extension,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, Method, header},
    response::Response,
};
use domain::{Origin, ProblemCode};
use futures_util::StreamExt;
use rmcp::{
    model::InitializeRequestParams,
    transport::streamable_http_server::{
        SessionManager, StreamableHttpServerConfig, StreamableHttpService,
        session::local::LocalSessionManager,
    },
};
use store::StoredMcpSession;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::{
    handler::Handler,
    sessions::{Session, Sessions},
    stored::OfThisRequest,
};
use crate::{
    app::App,
    error::ApiError,
    http::{body::read_body, extract::checked_json},
    identity::auth::{Caller, check_named_origin},
    platform::{
        jobs::{Job, job},
        request_context,
    },
};

/// The header with the session id, in requests and in the response that starts a session.
const SESSION: &str = "mcp-session-id";

/// How often idle sessions are closed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// The MCP service, and the sessions of its clients.
pub(crate) struct McpAdapter {
    protocol: StreamableHttpService<Handler, LocalSessionManager>,
    manager: Arc<LocalSessionManager>,
    sessions: Sessions,
}

/// The caller of a request, for its handler. While one is held, its session is not idle.
#[derive(Clone)]
struct Visit {
    app: Arc<App>,
    caller: Caller,
    origin: Origin,
    session: Option<Arc<Session>>,
}

impl McpAdapter {
    /// `stopping` ends all streams.
    pub(crate) fn new(stopping: &CancellationToken, body_limit_bytes: usize) -> Self {
        let mut manager = LocalSessionManager::default();
        // A call may take days; `Sessions` knows whether a session is idle.
        manager.session_config.keep_alive = None;
        let manager = Arc::new(manager);
        // Hosts and origins were checked before.
        let mut config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_max_request_body_bytes(body_limit_bytes)
            .with_cancellation_token(stopping.clone());
        config.session_store = Some(Arc::new(OfThisRequest));
        let protocol = StreamableHttpService::new(|| Ok(Handler), Arc::clone(&manager), config);
        Self {
            protocol,
            manager,
            sessions: Sessions::default(),
        }
    }

    /// Closes sessions that have been idle for too long.
    async fn sweep(&self) {
        for id in self.sessions.take_idle(Instant::now()) {
            self.close(id).await;
        }
    }

    async fn close(&self, id: String) {
        if let Err(error) = self.manager.close_session(&id.into()).await {
            tracing::debug!(%error, "MCP session was already closed");
        }
    }
}

/// Closes idle sessions. Not in the table of jobs, as the sessions are part of the router.
pub(super) fn sweep_job(adapter: &Arc<McpAdapter>) -> Job {
    let sweep = |adapter: Arc<McpAdapter>| async move { adapter.sweep().await };
    job("close_idle_mcp_sessions", adapter, sweep)
        .every(SWEEP_INTERVAL)
        .delayed()
}

/// `POST /mcp`, `GET /mcp` and `DELETE /mcp`: a message, the stream for messages of the server, the end of the session.
pub(super) async fn any(
    State(app): State<Arc<App>>,
    Extension(adapter): Extension<Arc<McpAdapter>>,
    caller: Caller,
    request: Request,
) -> Result<Response, ApiError> {
    check_named_origin(&app.config.now(), &request)?;
    let id = session_id(request.headers());
    let (session, handshake) = match &id {
        Some(id) => {
            let (session, handshake) = find(&app, &adapter, &caller, id).await?;
            (Some(session), handshake)
        }
        None => (None, None),
    };
    let is_end = request.method() == Method::DELETE;
    let mut request = checked(&app, request).await?;
    let wants = match lenient::read(&mut request).await {
        Ok(wants) => wants,
        Err(refused) => return Ok(refused),
    };
    let visit = Visit {
        app: Arc::clone(&app),
        caller: caller.clone(),
        origin: request_context::current(),
        session: session.clone(),
    };
    request.extensions_mut().insert(visit);
    let handled = adapter.protocol.handle(request);
    let (response, handshake) = stored::with_handshake(handshake, handled).await;
    let session = match (session, session_id(response.headers())) {
        (None, Some(begun)) => {
            let session = begin(&app, &adapter, &caller, begun).await?;
            keep(&app, &session, &caller, handshake).await?;
            Some(session)
        }
        (session, _) => session,
    };
    if let Some(id) = id.filter(|_| is_end && response.status().is_success()) {
        adapter.sessions.forget(&id);
        app.store.end_mcp_session(&id).await?;
    }
    let response = response.map(Body::new);
    if response.status().is_client_error() && !response.headers().contains_key(header::CONTENT_TYPE)
    {
        return Err(refusal(response).await);
    }
    Ok(wants.shown(response.map(|body| held(body, session))).await)
}

/// Converts an error of the library, which is plain text, to our format.
async fn refusal(response: Response) -> ApiError {
    const MAX_BYTES: usize = 1_000;
    let status = response.status();
    let said = axum::body::to_bytes(response.into_body(), MAX_BYTES)
        .await
        .unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let message = if said.is_empty() {
        "This is no request of the protocol."
    } else {
        said.as_ref()
    };
    ApiError::invalid(message).with_status(status)
}

fn session_id(headers: &HeaderMap) -> Option<String> {
    headers
        .get(SESSION)
        .map(|id| id.to_str().unwrap_or_default().to_owned())
}

/// The same for a session of another person as for one that has ended.
fn no_session() -> ApiError {
    ApiError::not_found(
        "There is no such MCP session (any more). Send `initialize` to begin another one.",
    )
}

/// The caller's session. If it began on another server, or before a restart, also the handshake to replay.
async fn find(
    app: &App,
    adapter: &McpAdapter,
    caller: &Caller,
    id: &str,
) -> Result<(Arc<Session>, Option<InitializeRequestParams>), ApiError> {
    let now = app.clock.now_ms();
    if let Some(session) = adapter.sessions.of(id, &caller.principal()) {
        if session.is_due(Instant::now()) && !app.store.use_mcp_session(id, now).await? {
            // It was ended on another server.
            adapter.sessions.forget(id);
            adapter.close(id.to_owned()).await;
            return Err(no_session());
        }
        return Ok((session, None));
    }
    let stored = app.store.mcp_session(id).await?;
    let stored = stored
        .filter(|stored| stored.principal.is_same_individual(&caller.principal()))
        .ok_or_else(no_session)?;
    let handshake = serde_json::from_str(&stored.initialized).map_err(ApiError::internal)?;
    app.store.use_mcp_session(id, now).await?;
    let session = begin(app, adapter, caller, id.to_owned()).await?;
    Ok((session, Some(handshake)))
}

/// Stores a session that has begun.
async fn keep(
    app: &App,
    session: &Session,
    caller: &Caller,
    handshake: Option<InitializeRequestParams>,
) -> Result<(), ApiError> {
    let Some(handshake) = handshake else {
        return Ok(());
    };
    let stored = StoredMcpSession {
        principal: caller.principal(),
        initialized: serde_json::to_string(&handshake).map_err(ApiError::internal)?,
    };
    let now = app.clock.now_ms();
    Ok(app.store.put_mcp_session(&session.id, &stored, now).await?)
}

async fn begin(
    app: &App,
    adapter: &McpAdapter,
    caller: &Caller,
    id: String,
) -> Result<Arc<Session>, ApiError> {
    let (session, ended) = adapter
        .sessions
        .begin(id, caller.principal(), Instant::now());
    for id in ended {
        app.store.end_mcp_session(&id).await?;
        adapter.close(id).await;
    }
    session.ok_or_else(|| {
        let message = "Too many MCP sessions of this account are at work. End one of them first.";
        ApiError::new(ProblemCode::RateLimited, message)
    })
}

/// Reads the body and validates its JSON.
async fn checked(app: &App, request: Request) -> Result<Request, ApiError> {
    let (parts, body) = request.into_parts();
    let body = read_body(
        app,
        Request::from_parts(parts.clone(), body),
        app.config.now().body_limit_bytes,
    )
    .await?;
    let body = if parts.method == Method::POST {
        checked_json(body)?
    } else {
        body
    };
    Ok(Request::from_parts(parts, Body::from(body)))
}

/// Keeps the session in use until the body ends.
fn held(body: Body, session: Option<Arc<Session>>) -> Body {
    Body::from_stream(body.into_data_stream().map(move |chunk| {
        let _held = &session;
        chunk
    }))
}
