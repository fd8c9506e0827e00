//! Chat completions of an agent: a run, encoded in OpenAI's format.

use std::sync::Arc;

use agent::{AnswerForm, ApprovalDecision, RunSpec};
use axum::{
    body::Body,
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use domain::{EventBody, Message, Reply, RunId, event::Decision};
use futures_util::StreamExt;
use llm::{ToolSpec, openai::INCLUDE_STATUS};
use run_registry::Runs;
use serde_json::Value;
use store::{IdempotencyKey, Run};
use tokio_util::sync::{CancellationToken, DropGuard};
use wire::openai::{
    CallerTool, Completion, CompletionEncoder, CompletionOptions, CompletionRequest, outer_call_id,
    run_of_call,
};

use super::{background, invalid, models::AgentModel};
use crate::{
    app::App,
    chat::{idempotency::idempotency_key, turns::ApiRun},
    error::ApiError,
    gateway::{caller_info::CHAT_ID, work_mode::WorkMode},
    http::{
        chat_stream::foreign_workspace,
        runs::find_own,
        streams::{Contents, Format, RunFiles, for_reader, from_run, sse},
    },
    identity::auth::Caller,
    runtime::{
        client_tools::CallNames,
        commands::{Command, or_answered},
    },
};

/// The prefix of Open WebUI's headers.
const OPEN_WEBUI: &str = "x-openwebui-";

/// The call ids of this format.
const CALL_NAMES: CallNames = CallNames {
    run_of: run_of_call,
    name: |run, call, _| outer_call_id(run, call),
};

/// Starts a run and streams it, or collects it for a single response.
pub(super) async fn answer(
    app: &Arc<App>,
    caller: &Caller,
    headers: &HeaderMap,
    agent: AgentModel,
    body: &[u8],
) -> Result<Response, ApiError> {
    let request = CompletionRequest::decode(body).map_err(invalid)?;
    if background::is_task(headers, &request) {
        return background::answer(app, caller, headers, request).await;
    }
    let options = CompletionOptions {
        model: request.model.clone(),
        include_usage: request.include_usage,
        extras: request.include_status || wants_status(headers),
        sources: request.metadata.features.citations != Some(false),
        numbered: false,
    };
    let stream = request.stream;
    let key = idempotency_key(headers, "/v1/chat/completions", body)?;
    let can_come_back = key.is_some();
    let begin = async |key| begin(app, caller, headers, agent, request, key).await;
    let again = async |run: Run| {
        // The task that declines questions is lost in a restart.
        app.tasks.spawn(decline_questions(app.clone(), run.id));
        Ok(run.id)
    };
    let run = app
        .idempotency
        .once(&caller.principal(), key, begin, again)
        .await?;
    // This format cannot stop an answer: a disconnect cancels the run, unless the client can reconnect to it.
    let stop = (!can_come_back).then(|| stop_when_dropped(&app.runs, run));
    let response = if stream {
        let format = Format::OpenAi(Box::new(CompletionEncoder::new(options)));
        let files = RunFiles::new(app, run, headers, format.contents());
        held_by_body(sse(app.runs.read(run, 0), format, Some(files)), stop)
    } else {
        let files = RunFiles::new(app, run, headers, Contents::Linked);
        collect(app, run, options.model, Some(files)).await?
    };
    Ok(from_run(run, response))
}

/// Whether a header requests status events.
pub(super) fn wants_status(headers: &HeaderMap) -> bool {
    headers
        .get(INCLUDE_STATUS)
        .is_some_and(|value| value == "true")
        || from_open_webui(headers)
}

pub(super) fn from_open_webui(headers: &HeaderMap) -> bool {
    headers
        .keys()
        .any(|name| name.as_str().starts_with(OPEN_WEBUI))
}

/// Starts a run for a format that cannot ask the user.
pub(in crate::http) async fn start_run(
    app: &Arc<App>,
    caller: &Caller,
    headers: &HeaderMap,
    agent: AgentModel,
    request: CompletionRequest,
) -> Result<RunId, ApiError> {
    begin(app, caller, headers, agent, request, None).await
}

async fn begin(
    app: &Arc<App>,
    caller: &Caller,
    headers: &HeaderMap,
    agent: AgentModel,
    request: CompletionRequest,
    key: Option<IdempotencyKey>,
) -> Result<RunId, ApiError> {
    let run = start(app, caller, headers, agent, request, key).await?;
    app.tasks.spawn(decline_questions(app.clone(), run));
    Ok(run)
}

async fn start(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    agent: AgentModel,
    request: CompletionRequest,
    idempotency: Option<IdempotencyKey>,
) -> Result<RunId, ApiError> {
    let model = app.gateway.resolve_for(caller, Some(&agent.id)).await?;
    let mut metadata = request.metadata;
    let in_header = headers
        .get(&CHAT_ID)
        .and_then(|id| id.to_str().ok())
        .map(str::to_owned);
    let workspace = match in_header.or_else(|| metadata.chat_id.take()) {
        Some(id) => {
            let workspace = foreign_workspace(caller, &id)?;
            metadata.passed_on.insert("chat_id".to_owned(), id.into());
            Some(workspace)
        }
        None => earlier_workspace(app, caller, &request.messages).await?,
    };
    let answer_form = match request.answer_format {
        Some(format) => answer_form(format, "response_format.json_schema.schema")?,
        None => None,
    };
    let spec = RunSpec {
        workspace: workspace.unwrap_or_default(),
        client_tools: request.tools.into_iter().map(spec).collect(),
        parameters: request.parameters,
        answer_form,
        research: WorkMode::from(request.mode).research(false),
        ends_with_server: idempotency.is_none(),
        ..RunSpec::default()
    };
    let history = app
        .conversations
        .with_own_calls(caller, request.messages, CALL_NAMES)
        .await?;
    app.turns
        .start_run(ApiRun {
            metadata,
            idempotency,
            ..ApiRun::new(history, model, spec)
        })
        .await
}

/// The JSON format that the answer must have; its schema is in `field` of the request.
pub(super) fn answer_form(format: Value, field: &str) -> Result<Option<Arc<AnswerForm>>, ApiError> {
    let form = AnswerForm::new(format).map_err(|fault| {
        ApiError::invalid(format!("`{field}` cannot be used: {fault}.")).with_field(Some(field))
    })?;
    Ok(form.map(Arc::new))
}

pub(super) fn spec(tool: CallerTool) -> ToolSpec {
    let CallerTool {
        name,
        description,
        parameters,
    } = tool;
    ToolSpec {
        name,
        description,
        parameters: parameters.into(),
    }
}

/// The workspace of the run that first called the caller's tools, if the conversation continues with their results.
async fn earlier_workspace(
    app: &App,
    caller: &Caller,
    messages: &[Message],
) -> Result<Option<String>, ApiError> {
    let calls = messages.iter().flat_map(|message| &message.tool_calls);
    let Some(run) = calls.filter_map(|call| run_of_call(&call.id)).next() else {
        return Ok(None);
    };
    // The id may name something that is not the caller's.
    Ok(find_own(app, caller, run)
        .await?
        .map(|run| run.id.to_string()))
}

pub(in crate::http) fn stop_when_dropped(runs: &Runs, run: RunId) -> DropGuard {
    let live = runs.live(run);
    live.map_or_else(CancellationToken::new, |live| live.cancel.clone())
        .drop_guard()
}

/// Drops `stop` with the response's body.
pub(in crate::http) fn held_by_body(response: Response, stop: Option<DropGuard>) -> Response {
    let Some(stop) = stop else { return response };
    response.map(|body| {
        Body::from_stream(body.into_data_stream().map(move |chunk| {
            let _held = &stop;
            chunk
        }))
    })
}

/// Reads the stream to its end and returns a single response.
pub(in crate::http) async fn collect(
    app: &App,
    run: RunId,
    model: String,
    mut files: Option<RunFiles>,
) -> Result<Response, ApiError> {
    let mut reader = app.runs.read(run, 0);
    let mut completion = Completion::new(model);
    while let Some(events) = reader.next().await? {
        for logged in &events {
            if let Some(event) = for_reader(files.as_mut(), &logged.event).await {
                completion.push(&event);
            }
        }
    }
    Ok(axum::Json(completion.finish()?).into_response())
}

const NOBODY: &str = "Nobody can be asked here: the caller's program shows no questions. Decide yourself, or \
    end and ask in your answer.";

/// Declines approvals and questions of the run, as this format cannot ask the user.
pub(super) async fn decline_questions(app: Arc<App>, run: RunId) {
    let mut reader = app.runs.read(run, 0);
    while let Ok(Some(events)) = reader.next().await {
        for logged in events {
            let command = match &logged.event.body {
                EventBody::ApprovalAsked { approval, .. } => {
                    let reason = Some(NOBODY.to_owned());
                    let deny = ApprovalDecision {
                        reason,
                        ..ApprovalDecision::only(Decision::Deny)
                    };
                    Command::approve(approval, deny)
                }
                EventBody::QuestionAsked { question, .. } => {
                    Command::answer(question, Reply::Declined(Some(NOBODY.to_owned())))
                }
                _ => continue,
            };
            // It may have been answered elsewhere in the meantime.
            if let Err(error) = or_answered(app.commands.tell(run, command).await) {
                tracing::warn!(%run, %error, "failed to decline a question of a run");
            }
        }
    }
}
