//! The parts of a message's content as input: text, pictures, files and sound.

use std::borrow::Cow;

use domain::Part;
use serde::Serialize;

use crate::media::{audio_format, type_of_data};

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
    Image { image_url: &'a str, detail: &'static str },
    #[serde(rename = "input_file")]
    File { filename: String, file_data: &'a str },
    #[serde(rename = "input_audio")]
    Audio { input_audio: InputAudio<'a> },
}

#[derive(Debug, Serialize)]
pub(super) struct InputAudio<'a> {
    data: &'a str,
    format: &'a str,
}

/// Text alone goes as a string.
pub(super) fn content<'a>(parts: impl Iterator<Item = &'a Part>) -> Content<'a> {
    let mut parts: Vec<InputPart<'a>> = parts.filter_map(input_part).collect();
    match parts.as_mut_slice() {
        [] => Content::Text(Cow::Borrowed("")),
        [InputPart::Text { text }] => Content::Text(std::mem::take(text)),
        _ => Content::Parts(parts),
    }
}

/// Whether the output of a tool may contain it: text, pictures and files.
pub(super) fn is_for_output(part: &Part) -> bool {
    !matches!(part, Part::Audio { .. } | Part::Video { .. })
}

/// What a person points to is told in words before, so it has no form here.
pub(super) fn input_part(part: &Part) -> Option<InputPart<'_>> {
    let words = |text: String| Some(InputPart::Text { text: Cow::Owned(text) });
    match part {
        Part::Text { text } => Some(InputPart::Text { text: Cow::Borrowed(text) }),
        Part::Image { url } => Some(picture_or_file(url)),
        Part::Audio { url } => match input_audio(url) {
            Some(input_audio) => Some(InputPart::Audio { input_audio }),
            None => words(format!("[Audio: {}]", shown(url))),
        },
        Part::Video { url } => words(format!("[Video: {}]", shown(url))),
        Part::Document { .. } | Part::Collection { .. } => None,
    }
}

/// A page of a PDF is a picture for people, and a file for the API.
fn picture_or_file(url: &str) -> InputPart<'_> {
    match type_of_data(url) {
        Some(kind) if !kind.is_empty() && !kind.starts_with("image/") => {
            let extension = match kind {
                "application/pdf" => "pdf",
                _ => "txt",
            };
            InputPart::File { filename: format!("file.{extension}"), file_data: url }
        }
        _ => InputPart::Image { image_url: url, detail: "auto" },
    }
}

/// Sound in base64 with the name of its format.
fn input_audio(url: &str) -> Option<InputAudio<'_>> {
    let (format, data) = url.strip_prefix("data:audio/")?.split_once(";base64,")?;
    Some(InputAudio { data, format: audio_format(format) })
}

/// An address, or what the API has no form for.
fn shown(url: &str) -> &str {
    if url.starts_with("data:") { "not supported by this model" } else { url }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(parts: &[Part], expected: &Value) {
        assert_eq!(&serde_json::to_value(content(parts.iter())).unwrap(), expected);
    }

    #[test]
    fn text_and_media() {
        let text = |text: &str| Part::Text { text: text.into() };
        check(&[text("hi")], &json!("hi"));
        check(&[], &json!(""));
        // As recorded: openai_responses_image_url_input, document_as_binary_content_input.
        let (picture, pdf) = ("https://a.example/b.jpg", "data:application/pdf;base64,JVBERi0=");
        check(
            &[text("see"), Part::Image { url: picture.into() }, Part::Image { url: pdf.into() }],
            &json!([
                {"type": "input_text", "text": "see"},
                {"type": "input_image", "image_url": picture, "detail": "auto"},
                {"type": "input_file", "filename": "file.pdf", "file_data": pdf},
            ]),
        );
        check(
            &[
                Part::Audio { url: "data:audio/mpeg;base64,AA==".into() },
                Part::Video { url: "https://a.example/film.mp4".into() },
                Part::Video { url: "data:video/mp4;base64,AA==".into() },
            ],
            &json!([
                {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
                {"type": "input_text", "text": "[Video: https://a.example/film.mp4]"},
                {"type": "input_text", "text": "[Video: not supported by this model]"},
            ]),
        );
    }
}
