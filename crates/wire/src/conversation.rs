//! Decodes and validates conversations in OpenAI's format, which nearly all programs send.

use domain::{Message, Part, Role, ToolCall};
use provider::media::type_of_data;
use serde_json::{Map, Value};

use crate::{file_part, media};

/// The body is not a valid request. `Display` is the sentence for the caller; it names the field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidRequest(pub(crate) String);

pub(crate) type Checked<T> = Result<T, InvalidRequest>;

impl InvalidRequest {
    /// The invalid field, such as `messages[0].role`, if it is one.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.0
            .strip_prefix('`')?
            .split_once('`')
            .map(|(field, _)| field)
    }
}

/// The body's fields.
pub(crate) fn object(body: &[u8]) -> Checked<Map<String, Value>> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| InvalidRequest(format!("The body is not valid JSON: {error}.")))?;
    match value {
        Value::Object(fields) => Ok(fields),
        _ => wrong("The body", "a JSON object"),
    }
}

/// Rejects a conversation without content of the user.
pub(crate) fn check_says_something(messages: &[Message]) -> Checked<()> {
    let speaks =
        |message: &Message| message.role == Role::User && message.content.iter().any(Part::speaks);
    if messages.iter().any(speaks) {
        return Ok(());
    }
    Err(InvalidRequest(
        "`messages` holds no message of the user with text or a picture.".into(),
    ))
}

pub(crate) fn wrong<T>(what: &str, wanted: &str) -> Checked<T> {
    Err(InvalidRequest(format!("{what} must be {wanted}.")))
}

/// The field, if it is there and not `null`.
pub(crate) fn present<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|value| !value.is_null())
}

pub(crate) fn optional_text(fields: &Map<String, Value>, name: &str) -> Checked<Option<String>> {
    present(fields, name)
        .map(|value| text(value, &format!("`{name}`")).map(str::to_owned))
        .transpose()
}

/// A string without NUL, which databases cannot store.
pub(crate) fn text<'a>(value: &'a Value, what: &str) -> Checked<&'a str> {
    match value.as_str() {
        None => wrong(what, "a string"),
        Some(text) if text.contains('\0') => Err(InvalidRequest(format!(
            "{what} contains a NUL character; remove it."
        ))),
        Some(text) => Ok(text),
    }
}

/// The conversation in `messages`, one message for each entry.
pub(crate) fn messages(value: Option<&Value>) -> Checked<Vec<Message>> {
    match value {
        Some(Value::Array(list)) if !list.is_empty() => {
            let mut messages: Vec<Message> = Vec::with_capacity(list.len());
            for (at, value) in list.iter().enumerate() {
                let mut message = message(value, &format!("messages[{at}]"))?;
                if value["role"] == FUNCTION {
                    message.tool_call_id = last_call(&messages);
                }
                messages.push(message);
            }
            speak_instructions(&mut messages);
            Ok(messages)
        }
        _ => wrong(
            "`messages`",
            "a list with at least one message, like [{\"role\":\"user\",\"content\":\"Hi\"}]",
        ),
    }
}

/// The role of a result in the legacy function API; it names no call id.
const FUNCTION: &str = "function";

/// The call that such a result belongs to.
fn last_call(messages: &[Message]) -> Option<String> {
    let call = messages
        .iter()
        .rev()
        .find_map(|message| message.tool_calls.last())?;
    Some(call.id.clone())
}

/// If there are only instructions, the last of them becomes a user message: models need one.
fn speak_instructions(messages: &mut [Message]) {
    if messages.iter().all(|message| message.role == Role::System)
        && let Some(last) = messages.last_mut()
    {
        last.role = Role::User;
    }
}

fn message(value: &Value, at: &str) -> Checked<Message> {
    let Value::Object(fields) = value else {
        return wrong(&format!("`{at}`"), "an object");
    };
    let role = match fields.get("role").and_then(Value::as_str) {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool" | FUNCTION) => Role::Tool,
        _ => {
            return wrong(
                &format!("`{at}.role`"),
                "\"system\", \"user\", \"assistant\" or \"tool\"",
            );
        }
    };
    let tool_call_id = present(fields, "tool_call_id");
    let tool_call_id = tool_call_id
        .map(|id| text(id, &format!("`{at}.tool_call_id`")))
        .transpose()?;
    let content = content(fields.get("content"), role, &format!("{at}.content"))?;
    let mut tool_calls = tool_calls(present(fields, "tool_calls"), at)?;
    if let Some(call) = present(fields, "function_call").filter(|_| tool_calls.is_empty()) {
        tool_calls.push(function_call(call, at)?);
    }
    Ok(Message {
        tool_calls,
        tool_call_id: tool_call_id.map(str::to_owned),
        ..Message::of(role, content)
    })
}

/// The content at `at`.
pub(crate) fn content(value: Option<&Value>, role: Role, at: &str) -> Checked<Vec<Part>> {
    let what = format!("`{at}`");
    match value {
        Some(Value::Array(parts)) => parts
            .iter()
            .enumerate()
            .map(|(number, value)| part(value, &format!("{at}[{number}]")))
            .collect(),
        Some(value @ Value::String(_)) => Ok(vec![Part::Text {
            text: text(value, &what)?.to_owned(),
        }]),
        // An assistant that only called tools has no content, and a tool may return none.
        None | Some(Value::Null) if matches!(role, Role::Assistant | Role::Tool) => Ok(Vec::new()),
        _ => wrong(&what, "a string or a list of content parts"),
    }
}

pub(crate) fn part(value: &Value, at: &str) -> Checked<Part> {
    let Value::Object(fields) = value else {
        return wrong(&format!("`{at}`"), "an object with a `type`");
    };
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or("text");
    match (kind, fields.get("text")) {
        ("image_url" | "input_image", _) => image(fields.get("image_url"), at),
        ("input_audio", _) => {
            media::input_audio(fields.get("input_audio"), &format!("{at}.input_audio"))
        }
        ("audio_url", _) => {
            media::by_url(fields.get("audio_url"), "audio", &format!("{at}.audio_url"))
        }
        ("video_url" | "input_video", _) => {
            media::by_url(fields.get("video_url"), "video", &format!("{at}.video_url"))
        }
        ("file" | "input_file", None) => file(fields, kind, at),
        (_, Some(words)) => Ok(Part::Text {
            text: text(words, &format!("`{at}.text`"))?.to_owned(),
        }),
        ("text" | "input_text" | "output_text", None) => wrong(&format!("`{at}.text`"), "a string"),
        // A note tells the model that something was there.
        (kind, None) => Ok(media::left_out(kind, "")),
    }
}

/// A file in OpenAI's format, `{"file": {"filename", "file_data"}}` or the same without the inner object. A file stored
/// at the caller's provider is replaced by a note.
fn file(fields: &Map<String, Value>, kind: &str, at: &str) -> Checked<Part> {
    let file = fields
        .get("file")
        .and_then(Value::as_object)
        .unwrap_or(fields);
    let name = file
        .get("filename")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let given = ["file_data", "file_url"]
        .into_iter()
        .find_map(|field| Some((field, present(file, field)?)));
    let Some((field, url)) = given else {
        return Ok(media::left_out(kind, name));
    };
    let at = format!("{at}.{field}");
    let media_type = url.as_str().and_then(type_of_data).unwrap_or_default();
    match media_type.split('/').next().unwrap_or_default() {
        family @ ("image" | "audio" | "video") => media::by_url(Some(url), family, &at),
        _ => file_part::file(url, None, name, &at),
    }
}

fn image(value: Option<&Value>, at: &str) -> Checked<Part> {
    let what = format!("`{at}.image_url`");
    let url = match value {
        Some(Value::Object(image)) => image.get("url"),
        other => other,
    };
    let Some(url) = url else {
        return wrong(&what, "{\"url\": \"…\"}");
    };
    let url = text(url, &what)?;
    if ["https://", "http://", "data:image/"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
    {
        Ok(Part::Image {
            url: url.to_owned(),
        })
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
                arguments: arguments(call.pointer("/function/arguments"), &what)?,
            })
        })
        .collect()
}

/// A call of the legacy function API, without an id.
fn function_call(call: &Value, at: &str) -> Checked<ToolCall> {
    let what = format!("`{at}.function_call`");
    let Some(name) = call.get("name") else {
        return wrong(&what, "an object with a `name` and `arguments`");
    };
    let name = text(name, &what)?.to_owned();
    Ok(ToolCall {
        id: format!("call_{}", at.replace(|c: char| !c.is_ascii_digit(), "")),
        name,
        arguments: arguments(call.get("arguments"), &what)?,
    })
}

/// The JSON of a call's arguments; some clients send an object instead of text, or omit it.
pub(crate) fn arguments(value: Option<&Value>, what: &str) -> Checked<String> {
    match value {
        None | Some(Value::Null) => Ok("{}".to_owned()),
        Some(Value::Object(arguments)) => Ok(Value::from(arguments.clone()).to_string()),
        Some(value) => text(value, what).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(list: Value) -> Vec<Message> {
        messages(Some(&list)).unwrap()
    }

    #[test]
    fn results_of_functions_belong_to_the_call_before() {
        let read = read(json!([
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "r"},
            {"role": "assistant", "function_call": {"name": "g", "arguments": {"a": 1}}},
            {"role": "function", "name": "g", "content": null},
        ]));
        let calls: Vec<&ToolCall> = read
            .iter()
            .flat_map(|message| &message.tool_calls)
            .collect();
        assert_eq!(
            (calls[0].name.as_str(), calls[1].arguments.as_str()),
            ("f", "{\"a\":1}")
        );
        let results = read
            .iter()
            .filter_map(|message| message.tool_call_id.as_deref());
        assert_eq!(results.collect::<Vec<_>>(), [&calls[0].id, &calls[1].id]);
        assert_ne!(calls[0].id, calls[1].id);
        assert_eq!(read[4].content, []);
    }

    #[test]
    fn arguments_may_be_an_object_or_nothing() {
        let call = |arguments: Value| json!({"id": "c1", "function": {"name": "f", "arguments": arguments}});
        let of = |arguments: Value| {
            let message = json!({"role": "assistant", "tool_calls": [call(arguments)]});
            messages(Some(&json!([message]))).map(|read| read[0].tool_calls[0].arguments.clone())
        };
        assert_eq!(of(json!({"a": 1})).unwrap(), "{\"a\":1}");
        assert_eq!(of(json!("{")).unwrap(), "{");
        assert_eq!(of(json!(null)).unwrap(), "{}");
        assert_eq!(
            of(json!([1])).unwrap_err().field(),
            Some("messages[0].tool_calls")
        );
    }

    #[test]
    fn lone_instructions_become_a_user_message() {
        let roles = |list: Value| {
            read(list)
                .iter()
                .map(|message| message.role)
                .collect::<Vec<_>>()
        };
        let described = json!({"role": "system", "content": "x"});
        assert_eq!(
            roles(json!([described, described])),
            [Role::System, Role::User]
        );
        assert_eq!(
            roles(json!([described, {"role": "assistant", "content": "y"}])),
            [Role::System, Role::Assistant]
        );
    }
}
