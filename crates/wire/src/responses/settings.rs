//! Decodes the request fields that configure the answer.

use domain::{ModelParameters, ReasoningEffort};
use serde_json::{Map, Value, json};

use crate::{
    conversation::{Checked, optional_text, present, text, wrong},
    request_parameters,
};

/// The extra field for a level that only the model's server knows.
pub(super) const EFFORT: &str = "reasoning_effort";

/// The requested settings.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) parameters: ModelParameters,
    /// For the model's server, under Chat Completions names.
    pub(super) extra: Map<String, Value>,
    /// The required JSON format, in the form of Chat Completions.
    pub(super) answer_format: Option<Value>,
}

/// Validates all fields, including those without an effect here.
pub(super) fn read(fields: &Map<String, Value>) -> Checked<Settings> {
    let parameters = request_parameters::of_responses(fields)?;
    let mut settings = Settings {
        parameters,
        ..Settings::default()
    };
    for name in ["max_tool_calls", "top_logprobs"] {
        count(fields, name)?;
    }
    for name in [
        "user",
        "safety_identifier",
        "prompt_cache_key",
        "service_tier",
        "truncation",
    ] {
        optional_text(fields, name)?;
    }
    check_metadata(fields)?;
    if let Some(effort) = part_of(fields, "reasoning", "effort")? {
        match ReasoningEffort::of_name(&effort) {
            Some(effort) => settings.parameters.reasoning_effort = Some(effort),
            // A level that only its server knows.
            None => _ = settings.extra.insert(EFFORT.to_owned(), json!(effort)),
        }
    }
    settings.answer_format = text_format(fields)?;
    Ok(settings)
}

fn count(fields: &Map<String, Value>, name: &str) -> Checked<Option<u64>> {
    match present(fields, name) {
        None => Ok(None),
        Some(value) => match value.as_u64() {
            Some(0) if name != "top_logprobs" => {
                wrong(&format!("`{name}`"), "a whole number above 0")
            }
            Some(number) => Ok(Some(number)),
            None => wrong(&format!("`{name}`"), "a whole number"),
        },
    }
}

fn check_metadata(fields: &Map<String, Value>) -> Checked<()> {
    let is_text = |value: &Value| value.is_string();
    match present(fields, "metadata") {
        None => Ok(()),
        Some(Value::Object(metadata)) if metadata.values().all(is_text) => Ok(()),
        Some(_) => wrong("`metadata`", "an object whose values are strings"),
    }
}

/// A string within an object.
fn part_of(fields: &Map<String, Value>, name: &str, part: &str) -> Checked<Option<String>> {
    match present(fields, name) {
        None => Ok(None),
        Some(Value::Object(parts)) => present(parts, part)
            .map(|value| text(value, &format!("`{name}.{part}`")).map(str::to_owned))
            .transpose(),
        Some(_) => wrong(&format!("`{name}`"), "an object"),
    }
}

/// The required format of the answer, in the form of Chat Completions; `None` for plain text.
fn text_format(fields: &Map<String, Value>) -> Checked<Option<Value>> {
    let format = match present(fields, "text") {
        None => return Ok(None),
        Some(Value::Object(text)) => match present(text, "format") {
            None => return Ok(None),
            Some(format) => format,
        },
        Some(_) => return wrong("`text`", "an object"),
    };
    match format.get("type").and_then(Value::as_str) {
        Some("text") => Ok(None),
        Some("json_object") => Ok(Some(json!({"type": "json_object"}))),
        Some("json_schema") => json_schema(format).map(Some),
        _ => wrong(
            "`text.format.type`",
            "\"text\", \"json_object\" or \"json_schema\"",
        ),
    }
}

fn json_schema(format: &Value) -> Checked<Value> {
    let mut schema = Map::new();
    match format.get("name").and_then(Value::as_str) {
        Some(name) if !name.is_empty() => schema.insert("name".to_owned(), json!(name)),
        _ => return wrong("`text.format.name`", "the name of the schema"),
    };
    match format.get("schema") {
        Some(Value::Object(_)) => {}
        _ => return wrong("`text.format.schema`", "a JSON Schema, an object"),
    }
    for name in ["schema", "description", "strict"] {
        if let Some(value) = format.get(name).filter(|value| !value.is_null()) {
            schema.insert(name.to_owned(), value.clone());
        }
    }
    Ok(json!({"type": "json_schema", "json_schema": schema}))
}
