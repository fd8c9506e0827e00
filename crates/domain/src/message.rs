//! Messages as sent to language models, and as stored in chats.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CollectionId, DocumentId, Provenance};

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions from the operator.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// The result of a tool call.
    Tool,
}

/// A part of a message's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Plain text.
    Text {
        /// The text, UTF-8.
        text: String,
    },
    /// A picture by URL; usually a `data:` URL.
    Image {
        /// `https:` or `data:` URL.
        url: String,
    },
    /// Sound; usually a `data:` URL.
    Audio {
        /// `https:` or `data:` URL.
        url: String,
    },
    /// A video by URL.
    Video {
        /// `https:` or `data:` URL.
        url: String,
    },
    /// A file for the model itself, such as a PDF.
    File {
        /// `https:` or `data:` URL.
        url: String,
        /// Its media type, such as `application/pdf`.
        media_type: String,
        /// The file name; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<String>"))]
        name: String,
    },
    /// A referenced document. Models get its text, or passages of it.
    Document {
        /// Its collection.
        collection: CollectionId,
        /// Its id.
        document: DocumentId,
        /// Its name.
        name: String,
        /// Its path in the chat's workspace, if it is an attachment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        path: Option<String>,
    },
    /// A referenced collection of documents.
    Collection {
        /// Its id.
        collection: CollectionId,
        /// Its name.
        name: String,
    },
}

/// A file for the model itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileRef<'a> {
    /// `https:` or `data:` URL.
    pub url: &'a str,
    /// Its media type.
    pub media_type: &'a str,
    /// The file name; may be empty.
    pub name: &'a str,
}

impl Part {
    /// The file, if it is one. Messages of earlier versions contain PDF files as pictures with that media type.
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

    /// The text; `None` for other parts.
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

    /// Whether it is media of another site, which is not fetched for a chat.
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

    /// The URL of a picture, a sound, a video or a file; `None` for other parts.
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

    /// The name of a reference; `None` for other parts.
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

    /// Whether it has content: text, a picture, sound, a video or a file.
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

/// A tool call as written by the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ToolCall {
    /// The id the model gave; only unique within one answer.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// JSON text of the arguments, exactly as the model wrote it (may be invalid).
    pub arguments: String,
}

/// A message of a conversation. The `provenance` of an assistant message is read with [`Message::blocks`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The role.
    pub role: Role,
    /// The content, in order.
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
    /// The assistant message in its provider's own form. Most models need none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Box<Provenance>>,
}

impl Message {
    /// A message with a single text part.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::of(role, vec![Part::Text { text: text.into() }])
    }

    /// A message with these parts.
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

    /// The result of the call `id`.
    pub fn tool_result(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            tool_call_id: Some(id.into()),
            ..Self::text(Role::Tool, text)
        }
    }

    /// The text of a tool's result for formats without a field for failures: it states the failure.
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

    /// All text parts; pictures and other media are left out. The parts of an answer are joined directly, those of
    /// other messages with line feeds.
    #[must_use]
    pub fn plain_text(&self) -> String {
        match self.provenance {
            Some(_) => self.content.iter().filter_map(Part::as_text).collect(),
            None => plain_text(&self.content),
        }
    }
}

/// All text parts joined with line feeds; other parts are left out.
#[must_use]
pub fn plain_text(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
    texts.join("\n")
}

/// The inverse of [`arguments_value`]: approximately the arguments as the model wrote them.
#[must_use]
pub fn arguments_text(arguments: &Value) -> String {
    match arguments {
        Value::String(raw) => raw.clone(),
        value => value.to_string(),
    }
}

/// The model's argument text as JSON, or as a JSON string if it is not JSON.
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
    fn a_failure_is_stated_once() {
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
