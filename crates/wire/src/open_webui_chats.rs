//! Reads the chats that Open WebUI exports: a JSON array of them, each with a tree of messages. What its versions have
//! changed is read in all the forms; what is missing or has another type is passed over where that is possible.

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
    /// Its id there; empty where it has none.
    pub id: String,
    /// What it is called; may be empty.
    pub title: String,
    /// When it was made, milliseconds since 1970.
    pub created_at: i64,
    /// When it was last changed.
    pub updated_at: i64,
    /// Whether it stands above the others.
    pub pinned: bool,
    /// Whether it is put away.
    pub archived: bool,
    /// Its tags. Of the folder it is in, the file has no name.
    pub tags: Vec<String>,
    /// Its messages, each after the one that it follows.
    pub messages: Vec<Message>,
    /// The place of the one that is shown last.
    pub current: Option<usize>,
    /// How many attached files and foreign pictures are not in it.
    pub attachments_left: u64,
    /// How many messages could not be read, or are of a role that no message of a chat here has.
    pub messages_left: u64,
}

/// One of its messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its id there, unique in the chat.
    pub id: String,
    /// The place of the one that it follows, which is before it.
    pub parent: Option<usize>,
    /// The person, or an assistant.
    pub role: Role,
    /// What is said, without what an assistant did beside it.
    pub text: String,
    /// Pictures as `data:image/…` addresses.
    pub pictures: Vec<String>,
    /// When, milliseconds since 1970; not before the one that it follows.
    pub at: i64,
    /// The model that answers.
    pub model: Option<String>,
    /// What an assistant did beside saying `text`; nothing where nothing.
    pub answer: Option<Answer>,
}

/// Most messages of a chat.
const MOST_MESSAGES: usize = 20_000;
/// Of more tags these many are looked at.
const MOST_TAGS: usize = 100;

/// A chat as it stands in the file. What else it has is not asked for.
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
    /// As ChatGPT has its messages.
    #[serde(default)]
    mapping: Value,
    /// As Claude has them.
    #[serde(default)]
    chat_messages: Value,
}

impl Row {
    /// The product whose export it is, where that is known and none of Open WebUI.
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
    /// Reads one element of the export.
    ///
    /// # Errors
    /// Why it is no chat that can be read, in a few words that name none of its content.
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
        let (id, outer_title) = (text_of(&row.id), text_of(&row.title));
        let (pinned, archived) = (is_so(&row.pinned), is_so(&row.archived));
        let (made, changed) = (time(&row.created_at), time(&row.updated_at));
        // One chat by itself may come without what the list has around it.
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
        if found.len() > MOST_MESSAGES {
            return Err(format!("It has more than {MOST_MESSAGES} messages."));
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
        // Where each came to stand; those that were left stand where the one does that they follow.
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

/// Newer versions have the tags beside the chat, older ones in it.
fn tags_of(meta: &Value, inner: &Map<String, Value>) -> Vec<String> {
    let found = meta
        .get("tags")
        .or_else(|| inner.get("tags"))
        .and_then(Value::as_array);
    let tags = found.into_iter().flatten().take(MOST_TAGS);
    // As ids of tags they have lines for blanks.
    tags.filter_map(Value::as_str)
        .map(|tag| tag.replace('_', " "))
        .collect()
}

/// Old ones have numbers.
fn is_so(value: &Value) -> bool {
    value
        .as_bool()
        .unwrap_or_else(|| value.as_i64().is_some_and(|number| number != 0))
}

/// A text, or nothing where it is something else.
fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A time in whatever unit it is: seconds, milliseconds, microseconds or nanoseconds since 1970. As milliseconds.
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
