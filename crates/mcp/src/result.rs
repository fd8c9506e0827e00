//! The result of a tool call: its text, and its media, decoded and bounded. Empty if the tool returned nothing.

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde_json::Value;

use crate::{call::CallError, words::line};

/// Maximum length of the text, bytes; the run cuts further.
const LIMIT_BYTES: usize = 1_000_000;
const MAX_BLOCKS: usize = 1_000;
/// Maximum size of a picture, sound or file, bytes.
const MAX_MEDIA_BYTES: usize = 10_000_000;
/// Maximum number of media in one result, and of their total bytes.
const MAX_MEDIA: usize = 16;
const MAX_TOTAL_MEDIA_BYTES: usize = 20_000_000;

/// Some servers omit the padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The result of a tool, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Texts and media; never empty.
    pub pieces: Vec<Piece>,
}

/// One piece of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text for the model.
    Text(String),
    /// A picture, a sound, a file or HTML.
    Media(Media),
}

/// A picture, a sound or a file inside a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// The block type: `image`, `audio` or `resource`.
    pub kind: &'static str,
    /// The declared media type, such as `image/png`. Only a claim.
    pub media_type: String,
    /// The resource's URI; empty if it is none.
    pub uri: String,
    /// The content.
    pub bytes: Vec<u8>,
    /// Whether it is HTML to be shown in a frame: a resource of the type `text/html` with a `ui:` URI.
    pub embed: bool,
}

impl Answer {
    /// One text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self {
            pieces: vec![Piece::Text(text.to_owned())],
        }
    }

    /// The text of the result, for callers that keep no files.
    #[must_use]
    pub fn text(&self) -> String {
        let words = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Media(media) => media.words(),
        });
        words.collect::<Vec<_>>().join("\n\n")
    }
}

impl Media {
    /// The placeholder for it in a text.
    #[must_use]
    pub fn words(&self) -> String {
        let kind = or_unknown(&self.media_type);
        let bytes = self.bytes.len();
        match self.kind {
            "image" => format!("[An image: {kind}, {bytes} bytes]"),
            "audio" => format!("[A sound: {kind}, {bytes} bytes]"),
            _ => format!("[The resource {}: {kind}, {bytes} bytes]", self.uri),
        }
    }
}

/// Fields of a result without information for a model.
const ABOUT: [&str; 3] = ["_meta", "isError", "resultType"];

/// Parses the result of `tools/call`.
pub(crate) fn read(result: &Value) -> Result<Answer, CallError> {
    let structured = result
        .get("structuredContent")
        .filter(|structured| !structured.is_null());
    let loose;
    let blocks = match result.get("content") {
        Some(Value::Array(blocks)) => blocks.as_slice(),
        None if structured.is_some() => &[],
        content => {
            loose = loose_blocks(result, content)?;
            &loose
        }
    };
    let mut reading = Reading::default();
    for block in blocks.iter().take(MAX_BLOCKS) {
        reading.read(block);
        if reading.text_bytes > LIMIT_BYTES {
            break;
        }
    }
    if let Some(structured) = structured.filter(|structured| !says(blocks, structured)) {
        reading.say(structured.to_string());
    }
    let answer = Answer {
        pieces: reading.pieces,
    };
    if result.get("isError") != Some(&Value::Bool(true)) {
        return Ok(answer);
    }
    let says_nothing = answer.text().trim().is_empty();
    Err(CallError::Failed(if says_nothing {
        Answer::of("The tool failed and returned nothing.")
    } else {
        answer
    }))
}

/// The blocks of a result whose `content` is missing or no list of blocks.
fn loose_blocks(result: &Value, content: Option<&Value>) -> Result<Vec<Value>, CallError> {
    let content = match (content, result) {
        (Some(content), _) => content.clone(),
        // Some return the tool's value directly.
        (None, Value::Object(fields)) => {
            let says = |(name, value): &(&String, &Value)| {
                !ABOUT.contains(&name.as_str()) && !value.is_null()
            };
            fields
                .iter()
                .filter(says)
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect()
        }
        (None, Value::Null) => return Err(CallError::NoResult),
        (None, result) => result.clone(),
    };
    Ok(match content {
        Value::Array(blocks) => blocks,
        Value::Object(fields) if fields.is_empty() => Vec::new(),
        content => vec![content],
    })
}

/// Whether the texts contain all of the structured content, as they should. Some servers wrap a value that is no object
/// in one field, such as `result` or `content`.
fn says(blocks: &[Value], structured: &Value) -> bool {
    let mut texts = blocks
        .iter()
        .filter(|block| text_of(block, "type") == "text")
        .map(|block| text_of(block, "text").trim());
    let only = structured.as_object().filter(|fields| fields.len() == 1);
    match only.and_then(|fields| fields.values().next()) {
        // One text per item.
        Some(Value::Array(items)) if blocks.len() > 1 => {
            let texts: Vec<&str> = texts.collect();
            texts.len() == items.len()
                && texts
                    .iter()
                    .zip(items)
                    .all(|(text, item)| contains_value(text, item))
        }
        wrapped => texts.any(|text| {
            contains_value(text, structured) || wrapped.is_some_and(|it| contains_value(text, it))
        }),
    }
}

/// Whether a text is this value: literally, or as JSON.
fn contains_value(text: &str, value: &Value) -> bool {
    value.as_str().is_some_and(|value| value.trim() == text)
        || serde_json::from_str::<Value>(text).is_ok_and(|said| said == *value)
}

/// A result that is being read, with its size so far.
#[derive(Default)]
struct Reading {
    pieces: Vec<Piece>,
    text_bytes: usize,
    media: usize,
    media_bytes: usize,
}

impl Reading {
    fn read(&mut self, block: &Value) {
        match text_of(block, "type") {
            "text" => self.say_value(&block["text"]),
            // Not a block, but a tool's value.
            "" => self.say_value(block.get("text").unwrap_or(block)),
            "image" => self.decode(block, "image", "data"),
            "audio" => self.decode(block, "audio", "data"),
            "resource_link" => self.say(link_words(block)),
            "resource" => {
                if let Some(resource) = block.get("resource") {
                    self.read_resource(resource);
                }
            }
            kind => self.say(format!(
                "[Something that cannot be shown: “{}”]",
                line(kind, 60)
            )),
        }
    }

    fn read_resource(&mut self, resource: &Value) {
        let uri = line(text_of(resource, "uri"), 2_000);
        let text = |key: &str| resource.get(key).and_then(Value::as_str);
        match (text("text"), text("blob")) {
            (Some(html), _) if is_embed(resource, &uri) => {
                self.keep(resource, "resource", html.into())
            }
            (Some(text), _) => self.say(format!("[The resource {uri}]\n{text}")),
            (None, Some(_)) => self.decode(resource, "resource", "blob"),
            (None, None) => self.say(format!("[The resource {uri}, without contents]")),
        }
    }

    /// Decodes the Base64 in this field.
    fn decode(&mut self, block: &Value, kind: &'static str, field: &str) {
        let data = text_of(block, field);
        // An estimate, so that oversized data is not decoded.
        if data.len() / 4 * 3 > MAX_MEDIA_BYTES + 3 {
            return self.leave_out(kind, "it is too large");
        }
        let data: Vec<u8> = data
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace())
            .collect();
        match BASE64.decode(&data) {
            Ok(bytes) if bytes.is_empty() => self.leave_out(kind, "it has no data"),
            Ok(bytes) => self.keep(block, kind, bytes),
            Err(_) => self.leave_out(kind, "its data is not valid base64"),
        }
    }

    fn keep(&mut self, block: &Value, kind: &'static str, bytes: Vec<u8>) {
        let uri = line(text_of(block, "uri"), 2_000);
        if bytes.len() > MAX_MEDIA_BYTES {
            return self.leave_out(kind, "it is too large");
        }
        if self.media == MAX_MEDIA || self.media_bytes + bytes.len() > MAX_TOTAL_MEDIA_BYTES {
            return self.leave_out(kind, "the answer has too much of them");
        }
        self.media += 1;
        self.media_bytes += bytes.len();
        let media_type = line(text_of(block, "mimeType"), 100);
        let embed = is_embed(block, &uri);
        self.pieces.push(Piece::Media(Media {
            kind,
            media_type,
            uri,
            bytes,
            embed,
        }));
    }

    fn leave_out(&mut self, kind: &str, why: &str) {
        self.say(format!(
            "[{} was left out: {why}]",
            match kind {
                "image" => "An image",
                "audio" => "A sound",
                _ => "A resource",
            }
        ));
    }

    fn say_value(&mut self, value: &Value) {
        match value {
            Value::Null => {}
            Value::String(text) => self.say(text.clone()),
            value => self.say(value.to_string()),
        }
    }

    fn say(&mut self, text: String) {
        let text = bounded(text, LIMIT_BYTES.saturating_sub(self.text_bytes));
        self.text_bytes += text.len();
        self.pieces.push(Piece::Text(text));
    }
}

/// Whether a resource is a user interface of MCP-UI or MCP Apps: HTML with a `ui:` URI.
fn is_embed(resource: &Value, uri: &str) -> bool {
    let media_type = text_of(resource, "mimeType")
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    uri.starts_with("ui://") && media_type.eq_ignore_ascii_case("text/html")
}

fn bounded(mut text: String, limit_bytes: usize) -> String {
    if text.len() > limit_bytes {
        let whole = text.len();
        let end = text.floor_char_boundary(limit_bytes);
        text.truncate(end);
        text.push_str(&format!("\n… cut here: {end} of {whole} bytes"));
    }
    text
}

fn text_of<'a>(block: &'a Value, key: &str) -> &'a str {
    block.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn link_words(block: &Value) -> String {
    let about: Vec<String> = ["name", "mimeType", "description"]
        .iter()
        .map(|key| line(text_of(block, key), 200))
        .collect();
    let about: Vec<&str> = about
        .iter()
        .map(String::as_str)
        .filter(|word| !word.is_empty())
        .collect();
    format!(
        "[A resource: {} ({})]",
        line(text_of(block, "uri"), 2_000),
        about.join(", ")
    )
}

fn or_unknown(media_type: &str) -> &str {
    if media_type.is_empty() {
        "of an unknown kind"
    } else {
        media_type
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(result: Value, expected: &str) {
        assert_eq!(
            read(&result).map(|answer| answer.text()),
            Ok(expected.to_owned()),
            "{result}"
        );
    }

    #[test]
    fn every_block_becomes_text() {
        check(
            json!({ "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] }),
            "a\n\nb",
        );
        check(
            json!({ "content": [{ "type": "image", "mimeType": "image/png", "data": "iVBORw==" }] }),
            "[An image: image/png, 4 bytes]",
        );
        check(
            json!({ "content": [{ "type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "text/plain" }] }),
            "[A resource: file:///a (a, text/plain)]",
        );
        check(
            json!({ "content": [{ "type": "resource", "resource": { "uri": "x:1", "text": "t" } }] }),
            "[The resource x:1]\nt",
        );
        check(
            json!({ "content": [{ "type": "resource", "resource": { "uri": "x:1", "blob": "AAAA" } }, { "type": "hologram" }] }),
            "[The resource x:1: of an unknown kind, 3 bytes]\n\n[Something that cannot be shown: “hologram”]",
        );
        check(json!({ "content": [] }), "");
        check(json!({ "content": [{"type": "text", "text": ""}] }), "");
        check(
            json!({ "content": [7, null, "b", { "type": "text", "text": { "a": 1 } }, { "text": "c" }] }),
            "7\n\nb\n\n{\"a\":1}\n\nc",
        );
    }

    #[test]
    fn structured_results_are_not_doubled() {
        check(json!({ "structuredContent": { "a": 1 } }), r#"{"a":1}"#);
        check(
            json!({ "content": [{ "type": "text", "text": "{\"a\": 1}" }], "structuredContent": { "a": 1 } }),
            r#"{"a": 1}"#,
        );
    }

    #[test]
    fn structured_results_reach_the_model() {
        let both = |texts: &[&str], structured: Value| {
            let content: Vec<Value> = texts
                .iter()
                .map(|text| json!({ "type": "text", "text": text }))
                .collect();
            json!({ "content": content, "structuredContent": structured })
        };
        check(
            both(&["3 rows"], json!({ "rows": [1, 2, 3] })),
            "3 rows\n\n{\"rows\":[1,2,3]}",
        );
        // A wrapped value is contained in its text.
        check(both(&["5"], json!({ "result": 5 })), "5");
        check(both(&["a b"], json!({ "result": "a b" })), "a b");
        // As in the protocol authors' file server.
        check(both(&["a\nb\n"], json!({ "content": "a\nb\n" })), "a\nb\n");
        check(
            both(&["{\"a\": 1}"], json!({ "content": "{\"a\": 1}" })),
            "{\"a\": 1}",
        );
        check(both(&["1", "x"], json!({ "result": [1, "x"] })), "1\n\nx");
        check(
            both(&["1", "x"], json!({ "result": [1, "y"] })),
            "1\n\nx\n\n{\"result\":[1,\"y\"]}",
        );
        check(both(&["a"], Value::Null), "a");
    }

    #[test]
    fn failures_and_floods() {
        let failed = json!({ "content": [{ "type": "text", "text": "no" }], "isError": true });
        assert_eq!(read(&failed), Err(CallError::Failed(Answer::of("no"))));
        assert_eq!(read(&Value::Null), Err(CallError::NoResult));
        let flood = json!({ "content": [{ "type": "text", "text": "ё".repeat(2_000_000) }] });
        assert!(read(&flood).unwrap().text().len() < LIMIT_BYTES + 100);
    }

    #[test]
    fn media_are_decoded_and_bounded() {
        let image = |data: &str| json!({ "type": "image", "mimeType": "image/png", "data": data });
        let read_one = |block: Value| {
            read(&json!({ "content": [block] }))
                .unwrap()
                .pieces
                .remove(0)
        };
        let Piece::Media(media) = read_one(image("iVBO\nRw")) else {
            panic!()
        };
        assert_eq!(
            (media.kind, &media.media_type[..], &media.bytes[..]),
            ("image", "image/png", &b"\x89PNG"[..])
        );
        let says =
            |block: Value, words: &str| assert_eq!(read_one(block), Piece::Text(words.into()));
        says(
            image("no base64!"),
            "[An image was left out: its data is not valid base64]",
        );
        says(image(""), "[An image was left out: it has no data]");
        says(
            image(&"A".repeat(MAX_MEDIA_BYTES / 3 * 4 + 100)),
            "[An image was left out: it is too large]",
        );
        let many = vec![image("iVBORw=="); MAX_MEDIA + 1];
        let pieces = read(&json!({ "content": many })).unwrap().pieces;
        assert_eq!(
            pieces
                .iter()
                .filter(|piece| matches!(piece, Piece::Media(_)))
                .count(),
            MAX_MEDIA
        );
        assert_eq!(
            pieces[MAX_MEDIA],
            Piece::Text("[An image was left out: the answer has too much of them]".into())
        );
    }

    #[test]
    fn user_interface_html_is_recognized() {
        let resource = |uri: &str, kind: &str| {
            let resource = json!({ "uri": uri, "mimeType": kind, "text": "<b>Hi</b>" });
            let result = json!({ "content": [{ "type": "resource", "resource": resource }] });
            matches!(&read(&result).unwrap().pieces[0], Piece::Media(media) if media.embed)
        };
        assert!(
            resource("ui://chart/1", "text/html")
                && resource("ui://a", "text/html;profile=mcp-app")
        );
        assert!(!resource("file:///a.html", "text/html") && !resource("ui://a", "text/plain"));
    }
}
