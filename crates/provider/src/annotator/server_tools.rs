//! Tools that run at the provider, read from its content blocks.

use serde_json::{Map, Value, json};

use crate::pictures::{IMAGE_GENERATION, picture_places};

/// Maximum length of a displayed input or result, bytes.
const MAX_BYTES: usize = 16 << 10;

/// Progress of a tool that the provider runs.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerTool {
    /// It was called.
    Started {
        /// The provider's id of the call; empty if it has none.
        id: String,
        /// The tool's name.
        name: String,
        /// Its input.
        input: Value,
    },
    /// It has finished.
    Finished {
        /// The provider's id of the call; empty if it has none: then it is the last one.
        id: String,
        /// The result or the error.
        result: String,
        /// Whether it failed.
        error: bool,
    },
}

/// The server-side tool calls in a provider-specific block. Generated pictures are calls of [`IMAGE_GENERATION`].
#[must_use]
pub fn of_block(data: &Value) -> Vec<ServerTool> {
    let kind = data["type"].as_str().unwrap_or_default();
    let content = || data.get("content").unwrap_or(&Value::Null);
    match kind {
        "server_tool_use" | "mcp_tool_use" => {
            vec![started(&data["id"], text(&data["name"]), &data["input"])]
        }
        kind if kind.ends_with("_tool_result") => {
            vec![finished(
                &data["tool_use_id"],
                content(),
                data["is_error"] == true,
            )]
        }
        kind if kind.ends_with("_call") && kind != "function_call" => of_item(kind, data),
        _ if data["toolUse"].is_object() => {
            let call = &data["toolUse"];
            vec![started(
                &call["toolUseId"],
                text(&call["name"]),
                &call["input"],
            )]
        }
        _ if data["toolResult"].is_object() => {
            let result = &data["toolResult"];
            vec![finished(
                &result["toolUseId"],
                &result["content"],
                result["status"] == "error",
            )]
        }
        "" if !picture_places(data).is_empty() => {
            vec![
                started(&Value::Null, IMAGE_GENERATION, &Value::Null),
                finished(&Value::Null, &Value::Null, false),
            ]
        }
        _ => of_part(&data["part"]),
    }
}

/// An item of the Responses API, which contains call and result.
fn of_item(kind: &str, item: &Value) -> Vec<ServerTool> {
    let name = match kind {
        "mcp_call" => text(&item["name"]),
        kind => kind.trim_end_matches("_call"),
    };
    let input = match kind {
        "mcp_call" => domain::message::arguments_value(text(&item["arguments"])),
        _ => fields(item, &["action", "queries", "code", "revised_prompt"]),
    };
    let result = fields(item, &["results", "outputs", "output", "error"]);
    let failed = item["status"] == "failed" || !item["error"].is_null();
    vec![
        started(&item["id"], name, &input),
        finished(&item["id"], &result, failed),
    ]
}

/// A part of Gemini's.
fn of_part(part: &Value) -> Vec<ServerTool> {
    let code = &part["executableCode"];
    let result = &part["codeExecutionResult"];
    let call = &part["toolCall"];
    let response = &part["toolResponse"];
    if code.is_object() {
        vec![started(
            &code["id"],
            "code_execution",
            &fields(code, &["code", "language"]),
        )]
    } else if result.is_object() {
        let failed = result["outcome"]
            .as_str()
            .is_some_and(|outcome| outcome != "OUTCOME_OK");
        vec![finished(&result["id"], &result["output"], failed)]
    } else if call.is_object() {
        let name = text(&call["toolType"]).to_lowercase();
        vec![started(&call["id"], &name, &call["args"])]
    } else if response.is_object() {
        vec![finished(&response["id"], &response["response"], false)]
    } else {
        Vec::new()
    }
}

fn started(id: &Value, name: &str, input: &Value) -> ServerTool {
    let name: String = name
        .chars()
        .filter(|letter| !letter.is_control())
        .take(100)
        .collect();
    let name = if name.is_empty() {
        "server_tool".to_owned()
    } else {
        name
    };
    let input = match readable(input) {
        input if input.to_string().len() <= MAX_BYTES => input,
        long => json!({ "input": cut(long.to_string()) }),
    };
    ServerTool::Started {
        id: text(id).to_owned(),
        name,
        input,
    }
}

fn finished(id: &Value, result: &Value, error: bool) -> ServerTool {
    let error = error || text(&result["type"]).ends_with("_error");
    ServerTool::Finished {
        id: text(id).to_owned(),
        result: cut(shown(&readable(result))),
        error,
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The object reduced to these fields, without empty ones.
fn fields(value: &Value, names: &[&str]) -> Value {
    let known = names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), value.get(*name)?.clone())));
    let known: Map<String, Value> = known.filter(|(_, value)| !value.is_null()).collect();
    if known.is_empty() {
        Value::Null
    } else {
        Value::Object(known)
    }
}

/// Without encrypted content and the bytes of images.
fn readable(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields
                .iter()
                .filter(|(name, value)| !name.starts_with("encrypted_") && !is_bytes(value));
            Value::Object(
                kept.map(|(name, value)| (name.clone(), readable(value)))
                    .collect(),
            )
        }
        Value::Array(list) => list.iter().map(readable).collect(),
        value => value.clone(),
    }
}

fn is_bytes(value: &Value) -> bool {
    let is_base64 =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
    value.as_str().is_some_and(|text| {
        text.starts_with("data:") || (text.len() > 500 && text.bytes().all(is_base64))
    })
}

/// Text unchanged, a list of texts as lines, and other values as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(shown).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => match (
            fields.get("title").or(fields.get("text")),
            fields.get("url"),
        ) {
            (Some(Value::String(title)), Some(Value::String(url))) => format!("{title} — {url}"),
            (Some(Value::String(text)), None) => text.clone(),
            _ => serde_json::to_string_pretty(value).unwrap_or_default(),
        },
        value => value.to_string(),
    }
}

fn cut(mut text: String) -> String {
    if text.len() > MAX_BYTES {
        text.truncate(text.floor_char_boundary(MAX_BYTES));
        text.push('…');
    }
    text
}
