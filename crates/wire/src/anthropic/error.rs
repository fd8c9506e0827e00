//! Encodes errors in Anthropic's format for clients.

use provider::ErrorKind;
use serde_json::{Value, json};

/// Anthropic's type for an error of this kind.
#[must_use]
pub fn error_type(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Request | ErrorKind::ContextFull | ErrorKind::StaleReasoning => {
            "invalid_request_error"
        }
        ErrorKind::Key => "authentication_error",
        ErrorKind::NoCredit => "billing_error",
        ErrorKind::RateLimit => "rate_limit_error",
        ErrorKind::Overloaded => "overloaded_error",
        ErrorKind::NoModel => "not_found_error",
        ErrorKind::Server | ErrorKind::Protocol => "api_error",
    }
}

/// The HTTP status of an error type.
#[must_use]
pub fn status(error_type: &str) -> u16 {
    match error_type {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "conflict_error" => 409,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => 500,
    }
}

/// `{"type":"error","error":{…}}`, a body or the data of an event.
#[must_use]
pub fn error_body(error_type: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": error_type, "message": message}})
}

#[cfg(test)]
mod tests {
    use provider::{AnswerError, anthropic::error};

    use super::*;

    #[test]
    fn written_data_can_be_read() {
        for kind in [
            ErrorKind::Request,
            ErrorKind::Key,
            ErrorKind::RateLimit,
            ErrorKind::Overloaded,
            ErrorKind::NoModel,
            ErrorKind::Server,
        ] {
            let body = error_body(error_type(kind), "no").to_string();
            let read = error(status(error_type(kind)), &body);
            assert_eq!(
                read,
                AnswerError {
                    kind,
                    message: "no".to_owned(),
                    retry_after: None
                }
            );
        }
    }
}
