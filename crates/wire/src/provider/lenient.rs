//! JSON as servers really write it: what is nearly JSON is read as it is meant, and half a surrogate pair costs one
//! character, not the answer.

use domain::json_repair::repaired_text;
use serde_json::Value;

/// Reads JSON, repaired where it has to be.
///
/// # Errors
/// What is wrong with it as it was sent.
pub(crate) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| {
        let repaired = repaired_text(text).and_then(|repaired| serde_json::from_str(&repaired).ok());
        repaired.ok_or(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_pair_costs_one_character() {
        for (json, expected) in [
            (r#""a\ud83db""#, Some("a\u{FFFD}b")),
            (r#""a\ude00b""#, Some("a\u{FFFD}b")),
            (r#""\ud83d\ude00""#, Some("😀")),
            (r#""\ud83d\ud83d\ude00""#, Some("\u{FFFD}😀")),
            (r#""\\ud83d""#, Some("\\ud83d")),
            (r#""\\\ud83d""#, Some("\\\u{FFFD}")),
            (r#""\ud83d"#, None),
            (r#""\ud8"#, None),
            ("\"\\", None),
        ] {
            assert_eq!(parse(json).ok().as_ref().and_then(Value::as_str), expected, "{json}");
        }
    }
}
