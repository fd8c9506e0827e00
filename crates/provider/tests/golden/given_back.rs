//! Chat Completions: data sent back to the same model, against recorded traffic.

use domain::{Message, Part, Provenance, Role, StoredBlock, ToolCall};
use provider::openai::{ChatBody, ParameterFields};
use serde_json::{Value, json};

const PROVIDER: &str = "chat_completions/m";

fn recording(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap()
}

fn reasoning(text: &Value, data: Value) -> StoredBlock {
    StoredBlock::Reasoning {
        text: text.as_str().unwrap_or_default().to_owned(),
        data: Some(data),
    }
}

/// The assistant's message of a recorded answer, with its reasoning stored as these blocks.
fn answer(message: &Value, mut blocks: Vec<StoredBlock>) -> Message {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let calls = message["tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|call| ToolCall {
            id: text(&call["id"]),
            name: text(&call["function"]["name"]),
            arguments: text(&call["function"]["arguments"]),
        });
    let calls: Vec<ToolCall> = calls.collect();
    let content = match &message["content"] {
        Value::Array(parts) => parts.iter().find_map(|part| part["text"].as_str()),
        content => content.as_str(),
    };
    blocks.push(StoredBlock::Text { data: None });
    blocks.extend(calls.iter().map(|call| StoredBlock::Call {
        id: call.id.clone(),
        data: None,
    }));
    Message {
        tool_calls: calls,
        provenance: Some(Box::new(Provenance {
            provider: PROVIDER.to_owned(),
            blocks,
        })),
        ..Message::text(Role::Assistant, content.unwrap_or_default())
    }
}

pub(crate) fn sent(message: &Message, provider: &str) -> Value {
    let body = ChatBody {
        model: "m",
        messages: std::slice::from_ref(message),
        provider,
        tools: &[],
        response_format: None,
        parameters: ParameterFields::default(),
        output_limit: None,
        extra: None,
    };
    let mut body: Value = serde_json::from_slice(&body.encode()).unwrap();
    body["messages"][0].take()
}

/// The assistant's message of the recorded second request.
fn recorded(exchange: &Value) -> Value {
    let messages = exchange["request"]["messages"].as_array().unwrap();
    messages
        .iter()
        .find(|message| message["role"] == "assistant")
        .unwrap()
        .clone()
}

#[test]
fn reasoning_goes_back_in_the_field_it_came_in() {
    for (text, field) in [
        (
            include_str!("../recordings/chat_completions/deepseek.json"),
            "reasoning_content",
        ),
        (
            include_str!("../recordings/chat_completions/zai.json"),
            "reasoning_content",
        ),
        (
            include_str!("../recordings/chat_completions/cerebras.json"),
            "reasoning",
        ),
    ] {
        let exchanges = recording(text);
        let message = &exchanges[0]["response"]["choices"][0]["message"];
        let answer = answer(
            message,
            vec![reasoning(&message[field], json!({"field": field}))],
        );
        assert_eq!(sent(&answer, PROVIDER), recorded(&exchanges[1]));
        assert!(
            sent(&answer, "chat_completions/other").get(field).is_none(),
            "only to who gave it"
        );
    }
}

#[test]
fn details_go_back_as_they_came() {
    let exchanges = recording(include_str!(
        "../recordings/chat_completions/openrouter.json"
    ));
    let message = &exchanges[0]["response"]["choices"][0]["message"];
    let details = message["reasoning_details"].as_array().unwrap();
    // Text and encrypted data may have come separately.
    let blocks = vec![
        reasoning(
            &message["reasoning"],
            json!({"reasoning_details": [details[0]]}),
        ),
        reasoning(&Value::Null, json!({"reasoning_details": [details[1]]})),
    ];
    let mut expected = message.clone();
    expected.as_object_mut().unwrap().shift_remove("refusal");
    assert_eq!(sent(&answer(message, blocks), PROVIDER), expected);
}

#[test]
fn thinking_of_mistral_is_a_part_of_the_content() {
    let exchanges = recording(include_str!("../recordings/chat_completions/mistral.json"));
    let message = &exchanges[0]["response"]["choices"][0]["message"];
    let thinking = &message["content"][0]["thinking"][0]["text"];
    let answer = answer(
        message,
        vec![reasoning(thinking, json!({"content_thinking": true}))],
    );
    assert_eq!(sent(&answer, PROVIDER)["content"], message["content"]);
    // The recorded client sends another provider's data in the same form.
    let kinds = |content: &Value| {
        content
            .as_array()
            .unwrap()
            .iter()
            .map(|part| part["type"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        kinds(&sent(&answer, PROVIDER)["content"]),
        kinds(&recorded(&exchanges[0])["content"])
    );
    assert_eq!(
        sent(&answer, "chat_completions/other")["content"],
        message["content"][1]["text"]
    );
}

/// As Google documents it for its OpenAI-compatible server: of calls in parallel the first has the signature.
#[test]
fn signatures_are_sent_back_with_their_calls() {
    let call = |id: &str| ToolCall {
        id: id.into(),
        name: "ls".into(),
        arguments: "{}".into(),
    };
    let extra = json!({"google": {"thought_signature": "c2ln"}});
    let message = Message {
        tool_calls: vec![call("a"), call("b")],
        provenance: Some(Box::new(Provenance {
            provider: PROVIDER.to_owned(),
            blocks: vec![
                StoredBlock::Call {
                    id: "a".into(),
                    data: Some(json!({"extra_content": extra})),
                },
                StoredBlock::Call {
                    id: "b".into(),
                    data: None,
                },
            ],
        })),
        ..Message::of(Role::Assistant, Vec::new())
    };
    let function = json!({"name": "ls", "arguments": "{}"});
    assert_eq!(
        sent(&message, PROVIDER),
        json!({"role": "assistant", "tool_calls": [
            {"id": "a", "type": "function", "function": function, "extra_content": extra},
            {"id": "b", "type": "function", "function": function},
        ]})
    );
}

#[test]
fn reasoning_and_text_in_turns_are_joined_as_they_came() {
    let text = |text: &str| Part::Text {
        text: text.to_owned(),
    };
    let data = |field: &str| json!({"field": field});
    let message = Message {
        content: vec![text("a"), text(" b")],
        provenance: Some(Box::new(Provenance {
            provider: PROVIDER.to_owned(),
            blocks: vec![
                reasoning(&json!("hm, "), data("thinking")),
                StoredBlock::Text { data: None },
                reasoning(&json!("yes"), data("thinking")),
                StoredBlock::Text { data: None },
                reasoning(&json!("x"), data("content")),
            ],
        })),
        ..Message::text(Role::Assistant, "")
    };
    let expected = json!({"role": "assistant", "content": "a b", "thinking": "hm, yes"});
    assert_eq!(
        sent(&message, PROVIDER),
        expected,
        "a field of another name changes nothing of the message"
    );
    assert_eq!(
        sent(&message, "another"),
        json!({"role": "assistant", "content": "a b"})
    );
}
