//! Bodies of requests, field by field.

use domain::{Message, Part, Provenance, Role, StoredBlock, ToolCall};

use super::*;
use crate::{Effort, Reasoning, openai::Tool};

fn body(model: &str, messages: &[Message], parameters: &Parameters, with_tool: bool) -> Value {
    let schema = crate::tool_schema::ToolSchema::from(json!({"type": "object"}));
    let tool = Tool {
        name: "ls",
        description: "Lists.",
        parameters: &schema,
    };
    let tools = if with_tool { vec![tool] } else { Vec::new() };
    let request = ModelRequest {
        model,
        messages,
        tools: &tools,
        parameters,
        stream: true,
    };
    serde_json::from_slice(&encode(&request)).unwrap()
}

fn user(text: &str) -> Message {
    Message::text(Role::User, text)
}

fn image(url: &str) -> Part {
    Part::Image {
        url: url.to_owned(),
    }
}

fn call() -> ToolCall {
    ToolCall {
        id: "functions.ls:0".to_owned(),
        name: "ls".to_owned(),
        arguments: r#"{"a":1}"#.to_owned(),
    }
}

const CLAUDE: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

#[test]
fn a_turn_with_tools_and_thinking_round_trips() {
    let reasoning = |text: &str, data: Value| StoredBlock::Reasoning {
        text: text.to_owned(),
        data: Some(data),
    };
    let blocks = vec![
        reasoning("hm", json!({"type": "thinking", "signature": "sig"})),
        reasoning("", json!({"type": "redacted_thinking", "data": "x"})),
        reasoning("unsigned", json!({"type": "thinking"})),
        StoredBlock::Call {
            id: "functions.ls:0".to_owned(),
            data: None,
        },
    ];
    let provenance = Some(Box::new(Provenance {
        provider: PROVIDER.to_owned(),
        blocks,
    }));
    let answer = Message {
        tool_calls: vec![call()],
        provenance,
        ..Message::of(Role::Assistant, vec![])
    };
    let mut result = Message::tool_result("functions.ls:0", "out");
    result.content.push(image("data:image/png;base64,AAAA"));
    result
        .content
        .push(image("data:application/pdf;base64,BBBB"));
    let system = Message::text(Role::System, "s");
    let body = body(
        CLAUDE,
        &[system, user("go"), answer, result],
        &Parameters::default(),
        true,
    );
    let point = json!({"cachePoint": {"type": "default"}});
    let expected = json!({
        "system": [{"text": "s"}, point],
        "messages": [
            {"role": "user", "content": [{"text": "go"}, point]},
            {"role": "assistant", "content": [
                {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "sig"}}},
                {"reasoningContent": {"redactedContent": "x"}},
                {"toolUse": {"toolUseId": "functions_ls_0", "name": "ls", "input": {"a": 1}}},
            ]},
            {"role": "user", "content": [
                {"toolResult": {"toolUseId": "functions_ls_0", "status": "success", "content": [
                    {"text": "out"},
                    {"image": {"format": "png", "source": {"bytes": "AAAA"}}},
                    {"document": {"name": "Document 1", "format": "pdf", "source": {"bytes": "BBBB"}}},
                ]}},
                point,
            ]},
        ],
        "toolConfig": {"tools": [
            {"toolSpec": {"name": "ls", "description": "Lists.", "inputSchema": {"json": {"type": "object", "properties": {}}}}},
            point,
        ]},
    });
    assert_eq!(body, expected);
}

#[test]
fn documents_have_text_and_no_cache_point() {
    let pdf = image("data:application/pdf;base64,BBBB");
    let messages = [
        user("b"),
        Message::text(Role::Assistant, "a"),
        Message::of(Role::User, vec![pdf]),
    ];
    let body = body(CLAUDE, &messages, &Parameters::default(), false);
    let expected = json!([
        {"text": "A document:"},
        {"cachePoint": {"type": "default"}},
        {"document": {"name": "Document 1", "format": "pdf", "source": {"bytes": "BBBB"}}},
    ]);
    assert_eq!(body["messages"][2]["content"], expected);
}

#[test]
fn each_family_has_its_reasoning_fields() {
    let of = |model: &str, reasoning| {
        let parameters = Parameters {
            reasoning: Some(reasoning),
            ..Parameters::default()
        };
        let mut body = body(model, &[user("a")], &parameters, true);
        (
            body["additionalModelRequestFields"].take(),
            body["inferenceConfig"]["maxTokens"].as_u64(),
        )
    };
    let high = Reasoning::Effort(Effort::High);
    let thinking = json!({
        "thinking": {"type": "enabled", "budget_tokens": 16_384},
        "anthropic_beta": ["interleaved-thinking-2025-05-14"],
    });
    assert_eq!(of(CLAUDE, high), (thinking, Some(32_000)));
    let adaptive = json!({"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}});
    assert_eq!(
        of("us.anthropic.claude-sonnet-4-6", high),
        (adaptive, Some(64_000))
    );
    assert_eq!(
        of("openai.gpt-oss-120b-1:0", high),
        (json!({"reasoning_effort": "high"}), None)
    );
    assert_eq!(
        of("qwen.qwen3-32b-v1:0", Reasoning::On),
        (json!({"reasoning_config": "high"}), None)
    );
    assert_eq!(
        of("qwen.qwen3-32b-v1:0", Reasoning::Off),
        (json!(null), None)
    );
    assert_eq!(
        of("us.meta.llama4-maverick-17b-instruct-v1:0", high),
        (json!(null), None)
    );
    let nova = json!({"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "high"}});
    assert_eq!(of("us.amazon.nova-2-lite-v1:0", high), (nova, None));
}

#[test]
fn tools_stay_defined_while_the_conversation_holds_calls() {
    let answer = Message {
        tool_calls: vec![call()],
        ..Message::of(Role::Assistant, vec![])
    };
    let empty = Message {
        content: Vec::new(),
        ..Message::tool_result("functions.ls:0", "")
    };
    let body_of = |choice: ToolChoice, with_tool| {
        let parameters = Parameters {
            tool_choice: choice,
            ..Parameters::default()
        };
        body(
            "us.amazon.nova-pro-v1:0",
            &[user("a"), answer.clone(), empty.clone()],
            &parameters,
            with_tool,
        )
    };
    let body = body_of(ToolChoice::None, true);
    assert_eq!(
        body["toolConfig"]["tools"][0]["toolSpec"]["description"],
        "Lists."
    );
    assert_eq!(
        body["messages"][2]["content"][0]["toolResult"]["content"],
        json!([{"text": "(no output)"}])
    );
    let body = body_of(ToolChoice::Auto, false);
    assert_eq!(body["toolConfig"]["tools"][0]["toolSpec"]["name"], "ls");
    let required = body_of(ToolChoice::Tool("ls".to_owned()), true);
    assert_eq!(
        required["toolConfig"]["toolChoice"],
        json!({"tool": {"name": "ls"}})
    );
    let none = Parameters {
        tool_choice: ToolChoice::None,
        ..Parameters::default()
    };
    assert_eq!(
        self::body(CLAUDE, &[user("a")], &none, true)["toolConfig"],
        json!(null)
    );
}

#[test]
fn settings_match_the_model() {
    let schema = json!({"type": "object", "properties": {}});
    let parameters = Parameters {
        temperature: Some(0.5),
        top_p: Some(0.9),
        max_output_tokens: Some(5),
        stop: vec!["END".to_owned(), " ".to_owned()],
        answer_format: Some(AnswerFormat::Schema {
            name: "City".to_owned(),
            schema,
            strict: true,
        }),
        ..Parameters::default()
    };
    let of = |model: &str| {
        let mut body = body(model, &[user("a")], &parameters, false);
        (body["inferenceConfig"].take(), body["outputConfig"].take())
    };
    let schema = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
    let format = json!({"textFormat": {"type": "json_schema", "structure": {"jsonSchema": {"name": "City", "schema": schema}}}});
    let one = json!({"maxTokens": 5, "temperature": 0.5, "stopSequences": ["END"]});
    assert_eq!(of(CLAUDE), (one, format.clone()));
    let both = json!({"maxTokens": 5, "temperature": 0.5, "topP": 0.9, "stopSequences": ["END"]});
    assert_eq!(of("google.gemma-3-27b-it"), (both.clone(), format));
    assert_eq!(of("us.amazon.nova-micro-v1:0"), (both, json!(null)));
}

#[test]
fn models_are_asked_at_escaped_paths() {
    assert_eq!(
        path("us.amazon.nova-micro-v1:0"),
        "model/us.amazon.nova-micro-v1%3A0/converse-stream"
    );
    assert_eq!(
        path("arn:aws:bedrock:a/b"),
        "model/arn%3Aaws%3Abedrock%3Aa%2Fb/converse-stream"
    );
}

/// As recorded: `bedrock_model_retry`, `text_as_binary_content_input` and `document_url_input`.
#[test]
fn failures_and_files() {
    let file = |url: &str, media_type: &str| Part::File {
        url: url.to_owned(),
        media_type: media_type.to_owned(),
        name: "a".to_owned(),
    };
    let answer = Message {
        tool_calls: vec![call()],
        ..Message::of(Role::Assistant, vec![])
    };
    let failed = "The country is not supported.\n\nFix the errors and try again.";
    let failed = Message {
        is_error: true,
        ..Message::tool_result("functions.ls:0", failed)
    };
    let files = vec![
        file(
            "data:text/plain;base64,VGhpcyBpcyBhIHRlc3QgZG9jdW1lbnQu",
            "text/plain",
        ),
        file("data:application/pdf;base64,JVBERi0=", "application/pdf"),
        file("https://a.example/b.pdf", "application/pdf"),
    ];
    let messages = [user("go"), answer, failed, Message::of(Role::User, files)];
    let body = body(
        "amazon.nova-lite-v1:0",
        &messages,
        &Parameters::default(),
        false,
    );
    let document = |number: u8, format: &str, bytes: &str| {
        let name = format!("Document {number}");
        json!({"document": {"name": name, "format": format, "source": {"bytes": bytes}}})
    };
    let mut content = body["messages"][2]["content"].as_array().unwrap().clone();
    content.retain(|block| block["cachePoint"].is_null());
    let expected = json!([
        {"toolResult": {"toolUseId": "functions_ls_0", "status": "error", "content": [
            {"text": "The country is not supported.\n\nFix the errors and try again."},
        ]}},
        document(1, "txt", "VGhpcyBpcyBhIHRlc3QgZG9jdW1lbnQu"),
        document(2, "pdf", "JVBERi0="),
        {"text": "[The file is at https://a.example/b.pdf]"},
    ]);
    assert_eq!(json!(content), expected);
}
