//! Runs: reading their logs, stopping them, and answering approvals.

pub(super) mod questions;

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{State, WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use domain::{ChatId, EventBody, MessageId, RunId, RunSummary};
use run_registry::Runs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Run, StoreError};
use wire::{chat_stream::ChatStreamOptions, markup::Writing};

use crate::{
    app::App,
    chat::access::{ChatAccess, Reading, Viewer},
    error::ApiError,
    http::{
        extract::{Json, Path, Query},
        openapi::Operations,
        streams::{
            Format, FormatOptions, Native, RunFiles, StreamedEvent, for_reader, send_only, sse,
            web_socket,
        },
    },
    identity::auth::Caller,
    messages,
    runtime::{approvals::AnswerApproval, commands::Command},
};

/// Maximum length of a sub-agent's id; more than the deepest nesting needs.
const LIMIT_AGENT_BYTES: usize = 60;

/// A run: one agent at work.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Run")]
pub(super) struct RunView {
    id: RunId,
    chat: Option<ChatId>,
    /// The message that it writes.
    message: Option<MessageId>,
    model: String,
    #[schemars(extend("enum" = ["running", "waiting", "finished"]))]
    state: &'static str,
    /// The number of the last event of its log.
    last_seq: u64,
    started_at: i64,
    /// The [id](docs/operate/tracing.md#the-id) of the request that started it, if known.
    request_id: Option<String>,
    /// What it has done, once it has finished.
    summary: Option<RunSummary>,
}

/// The run, if it is the caller's.
pub(super) async fn find_own(
    app: &App,
    caller: &Caller,
    run: RunId,
) -> Result<Option<Run>, ApiError> {
    match app.store.run(run).await {
        Ok(run) if caller.may_see(&run.principal) => Ok(Some(run)),
        Ok(_) | Err(StoreError::NotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The run, which must be the caller's; otherwise 404, whether it exists or not.
pub(super) async fn own_run(app: &App, caller: &Caller, run: RunId) -> Result<Run, ApiError> {
    find_own(app, caller, run)
        .await?
        .ok_or_else(|| ApiError::not_found(messages::Chats::NoSuchRun))
}

/// Checks that the caller may change the run. Without a database query if the run is on this server, as each stop and
/// answer needs it.
pub(super) async fn check_changeable(
    app: &App,
    caller: &Caller,
    run: RunId,
) -> Result<(), ApiError> {
    match app.runs.live(run) {
        Some(live) if caller.may_change(&live.principal) => Ok(()),
        _ => changeable_run(app, caller, run).await.map(drop),
    }
}

/// The run, which the caller must be allowed to change, such as to answer its questions.
pub(super) async fn changeable_run(
    app: &App,
    caller: &Caller,
    run: RunId,
) -> Result<Run, ApiError> {
    let run = own_run(app, caller, run).await?;
    caller.check_change(&run.principal)?;
    Ok(run)
}

/// Checks that the caller may see the run. Without a database query if the run is on this server.
async fn check_visible(app: &App, caller: &Caller, run: RunId) -> Result<(), ApiError> {
    match app.runs.live(run) {
        Some(live) if caller.may_see(&live.principal) => Ok(()),
        _ => own_run(app, caller, run).await.map(drop),
    }
}

/// `GET /runs/{run}`: the state of a run.
pub(super) async fn get(
    State(access): State<Arc<ChatAccess>>,
    State(runs): State<Runs>,
    viewer: Viewer,
    Path(run): Path<RunId>,
) -> Result<Json<RunView>, ApiError> {
    let run = access.readable_run(&viewer, run).await?;
    let live = runs.live(run.id);
    let state = match &live {
        Some(live) if live.is_waiting() => "waiting",
        Some(_) => "running",
        // It continues as soon as its model is available.
        None if run.finished_at.is_none() => "running",
        None => "finished",
    };
    let last_seq = live.map_or(run.last_seq, |live| live.last_seq());
    let Run {
        id,
        chat,
        message,
        model,
        started_at,
        origin,
        summary,
        ..
    } = run;
    let request_id = origin.and_then(|origin| origin.request);
    Ok(Json(RunView {
        id,
        chat,
        message,
        model,
        state,
        last_seq,
        started_at,
        request_id,
        summary,
    }))
}

/// Which events of a log, and how.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct EventsQuery {
    /// Only events after this number. `Last-Event-ID` does the same.
    after: Option<u64>,
    /// `chat` for the frames of `POST /chat/stream`, or one of its [other
    /// formats](docs/integrate/chat-stream.md#other-formats).
    pub(super) format: Option<String>,
    /// Cuts a result in `tool_finished` that is longer than this many bytes; the event then has `"preview": true`.
    preview: Option<usize>,
    /// Writes the events within this time at once, 1 to 1000.
    batch_ms: Option<u64>,
    /// For the chat format: the optional frames, separated by commas.
    events: Option<String>,
    /// For the formats that are one text: `true` if the reader can replace what it has.
    replace: Option<String>,
}

impl EventsQuery {
    /// The options in addition to the format's name.
    pub(super) fn options(&self) -> FormatOptions {
        let native = Native {
            preview_bytes: self.preview,
        };
        let asked = self.events.as_deref().unwrap_or_default();
        let tool_args_delta = asked
            .split(',')
            .any(|name| name.trim() == "tool_args_delta");
        let replaces = matches!(self.replace.as_deref(), Some("true" | "1"));
        let writing = if replaces {
            Writing::Replace
        } else {
            Writing::Append
        };
        FormatOptions {
            native,
            chat: ChatStreamOptions { tool_args_delta },
            writing,
            is_own: false,
        }
    }
}

/// `GET /runs/{run}/events`: the log from any event to its end, as server-sent events or over a WebSocket.
pub(super) async fn events(
    State(app): State<Arc<App>>,
    viewer: Viewer,
    Path(run): Path<RunId>,
    Query(query): Query<EventsQuery>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    // No database query for the caller's own run on this server.
    let reading = match check_visible(&app, &viewer.caller, run).await {
        Ok(()) => None,
        Err(error) if error.is_ours() => return Err(error),
        Err(_) => app.access.reading_of(
            &viewer.caller,
            &app.access.readable_run(&viewer, run).await?,
        ),
    };
    let after = after(&query, &headers)?;
    let options = FormatOptions {
        is_own: reading.is_none(),
        ..query.options()
    };
    let gap = Duration::from_millis(query.batch_ms.unwrap_or(0).min(1000));
    let mut reader = app.runs.read(run, after).gathering(gap).resumable();
    reader.read_ahead().await.map_err(ApiError::of_log)?;
    if let Ok(upgrade) = upgrade {
        let ends = app.identity.standing.ends(&viewer.caller);
        return Ok(send_only(upgrade).on_upgrade(async move |socket| {
            let watched = ends.run_until_cancelled(web_socket(reader, options.native, socket));
            Reading::during(reading, watched).await;
        }));
    }
    let name = query.format.as_deref().unwrap_or("native");
    let mut format = match name {
        "responses" => super::openai::responses::watching(&app, run).await?,
        name => Format::named(name, options)?,
    };
    // Readers of a shared chat see the current files, for which there are no signed links.
    let mut files = reading
        .is_none()
        .then(|| RunFiles::new(&app, run, &headers, format.contents()));
    if name != "native" {
        prime(&app, run, after, &mut format, files.as_mut()).await?;
    }
    Ok(Reading::stream(reading, sse(reader, format, files)))
}

/// The last event that the client has: from `Last-Event-ID` or the query.
fn after(query: &EventsQuery, headers: &HeaderMap) -> Result<u64, ApiError> {
    match headers.get("last-event-id") {
        None => Ok(query.after.unwrap_or(0)),
        Some(value) => value
            .to_str()
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .ok_or_else(|| ApiError::invalid("Last-Event-ID has to be the number of an event.")),
    }
}

/// Brings an encoder to its state after event `after`.
pub(super) async fn prime(
    app: &App,
    run: RunId,
    after: u64,
    format: &mut Format,
    mut files: Option<&mut RunFiles>,
) -> Result<(), ApiError> {
    let mut earlier = app.runs.read(run, 0);
    let mut primed = 0;
    while primed < after {
        let Some(events) = earlier.next().await.map_err(ApiError::of_log)? else {
            break;
        };
        for logged in events.iter().filter(|logged| logged.event.seq <= after) {
            if let Some(event) = for_reader(files.as_deref_mut(), &logged.event).await {
                format.prime(&event);
            }
        }
        primed = events.last().map_or(after, |last| last.event.seq);
    }
    Ok(())
}

/// `GET /runs/{run}/calls/{call}`: one finished tool call with its complete result.
pub(super) async fn call(
    State(access): State<Arc<ChatAccess>>,
    State(runs): State<Runs>,
    viewer: Viewer,
    Path((run, call)): Path<(RunId, String)>,
) -> Result<Json<EventBody>, ApiError> {
    access.readable_run(&viewer, run).await?;
    let mut reader = runs.read_stored(run);
    while let Some(events) = reader.next().await.map_err(ApiError::of_log)? {
        for logged in &events {
            if let EventBody::ToolFinished { call: finished, .. } = &logged.event.body
                && *finished == call
            {
                return Ok(Json(logged.event.body.clone()));
            }
        }
    }
    Err(ApiError::not_found(messages::Chats::NoSuchCall))
}

/// `POST /runs/{run}/cancel`: stops a run; its output is kept.
pub(super) async fn cancel(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(run): Path<RunId>,
) -> Result<StatusCode, ApiError> {
    check_changeable(&app, &caller, run).await?;
    app.commands.tell(run, Command::Cancel).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /runs/{run}/finish`: makes research write its report now, from what it has.
pub(super) async fn finish(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(run): Path<RunId>,
) -> Result<StatusCode, ApiError> {
    check_changeable(&app, &caller, run).await?;
    app.commands.tell(run, Command::Finish).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /runs/{run}/agents/{agent}/stop`: stops one sub-agent; the rest of the run continues.
pub(super) async fn stop_agent(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((run, agent)): Path<(RunId, String)>,
) -> Result<StatusCode, ApiError> {
    check_changeable(&app, &caller, run).await?;
    if agent.len() > LIMIT_AGENT_BYTES {
        return Err(ApiError::invalid(messages::Chats::BadAgentId));
    }
    app.commands.tell(run, Command::StopAgent { agent }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /runs/{run}/approvals/{approval}`: allows or denies a pending call.
pub(super) async fn approve(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((run, approval)): Path<(RunId, String)>,
    Json(decision): Json<AnswerApproval>,
) -> Result<StatusCode, ApiError> {
    check_changeable(&app, &caller, run).await?;
    decision.check_lasting(&caller)?;
    app.commands
        .tell(run, Command::Approve { approval, decision })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler("GET /runs/{run}", get, "Returns the state of a run");
    api.operation("GET /runs/{run}/events", "Streams the log of a run, from any event to its end")
        .details("As SSE with `id: <seq>`, or with `Upgrade: websocket` one event per text message; ends after \
         `run_finished`. A log that is damaged in the database is 500 with the sentence `damaged_log`; \
         if some of it was sent before, `event: problem` with the same body ends the stream (in \
         `?format=openai` and `responses` their own error, over a WebSocket close code 1011).")
        .query::<EventsQuery>()
        .header("Last-Event-ID", "Only events after this number.")
        .answers_nothing(101)
        .answers_events::<StreamedEvent>(200);
    api.handler(
        "GET /runs/{run}/calls/{call}",
        call,
        "Returns the whole `tool_finished` event of one call",
    )
    .details("404 until it has finished.");
    api.handler(
        "POST /runs/{run}/cancel",
        cancel,
        "Stops a run, also if it has already finished; what it wrote is kept",
    );
    api.handler(
        "POST /runs/{run}/finish",
        finish,
        "Has [research](docs/research.md) write its report now, from what it knows",
    )
    .details("No effect on other runs.");
    api.handler(
        "POST /runs/{run}/agents/{agent}/stop",
        stop_agent,
        "Stops one sub-agent, such as `a2.1`, and those under it",
    )
    .details("The others continue. Also if it has ended.")
    .errors(&[409]);
    api.handler(
        "POST /runs/{run}/approvals/{approval}",
        approve,
        "Allows or denies a tool call that waits",
    )
    .details(
        "409 if it no longer waits; 422 if the edited arguments do not fit the tool's schema, or \
         `remember` is not allowed for the tool.",
    )
    .errors(&[409, 422]);
}
