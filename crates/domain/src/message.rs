//! Messages as a language model sees them, and as a chat stores them.

use std::borrow::Cow;

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
    /// A file that the model is to read as it is, such as a PDF.
    File {
        /// `https:` or `data:` URL.
        url: String,
        /// Its media type, such as `application/pdf`.
        media_type: String,
        /// What it is called; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<String>"))]
        name: String,
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

/// A file that a model is to read as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileRef<'a> {
    /// `https:` or `data:` URL.
    pub url: &'a str,
    /// Its media type.
    pub media_type: &'a str,
    /// What it is called; may be empty.
    pub name: &'a str,
}

impl Part {
    /// The file that it is. Messages of earlier versions hold PDF files as pictures with that media type.
    #[must_use]
    pub fn as_file(&self) -> Option<FileRef<'_>> {
        match self {
            Self::File {
                url,
                media_type,
                name,
            } => Some(FileRef {
                url,
                media_type,
                name,
            }),
            Self::Image { url } => {
                let media_type = url.strip_prefix("data:")?.split([';', ',']).next()?;
                let is_file = media_type.contains('/') && !media_type.starts_with("image/");
                is_file.then_some(FileRef {
                    url,
                    media_type,
                    name: "",
                })
            }
            _ => None,
        }
    }

    /// What is said in words; nothing where it is something else.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::Image { .. }
            | Self::Audio { .. }
            | Self::Video { .. }
            | Self::File { .. }
            | Self::Document { .. }
            | Self::Collection { .. } => None,
        }
    }

    /// Whether it is a medium of another site, which nobody fetches for a chat.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        let family = match self {
            Self::Image { .. } => "image/",
            Self::Audio { .. } => "audio/",
            Self::Video { .. } => "video/",
            Self::File { media_type, .. } => media_type,
            Self::Text { .. } | Self::Document { .. } | Self::Collection { .. } => return false,
        };
        let data = self.medium().and_then(|url| url.strip_prefix("data:"));
        !data.is_some_and(|data| data.starts_with(family))
    }

    /// The URL of a picture, a sound, a film or a file; `None` for all else.
    #[must_use]
    pub fn medium(&self) -> Option<&str> {
        match self {
            Self::Image { url }
            | Self::Audio { url }
            | Self::Video { url }
            | Self::File { url, .. } => Some(url),
            Self::Text { .. } | Self::Document { .. } | Self::Collection { .. } => None,
        }
    }

    /// What the person points to is called so; nothing where it is what they said.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Document { name, .. } | Self::Collection { name, .. } => Some(name),
            Self::Text { .. }
            | Self::Image { .. }
            | Self::Audio { .. }
            | Self::Video { .. }
            | Self::File { .. } => None,
        }
    }

    /// Whether it says something, by words, a picture, sound, a film or a file.
    #[must_use]
    pub fn speaks(&self) -> bool {
        match self {
            Self::Text { text } => !text.trim().is_empty(),
            Self::Image { .. } | Self::Audio { .. } | Self::Video { .. } | Self::File { .. } => {
                true
            }
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
    /// For role `tool`: whether the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
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
        Self {
            role,
            content,
            tool_calls: Vec::new(),
            tool_call_id: None,
            is_error: false,
            provenance: None,
        }
    }

    /// A tool's answer to the call `id`.
    pub fn tool_result(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            tool_call_id: Some(id.into()),
            ..Self::text(Role::Tool, text)
        }
    }

    /// The text of a tool's result for formats that have no field for failures: if the call failed, it says so.
    #[must_use]
    pub fn result_text(&self) -> Cow<'_, str> {
        let text = match self.content.as_slice() {
            [Part::Text { text }] => Cow::Borrowed(text.as_str()),
            parts => Cow::Owned(plain_text(parts)),
        };
        match self.is_error && !text.trim_start().starts_with("Error") {
            true => Cow::Owned(format!("Error: {text}")),
            false => text,
        }
    }

    /// All text parts joined with line feeds; pictures and other media are left out. The parts of an answer are one
    /// text, wherever its provider parted it.
    #[must_use]
    pub fn plain_text(&self) -> String {
        match self.provenance {
            Some(_) => self.content.iter().filter_map(Part::as_text).collect(),
            None => plain_text(&self.content),
        }
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
    fn messages_of_earlier_versions_are_read() {
        let stored = r#"{"role":"tool","content":[{"type":"image","url":"data:application/pdf;base64,AAAA"}],"tool_call_id":"c"}"#;
        let message: Message = serde_json::from_str(stored).unwrap();
        assert!(!message.is_error);
        assert_eq!(serde_json::to_string(&message).unwrap(), stored);
        let file = FileRef {
            url: "data:application/pdf;base64,AAAA",
            media_type: "application/pdf",
            name: "",
        };
        assert_eq!(message.content[0].as_file(), Some(file));
        assert_eq!(
            Part::Image {
                url: "data:image/png;base64,AAAA".into()
            }
            .as_file(),
            None
        );
        assert_eq!(
            Part::Image {
                url: "data:,AAAA".into()
            }
            .as_file(),
            None
        );
    }

    #[test]
    fn files_and_failures_are_stored() {
        let file = Part::File {
            url: "https://a.example/b.pdf".into(),
            media_type: "application/pdf".into(),
            name: "b".into(),
        };
        assert!(file.is_foreign() && file.speaks() && file.name().is_none());
        let failed = Message {
            is_error: true,
            content: vec![file],
            ..Message::tool_result("c", "")
        };
        let again: Message =
            serde_json::from_value(serde_json::to_value(&failed).unwrap()).unwrap();
        assert_eq!(again, failed);
    }

    #[test]
    fn a_failure_is_said_once() {
        let text = |text: &str, is_error| {
            Message {
                is_error,
                ..Message::tool_result("c", text)
            }
            .result_text()
            .into_owned()
        };
        assert_eq!(text("no such file", true), "Error: no such file");
        assert_eq!(text("Error: no such file", true), "Error: no such file");
        assert_eq!(text("no such file", false), "no such file");
    }

    #[test]
    fn joins_only_the_text() {
        let parts = [
            Part::Text { text: "a".into() },
            Part::Image {
                url: "data:,".into(),
            },
            Part::Text { text: "b".into() },
        ];
        assert_eq!(plain_text(&parts), "a\nb");
    }

    #[test]
    fn keeps_broken_arguments_as_text() {
        assert_eq!(
            arguments_value(r#"{"path":"a"}"#),
            serde_json::json!({"path": "a"})
        );
        assert_eq!(arguments_value("  "), serde_json::json!({}));
        assert_eq!(
            arguments_value(r#"{"path":"#),
            Value::String(r#"{"path":"#.into())
        );
    }
}
