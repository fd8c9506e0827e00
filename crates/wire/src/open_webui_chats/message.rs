//! Decodes one message: its role, its content, and an assistant's reasoning, calls and sources.

use domain::{Role, TokenCount, Usage, event::Source, message::arguments_value};
use serde_json::{Map, Value};

use super::{Message, details, text_of, time};

/// Maximum number of sources and steps of an answer.
const MAX_SOURCES: usize = 200;
const MAX_PIECES: usize = 2_000;
/// Maximum number of pictures of a message.
const MAX_PICTURES: usize = 40;
/// Maximum length of an error message, and of the name of a model or tool, characters.
const FAULT_CHARS: usize = 500;
const NAME_CHARS: usize = 200;

/// An assistant's answer with all its pieces in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// Reasoning, calls and texts.
    pub pieces: Vec<Piece>,
    /// Its sources.
    pub sources: Vec<Source>,
    /// Token usage, if known.
    pub usage: Option<Usage>,
    /// The error, if there was one.
    pub fault: Option<String>,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Text.
    Text(String),
    /// Reasoning.
    Reasoning {
        /// The complete text.
        text: String,
        /// Its duration, milliseconds.
        duration_ms: u64,
    },
    /// A tool call.
    Call {
        /// Its name.
        name: String,
        /// Its arguments.
        arguments: Value,
        /// Its result; `None` if unknown.
        result: Option<String>,
    },
}

/// Decodes a message; `None` if it is neither a user's nor an assistant's.
pub(super) fn read(id: &str, value: &Value, attachments_left: &mut u64) -> Option<Message> {
    let value = value.as_object()?;
    let role = match value.get("role").and_then(Value::as_str)? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    };
    let (mut text, mut pictures) = content(value.get("content"), attachments_left);
    attached(value.get("files"), &mut pictures, attachments_left);
    let at = value.get("timestamp").and_then(time).unwrap_or(0);
    let named = |name: &str| value.get(name).map(text_of).filter(|name| !name.is_empty());
    let mut model = None;
    let mut answer = None;
    if role == Role::Assistant {
        model = named("model")
            .or_else(|| named("modelName"))
            .map(|name| short(&name, NAME_CHARS));
        let done = answer_of(value, &text);
        text = done.said();
        answer = done.is_worth_a_log().then_some(done);
    }
    Some(Message {
        id: id.to_owned(),
        parent: None,
        role,
        text,
        pictures,
        at,
        model,
        answer,
    })
}

/// The texts and pictures of a content, which is a text or a list of parts.
fn content(content: Option<&Value>, attachments_left: &mut u64) -> (String, Vec<String>) {
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
                    keep_picture(url, &mut pictures, attachments_left);
                }
            }
        }
        _ => {}
    }
    (texts.join("\n"), pictures)
}

fn attached(files: Option<&Value>, pictures: &mut Vec<String>, attachments_left: &mut u64) {
    for file in files.and_then(Value::as_array).into_iter().flatten() {
        let url = file.get("url").and_then(Value::as_str).unwrap_or_default();
        keep_picture(url, pictures, attachments_left);
    }
}

/// Only data in the export itself is imported.
fn keep_picture(url: &str, pictures: &mut Vec<String>, attachments_left: &mut u64) {
    if pictures.iter().any(|known| known == url) {
        return;
    }
    if url.starts_with("data:image/") && pictures.len() < MAX_PICTURES {
        pictures.push(url.to_owned());
    } else {
        *attachments_left += 1;
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
    Answer {
        pieces,
        sources: sources.map_or_else(Vec::new, sources_of),
        usage: usage.and_then(usage_of),
        fault,
    }
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

/// Seconds as milliseconds; 0 if invalid.
pub(super) fn milliseconds(seconds: Option<f64>) -> u64 {
    let seconds = seconds
        .filter(|seconds| (0.0..1e9).contains(seconds))
        .unwrap_or(0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is between 0 and 1e12"
    )]
    let ms = (seconds * 1e3) as u64;
    ms
}

/// Token usage in the forms of many servers.
fn usage_of(usage: &Value) -> Option<Usage> {
    let count = |names: [&str; 3]| {
        let number = |name: &&str| usage.get(*name).and_then(Value::as_f64);
        let tokens = names
            .iter()
            .find_map(number)
            .filter(|tokens| *tokens >= 0.0)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "casts saturate"
        )]
        let tokens = tokens as u64;
        Some(tokens.min(TokenCount::MAX.get()))
    };
    let input = count(["prompt_tokens", "input_tokens", "prompt_eval_count"]);
    let output = count(["completion_tokens", "output_tokens", "eval_count"]);
    if input.is_none() && output.is_none() {
        return None;
    }
    Some(Usage::of(input.unwrap_or(0), output.unwrap_or(0)))
}

/// The sources of an answer, with the retrieved text of each.
fn sources_of(sources: &Value) -> Vec<Source> {
    let mut found: Vec<Source> = Vec::new();
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
        let is_address = |text: &&str| text.starts_with("https://") || text.starts_with("http://");
        let url = addresses
            .into_iter()
            .flatten()
            .find(is_address)
            .unwrap_or_default()
            .to_owned();
        let title = of("name")
            .or_else(|| of("title"))
            .unwrap_or(&url)
            .to_owned();
        if (title.is_empty() && url.is_empty()) || found.len() == MAX_SOURCES {
            continue;
        }
        let quote = first("document")
            .and_then(Value::as_str)
            .map(|text| short(text, FAULT_CHARS));
        let id = (found.len() + 1).to_string();
        found.push(Source::new(id, short(&title, NAME_CHARS), url, quote));
    }
    found
}

fn short(text: &str, max_chars: usize) -> String {
    text.chars().take(max_chars).collect()
}

impl Answer {
    /// Its texts, as a chat shows them.
    fn said(&self) -> String {
        let texts = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// Whether it has more than text.
    fn is_worth_a_log(&self) -> bool {
        !self.sources.is_empty()
            || self.usage.is_some()
            || self.fault.is_some()
            || self
                .pieces
                .iter()
                .any(|piece| !matches!(piece, Piece::Text(_)))
    }
}
