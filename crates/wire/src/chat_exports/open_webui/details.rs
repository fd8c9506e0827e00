//! Parses the elements of older versions inside the text: `<details type="reasoning">` and the like around reasoning
//! and calls.

use domain::message::arguments_value;

use super::super::{answer::Piece, fields::milliseconds};

const BEGIN: &str = "<details";
const END: &str = "</details>";

/// The text in pieces: those inside such elements, and those between them.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(begin) = rest[from..].find(BEGIN).map(|at| from + at) {
        // If one has no end, later ones have none either.
        let Some(inside) = tag_end(&rest[begin..]).map(|end| begin + end) else {
            break;
        };
        let Some(end) = rest[inside..].find(END).map(|at| inside + at) else {
            break;
        };
        match element(&rest[begin + BEGIN.len()..inside - 1], &rest[inside..end]) {
            Some(piece) => {
                pieces.push(Piece::Text(rest[..begin].trim().to_owned()));
                pieces.push(piece);
                (rest, from) = (&rest[end + END.len()..], 0);
            }
            // An element of the author's own.
            None => from = end + END.len(),
        }
    }
    pieces.push(Piece::Text(rest.trim().to_owned()));
    pieces
}

/// The offset after a tag's `>`, ignoring those inside quotes.
fn tag_end(tag: &str) -> Option<usize> {
    let mut quoted = false;
    for (at, byte) in tag.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'>' if !quoted => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn element(attributes: &str, inside: &str) -> Option<Piece> {
    let attribute = |name: &str| value_of(attributes, name).map(unescaped);
    // The summary is dropped.
    let body = match (inside.find("<summary>"), inside.find("</summary>")) {
        (Some(begin), Some(end)) if begin < end => {
            format!(
                "{}{}",
                &inside[..begin],
                &inside[end + "</summary>".len()..]
            )
        }
        _ => inside.to_owned(),
    };
    match value_of(attributes, "type")? {
        "reasoning" => {
            let lines = body.trim().lines().map(|line| {
                line.strip_prefix("> ")
                    .or_else(|| line.strip_prefix('>'))
                    .unwrap_or(line)
            });
            let text = unescaped(&lines.collect::<Vec<_>>().join("\n"));
            let seconds = attribute("duration").and_then(|seconds| seconds.parse().ok());
            Some(Piece::Reasoning {
                text,
                duration_ms: milliseconds(seconds),
            })
        }
        "tool_calls" => {
            let plain = |json: String| match serde_json::from_str(&json) {
                Ok(serde_json::Value::String(text)) => text,
                _ => json,
            };
            let name = attribute("name").filter(|name| !name.is_empty())?;
            let arguments = arguments_value(&plain(attribute("arguments").unwrap_or_default()));
            let body = unescaped(body.trim());
            let result = attribute("result")
                .map(plain)
                .or((!body.is_empty()).then_some(body));
            Some(Piece::Call {
                name: name.chars().take(200).collect(),
                arguments,
                result,
            })
        }
        _ => None,
    }
}

/// The raw value of an attribute.
fn value_of<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = attributes;
    while let Some((key, after)) = rest.split_once("=\"") {
        let (value, behind) = after.split_once('"')?;
        if key.trim() == name {
            return Some(value);
        }
        rest = behind;
    }
    None
}

/// Decodes HTML entities.
fn unescaped(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let mut plain = text.to_owned();
    for (written, meant) in [
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
    ] {
        plain = plain.replace(written, meant);
    }
    plain
}
