//! Chats of Open WebUI: a tree of messages, or a list in old versions.

mod details;
mod message;
mod tree;

use domain::Role;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    Chat, MAX_MESSAGES, Product, Skipped, Unreadable,
    fields::{is_so, text_of, time},
};

/// Maximum number of tags that are read.
const MAX_TAGS: usize = 100;

/// A chat as exported. Other fields are ignored.
#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    title: Value,
    #[serde(default)]
    chat: Value,
    #[serde(default)]
    created_at: Value,
    #[serde(default)]
    updated_at: Value,
    #[serde(default)]
    pinned: Value,
    #[serde(default)]
    archived: Value,
    #[serde(default)]
    meta: Value,
    #[serde(default)]
    history: Value,
    #[serde(default)]
    messages: Value,
    #[serde(default)]
    models: Value,
    #[serde(default)]
    timestamp: Value,
}

/// Decodes a chat.
pub(super) fn read(json: &[u8]) -> Result<Chat, Unreadable> {
    let row: Row = serde_json::from_slice(json).map_err(|_| Unreadable::NotAChat)?;
    let is_chat = row.chat.is_object();
    // A single chat may come without the fields around it.
    let inner = match row.chat {
        Value::Object(inner) => inner,
        _ => Map::from_iter([
            ("history".to_owned(), row.history),
            ("messages".to_owned(), row.messages),
            ("models".to_owned(), row.models),
            ("timestamp".to_owned(), row.timestamp),
        ]),
    };
    let named = |outer: &Value, name: &str| match text_of(outer) {
        text if text.is_empty() => inner.get(name).map_or_else(String::new, text_of),
        text => text,
    };
    let found = tree::Found::of(&inner).ok_or(match is_chat {
        true => Unreadable::NoMessages,
        false => Unreadable::NotAChat,
    })?;
    if found.len() > MAX_MESSAGES {
        return Err(Unreadable::TooManyMessages);
    }
    let made = time(&row.created_at).or_else(|| inner.get("timestamp").and_then(time));
    let model = inner.get("models").and_then(|models| models.get(0));
    let model = model.map(text_of).filter(|model| !model.is_empty());
    let mut chat = Chat {
        created_at: made.unwrap_or(0),
        updated_at: time(&row.updated_at).or(made).unwrap_or(0),
        pinned: is_so(&row.pinned),
        archived: is_so(&row.archived),
        tags: tags_of(&row.meta, &inner),
        ..Chat::new(
            Product::OpenWebUi,
            named(&row.id, "id"),
            named(&row.title, "title"),
        )
    };
    take(&mut chat, &found, model.as_ref());
    Ok(chat)
}

fn take(chat: &mut Chat, found: &tree::Found<'_>, model: Option<&String>) {
    // The new index of each; skipped ones have that of their parent.
    let mut places: Vec<Option<usize>> = vec![None; found.len()];
    for (at, parent) in found.in_order() {
        let parent = parent.and_then(|parent| places[parent]);
        let Some(mut message) = message::read(found.value(at), chat) else {
            chat.skip(Skipped::Message);
            places[at] = parent;
            continue;
        };
        if message.role == Role::Assistant && message.model.is_none() {
            message.model = model.cloned();
        }
        places[at] = Some(chat.add(message, parent));
    }
    chat.finish(found.current().and_then(|at| places[at]));
}

/// Newer versions have the tags next to the chat, older ones in it.
fn tags_of(meta: &Value, inner: &Map<String, Value>) -> Vec<String> {
    let found = meta
        .get("tags")
        .or_else(|| inner.get("tags"))
        .and_then(Value::as_array);
    let tags = found.into_iter().flatten().take(MAX_TAGS);
    // Tag ids have underscores for spaces.
    tags.filter_map(Value::as_str)
        .map(|tag| tag.replace('_', " "))
        .collect()
}

#[cfg(test)]
mod tests;
