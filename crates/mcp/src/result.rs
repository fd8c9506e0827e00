//! What a tool answered, as text, empty where it answered nothing: models and logs get words, also for pictures and for kinds that are not known.

use serde_json::Value;

use crate::{call::CallError, words::line};

/// Longest answer kept, bytes; the run cuts further.
const LIMIT_BYTES: usize = 1_000_000;
const MOST_BLOCKS: usize = 1_000;

/// Reads the result of `tools/call`.
pub(crate) fn read(result: &Value) -> Result<String, CallError> {
    let blocks = result.get("content").and_then(Value::as_array);
    let structured = result.get("structuredContent");
    if blocks.is_none() && structured.is_none() {
        return Err(CallError::NoResult);
    }
    let blocks = blocks.map(Vec::as_slice).unwrap_or_default();
    let mut text = String::new();
    for block in blocks.iter().take(MOST_BLOCKS) {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&words_of(block));
        if text.len() > LIMIT_BYTES {
            break;
        }
    }
    // A server that sends both says the same twice.
    let has_text = blocks.iter().any(|block| block.get("type").is_some_and(|kind| kind == "text"));
    if let Some(structured) = structured.filter(|_| !has_text) {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&structured.to_string());
    }
    let text = bounded(text);
    match (result.get("isError") == Some(&Value::Bool(true)), text.trim().is_empty()) {
        (false, _) => Ok(text),
        (true, false) => Err(CallError::Failed(text)),
        (true, true) => Err(CallError::Failed("The tool failed and returned nothing.".to_owned())),
    }
}

fn bounded(mut text: String) -> String {
    if text.len() > LIMIT_BYTES {
        let whole = text.len();
        let end = (0..=LIMIT_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push_str(&format!("\n… cut here: {end} of {whole} bytes"));
    }
    text
}

fn words_of(block: &Value) -> String {
    let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "text" => text("text").to_owned(),
        "image" => format!("[An image: {}, {} bytes]", kind_of(block), decoded_bytes(text("data"))),
        "audio" => format!("[A sound: {}, {} bytes]", kind_of(block), decoded_bytes(text("data"))),
        "resource_link" => {
            let about: Vec<String> =
                ["name", "mimeType", "description"].iter().map(|key| line(text(key), 200)).collect();
            let about: Vec<&str> = about.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
            format!("[A resource: {} ({})]", line(text("uri"), 2_000), about.join(", "))
        }
        "resource" => block.get("resource").map(embedded).unwrap_or_default(),
        kind => format!("[Something that cannot be shown: “{}”]", line(kind, 60)),
    }
}

fn embedded(resource: &Value) -> String {
    let text = |key: &str| resource.get(key).and_then(Value::as_str);
    let uri = line(text("uri").unwrap_or_default(), 2_000);
    match (text("text"), text("blob")) {
        (Some(text), _) => format!("[The resource {uri}]\n{text}"),
        (None, Some(blob)) => {
            format!("[The resource {uri}: {}, {} bytes]", kind_of(resource), decoded_bytes(blob))
        }
        (None, None) => format!("[The resource {uri}, without contents]"),
    }
}

fn kind_of(block: &Value) -> String {
    let kind = block.get("mimeType").and_then(Value::as_str).unwrap_or("of an unknown kind");
    line(kind, 100)
}

/// How many bytes the base64 text stands for.
fn decoded_bytes(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(result: Value, expected: &str) {
        assert_eq!(read(&result), Ok(expected.to_owned()), "{result}");
    }

    #[test]
    fn everything_is_told_in_words() {
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
            json!({ "content": [7, null] }),
            "[Something that cannot be shown: “”]\n\n[Something that cannot be shown: “”]",
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
    fn failures_and_floods() {
        let failed = json!({ "content": [{ "type": "text", "text": "no" }], "isError": true });
        assert_eq!(read(&failed), Err(CallError::Failed("no".into())));
        assert_eq!(read(&json!({ "x": 1 })), Err(CallError::NoResult));
        let flood = json!({ "content": [{ "type": "text", "text": "ё".repeat(2_000_000) }] });
        assert!(read(&flood).unwrap().len() < LIMIT_BYTES + 100);
    }
}
