//! Parses errors in Anthropic's format.

use serde_json::Value;

use crate::{AnswerError, ErrorKind};

/// Maximum length of a reported message, in characters.
const MAX_MESSAGE: usize = 2000;

/// The error of an answer with this status.
#[must_use]
pub fn error(status: u16, body: &str) -> AnswerError {
    let value = json_repair::parse(body).unwrap_or(Value::Null);
    let error = of_value(&value);
    let kind = match (error.kind, status) {
        // The type is more specific than the status.
        (Some(kind), _) => kind,
        (None, 401 | 403) => ErrorKind::Key,
        (None, 402) => ErrorKind::NoCredit,
        (None, 404) => ErrorKind::NoModel,
        (None, 413) => ErrorKind::ContextFull,
        (None, 429) => ErrorKind::RateLimit,
        (None, 503 | 529) => ErrorKind::Overloaded,
        (None, 400..=499) => ErrorKind::Request,
        (None, _) => ErrorKind::Server,
    };
    let message = match error.message.is_empty() {
        false => error.message,
        true if body.trim().is_empty() => format!("HTTP status {status} without a message"),
        true => body.trim().to_owned(),
    };
    AnswerError {
        kind,
        message: message.chars().take(MAX_MESSAGE).collect(),
        retry_after: None,
    }
}

/// The error of an event or a body, with or without a wrapper.
pub(super) fn of_event(value: &Value) -> AnswerError {
    let Said { kind, message } = of_value(value);
    let message = if message.is_empty() {
        value.to_string()
    } else {
        message
    };
    AnswerError {
        kind: kind.unwrap_or(ErrorKind::Server),
        message: message.chars().take(MAX_MESSAGE).collect(),
        retry_after: None,
    }
}

struct Said {
    kind: Option<ErrorKind>,
    message: String,
}

fn of_value(value: &Value) -> Said {
    let error = value
        .get("error")
        .filter(|error| !error.is_null())
        .unwrap_or(value);
    let text = |field: &str| error.get(field).and_then(Value::as_str).unwrap_or_default();
    let message = error.as_str().unwrap_or(text("message")).to_owned();
    let kind = match text("type") {
        "invalid_request_error" if is_context_full(&message) => Some(ErrorKind::ContextFull),
        "invalid_request_error" if is_stale_reasoning(&message) => Some(ErrorKind::StaleReasoning),
        "invalid_request_error" if message.contains("credit balance") => Some(ErrorKind::NoCredit),
        "invalid_request_error" => Some(ErrorKind::Request),
        "request_too_large" => Some(ErrorKind::ContextFull),
        "authentication_error" | "permission_error" => Some(ErrorKind::Key),
        "billing_error" => Some(ErrorKind::NoCredit),
        "not_found_error" => Some(ErrorKind::NoModel),
        "rate_limit_error" => Some(ErrorKind::RateLimit),
        "overloaded_error" => Some(ErrorKind::Overloaded),
        "api_error" | "timeout_error" => Some(ErrorKind::Server),
        _ => None,
    };
    Said { kind, message }
}

fn is_context_full(message: &str) -> bool {
    [
        "prompt is too long",
        "exceed context limit",
        "exceeds the context window",
        "Input is too long",
    ]
    .iter()
    .any(|words| message.contains(words))
}

/// Thinking that was signed for other content, or modified since.
pub(crate) fn is_stale_reasoning(message: &str) -> bool {
    let thinking = message.contains("thinking");
    message.contains("bound to a different conversation")
        || (thinking
            && ["signature", "cannot be modified"]
                .iter()
                .any(|it| message.contains(it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_classified_by_type_or_status() {
        for (status, body, kind, message) in [
            (
                404,
                r#"{"error":{"message":"model: claude-does-not-exist","type":"not_found_error"},"type":"error"}"#,
                ErrorKind::NoModel,
                "model: claude-does-not-exist",
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
                ErrorKind::ContextFull,
                "prompt is too long: 210000 tokens > 200000 maximum",
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#,
                ErrorKind::NoCredit,
                "Your credit balance is too low",
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `signature` in `thinking` block"}}"#,
                ErrorKind::StaleReasoning,
                "messages.1.content.0: Invalid `signature` in `thinking` block",
            ),
            (
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                ErrorKind::Overloaded,
                "Overloaded",
            ),
            (
                413,
                "<html>Request Entity Too Large</html>",
                ErrorKind::ContextFull,
                "<html>Request Entity Too Large</html>",
            ),
            (401, r#"{"error":"no key"}"#, ErrorKind::Key, "no key"),
            (
                502,
                "",
                ErrorKind::Server,
                "HTTP status 502 without a message",
            ),
            (
                429,
                r#"{"message":"slow down"}"#,
                ErrorKind::RateLimit,
                "slow down",
            ),
        ] {
            assert_eq!(
                error(status, body),
                AnswerError {
                    kind,
                    message: message.to_owned(),
                    retry_after: None
                }
            );
        }
    }
}
