//! Content blocks of a request, borrowed from the conversation.

use std::borrow::Cow;

use domain::{FileRef, Part};
use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};

use crate::{
    file_part::{PDF, base64_of, file_in_words, text_of},
    media::type_of_data,
};

/// A content block, optionally with a cache breakpoint at its end.
#[derive(Debug, Serialize)]
pub(crate) struct Block<'a> {
    #[serde(flatten)]
    pub(crate) kind: Kind<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cache_control: Option<CacheControl>,
}

/// Five minutes, renewed by each use.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct CacheControl {
    #[serde(rename = "type")]
    kind: &'static str,
}

impl CacheControl {
    pub(crate) const EPHEMERAL: Self = Self { kind: "ephemeral" };
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Kind<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        citations: Option<&'a Value>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: &'a str,
        input: Input<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        caller: Option<&'a Value>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        content: Vec<Block<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
    },
    /// Unchanged, as received from the provider.
    #[serde(untagged)]
    Stored(&'a Map<String, Value>),
}

/// The arguments of a call, which must be an object.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Input<'a> {
    Written(&'a RawValue),
    Made(Value),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Source<'a> {
    Base64 {
        media_type: &'a str,
        data: Cow<'a, str>,
    },
    Text {
        media_type: &'static str,
        data: String,
    },
    Url {
        url: &'a str,
    },
}

impl<'a> From<Kind<'a>> for Block<'a> {
    fn from(kind: Kind<'a>) -> Self {
        Self {
            kind,
            cache_control: None,
        }
    }
}

impl<'a> Kind<'a> {
    pub(crate) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text {
            text: text.into(),
            citations: None,
        }
    }

    /// The part as a block; `None` if there is nothing to send. The API refuses blank text.
    pub(crate) fn of_part(part: &'a Part) -> Option<Self> {
        if let Some(file) = part.as_file() {
            return Some(document(file));
        }
        match part {
            Part::Text { text } => (!text.trim().is_empty()).then(|| Self::text(text.as_str())),
            Part::Image { url } => Some(picture(url)),
            Part::Audio { .. } => {
                Some(Self::text("[A sound was left out: this model takes none.]"))
            }
            Part::Video { .. } => Some(Self::text("[A film was left out: this model takes none.]")),
            // References of a person are resolved to text before.
            Part::File { .. } | Part::Document { .. } | Part::Collection { .. } => None,
        }
    }

    pub(crate) fn is_thinking(&self) -> bool {
        matches!(self, Self::Thinking { .. } | Self::RedactedThinking { .. })
    }
}

fn picture(url: &str) -> Kind<'_> {
    if url.starts_with("https://") {
        return Kind::Image {
            source: Source::Url { url },
        };
    }
    let media_type = match type_of_data(url) {
        Some(media_type @ ("image/png" | "image/jpeg" | "image/gif" | "image/webp")) => media_type,
        Some("image/jpg" | "image/pjpeg") => "image/jpeg",
        _ => "",
    };
    match url.split_once(";base64,") {
        Some((_, data)) if !media_type.is_empty() && !data.is_empty() => Kind::Image {
            source: Source::Base64 {
                media_type,
                data: Cow::Borrowed(data),
            },
        },
        _ => Kind::text("[A picture was left out: this model takes PNG, JPEG, GIF and WebP.]"),
    }
}

/// PDF and text files, which have a block type; other files become text.
fn document(file: FileRef<'_>) -> Kind<'_> {
    let FileRef {
        url,
        media_type,
        name,
    } = file;
    let title = Some(name).filter(|name| !name.is_empty());
    let source = if let Some(text) = text_of(file).filter(|text| !text.trim().is_empty()) {
        Source::Text {
            media_type: "text/plain",
            data: text,
        }
    } else if media_type != PDF {
        return Kind::text(file_in_words(file));
    } else if url.starts_with("https://") {
        Source::Url { url }
    } else if let Some(data) = base64_of(url) {
        Source::Base64 { media_type, data }
    } else {
        return Kind::text(file_in_words(file));
    };
    Kind::Document { source, title }
}

impl<'a> Input<'a> {
    /// The arguments as written. A value that is no object is wrapped, so that the model sees its own output.
    pub(crate) fn of(arguments: &'a str) -> Self {
        if arguments.trim().is_empty() {
            return Self::Made(Value::Object(Map::new()));
        }
        // Parsing the value also finds errors that the raw text hides, such as half a surrogate pair.
        if serde_json::from_str::<Map<String, Value>>(arguments).is_ok()
            && let Ok(raw) = serde_json::from_str::<&RawValue>(arguments)
        {
            return Self::Written(raw);
        }
        match json_repair::parse(arguments) {
            Ok(Value::Object(object)) => Self::Made(Value::Object(object)),
            _ => Self::Made(Value::Object(Map::from_iter([(
                "INVALID_JSON".to_owned(),
                arguments.into(),
            )]))),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_always_an_object() {
        for (arguments, expected) in [
            ("", json!({})),
            (r#" {"a": 1}"#, json!({"a": 1})),
            (r#"{"a": "\ud83d"}"#, json!({"a": "\u{FFFD}"})),
            (r#"{"a": "#, json!({"INVALID_JSON": r#"{"a": "#})),
            ("[1]", json!({"INVALID_JSON": "[1]"})),
        ] {
            assert_eq!(
                serde_json::to_value(Input::of(arguments)).unwrap(),
                expected,
                "{arguments}"
            );
        }
    }

    #[test]
    fn media_take_the_form_that_the_api_has_for_them() {
        let check = |part: Part, expected: Option<Value>| {
            let block =
                Kind::of_part(&part).map(|kind| serde_json::to_value(Block::from(kind)).unwrap());
            assert_eq!(block, expected, "{part:?}");
        };
        let image = |url: &str| Part::Image {
            url: url.to_owned(),
        };
        let base64 = |kind: &str, media_type: &str| {
            Some(
                json!({"type": kind, "source": {"type": "base64", "media_type": media_type, "data": "AAAA"}}),
            )
        };
        check(
            image("data:image/png;base64,AAAA"),
            base64("image", "image/png"),
        );
        check(
            image("data:image/jpg;base64,AAAA"),
            base64("image", "image/jpeg"),
        );
        check(
            image("data:application/pdf;base64,AAAA"),
            base64("document", "application/pdf"),
        );
        let url =
            json!({"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}});
        check(image("https://a.example/b.png"), Some(url));
        let note = "[A picture was left out: this model takes PNG, JPEG, GIF and WebP.]";
        for url in [
            "data:image/svg+xml;base64,AAAA",
            "data:image/png,x",
            "data:image/png;base64,",
            "http://a/b",
        ] {
            check(image(url), Some(json!({"type": "text", "text": note})));
        }
        check(
            Part::Text {
                text: " \n".to_owned(),
            },
            None,
        );
    }

    /// As recorded: `document_url_input`, `document_binary_content_input` and `text_plain_document_anthropic`.
    #[test]
    fn files_are_documents_or_text() {
        let check = |url: &str, media_type: &str, expected: Value| {
            let url = url.to_owned();
            let media_type = media_type.to_owned();
            let name = "a".to_owned();
            let part = Part::File {
                url,
                media_type,
                name,
            };
            let block = serde_json::to_value(Block::from(Kind::of_part(&part).unwrap())).unwrap();
            assert_eq!(block, expected, "{part:?}");
        };
        let document = |source: Value| json!({"type": "document", "source": source, "title": "a"});
        let pdf = json!({"type": "base64", "media_type": PDF, "data": "JVBERi0="});
        check("data:application/pdf;base64,JVBERi0=", PDF, document(pdf));
        let url = "https://pdfobject.com/pdf/sample.pdf";
        check(url, PDF, document(json!({"type": "url", "url": url})));
        let text = json!({"type": "text", "media_type": "text/plain", "data": "Dummy TXT file\n"});
        check(
            "data:text/plain;base64,RHVtbXkgVFhUIGZpbGUK",
            "text/plain",
            document(text),
        );
        let words = json!({"type": "text", "text": "[The file “a” is at https://a.example/b.txt]"});
        check("https://a.example/b.txt", "text/plain", words);
    }
}
