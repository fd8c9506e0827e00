//! Decodes files in messages of clients.

use domain::Part;
use provider::{
    file_part::PDF,
    media::{is_base64, type_of_data},
};
use serde_json::Value;

use crate::{
    conversation::{Checked, text, wrong},
    media::is_media_type,
};

/// Maximum length of a kept name, characters.
const MAX_NAME_CHARS: usize = 200;

/// Reads a file by its URL at `at`: an address, or a `data:` URL in Base64. `said` is the media type given with it.
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

/// The media type of a URL's file, by its extension.
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
        Some("doc") => "application/msword",
        Some("xls") => "application/vnd.ms-excel",
        Some("ppt") => "application/vnd.ms-powerpoint",
        Some("odt") => "application/vnd.oasis.opendocument.text",
        Some("ods") => "application/vnd.oasis.opendocument.spreadsheet",
        Some("odp") => "application/vnd.oasis.opendocument.presentation",
        Some("rtf") => "application/rtf",
        Some("epub") => "application/epub+zip",
        Some("eml") => "message/rfc822",
        Some("msg") => "application/vnd.ms-outlook",
        _ => PDF,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_have_media_types() {
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
}
