//! A chat that exposes its debug events: one endpoint returns an answer with them, and a WebSocket streams them as they
//! occur.

use agent::RunSpec;
use std::{collections::HashSet, sync::Arc, time::Duration};

use axum::{
    extract::{
        Request, State, WebSocketUpgrade,
        ws::{Message as Frame, WebSocket, rejection::WebSocketUpgradeRejection},
    },
    http::StatusCode,
    response::{IntoResponse, Response},
};
use domain::{MessageId, Problem, RunId, RunSummary};
use llm::{BaseUrl, Secret, openai::ServerSettings};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::{broadcast::error::RecvError, mpsc};
use wire::{debug_chat::DebugChatRequest, debug_events::DebugEvent};

use super::{threads, web::Site};
use crate::{
    app::App,
    chat::turns::{ApiRun, ApiTurn},
    error::ApiError,
    gateway::{
        models::{NewConnection, ResolvedModel},
        work_mode::WorkMode,
    },
    http::{
        extract::{Json, RawJson},
        streams::{Heartbeat, send_only},
    },
    identity::{
        audit::Noted,
        auth::{Access, Caller, check_access},
    },
};

/// How long events are collected before they are sent as one batch.
const BATCH: Duration = Duration::from_millis(50);
/// Maximum number of events queued for one socket.
const SOCKET_CAPACITY: usize = 1024;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Config {
    api_endpoint: String,
    api_key: Option<String>,
    model: Option<String>,
}

/// Whether the model server was connected, with a message for people.
#[derive(Debug, Serialize)]
pub(super) struct Configured {
    success: bool,
    message: String,
}

/// `POST /api/config`: connects a model server; replaces an earlier connection to the same address.
pub(super) async fn configure(
    State(app): State<Arc<App>>,
    noted: Noted,
    Json(config): Json<Config>,
) -> Response {
    match connect(&app, &noted, config).await {
        Ok(message) => Json(Configured {
            success: true,
            message,
        })
        .into_response(),
        Err(error) => {
            let message = error.problem().message.clone();
            let mut response = error.into_response();
            *response.body_mut() =
                axum::body::Body::from(json!({"success": false, "message": message}).to_string());
            response
                .headers_mut()
                .remove(axum::http::header::CONTENT_LENGTH);
            response
        }
    }
}

async fn connect(app: &App, noted: &Noted, config: Config) -> Result<String, ApiError> {
    let unprocessable =
        |message: String| ApiError::invalid(message).with_status(StatusCode::UNPROCESSABLE_ENTITY);
    let base_url =
        BaseUrl::parse(&config.api_endpoint).map_err(|error| unprocessable(error.to_string()))?;
    noted.about(&base_url, "");
    let key = config
        .api_key
        .map(Secret::new)
        .filter(|key| !key.reveal().is_empty());
    let name = base_url.to_string();
    let settings = ServerSettings {
        name,
        ..ServerSettings::alone(base_url, key)
    };
    let models = app
        .models
        .ask(&settings)
        .await
        .map_err(|error| ApiError::from(error).with_status(StatusCode::UNPROCESSABLE_ENTITY))?;
    let earlier: Vec<_> = {
        let catalogue = app.models.catalogue();
        let same = |known: &&crate::gateway::models::KnownConnection| {
            let other = &known.server.settings;
            known.is_changeable()
                && other.kind == settings.kind
                && other.base_url == settings.base_url
        };
        catalogue
            .connections
            .iter()
            .filter(same)
            .map(|known| known.id)
            .collect()
    };
    let new = NewConnection { settings, models };
    let known = app.models.connect(new, app.clock.now_ms()).await?;
    for id in earlier {
        app.models.disconnect(id).await?;
    }
    if let Some(model) = config.model {
        app.models.set_default(&model).await?;
    }
    Ok(format!(
        "Connected to {}: {} models.",
        known.server.settings.base_url,
        known.models.len()
    ))
}

/// An answer with the debug events of its run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    message: AnswerMessage,
    conversation_id: Option<String>,
    debug_events: Vec<DebugEvent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Problem>,
}

#[derive(Debug, Serialize)]
struct AnswerMessage {
    id: String,
    role: &'static str,
    content: String,
    timestamp: i64,
}

/// `POST /api/chat`: sends a message and waits for the answer.
pub(super) async fn chat(
    State(app): State<Arc<App>>,
    caller: Caller,
    RawJson(body): RawJson,
) -> Result<Json<Answer>, ApiError> {
    let request = DebugChatRequest::decode(&body)
        .map_err(|error| ApiError::invalid(error.to_string()).with_field(error.field()))?;
    let model = app
        .gateway
        .resolve_for(&caller, request.model.as_deref())
        .await?;
    let (run, id, conversation_id) = match request.before {
        Some(mut history) => {
            history.push(request.said);
            let new = ApiRun::new(history, model, run_spec(request.mode));
            let run = app.turns.start_run(new).await?;
            (run, run.to_string(), request.conversation)
        }
        None => {
            let (run, message, chat) = say(&app, &caller, request, model).await?;
            (run, message.to_string(), Some(chat))
        }
    };
    let (summary, debug_events) = collect(&app, run).await?;
    let timestamp = app.clock.now_ms();
    let message = AnswerMessage {
        id,
        role: "assistant",
        content: summary.answer,
        timestamp,
    };
    Ok(Json(Answer {
        message,
        conversation_id,
        debug_events,
        error: summary.problem,
    }))
}

/// Adds the message to the conversation's chat, or to a new one, and starts the run.
async fn say(
    app: &App,
    caller: &Caller,
    request: DebugChatRequest,
    model: ResolvedModel,
) -> Result<(RunId, MessageId, String), ApiError> {
    let new = || format!("debug-{}", RunId::generate());
    let thread = request.conversation.clone().unwrap_or_else(new);
    let chat = threads::find_or_make(app, caller, &thread).await?;
    let parent = request.parent.or(chat.current);
    let messages = app.store.messages(chat.id).await?;
    if parent.is_some_and(|parent| !messages.iter().any(|message| message.id == parent)) {
        return Err(ApiError::conflict(
            "`parentMessageId` is not in this conversation (any more).",
        ));
    }
    app.commands.stop_in(chat.id).await?;
    // The caller's own name for the conversation, if it has one.
    let conversation = request.conversation.unwrap_or_else(|| chat.id.to_string());
    let mut history = app.conversations.history(&messages, parent).await?;
    let said = Some(request.said.content.clone());
    history.push(request.said);
    let turn = ApiTurn::new(parent, said, history, model, run_spec(request.mode));
    let exchange = app.turns.start_turn(chat, turn).await?;
    Ok((exchange.run, exchange.assistant.id, conversation))
}

fn run_spec(mode: wire::chat_stream::Mode) -> RunSpec {
    RunSpec {
        research: WorkMode::from(mode).research(false),
        ..RunSpec::default()
    }
}

async fn collect(app: &App, run: RunId) -> Result<(RunSummary, Vec<DebugEvent>), ApiError> {
    let mut summary = RunSummary::default();
    let mut events = Vec::new();
    let mut reader = app.runs.read(run, 0);
    while let Some(logged) = reader.next().await? {
        for logged in logged {
            summary.push(&logged.event);
            events.extend(DebugEvent::of(&logged.event, logged.detail.as_deref()));
        }
    }
    Ok((summary, events))
}

/// `GET /ws`: streams the debug events of the caller's runs.
pub(super) async fn socket(
    State(app): State<Arc<App>>,
    caller: Caller,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let upgrade = upgrade.map_err(|_| ApiError::invalid("This address takes a WebSocket only."))?;
    Ok(send_only(upgrade)
        .on_upgrade(async move |socket| watch_while_good(app, caller, socket).await))
}

/// `GET /`: the web app, which is public; upgraded to a WebSocket, it is the same as `/ws` and requires the same
/// access.
pub(super) async fn root(
    State(app): State<Arc<App>>,
    State(site): State<Site>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
    mut request: Request,
) -> Result<Response, ApiError> {
    let Ok(upgrade) = upgrade else {
        return Ok(site.serve(&request));
    };
    let caller = check_access(&app.identity, Access::Chat, &mut request).await?;
    let caller = caller.ok_or_else(|| ApiError::unauthenticated(false))?;
    Ok(send_only(upgrade)
        .on_upgrade(async move |socket| watch_while_good(app, caller, socket).await))
}

async fn watch_while_good(app: Arc<App>, caller: Caller, socket: WebSocket) {
    let ends = app.identity.standing.ends(&caller);
    _ = ends.run_until_cancelled(watch(app, caller, socket)).await;
}

/// Streams the events of the runs that the caller may see, until the socket closes.
async fn watch(app: Arc<App>, caller: Caller, mut socket: WebSocket) {
    let mut changes = app.runs.subscribe();
    let (sender, mut events) = mpsc::channel(SOCKET_CAPACITY);
    let principal = caller.principal();
    let mut known = HashSet::new();
    let mut heartbeat = Heartbeat::begin();
    loop {
        for live in app.runs.live_of(&principal) {
            if caller.may_hear(&live.principal) && known.insert(live.id) {
                app.tasks
                    .spawn(follow(app.clone(), live.id, sender.clone()));
            }
        }
        tokio::select! {
            () = app.stopping.cancelled() => return drop(socket.send(Frame::Close(None)).await),
            change = changes.recv() => if let Err(RecvError::Closed) = change { return },
            Some(first) = events.recv() => {
                tokio::time::sleep(BATCH).await;
                let mut batch = vec![first];
                while let Ok(event) = events.try_recv() {
                    batch.push(event);
                }
                let text = json!({"type": "debug_events", "events": batch}).to_string();
                if socket.send(Frame::Text(text.into())).await.is_err() {
                    return;
                }
            }
            message = socket.recv() => match message {
                // Messages from the client are ignored; they only show that it is alive.
                Some(Ok(Frame::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => heartbeat.heard(),
            },
            is_alive = heartbeat.beat() => {
                if !is_alive || socket.send(Frame::Ping(bytes::Bytes::new())).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Forwards the events of a run to a socket until either ends.
async fn follow(app: Arc<App>, run: RunId, to: mpsc::Sender<DebugEvent>) {
    let mut reader = app.runs.read(run, 0);
    loop {
        let logged = tokio::select! {
            () = to.closed() => return,
            () = app.stopping.cancelled() => return,
            logged = reader.next() => logged,
        };
        let Ok(Some(logged)) = logged else { return };
        let events = logged.iter();
        for event in
            events.filter_map(|logged| DebugEvent::of(&logged.event, logged.detail.as_deref()))
        {
            if to.send(event).await.is_err() {
                return;
            }
        }
    }
}
