//! Content blocks as they are sent, borrowed from the conversation.

use std::borrow::Cow;

use domain::Part;
use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};

use crate::media::type_of_data;

/// A block of content, with the mark that the prompt is to be cached up to its end.
#[derive(Debug, Serialize)]
pub(in crate::provider) struct Block<'a> {
    #[serde(flatten)]
    pub(in crate::provider) kind: Kind<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::provider) cache_control: Option<CacheControl>,
}

/// Five minutes, renewed by each use.
#[derive(Debug, Clone, Copy, Serialize)]
pub(in crate::provider) struct CacheControl {
    #[serde(rename = "type")]
    kind: &'static str,
}

impl CacheControl {
    pub(in crate::provider) const EPHEMERAL: Self = Self { kind: "ephemeral" };
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::provider) enum Kind<'a> {
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
    },
    /// As the provider wrote it.
    #[serde(untagged)]
    Stored(&'a Map<String, Value>),
}

/// The arguments of a call, which have to be an object.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(in crate::provider) enum Input<'a> {
    Written(&'a RawValue),
    Made(Value),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::provider) enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Url { url: &'a str },
}

impl<'a> From<Kind<'a>> for Block<'a> {
    fn from(kind: Kind<'a>) -> Self {
        Self { kind, cache_control: None }
    }
}

impl<'a> Kind<'a> {
    pub(in crate::provider) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text { text: text.into(), citations: None }
    }

    /// The part as a block; `None` if there is nothing to send. Blank text is refused by the API.
    pub(in crate::provider) fn of_part(part: &'a Part) -> Option<Self> {
        match part {
            Part::Text { text } => (!text.trim().is_empty()).then(|| Self::text(text.as_str())),
            Part::Image { url } => Some(picture(url)),
            Part::Audio { .. } => Some(Self::text("[A sound was left out: this model takes none.]")),
            Part::Video { .. } => Some(Self::text("[A film was left out: this model takes none.]")),
            // What a person points to is told in words before.
            Part::Document { .. } | Part::Collection { .. } => None,
        }
    }

    pub(in crate::provider) fn is_thinking(&self) -> bool {
        matches!(self, Self::Thinking { .. } | Self::RedactedThinking { .. })
    }
}

/// Pictures, and PDF files, which take the same way.
fn picture(url: &str) -> Kind<'_> {
    if url.starts_with("https://") {
        return Kind::Image { source: Source::Url { url } };
    }
    let data = url.split_once(";base64,").map(|(_, data)| data).filter(|data| !data.is_empty());
    match (type_of_data(url), data) {
        (Some(media_type @ ("image/png" | "image/jpeg" | "image/gif" | "image/webp")), Some(data)) => {
            Kind::Image { source: Source::Base64 { media_type, data } }
        }
        (Some("image/jpg" | "image/pjpeg"), Some(data)) => {
            Kind::Image { source: Source::Base64 { media_type: "image/jpeg", data } }
        }
        (Some(media_type @ "application/pdf"), Some(data)) => {
            Kind::Document { source: Source::Base64 { media_type, data } }
        }
        _ => Kind::text("[A picture was left out: this model takes PNG, JPEG, GIF and WebP.]"),
    }
}

impl<'a> Input<'a> {
    /// The arguments as the model wrote them. What is no object is wrapped, so that the model sees what it wrote.
    pub(in crate::provider) fn of(arguments: &'a str) -> Self {
        if arguments.trim().is_empty() {
            return Self::Made(Value::Object(Map::new()));
        }
        // Reading the value, too, finds what the raw text hides, such as half a surrogate pair.
        if serde_json::from_str::<Map<String, Value>>(arguments).is_ok()
            && let Ok(raw) = serde_json::from_str::<&RawValue>(arguments)
        {
            return Self::Written(raw);
        }
        match crate::provider::lenient::parse(arguments) {
            Ok(Value::Object(object)) => Self::Made(Value::Object(object)),
            _ => Self::Made(Value::Object(Map::from_iter([("INVALID_JSON".to_owned(), arguments.into())]))),
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
            assert_eq!(serde_json::to_value(Input::of(arguments)).unwrap(), expected, "{arguments}");
        }
    }

    #[test]
    fn media_take_the_form_that_the_api_has_for_them() {
        let check = |part: Part, expected: Option<Value>| {
            let block = Kind::of_part(&part).map(|kind| serde_json::to_value(Block::from(kind)).unwrap());
            assert_eq!(block, expected, "{part:?}");
        };
        let image = |url: &str| Part::Image { url: url.to_owned() };
        let base64 = |kind: &str, media_type: &str| {
            Some(
                json!({"type": kind, "source": {"type": "base64", "media_type": media_type, "data": "AAAA"}}),
            )
        };
        check(image("data:image/png;base64,AAAA"), base64("image", "image/png"));
        check(image("data:image/jpg;base64,AAAA"), base64("image", "image/jpeg"));
        check(image("data:application/pdf;base64,AAAA"), base64("document", "application/pdf"));
        let url = json!({"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}});
        check(image("https://a.example/b.png"), Some(url));
        let note = "[A picture was left out: this model takes PNG, JPEG, GIF and WebP.]";
        for url in
            ["data:image/svg+xml;base64,AAAA", "data:image/png,x", "data:image/png;base64,", "http://a/b"]
        {
            check(image(url), Some(json!({"type": "text", "text": note})));
        }
        check(Part::Text { text: " \n".to_owned() }, None);
    }
}
