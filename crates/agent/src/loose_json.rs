//! Parses the JSON object in a model's answer that is fenced, surrounded by text, or truncated.

use serde_json::{Map, Value};

/// Maximum number of positions tried as the beginning of the object.
const MAX_BEGINNINGS: usize = 8;
/// Maximum number of attempts at removing the end of a truncated object.
const MAX_CUTS: usize = 40;

/// The first object in the text that has one of these fields.
pub(crate) fn object(text: &str, fields: &[&str]) -> Option<Map<String, Value>> {
    let text = text.rsplit_once("</think>").map_or(text, |(_, said)| said);
    let beginnings = text.match_indices('{').take(MAX_BEGINNINGS);
    beginnings.map(|(at, _)| &text[at..]).find_map(|text| {
        let value = serde_json::Deserializer::from_str(text)
            .into_iter::<Value>()
            .next();
        let value = value.and_then(Result::ok).or_else(|| closed(text));
        match value {
            Some(Value::Object(object))
                if fields.iter().any(|field| object.contains_key(*field)) =>
            {
                Some(object)
            }
            _ => None,
        }
    })
}

/// A truncated object, reduced to its complete parts.
fn closed(text: &str) -> Option<Value> {
    let mut stack = Vec::new();
    let mut in_string = false;
    let mut escaped = false;
    // Positions after which the text can be closed, with the closing brackets.
    let mut ends: Vec<(usize, String)> = Vec::new();
    for (at, character) in text.char_indices() {
        if in_string {
            in_string = escaped || character != '"';
            escaped = !escaped && character == '\\';
            continue;
        }
        match character {
            '"' => in_string = true,
            '{' => stack.push('}'),
            '[' => stack.push(']'),
            '}' | ']' => {
                if stack.pop() != Some(character) {
                    break;
                }
                ends.push((at + 1, stack.iter().rev().collect()));
            }
            ',' => ends.push((at, stack.iter().rev().collect())),
            _ => {}
        }
    }
    let tries = ends.iter().rev().take(MAX_CUTS);
    tries
        .into_iter()
        .find_map(|(end, close)| serde_json::from_str(&format!("{}{close}", &text[..*end])).ok())
}

/// The strings of a list, the lines of a string, or the first string in an object.
pub(crate) fn texts(value: Option<&Value>) -> Vec<String> {
    let words = |value: &Value| match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Object(fields) => fields
            .values()
            .find_map(Value::as_str)
            .map(|text| text.trim().to_owned()),
        _ => None,
    };
    let found: Vec<String> = match value {
        Some(Value::Array(list)) => list.iter().filter_map(words).collect(),
        Some(Value::String(text)) => text.lines().map(|line| line.trim().to_owned()).collect(),
        _ => Vec::new(),
    };
    found.into_iter().filter(|text| !text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(text: &str, expected: Option<Value>) {
        assert_eq!(
            object(text, &["queries"]).map(Value::Object),
            expected,
            "{text}"
        );
    }

    #[test]
    fn reads_malformed_json_of_models() {
        let plain = Some(json!({"queries": ["a", "b"]}));
        check(r#"{"queries": ["a", "b"]}"#, plain.clone());
        check(
            "Sure!\n```json\n{\"queries\": [\"a\", \"b\"]}\n```\nHope it helps {}",
            plain.clone(),
        );
        check(
            "<think>{\"queries\": []}</think> I use {braces}. {\"queries\": [\"a\", \"b\"]}",
            plain.clone(),
        );
        check(r#"{"queries": ["a", "b", "c ha"#, plain.clone());
        check(r#"{"queries": ["a", "b"], "done": fal"#, plain);
        check(r#"{"queries": "#, None);
        check("", None);
        check("I cannot do that.", None);
        check(r#"{"other": 1}"#, None);
        check(&"{".repeat(100_000), None);
        check(&"[{\"a\":".repeat(50_000), None);
    }

    #[test]
    fn texts_of_lists_and_lines() {
        assert_eq!(
            texts(Some(&json!(["a ", {"query": "b"}, 7, ""]))),
            ["a", "b"]
        );
        assert_eq!(texts(Some(&json!("a\n b \n\n"))), ["a", "b"]);
        assert!(texts(None).is_empty() && texts(Some(&json!(7))).is_empty());
    }
}
