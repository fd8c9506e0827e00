//! Parses the errors of OpenAI, Azure and compatible servers.

use serde_json::Value;

use crate::{
    AnswerError, ErrorKind,
    openai::upstream_error::{UpstreamError, says_something},
};

/// Maximum length of a quote of a malformed error body, bytes.
const MAX_QUOTE_BYTES: usize = 500;

/// Phrases, in lower case, of a full context without an error code.
const CONTEXT_FULL: [&str; 4] = [
    "exceeds the context window",
    "maximum context length",
    "context length exceeded",
    "prompt is too long",
];

/// Phrases for refused reasoning: it is of another account or region, has expired, or its neighbours have changed.
const STALE_REASONING: [&str; 5] = [
    "was provided without its required",
    "encrypted content could not be",
    "could not be verified",
    "could not be decrypted",
    "items are not persisted when",
];

/// Reads the body of an unsuccessful answer.
#[must_use]
pub fn error(status: u16, body: &str) -> AnswerError {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    if let Some(error) = parsed
        .as_ref()
        .and_then(|body| body.get("error"))
        .filter(|error| says_something(error))
    {
        return error_of(Some(status), error);
    }
    match UpstreamError::decode(body) {
        Some(UpstreamError { message, kind }) => {
            let kind = kind_of(Some(status), kind.as_deref(), &message);
            AnswerError {
                kind,
                message,
                retry_after: None,
            }
        }
        None => AnswerError {
            kind: by_status(status),
            message: quote(status, body),
            retry_after: None,
        },
    }
}

fn quote(status: u16, body: &str) -> String {
    match body.trim() {
        "" => format!("HTTP {status}"),
        body => body[..body.floor_char_boundary(MAX_QUOTE_BYTES)].to_owned(),
    }
}

/// Reads an error object. In a stream there is no status.
pub(super) fn error_of(status: Option<u16>, error: &Value) -> AnswerError {
    let UpstreamError { mut message, kind } = UpstreamError::from_value(error);
    let filtered = filtered_categories(error);
    if !filtered.is_empty() {
        message = format!("{message} (filtered: {})", filtered.join(", "));
    }
    AnswerError {
        kind: kind_of(status, kind.as_deref(), &message),
        message,
        retry_after: None,
    }
}

/// Azure lists the findings of its content filter: `innererror.content_filter_result.hate.filtered`.
fn filtered_categories(error: &Value) -> Vec<&str> {
    let results = error
        .pointer("/innererror/content_filter_result")
        .and_then(Value::as_object);
    let is_hit = |result: &Value| result["filtered"] == true || result["detected"] == true;
    results
        .into_iter()
        .flatten()
        .filter(|(_, result)| is_hit(result))
        .map(|(name, _)| name.as_str())
        .collect()
}

fn kind_of(status: Option<u16>, code: Option<&str>, message: &str) -> ErrorKind {
    let words = message.to_lowercase();
    let says = |sentences: &[&str]| sentences.iter().any(|sentence| words.contains(sentence));
    // The status decides if the code is only its number or unspecific.
    match code.unwrap_or_default() {
        "context_length_exceeded" => ErrorKind::ContextFull,
        "invalid_encrypted_content" => ErrorKind::StaleReasoning,
        "insufficient_quota" | "billing_hard_limit_reached" | "billing_not_active" => {
            ErrorKind::NoCredit
        }
        "rate_limit_exceeded"
        | "rate_limit_error"
        | "too_many_requests"
        | "tokens"
        | "requests" => ErrorKind::RateLimit,
        "model_not_found" | "DeploymentNotFound" | "deployment_not_found" | "unsupported_model" => {
            ErrorKind::NoModel
        }
        "invalid_api_key" | "authentication_error" | "PermissionDenied" => ErrorKind::Key,
        "server_is_overloaded" | "slow_down" | "overloaded_error" => ErrorKind::Overloaded,
        _ if says(&CONTEXT_FULL) => ErrorKind::ContextFull,
        _ if says(&STALE_REASONING) => ErrorKind::StaleReasoning,
        "server_error" | "internal_error" | "vector_store_timeout" => {
            status.map_or(ErrorKind::Server, by_status)
        }
        "invalid_request_error" | "content_filter" | "invalid_prompt" => ErrorKind::Request,
        code => match status.or_else(|| code.parse().ok()) {
            Some(status) => by_status(status),
            None if code.starts_with("invalid_") || code.contains("image") => ErrorKind::Request,
            None => ErrorKind::Server,
        },
    }
}

fn by_status(status: u16) -> ErrorKind {
    match status {
        401 | 403 => ErrorKind::Key,
        402 => ErrorKind::NoCredit,
        429 => ErrorKind::RateLimit,
        503 | 529 => ErrorKind::Overloaded,
        400..=499 => ErrorKind::Request,
        _ => ErrorKind::Server,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_errors() {
        let openai = |code: &str, message: &str| {
            format!(
                r#"{{"error":{{"message":"{message}","type":"invalid_request_error","param":null,"code":{code}}}}}"#
            )
        };
        for (status, body, kind) in [
            // Recorded: deepseek_responses_rejects_interleaved_function_calls, thinking_with_modified_history.
            (400, openai(r#""invalid_request_error""#, "No tool output found for tool call call-a."), ErrorKind::Request),
            (
                400,
                openai("null", "Item 'rs_1' of type 'reasoning' was provided without its required following item."),
                ErrorKind::StaleReasoning,
            ),
            (
                400,
                openai(
                    r#""invalid_encrypted_content""#,
                    "The encrypted content gAAA... could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
                ),
                ErrorKind::StaleReasoning,
            ),
            (
                404,
                openai("null", "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."),
                ErrorKind::StaleReasoning,
            ),
            (
                400,
                openai(r#""context_length_exceeded""#, "Your input exceeds the context window of this model."),
                ErrorKind::ContextFull,
            ),
            (429, openai(r#""insufficient_quota""#, "You exceeded your current quota."), ErrorKind::NoCredit),
            (429, openai(r#""rate_limit_exceeded""#, "Rate limit reached for gpt-5"), ErrorKind::RateLimit),
            (401, openai(r#""invalid_api_key""#, "Incorrect API key provided"), ErrorKind::Key),
            (404, openai(r#""model_not_found""#, "The model `x` does not exist"), ErrorKind::NoModel),
            (404, openai("null", "Unknown request URL"), ErrorKind::Request),
            (500, openai(r#""server_error""#, "The server had an error"), ErrorKind::Server),
            (503, openai(r#""server_error""#, "Overloaded"), ErrorKind::Overloaded),
            // Azure.
            (
                404,
                r#"{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}"#.into(),
                ErrorKind::NoModel,
            ),
            (429, r#"{"error":{"code":"429","message":"Requests have exceeded token rate limit."}}"#.into(), ErrorKind::RateLimit),
            (401, r#"{"statusCode":401,"message":"Unauthorized. Access token is missing"}"#.into(), ErrorKind::Key),
            (502, "<html>".into(), ErrorKind::Server),
            (503, String::new(), ErrorKind::Overloaded),
        ] {
            assert_eq!(error(status, &body).kind, kind, "{status} {body}");
        }
        assert_eq!(error(503, "").message, "HTTP 503");
    }

    #[test]
    fn reports_azure_filter_categories() {
        let body = r#"{"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter",
            "status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{
            "hate":{"filtered":true,"severity":"high"},"jailbreak":{"detected":true,"filtered":true},
            "violence":{"filtered":false,"severity":"safe"}}}}}"#;
        let error = error(400, body);
        assert_eq!(error.kind, ErrorKind::Request);
        assert_eq!(
            error.message,
            "The response was filtered (filtered: hate, jailbreak)"
        );
    }

    #[test]
    fn errors_in_a_stream_have_no_status() {
        let kind = |error: Value| error_of(None, &error).kind;
        assert_eq!(
            kind(serde_json::json!({"code": "server_error", "message": "x"})),
            ErrorKind::Server
        );
        assert_eq!(
            kind(serde_json::json!({"code": "429", "message": "x"})),
            ErrorKind::RateLimit
        );
        assert_eq!(
            kind(serde_json::json!({"code": "invalid_image_url", "message": "x"})),
            ErrorKind::Request
        );
        assert_eq!(kind(serde_json::json!("broken")), ErrorKind::Server);
    }
}
