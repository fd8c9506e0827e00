//! The body of `POST /v1/responses`.

use domain::ModelParameters;
use serde_json::{Map, Value, json};

use super::{echo, ids::input_id, settings, tools};
use crate::{
    chat_stream::{Mode, mode},
    conversation::{Checked, InvalidRequest, object, optional_text, present, text, wrong},
    openai::{CallerTool, completion_request::flag},
    request_parameters,
};

/// A checked request.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseRequest {
    /// The model as the caller named it.
    pub model: String,
    /// What is new of the conversation, item by item; [`super::conversation`] reads them.
    pub items: Vec<Value>,
    /// What the model is told before the conversation, this time only.
    pub instructions: Option<String>,
    /// The response that this one goes on from.
    pub previous: Option<String>,
    /// Whether to stream; not, where the caller does not say.
    pub stream: bool,
    /// Whether to answer at once and let the run go on by itself.
    pub background: bool,
    /// Whether the response can be had again by its id.
    pub store: bool,
    /// Tools that the caller runs itself.
    pub tools: Vec<CallerTool>,
    /// What is set for each call of the model.
    pub parameters: ModelParameters,
    /// Further fields for the model's server, as chat completions name them.
    pub extra: Map<String, Value>,
    /// What every response repeats of the request.
    pub echo: Map<String, Value>,
    /// The JSON that the answer has to be, as chat completions write it; `None` where words will do.
    pub answer_format: Option<Value>,
    /// The kind of work that an agent is asked for, where no prefix of the message says it.
    pub mode: Mode,
    /// Whether a tool has to be used, which only a plain model can be told.
    pub forces_tool: bool,
}

impl ResponseRequest {
    /// Reads a request body.
    ///
    /// # Errors
    /// A sentence that names the field and says what belongs there.
    pub fn decode(body: &[u8]) -> Checked<Self> {
        let fields = object(body)?;
        refuse_what_is_elsewhere(&fields)?;
        let (background, store) = (flag(&fields, "background", "background")?, store(&fields)?);
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
                .filter(|told| !told.trim().is_empty()),
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

    /// What has to be kept with the run, for whoever asks for the response again.
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

    /// Refuses what an agent cannot do, rather than leaving it out silently, and reads a reasoning effort that was left to
    /// the model's server.
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

/// Gives each item of the input that has none a name.
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

/// What is kept in other places of OpenAI's, which this server does not have.
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

/// The input as items, the short forms written out.
fn items(fields: &Map<String, Value>) -> Checked<Vec<Value>> {
    match present(fields, "input") {
        Some(words @ Value::String(_)) => Ok(vec![message(
            "user",
            json!([{"type": "input_text", "text": text(words, "`input`")?}]),
        )]),
        Some(Value::Array(items)) => items.iter().enumerate().map(written_out).collect(),
        _ => wrong("`input`", "a string or a list of items"),
    }
}

fn message(role: &str, content: Value) -> Value {
    json!({"type": "message", "role": role, "content": content})
}

fn written_out((at, item): (usize, &Value)) -> Checked<Value> {
    let Value::Object(fields) = item else {
        return wrong(&format!("`input[{at}]`"), "an object");
    };
    let mut item = item.clone();
    let kind = match present(fields, "type") {
        Some(kind) => text(kind, &format!("`input[{at}].type`"))?,
        None if fields.contains_key("role") => "message",
        // The format leaves the type out of references.
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
