//! Decodes `RunAgentInput`: ignores unknown fields, and validates known ones strictly.

use std::collections::HashSet;

use domain::{Message, Part, Role, RunId};
use serde_json::{Map, Value, json};

use super::{
    ids::{self, InterruptId},
    messages,
};
use crate::{
    chat_stream::{Mode, mode},
    conversation::{Checked, InvalidRequest, object, optional_text, present, text, wrong},
};

/// Maximum length of an id of a thread or run, bytes.
const ID_LIMIT_BYTES: usize = 200;
/// Maximum number of tools of one request.
const TOOLS_LIMIT: usize = 200;

/// The protocol version of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 1.0 and later.
    V1,
    /// Earlier versions, which clients do not state.
    V0x,
}

/// A validated input.
#[derive(Debug, Clone, PartialEq)]
pub struct RunInput {
    /// The client's id of the conversation.
    pub thread_id: String,
    /// The client's id of this run.
    pub run_id: String,
    /// The client's protocol version.
    pub version: Version,
    /// The conversation for a model: every call is answered, and sub-agents' messages are left out.
    pub history: Vec<Message>,
    /// The messages as received.
    pub sent: Vec<Value>,
    /// Tools that the client runs.
    pub tools: Vec<ClientTool>,
    /// The shared state.
    pub state: Map<String, Value>,
    /// Additional context for the model; `None` if there is none.
    pub context: Option<String>,
    /// Answers to interrupts.
    pub resume: Vec<Resume>,
    /// The model to use, from the forwarded properties.
    pub model: Option<String>,
    /// The kind of work, from the forwarded properties.
    pub mode: Mode,
    /// Whether the run continues when the client disconnects, from the forwarded properties.
    pub continue_alone: Option<bool>,
}

/// A tool that the client runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientTool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// A client's request to replay a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadInput {
    /// The client's id of the conversation.
    pub thread_id: String,
    /// The client's id of this connection.
    pub run_id: String,
    /// Its protocol version.
    pub version: Version,
}

impl ThreadInput {
    /// Decodes a request body.
    ///
    /// # Errors
    /// A sentence that names the field and the expected value.
    pub fn decode(body: &[u8]) -> Checked<Self> {
        let fields = object(body)?;
        let thread_id = id(&fields, "threadId")?;
        let run_id = id(&fields, "runId")?;
        Ok(Self {
            thread_id,
            run_id,
            version: version(&fields)?,
        })
    }
}

/// The answer to one interrupt.
#[derive(Debug, Clone, PartialEq)]
pub struct Resume {
    /// The interrupt; `None` if it is not one of ours.
    pub interrupt: Option<InterruptId>,
    /// The person's answer.
    pub answer: Answer,
}

/// A person's answer to an interrupt.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// An answer in the requested form.
    Resolved(Value),
    /// Dismissed without an answer.
    Cancelled,
}

impl RunInput {
    /// Decodes a request body.
    ///
    /// # Errors
    /// A sentence that names the field and the expected value.
    pub fn decode(body: &[u8]) -> Checked<Self> {
        let fields = object(body)?;
        let sent = match present(&fields, "messages") {
            Some(Value::Array(messages)) => messages.clone(),
            _ => return wrong("`messages`", "a list"),
        };
        let state = match present(&fields, "state") {
            Some(Value::Object(state)) => state.clone(),
            // Any value is allowed, but our keys can only be added to an object.
            _ => Map::new(),
        };
        let forwarded = present(&fields, "forwardedProps").and_then(Value::as_object);
        let model = forwarded
            .map(|props| optional_text(props, "model"))
            .transpose()?
            .flatten();
        let mode = forwarded.map(mode).transpose()?.unwrap_or_default();
        let leaving = forwarded
            .and_then(|props| props.get("onDisconnect"))
            .and_then(Value::as_str);
        let input = Self {
            thread_id: id(&fields, "threadId")?,
            run_id: id(&fields, "runId")?,
            version: version(&fields)?,
            history: messages::conversation(&sent)?,
            tools: tools(present(&fields, "tools"))?,
            context: context(present(&fields, "context"), &state)?,
            state,
            resume: resume(present(&fields, "resume"))?,
            sent,
            model,
            mode,
            continue_alone: leaving.map(|word| word != "stop"),
        };
        input.says_something()
    }

    /// The unanswered content of the person: that of the last user messages.
    #[must_use]
    pub fn said(&self) -> Option<Vec<Part>> {
        let is_last = self
            .history
            .last()
            .is_some_and(|message| message.role == Role::User);
        self.said_last().filter(|_| is_last)
    }

    /// Our runs of which the conversation contains items.
    #[must_use]
    pub fn runs(&self) -> HashSet<RunId> {
        let calls = self
            .sent
            .iter()
            .filter_map(|message| message["toolCalls"].as_array())
            .flatten();
        let ids = self
            .sent
            .iter()
            .chain(calls)
            .filter_map(|named| named["id"].as_str());
        ids.filter_map(|id| ids::parse(id).map(|(run, _)| run))
            .collect()
    }

    /// The messages that we did not create, each with an id.
    #[must_use]
    pub fn foreign(&self) -> Vec<Value> {
        let is_foreign = |message: &&Value| {
            message["id"]
                .as_str()
                .is_none_or(|id| ids::parse(id).is_none())
        };
        self.sent.iter().filter(is_foreign).cloned().collect()
    }

    /// The person's last message.
    #[must_use]
    pub fn said_last(&self) -> Option<Vec<Part>> {
        let last = self
            .history
            .iter()
            .rev()
            .find(|message| message.role == Role::User)?;
        Some(last.content.iter().map(storable).collect())
    }

    /// The result that the client sent for this call of that run, if any.
    #[must_use]
    pub fn result_of(&self, run: RunId, call: &str) -> Option<String> {
        let call = ids::outer_call_id(run, call);
        let answers = |message: &&Message| message.tool_call_id.as_ref() == Some(&call);
        messages::results(&self.sent)
            .ok()?
            .iter()
            .rev()
            .find(answers)
            .map(Message::plain_text)
    }

    fn says_something(self) -> Checked<Self> {
        let speaks = self
            .history
            .iter()
            .any(|message| message.role != Role::System);
        if speaks || !self.resume.is_empty() {
            return Ok(self);
        }
        Err(InvalidRequest(
            "`messages` holds nothing to answer: send a message of the user.".into(),
        ))
    }
}

/// Media elsewhere are not fetched; the chat stores their URLs.
fn storable(part: &Part) -> Part {
    match part {
        Part::Image { url } if !url.starts_with("data:image/") => Part::Text {
            text: format!("[Picture: {url}]"),
        },
        Part::Audio { url } if !url.starts_with("data:") => Part::Text {
            text: format!("[Sound: {url}]"),
        },
        Part::Video { url } if !url.starts_with("data:") => Part::Text {
            text: format!("[Film: {url}]"),
        },
        Part::File { url, name, .. } if !url.starts_with("data:") => Part::Text {
            text: format!("[File {name}: {url}]"),
        },
        part => part.clone(),
    }
}

fn id(fields: &Map<String, Value>, name: &str) -> Checked<String> {
    match optional_text(fields, name)? {
        Some(id) if !id.is_empty() && id.len() <= ID_LIMIT_BYTES => Ok(id),
        _ => wrong(
            &format!("`{name}`"),
            &format!("a string of 1 to {ID_LIMIT_BYTES} bytes"),
        ),
    }
}

fn version(fields: &Map<String, Value>) -> Checked<Version> {
    Ok(match optional_text(fields, "protocolVersion")? {
        Some(version) if !version.starts_with("0.") => Version::V1,
        _ => Version::V0x,
    })
}

fn tools(value: Option<&Value>) -> Checked<Vec<ClientTool>> {
    let tools = match value {
        None => return Ok(Vec::new()),
        Some(Value::Array(tools)) if tools.len() <= TOOLS_LIMIT => tools,
        Some(_) => return wrong("`tools`", &format!("a list of at most {TOOLS_LIMIT} tools")),
    };
    let mut checked: Vec<ClientTool> = Vec::new();
    for (at, value) in tools.iter().enumerate() {
        let tool = tool(value, &format!("tools[{at}]"))?;
        // Frameworks register a tool twice when a page re-renders.
        if !checked.iter().any(|known| known.name == tool.name) {
            checked.push(tool);
        }
    }
    Ok(checked)
}

fn tool(value: &Value, at: &str) -> Checked<ClientTool> {
    let Value::Object(fields) = value else {
        return wrong(&format!("`{at}`"), "an object");
    };
    let name = fields
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_fine) {
        return wrong(&format!("`{at}.name`"), "1 to 64 letters, digits, - and _");
    }
    let description =
        present(fields, "description").map(|value| text(value, &format!("`{at}.description`")));
    let parameters = match present(fields, "parameters") {
        None => json!({"type": "object", "properties": {}}),
        Some(schema @ Value::Object(_)) => schema.clone(),
        Some(_) => return wrong(&format!("`{at}.parameters`"), "a JSON Schema, an object"),
    };
    let description = description.transpose()?.unwrap_or_default().to_owned();
    Ok(ClientTool {
        name: name.to_owned(),
        description,
        parameters,
    })
}

/// The application's context for the model: `context` and its own part of the shared state.
fn context(value: Option<&Value>, state: &Map<String, Value>) -> Checked<Option<String>> {
    let entries = match value {
        None => &Vec::new(),
        Some(Value::Array(entries)) => entries,
        Some(_) => return wrong("`context`", "a list of {description, value}"),
    };
    let mut lines: Vec<String> = entries
        .iter()
        .map(|entry| {
            let word = |name: &str| match entry.get(name) {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => String::new(),
            };
            format!("- {}: {}", word("description"), word("value"))
        })
        .collect();
    let own: Map<String, Value> = state
        .iter()
        .filter(|(name, _)| !super::encoder::OWN_STATE.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if !own.is_empty() {
        lines.push(format!("- its state: {}", Value::Object(own)));
    }
    if lines.is_empty() {
        return Ok(None);
    }
    let mut described = format!(
        "The application that the person uses tells this:\n{}",
        lines.join("\n")
    );
    if described.len() > CONTEXT_LIMIT_BYTES {
        described.truncate(described.floor_char_boundary(CONTEXT_LIMIT_BYTES));
        described.push_str("\n… cut");
    }
    Ok(Some(described))
}

/// About 16,000 tokens.
const CONTEXT_LIMIT_BYTES: usize = 64_000;

fn resume(value: Option<&Value>) -> Checked<Vec<Resume>> {
    let wanted = "a list of {interruptId, status, payload}";
    let entries = match value {
        None => return Ok(Vec::new()),
        Some(Value::Array(entries)) => entries,
        Some(_) => return wrong("`resume`", wanted),
    };
    let entry = |value: &Value| {
        let id = value.get("interruptId").and_then(Value::as_str);
        let answer = match value.get("status").and_then(Value::as_str) {
            Some("resolved") => {
                Answer::Resolved(value.get("payload").cloned().unwrap_or(Value::Null))
            }
            Some("cancelled") => Answer::Cancelled,
            _ => return wrong("`resume`", wanted),
        };
        let Some(id) = id else {
            return wrong("`resume`", wanted);
        };
        Ok(Resume {
            interrupt: id.parse().ok(),
            answer,
        })
    };
    entries.iter().map(entry).collect()
}

#[cfg(test)]
mod tests;
