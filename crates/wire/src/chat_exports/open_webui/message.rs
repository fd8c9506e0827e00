//! Decodes one message: its role, its content, and an assistant's reasoning, calls and sources.

use domain::{Role, message::arguments_value};
use serde_json::{Map, Value};

use super::{
    super::{
        Chat, Message, Skipped,
        answer::{
            Answer, FAULT_CHARS, MAX_PICTURES, MAX_PIECES, NAME_CHARS, Piece, is_web_address,
            usage_of,
        },
        fields::{milliseconds, short, text_of, time},
    },
    details,
};

/// Decodes a message; `None` if it is neither a user's nor an assistant's.
pub(super) fn read(value: &Value, chat: &mut Chat) -> Option<Message> {
    let value = value.as_object()?;
    let role = match value.get("role").and_then(Value::as_str)? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    };
    let at = value.get("timestamp").and_then(time).unwrap_or(0);
    let mut message = Message::new(role, at);
    (message.text, message.pictures) = content(value.get("content"), chat);
    attached(value.get("files"), &mut message.pictures, chat);
    let named = |name: &str| value.get(name).map(text_of).filter(|name| !name.is_empty());
    if role == Role::Assistant {
        message.model = named("model")
            .or_else(|| named("modelName"))
            .map(|name| short(&name, NAME_CHARS));
        let answer = answer_of(value, &message.text);
        message.set_answer(answer);
    }
    Some(message)
}

/// The texts and pictures of a content, which is a text or a list of parts.
fn content(content: Option<&Value>, chat: &mut Chat) -> (String, Vec<String>) {
    let mut texts = Vec::new();
    let mut pictures = Vec::new();
    match content {
        Some(Value::String(text)) => texts.push(text.as_str()),
        Some(Value::Array(parts)) => {
            for part in parts {
                if let Some(text) = part.get("text").and_then(Value::as_str) {
                    texts.push(text);
                } else if let Some(url) = part.get("image_url") {
                    let url = url.get("url").unwrap_or(url).as_str().unwrap_or_default();
                    keep_picture(url, &mut pictures, chat);
                }
            }
        }
        _ => {}
    }
    (texts.join("\n"), pictures)
}

fn attached(files: Option<&Value>, pictures: &mut Vec<String>, chat: &mut Chat) {
    for file in files.and_then(Value::as_array).into_iter().flatten() {
        let url = file.get("url").and_then(Value::as_str).unwrap_or_default();
        keep_picture(url, pictures, chat);
    }
}

/// Only data in the export itself is imported.
fn keep_picture(url: &str, pictures: &mut Vec<String>, chat: &mut Chat) {
    if pictures.iter().any(|known| known == url) {
        return;
    }
    if url.starts_with("data:image/") && pictures.len() < MAX_PICTURES {
        pictures.push(url.to_owned());
    } else {
        chat.skip(Skipped::File);
    }
}

fn answer_of(message: &Map<String, Value>, text: &str) -> Answer {
    let output = message
        .get("output")
        .and_then(Value::as_array)
        .filter(|output| !output.is_empty());
    let mut pieces = match output {
        Some(output) => of_output(output),
        None => Vec::new(),
    };
    // The structured output of newer versions may lack the text.
    if !pieces.iter().any(|piece| matches!(piece, Piece::Text(_))) {
        pieces.extend(details::pieces(text));
    }
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.trim().is_empty()));
    pieces.truncate(MAX_PIECES);
    let usage = message
        .get("usage")
        .or_else(|| message.get("info")?.get("usage"))
        .or_else(|| message.get("info"));
    let fault = match message.get("error") {
        None | Some(Value::Null | Value::Bool(false)) => None,
        Some(Value::Bool(true)) => Some("The answer failed.".to_owned()),
        Some(error) => {
            let content = error.get("content").unwrap_or(error);
            let words = content
                .as_str()
                .map_or_else(|| content.to_string(), str::to_owned);
            Some(short(&words, FAULT_CHARS))
        }
    };
    let sources = message.get("sources").or_else(|| message.get("citations"));
    let mut answer = Answer {
        pieces,
        sources: Vec::new(),
        usage: usage.and_then(usage_of),
        fault,
    };
    if let Some(sources) = sources {
        add_sources(sources, &mut answer);
    }
    answer
}

/// The items of newer versions.
fn of_output(output: &[Value]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    // The index of the call with each id.
    let mut calls: Vec<(&str, usize)> = Vec::new();
    for item in output.iter().take(MAX_PIECES) {
        let texts = |name: &str| joined(item.get(name));
        match item.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message" => pieces.push(Piece::Text(texts("content"))),
            "reasoning" => {
                let said = texts("content");
                let summary = texts("summary");
                let text = if said.is_empty() { summary } else { said };
                let seconds = item.get("duration").and_then(Value::as_f64);
                pieces.push(Piece::Reasoning {
                    text,
                    duration_ms: milliseconds(seconds),
                });
            }
            "function_call" => {
                if let Some(id) = item.get("call_id").and_then(Value::as_str) {
                    calls.push((id, pieces.len()));
                }
                let name = short(
                    item.get("name").and_then(Value::as_str).unwrap_or("tool"),
                    NAME_CHARS,
                );
                let arguments = match item.get("arguments") {
                    Some(Value::String(raw)) => arguments_value(raw),
                    Some(value) => value.clone(),
                    None => Value::Object(Map::new()),
                };
                pieces.push(Piece::Call {
                    name,
                    arguments,
                    result: None,
                });
            }
            "function_call_output" => {
                let id = item
                    .get("call_id")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let call = calls
                    .iter()
                    .rev()
                    .find(|(known, _)| *known == id)
                    .map(|(_, at)| *at);
                if let Some(Piece::Call { result, .. }) = call.and_then(|at| pieces.get_mut(at)) {
                    *result = Some(texts("output"));
                }
            }
            "open_webui:code_interpreter" => {
                let code = item.get("code").map(text_of).unwrap_or_default();
                let result = match item.get("output") {
                    None | Some(Value::Null) => None,
                    Some(Value::String(text)) => Some(text.clone()),
                    Some(output) => Some(output.to_string()),
                };
                let arguments =
                    Value::Object(Map::from_iter([("code".to_owned(), Value::String(code))]));
                pieces.push(Piece::Call {
                    name: "code_interpreter".to_owned(),
                    arguments,
                    result,
                });
            }
            _ => {}
        }
    }
    pieces
}

/// A text, or the texts of a list of parts.
fn joined(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts
                .iter()
                .filter_map(|part| part.get("text").unwrap_or(part).as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Adds the sources of an answer, with the retrieved text of each.
fn add_sources(sources: &Value, answer: &mut Answer) {
    for cited in sources.as_array().into_iter().flatten() {
        let source = cited.get("source").unwrap_or(cited);
        let first = |list: &str| cited.get(list).and_then(|list| list.get(0));
        let metadata = first("metadata");
        let of = |name: &str| {
            source
                .get(name)
                .or_else(|| metadata?.get(name))
                .and_then(Value::as_str)
        };
        let addresses = [
            of("url"),
            metadata.and_then(|it| it.get("source")?.as_str()),
            of("id"),
            of("name"),
        ];
        let url = addresses
            .into_iter()
            .flatten()
            .find(|text| is_web_address(text))
            .unwrap_or_default();
        let title = of("name").or_else(|| of("title")).unwrap_or_default();
        let quote = first("document").and_then(Value::as_str);
        answer.cite(title, url, quote);
    }
}
