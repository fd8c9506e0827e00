//! Encoded requests of the Messages API.

use domain::{Message, Part, Provenance, Role, StoredBlock, ToolCall};
use serde_json::json;

use super::*;

fn body(model: &str, messages: &[Message], parameters: &Parameters, with_tool: bool) -> Value {
    let schema = crate::tool_schema::ToolSchema::from(json!({"type": "object"}));
    let tool = Tool {
        name: "ls",
        description: "",
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

fn call(id: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: "ls".to_owned(),
        arguments: String::new(),
    }
}

fn calls(ids: &[&str]) -> Message {
    Message {
        tool_calls: ids.iter().map(|id| call(id)).collect(),
        ..Message::of(Role::Assistant, vec![])
    }
}

/// Roles with the kinds of their blocks.
fn outline(body: &Value) -> Vec<String> {
    let block = |block: &Value| match block["type"].as_str().unwrap() {
        "tool_use" => format!("call {}", block["id"].as_str().unwrap()),
        "tool_result" if block["is_error"] == true => {
            format!("lost {}", block["tool_use_id"].as_str().unwrap())
        }
        "tool_result" => format!("result {}", block["tool_use_id"].as_str().unwrap()),
        "text" => block["text"].as_str().unwrap().to_owned(),
        other => other.to_owned(),
    };
    let turn = |turn: &Value| {
        let blocks: Vec<String> = turn["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(block)
            .collect();
        format!("{}: {}", turn["role"].as_str().unwrap(), blocks.join(", "))
    };
    body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(turn)
        .collect()
}

#[test]
fn every_call_has_its_result_in_the_next_turn() {
    let user = |text: &str| Message::text(Role::User, text);
    let check = |messages: &[Message], expected: &[&str]| {
        let body = body("claude-sonnet-4-5", messages, &Parameters::default(), true);
        assert_eq!(outline(&body), expected);
    };
    check(
        &[
            user("go"),
            calls(&["a.1", "b"]),
            Message::tool_result("b", "two"),
            user("and"),
            Message::tool_result("a.1", ""),
            Message::text(Role::Assistant, "done \n"),
        ],
        &[
            "user: go",
            "assistant: call a_1, call b",
            "user: result b, result a_1, and",
            "assistant: done",
        ],
    );
    check(
        &[
            user("go"),
            calls(&["a"]),
            user("never mind"),
            calls(&["a"]),
            Message::tool_result("a", "x"),
        ],
        &[
            "user: go",
            "assistant: call a",
            "user: lost a, never mind",
            "assistant: call a_2",
            "user: result a_2",
        ],
    );
    check(
        &[
            user("go"),
            Message::tool_result("gone", "kept"),
            Message::text(Role::Assistant, " "),
        ],
        &["user: go, kept"],
    );
    check(
        &[
            Message::text(Role::Assistant, "hi"),
            user("go"),
            calls(&["a"]),
        ],
        &[
            "assistant: hi",
            "user: go",
            "assistant: call a",
            "user: lost a",
        ],
    );
}

/// The API refuses an error without content.
#[test]
fn failures_are_marked_and_never_empty() {
    let failed = |id: &str, text: &str| Message {
        is_error: true,
        ..Message::tool_result(id, text)
    };
    let messages = [
        Message::text(Role::User, "go"),
        calls(&["a", "b"]),
        failed("a", "no such file"),
        failed("b", ""),
    ];
    let body = body(
        "claude-sonnet-4-5",
        &messages,
        &Parameters::default(),
        false,
    );
    let results = body["messages"][2]["content"].as_array().unwrap();
    let said: Vec<_> = results
        .iter()
        .map(|it| (&it["is_error"], &it["content"][0]["text"]))
        .collect();
    let yes = json!(true);
    let empty = json!("It failed and returned nothing.");
    assert_eq!(said, [(&yes, &json!("no such file")), (&yes, &empty)]);
}

#[test]
fn system_messages_in_the_middle_fit_the_model() {
    let messages = [
        Message::text(Role::System, "Be brief."),
        Message::text(Role::User, "a"),
        Message::text(Role::Assistant, "b"),
        Message::text(Role::System, "Be long."),
        Message::text(Role::User, "c"),
    ];
    let of = |model: &str| body(model, &messages, &Parameters::default(), false);
    assert_eq!(of("claude-opus-4-8")["system"][0]["text"], "Be brief.");
    assert_eq!(
        outline(&of("claude-opus-4-8")),
        ["user: a", "assistant: b", "user: c", "system: Be long."]
    );
    let tagged = [
        "user: a",
        "assistant: b",
        "user: <system>Be long.</system>, c",
    ];
    assert_eq!(outline(&of("claude-sonnet-5")), tagged);
    let last = body(
        "claude-opus-5",
        &messages[..4],
        &Parameters::default(),
        false,
    );
    assert_eq!(
        outline(&last),
        ["user: a", "assistant: b", "user: .", "system: Be long."]
    );
}

fn answer(provider: &str, blocks: Vec<StoredBlock>) -> Message {
    Message {
        tool_calls: vec![call("1")],
        provenance: Some(Box::new(Provenance {
            provider: provider.to_owned(),
            blocks,
        })),
        ..Message::text(Role::Assistant, "b")
    }
}

#[test]
fn only_signed_thinking_is_sent_back() {
    let reasoning = |text: &str, data: Value| StoredBlock::Reasoning {
        text: text.to_owned(),
        data: Some(data),
    };
    let other = |data: Value| StoredBlock::Other { data };
    let stored = || {
        vec![
            reasoning("signed", json!({"type": "thinking", "signature": "sig"})),
            reasoning("unsigned", json!({"type": "thinking"})),
            reasoning("", json!({"type": "redacted_thinking", "data": "x"})),
            other(
                json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}),
            ),
            other(json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": []})),
            other(
                json!({"type": "server_tool_use", "id": "s2", "name": "web_search", "input": {}}),
            ),
            StoredBlock::Text {
                data: Some(json!({"citations": [{"url": "u"}]})),
            },
            StoredBlock::Call {
                id: "1".to_owned(),
                data: None,
            },
        ]
    };
    let of = |provider: &str| {
        let messages = [
            answer(provider, stored()),
            Message::tool_result("1", "x"),
            Message::text(Role::Assistant, "c"),
        ];
        body("claude-sonnet-4-5", &messages, &Parameters::default(), true)["messages"][0]["content"]
            .take()
    };
    let expected = json!([
        {"type": "thinking", "thinking": "signed", "signature": "sig"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
        {"type": "text", "text": "b", "citations": [{"url": "u"}]},
        {"type": "tool_use", "id": "1", "name": "ls", "input": {}},
    ]);
    assert_eq!(of("anthropic"), expected);
    assert_eq!(of("gemini").as_array().unwrap().len(), 2, "text and call");
}

#[test]
fn no_budget_after_calls_without_thinking() {
    let parameters = Parameters {
        reasoning: Some(Reasoning::Budget(2000)),
        ..Parameters::default()
    };
    let thinking = |answer: Message| {
        let messages = [
            Message::text(Role::User, "go"),
            answer,
            Message::tool_result("1", "x"),
        ];
        let body = body("claude-sonnet-4-5", &messages, &parameters, true);
        body["thinking"]["budget_tokens"].as_u64()
    };
    assert_eq!(thinking(calls(&["1"])), None);
    let signed = StoredBlock::Reasoning {
        text: String::new(),
        data: Some(json!({"type": "thinking", "signature": "s"})),
    };
    assert_eq!(thinking(answer("anthropic", vec![signed])), Some(2000));
}

/// The marked turns, with tools and system prompt as `t` and `s`.
fn marks(messages: &[Message]) -> Vec<String> {
    let body = body("claude-sonnet-4-5", messages, &Parameters::default(), true);
    let is_marked = |list: &Value| {
        list.as_array()
            .unwrap()
            .iter()
            .any(|it| !it["cache_control"].is_null())
    };
    let places = [("t", &body["tools"]), ("s", &body["system"])];
    let mut marks: Vec<String> = places
        .into_iter()
        .filter(|(_, list)| is_marked(list))
        .map(|(name, _)| name.to_owned())
        .collect();
    for (at, turn) in body["messages"].as_array().unwrap().iter().enumerate() {
        marks.extend(is_marked(&turn["content"]).then(|| at.to_string()));
    }
    assert_eq!(
        body.to_string().matches("cache_control").count(),
        marks.len()
    );
    marks
}

#[test]
fn the_prompt_is_cached_at_four_places() {
    let user = |text: &str| Message::text(Role::User, text);
    let said = Message::text(Role::Assistant, "done");
    let mut messages = vec![Message::text(Role::System, "s"), user("a")];
    assert_eq!(marks(&messages), ["t", "s", "0"]);
    // Steps: the prefix of the next call, and that of this one.
    messages.extend([calls(&["1"]), Message::tool_result("1", "x")]);
    assert_eq!(marks(&messages), ["t", "s", "0", "2"]);
    messages.extend([calls(&["2"]), Message::tool_result("2", "x")]);
    assert_eq!(marks(&messages), ["t", "s", "2", "4"]);
    // The next turn: the part before the request, which is all that stays the same.
    messages.extend([said.clone(), user("b")]);
    assert_eq!(marks(&messages), ["t", "s", "5", "6"]);
    // A turn with so many blocks that the prefix of the previous turn is marked again.
    for step in 3..12 {
        messages.extend([
            calls(&[&step.to_string()]),
            Message::tool_result(step.to_string(), "x"),
        ]);
    }
    messages.extend([said, user("c")]);
    assert_eq!(marks(&messages), ["t", "5", "25", "26"]);
    let once = [Message::text(Role::System, "s"), user("a")];
    let once = body("claude-sonnet-4-5", &once, &Parameters::default(), false);
    assert!(!once.to_string().contains("cache_control"), "{once}");
}

#[test]
fn parameters_match_the_model() {
    let schema = AnswerFormat::Schema {
        name: "a".to_owned(),
        schema: json!({"type": "object"}),
        strict: true,
    };
    let parameters = Parameters {
        temperature: Some(1.5),
        top_p: Some(0.5),
        stop: vec!["\n".to_owned(), "END".to_owned()],
        tool_choice: ToolChoice::Required,
        parallel_tool_calls: Some(false),
        answer_format: Some(schema),
        ..Parameters::default()
    };
    let of = |model: &str| {
        let mut body = body(model, &[Message::text(Role::User, "a")], &parameters, true);
        let fields = [
            "temperature",
            "top_p",
            "stop_sequences",
            "tool_choice",
            "output_config",
        ];
        Value::Array(fields.iter().map(|field| body[*field].take()).collect())
    };
    let any = json!({"type": "any", "disable_parallel_tool_use": true});
    let format = json!({"format": {
        "type": "json_schema",
        "schema": {"type": "object", "additionalProperties": false},
    }});
    assert_eq!(
        of("claude-3-7-sonnet-latest"),
        json!([1.0, 0.5, ["END"], any, null])
    );
    assert_eq!(
        of("claude-haiku-4-5"),
        json!([1.0, null, ["END"], any, format])
    );
    assert_eq!(
        of("claude-opus-5"),
        json!([null, null, ["END"], any, format])
    );
    let auto = json!({"type": "auto", "disable_parallel_tool_use": true});
    assert_eq!(
        of("claude-opus-5-5"),
        json!([null, null, ["END"], auto, format])
    );
}

#[test]
fn token_counting_omits_answer_parameters() {
    let messages = [Message::of(
        Role::User,
        vec![Part::Text {
            text: "a".to_owned(),
        }],
    )];
    let parameters = Parameters {
        temperature: Some(0.0),
        ..Parameters::default()
    };
    let request = ModelRequest {
        model: "claude-sonnet-4-5",
        messages: &messages,
        tools: &[],
        parameters: &parameters,
        stream: false,
    };
    let body = String::from_utf8(encode_count(&request)).unwrap();
    let expected = r#"{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}"#;
    assert_eq!(body, expected);
    assert_eq!(counted_tokens(r#"{"input_tokens":11}"#), Some(11));
    assert_eq!(counted_tokens("{}"), None);
}
