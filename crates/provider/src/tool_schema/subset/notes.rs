//! Describes constraints that Gemini has no keyword for in the description.

use serde_json::Value;

use super::keywords::Keywords;

/// Unsupported keywords, and their names in the description.
const UNSUPPORTED_KEYWORDS: [(&str, &str); 8] = [
    ("format", "format"),
    ("pattern", "pattern"),
    ("minLength", "minimum length"),
    ("maxLength", "maximum length"),
    ("multipleOf", "multiple of"),
    ("contentEncoding", "encoding"),
    ("minProperties", "minimum number of properties"),
    ("maxProperties", "maximum number of properties"),
];

/// Maximum length of a described value.
const MAX_TEXT_BYTES: usize = 200;

/// The description, extended by unsupported keywords; `None` if it is empty.
pub(super) fn description(schema: &Keywords<'_>, kind: Option<&str>) -> Option<String> {
    let description = schema
        .get("description")
        .and_then(|text| text.as_str())
        .unwrap_or_default();
    let mut notes: Vec<String> = UNSUPPORTED_KEYWORDS
        .iter()
        .filter_map(|(keyword, words)| Some(format!("{words}: {}", text_of(schema.get(keyword)?)?)))
        .collect();
    if kind != Some("integer") {
        for (keyword, words) in [
            ("exclusiveMinimum", "more than"),
            ("exclusiveMaximum", "less than"),
        ] {
            if let Some(limit) = schema.get(keyword).filter(|limit| limit.is_number()) {
                notes.push(format!("{words} {limit}"));
            }
        }
    }
    if schema
        .get("uniqueItems")
        .is_some_and(|unique| unique.as_bool() == Some(true))
    {
        notes.push("no item twice".to_owned());
    }
    match (description, notes.join(", ")) {
        ("", notes) if notes.is_empty() => None,
        ("", notes) => Some(notes),
        (description, notes) if notes.is_empty() => Some(description.to_owned()),
        (description, notes) => Some(format!("{description} ({notes})")),
    }
}

fn text_of(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty() && text.len() <= MAX_TEXT_BYTES).then_some(text)
}
