//! Starts the run of a new response, with an agent or with a plain model.

use ::agent::{RunSpec, Worker, history::RunBy};
use axum::http::HeaderMap;
use domain::{Message, Role, RunId};
use serde_json::Value;
use store::IdempotencyKey;
use wire::{
    RequestMetadata,
    chat_stream::Mode,
    openai::{outer_call_id, run_of_call},
    responses::{ResponseRequest, check_conversation, conversation, own_call_id, run_of_own_call},
};

use super::{
    super::{agent, invalid, requested_model::RequestedModel},
    earlier,
};
use crate::{
    app::App,
    chat::turns::ApiRun,
    error::ApiError,
    gateway::{caller_info::CHAT_ID, models::ResolvedModel, work_mode::WorkMode},
    http::chat_stream::foreign_workspace,
    identity::auth::Caller,
    runtime::client_tools::CallNames,
};

/// The call ids of this format: calls of our own tools and of the caller's tools are different kinds of items.
const CALL_NAMES: CallNames = CallNames {
    run_of: |id| run_of_call(id).or_else(|| run_of_own_call(id)),
    name: call_id,
};

/// The id of a call in a conversation.
pub(super) fn call_id(run: RunId, call: &str, by: RunBy) -> String {
    match by {
        RunBy::Us => own_call_id(run, call),
        RunBy::Caller => outer_call_id(run, call),
    }
}

pub(super) async fn start(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    asked: &RequestedModel<'_>,
    mut request: ResponseRequest,
    idempotency: Option<IdempotencyKey>,
) -> Result<RunId, ApiError> {
    let (model, mut worker) = worker(app, caller, asked, &mut request).await?;
    earlier::resolve(app, caller, &mut request.items).await?;
    let new = conversation(&request.items).map_err(invalid)?;
    let before = earlier::before(app, caller, &request).await?;
    let instructions = request
        .instructions
        .iter()
        .map(|instructions| Message::text(Role::System, instructions.clone()));
    let history = instructions.chain(before.messages).chain(new).collect();
    let mut history = app
        .conversations
        .with_own_calls(caller, history, CALL_NAMES)
        .await?;
    let mode = match check_conversation(&mut history).map_err(invalid)? {
        Mode::Chat => request.mode,
        of_message => {
            // Research needs an agent.
            if worker == Worker::Model {
                request.check_for_agent().map_err(invalid)?;
                worker = Worker::Agent;
            }
            of_message
        }
    };
    let research = if worker == Worker::Agent {
        WorkMode::from(mode).research(false)
    } else {
        None
    };
    let sent = request.echo.get("metadata").and_then(Value::as_object);
    let mut passed_on = sent.map(wire::passed_on).unwrap_or_default();
    let workspace = match headers.get(&CHAT_ID).and_then(|id| id.to_str().ok()) {
        Some(id) => {
            passed_on.insert("chat_id".to_owned(), id.into());
            Some(foreign_workspace(caller, id)?)
        }
        None => before.workspace,
    };
    let input = Some(request.kept(workspace.as_deref()));
    let ResponseRequest {
        background,
        tools,
        parameters,
        mut extra,
        answer_format,
        ..
    } = request;
    let answer_form = match (answer_format, worker) {
        (Some(format), Worker::Agent) => agent::answer_form(format, "text.format.schema")?,
        // The model's server checks the format, not us.
        (Some(format), Worker::Model) => {
            extra.insert("response_format".to_owned(), format);
            None
        }
        (None, _) => None,
    };
    let spec = RunSpec {
        workspace: workspace.unwrap_or_default(),
        client_tools: tools.into_iter().map(agent::spec).collect(),
        worker,
        parameters,
        answer_form,
        extra,
        research,
        ends_with_server: !background && idempotency.is_none(),
        ..RunSpec::default()
    };
    app.turns
        .start_run(ApiRun {
            metadata: RequestMetadata {
                passed_on,
                ..RequestMetadata::default()
            },
            input,
            idempotency,
            ..ApiRun::new(history, model, spec)
        })
        .await
}

/// The agent or the plain model that answers.
async fn worker(
    app: &App,
    caller: &Caller,
    asked: &RequestedModel<'_>,
    request: &mut ResponseRequest,
) -> Result<(ResolvedModel, Worker), ApiError> {
    app.models.first_look().await;
    let permit = app.gateway.permit_of(caller);
    let (model, worker) = match &asked.agent {
        Some(agent) => {
            request.check_for_agent().map_err(invalid)?;
            (app.gateway.resolve(Some(&agent.id), &permit), Worker::Agent)
        }
        None => (app.models.resolve(Some(&asked.id), &permit), Worker::Model),
    };
    let model = model.map_err(|error| error.with_field(Some("model")))?;
    Ok((model, worker))
}
