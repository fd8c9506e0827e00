//! Pictures, sounds, videos and files in a request.

use std::borrow::Cow;

use domain::Part;
use serde::Serialize;

use crate::{
    file_part::{PDF, base64_of, is_text},
    media::type_of_data,
};

/// Types that a function response of Gemini 3 can contain.
const NESTED_TYPES: [&str; 5] = [
    "image/png",
    "image/jpeg",
    "image/webp",
    "application/pdf",
    "text/plain",
];

/// A medium, inline or by URL.
#[derive(Debug, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(super) enum Media<'a> {
    #[serde(rename_all = "camelCase")]
    InlineData {
        mime_type: Cow<'a, str>,
        data: Cow<'a, str>,
    },
    #[serde(rename_all = "camelCase")]
    FileData {
        mime_type: Cow<'a, str>,
        file_uri: &'a str,
    },
}

impl<'a> Media<'a> {
    /// `None` for text and references.
    pub(super) fn of(part: &'a Part) -> Option<Self> {
        let url = part.medium()?;
        let said = part.as_file().map(|file| file.media_type);
        if said.is_some_and(|said| said != PDF && !is_text(said)) {
            return None;
        }
        Some(match base64_of(url) {
            Some(data) => {
                // All text is sent as plain text.
                let is_text = said.is_some_and(is_text);
                let mime_type = if is_text {
                    "text/plain"
                } else {
                    type_of_data(url).unwrap_or_default()
                };
                Self::InlineData {
                    mime_type: known_type(mime_type),
                    data,
                }
            }
            None => Self::FileData {
                mime_type: Cow::Borrowed(said.unwrap_or(type_of(part, url))),
                file_uri: url,
            },
        })
    }

    /// Whether it can be a part of a function response, if the model takes any there.
    pub(super) fn nests(&self) -> bool {
        let (Self::InlineData { mime_type, .. } | Self::FileData { mime_type, .. }) = self;
        NESTED_TYPES.contains(&mime_type.as_ref())
    }
}

/// Gemini's names for types that have several.
fn known_type(mime_type: &str) -> Cow<'_, str> {
    let lower = mime_type.to_ascii_lowercase();
    match lower.as_str() {
        "" => Cow::Borrowed("text/plain"),
        "image/jpg" => Cow::Borrowed("image/jpeg"),
        "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => Cow::Borrowed("audio/wav"),
        "audio/x-m4a" => Cow::Borrowed("audio/m4a"),
        "audio/x-flac" => Cow::Borrowed("audio/flac"),
        _ if lower == mime_type => Cow::Borrowed(mime_type),
        _ => Cow::Owned(lower),
    }
}

/// The type of the content at a URL, by its extension; otherwise the usual one of its kind.
fn type_of(part: &Part, url: &str) -> &'static str {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let ending = path
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase());
    match ending.as_deref().unwrap_or_default() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "gif" => "image/gif",
        "heic" => "image/heic",
        "heif" => "image/heif",
        "pdf" => "application/pdf",
        "txt" => "text/plain",
        "wav" => "audio/wav",
        "mp3" => "audio/mpeg",
        "flac" => "audio/flac",
        "ogg" | "oga" => "audio/ogg",
        "m4a" => "audio/m4a",
        "aac" => "audio/aac",
        "webm" => match part {
            Part::Audio { .. } => "audio/webm",
            _ => "video/webm",
        },
        "mov" => "video/mov",
        "mpeg" | "mpg" => "video/mpeg",
        _ => match part {
            Part::Audio { .. } => "audio/mpeg",
            // Also YouTube pages, which Gemini opens itself.
            Part::Video { .. } => "video/mp4",
            _ => "image/jpeg",
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn image(url: &str) -> Part {
        Part::Image {
            url: url.to_owned(),
        }
    }

    #[test]
    fn data_is_inline_and_addresses_are_files() {
        let video = |url: &str| Part::Video {
            url: url.to_owned(),
        };
        for (part, written) in [
            (
                image("data:image/png;base64,iVBO"),
                json!({"inlineData": {"mimeType": "image/png", "data": "iVBO"}}),
            ),
            (
                image("data:image/JPG;base64,_9j_"),
                json!({"inlineData": {"mimeType": "image/jpeg", "data": "_9j_"}}),
            ),
            (
                image("data:application/pdf;base64,JVBE"),
                json!({"inlineData": {"mimeType": "application/pdf", "data": "JVBE"}}),
            ),
            (
                image("data:text/plain,a%20b%2"),
                json!({"inlineData": {"mimeType": "text/plain", "data": "YSBiJTI="}}),
            ),
            (
                image("https://a.example/x.PNG?y=z.gif"),
                json!({"fileData": {"mimeType": "image/png", "fileUri": "https://a.example/x.PNG?y=z.gif"}}),
            ),
            (
                video("https://youtu.be/lCdaVNyHtjU"),
                json!({"fileData": {"mimeType": "video/mp4", "fileUri": "https://youtu.be/lCdaVNyHtjU"}}),
            ),
        ] {
            let media = Media::of(&part).expect("a medium");
            assert_eq!(serde_json::to_value(media).unwrap(), written);
        }
        assert_eq!(
            Media::of(&Part::Text {
                text: "a".to_owned()
            }),
            None
        );
    }
}
