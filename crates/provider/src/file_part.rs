//! Files that models read directly: decodes `data:` URLs, and describes unsupported files as text.

use std::borrow::Cow;

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use domain::FileRef;

use crate::media::is_base64;

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

/// The media type that every provider with file input accepts.
pub const PDF: &str = "application/pdf";

/// Whether files of this media type are text.
pub(crate) fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || TEXT_TYPES.contains(&media_type)
        || media_type.ends_with("+json")
        || media_type.ends_with("+xml")
}

/// The Base64 content of a `data:` URL; `None` for another URL.
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

/// The content of a text file; `None` if it is no text, or is elsewhere.
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

/// The replacement text for a model that does not accept the file: its text, its URL, or a note that there was one.
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
    use super::*;

    #[test]
    fn a_model_that_takes_no_files_reads_text_or_a_note() {
        let words = |url: &str, media_type: &str| {
            file_in_words(FileRef {
                url,
                media_type,
                name: "a.b",
            })
        };
        let described = "[The file “a.b” begins.]\nDummy TXT file\n\n[The file “a.b” ends.]";
        // As recorded: text_document_as_binary_content_input.
        assert_eq!(
            words("data:text/plain;base64,RHVtbXkgVFhUIGZpbGUK", "text/plain"),
            described
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
