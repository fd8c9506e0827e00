//! Parses the errors of Google's servers.

use std::time::Duration;

use serde_json::Value;

use crate::{AnswerError, ErrorKind, openai::upstream_error::says_something};

/// Maximum length of a quote of a malformed error body.
const QUOTED_CHARS: usize = 200;

/// Maximum retry delay that is respected.
const MAX_RETRY: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads the body of an answer with this unsuccessful HTTP status.
#[must_use]
pub fn error(status: u16, body: &str) -> AnswerError {
    let whole: Option<Value> = serde_json::from_str(body).ok();
    // Servers wrap the object in a list if a list was requested.
    let object = whole.as_ref().map(|whole| whole.get(0).unwrap_or(whole));
    match object.and_then(|object| object.get("error")) {
        Some(error) => from_value(status, error),
        None => {
            let quoted: String = body.trim().chars().take(QUOTED_CHARS).collect();
            let message = if quoted.is_empty() {
                format!("HTTP status {status}")
            } else {
                quoted
            };
            AnswerError::new(kind(status, "", &message, &[]), message)
        }
    }
}

/// Reads the value of an `error` field. `None` if it says nothing, as some proxies add one to each event.
pub(super) fn in_stream(error: &Value) -> Option<AnswerError> {
    says_something(error).then(|| from_value(0, error))
}

fn from_value(status: u16, error: &Value) -> AnswerError {
    let text = |name: &str| {
        error
            .get(name)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let code = error
        .get("code")
        .and_then(Value::as_u64)
        .and_then(|code| u16::try_from(code).ok());
    let message = match error {
        Value::String(text) => text.clone(),
        other => text("message").map_or_else(|| other.to_string(), str::to_owned),
    };
    let details = error
        .get("details")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let status = code.filter(|code| *code >= 400).unwrap_or(status);
    let message = if message.is_empty() {
        format!("HTTP status {status}")
    } else {
        message
    };
    AnswerError {
        kind: kind(
            status,
            text("status").unwrap_or_default(),
            &message,
            details,
        ),
        retry_after: details
            .iter()
            .find_map(|detail| seconds(detail.get("retryDelay")?.as_str()?)),
        message,
    }
}

fn kind(status: u16, name: &str, message: &str, details: &[Value]) -> ErrorKind {
    let reason = |wanted: &str| {
        details
            .iter()
            .any(|it| it.get("reason").is_some_and(|it| it == wanted))
    };
    // "The input token count (1091639) exceeds the maximum number of tokens allowed (1048576)."
    if message.contains("exceeds the maximum number of tokens allowed") {
        return ErrorKind::ContextFull;
    }
    if reason("API_KEY_INVALID") || message.starts_with("API key not valid") {
        return ErrorKind::Key;
    }
    if [
        "Invalid thought signature",
        "Corrupted thought signature",
        "Thought signature is not valid",
    ]
    .iter()
    .any(|words| message.contains(words))
    {
        return ErrorKind::StaleReasoning;
    }
    match (status, name) {
        (401 | 403, _) | (_, "UNAUTHENTICATED" | "PERMISSION_DENIED") => ErrorKind::Key,
        (404, _) | (_, "NOT_FOUND") => ErrorKind::NoModel,
        (429, _) | (_, "RESOURCE_EXHAUSTED") => ErrorKind::RateLimit,
        (503 | 529, _) | (_, "UNAVAILABLE") => ErrorKind::Overloaded,
        (400..=499, _) | (_, "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "OUT_OF_RANGE") => {
            ErrorKind::Request
        }
        _ => ErrorKind::Server,
    }
}

/// A duration in the format of protocol buffers: `34.074824224s`.
fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .map(|wait| wait.min(MAX_RETRY))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: u16, body: &str, kind: ErrorKind, message: &str, retry_ms: Option<u64>) {
        let retry_after = retry_ms.map(Duration::from_millis);
        assert_eq!(
            error(status, body),
            AnswerError {
                kind,
                message: message.to_owned(),
                retry_after
            }
        );
    }

    #[test]
    fn errors_are_classified_by_status_name_and_reason() {
        let quota = r#"{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED",
            "details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaValue":"10"}]},
            {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.25s"}]}}"#;
        check(
            429,
            quota,
            ErrorKind::RateLimit,
            "You exceeded your current quota.",
            Some(34_250),
        );
        check(
            429,
            &format!("[{quota}\n]"),
            ErrorKind::RateLimit,
            "You exceeded your current quota.",
            Some(34_250),
        );
        let key = r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.",
            "status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo",
            "reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}"#;
        check(
            400,
            key,
            ErrorKind::Key,
            "API key not valid. Please pass a valid API key.",
            None,
        );
        for (status, name, message, kind) in [
            (
                400,
                "INVALID_ARGUMENT",
                "Unable to submit request because `x`",
                ErrorKind::Request,
            ),
            (
                400,
                "INVALID_ARGUMENT",
                "The input token count (1091639) exceeds the maximum number of tokens allowed (1048576).",
                ErrorKind::ContextFull,
            ),
            (
                400,
                "FAILED_PRECONDITION",
                "User location is not supported for the API use.",
                ErrorKind::Request,
            ),
            (
                403,
                "PERMISSION_DENIED",
                "Method doesn't allow unregistered callers",
                ErrorKind::Key,
            ),
            (
                404,
                "NOT_FOUND",
                "models/gemini-9 is not found for API version v1beta",
                ErrorKind::NoModel,
            ),
            (
                500,
                "INTERNAL",
                "An internal error has occurred.",
                ErrorKind::Server,
            ),
            (
                503,
                "UNAVAILABLE",
                "The model is overloaded. Please try again later.",
                ErrorKind::Overloaded,
            ),
            (
                504,
                "DEADLINE_EXCEEDED",
                "Deadline expired",
                ErrorKind::Server,
            ),
        ] {
            let body = format!(
                r#"{{"error":{{"code":{status},"message":"{message}","status":"{name}"}}}}"#
            );
            check(status, &body, kind, message, None);
            // In a stream there is only the object.
            let value: Value = serde_json::from_str(&body).unwrap();
            assert_eq!(
                in_stream(&value["error"]).map(|error| error.kind),
                Some(kind)
            );
        }
    }

    #[test]
    fn other_bodies_are_quoted() {
        check(
            502,
            "<html>Bad gateway</html>",
            ErrorKind::Server,
            "<html>Bad gateway</html>",
            None,
        );
        check(503, "", ErrorKind::Overloaded, "HTTP status 503", None);
        check(
            500,
            r#"{"error":""}"#,
            ErrorKind::Server,
            "HTTP status 500",
            None,
        );
        check(
            429,
            r#"{"error":"slow down"}"#,
            ErrorKind::RateLimit,
            "slow down",
            None,
        );
        check(
            400,
            r#"{"error":{"details":7}}"#,
            ErrorKind::Request,
            r#"{"details":7}"#,
            None,
        );
        let delays = ["soon", "-1s", "1e999s", "NaNs"];
        for delay in delays {
            let body =
                format!(r#"{{"error":{{"message":"m","details":[{{"retryDelay":"{delay}"}}]}}}}"#);
            check(429, &body, ErrorKind::RateLimit, "m", None);
        }
        for nothing in ["null", "{}", "\"\"", "false"] {
            assert_eq!(in_stream(&serde_json::from_str(nothing).unwrap()), None);
        }
    }
}
