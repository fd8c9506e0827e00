//! JSON as servers really write it: half a surrogate pair costs one character, not the answer.

use serde_json::{Value, error::Category};

/// Reads JSON. Escapes that stand for half a character become U+FFFD.
pub(crate) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| match error.classify() {
        Category::Eof | Category::Io => Err(error),
        Category::Syntax | Category::Data => match without_lone_surrogates(text) {
            Some(repaired) => serde_json::from_str(&repaired),
            None => Err(error),
        },
    })
}

/// The text with each lone surrogate escape replaced; `None` if it has none.
fn without_lone_surrogates(text: &str) -> Option<String> {
    let mut repaired = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        let start = at + found;
        match escape_at(text, start) {
            Some(0xD800..0xDC00) if matches!(escape_at(text, start + 6), Some(0xDC00..0xE000)) => {
                at = start + 12
            }
            Some(0xD800..0xE000) => {
                repaired.push_str(&text[copied..start]);
                repaired.push_str("\\ufffd");
                at = start + 6;
                copied = at;
            }
            // The character after a backslash has a byte or more; a backslash among them is skipped, too.
            _ => at = start + 1 + text[start + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    (copied > 0).then(|| repaired + &text[copied..])
}

/// The code unit of the escape `\uXXXX` that begins at `at`.
fn escape_at(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    u32::from_str_radix(digits, 16).ok()
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
