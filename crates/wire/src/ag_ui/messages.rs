//! Converts AG-UI messages to a model's conversation, in which every call is followed by its result.

use std::collections::HashMap;

use domain::{Message, Part, Role, ToolCall};
use provider::media::is_base64;
use serde_json::{Map, Value};

use super::ids::is_of_sub_agent;
use crate::{
    conversation::{Checked, arguments, present, text, wrong},
    media,
};

/// The conversation. Reasoning, activities and sub-agents' messages are not part of it; calls without a result and
/// results without a call are left out, as model servers refuse them.
pub(super) fn conversation(sent: &[Value]) -> Checked<Vec<Message>> {
    let read: Vec<Message> = sent
        .iter()
        .enumerate()
        .filter_map(|(at, value)| message(value, &format!("messages[{at}]")).transpose())
        .collect::<Checked<_>>()?;
    let results: HashMap<String, Message> = read
        .iter()
        .filter_map(|message| Some((message.tool_call_id.clone()?, message.clone())))
        .collect();
    let mut paired = Vec::with_capacity(read.len());
    for mut message in read
        .into_iter()
        .filter(|message| message.role != Role::Tool)
    {
        message
            .tool_calls
            .retain(|call| results.contains_key(&call.id));
        if message.role == Role::Assistant
            && message.content.is_empty()
            && message.tool_calls.is_empty()
        {
            continue;
        }
        let answers: Vec<Message> = message
            .tool_calls
            .iter()
            .filter_map(|call| results.get(&call.id).cloned())
            .collect();
        paired.push(message);
        paired.extend(answers);
    }
    Ok(paired)
}

/// Only the results of tools, in the order they were sent.
pub(super) fn results(sent: &[Value]) -> Checked<Vec<Message>> {
    let is_result = |value: &&Value| value["role"] == "tool";
    sent.iter()
        .filter(is_result)
        .filter_map(|value| message(value, "messages").transpose())
        .collect()
}

fn message(value: &Value, at: &str) -> Checked<Option<Message>> {
    let Value::Object(fields) = value else {
        return wrong(&format!("`{at}`"), "an object");
    };
    let id = present(fields, "id")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if present(fields, "subagentRunId").is_some() || is_of_sub_agent(id) {
        return Ok(None);
    }
    let role = match fields.get("role").and_then(Value::as_str) {
        Some("developer" | "system") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool") => return tool_result(fields, at).map(Some),
        Some("reasoning" | "activity") => return Ok(None),
        _ => {
            let roles = "\"user\", \"assistant\", \"system\", \"developer\", \"tool\", \"reasoning\" or \"activity\"";
            return wrong(&format!("`{at}.role`"), roles);
        }
    };
    let content = content(fields.get("content"), at)?;
    if role != Role::Assistant && content.is_empty() {
        return Ok(None);
    }
    let tool_calls = tool_calls(present(fields, "toolCalls"), at)?;
    Ok(Some(Message {
        tool_calls,
        ..Message::of(role, content)
    }))
}

fn tool_result(fields: &Map<String, Value>, at: &str) -> Checked<Message> {
    let Some(call) = present(fields, "toolCallId") else {
        return wrong(&format!("`{at}.toolCallId`"), "a string");
    };
    let call = text(call, &format!("`{at}.toolCallId`"))?;
    let said = domain::message::plain_text(&content(fields.get("content"), at)?);
    Ok(Message::tool_result(
        call,
        match present(fields, "error").and_then(Value::as_str) {
            Some(error) => format!("Error: {error}"),
            None => said,
        },
    ))
}

fn content(value: Option<&Value>, at: &str) -> Checked<Vec<Part>> {
    let what = format!("`{at}.content`");
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(words)) if words.is_empty() => Ok(Vec::new()),
        Some(value @ Value::String(_)) => Ok(vec![Part::Text {
            text: text(value, &what)?.to_owned(),
        }]),
        Some(Value::Array(parts)) => {
            let mut read = Vec::with_capacity(parts.len());
            for value in parts {
                let part = part(value, &what)?;
                // CopilotKit sends a picture twice, in the old form and in the new one.
                if part.medium().is_none() || !read.contains(&part) {
                    read.push(part);
                }
            }
            Ok(read)
        }
        Some(_) => wrong(&what, "a string or a list of parts"),
    }
}

/// An unusable part does not fail the run: a note for the model replaces it.
fn part(value: &Value, what: &str) -> Checked<Part> {
    let kind = value["type"].as_str().unwrap_or("unknown");
    if kind == "text" {
        return Ok(Part::Text {
            text: text(&value["text"], what)?.to_owned(),
        });
    }
    if let Some(part) = medium(kind, value) {
        return Ok(part);
    }
    let name = value["filename"]
        .as_str()
        .or(value["metadata"]["filename"].as_str())
        .unwrap_or_default();
    Ok(media::left_out(kind, name))
}

/// The picture, sound or video, if the part is usable.
fn medium(kind: &str, value: &Value) -> Option<Part> {
    let (data, url, mime) = match kind {
        "image" | "audio" | "video" => {
            let source = &value["source"];
            let of_type = |kind: &str| {
                (source["type"] == kind)
                    .then(|| source["value"].as_str())
                    .flatten()
            };
            (of_type("data"), of_type("url"), source["mimeType"].as_str())
        }
        // The form before 0.0.46.
        "binary" => (
            value["data"].as_str(),
            value["url"].as_str(),
            value["mimeType"].as_str(),
        ),
        _ => return None,
    };
    let is_of_kind = |mime: &&str| kind == "binary" || mime.split('/').next() == Some(kind);
    let mime = mime
        .filter(|mime| media::is_media_type(mime))
        .filter(is_of_kind);
    if let (Some(data), Some(mime)) = (data.filter(|data| is_base64(data)), mime) {
        return media::part(mime, format!("data:{mime};base64,{data}"));
    }
    let family = match kind {
        "binary" => mime?.split('/').next()?,
        kind => kind,
    };
    let url = url.filter(|url| !url.contains('\0'))?;
    let is_address = ["https://", "http://"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
        || url.starts_with(&format!("data:{family}/"));
    media::part(family, url.to_owned()).filter(|_| is_address)
}

fn tool_calls(value: Option<&Value>, at: &str) -> Checked<Vec<ToolCall>> {
    let what = format!("`{at}.toolCalls`");
    let wanted = "a list of {id, type: \"function\", function: {name, arguments}}";
    let calls = match value {
        None => return Ok(Vec::new()),
        Some(Value::Array(calls)) => calls,
        Some(_) => return wrong(&what, wanted),
    };
    let field = |value: Option<&Value>| match value {
        Some(value) => text(value, &what).map(str::to_owned),
        None => wrong(&what, wanted),
    };
    let call = |call: &Value| {
        Ok(ToolCall {
            id: field(call.get("id"))?,
            name: field(call.pointer("/function/name"))?,
            arguments: arguments(call.pointer("/function/arguments"), &what)?,
        })
    };
    calls.iter().map(call).collect()
}
