//! The displayed text of a tool's result, with placeholders for failures and empty results.

use std::borrow::Cow;

use serde_json::Value;

/// The text for a successful call without output.
pub(crate) const COMPLETED: &str = "✓ completed";
/// The text for a failed call without a message.
const FAILED: &str = "the call failed";

/// The text of the result, for a message or an attribute.
pub(crate) fn shown(result: &str, error: bool) -> Cow<'_, str> {
    match (error, says_something(result)) {
        (false, true) => result.into(),
        (false, false) => COMPLETED.into(),
        (true, true) => format!("Error: {result}").into(),
        (true, false) => format!("Error: {FAILED}").into(),
    }
}

/// Whether there is anything to read: false for an empty result, and for JSON without a value.
pub(crate) fn says_something(result: &str) -> bool {
    fn has_value(value: &Value) -> bool {
        match value {
            Value::String(text) => !text.trim().is_empty(),
            Value::Array(items) => items.iter().any(has_value),
            Value::Object(fields) => fields.values().any(has_value),
            Value::Bool(_) | Value::Number(_) => true,
            Value::Null => false,
        }
    }
    let result = result.trim();
    if !result.starts_with(['{', '[']) && result != "null" {
        return !result.is_empty();
    }
    serde_json::from_str(result).map_or(true, |value| has_value(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_000_empty_results_are_marked_as_completed() {
        for (result, expected) in [
            ("", COMPLETED),
            (" \n", COMPLETED),
            ("{}", COMPLETED),
            ("null", COMPLETED),
            (r#"{"files":[]}"#, COMPLETED),
            (r#"{"version":2}"#, r#"{"version":2}"#),
            (r#"{"text":"x"}"#, r#"{"text":"x"}"#),
            ("{broken", "{broken"),
            ("7", "7"),
            ("x", "x"),
        ] {
            assert_eq!(shown(result, false), expected, "{result}");
        }
        assert_eq!(shown("No such file.", true), "Error: No such file.");
        assert_eq!(shown("{}", true), "Error: the call failed");
    }
}
