//! The model client against a scripted server that shows every failure of a real one.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail loudly"
)]

mod answer_format;
mod cases;
mod continuing;
mod failover;
mod faults;
mod parameters;
mod prompt_mode;
mod providers;
mod requests;
mod retries;
mod schema_mode;
mod status;
mod streams;

use std::time::Duration;

use domain::{Message, ModelParameters, ProblemCode, Role, Usage};
use llm::{
    BaseUrl, ChatModel, ChatRequest, FinishReason, HttpClient, ModelCall, ModelError, ModelEvent,
    OpenAiSettings, Secret, ToolMode, ToolSpec,
};
use scripted::{Behaviour, Finish, Reply, ScriptedServer, Step};
use serde_json::{Value, json};

pub(crate) const KEY: &str = "sk-very-secret";

/// A server that always gives this answer.
pub(crate) async fn server(reply: Reply) -> ScriptedServer {
    serve(Behaviour::always(reply)).await
}

pub(crate) async fn serve(behaviour: Behaviour) -> ScriptedServer {
    ScriptedServer::start(behaviour).await.unwrap()
}

/// Settings that do not slow tests down.
pub(crate) fn settings(base_url: &str) -> OpenAiSettings {
    let base_url = BaseUrl::parse(base_url).unwrap();
    let retry_wait = Duration::from_millis(2);
    OpenAiSettings {
        retry_wait,
        ..OpenAiSettings::new(base_url, Some(Secret::new(KEY)), "tiny")
    }
}

pub(crate) fn model(server: &ScriptedServer) -> ChatModel {
    ChatModel::openai(settings(&server.base_url()), &HttpClient::new().unwrap())
}

pub(crate) fn tool(name: &str) -> ToolSpec {
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    ToolSpec {
        name: name.into(),
        description: format!("Does {name}."),
        parameters: parameters.into(),
    }
}

/// Begins a call that says hello and offers the tool `ls`.
pub(crate) fn ask(model: &ChatModel, tool_mode: ToolMode) -> ModelCall {
    model.call(&ChatRequest {
        messages: &[Message::text(Role::User, "Hello")],
        tools: &[tool("ls")],
        tool_mode,
        tool_prompt: None,
        parameters: ModelParameters::unset(),
        answer_format: None,
        without_thinking: false,
        extra: None,
        trace: None,
        caller: None,
    })
}

/// All events of a call.
pub(crate) async fn drain(mut call: ModelCall) -> (Vec<ModelEvent>, Option<ModelError>) {
    let mut events = Vec::new();
    loop {
        match call.next().await {
            Some(Ok(event)) => events.push(event),
            Some(Err(error)) => {
                assert_eq!(call.next().await, None, "nothing follows an error");
                assert!(
                    !error.message.contains(KEY),
                    "the key is in {:?}",
                    error.message
                );
                return (events, Some(error));
            }
            None => return (events, None),
        }
    }
}

/// The events of a call that succeeds.
pub(crate) async fn events(model: &ChatModel, mode: ToolMode) -> Vec<ModelEvent> {
    let (events, error) = drain(ask(model, mode)).await;
    assert_eq!(error, None);
    assert!(
        matches!(events.last(), Some(ModelEvent::Finished { .. })),
        "{events:?}"
    );
    events
}

/// The events and the error of a call that fails.
pub(crate) async fn failure(model: &ChatModel) -> (Vec<ModelEvent>, ModelError) {
    let (events, error) = drain(ask(model, ToolMode::Native)).await;
    (events, error.expect("an error"))
}

pub(crate) fn text_of(events: &[ModelEvent]) -> String {
    let delta = |event: &ModelEvent| match event {
        ModelEvent::TextDelta(text) => text.clone(),
        _ => String::new(),
    };
    events.iter().map(delta).collect()
}

pub(crate) fn reasoning_of(events: &[ModelEvent]) -> String {
    let delta = |event: &ModelEvent| match event {
        ModelEvent::ReasoningDelta(text) => text.clone(),
        _ => String::new(),
    };
    events.iter().map(delta).collect()
}

/// Each call as its id, name and whole argument text.
pub(crate) fn calls_of(events: &[ModelEvent]) -> Vec<(String, String, String)> {
    let mut calls: Vec<(String, String, String)> = Vec::new();
    for event in events {
        match event {
            ModelEvent::ToolCallStarted { index, id, name } => {
                assert_eq!(*index, calls.len());
                calls.push((id.clone(), name.clone(), String::new()));
            }
            ModelEvent::ToolArgumentsDelta { index, delta } => calls[*index].2.push_str(delta),
            _ => {}
        }
    }
    calls
}

pub(crate) fn finish_of(events: &[ModelEvent]) -> (FinishReason, Option<Usage>) {
    match events.last() {
        Some(ModelEvent::Finished { reason, usage }) => (*reason, *usage),
        other => panic!("{other:?} is no end"),
    }
}

pub(crate) fn text_step(text: &str) -> Step {
    Step::Text {
        text: text.into(),
        tokens_per_second: None,
    }
}

pub(crate) fn end() -> Step {
    Step::Finish {
        reason: Finish::Stop,
    }
}

pub(crate) fn chunk(delta: Value) -> Step {
    Step::Event {
        data: json!({ "choices": [{ "index": 0, "delta": delta }] }).to_string(),
    }
}

pub(crate) fn assert_error(error: &ModelError, code: ProblemCode, words: &str) {
    assert_eq!(error.code, code, "{}", error.message);
    assert!(
        error.message.contains(words),
        "{:?} should say {words:?}",
        error.message
    );
}
