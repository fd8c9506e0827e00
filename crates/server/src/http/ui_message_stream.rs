//! The AI SDK's protocol: `useChat` sends its whole chat and gets a stream of message parts, which it can resume.

use std::sync::Arc;

use agent::{ApprovalDecision, RunSpec};
use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode},
    response::{IntoResponse, Response},
};
use domain::{EventBody, Part, Role, RunId, event::Decision};
use sse::Frame;
use wire::ui_message_stream::{ApprovalResponse, UiMessageEncoder, UiMessageRequest};

use super::{runs::changeable_run, threads};
use crate::{
    app::App,
    chat::turns::{ApiRun, ApiTurn},
    error::ApiError,
    gateway::work_mode::WorkMode,
    http::{
        extract::{Path, RawJson},
        streams::{Contents, RunFiles, from_run, pausing},
    },
    identity::auth::Caller,
    runtime::commands::{Command, or_answered},
};

/// `POST /api/ui-message-stream`: answers the last message, or continues a run whose approvals were answered.
pub(super) async fn post(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    RawJson(body): RawJson,
) -> Result<Response, ApiError> {
    let request = UiMessageRequest::decode(&body)
        .map_err(|error| ApiError::invalid(error.to_string()).with_field(error.field()))?;
    if let Some(first) = request.approvals.first() {
        let run = first.run;
        return go_on(&app, &caller, &headers, run, request.approvals).await;
    }
    let run = start(&app, &caller, request).await?;
    Ok(stream_run(
        &app,
        &headers,
        run,
        0,
        UiMessageEncoder::default(),
        Vec::new(),
    ))
}

/// `GET /api/ui-message-stream/{chat}/stream`: the current answer from its beginning; 204 if no run is active.
pub(super) async fn resume(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(chat): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let going = match threads::find(&app, &caller, &chat).await? {
        Some(chat) => app.commands.going_in(chat.id).await?.pop(),
        None => None,
    };
    Ok(match going {
        Some(run) => stream_run(
            &app,
            &headers,
            run,
            0,
            UiMessageEncoder::default(),
            Vec::new(),
        ),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// `POST /api/ui-message-stream/{chat}/stop`: stops the current run; a disconnect does not.
pub(super) async fn stop(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(chat): Path<String>,
) -> Result<StatusCode, ApiError> {
    if let Some(chat) = threads::find(&app, &caller, &chat).await? {
        app.commands.stop_in(chat.id).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

async fn start(app: &App, caller: &Caller, request: UiMessageRequest) -> Result<RunId, ApiError> {
    let model = app
        .gateway
        .resolve_for(caller, request.model.as_deref())
        .await?;
    let spec = RunSpec {
        research: WorkMode::from(request.mode).research(false),
        ..RunSpec::default()
    };
    let history = request.messages;
    let Some(id) = request.chat_id else {
        let new = ApiRun::new(history, model, spec);
        return app.turns.start_run(new).await;
    };
    let chat = threads::find_or_make(app, caller, &id).await?;
    let known = app.store.messages(chat.id).await?;
    let is_known = |id| known.iter().any(|message| message.id == id);
    let parent = request.last_answer.filter(|id| is_known(*id));
    let said: Option<Vec<Part>> = history
        .iter()
        .rev()
        .find(|message| message.role == Role::User)
        .map(|said| said.content.clone());
    app.commands.stop_in(chat.id).await?;
    let turn = ApiTurn::new(parent, said, history, model, spec);
    Ok(app.turns.start_turn(chat, turn).await?.run)
}

/// Sends the decisions to the run and streams what follows, into the same message.
async fn go_on(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    run: RunId,
    approvals: Vec<ApprovalResponse>,
) -> Result<Response, ApiError> {
    let row = changeable_run(app, caller, run).await?;
    let live = app.runs.live(run);
    let written = live.map_or(row.last_seq, |live| live.last_seq());
    let (encoder, after) = primed(app, run, written, &approvals).await?;
    let opening = encoder.resume();
    for ApprovalResponse {
        run: _,
        approval,
        allowed,
        reason,
    } in approvals.into_iter().filter(|response| response.run == run)
    {
        let decision = if allowed {
            Decision::Allow
        } else {
            Decision::Deny
        };
        let answer = ApprovalDecision {
            reason,
            ..ApprovalDecision::only(decision)
        };
        // It may have been answered elsewhere; the log has the result.
        or_answered(
            app.commands
                .tell(run, Command::approve(&approval, answer))
                .await,
        )?;
    }
    Ok(stream_run(app, headers, run, after, encoder, opening))
}

/// The encoder in its state when the stream paused for these approvals, and the last event it had.
async fn primed(
    app: &App,
    run: RunId,
    written: u64,
    approvals: &[ApprovalResponse],
) -> Result<(UiMessageEncoder, u64), ApiError> {
    let mut missing: Vec<&str> = approvals
        .iter()
        .map(|response| response.approval.as_str())
        .collect();
    let (mut encoder, mut reader, mut last) =
        (UiMessageEncoder::default(), app.runs.read(run, 0), 0);
    while last < written {
        let Some(events) = reader.next().await? else {
            break;
        };
        for logged in events {
            encoder.prime(&logged.event);
            last = logged.event.seq;
            if let EventBody::ApprovalAsked { approval, .. } = &logged.event.body {
                missing.retain(|id| id != approval);
            }
            if missing.is_empty() {
                return Ok((encoder, last));
            }
        }
    }
    Err(ApiError::not_found(
        "This run has not asked for this consent. Send the chat as it was streamed to you.",
    ))
}

fn stream_run(
    app: &App,
    headers: &HeaderMap,
    run: RunId,
    after: u64,
    encoder: UiMessageEncoder,
    opening: Vec<Frame>,
) -> Response {
    let files = RunFiles::new(app, run, headers, Contents::Linked);
    let mut response = pausing(
        app.runs.read(run, after),
        encoder,
        Some(files),
        opening,
        None,
    );
    response.headers_mut().insert(
        "x-vercel-ai-ui-message-stream",
        HeaderValue::from_static("v1"),
    );
    from_run(run, response)
}
