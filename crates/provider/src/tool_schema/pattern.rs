//! Regular expressions in schemas.

use serde_json::Value;

use super::subschemas;

/// Removes the patterns from a schema that `is_known` does not know.
pub fn retain_patterns(schema: &mut Value, is_known: &impl Fn(&str) -> bool) {
    let Value::Object(fields) = schema else {
        return;
    };
    if fields
        .get("pattern")
        .and_then(Value::as_str)
        .is_some_and(|pattern| !is_known(pattern))
    {
        fields.shift_remove("pattern");
    }
    if let Some(Value::Object(by_pattern)) = fields.get_mut("patternProperties") {
        by_pattern.retain(|pattern, _| is_known(pattern));
    }
    subschemas::each_mut(fields, |schema| retain_patterns(schema, is_known));
}

/// Whether a pattern of ECMA-262 is a regular one: without look-around, references, flags and assertions other than anchors.
pub(super) fn is_regular(pattern: &str) -> bool {
    let mut rest = pattern;
    while let Some(at) = rest.find(['\\', '(']) {
        let after = &rest[at + 1..];
        let escaped = after.chars().next();
        let is_refused = match rest.as_bytes()[at] {
            b'\\' => matches!(
                escaped,
                None | Some('1'..='9' | 'k' | 'b' | 'B' | 'p' | 'P')
            ),
            _ => after.starts_with('?') && !after.starts_with("?:"),
        };
        if is_refused {
            return false;
        }
        let skipped = if rest.as_bytes()[at] == b'\\' {
            escaped.map_or(0, char::len_utf8)
        } else {
            0
        };
        rest = &after[skipped..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::is_regular;

    #[test]
    fn look_around_and_references_are_detected() {
        for pattern in [
            r"^\d{3}-[a-z]+$",
            r"(?:a|b)\(",
            r"\\1",
            "",
            r"[^\s]+",
            "é(a)",
        ] {
            assert!(is_regular(pattern), "{pattern}");
        }
        for pattern in [
            r"^(?!\.)a",
            r"(?=a)b",
            r"(?<=a)b",
            r"(?<!a)b",
            r"(?<year>\d{4})\k<year>",
            r"(a)\1",
            r"\bword\b",
            r"\p{L}",
            "\\",
        ] {
            assert!(!is_regular(pattern), "{pattern}");
        }
    }
}
