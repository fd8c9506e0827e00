//! Converts input items, including earlier outputs, to a conversation.

use std::collections::HashSet;

use domain::{Message, Part, Role, ToolCall};
use serde_json::{Map, Value, json};

use super::{
    ids::model_call_id,
    tools::{CUSTOM_INPUT, FunctionName},
    turn::Turn,
};
use crate::{
    chat_stream::Mode,
    conversation::{Checked, InvalidRequest, part, present, text, wrong},
    openai::research_prefix::take_research_prefix,
    sealed::SealedBlock,
};

/// The conversation in these items. Work of other servers' tools is left out, as is reasoning that was not sealed here.
///
/// # Errors
/// A sentence that names the field and the expected value.
pub fn conversation(items: &[Value]) -> Checked<Vec<Message>> {
    let mut read = Reader::default();
    for (at, item) in items.iter().enumerate() {
        read.item(item, &format!("input[{at}]"))?;
    }
    Ok(read.finish())
}

/// Rejects a conversation that no model can continue, and removes the prefix that requests research.
///
/// # Errors
/// A sentence about the input.
pub fn check_conversation(messages: &mut [Message]) -> Checked<Mode> {
    let mode = take_research_prefix(messages);
    let speaks =
        |message: &Message| message.role == Role::User && message.content.iter().any(Part::speaks);
    if !messages.iter().any(speaks) {
        return Err(InvalidRequest(
            "`input` holds no message of the user with text or a picture.".into(),
        ));
    }
    let mut open: Vec<&str> = Vec::new();
    let mut answered = HashSet::new();
    for message in messages.iter() {
        open.extend(message.tool_calls.iter().map(|call| call.id.as_str()));
        let Some(id) = message.tool_call_id.as_deref() else {
            continue;
        };
        match open.iter().position(|call| *call == id) {
            Some(at) => _ = answered.insert(open.remove(at)),
            None if answered.contains(id) => {}
            None => {
                return about_call(
                    "No function call was made for the output with the call_id",
                    id,
                );
            }
        }
    }
    match open.first() {
        Some(id) => about_call("There is no output for the function call", id),
        None => Ok(mode),
    }
}

fn about_call<T>(what: &str, id: &str) -> Checked<T> {
    let id: String = id.chars().filter(|c| !c.is_control()).take(80).collect();
    Err(InvalidRequest(format!(
        "`input` does not fit together. {what} {id}."
    )))
}

/// Builds messages from items.
#[derive(Default)]
struct Reader {
    messages: Vec<Message>,
    /// The assistant's text and calls since the last message of another role.
    turn: Turn,
}

impl Reader {
    fn item(&mut self, item: &Value, at: &str) -> Checked<()> {
        let Value::Object(fields) = item else {
            return wrong(&format!("`{at}`"), "an object");
        };
        match fields.get("type").and_then(Value::as_str) {
            Some("message") => match message(fields, at)? {
                message if message.role == Role::Assistant => self.turn.said(message),
                message => self.other(message),
            },
            Some("function_call") => {
                let mut call = call(fields, "call_id", at)?;
                call.name = FunctionName::of_call(fields).flat();
                self.turn.called(call);
            }
            Some("custom_tool_call") => self.turn.called(custom_call(fields, at)?),
            Some("function_call_output" | "custom_tool_call_output") => {
                let id = needed(fields, "call_id", at)?.to_owned();
                let content = match present(fields, "output") {
                    None => Vec::new(),
                    output => content(output, &format!("{at}.output"))?,
                };
                self.other(Message {
                    content,
                    ..Message::tool_result(id, "")
                });
            }
            Some("mcp_call") => {
                // One without a result is useless to a model.
                if let Some(result) = server_result(fields) {
                    let mut call = call(fields, "id", at)?;
                    call.id = model_call_id(&call.id).to_owned();
                    let answer = Message::tool_result(call.id.clone(), result);
                    self.turn.called(call);
                    self.other(answer);
                }
            }
            Some("reasoning") => {
                let sealed = fields.get("encrypted_content").and_then(Value::as_str);
                if let Some(block) = sealed.and_then(SealedBlock::open) {
                    self.turn.sealed(block);
                }
            }
            Some("item_reference") => {
                return wrong(
                    &format!("`{at}.id`"),
                    "the id of an item of one of your responses here that is still kept",
                );
            }
            Some(kind) if is_passed_over(kind) => {}
            Some(_) => {
                return wrong(
                    &format!("`{at}.type`"),
                    "a kind of item that this server knows",
                );
            }
            None => {
                return wrong(
                    &format!("`{at}.type`"),
                    "the kind of the item, such as \"message\"",
                );
            }
        }
        Ok(())
    }

    /// A message of another role.
    fn other(&mut self, message: Message) {
        self.messages
            .extend(std::mem::take(&mut self.turn).finish());
        self.messages.push(message);
    }

    fn finish(mut self) -> Vec<Message> {
        self.messages.extend(self.turn.finish());
        self.messages
    }
}

/// Items of other servers' tools, and items that only those can read.
fn is_passed_over(kind: &str) -> bool {
    matches!(
        kind,
        "compaction" | "mcp_list_tools" | "mcp_approval_request" | "additional_tools"
    ) || kind.ends_with("_call")
        || kind.ends_with("_call_output")
        || kind.ends_with("_output")
        || kind.ends_with("_response")
}

fn message(fields: &Map<String, Value>, at: &str) -> Checked<Message> {
    let role = match fields.get("role").and_then(Value::as_str) {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system" | "developer") => Role::System,
        _ => {
            let wanted = "\"user\", \"assistant\", \"system\" or \"developer\"";
            return wrong(&format!("`{at}.role`"), wanted);
        }
    };
    let content = content(fields.get("content"), &format!("{at}.content"))?;
    Ok(Message {
        content,
        ..Message::text(role, "")
    })
}

fn content(value: Option<&Value>, at: &str) -> Checked<Vec<Part>> {
    match value {
        Some(Value::Array(parts)) => parts
            .iter()
            .enumerate()
            .map(|(number, part)| read_part(part, &format!("{at}[{number}]")))
            .collect(),
        Some(words @ Value::String(_)) => Ok(vec![Part::Text {
            text: text(words, &format!("`{at}`"))?.to_owned(),
        }]),
        _ => wrong(&format!("`{at}`"), "a string or a list of content parts"),
    }
}

fn read_part(value: &Value, at: &str) -> Checked<Part> {
    let kind = value.get("type").and_then(Value::as_str);
    match (kind, value.get("refusal"), value.get("image_url")) {
        (Some("refusal"), Some(words), _) => Ok(Part::Text {
            text: text(words, &format!("`{at}.refusal`"))?.to_owned(),
        }),
        (Some("input_image"), _, None | Some(Value::Null)) => wrong(
            &format!("`{at}.image_url`"),
            "an https: address or a data: URL; files by id are not kept here",
        ),
        (Some(_), ..) => part(value, at),
        (None, ..) => wrong(
            &format!("`{at}.type`"),
            "the kind of the part, such as \"input_text\"",
        ),
    }
}

fn needed<'a>(fields: &'a Map<String, Value>, name: &str, at: &str) -> Checked<&'a str> {
    let what = format!("`{at}.{name}`");
    match fields.get(name) {
        Some(value) => text(value, &what),
        None => wrong(&what, "a string"),
    }
}

fn call(fields: &Map<String, Value>, id: &str, at: &str) -> Checked<ToolCall> {
    Ok(ToolCall {
        id: needed(fields, id, at)?.to_owned(),
        name: needed(fields, "name", at)?.to_owned(),
        arguments: needed(fields, "arguments", at)?.to_owned(),
    })
}

/// A call of a custom tool, in the form of the function that the model was given.
fn custom_call(fields: &Map<String, Value>, at: &str) -> Checked<ToolCall> {
    needed(fields, "name", at)?;
    Ok(ToolCall {
        id: needed(fields, "call_id", at)?.to_owned(),
        name: FunctionName::of_call(fields).flat(),
        arguments: json!({CUSTOM_INPUT: needed(fields, "input", at)?}).to_string(),
    })
}

/// The result of a call that a server has handled.
fn server_result(fields: &Map<String, Value>) -> Option<String> {
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::String(words) => Some(words.clone()),
        other => Some(
            other
                .pointer("/content/0/text")
                .and_then(Value::as_str)
                .map_or_else(|| other.to_string(), str::to_owned),
        ),
    };
    let error = fields
        .get("error")
        .and_then(text)
        .map(|error| format!("Error: {error}"));
    error.or_else(|| fields.get("output").and_then(text))
}
