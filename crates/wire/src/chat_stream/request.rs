//! Decodes the body of `POST /chat/stream`: ignores unknown fields, and validates known ones strictly.

use domain::{Message, ModelParameters};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    RequestMetadata,
    conversation::{
        Checked, InvalidRequest, check_says_something, messages, object, optional_text, present,
        wrong,
    },
};

/// A validated request.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatStreamRequest {
    /// The conversation, with at least one user message that is not empty.
    pub messages: Vec<Message>,
    /// Whether to stream (the default) or to return the collected run.
    pub stream: bool,
    /// The model; the server's default if `None`.
    pub model: Option<String>,
    /// The mode of the answer.
    pub mode: Mode,
    /// The chat to continue.
    pub chat_id: Option<String>,
    /// The parameters of its model calls.
    pub parameters: ModelParameters,
    /// Attachments, and features that are switched off.
    pub metadata: RequestMetadata,
    /// The requested optional frames.
    pub tool_args_delta: bool,
}

/// The mode of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// A conversation.
    #[default]
    Chat,
    /// A conversation with a web search before the answer.
    WebSearch,
    /// A short research.
    Research,
    /// A long research.
    Deep,
}

impl ChatStreamRequest {
    /// Decodes a request body.
    ///
    /// # Errors
    /// A sentence that names the field and the expected value.
    pub fn decode(body: &[u8]) -> Checked<Self> {
        let fields = object(body)?;
        let request = Self {
            messages: messages(fields.get("messages"))?,
            stream: match present(&fields, "stream") {
                None => true,
                Some(Value::Bool(stream)) => *stream,
                Some(_) => return wrong("`stream`", "true or false"),
            },
            model: optional_text(&fields, "model")?,
            mode: mode(&fields)?,
            chat_id: optional_text(&fields, "chat_id")?,
            parameters: parameters(&fields)?,
            metadata: RequestMetadata::of(&fields)?,
            tool_args_delta: events(&fields)?.contains(&"tool_args_delta"),
        };
        check_says_something(&request.messages)?;
        Ok(request)
    }
}

/// The field `mode`, which means the same in every format. `features.web_search`, as sent by Open WebUI, adds a web
/// search to a conversation; research searches anyway.
pub(crate) fn mode(fields: &Map<String, Value>) -> Checked<Mode> {
    let searches = searches_web(fields)?;
    match optional_text(fields, "mode")?.as_deref() {
        None | Some("chat") if searches => Ok(Mode::WebSearch),
        None | Some("chat") => Ok(Mode::Chat),
        Some("web_search") => Ok(Mode::WebSearch),
        Some("research") => Ok(Mode::Research),
        Some("deep") => Ok(Mode::Deep),
        Some(_) => wrong(
            "`mode`",
            "\"chat\", \"web_search\", \"research\" or \"deep\"",
        ),
    }
}

fn searches_web(fields: &Map<String, Value>) -> Checked<bool> {
    match present(fields, "features") {
        None => Ok(false),
        Some(Value::Object(features)) => match present(features, "web_search") {
            None => Ok(false),
            Some(Value::Bool(wanted)) => Ok(*wanted),
            Some(_) => wrong("`features.web_search`", "true or false"),
        },
        Some(_) => wrong("`features`", "an object such as {\"web_search\": true}"),
    }
}

/// The field `parameters`.
fn parameters(fields: &Map<String, Value>) -> Checked<ModelParameters> {
    match present(fields, "parameters") {
        None => Ok(ModelParameters::default()),
        Some(Value::Object(set)) => ModelParameters::deserialize(set)
            .map_err(|error| InvalidRequest(format!("`parameters` cannot be used: {error}."))),
        Some(_) => wrong("`parameters`", "an object such as {\"temperature\": 0.2}"),
    }
}

/// The requested optional frames; unknown ones are ignored.
fn events(fields: &Map<String, Value>) -> Checked<Vec<&str>> {
    let wanted = "a list of strings";
    match present(fields, "events") {
        None => Ok(Vec::new()),
        Some(Value::Array(names)) => names
            .iter()
            .map(|name| name.as_str().map_or_else(|| wrong("`events`", wanted), Ok))
            .collect(),
        Some(_) => wrong("`events`", wanted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Part, ReasoningEffort, Role};
    use proptest::prelude::*;
    use serde_json::json;

    fn decode(body: &Value) -> Checked<ChatStreamRequest> {
        ChatStreamRequest::decode(body.to_string().as_bytes())
    }

    fn refused(body: &Value, words: &str) {
        let error = decode(body).expect_err(words).to_string();
        assert!(error.contains(words), "{error:?} should say {words:?}");
    }

    fn with(field: &str, value: Value) -> Value {
        let mut body = json!({"messages": [{"role": "user", "content": "Hi"}]});
        body[field] = value;
        body
    }

    fn with_message(message: Value) -> Value {
        json!({"messages": [message, {"role": "user", "content": "Hi"}]})
    }

    #[test]
    fn the_smallest_request() {
        let request = decode(&json!({"messages": [{"role": "user", "content": "Hi"}]})).unwrap();
        assert_eq!(
            request,
            ChatStreamRequest {
                messages: vec![Message::text(Role::User, "Hi")],
                stream: true,
                model: None,
                mode: Mode::Chat,
                chat_id: None,
                parameters: ModelParameters::default(),
                metadata: RequestMetadata::default(),
                tool_args_delta: false,
            }
        );
    }

    #[test]
    fn a_full_request_with_unknown_fields() {
        let request = decode(&json!({
            "messages": [
                {"role": "developer", "content": "Be brief.", "name": "x"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": "a.txt"},
                {"role": "user", "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": "low"}},
                    {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}]},
            ],
            "stream": false, "model": "m", "mode": "deep", "chat_id": "chat_1",
            "metadata": {"a": 1, "tool_ids": ["ls"]}, "events": ["tool_args_delta", "later"], "temperature": 3,
            "parameters": {"temperature": 0.2, "reasoning_effort": "none"},
        }))
        .unwrap();
        assert_eq!(request.messages[0].role, Role::System);
        assert_eq!(request.messages[1].tool_calls[0].name, "ls");
        assert_eq!(request.messages[2], Message::tool_result("c1", "a.txt"));
        assert_eq!(
            request.messages[3].content,
            [
                Part::Text {
                    text: "What is this?".into()
                },
                Part::Image {
                    url: "data:image/png;base64,AA==".into()
                },
                Part::Audio {
                    url: "data:audio/wav;base64,UklGRg==".into()
                },
            ]
        );
        assert_eq!(
            (request.stream, request.mode, request.tool_args_delta),
            (false, Mode::Deep, true)
        );
        assert_eq!(request.metadata.tool_ids, ["ls"]);
        assert_eq!(request.parameters.temperature, Some(0.2));
        assert_eq!(
            request.parameters.reasoning_effort,
            Some(ReasoningEffort::None)
        );
    }

    #[test]
    fn wrong_types_are_named() {
        refused(&json!([]), "The body must be a JSON object");
        refused(&json!({}), "`messages` must be a list");
        refused(&json!({"messages": []}), "at least one message");
        refused(
            &with("stream", json!("yes")),
            "`stream` must be true or false",
        );
        refused(&with("model", json!(7)), "`model` must be a string");
        refused(&with("mode", json!("fast")), "`mode` must be \"chat\"");
        refused(&with("chat_id", json!([])), "`chat_id` must be a string");
        refused(
            &with("metadata", json!("x")),
            "`metadata` must be an object",
        );
        refused(
            &with("parameters", json!(1)),
            "`parameters` must be an object",
        );
        refused(
            &with("parameters", json!({"top_p": 2})),
            "`top_p` must be a number from 0 to 1",
        );
        refused(
            &with("parameters", json!({"topp": 1})),
            "unknown field `topp`",
        );
        refused(
            &with("events", json!([1])),
            "`events` must be a list of strings",
        );
        refused(
            &with_message(json!("Hi")),
            "`messages[0]` must be an object",
        );
        refused(
            &with_message(json!({"role": "boss", "content": ""})),
            "`messages[0].role` must be",
        );
        refused(
            &with_message(json!({"role": "user"})),
            "`messages[0].content` must be a string or",
        );
        refused(
            &with_message(json!({"role": "user", "content": [7]})),
            "`messages[0].content[0]`",
        );
        refused(
            &with_message(
                json!({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///x"}}]}),
            ),
            "`messages[0].content[0].image_url` must be an https:",
        );
        refused(
            &with_message(json!({"role": "assistant", "tool_calls": [{}]})),
            "`messages[0].tool_calls`",
        );
    }

    #[test]
    fn empty_and_hostile_bodies() {
        refused(
            &json!({"messages": [{"role": "user", "content": " \n"}]}),
            "no message of the user",
        );
        refused(
            &with_message(json!({"role": "user", "content": "a\0b"})),
            "NUL",
        );
        let deep = format!(
            "{{\"messages\":{}{}}}",
            "[".repeat(10_000),
            "]".repeat(10_000)
        );
        for body in ["", "{", "\u{0}", "nul", deep.as_str()] {
            let error = ChatStreamRequest::decode(body.as_bytes())
                .unwrap_err()
                .to_string();
            assert!(error.starts_with("The body is not valid JSON"), "{error}");
        }
        assert!(ChatStreamRequest::decode(b"\"\xFF\"").is_err());
    }

    proptest! {
        #[test]
        fn never_panics(text in r#"[\{\}\[\]":,a-z0-9\\]{0,60}"#) {
            let _ = ChatStreamRequest::decode(text.as_bytes());
        }
    }
}
