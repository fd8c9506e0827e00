//! Parses Bedrock's errors.

use serde_json::Value;

use crate::{AnswerError, ErrorKind, anthropic::error::is_stale_reasoning};

/// The error of an answer with this status. `error_type` is the header `x-amzn-errortype`.
#[must_use]
pub fn error(status: u16, error_type: Option<&str>, body: &str) -> AnswerError {
    let value = json_repair::parse(body).unwrap_or(Value::Null);
    let name = error_type.or(value["__type"].as_str()).unwrap_or_default();
    let said = |field: &str| value[field].as_str().filter(|message| !message.is_empty());
    let message = match said("message").or(said("Message")) {
        Some(message) => message.to_owned(),
        None if body.trim().is_empty() => format!("HTTP status {status} {name}"),
        None => body.trim().chars().take(2000).collect(),
    };
    let kind = of_name(name, &message).unwrap_or(match status {
        401 | 403 => ErrorKind::Key,
        404 => ErrorKind::NoModel,
        413 => ErrorKind::ContextFull,
        429 => ErrorKind::RateLimit,
        503 => ErrorKind::Overloaded,
        400..=499 => of_request(&message),
        _ => ErrorKind::Server,
    });
    AnswerError::new(kind, message)
}

/// The error of an exception in a stream.
pub(super) fn of_exception(name: &str, data: &str) -> AnswerError {
    error(500, Some(name), data)
}

/// The kind by name, which may have a namespace before it and a URL after it.
fn of_name(name: &str, message: &str) -> Option<ErrorKind> {
    let name = name.split(':').next().unwrap_or(name);
    let name = name.rsplit('#').next().unwrap_or(name).to_ascii_lowercase();
    match name.trim_end_matches("exception") {
        "validation" => Some(of_request(message)),
        "accessdenied"
        | "unrecognizedclient"
        | "expiredtoken"
        | "invalidsignature"
        | "missingauthenticationtoken"
        | "incompletesignature" => Some(ErrorKind::Key),
        "resourcenotfound" => Some(ErrorKind::NoModel),
        "throttling" | "toomanyrequests" | "servicequotaexceeded" => Some(ErrorKind::RateLimit),
        "modelnotready" | "serviceunavailable" => Some(ErrorKind::Overloaded),
        "modeltimeout" | "modelerror" | "modelstreamerror" | "internalserver"
        | "internalfailure" => Some(ErrorKind::Server),
        _ => None,
    }
}

fn of_request(message: &str) -> ErrorKind {
    let says = |words: &[&str]| words.iter().any(|it| message.contains(it));
    match () {
        () if says(&["model identifier is invalid"]) => ErrorKind::NoModel,
        () if is_stale_reasoning(message) => ErrorKind::StaleReasoning,
        () if says(&[
            "too long",
            "exceed context limit",
            "exceeds the maximum",
            "Too many input tokens",
        ]) =>
        {
            ErrorKind::ContextFull
        }
        () => ErrorKind::Request,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_classified_by_name() {
        let address = "ValidationException:http://internal.amazon.com/coral/com.amazon.bedrock/";
        for (status, name, body, kind, message) in [
            (
                400,
                Some(address),
                r#"{"message":"The provided model identifier is invalid."}"#,
                ErrorKind::NoModel,
                "The provided model identifier is invalid.",
            ),
            (
                400,
                Some("ValidationException"),
                r#"{"message":"Input is too long for requested model."}"#,
                ErrorKind::ContextFull,
                "Input is too long for requested model.",
            ),
            (
                400,
                None,
                r#"{"message":"This model doesn't support the s3Uri field."}"#,
                ErrorKind::Request,
                "This model doesn't support the s3Uri field.",
            ),
            (
                403,
                None,
                r#"{"Message":"expired"}"#,
                ErrorKind::Key,
                "expired",
            ),
            (
                400,
                None,
                r#"{"__type":"com.amazon.coral.service#ExpiredTokenException","message":"x"}"#,
                ErrorKind::Key,
                "x",
            ),
            (
                429,
                Some("ThrottlingException"),
                "",
                ErrorKind::RateLimit,
                "HTTP status 429 ThrottlingException",
            ),
            (
                500,
                None,
                r#"{"message":""}"#,
                ErrorKind::Server,
                r#"{"message":""}"#,
            ),
            (
                503,
                Some("ServiceUnavailableException"),
                "busy",
                ErrorKind::Overloaded,
                "busy",
            ),
            (
                424,
                Some("ModelErrorException"),
                r#"{"message":"x"}"#,
                ErrorKind::Server,
                "x",
            ),
        ] {
            assert_eq!(error(status, name, body), AnswerError::new(kind, message));
        }
    }
}
