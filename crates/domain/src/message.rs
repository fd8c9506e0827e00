//! Messages as a language model sees them, and as a chat stores them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CollectionId, DocumentId, Provenance};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions from the operator.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool's answer to a call.
    Tool,
}

/// One piece of a message's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Plain text.
    Text {
        /// The text, UTF-8.
        text: String,
    },
    /// A picture by address; `data:` URLs are usual.
    Image {
        /// `https:` or `data:` URL.
        url: String,
    },
    /// Sound; `data:` URLs are usual.
    Audio {
        /// `https:` or `data:` URL.
        url: String,
    },
    /// A film by address.
    Video {
        /// `https:` or `data:` URL.
        url: String,
    },
    /// A document that the person points to. Models get its text, or passages of it, when it is their turn.
    Document {
        /// Where it is.
        collection: CollectionId,
        /// Which one.
        document: DocumentId,
        /// What it is called.
        name: String,
        /// Where its file lies for the chat's agents, where it came with the message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        path: Option<String>,
    },
    /// A collection of documents that the person points to.
    Collection {
        /// Which one.
        collection: CollectionId,
        /// What it is called.
        name: String,
    },
}

impl Part {
    /// What is said in words; nothing where it is something else.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::Image { .. }
            | Self::Audio { .. }
            | Self::Video { .. }
            | Self::Document { .. }
            | Self::Collection { .. } => None,
        }
    }

    /// Whether it is a medium of another site, which nobody fetches for a chat.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        let family = match self {
            Self::Image { .. } => "data:image/",
            Self::Audio { .. } => "data:audio/",
            Self::Video { .. } => "data:video/",
            Self::Text { .. } | Self::Document { .. } | Self::Collection { .. } => return false,
        };
        !self.medium().is_some_and(|url| url.starts_with(family))
    }

    /// The URL of a picture, a sound or a film; `None` for all else.
    #[must_use]
    pub fn medium(&self) -> Option<&str> {
        match self {
            Self::Image { url } | Self::Audio { url } | Self::Video { url } => Some(url),
            Self::Text { .. } | Self::Document { .. } | Self::Collection { .. } => None,
        }
    }

    /// What the person points to is called so; nothing where it is what they said.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Document { name, .. } | Self::Collection { name, .. } => Some(name),
            Self::Text { .. } | Self::Image { .. } | Self::Audio { .. } | Self::Video { .. } => None,
        }
    }

    /// Whether it says something, by words, a picture, sound or a film.
    #[must_use]
    pub fn speaks(&self) -> bool {
        match self {
            Self::Text { text } => !text.trim().is_empty(),
            Self::Image { .. } | Self::Audio { .. } | Self::Video { .. } => true,
            Self::Document { .. } | Self::Collection { .. } => false,
        }
    }
}

/// A tool call as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ToolCall {
    /// The id the model gave; only unique within one answer.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// JSON text of the arguments, exactly as the model wrote it (may be invalid).
    pub arguments: String,
}

/// One message of a conversation with a model. What `provenance` adds to an assistant message is read with
/// [`Message::blocks`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub content: Vec<Part>,
    /// Calls the assistant made in this message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// For role `tool`: the call this answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// How the model that wrote an assistant message gave it, for its provider. Most models need none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Box<Provenance>>,
}

impl Message {
    /// A message of one text part and nothing else.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::of(role, vec![Part::Text { text: text.into() }])
    }

    /// A message of these parts and nothing else.
    #[must_use]
    pub fn of(role: Role, content: Vec<Part>) -> Self {
        Self { role, content, tool_calls: Vec::new(), tool_call_id: None, provenance: None }
    }

    /// A tool's answer to the call `id`.
    pub fn tool_result(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { tool_call_id: Some(id.into()), ..Self::text(Role::Tool, text) }
    }

    /// All text parts joined with line feeds; pictures and other media are left out.
    #[must_use]
    pub fn plain_text(&self) -> String {
        plain_text(&self.content)
    }
}

/// All text parts joined with line feeds; all else is left out.
#[must_use]
pub fn plain_text(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
    texts.join("\n")
}

/// The way back from [`arguments_value`]: the arguments as the model wrote them, near enough.
#[must_use]
pub fn arguments_text(arguments: &Value) -> String {
    match arguments {
        Value::String(raw) => raw.clone(),
        value => value.to_string(),
    }
}

/// The model's argument text as JSON, or as a JSON string where it is not JSON.
#[must_use]
pub fn arguments_value(raw: &str) -> Value {
    if raw.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(raw).unwrap_or_else(|_| Value::String(raw.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_only_the_text() {
        let parts = [
            Part::Text { text: "a".into() },
            Part::Image { url: "data:,".into() },
            Part::Text { text: "b".into() },
        ];
        assert_eq!(plain_text(&parts), "a\nb");
    }

    #[test]
    fn keeps_broken_arguments_as_text() {
        assert_eq!(arguments_value(r#"{"path":"a"}"#), serde_json::json!({"path": "a"}));
        assert_eq!(arguments_value("  "), serde_json::json!({}));
        assert_eq!(arguments_value(r#"{"path":"#), Value::String(r#"{"path":"#.into()));
    }
}
