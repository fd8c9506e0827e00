//! Decoded requests, and the errors for invalid ones.

use domain::{Message, ModelParameters, Part, ReasoningEffort, Role};
use proptest::prelude::*;

use super::*;
use crate::{
    chat_stream::Mode,
    responses::{check_conversation, conversation},
};

fn decode(body: &Value) -> Checked<ResponseRequest> {
    ResponseRequest::decode(body.to_string().as_bytes())
}

fn with(field: &str, value: Value) -> Value {
    let mut body = json!({"model": "m", "input": "Hi"});
    body[field] = value;
    body
}

/// The conversation of an input.
fn read(input: Value) -> Checked<Vec<Message>> {
    conversation(&decode(&with("input", input))?.items)
}

fn checked(input: Value) -> Checked<Mode> {
    check_conversation(&mut read(input)?)
}

#[test]
fn the_smallest_request() {
    let request = decode(&with("input", json!("Hi"))).unwrap();
    assert_eq!(
        conversation(&request.items).unwrap(),
        [Message::text(Role::User, "Hi")]
    );
    assert_eq!(
        (request.stream, request.background, request.store),
        (false, false, true)
    );
    assert_eq!(request.extra, Map::new());
    assert_eq!(
        (&request.echo["model"], &request.echo["tool_choice"]),
        (&json!("m"), &json!("auto"))
    );
}

#[test]
fn a_full_request_with_unknown_fields() {
    let mut body = with("later", json!({"x": 1}));
    for (name, value) in [
        ("instructions", json!("Be brief.")),
        ("previous_response_id", json!("resp_1")),
        ("stream", json!(true)),
        ("background", json!(true)),
        (
            "tools",
            json!([{"type": "function", "name": "a", "parameters": {"type": "object"}, "strict": true}]),
        ),
        ("tool_choice", json!({"type": "function", "name": "a"})),
        ("parallel_tool_calls", json!(false)),
        ("temperature", json!(0.5)),
        ("top_p", json!(0.25)),
        ("max_output_tokens", json!(50)),
        ("metadata", json!({"a": "b"})),
        ("reasoning", json!({"effort": "low"})),
        (
            "text",
            json!({"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": true}}),
        ),
    ] {
        body[name] = value;
    }
    let mut request = decode(&body).unwrap();
    assert_eq!(
        (request.instructions.as_deref(), request.previous.as_deref()),
        (Some("Be brief."), Some("resp_1"))
    );
    assert!(request.stream && request.background);
    let set = ModelParameters {
        temperature: Some(0.5),
        top_p: Some(0.25),
        max_output_tokens: Some(50),
        reasoning_effort: Some(ReasoningEffort::Low),
        ..ModelParameters::default()
    };
    assert_eq!(request.parameters, set);
    assert_eq!(request.tools[0].name, "a");
    let schema = json!({"name": "n", "schema": {"type": "object"}, "strict": true});
    let extra = json!({
        "tool_choice": {"type": "function", "function": {"name": "a"}},
        "parallel_tool_calls": false,
    });
    assert_eq!(Value::Object(request.extra.clone()), extra);
    assert_eq!(request.echo["metadata"], json!({"a": "b"}));
    assert_eq!(request.echo["tools"], body["tools"]);
    assert_eq!(
        request.answer_format,
        Some(json!({"type": "json_schema", "json_schema": schema}))
    );
    assert_eq!(
        request.check_for_agent().unwrap_err().field(),
        Some("tool_choice")
    );
}

#[test]
fn which_tools_may_be_used() {
    let names = |choice: Value| {
        let tools = json!([{"type": "function", "name": "a"}, {"type": "function", "name": "b"}]);
        let mut body = with("tools", tools);
        body["tool_choice"] = choice;
        let request = decode(&body).unwrap();
        let names: Vec<String> = request.tools.into_iter().map(|tool| tool.name).collect();
        (names.concat(), request.extra.get("tool_choice").cloned())
    };
    assert_eq!(names(json!("auto")), ("ab".into(), None));
    assert_eq!(names(json!("none")), (String::new(), None));
    assert_eq!(
        names(json!("required")),
        ("ab".into(), Some(json!("required")))
    );
    let allowed = json!({"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "b"}]});
    assert_eq!(names(allowed), ("b".into(), Some(json!("required"))));
}

/// Codex's request: its functions, some in a namespace, and a tool that OpenAI runs.
#[test]
fn namespaces_are_flattened_and_hosted_tools_omitted() {
    let spawn =
        json!({"type": "function", "name": "spawn_agent", "parameters": {"type": "object"}});
    let tools = json!([
        {"type": "function", "name": "exec_command"},
        {"type": "namespace", "name": "multi_agent_v1", "description": "Agents.", "tools": [spawn]},
        {"type": "namespace", "name": "mcp__files__", "tools": [spawn]},
        {"type": "web_search", "external_web_access": true},
    ]);
    let names = |body: &Value| -> Vec<String> {
        decode(body)
            .unwrap()
            .tools
            .into_iter()
            .map(|tool| tool.name)
            .collect()
    };
    let mut body = with("tools", tools);
    assert_eq!(
        names(&body),
        [
            "exec_command",
            "multi_agent_v1__spawn_agent",
            "mcp__files__spawn_agent"
        ]
    );
    let spawn = json!({"type": "function", "name": "spawn_agent", "namespace": "multi_agent_v1"});
    body["tool_choice"] = json!({"type": "allowed_tools", "tools": [spawn]});
    assert_eq!(names(&body), ["multi_agent_v1__spawn_agent"]);
    body["tool_choice"] = json!({"type": "web_search"});
    assert_eq!(decode(&body).unwrap_err().field(), Some("tool_choice"));
    let call = json!({
        "type": "function_call", "call_id": "c1", "name": "spawn_agent", "namespace": "multi_agent_v1",
        "arguments": "{}",
    });
    let messages = read(json!([{"role": "user", "content": "Hi"}, call])).unwrap();
    assert_eq!(
        messages[1].tool_calls[0].name,
        "multi_agent_v1__spawn_agent"
    );
}

#[test]
fn items_become_messages() {
    let messages = read(json!([
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [
            {"type": "input_text", "text": "What is this?"},
            {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"},
            {"type": "input_file", "file_id": "file_1"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed", "phase": "commentary",
         "content": [{"type": "output_text", "text": "Let me see.", "annotations": []}]},
        {"type": "mcp_call", "id": "mcp_1", "server_label": "glasshouse", "name": "ls", "arguments": "{}",
         "output": "a.txt", "error": null},
        {"type": "function_call", "call_id": "c1", "name": "w", "arguments": "{\"a\":1}"},
        {"type": "function_call", "call_id": "c2", "name": "w", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "fine"},
        {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "wet"}]},
        {"role": "user", "content": "Thanks"},
    ]))
    .unwrap();
    let shape: Vec<(Role, String, usize)> = messages
        .iter()
        .map(|m| (m.role, m.plain_text(), m.tool_calls.len()))
        .collect();
    let expected = [
        (Role::System, "Be brief.", 0),
        (
            Role::User,
            "What is this?\n[An attachment of type input_file was left out.]",
            0,
        ),
        (Role::Assistant, "Let me see.", 1),
        (Role::Tool, "a.txt", 0),
        (Role::Assistant, "", 2),
        (Role::Tool, "fine", 0),
        (Role::Tool, "wet", 0),
        (Role::User, "Thanks", 0),
    ];
    assert_eq!(
        shape,
        expected.map(|(role, text, calls)| (role, text.to_owned(), calls))
    );
    assert!(matches!(messages[1].content[1], Part::Image { .. }));
    let mut messages = messages;
    assert_eq!(check_conversation(&mut messages), Ok(Mode::Chat));
    assert_eq!(
        checked(json!("<research_request>\nWhy?")),
        Ok(Mode::Research)
    );
}

/// A provider's opaque data comes as sealed reasoning, wherever it was in the answer.
#[test]
fn sealed_reasoning_goes_back_to_its_provider() {
    use domain::{Block, StoredBlock};

    use crate::sealed::SealedBlock;

    let sealed = |provider: &str, block: StoredBlock| {
        let encrypted = SealedBlock {
            provider: provider.to_owned(),
            block,
        }
        .seal();
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": encrypted})
    };
    let thought = |text: &str| StoredBlock::Reasoning {
        text: text.to_owned(),
        data: Some(json!("sig")),
    };
    let call =
        |id: &str| json!({"type": "function_call", "call_id": id, "name": "w", "arguments": "{}"});
    let output =
        |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "fine"});
    let messages = read(json!([
        {"role": "user", "content": "Hi"},
        sealed("anthropic", thought("one")),
        {"role": "assistant", "content": "Let me see."},
        sealed("gemini", thought("of another")),
        sealed("anthropic", thought("two")),
        {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "gAAAA"},
        call("c1"),
        sealed("anthropic", StoredBlock::Call { id: "c1".to_owned(), data: Some(json!(1)) }),
        output("c1"),
        {"role": "assistant", "content": "Done."},
    ]))
    .unwrap();
    let shown: Vec<String> = messages[1]
        .blocks("anthropic")
        .into_iter()
        .map(|block| match block {
            Block::Reasoning { text, data } => format!("{text} {}", data.unwrap()),
            Block::Part { part, data } => format!("{} {data:?}", part.as_text().unwrap()),
            Block::Call { call, data } => format!("{} {}", call.id, data.unwrap()),
            Block::Other { data } => data.to_string(),
        })
        .collect();
    assert_eq!(
        shown,
        ["one \"sig\"", "Let me see. None", "two \"sig\"", "c1 1"]
    );
    assert_eq!(messages.len(), 4);
    assert_eq!(messages[3].provenance, None);
}

#[test]
fn calls_and_outputs_have_to_fit() {
    let call = json!({"type": "function_call", "call_id": "c1", "name": "w", "arguments": "{}"});
    let output = json!({"type": "function_call_output", "call_id": "c1", "output": "fine"});
    let said = json!({"role": "user", "content": "Hi"});
    assert!(checked(json!([said, call, output])).is_ok());
    for (input, words) in [
        (json!([said, call]), "no output for the function call c1"),
        (json!([said, output]), "No function call was made"),
        (json!([call, output]), "no message of the user"),
        (json!([]), "no message of the user"),
        (json!(" "), "no message of the user"),
    ] {
        let error = checked(input).unwrap_err();
        assert!(
            error.to_string().contains(words) && error.field() == Some("input"),
            "{error}"
        );
    }
}

#[test]
fn invalid_values_are_named() {
    let function = |fields: Value| json!([fields]);
    for (body, field) in [
        (json!({"input": "Hi"}), "model"),
        (with("model", json!(7)), "model"),
        (with("input", json!(null)), "input"),
        (with("input", json!(7)), "input"),
        (with("input", json!(["Hi"])), "input[0]"),
        (with("input", json!([{"content": "Hi"}])), "input[0].type"),
        (with("instructions", json!([])), "instructions"),
        (
            with("previous_response_id", json!(1)),
            "previous_response_id",
        ),
        (with("stream", json!("yes")), "stream"),
        (with("background", json!(1)), "background"),
        (with("store", json!("no")), "store"),
        (with("metadata", json!({"a": 1})), "metadata"),
        (with("temperature", json!(3)), "temperature"),
        (with("top_p", json!(2)), "top_p"),
        (
            with("max_output_tokens", json!("many")),
            "max_output_tokens",
        ),
        (with("max_output_tokens", json!(0)), "max_output_tokens"),
        (with("text", json!("json")), "text"),
        (
            with("text", json!({"format": {"type": "xml"}})),
            "text.format.type",
        ),
        (
            with(
                "text",
                json!({"format": {"type": "json_schema", "name": "n"}}),
            ),
            "text.format.schema",
        ),
        (with("reasoning", json!({"effort": 1})), "reasoning.effort"),
        (with("conversation", json!("conv_1")), "conversation"),
        (with("prompt", json!({"id": "p"})), "prompt"),
        (with("tools", json!({})), "tools"),
        (
            with("tools", function(json!({"type": "web_search"}))),
            "tools[0].type",
        ),
        (
            with("tools", function(json!({"type": "namespace", "name": "n"}))),
            "tools[0].tools",
        ),
        (
            with("tools", function(json!({"type": "namespace", "tools": []}))),
            "tools[0].name",
        ),
        (
            with(
                "tools",
                function(json!({"type": "function", "name": "a b"})),
            ),
            "tools[0].name",
        ),
        (
            with(
                "tools",
                function(json!({"type": "function", "function": {"name": "a"}})),
            ),
            "tools[0].name",
        ),
        (with("tool_choice", json!("some")), "tool_choice"),
        (with("tool_choice", json!("required")), "tool_choice"),
        (
            with("tool_choice", json!({"type": "function", "name": "a"})),
            "tool_choice.name",
        ),
        (
            with("parallel_tool_calls", json!("no")),
            "parallel_tool_calls",
        ),
    ] {
        let error = decode(&body).unwrap_err();
        assert_eq!(error.field(), Some(field), "{error}");
    }
    for (item, field) in [
        (
            json!({"type": "message", "role": "boss", "content": ""}),
            "input[0].role",
        ),
        (json!({"role": "user", "content": 7}), "input[0].content"),
        (
            json!({"role": "user", "content": [{"text": "Hi"}]}),
            "input[0].content[0].type",
        ),
        (
            json!({"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}),
            "input[0].content[0].image_url",
        ),
        (
            json!({"type": "function_call", "name": "a", "arguments": "{}"}),
            "input[0].call_id",
        ),
        (
            json!({"type": "function_call_output", "call_id": "c", "output": 7}),
            "input[0].output",
        ),
        (json!({"type": "item_reference", "id": "x"}), "input[0].id"),
        (json!({"type": "song"}), "input[0].type"),
    ] {
        let error = read(json!([item])).unwrap_err();
        assert_eq!(error.field(), Some(field), "{error}");
    }
    let mut body = with("background", json!(true));
    body["store"] = json!(false);
    assert_eq!(decode(&body).unwrap_err().field(), Some("background"));
    assert_eq!(ResponseRequest::decode(b"{").unwrap_err().field(), None);
}

proptest! {
    #[test]
    fn never_panics(text in r#"[\{\}\[\]":,a-z0-9\\]{0,60}"#) {
        let _ = ResponseRequest::decode(text.as_bytes());
    }
}
