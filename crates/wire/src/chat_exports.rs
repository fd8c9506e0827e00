//! Decodes chats that other products export: Open WebUI, ChatGPT, Claude and LibreChat. The product of a chat is
//! recognized by its fields; missing or malformed fields are ignored if possible.

mod answer;
mod chatgpt;
mod claude;
mod elements;
mod fields;
mod librechat;
mod log;
mod open_webui;
mod tree;

use std::collections::BTreeMap;

use domain::Role;
use serde::Deserialize;
use serde_json::value::RawValue;

pub use self::{
    answer::{Answer, Piece},
    elements::{Element, Elements},
    log::as_run,
};
use crate::export::has_too_many_values;

/// Maximum number of messages of a chat, and of nodes that they are made from.
pub const MAX_MESSAGES: usize = 20_000;

/// The product that exported a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// Open WebUI.
    OpenWebUi,
    /// ChatGPT.
    ChatGpt,
    /// Claude.
    Claude,
    /// LibreChat.
    LibreChat,
}

/// A conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Chat {
    /// The product that exported it.
    pub product: Product,
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
    /// Its tags. No export contains the name of a folder.
    pub tags: Vec<String>,
    /// Its messages, each after its parent.
    pub messages: Vec<Message>,
    /// The index of the last displayed one.
    pub current: Option<usize>,
    /// What was skipped, with how often.
    pub skipped: BTreeMap<Skipped, u64>,
}

/// One of its messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The index of its parent, which precedes it.
    pub parent: Option<usize>,
    /// The person, or an assistant.
    pub role: Role,
    /// The text, without other content of an assistant.
    pub text: String,
    /// Pictures as `data:image/…` URLs.
    pub pictures: Vec<String>,
    /// Files that the export has beside its chats.
    pub assets: Vec<Asset>,
    /// Files whose text the chat contains.
    pub texts: Vec<TextFile>,
    /// The time, milliseconds since 1970; not before its parent's.
    pub at: i64,
    /// The answering model.
    pub model: Option<String>,
    /// An assistant's content besides `text`; `None` if there is none.
    pub answer: Option<Answer>,
}

/// A file in the archive of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// Its id, with which the names of its entries begin.
    pub id: String,
    /// The name that the person gave it; empty if unknown.
    pub name: String,
}

/// The text of an attached file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// Its original name; empty for a pasted text.
    pub name: String,
    /// The text that the product extracted from it.
    pub text: String,
}

/// Something in a chat that is not imported.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skipped {
    /// A file of which the export has only the name.
    File,
    /// A message that could not be read, or of a role that is not supported here.
    Message,
    /// Instructions to the model, or a message that the product did not show.
    Hidden,
    /// A sound or video recording.
    Recording,
    /// Content of this kind.
    Content(String),
    /// A step of an answer that has too many.
    Steps,
}

/// Why a chat cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is not a chat of a known product.
    #[error("not a chat of a supported product")]
    NotAChat,
    /// Parsing it could take too much memory.
    #[error("too many values")]
    TooManyValues,
    /// It has more than [`MAX_MESSAGES`].
    #[error("too many messages")]
    TooManyMessages,
    /// It has no messages.
    #[error("no messages")]
    NoMessages,
    /// It is a message without its chat, as in a dump of a database.
    #[error("a single message")]
    SingleMessage,
}

/// The fields by which a product is recognized. None of them is parsed: they may be nested deeper than a parser allows.
#[derive(Deserialize)]
struct Shape<'a> {
    #[serde(default, borrow)]
    chat: Option<&'a RawValue>,
    #[serde(default, borrow)]
    mapping: Option<&'a RawValue>,
    #[serde(default, borrow)]
    chat_messages: Option<&'a RawValue>,
    #[serde(default, borrow, rename = "conversationId")]
    conversation_id: Option<&'a RawValue>,
    #[serde(default, borrow, rename = "messageId")]
    message_id: Option<&'a RawValue>,
}

impl Chat {
    /// Decodes one element of an export.
    ///
    /// # Errors
    /// Why it cannot be read as a chat.
    pub fn read(json: &[u8]) -> Result<Self, Unreadable> {
        if has_too_many_values(json) {
            return Err(Unreadable::TooManyValues);
        }
        let shape: Shape<'_> = serde_json::from_slice(json).map_err(|_| Unreadable::NotAChat)?;
        let is_object =
            |field: Option<&RawValue>| field.is_some_and(|it| it.get().starts_with('{'));
        let is_list = |field: Option<&RawValue>| field.is_some_and(|it| it.get().starts_with('['));
        if is_object(shape.chat) {
            open_webui::read(json)
        } else if is_object(shape.mapping) {
            chatgpt::read(json)
        } else if is_list(shape.chat_messages) {
            claude::read(json)
        } else if shape.conversation_id.is_some() && shape.message_id.is_some() {
            Err(Unreadable::SingleMessage)
        } else if shape.conversation_id.is_some() {
            librechat::read(json)
        } else {
            open_webui::read(json)
        }
    }

    /// A chat without messages.
    fn new(product: Product, id: String, title: String) -> Self {
        Self {
            product,
            id,
            title,
            created_at: 0,
            updated_at: 0,
            pinned: false,
            archived: false,
            tags: Vec::new(),
            messages: Vec::new(),
            current: None,
            skipped: BTreeMap::new(),
        }
    }

    fn skip(&mut self, what: Skipped) {
        *self.skipped.entry(what).or_default() += 1;
    }

    /// Adds a message below its parent, and returns its index.
    fn add(&mut self, mut message: Message, parent: Option<usize>) -> usize {
        let earliest = parent.map_or(0, |parent| self.messages[parent].at);
        message.at = message.at.max(earliest);
        message.parent = parent;
        self.messages.push(message);
        self.messages.len() - 1
    }

    /// Fills in what old exports lack: the current message, and the times.
    fn finish(&mut self, current: Option<usize>) {
        self.current = current.or_else(|| self.messages.len().checked_sub(1));
        if self.created_at == 0 {
            self.created_at = self.messages.first().map_or(0, |first| first.at);
        }
        self.updated_at = self.updated_at.max(self.created_at);
    }
}

impl Message {
    /// A message without content.
    fn new(role: Role, at: i64) -> Self {
        Self {
            parent: None,
            role,
            text: String::new(),
            pictures: Vec::new(),
            assets: Vec::new(),
            texts: Vec::new(),
            at,
            model: None,
            answer: None,
        }
    }

    /// Sets the content of an assistant's message.
    fn set_answer(&mut self, answer: Answer) {
        self.text = answer.said();
        self.answer = answer.is_worth_a_log().then_some(answer);
    }

    fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
            && self.pictures.is_empty()
            && self.assets.is_empty()
            && self.texts.is_empty()
            && self.answer.is_none()
    }
}

#[cfg(test)]
mod tests;
