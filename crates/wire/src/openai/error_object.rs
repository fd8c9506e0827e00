//! The error object of OpenAI's format, which its packages map to typed exceptions.

use domain::ProblemCode;
use serde::Serialize;
use serde_json::{Value, json};

/// An error in this format.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ErrorObject<'a> {
    /// A message that says what to do.
    pub message: &'a str,
    /// The error type, which is less specific than `code`.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// The invalid field of the request, if any.
    pub param: Option<&'a str>,
    /// A stable code.
    pub code: Option<&'a str>,
}

impl<'a> ErrorObject<'a> {
    /// One of our problems.
    #[must_use]
    pub fn new(code: ProblemCode, message: &'a str, param: Option<&'a str>) -> Self {
        Self {
            message,
            kind: kind(code),
            param,
            code: Some(code.as_str()),
        }
    }

    /// `{"error":{…}}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({ "error": self })
    }
}

/// OpenAI's type for the error.
fn kind(code: ProblemCode) -> &'static str {
    match code {
        ProblemCode::InvalidRequest
        | ProblemCode::NotFound
        | ProblemCode::Conflict
        | ProblemCode::KeyReused
        | ProblemCode::TooLarge
        | ProblemCode::ModelNotFound
        | ProblemCode::ModelRejected
        | ProblemCode::ModelContextFull
        | ProblemCode::LimitReached => "invalid_request_error",
        ProblemCode::Unauthenticated => "authentication_error",
        ProblemCode::Forbidden => "permission_error",
        ProblemCode::RateLimited | ProblemCode::ModelRateLimited => "rate_limit_error",
        ProblemCode::ModelUnavailable
        | ProblemCode::ModelUnreachable
        | ProblemCode::ModelUnauthorized
        | ProblemCode::ModelFailed
        | ProblemCode::ModelProtocol
        | ProblemCode::ModelTimeout => "upstream_error",
        ProblemCode::Interrupted
        | ProblemCode::Unavailable
        | ProblemCode::StorageFull
        | ProblemCode::Internal => "server_error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use provider::openai::UpstreamError;

    #[test]
    fn our_decoder_reads_it() {
        let object = ErrorObject::new(ProblemCode::RateLimited, "Slow \"down\".", Some("messages"));
        let json = object.to_json().to_string();
        assert_eq!(
            json,
            r#"{"error":{"message":"Slow \"down\".","type":"rate_limit_error","param":"messages","code":"rate_limited"}}"#
        );
        let read = UpstreamError::decode(&json).unwrap();
        assert_eq!(
            (read.message.as_str(), read.kind.as_deref()),
            ("Slow \"down\".", Some("rate_limited"))
        );
    }
}
