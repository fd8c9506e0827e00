//! Chats of Claude: a list of messages, each with its parent in newer exports, and content in blocks.

use std::collections::{HashMap, HashSet};

use domain::Role;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    Chat, MAX_MESSAGES, Message, Product, Skipped, TextFile, Unreadable,
    answer::{Answer, MAX_PICTURES, NAME_CHARS, Piece},
    fields::{is_so, list_at, milliseconds_between, short, text_at, text_of, time},
    tree::in_order,
};

/// The parent of first messages.
const NO_PARENT: &str = "00000000-0000-4000-8000-000000000000";

/// A chat as exported. Other fields are ignored.
#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    uuid: Value,
    #[serde(default)]
    name: Value,
    #[serde(default)]
    created_at: Value,
    #[serde(default)]
    updated_at: Value,
    #[serde(default)]
    is_starred: Value,
    #[serde(default)]
    model: Value,
    #[serde(default)]
    current_leaf_message_uuid: Value,
    chat_messages: Vec<Value>,
}

/// Decodes a chat.
pub(super) fn read(json: &[u8]) -> Result<Chat, Unreadable> {
    let row: Row = serde_json::from_slice(json).map_err(|_| Unreadable::NotAChat)?;
    match row.chat_messages.len() {
        0 => return Err(Unreadable::NoMessages),
        count if count > MAX_MESSAGES => return Err(Unreadable::TooManyMessages),
        _ => {}
    }
    let made = time(&row.created_at);
    let mut chat = Chat {
        created_at: made.unwrap_or(0),
        updated_at: time(&row.updated_at).or(made).unwrap_or(0),
        pinned: is_so(&row.is_starred),
        ..Chat::new(Product::Claude, text_of(&row.uuid), text_of(&row.name))
    };
    let ids = row.chat_messages.iter().enumerate();
    let ids: HashMap<&str, usize> = ids.map(|(at, it)| (text_at(it, "uuid"), at)).collect();
    let parents: Vec<Option<usize>> = row
        .chat_messages
        .iter()
        .enumerate()
        .map(|(at, message)| parent(message, at, &ids))
        .collect();
    let mut places: Vec<Option<usize>> = vec![None; parents.len()];
    for (at, parent) in in_order(&parents) {
        let parent = parent.and_then(|parent| places[parent]);
        let read = message(&row.chat_messages[at], row.model.as_str(), &mut chat);
        places[at] = match read {
            Some(message) => Some(chat.add(message, parent)),
            None => parent,
        };
    }
    if chat.messages.is_empty() {
        return Err(Unreadable::NoMessages);
    }
    let current = row.current_leaf_message_uuid.as_str();
    let current = current.and_then(|id| places[*ids.get(id)?]);
    // The list is in the order of time.
    let last = places.last().copied().flatten();
    chat.finish(current.or(last));
    Ok(chat)
}

/// The index of a message's parent. Messages without the field follow each other.
fn parent(message: &Value, at: usize, ids: &HashMap<&str, usize>) -> Option<usize> {
    match message.get("parent_message_uuid") {
        None => at.checked_sub(1),
        Some(Value::String(id)) if id != NO_PARENT => {
            ids.get(id.as_str()).copied().or_else(|| at.checked_sub(1))
        }
        Some(_) => None,
    }
}

/// Decodes a message; `None` if it has no content or is of another role.
fn message(value: &Value, model: Option<&str>, chat: &mut Chat) -> Option<Message> {
    let role = match text_at(value, "sender") {
        "human" => Role::User,
        "assistant" => Role::Assistant,
        _ => {
            chat.skip(Skipped::Message);
            return None;
        }
    };
    let at = value.get("created_at").and_then(time).unwrap_or(0);
    let mut message = Message::new(role, at);
    let mut answer = Answer::default();
    for block in list_at(value, "content") {
        add_block(block, &mut answer, chat);
    }
    let has_text = |piece: &Piece| matches!(piece, Piece::Text(_));
    if !answer.pieces.iter().any(has_text) {
        // Older exports have nothing else. In newer ones it can be a remark that blocks are not supported.
        let text = text_at(value, "text");
        let is_remark = !answer.pieces.is_empty() && text.contains("This block is not supported");
        if !is_remark {
            answer.add(Piece::Text(text.to_owned()));
        }
    }
    attach(value, &mut message, chat);
    match role {
        Role::Assistant => {
            let model = value.get("model").and_then(Value::as_str).or(model);
            message.model = model.map(|model| short(model, NAME_CHARS));
            message.set_answer(answer);
        }
        _ => message.text = answer.said(),
    }
    (!message.is_empty()).then_some(message)
}

/// Adds the attachments whose text was extracted. Of other files the export has only the name.
fn attach(value: &Value, message: &mut Message, chat: &mut Chat) {
    let mut missing: Vec<&str> = Vec::new();
    for attachment in list_at(value, "attachments") {
        let name = text_at(attachment, "file_name");
        let text = text_at(attachment, "extracted_content");
        if text.is_empty() {
            missing.push(name);
        } else if message.texts.len() == MAX_PICTURES {
            chat.skip(Skipped::File);
        } else {
            message.texts.push(TextFile {
                name: name.to_owned(),
                text: text.to_owned(),
            });
        }
    }
    // Newer exports have attachments among the files, too.
    let texts = message.texts.iter().map(|it| it.name.as_str());
    let known: HashSet<&str> = missing.iter().copied().chain(texts).collect();
    for file in list_at(value, "files") {
        let name = text_at(file, "file_name");
        if name.is_empty() || !known.contains(name) {
            missing.push(name);
        }
    }
    missing.iter().for_each(|_| chat.skip(Skipped::File));
}

fn add_block(block: &Value, answer: &mut Answer, chat: &mut Chat) {
    let of = |name: &str| text_at(block, name);
    let is_added = match of("type") {
        "text" => {
            for citation in list_at(block, "citations") {
                let details = &citation["details"];
                answer.cite(text_at(details, "title"), text_at(details, "url"), None);
            }
            answer.add(Piece::Text(of("text").to_owned()))
        }
        "thinking" => {
            let text = match of("thinking") {
                "" => {
                    let summaries = list_at(block, "summaries").iter();
                    let summaries = summaries.map(|it| text_at(it, "summary"));
                    summaries.collect::<Vec<_>>().join("\n\n")
                }
                text => text.to_owned(),
            };
            let duration_ms =
                milliseconds_between(&block["start_timestamp"], &block["stop_timestamp"]);
            text.is_empty() || answer.add(Piece::Reasoning { text, duration_ms })
        }
        "tool_use" => {
            let arguments = match block.get("input") {
                Some(Value::Null) | None => Value::Object(Map::new()),
                Some(input) => input.clone(),
            };
            let name = match of("name") {
                "" => "tool",
                name => name,
            };
            answer.add(Piece::call(name, arguments, None))
        }
        "tool_result" => {
            let text = result(block, answer, chat);
            answer.add_result(of("name"), text)
        }
        "voice_note" => answer.add(Piece::Text(of("text").to_owned())),
        // The remaining token budget, and encrypted reasoning.
        "token_budget" | "flag" | "redacted_thinking" => true,
        "image" | "document" | "file" => {
            chat.skip(Skipped::File);
            true
        }
        kind => {
            chat.skip(Skipped::Content(short(kind, 60)));
            true
        }
    };
    if !is_added {
        chat.skip(Skipped::Steps);
    }
}

/// The text of a tool's result. The pages in it become sources.
fn result(block: &Value, answer: &mut Answer, chat: &mut Chat) -> String {
    let mut texts = Vec::new();
    if let Some(text) = block["content"].as_str() {
        texts.push(text.to_owned());
    }
    for part in list_at(block, "content") {
        let of = |name: &str| text_at(part, name);
        match of("type") {
            "text" => texts.push(of("text").to_owned()),
            "knowledge" => {
                answer.cite(of("title"), of("url"), Some(of("text")));
                let lines = [of("title"), of("url"), of("text")];
                texts.push(
                    lines
                        .into_iter()
                        .filter(|it| !it.is_empty())
                        .collect::<Vec<_>>()
                        .join("\n"),
                );
            }
            "local_resource" => {
                let name = [of("name"), of("file_path")];
                texts.extend(
                    name.into_iter()
                        .find(|it| !it.is_empty())
                        .map(str::to_owned),
                );
                chat.skip(Skipped::File);
            }
            "image" | "image_gallery" => chat.skip(Skipped::File),
            _ if !of("text").is_empty() => texts.push(of("text").to_owned()),
            kind => chat.skip(Skipped::Content(short(kind, 60))),
        }
    }
    let text = texts.join("\n\n");
    match block.get("is_error").is_some_and(is_so) {
        true => format!("Error: {text}"),
        false => text,
    }
}

#[cfg(test)]
mod tests;
