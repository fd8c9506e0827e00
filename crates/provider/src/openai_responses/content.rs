//! Encodes content parts as input: text, pictures, files and sound.

use std::borrow::Cow;

use domain::{FileRef, Part};
use serde::Serialize;

use crate::{
    file_part::{PDF, file_in_words, is_text},
    media::audio_format,
};

/// Content of an input message or of a tool's output.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<InputPart<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type")]
pub(super) enum InputPart<'a> {
    #[serde(rename = "input_text")]
    Text { text: Cow<'a, str> },
    #[serde(rename = "input_image")]
    Image {
        image_url: &'a str,
        detail: &'static str,
    },
    #[serde(rename = "input_file")]
    File {
        filename: Cow<'a, str>,
        file_data: &'a str,
    },
    #[serde(rename = "input_file")]
    FileAt { file_url: &'a str },
    #[serde(rename = "input_audio")]
    Audio { input_audio: InputAudio<'a> },
}

#[derive(Debug, Serialize)]
pub(super) struct InputAudio<'a> {
    data: &'a str,
    format: &'a str,
}

/// Text alone is sent as a string.
pub(super) fn content<'a>(parts: impl Iterator<Item = &'a Part>) -> Content<'a> {
    let mut parts: Vec<InputPart<'a>> = parts.filter_map(input_part).collect();
    match parts.as_mut_slice() {
        [] => Content::Text(Cow::Borrowed("")),
        [InputPart::Text { text }] => Content::Text(std::mem::take(text)),
        _ => Content::Parts(parts),
    }
}

/// Whether a tool's output may contain it: text, pictures and files.
pub(super) fn is_for_output(part: &Part) -> bool {
    !matches!(part, Part::Audio { .. } | Part::Video { .. })
}

/// References of a person are resolved to text before, so they have no form here.
pub(super) fn input_part(part: &Part) -> Option<InputPart<'_>> {
    let words = |text: String| {
        Some(InputPart::Text {
            text: Cow::Owned(text),
        })
    };
    if let Some(file) = part.as_file() {
        return Some(input_file(file));
    }
    match part {
        Part::Text { text } => Some(InputPart::Text {
            text: Cow::Borrowed(text),
        }),
        Part::Image { url } => Some(InputPart::Image {
            image_url: url,
            detail: "auto",
        }),
        Part::Audio { url } => match input_audio(url) {
            Some(input_audio) => Some(InputPart::Audio { input_audio }),
            None => words(format!("[Audio: {}]", shown(url))),
        },
        Part::Video { url } => words(format!("[Video: {}]", shown(url))),
        Part::File { .. } | Part::Document { .. } | Part::Collection { .. } => None,
    }
}

/// PDF files, text and office documents; other files become text.
fn input_file(file: FileRef<'_>) -> InputPart<'_> {
    let FileRef {
        url,
        media_type,
        name,
    } = file;
    let is_taken = media_type == PDF || is_text(media_type) || media_type.starts_with(OFFICE);
    if !is_taken {
        return InputPart::Text {
            text: Cow::Owned(file_in_words(file)),
        };
    }
    if !url.starts_with("data:") {
        return InputPart::FileAt { file_url: url };
    }
    let filename = match name {
        "" if media_type == PDF => Cow::Borrowed("file.pdf"),
        "" => Cow::Borrowed("file.txt"),
        name => Cow::Borrowed(name),
    };
    InputPart::File {
        filename,
        file_data: url,
    }
}

/// Documents, sheets and presentations.
const OFFICE: &str = "application/vnd.openxmlformats-officedocument.";

/// Sound in base64 with the name of its format.
fn input_audio(url: &str) -> Option<InputAudio<'_>> {
    let (format, data) = url.strip_prefix("data:audio/")?.split_once(";base64,")?;
    Some(InputAudio {
        data,
        format: audio_format(format),
    })
}

/// A URL, or a note on content that the API has no form for.
fn shown(url: &str) -> &str {
    if url.starts_with("data:") {
        "not supported by this model"
    } else {
        url
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(parts: &[Part], expected: &Value) {
        assert_eq!(
            &serde_json::to_value(content(parts.iter())).unwrap(),
            expected
        );
    }

    #[test]
    fn text_and_media() {
        let text = |text: &str| Part::Text { text: text.into() };
        check(&[text("hi")], &json!("hi"));
        check(&[], &json!(""));
        // As recorded: openai_responses_image_url_input, document_as_binary_content_input.
        let picture = "https://a.example/b.jpg";
        let pdf = "data:application/pdf;base64,JVBERi0=";
        check(
            &[
                text("see"),
                Part::Image {
                    url: picture.into(),
                },
                Part::Image { url: pdf.into() },
            ],
            &json!([
                {"type": "input_text", "text": "see"},
                {"type": "input_image", "image_url": picture, "detail": "auto"},
                {"type": "input_file", "filename": "file.pdf", "file_data": pdf},
            ]),
        );
        // As recorded: document_url_input_response_api.
        let file = |url: &str, media_type: &str| Part::File {
            url: url.into(),
            media_type: media_type.into(),
            name: "a.b".into(),
        };
        let address = "https://www.w3.org/WAI/ER/tests/xhtml/testfiles/resources/pdf/dummy.pdf";
        let zip = "data:application/zip;base64,AAAA";
        check(
            &[
                file(pdf, PDF),
                file(address, PDF),
                file(zip, "application/zip"),
            ],
            &json!([
                {"type": "input_file", "filename": "a.b", "file_data": pdf},
                {"type": "input_file", "file_url": address},
                {"type": "input_text", "text": "[The file “a.b” of type application/zip was left out: this model does not take it.]"},
            ]),
        );
        check(
            &[
                Part::Audio {
                    url: "data:audio/mpeg;base64,AA==".into(),
                },
                Part::Video {
                    url: "https://a.example/film.mp4".into(),
                },
                Part::Video {
                    url: "data:video/mp4;base64,AA==".into(),
                },
            ],
            &json!([
                {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
                {"type": "input_text", "text": "[Video: https://a.example/film.mp4]"},
                {"type": "input_text", "text": "[Video: not supported by this model]"},
            ]),
        );
    }
}
