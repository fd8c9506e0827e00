//! What people write to a run while it goes.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{
    MessageId, RunId,
    event::{Author, InputMode, ReceivedInput},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::StoreError;

use crate::{
    app::App,
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
        runs::own_run,
    },
    identity::auth::Caller,
    messages,
    runtime::commands::Command,
};

/// Maximum length of ids that callers choose, bytes.
const MAX_ID_BYTES: usize = 100;

/// A message to a run that is going.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "NewRunInput")]
pub(super) struct NewInput {
    /// An id of the caller's choice, unique within the run: repeated with it, the message is one. At most 100 bytes.
    id: Option<String>,
    /// The text, at most 100,000 bytes.
    content: String,
    /// `steer`: the agent reads it at its next step. `queue`: it is the chat's next message once the run has ended.
    /// `interrupt`: the current step ends with what it has written, and the agent reads it now.
    #[serde(default = "steer")]
    mode: InputMode,
    /// The sub-agent that it is for, such as `a2.1`; the main agent if absent.
    agent: Option<String>,
}

fn steer() -> InputMode {
    InputMode::Steer
}

/// The message, as the log names it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RunInput")]
pub(super) struct InputView {
    input_id: String,
}

/// `POST /runs/{run}/input`: a message to the running agents.
pub(super) async fn send(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(run): Path<RunId>,
    Json(body): Json<NewInput>,
) -> Result<(StatusCode, Json<InputView>), ApiError> {
    let by = author(&app, &caller, run).await?;
    let input = read(body, by)?;
    if input.mode == InputMode::Queue && !has_chat(&app, run).await? {
        return Err(ApiError::invalid(messages::Chats::NoChatToQueueFor).with_field(Some("mode")));
    }
    let input_id = input.input_id.clone();
    app.commands.tell(run, Command::Input { input }).await?;
    Ok((StatusCode::ACCEPTED, Json(InputView { input_id })))
}

/// `DELETE /runs/{run}/input/{input}`: withdraws a message that no agent has read.
pub(super) async fn remove(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((run, input_id)): Path<(RunId, String)>,
) -> Result<StatusCode, ApiError> {
    let by = author(&app, &caller, run).await?;
    let by = (!by.is_owner).then_some(by.id);
    app.commands
        .tell(run, Command::RemoveInput { input_id, by })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

fn read(body: NewInput, by: Author) -> Result<ReceivedInput, ApiError> {
    if body.content.trim().is_empty() {
        return Err(ApiError::invalid(messages::Chats::EmptyMessage).with_field(Some("content")));
    }
    let is_id = |id: &String| {
        !id.is_empty() && id.len() <= MAX_ID_BYTES && id.chars().all(|c| c.is_ascii_graphic())
    };
    let ids = [("id", &body.id), ("agent", &body.agent)];
    for (field, id) in ids {
        if id.as_ref().is_some_and(|id| !is_id(id)) {
            return Err(ApiError::invalid(messages::Chats::BadInputId).with_field(Some(field)));
        }
    }
    if body.agent.is_some() && body.mode != InputMode::Steer {
        return Err(ApiError::invalid(messages::Chats::SteerOnlyForAgents).with_field(Some("mode")));
    }
    Ok(ReceivedInput {
        input_id: body.id.unwrap_or_else(|| MessageId::generate().to_string()),
        mode: body.mode,
        agent: body.agent,
        by,
        content: body.content,
    })
}

/// The caller as the author of messages to the run: its owner, or a reader who may write in its chat.
async fn author(app: &App, caller: &Caller, run: RunId) -> Result<Author, ApiError> {
    // No database query for the caller's own run on this server.
    if let Some(live) = app.runs.live(run)
        && caller.may_change(&live.principal)
    {
        return Ok(caller.as_author(true));
    }
    let missing = || ApiError::not_found(messages::Chats::NoSuchRun);
    match own_run(app, caller, run).await {
        Ok(run) => {
            caller.check_change(&run.principal)?;
            return Ok(caller.as_author(true));
        }
        Err(error) if error.is_ours() => return Err(error),
        Err(_) => {}
    }
    let chat = match app.store.run(run).await {
        Err(StoreError::NotFound) => None,
        run => run?.chat,
    };
    let writable = app.access.writable(caller, chat.ok_or_else(missing)?).await;
    writable.map_err(|error| if error.is_ours() { error } else { missing() })?;
    Ok(caller.as_author(false))
}

async fn has_chat(app: &App, run: RunId) -> Result<bool, ApiError> {
    Ok(match app.runs.live(run) {
        Some(live) => live.chat.is_some(),
        None => app.store.run(run).await?.chat.is_some(),
    })
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.operation(
        "POST /runs/{run}/input",
        "Sends a message to a run that is going",
    )
    .body::<NewInput>()
    .answers::<InputView>(202)
    .details(
        "It is in the log, as `input_received`, before the answer comes; `input_applied` follows when an agent has \
         read it. What no agent has read when the run ends begins the chat's next turn. 409 if the run has ended. \
         Readers of a shared chat may send messages if they can reply in it.",
    )
    .errors(&[409, 422]);
    api.handler(
        "DELETE /runs/{run}/input/{input}",
        remove,
        "Withdraws a message to a run that no agent has read",
    )
    .details("Also after the run, until the next turn has begun with it. 409 if it is too late.")
    .errors(&[409]);
}
