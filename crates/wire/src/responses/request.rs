//! Decodes the body of `POST /v1/responses`.

use domain::ModelParameters;
use serde_json::{Map, Value, json};

use super::{echo, ids::input_id, settings, tools};
use crate::{
    chat_stream::{Mode, mode},
    conversation::{Checked, InvalidRequest, object, optional_text, present, text, wrong},
    openai::{CallerTool, completion_request::flag},
    request_parameters,
};

/// A validated request.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseRequest {
    /// The model name in the request.
    pub model: String,
    /// The new items of the conversation; [`super::conversation`] converts them.
    pub items: Vec<Value>,
    /// Instructions before the conversation, for this request only.
    pub instructions: Option<String>,
    /// The response that this one continues from.
    pub previous: Option<String>,
    /// Whether to stream; false by default.
    pub stream: bool,
    /// Whether to answer at once and let the run continue in the background.
    pub background: bool,
    /// Whether the response can be retrieved later by its id.
    pub store: bool,
    /// Tools that the caller runs itself.
    pub tools: Vec<CallerTool>,
    /// The parameters of each model call.
    pub parameters: ModelParameters,
    /// Additional fields for the model's server, under their Chat Completions names.
    pub extra: Map<String, Value>,
    /// The request fields that every response repeats.
    pub echo: Map<String, Value>,
    /// The required JSON format, in the form of Chat Completions; `None` for plain text.
    pub answer_format: Option<Value>,
    /// The mode of an agent's answer, if no prefix of the message selects one.
    pub mode: Mode,
    /// Whether a tool must be used, which only a plain model supports.
    pub forces_tool: bool,
}

impl ResponseRequest {
    /// Decodes a request body.
    ///
    /// # Errors
    /// A sentence that names the field and the expected value.
    pub fn decode(body: &[u8]) -> Checked<Self> {
        let fields = object(body)?;
        refuse_what_is_elsewhere(&fields)?;
        let background = flag(&fields, "background", "background")?;
        let store = store(&fields)?;
        if background && !store {
            return Err(InvalidRequest(
                "`background` needs `store`: a response that is not kept cannot be asked for."
                    .into(),
            ));
        }
        let tools = tools::read(&fields)?;
        let settings = settings::read(&fields)?;
        let extra = tools.extra.into_iter().chain(settings.extra).collect();
        let mut request = Self {
            model: model(&fields)?,
            items: items(&fields)?,
            instructions: optional_text(&fields, "instructions")?
                .filter(|described| !described.trim().is_empty()),
            previous: optional_text(&fields, "previous_response_id")?,
            stream: flag(&fields, "stream", "stream")?,
            background,
            store,
            tools: tools.offered,
            parameters: settings.parameters,
            extra,
            echo: echo::defaults(),
            answer_format: settings.answer_format,
            mode: mode(&fields)?,
            forces_tool: tools.forced,
        };
        for (name, value) in &mut request.echo {
            if let Some(given) = present(&fields, name) {
                *value = given.clone();
            }
        }
        Ok(request)
    }

    /// The data to store with the run, for later retrieval of the response.
    #[must_use]
    pub fn kept(&self, workspace: Option<&str>) -> Value {
        json!({
            "object": "response",
            "store": self.store,
            "workspace": workspace,
            "previous": self.previous,
            "echo": self.echo,
            "items": self.items,
        })
    }

    /// Rejects features that agents do not support, rather than ignoring them, and validates a reasoning effort that
    /// was left to the model's server.
    ///
    /// # Errors
    /// A sentence that names the field.
    pub fn check_for_agent(&mut self) -> Checked<()> {
        if self.forces_tool {
            return wrong(
                "`tool_choice`",
                "\"auto\" or \"none\" here: an agent chooses its tools itself",
            );
        }
        if let Some(word) = self.extra.remove(settings::EFFORT) {
            self.parameters.reasoning_effort =
                Some(request_parameters::effort(&word, "reasoning.effort")?);
        }
        Ok(())
    }
}

/// Gives an id to each input item that has none.
#[must_use]
pub fn named_items(items: &[Value], run: domain::RunId) -> Vec<Value> {
    let named = |(at, item): (usize, &Value)| {
        let mut item = item.clone();
        if item["id"].as_str().is_none_or(str::is_empty)
            && let Some(fields) = item.as_object_mut()
        {
            fields.insert("id".to_owned(), json!(input_id(run, at)));
        }
        item
    };
    items.iter().enumerate().map(named).collect()
}

fn model(fields: &Map<String, Value>) -> Checked<String> {
    match optional_text(fields, "model")? {
        Some(model) if !model.is_empty() => Ok(model),
        _ => wrong("`model`", "the name of a model; GET /v1/models lists them"),
    }
}

fn store(fields: &Map<String, Value>) -> Checked<bool> {
    match present(fields, "store") {
        None => Ok(true),
        Some(_) => flag(fields, "store", "store"),
    }
}

/// Rejects references to storage of OpenAI's that this server does not have.
fn refuse_what_is_elsewhere(fields: &Map<String, Value>) -> Checked<()> {
    for (name, instead) in [
        (
            "conversation",
            "Go on from a response with `previous_response_id`.",
        ),
        (
            "prompt",
            "Send the text itself, in `instructions` and `input`.",
        ),
    ] {
        if present(fields, name).is_some() {
            return Err(InvalidRequest(format!(
                "`{name}` is not there: this server keeps none. {instead}"
            )));
        }
    }
    Ok(())
}

/// The input as items, with the short forms expanded.
fn items(fields: &Map<String, Value>) -> Checked<Vec<Value>> {
    match present(fields, "input") {
        Some(words @ Value::String(_)) => Ok(vec![message(
            "user",
            json!([{"type": "input_text", "text": text(words, "`input`")?}]),
        )]),
        Some(Value::Array(items)) => items
            .iter()
            .enumerate()
            .map(|(at, item)| written_out(at, item))
            .collect(),
        _ => wrong("`input`", "a string or a list of items"),
    }
}

fn message(role: &str, content: Value) -> Value {
    json!({"type": "message", "role": role, "content": content})
}

fn written_out(at: usize, item: &Value) -> Checked<Value> {
    let Value::Object(fields) = item else {
        return wrong(&format!("`input[{at}]`"), "an object");
    };
    let mut item = item.clone();
    let kind = match present(fields, "type") {
        Some(kind) => text(kind, &format!("`input[{at}].type`"))?,
        None if fields.contains_key("role") => "message",
        // The format allows references without a type.
        None if fields.contains_key("id") && fields.len() == 1 => "item_reference",
        None => {
            return wrong(
                &format!("`input[{at}].type`"),
                "the kind of the item, such as \"message\"",
            );
        }
    };
    item["type"] = json!(kind);
    if let (Some(Value::String(words)), "message") = (fields.get("content"), kind) {
        let kind = if fields.get("role").is_some_and(|role| role == "assistant") {
            "output"
        } else {
            "input"
        };
        item["content"] = json!([{"type": format!("{kind}_text"), "text": words}]);
    }
    Ok(item)
}

#[cfg(test)]
mod tests;
