//! Decodes Open WebUI's chat exports: a JSON array of chats, each with a tree of messages. The forms of all its
//! versions are supported; missing or malformed fields are ignored if possible.

mod details;
mod elements;
mod log;
mod message;
mod tree;

use domain::Role;
use serde::Deserialize;
use serde_json::{Map, Value};

pub use self::{
    elements::{Element, Elements},
    log::as_run,
    message::{Answer, Piece},
};
use crate::export::has_too_many_values;

/// A conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Chat {
    /// Its original id; empty if it has none.
    pub id: String,
    /// The title; may be empty.
    pub title: String,
    /// The creation time, milliseconds since 1970.
    pub created_at: i64,
    /// The time of the last change.
    pub updated_at: i64,
    /// Whether it is pinned.
    pub pinned: bool,
    /// Whether it is archived.
    pub archived: bool,
    /// Its tags. The export does not contain the name of its folder.
    pub tags: Vec<String>,
    /// Its messages, each after its parent.
    pub messages: Vec<Message>,
    /// The index of the last displayed one.
    pub current: Option<usize>,
    /// The number of attached files and remote pictures that the export does not contain.
    pub attachments_left: u64,
    /// The number of messages that could not be read, or have a role that is not supported here.
    pub messages_left: u64,
}

/// One of its messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its original id, unique in the chat.
    pub id: String,
    /// The index of its parent, which precedes it.
    pub parent: Option<usize>,
    /// The person, or an assistant.
    pub role: Role,
    /// The text, without other content of an assistant.
    pub text: String,
    /// Pictures as `data:image/…` URLs.
    pub pictures: Vec<String>,
    /// The time, milliseconds since 1970; not before its parent's.
    pub at: i64,
    /// The answering model.
    pub model: Option<String>,
    /// An assistant's content besides `text`; `None` if there is none.
    pub answer: Option<Answer>,
}

/// Maximum number of messages of a chat.
const MAX_MESSAGES: usize = 20_000;
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
    /// ChatGPT's messages.
    #[serde(default)]
    mapping: Value,
    /// Claude's messages.
    #[serde(default)]
    chat_messages: Value,
}

impl Row {
    /// The product that made the export, if it is recognized and not Open WebUI.
    fn other_product(&self) -> Option<&'static str> {
        match () {
            () if self.chat.is_object() => None,
            () if self.mapping.is_object() => Some("ChatGPT"),
            () if self.chat_messages.is_array() => Some("Claude"),
            () => None,
        }
    }
}

impl Chat {
    /// Decodes one element of the export.
    ///
    /// # Errors
    /// Why it cannot be read as a chat, without quoting its content.
    pub fn read(json: &[u8]) -> Result<Self, String> {
        if has_too_many_values(json) {
            return Err("It has too many values.".to_owned());
        }
        let row: Row =
            serde_json::from_slice(json).map_err(|_| "It is no chat of Open WebUI.".to_owned())?;
        if let Some(product) = row.other_product() {
            return Err(format!(
                "It is an export of {product}, which is not supported."
            ));
        }
        let id = text_of(&row.id);
        let outer_title = text_of(&row.title);
        let pinned = is_so(&row.pinned);
        let archived = is_so(&row.archived);
        let made = time(&row.created_at);
        let changed = time(&row.updated_at);
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
        let title = if outer_title.is_empty() {
            inner.get("title").map_or_else(String::new, text_of)
        } else {
            outer_title
        };
        let id = if id.is_empty() {
            inner.get("id").map_or_else(String::new, text_of)
        } else {
            id
        };
        let found = tree::Found::of(&inner).ok_or_else(|| "It has no messages.".to_owned())?;
        if found.len() > MAX_MESSAGES {
            return Err(format!("It has more than {MAX_MESSAGES} messages."));
        }
        let created_at = made
            .or_else(|| inner.get("timestamp").and_then(time))
            .unwrap_or(0);
        let model = inner
            .get("models")
            .and_then(|models| models.get(0))
            .map(text_of);
        let mut chat = Self {
            id,
            title,
            created_at,
            updated_at: changed.unwrap_or(created_at),
            pinned,
            archived,
            tags: tags_of(&row.meta, &inner),
            messages: Vec::new(),
            current: None,
            attachments_left: 0,
            messages_left: 0,
        };
        chat.take(&found, model.filter(|model| !model.is_empty()));
        Ok(chat)
    }

    fn take(&mut self, found: &tree::Found<'_>, model: Option<String>) {
        // The new index of each; skipped ones have that of their parent.
        let mut places: Vec<Option<usize>> = vec![None; found.len()];
        for (at, parent) in found.in_order() {
            let parent = parent.and_then(|parent| places[parent]);
            let read = message::read(found.id(at), found.value(at), &mut self.attachments_left);
            let Some(mut message) = read else {
                self.messages_left += 1;
                places[at] = parent;
                continue;
            };
            let earliest = parent.map_or(0, |parent| self.messages[parent].at);
            message.parent = parent;
            message.at = message.at.max(earliest);
            if message.role == Role::Assistant && message.model.is_none() {
                message.model.clone_from(&model);
            }
            places[at] = Some(self.messages.len());
            self.messages.push(message);
        }
        let shown = found.current().and_then(|at| places[at]);
        self.current = shown.or_else(|| self.messages.len().checked_sub(1));
        // Old ones have no times.
        if let Some(first) = self.messages.first() {
            self.created_at = if self.created_at == 0 {
                first.at
            } else {
                self.created_at
            };
            self.updated_at = self.updated_at.max(self.created_at);
        }
    }
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

/// Old versions use numbers.
fn is_so(value: &Value) -> bool {
    value
        .as_bool()
        .unwrap_or_else(|| value.as_i64().is_some_and(|number| number != 0))
}

/// A text, or an empty one.
fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A time in seconds, milliseconds, microseconds or nanoseconds since 1970, as milliseconds.
fn time(value: &Value) -> Option<i64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    let ms = match number {
        number if !(1.0..1e20).contains(&number) => return None,
        number if number < 1e11 => number * 1e3,
        number if number < 1e14 => number,
        number if number < 1e17 => number / 1e3,
        number => number / 1e6,
    };
    #[expect(clippy::cast_possible_truncation, reason = "it is below 1e14")]
    Some(ms as i64)
}

#[cfg(test)]
mod tests;
