//! The body of `POST /chat/stream`: tolerant of what it does not know, exact about what it does.

use domain::{Message, Part, Role, ToolCall};
use serde_json::{Map, Value};

/// A checked request.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatStreamRequest {
    /// The conversation; at least one message of the user says something.
    pub messages: Vec<Message>,
    /// Whether to stream (the default) or to answer once with the collected run.
    pub stream: bool,
    /// The model to use; the server's default where `None`.
    pub model: Option<String>,
    /// What kind of work is wanted.
    pub mode: Mode,
    /// The chat to continue.
    pub chat_id: Option<String>,
    /// Whatever the caller wants to keep with the run.
    pub metadata: Map<String, Value>,
    /// The optional frames asked for.
    pub tool_args_delta: bool,
}

/// What kind of work is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// A conversation.
    #[default]
    Chat,
    /// A short research.
    Research,
    /// A long research.
    Deep,
}

/// The body is not a request. `Display` is the sentence for the caller; it names the field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidRequest(String);

type Checked<T> = Result<T, InvalidRequest>;

impl ChatStreamRequest {
    /// Reads a request body.
    ///
    /// # Errors
    /// A sentence that names the field and says what belongs there.
    pub fn decode(body: &[u8]) -> Checked<Self> {
        let value: Value = serde_json::from_slice(body)
            .map_err(|error| InvalidRequest(format!("The body is not valid JSON: {error}.")))?;
        let Value::Object(fields) = value else { return wrong("The body", "a JSON object") };
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
            metadata: match present(&fields, "metadata") {
                None => Map::new(),
                Some(Value::Object(metadata)) => metadata.clone(),
                Some(_) => return wrong("`metadata`", "an object"),
            },
            tool_args_delta: events(&fields)?.contains(&"tool_args_delta"),
        };
        request.says_something()
    }

    fn says_something(self) -> Checked<Self> {
        let speaks = |message: &Message| {
            message.role == Role::User
                && message.content.iter().any(|part| match part {
                    Part::Text { text } => !text.trim().is_empty(),
                    Part::Image { .. } => true,
                })
        };
        if self.messages.iter().any(speaks) {
            Ok(self)
        } else {
            Err(InvalidRequest("`messages` holds no message of the user with text or a picture.".into()))
        }
    }
}

fn wrong<T>(what: &str, wanted: &str) -> Checked<T> {
    Err(InvalidRequest(format!("{what} must be {wanted}.")))
}

/// The field, where it is there and not `null`.
fn present<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|value| !value.is_null())
}

fn optional_text(fields: &Map<String, Value>, name: &str) -> Checked<Option<String>> {
    present(fields, name).map(|value| text(value, &format!("`{name}`")).map(str::to_owned)).transpose()
}

/// A string without NUL, which databases cannot hold.
fn text<'a>(value: &'a Value, what: &str) -> Checked<&'a str> {
    match value.as_str() {
        None => wrong(what, "a string"),
        Some(text) if text.contains('\0') => {
            Err(InvalidRequest(format!("{what} contains a NUL character; remove it.")))
        }
        Some(text) => Ok(text),
    }
}

fn mode(fields: &Map<String, Value>) -> Checked<Mode> {
    match optional_text(fields, "mode")?.as_deref() {
        None | Some("chat") => Ok(Mode::Chat),
        Some("research") => Ok(Mode::Research),
        Some("deep") => Ok(Mode::Deep),
        Some(_) => wrong("`mode`", "\"chat\", \"research\" or \"deep\""),
    }
}

/// The optional frames asked for; those we do not know are left out.
fn events(fields: &Map<String, Value>) -> Checked<Vec<&str>> {
    let wanted = "a list of strings";
    match present(fields, "events") {
        None => Ok(Vec::new()),
        Some(Value::Array(names)) => {
            names.iter().map(|name| name.as_str().map_or_else(|| wrong("`events`", wanted), Ok)).collect()
        }
        Some(_) => wrong("`events`", wanted),
    }
}

fn messages(value: Option<&Value>) -> Checked<Vec<Message>> {
    match value {
        Some(Value::Array(list)) if !list.is_empty() => {
            list.iter().enumerate().map(|(at, value)| message(value, &format!("messages[{at}]"))).collect()
        }
        _ => wrong(
            "`messages`",
            "a list with at least one message, like [{\"role\":\"user\",\"content\":\"Hi\"}]",
        ),
    }
}

fn message(value: &Value, at: &str) -> Checked<Message> {
    let Value::Object(fields) = value else { return wrong(&format!("`{at}`"), "an object") };
    let role = match fields.get("role").and_then(Value::as_str) {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        _ => return wrong(&format!("`{at}.role`"), "\"system\", \"user\", \"assistant\" or \"tool\""),
    };
    let tool_call_id = present(fields, "tool_call_id");
    let tool_call_id = tool_call_id.map(|id| text(id, &format!("`{at}.tool_call_id`"))).transpose()?;
    Ok(Message {
        role,
        content: content(fields.get("content"), role, at)?,
        tool_calls: tool_calls(present(fields, "tool_calls"), at)?,
        tool_call_id: tool_call_id.map(str::to_owned),
    })
}

fn content(value: Option<&Value>, role: Role, at: &str) -> Checked<Vec<Part>> {
    let what = format!("`{at}.content`");
    match value {
        Some(Value::Array(parts)) => parts
            .iter()
            .enumerate()
            .map(|(number, value)| part(value, &format!("{at}.content[{number}]")))
            .collect(),
        Some(value @ Value::String(_)) => Ok(vec![Part::Text { text: text(value, &what)?.to_owned() }]),
        // An assistant that only called tools said nothing.
        None | Some(Value::Null) if role == Role::Assistant => Ok(Vec::new()),
        _ => wrong(&what, "a string or a list of content parts"),
    }
}

fn part(value: &Value, at: &str) -> Checked<Part> {
    let Value::Object(fields) = value else { return wrong(&format!("`{at}`"), "an object with a `type`") };
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or("text");
    match (kind, fields.get("text")) {
        ("image_url" | "input_image", _) => image(fields.get("image_url"), at),
        (_, Some(words)) => Ok(Part::Text { text: text(words, &format!("`{at}.text`"))?.to_owned() }),
        ("text" | "input_text" | "output_text", None) => wrong(&format!("`{at}.text`"), "a string"),
        // The model should know that something was there.
        (kind, None) => {
            let kind: String = kind.chars().filter(|c| !c.is_control()).take(40).collect();
            Ok(Part::Text { text: format!("[An attachment of type {kind} was left out.]") })
        }
    }
}

fn image(value: Option<&Value>, at: &str) -> Checked<Part> {
    let what = format!("`{at}.image_url`");
    let url = match value {
        Some(Value::Object(image)) => image.get("url"),
        other => other,
    };
    let Some(url) = url else { return wrong(&what, "{\"url\": \"…\"}") };
    let url = text(url, &what)?;
    if ["https://", "http://", "data:image/"].iter().any(|scheme| url.starts_with(scheme)) {
        Ok(Part::Image { url: url.to_owned() })
    } else {
        wrong(&what, "an https: address or a data: URL of a picture")
    }
}

fn tool_calls(value: Option<&Value>, at: &str) -> Checked<Vec<ToolCall>> {
    let what = format!("`{at}.tool_calls`");
    let wanted = "a list of OpenAI tool calls";
    let calls = match value {
        None => return Ok(Vec::new()),
        Some(Value::Array(calls)) => calls,
        Some(_) => return wrong(&what, wanted),
    };
    let field = |value: Option<&Value>| match value {
        Some(value) => text(value, &what).map(str::to_owned),
        None => wrong(&what, wanted),
    };
    calls
        .iter()
        .map(|call| {
            Ok(ToolCall {
                id: field(call.get("id"))?,
                name: field(call.pointer("/function/name"))?,
                arguments: field(call.pointer("/function/arguments"))?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
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
                metadata: Map::new(),
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
                    {"type": "input_audio", "input_audio": {"data": ""}}]},
            ],
            "stream": false, "model": "m", "mode": "deep", "chat_id": "chat_1",
            "metadata": {"a": 1}, "events": ["tool_args_delta", "later"], "temperature": 3,
        }))
        .unwrap();
        assert_eq!(request.messages[0].role, Role::System);
        assert_eq!(request.messages[1].tool_calls[0].name, "ls");
        assert_eq!(request.messages[2], Message::tool_result("c1", "a.txt"));
        assert_eq!(
            request.messages[3].content,
            [
                Part::Text { text: "What is this?".into() },
                Part::Image { url: "data:image/png;base64,AA==".into() },
                Part::Text { text: "[An attachment of type input_audio was left out.]".into() },
            ]
        );
        assert_eq!((request.stream, request.mode, request.tool_args_delta), (false, Mode::Deep, true));
        assert_eq!(request.metadata["a"], 1);
    }

    #[test]
    fn wrong_types_are_named() {
        refused(&json!([]), "The body must be a JSON object");
        refused(&json!({}), "`messages` must be a list");
        refused(&json!({"messages": []}), "at least one message");
        refused(&with("stream", json!("yes")), "`stream` must be true or false");
        refused(&with("model", json!(7)), "`model` must be a string");
        refused(&with("mode", json!("fast")), "`mode` must be \"chat\"");
        refused(&with("chat_id", json!([])), "`chat_id` must be a string");
        refused(&with("metadata", json!("x")), "`metadata` must be an object");
        refused(&with("events", json!([1])), "`events` must be a list of strings");
        refused(&with_message(json!("Hi")), "`messages[0]` must be an object");
        refused(&with_message(json!({"role": "boss", "content": ""})), "`messages[0].role` must be");
        refused(&with_message(json!({"role": "user"})), "`messages[0].content` must be a string or");
        refused(&with_message(json!({"role": "user", "content": [7]})), "`messages[0].content[0]`");
        refused(
            &with_message(
                json!({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///x"}}]}),
            ),
            "`messages[0].content[0].image_url` must be an https:",
        );
        refused(&with_message(json!({"role": "assistant", "tool_calls": [{}]})), "`messages[0].tool_calls`");
    }

    #[test]
    fn empty_and_hostile_bodies() {
        refused(&json!({"messages": [{"role": "user", "content": " \n"}]}), "no message of the user");
        refused(&with_message(json!({"role": "user", "content": "a\0b"})), "NUL");
        let deep = format!("{{\"messages\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
        for body in ["", "{", "\u{0}", "nul", deep.as_str()] {
            let error = ChatStreamRequest::decode(body.as_bytes()).unwrap_err().to_string();
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
