//! Starts runs in a thread of an AG-UI client, and rebuilds the thread's messages and state.

use agent::RunSpec;
use std::collections::HashMap;

use domain::{MessageId, Part, Role, RunId};
use llm::ToolSpec;
use serde_json::{Map, Value, json};
use store::{Chat, ChatMessage};
use wire::ag_ui::{RunInput, Transcript, outer_call_id, run_of_call};

use super::DEFAULT_AGENT;
use crate::{
    app::App,
    chat::turns::ApiTurn,
    error::ApiError,
    gateway::{models::ResolvedModel, work_mode::WorkMode},
    identity::auth::Caller,
    platform::built_in::AGENT_PREFIX,
    runtime::{client_tools::CallNames, conversation::path_to},
};

/// This format's names for tool calls.
const CALL_NAMES: CallNames = CallNames {
    run_of: run_of_call,
    name: |run, call, _| outer_call_id(run, call),
};

/// Resolves an agent's name. The default agent uses the requested model or the default one, as does a defined agent
/// without a model of its own. Each model is also an agent under its own name.
pub(in crate::http) async fn model(
    app: &App,
    caller: &Caller,
    agent: &str,
    asked: Option<&str>,
) -> Result<ResolvedModel, ApiError> {
    let permit = app.gateway.permit_of(caller);
    match app.defined_agents.find(agent, &permit) {
        Some(agent) => {
            caller.check_model(&format!("{AGENT_PREFIX}{}", agent.name))?;
            asked.map_or(Ok(()), |asked| caller.check_model(asked))?;
            app.models.first_look().await;
            app.gateway.resolve_agent(agent, asked, &permit)
        }
        None => {
            app.gateway
                .resolve_for(
                    caller,
                    if agent == DEFAULT_AGENT {
                        asked
                    } else {
                        Some(agent)
                    },
                )
                .await
        }
    }
}

/// The shared state at the start of a run: the client's, with the current files. If the chat's directory is not
/// available, the list of files is empty: the conversation continues, and the tools report the reason.
pub(in crate::http) async fn state(
    app: &App,
    chat: &Chat,
    mut state: Map<String, Value>,
) -> Result<Map<String, Value>, ApiError> {
    let files = app.chat_files.files_of(chat).await?.rows().await;
    let files =
        files.inspect_err(|error| tracing::warn!(%error, chat = %chat.id, "failed to list files"));
    let (files, _more) = files.unwrap_or_default();
    let files: Map<String, Value> = files
        .into_iter()
        .map(|file| {
            (
                file.path,
                json!({"version": file.version, "sizeBytes": file.size_bytes}),
            )
        })
        .collect();
    state.insert("files".to_owned(), Value::Object(files));
    Ok(state)
}

/// Starts the run that answers the input.
pub(in crate::http) async fn start(
    app: &App,
    caller: &Caller,
    chat: Chat,
    input: &RunInput,
    model: ResolvedModel,
) -> Result<RunId, ApiError> {
    let messages = app.store.messages(chat.id).await?;
    let known = app.store.run_inputs(chat.id).await?;
    let parent = last_known(&messages, input);
    // If no earlier message is known, the last message starts the conversation.
    let said = input
        .said()
        .or_else(|| input.said_last().filter(|_| parent.is_none()));
    let context = input
        .context
        .iter()
        .map(|instructions| domain::Message::text(Role::System, instructions.clone()));
    let history = context.chain(input.history.iter().cloned()).collect();
    let history = app
        .conversations
        .with_own_calls(caller, history, CALL_NAMES)
        .await?;
    let spec = RunSpec {
        client_tools: input.tools.iter().map(tool_spec).collect(),
        research: WorkMode::from(input.mode).research(false),
        ..RunSpec::default()
    };
    let turn = ApiTurn::new(parent, said, history, model, spec);
    let run = app.turns.start_turn(chat, turn).await?.run;
    let kept = json!({"runId": input.run_id, "state": input.state, "messages": unknown(input, &known, run)});
    if let Err(error) = app.store.keep_run_input(run, &kept).await {
        // The run has started; only the client's own message ids will be missing when the thread is shown again.
        tracing::warn!(%error, %run, "failed to store the input of a run");
    }
    Ok(run)
}

fn tool_spec(tool: &wire::ag_ui::ClientTool) -> ToolSpec {
    let wire::ag_ui::ClientTool {
        name,
        description,
        parameters,
    } = tool.clone();
    ToolSpec {
        name,
        description,
        parameters: parameters.into(),
    }
}

/// The last of our answers that the client's conversation contains, as the client may have gone back to an earlier one.
fn last_known(messages: &[ChatMessage], input: &RunInput) -> Option<MessageId> {
    let runs = input.runs();
    let is_known = |message: &&ChatMessage| message.run.is_some_and(|run| runs.contains(&run));
    messages
        .iter()
        .rev()
        .find(is_known)
        .map(|message| message.id)
}

/// The input's messages that came with no earlier run of the thread.
fn unknown(input: &RunInput, known: &[(RunId, Value)], run: RunId) -> Vec<Value> {
    let known = |id: &Value| {
        let earlier = known
            .iter()
            .filter_map(|(_, kept)| kept["messages"].as_array())
            .flatten();
        !id.is_null() && earlier.into_iter().any(|message| message["id"] == *id)
    };
    let mut new: Vec<Value> = input
        .foreign()
        .into_iter()
        .filter(|message| !known(&message["id"]))
        .collect();
    for (number, message) in new.iter_mut().enumerate() {
        if let Some(fields) = message.as_object_mut() {
            fields
                .entry("id")
                .or_insert_with(|| json!(format!("{run}-in{number}")));
        }
    }
    new
}

/// The current content of a thread.
pub(in crate::http) struct Shown {
    /// Its messages, without those of the live run.
    pub(in crate::http) transcript: Transcript,
    /// The client's last state, with the parts that we add.
    pub(in crate::http) state: Map<String, Value>,
    /// The live run and the client's id for it.
    pub(in crate::http) live: Option<(RunId, String)>,
}

/// Collects what a reconnecting client has to show.
pub(in crate::http) async fn show(app: &App, chat: &Chat) -> Result<Shown, ApiError> {
    let messages = app.store.messages(chat.id).await?;
    let inputs: HashMap<RunId, Value> = app.store.run_inputs(chat.id).await?.into_iter().collect();
    let mut transcript = Transcript::default();
    let mut state = Map::new();
    let mut live = None;
    let going = app.commands.going_in(chat.id).await?;
    let mut said = None;
    for message in path_to(&messages, chat.current) {
        let Some(run) = message.run else {
            said = Some(user_message(message));
            continue;
        };
        match (inputs.get(&run), said.take()) {
            (Some(input), _) => {
                transcript.add_input(input["messages"].as_array().map_or(&[], Vec::as_slice));
                state = input["state"].as_object().cloned().unwrap_or_default();
            }
            // Sent in our own web app or through another protocol.
            (None, Some(said)) => transcript.add_input(&[said]),
            (None, None) => {}
        }
        if going.contains(&run) {
            let name = inputs.get(&run).and_then(|input| input["runId"].as_str());
            live = Some((run, name.map_or_else(|| run.to_string(), str::to_owned)));
            break;
        }
        transcript.begin_run();
        let mut reader = app.runs.read_stored(run);
        while let Some(events) = reader.next().await? {
            events
                .iter()
                .for_each(|logged| transcript.push(&logged.event));
        }
    }
    if let Some(todos) = transcript.todos() {
        state.insert("todos".to_owned(), todos.clone());
    }
    let state = self::state(app, chat, state).await?;
    Ok(Shown {
        transcript,
        state,
        live,
    })
}

fn user_message(message: &ChatMessage) -> Value {
    let parts: Vec<Value> = message.content.iter().map(part).collect();
    let content = match message.content.as_slice() {
        [Part::Text { text }] => json!(text),
        _ => json!(parts),
    };
    json!({"id": message.id, "role": "user", "content": content})
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text { text } => json!({"type": "text", "text": text}),
        Part::Image { url }
        | Part::Audio { url }
        | Part::Video { url }
        | Part::File { url, .. } => {
            let kind = match part {
                Part::Audio { .. } => "audio",
                Part::Video { .. } => "video",
                Part::File { .. } => "document",
                _ => "image",
            };
            let data = url
                .strip_prefix("data:")
                .and_then(|rest| rest.split_once(";base64,"));
            let source = match data {
                Some((mime, data)) => json!({"type": "data", "value": data, "mimeType": mime}),
                None => json!({"type": "url", "value": url}),
            };
            json!({"type": kind, "source": source})
        }
        // It has no URL that such a client could use.
        Part::Document { name, .. } | Part::Collection { name, .. } => {
            json!({"type": "text", "text": format!("[{name}]")})
        }
    }
}
