//! Files that models are to read as they are: what a `data:` URL holds, and words for models that take no such file.

use std::borrow::Cow;

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use domain::{FileRef, Part};

use crate::{
    conversation::{Checked, text, wrong},
    media::{is_base64, is_media_type, type_of_data},
};
use serde_json::Value;

/// Longest name that is kept, characters.
const MAX_NAME_CHARS: usize = 200;
/// Media types of text that do not begin with `text/`.
const TEXT_TYPES: [&str; 9] = [
    "application/json",
    "application/xml",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/javascript",
    "application/x-javascript",
    "application/sql",
    "application/x-sh",
];

/// Reads a file by its URL at `at`: an address, or a `data:` URL in base64. `said` is the media type that stands beside it.
pub(crate) fn file(url: &Value, said: Option<&str>, name: &str, at: &str) -> Checked<Part> {
    let what = format!("`{at}`");
    let url = text(url, &what)?;
    let is_address = url.starts_with("https://") || url.starts_with("http://");
    let media_type = type_of_data(url)
        .or(said)
        .unwrap_or_else(|| type_by_ending(url));
    let is_fit = is_address
        || url
            .split_once(";base64,")
            .is_some_and(|(_, data)| is_base64(data));
    if !is_fit || !is_media_type(media_type) {
        return wrong(&what, "an https: address or a data: URL in base64");
    }
    let name = name
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_NAME_CHARS)
        .collect();
    Ok(Part::File {
        url: url.to_owned(),
        media_type: media_type.to_ascii_lowercase(),
        name,
    })
}

/// The media type of a file at an address, by its ending.
fn type_by_ending(url: &str) -> &'static str {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    match path
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase())
        .as_deref()
    {
        Some("txt" | "log") => "text/plain",
        Some("md") => "text/markdown",
        Some("csv") => "text/csv",
        Some("html" | "htm") => "text/html",
        Some("json") => "application/json",
        Some("docx") => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        Some("xlsx") => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        Some("pptx") => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        _ => PDF,
    }
}

/// The type of the files that every provider with a form for files takes.
pub(crate) const PDF: &str = "application/pdf";

/// Whether files of this media type are text.
pub(crate) fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || TEXT_TYPES.contains(&media_type)
        || media_type.ends_with("+json")
        || media_type.ends_with("+xml")
}

/// What a `data:` URL holds, in base64; `None` for an address.
pub(crate) fn base64_of(url: &str) -> Option<Cow<'_, str>> {
    let (about, data) = url
        .strip_prefix("data:")?
        .split_once(',')
        .unwrap_or_default();
    Some(match about.ends_with(";base64") && is_base64(data) {
        true => Cow::Borrowed(data),
        false => Cow::Owned(STANDARD.encode(percent_decoded(data))),
    })
}

/// The text of a file that is text; `None` if it is not, or lies elsewhere.
pub(crate) fn text_of(file: FileRef<'_>) -> Option<String> {
    let FileRef {
        url, media_type, ..
    } = file;
    if !is_text(media_type) {
        return None;
    }
    let data = base64_of(url)?.replace('+', "-").replace('/', "_");
    let bytes = URL_SAFE_NO_PAD.decode(data.trim_end_matches('=')).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(
        text.strip_prefix('\u{FEFF}')
            .unwrap_or(&text)
            .replace('\0', "\u{FFFD}"),
    )
}

/// What a model that does not accept the file reads instead: its text, its address, or that there was one.
#[must_use]
pub fn file_in_words(file: FileRef<'_>) -> String {
    let FileRef {
        url,
        media_type,
        name,
    } = file;
    let called = if name.is_empty() {
        String::new()
    } else {
        format!(" “{name}”")
    };
    match text_of(file) {
        Some(text) => format!("[The file{called} begins.]\n{text}\n[The file{called} ends.]"),
        None if !url.starts_with("data:") => format!("[The file{called} is at {url}]"),
        None => {
            format!(
                "[The file{called} of type {media_type} was left out: this model does not take it.]"
            )
        }
    }
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let hex = |digit: u8| (digit as char).to_digit(16);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        let escaped = match more {
            [high, low, ..] if *first == b'%' => hex(*high).zip(hex(*low)),
            _ => None,
        };
        let byte = escaped.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &more[2..] } else { more };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_are_read_with_their_type() {
        let of = |url: &str, said| file(&json!(url), said, "a\n.x", "at");
        let expected = |url: &str, media_type: &str| {
            Ok(Part::File {
                url: url.into(),
                media_type: media_type.into(),
                name: "a.x".into(),
            })
        };
        let pdf = "data:application/pdf;base64,JVBERi0=";
        assert_eq!(of(pdf, Some("text/plain")), expected(pdf, PDF));
        let address = "https://a.example/b.TXT?c=d.pdf";
        assert_eq!(of(address, None), expected(address, "text/plain"));
        assert_eq!(of(address, Some("text/csv")), expected(address, "text/csv"));
        for hostile in [
            "data:application/pdf;base64,<>",
            "data:a\"b/c;base64,AAAA",
            "file:///etc/passwd",
            "x",
        ] {
            let refused = of(hostile, None).unwrap_err().to_string();
            assert!(
                refused.starts_with("`at` must be an https: address"),
                "{hostile}: {refused}"
            );
        }
    }

    #[test]
    fn a_model_that_takes_no_files_reads_text_or_a_note() {
        let words = |url: &str, media_type: &str| {
            file_in_words(FileRef {
                url,
                media_type,
                name: "a.b",
            })
        };
        let told = "[The file “a.b” begins.]\nDummy TXT file\n\n[The file “a.b” ends.]";
        // As recorded: text_document_as_binary_content_input.
        assert_eq!(
            words("data:text/plain;base64,RHVtbXkgVFhUIGZpbGUK", "text/plain"),
            told
        );
        assert_eq!(
            words("data:application/json,%7B%7D", "application/json")
                .lines()
                .nth(1),
            Some("{}")
        );
        assert_eq!(
            words("https://a.example/b", "text/plain"),
            "[The file “a.b” is at https://a.example/b]"
        );
        let note =
            "[The file “a.b” of type application/pdf was left out: this model does not take it.]";
        assert_eq!(words("data:application/pdf;base64,JVBERi0=", PDF), note);
    }
}
