//! Takes out of a text or a JSON value what looks like a secret.

use serde_json::Value;

const REDACTED: &str = "[redacted]";
/// Fields whose values are secret, compared without case, `-` and `_`.
const SECRET_FIELDS: [&str; 10] = [
    "apikey",
    "authorization",
    "password",
    "secret",
    "clientsecret",
    "accesstoken",
    "refreshtoken",
    "cookie",
    "setcookie",
    "privatekey",
];
/// How keys that people use begin.
const KEY_PREFIXES: [&str; 6] = ["sk-", "gh_", "ghp_", "xoxb-", "AKIA", "eyJ"];
/// Shorter words that begin so are no keys.
const KEY_BYTES: usize = 12;

/// Replaces secret values at any depth.
pub(crate) fn redact(value: &mut Value) {
    match value {
        Value::String(text) => *text = redact_text(text),
        Value::Array(items) => items.iter_mut().for_each(redact),
        Value::Object(fields) => {
            for (name, value) in fields {
                if is_secret(name) && !value.is_null() {
                    *value = Value::from(REDACTED);
                } else {
                    redact(value);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_secret(field: &str) -> bool {
    let plain: String = field.chars().filter(|c| !matches!(c, '-' | '_')).collect();
    SECRET_FIELDS.contains(&plain.to_lowercase().as_str())
}

/// Replaces words that look like keys, and what follows “Bearer”.
pub(crate) fn redact_text(text: &str) -> String {
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || "-_.+/=~".contains(c));
    let mut redacted = String::with_capacity(text.len());
    let mut after_bearer = false;
    for piece in text.split_inclusive(is_end) {
        let word = piece.trim_end_matches(is_end);
        let is_key = word.len() >= KEY_BYTES && KEY_PREFIXES.iter().any(|prefix| word.starts_with(prefix));
        if is_key || (after_bearer && word.len() >= KEY_BYTES) {
            redacted.push_str(REDACTED);
            redacted.push_str(&piece[word.len()..]);
        } else {
            redacted.push_str(piece);
        }
        after_bearer = word.eq_ignore_ascii_case("bearer") || (after_bearer && word.is_empty());
    }
    redacted
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_go_and_the_rest_stays() {
        for (text, expected) in [
            ("use sk-1234567890abcdef now", "use [redacted] now"),
            ("Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer [redacted]"),
            ("key=\"gh_0123456789abcdef\".", "key=\"[redacted]\"."),
            ("a task-1234567890 is no key, nor is sk-8", "a task-1234567890 is no key, nor is sk-8"),
            ("Löschen: sk-é", "Löschen: sk-é"),
        ] {
            assert_eq!(redact_text(text), expected);
        }
        let mut value =
            json!({"api_key": "x", "API-Key": 7, "nested": [{"Password": "x", "path": "/a"}], "token": "t"});
        redact(&mut value);
        let expected = json!({"api_key": "[redacted]", "API-Key": "[redacted]",
            "nested": [{"Password": "[redacted]", "path": "/a"}], "token": "t"});
        assert_eq!(value, expected);
    }
}
