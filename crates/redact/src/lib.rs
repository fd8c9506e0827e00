//! Removes secrets from texts and JSON values: debug events, logs, traces, the audit log. Keys are recognized by their
//! format, other secrets by the name before them, such as `password`. A text is read once.

mod names;
mod scan;
mod secret;
mod tokens;

use std::borrow::Cow;

use serde_json::{Map, Value};

use names::{CommandOption, Name};
pub use secret::Secret;

/// The replacement of a secret.
pub const REDACTED: &str = "[redacted]";

/// The text without secrets.
#[must_use]
pub fn text(text: &str) -> Cow<'_, str> {
    let spans = scan::secrets(text);
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut redacted = String::with_capacity(text.len());
    let mut from = 0;
    for span in spans {
        redacted.push_str(text.get(from..span.start).unwrap_or_default());
        redacted.push_str(REDACTED);
        from = span.end;
    }
    redacted.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(redacted)
}

/// Redacts a value at any depth: fields with a secret name, and secrets in texts.
pub fn value(value: &mut Value) {
    match value {
        Value::String(string) => {
            if let Cow::Owned(redacted) = text(string) {
                *string = redacted;
            }
        }
        Value::Array(items) => array(items),
        Value::Object(fields) => object(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The beginning of a text, at most this many bytes, without secrets. A secret across the cut is still recognized.
#[must_use]
pub fn beginning(text: &str, limit_bytes: usize) -> Cow<'_, str> {
    let window = text.floor_char_boundary(limit_bytes.saturating_add(tokens::MAX_KEY_BYTES));
    let cut = |text: &str| text.floor_char_boundary(limit_bytes);
    match self::text(&text[..window]) {
        Cow::Borrowed(text) => text[..cut(text)].into(),
        Cow::Owned(mut text) => {
            text.truncate(cut(&text));
            text.into()
        }
    }
}

/// The arguments of a command may be separate items: `["--password", "…"]`.
fn array(items: &mut [Value]) {
    let mut option = None;
    for item in items {
        let named = item.as_str().and_then(CommandOption::of);
        match (option, item.as_str()) {
            (Some(option), Some(text)) if named.is_none() => {
                if let Cow::Owned(redacted) = argument(option, text) {
                    *item = redacted.into();
                }
            }
            _ => value(item),
        }
        option = named;
    }
}

/// The argument of a command's option.
fn argument(option: CommandOption, text: &str) -> Cow<'_, str> {
    match scan::secret_in_argument(option, text) {
        Some(span) => format!("{}{REDACTED}{}", &text[..span.start], &text[span.end..]).into(),
        None => self::text(text),
    }
}

fn object(fields: &mut Map<String, Value>) {
    // A header or variable as `{"name": "X-Api-Key", "value": "…"}`.
    let named = ["name", "key"]
        .iter()
        .find_map(|field| fields.get(*field)?.as_str())
        .map(Name::of);
    for (name, content) in fields {
        let of_name = if name.eq_ignore_ascii_case("secret") {
            Name::Secret
        } else {
            Name::of(name)
        };
        let known = if name == "value" {
            named.unwrap_or(of_name)
        } else {
            of_name
        };
        if is_secret(known, content) {
            *content = Value::from(REDACTED);
        } else {
            value(content);
        }
    }
}

fn is_secret(name: Name, content: &Value) -> bool {
    match (name, content) {
        (_, Value::Null | Value::Bool(_)) => false,
        (Name::Secret | Name::Header | Name::Authorization, Value::String(text)) => {
            !text.is_empty()
        }
        (Name::Secret | Name::Header | Name::Authorization, _) => true,
        (Name::Maybe, Value::String(text)) => tokens::looks_random(text),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_lose_their_secrets_at_any_depth() {
        let mut found = json!({
            "api_key": "x", "API-Key": 7, "nested": [{"Password": "x", "path": "/a"}], "token": "t",
            "text": "use sk-1234567890abcdef", "access_token": "abc", "authorization": {"user": "ada"}, "password": null,
            "max_tokens": 4096, "is_secret": true, "session_token": "AbC123xyz789",
            "headers": [{"name": "X-Api-Key", "value": "plain"}, {"name": "Accept", "value": "text/html"}],
        });
        value(&mut found);
        let expected = json!({
            "api_key": REDACTED, "API-Key": REDACTED, "nested": [{"Password": REDACTED, "path": "/a"}], "token": "t",
            "text": "use [redacted]", "access_token": REDACTED, "authorization": REDACTED, "password": null,
            "max_tokens": 4096, "is_secret": true, "session_token": REDACTED,
            "headers": [{"name": "X-Api-Key", "value": REDACTED}, {"name": "Accept", "value": "text/html"}],
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn separate_command_arguments_are_redacted() {
        let mut found = json!([
            "mysql",
            "--password",
            "hunter2",
            "-u",
            "ada:pw1",
            "--token",
            "a1b2c3d4",
            "-v",
            "-uada:pw2",
            "--password"
        ]);
        value(&mut found);
        let expected = json!([
            "mysql",
            "--password",
            REDACTED,
            "-u",
            "ada:[redacted]",
            "--token",
            REDACTED,
            "-v",
            "-uada:[redacted]",
            "--password"
        ]);
        assert_eq!(found, expected);
    }

    #[test]
    fn a_cut_hides_no_secret() {
        let text = "use sk-1234567890abcdef now";
        for limit in 0..text.len() {
            assert!(!beginning(text, limit).contains("sk-"), "{limit}");
        }
        assert_eq!(beginning(text, 14), "use [redacted]");
        assert_eq!(beginning("äö", 3), "ä");
    }

    #[test]
    fn a_text_without_secrets_is_not_copied() {
        assert!(matches!(
            text("Nothing here: 12:30, a=b, https://example.org/?q=1"),
            Cow::Borrowed(_)
        ));
    }

    /// Inputs that make a quadratic scanner slow: it would take seconds.
    #[test]
    fn long_hostile_texts_are_read_once() {
        for piece in [
            "://",
            "a://",
            "=",
            ":",
            "password=",
            "password:",
            "password=\"",
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN ",
            "sk-",
            "eyJ",
            "Bearer ",
            "Basic ",
            "-u ",
            "-uu",
            " -pp",
            "\\\"",
            "x",
            "token",
            "?a=",
            "@",
            "https://a:b",
            "authorization: ",
            "cookie: ",
            "--password ",
            "-u ",
            "-u a:",
        ] {
            let long = piece.repeat(400_000 / piece.len());
            assert!(text(&long).len() < 3 * long.len(), "{piece}");
        }
    }
}
