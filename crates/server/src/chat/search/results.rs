//! Tool results as searchable text: many are JSON, in which an escaped `\n` precedes the first word of a line.

use std::{borrow::Cow, fmt::Write};

use serde_json::Value;

use super::TEXT_BYTES;

/// The values of JSON, one per line after its name; any other text unchanged.
pub(super) fn readable(result: &str) -> Cow<'_, str> {
    if !result.starts_with(['{', '[']) {
        return Cow::Borrowed(result);
    }
    let Ok(value) = serde_json::from_str(result) else {
        return Cow::Borrowed(result);
    };
    let mut lines = String::new();
    tell(None, &value, &mut lines);
    Cow::Owned(lines)
}

fn tell(name: Option<&str>, value: &Value, lines: &mut String) {
    if lines.len() > TEXT_BYTES {
        return;
    }
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, value)| tell(Some(name), value, lines)),
        Value::Array(values) => values.iter().for_each(|value| tell(name, value, lines)),
        value => {
            if let Some(name) = name {
                _ = write!(lines, "{name}: ");
            }
            match value {
                Value::String(text) => lines.push_str(text),
                value => _ = write!(lines, "{value}"),
            }
            lines.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::search::words::words_of;

    #[test]
    fn json_is_read_line_by_line() {
        for (result, expected) in [
            ("2 files", "2 files"),
            ("{not json", "{not json"),
            (
                r#"{"n": 1, "ok": [true, null]}"#,
                "n: 1\nok: true\nok: null\n",
            ),
            (
                r#"[{"text": "A \"b\"\nВысота"}, "c"]"#,
                "text: A \"b\"\nВысота\nc\n",
            ),
        ] {
            assert_eq!(readable(result), expected);
        }
    }

    #[test]
    fn the_first_word_of_a_line_is_found() {
        let words = words_of(&readable(r#"{"text": "High.\n\nTower"}"#));
        assert!(words.contains("tower"), "{words:?}");
    }
}
