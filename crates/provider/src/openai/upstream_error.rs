//! Parses the many error formats of model servers.

use serde_json::{Value, value::RawValue};

/// A server's error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamError {
    /// The server's message.
    pub message: String,
    /// Its name for the error, from `code` or `type`.
    pub kind: Option<String>,
}

impl UpstreamError {
    /// Reads OpenAI's `{"error":{"message":…}}` and its variants: a bare string, `message`, or `detail`. `None` if the
    /// text has none of these forms.
    #[must_use]
    pub fn decode(body: &str) -> Option<Self> {
        let whole: Value = serde_json::from_str(body).ok()?;
        // Gemini's server wraps the object in a list.
        let whole = whole
            .as_array()
            .and_then(|list| list.first())
            .unwrap_or(&whole);
        let field = |name: &str| whole.get(name).filter(|value| says_something(value));
        if let Some(error) = field("error") {
            return Some(Self::from_value(error));
        }
        let message = field("message").or_else(|| field("detail"))?;
        Some(Self {
            kind: name_of(whole),
            ..Self::from_value(message)
        })
    }

    /// Reads the text of an `error` field. `None` if it means no error, as some proxies send one in each chunk.
    pub(super) fn read(error: &RawValue) -> Option<Self> {
        let error = serde_json::from_str(error.get()).ok()?;
        says_something(&error).then(|| Self::from_value(&error))
    }

    /// Reads the value of an `error` field.
    #[must_use]
    pub fn from_value(error: &Value) -> Self {
        let message = match error {
            Value::String(text) => text.clone(),
            other => text(other, "message")
                .or_else(|| text(other, "detail"))
                .unwrap_or_else(|| other.to_string()),
        };
        Self {
            message,
            kind: name_of(error),
        }
    }
}

/// Whether an `error` field means an error: some servers send an empty one with every event. Anything but `null`,
/// `false`, 0 and empty text does.
pub(crate) fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) => true,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(list) => list.iter().any(says_something),
        Value::Object(fields) => fields.values().any(says_something),
    }
}

fn name_of(error: &Value) -> Option<String> {
    text(error, "code").or_else(|| text(error, "type"))
}

fn text(object: &Value, name: &str) -> Option<String> {
    match object.get(name)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_errors_of_servers() {
        for (body, message, kind) in [
            (
                r#"{"error":{"message":"no","type":"auth","code":"bad_key"}}"#,
                "no",
                Some("bad_key"),
            ),
            (
                r#"{"error":{"message":"no","type":"auth","code":null}}"#,
                "no",
                Some("auth"),
            ),
            (r#"{"error":"model not loaded"}"#, "model not loaded", None),
            (
                r#"{"object":"error","message":"too long","code":400}"#,
                "too long",
                Some("400"),
            ),
            (
                r#"[{"error":{"message":"no","code":429}}]"#,
                "no",
                Some("429"),
            ),
            (r#"{"detail":"Not Found"}"#, "Not Found", None),
            (r#"{"error":{"reason":7}}"#, r#"{"reason":7}"#, None),
        ] {
            let error = UpstreamError::decode(body).unwrap();
            assert_eq!(
                (error.message.as_str(), error.kind.as_deref()),
                (message, kind),
                "{body}"
            );
        }
        for body in [
            "",
            "<html>",
            "{}",
            r#"{"error":null}"#,
            r#"{"error":{}}"#,
            r#"{"error":""}"#,
            r#"{"error":false}"#,
            r#"{"error":{"message":"","code":null,"details":[]}}"#,
            "[1]",
        ] {
            assert_eq!(UpstreamError::decode(body), None, "{body}");
        }
    }
}
