//! Requests of clients.

use std::fmt::Debug;

use domain::{Message, Part, Role};
use provider::{
    ModelRequest, anthropic, bedrock, gemini,
    openai::{ChatBody, ParameterFields, Tool},
    openai_responses,
};
use serde_json::Value;
use wire::{
    InvalidRequest,
    ag_ui::{InterruptId, RunInput, ThreadInput},
    anthropic::{ClientRequest, ClientTool},
    chat_stream::ChatStreamRequest,
    debug_chat::DebugChatRequest,
    gateway::PlainRequest,
    openai::{CompletionRequest, PassedRequest},
    responses::{ResponseRequest, conversation},
    ui_message_stream::UiMessageRequest,
};

/// Decodes; an error is a sentence, and a valid request also decodes from equivalent JSON.
fn decoded<T: Debug + PartialEq>(
    bytes: &[u8],
    decode: impl Fn(&[u8]) -> Result<T, InvalidRequest>,
) -> Option<T> {
    match decode(bytes) {
        Ok(request) => {
            let value: Value = serde_json::from_slice(bytes).expect("what is accepted is JSON");
            let again = serde_json::to_vec_pretty(&value).expect("a value has a JSON form");
            assert_eq!(
                decode(&again).as_ref(),
                Ok(&request),
                "written in another way"
            );
            Some(request)
        }
        Err(error) => {
            is_sentence(&error);
            None
        }
    }
}

fn is_sentence(error: &InvalidRequest) {
    let said = error.to_string();
    assert!(
        said.ends_with('.') && said.len() < 1_000,
        "{said:?} is no sentence"
    );
}

/// A conversation that can be stored and sent to a model.
fn is_usable(messages: &[Message]) {
    for message in messages {
        for part in &message.content {
            let Some(text) = part.as_text().or(part.medium()) else {
                panic!("no program of others points to documents: {message:?}")
            };
            assert!(!text.contains('\0'), "NUL in {message:?}");
            let is_embedded = text.starts_with("data:")
                && !matches!(part, Part::Text { .. } | Part::Image { .. });
            assert!(
                !is_embedded || !text.contains(['<', '"', ' ']),
                "no base64 in {message:?}"
            );
        }
    }
    let body = ChatBody {
        model: "m",
        messages,
        provider: "p",
        tools: &[],
        response_format: None,
        parameters: ParameterFields::default(),
        output_limit: None,
        extra: None,
    }
    .encode();
    let body: Value = serde_json::from_slice(&body).expect("we write JSON");
    // Pictures that tools returned follow in messages of their own.
    let sent = body["messages"].as_array().expect("a list of messages");
    let returned = sent.len() - messages.len();
    assert!(
        returned
            <= messages
                .iter()
                .filter(|message| message.role == Role::Tool)
                .count()
    );
}

fn says_something(messages: &[Message]) {
    assert!(
        messages.iter().any(|message| message.role == Role::User),
        "{messages:?}"
    );
    is_usable(messages);
}

/// `POST /v1/messages`: what is accepted can be sent to each kind of provider.
pub fn messages(bytes: &[u8]) {
    let request = match ClientRequest::decode(bytes) {
        Ok(request) => request,
        Err(error) => return is_sentence(&error),
    };
    if let Ok(plain) = PlainRequest::of_messages(bytes) {
        says_something(&plain.messages);
    }
    let tools: Vec<Tool<'_>> = request.tools.iter().map(ClientTool::as_tool).collect();
    let ask = ModelRequest {
        model: &request.model,
        messages: &request.messages,
        tools: &tools,
        parameters: &request.parameters,
        stream: request.stream,
    };
    for encode in [
        anthropic::encode,
        bedrock::encode,
        gemini::encode,
        openai_responses::encode,
    ] {
        let body: Value = serde_json::from_slice(&encode(&ask)).expect("we write JSON");
        assert!(body.is_object());
    }
}

/// `POST /chat/stream`.
pub fn chat_stream(bytes: &[u8]) {
    let Some(request) = decoded(bytes, ChatStreamRequest::decode) else {
        return;
    };
    says_something(&request.messages);
}

/// `POST /api/chat`, the chat with debug events.
pub fn debug_chat(bytes: &[u8]) {
    let Some(request) = decoded(bytes, DebugChatRequest::decode) else {
        return;
    };
    says_something(std::slice::from_ref(&request.said));
    assert!(!request.said.content.is_empty(), "{request:?}");
    is_usable(request.before.as_deref().unwrap_or_default());
    let conversation = request.conversation.as_deref();
    assert!(conversation.is_none_or(|id| !id.is_empty() && id.len() <= 200 && !id.contains('\0')));
}

/// `POST /v1/chat/completions` for agents.
pub fn completion(bytes: &[u8]) {
    let Some(request) = decoded(bytes, CompletionRequest::decode) else {
        return;
    };
    is_usable(&request.messages);
    assert!(
        request
            .tools
            .iter()
            .all(|tool| tool.parameters.is_object() && !tool.name.is_empty())
    );
    let parameters =
        serde_json::to_value(&request.parameters).expect("parameters have a JSON form");
    assert_eq!(
        serde_json::from_value(parameters).ok(),
        Some(request.parameters)
    );
}

/// `POST /v1/chat/completions` for models that are passed through: only the model's name and `metadata` change.
pub fn passing(bytes: &[u8]) {
    let Ok(passing) = PassedRequest::peek(bytes) else {
        return;
    };
    let new = "other \"model\"";
    let rewritten =
        |passing: &PassedRequest<'_>, bytes: &[u8], model: &str, metadata: Option<&str>| {
            passing
                .rewritten(bytes, model, metadata)
                .unwrap_or_else(|| bytes.to_vec())
        };
    let changed = rewritten(&passing, bytes, new, Some("{}"));
    let again = PassedRequest::peek(&changed).expect("still a request");
    assert_eq!((&*again.model, again.stream), (new, passing.stream));
    assert_eq!(again.metadata, passing.metadata.map(|_| "{}"));
    let back = rewritten(&again, &changed, &passing.model, passing.metadata);
    let value = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
    assert_eq!(value(&back), value(bytes), "all other fields stay");
}

/// `POST /v1/responses`.
pub fn response(bytes: &[u8]) {
    let Some(request) = decoded(bytes, ResponseRequest::decode) else {
        return;
    };
    let kept = request.kept(Some("w"));
    assert_eq!(
        (&kept["items"], &kept["echo"]),
        (
            &Value::from(request.items.clone()),
            &Value::from(request.echo.clone())
        )
    );
    let run = "run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d"
        .parse()
        .expect("a run's id");
    let named = wire::responses::named_items(&request.items, run);
    assert_eq!(named.len(), request.items.len());
    assert!(named.iter().all(|item| item["id"].is_string()), "{named:?}");
    if let Ok(messages) = conversation(&request.items) {
        is_usable(&messages);
    }
}

/// `POST /ag-ui`, of 1.0 and before.
pub fn ag_ui_input(bytes: &[u8]) {
    let thread = decoded(bytes, ThreadInput::decode);
    let Some(input) = decoded(bytes, RunInput::decode) else {
        return;
    };
    let thread = thread.expect("a run's input names its thread");
    assert_eq!(
        (&thread.thread_id, &thread.run_id),
        (&input.thread_id, &input.run_id)
    );
    assert_eq!(thread.version, input.version);
    is_usable(&input.history);
    let answers = |id: &str| {
        input
            .history
            .iter()
            .any(|message| message.tool_call_id.as_deref() == Some(id))
    };
    for call in input.history.iter().flat_map(|message| &message.tool_calls) {
        assert!(answers(&call.id), "the call {} has no answer", call.id);
    }
    assert!(input.foreign().len() <= input.sent.len());
    for run in input.runs() {
        assert!(input.result_of(run, "no such call").is_none());
    }
    assert!(input.said().is_none() || input.said() == input.said_last());
}

/// The id of an interrupt, which comes back from the client.
pub fn ag_ui_interrupt(bytes: &[u8]) {
    let Ok(id) = String::from_utf8_lossy(bytes).parse::<InterruptId>() else {
        return;
    };
    assert_eq!(id.to_string().parse::<InterruptId>().ok(), Some(id));
}

/// `POST /api/ui-message-stream`.
pub fn ui_messages(bytes: &[u8]) {
    let Some(request) = decoded(bytes, UiMessageRequest::decode) else {
        return;
    };
    says_something(&request.messages);
}
