//! Refusals of fields in each format.

use serde_json::json;

use super::*;
use crate::{anthropic, bedrock, gemini, openai, openai_responses};

fn check(fields: &'static [OptionalField], body: &Value, said: &str, expected: Option<&str>) {
    let body = body.to_string();
    let field = refused_field(fields, body.as_bytes(), 400, said);
    let place = field.map(|field| format!("/{}", field.path.join("/")));
    assert_eq!(place.as_deref(), expected, "{said}");
    assert_eq!(refused_field(fields, body.as_bytes(), 500, said), None);
    let Some((field, place)) = field.zip(place) else {
        return;
    };
    let without: Value =
        serde_json::from_slice(&field.removed_from(body.as_bytes()).unwrap()).unwrap();
    assert_eq!(without.pointer(&place), None);
    assert_eq!(without["model"], "m");
}

fn openai_error(param: &Value, message: &str) -> String {
    json!({"error": {"message": message, "param": param, "code": "unsupported_parameter"}})
        .to_string()
}

#[test]
fn responses() {
    let body = json!({"model": "m", "reasoning": {"effort": "low", "summary": "auto"}, "top_p": 0.5,
        "include": ["reasoning.encrypted_content"], "input": "hi"});
    let check = |param: Value, message: &str, expected| {
        check(
            openai_responses::OPTIONAL_FIELDS,
            &body,
            &openai_error(&param, message),
            expected,
        );
    };
    check(
        Value::Null,
        "Unsupported parameter: 'top_p' is not supported with this model.",
        Some("/top_p"),
    );
    check(
        json!("reasoning.summary"),
        "Your organization must be verified to generate reasoning summaries.",
        Some("/reasoning/summary"),
    );
    check(
        json!("reasoning.effort"),
        "Unsupported value: 'none' is not supported with the 'gpt-5' model.",
        Some("/reasoning/effort"),
    );
    check(
        json!("include"),
        "Encrypted content is not supported with this model.",
        Some("/include"),
    );
    check(
        Value::Null,
        "Encrypted content is not supported with this model.",
        Some("/include"),
    );
    check(json!("include[0]"), "Invalid value", Some("/include"));
    // Not in the request, not optional, or nothing named.
    check(json!("temperature"), "x", None);
    check(json!("input"), "x", None);
    check(Value::Null, "No tool output found", None);
}

#[test]
fn chat_completions() {
    let body = json!({"model": "m", "temperature": 0.2, "top_p": 0.5, "stop": ["x"], "seed": 7,
        "reasoning_effort": "high", "messages": []});
    let check = |said: &str, expected| check(openai::OPTIONAL_FIELDS, &body, said, expected);
    // OpenAI.
    check(
        &openai_error(
            &json!("temperature"),
            "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
        ),
        Some("/temperature"),
    );
    check(
        &openai_error(
            &json!("reasoning_effort"),
            "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please use \
             /v1/responses instead.",
        ),
        Some("/reasoning_effort"),
    );
    check(
        &openai_error(&json!("messages[1].content"), "Invalid value: 'stop'."),
        None,
    );
    // Groq, xAI, Mistral, a proxy without a structured error.
    check(
        r#"{"error":{"message":"`reasoning_effort` is not supported with this model","type":"invalid_request_error"}}"#,
        Some("/reasoning_effort"),
    );
    check(
        r#"{"code":"Client specified an invalid argument","error":"Argument not supported on this model: stop"}"#,
        Some("/stop"),
    );
    check(
        r#"{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}"#,
        Some("/seed"),
    );
    check("unknown field `top_p`, expected `model`", Some("/top_p"));
    check(r#"{"error":"the stop_reason is invalid"}"#, None);
    check(r#"{"error":"the server does not stop"}"#, None);
}

#[test]
fn anthropic() {
    let body = json!({"model": "m", "max_tokens": 9, "temperature": 0.2, "top_p": 0.5, "thinking": {"type": "adaptive"},
        "output_config": {"effort": "high"}, "messages": []});
    let check = |message: &str, expected| {
        let said = json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
        check(
            anthropic::OPTIONAL_FIELDS,
            &body,
            &said.to_string(),
            expected,
        );
    };
    check(
        "`temperature` is deprecated for this model.",
        Some("/temperature"),
    );
    check(
        "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
        Some("/temperature"),
    );
    check(
        "adaptive thinking is not supported on this model",
        Some("/thinking"),
    );
    check(
        "This model does not support the effort parameter.",
        Some("/output_config/effort"),
    );
    check("max_tokens: 9 is not valid", None);
}

#[test]
fn gemini_and_bedrock() {
    let config = json!({"temperature": 1, "seed": 7, "thinkingConfig": {"thinkingLevel": "LOW"}});
    let body = json!({"model": "m", "generationConfig": config});
    let said = |message: &str| json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}});
    let check_gemini = |message: &str, expected| {
        check(
            gemini::OPTIONAL_FIELDS,
            &body,
            &said(message).to_string(),
            expected,
        );
    };
    check_gemini(
        "Thinking level is not supported for this model.",
        Some("/generationConfig/thinkingConfig"),
    );
    check_gemini(
        "Invalid JSON payload received. Unknown name \"seed\" at 'generation_config': Cannot find field.",
        Some("/generationConfig/seed"),
    );
    check_gemini("Unknown name \"seedling\" at 'generation_config'", None);

    let body = json!({"model": "m", "inferenceConfig": {"temperature": 0.2, "topP": 0.5, "stopSequences": ["x"]},
        "additionalModelRequestFields": {"reasoning_effort": "low"}});
    let check_bedrock = |message: &str, expected| {
        check(
            bedrock::OPTIONAL_FIELDS,
            &body,
            &json!({ "message": message }).to_string(),
            expected,
        );
    };
    check_bedrock(
        "This model doesn't support the stopSequences field. Remove stopSequences and try again.",
        Some("/inferenceConfig/stopSequences"),
    );
    check_bedrock(
        "The model returned the following errors: `top_p` cannot be used here",
        Some("/inferenceConfig/topP"),
    );
    check_bedrock(
        "Malformed input request: #: extraneous key [reasoning_effort] is not permitted",
        Some("/additionalModelRequestFields/reasoning_effort"),
    );
}

#[test]
fn empty_objects_are_removed() {
    let effort = &openai_responses::OPTIONAL_FIELDS[1];
    assert_eq!(
        effort
            .removed_from(br#"{"reasoning":{"effort":"none"}}"#)
            .unwrap(),
        b"{}"
    );
    for body in ["", "[]", "{}", r#"{"reasoning":7}"#, r#"{"reasoning":{}}"#] {
        assert_eq!(effort.removed_from(body.as_bytes()), None, "{body}");
    }
}
