//! Accepted and rejected inputs.

use domain::ToolCall;
use proptest::prelude::*;

use super::*;

const RUN: &str = "0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d";

fn smallest() -> Value {
    json!({"threadId": "t", "runId": "r", "messages": [{"id": "u", "role": "user", "content": "Hi"}]})
}

fn with(field: &str, value: Value) -> Value {
    let mut body = smallest();
    body[field] = value;
    body
}

fn decode(body: &Value) -> Checked<RunInput> {
    RunInput::decode(body.to_string().as_bytes())
}

fn refused(field: &str, value: Value, words: &str) {
    let error = decode(&with(field, value)).expect_err(words).to_string();
    assert!(error.contains(words), "{error:?} should say {words:?}");
}

fn history(messages: Value) -> Vec<Message> {
    decode(&with("messages", messages)).unwrap().history
}

#[test]
fn the_smallest_input_is_an_old_clients() {
    let input = decode(&smallest()).unwrap();
    assert_eq!(
        (input.version, input.history),
        (Version::V0x, vec![Message::text(Role::User, "Hi")])
    );
    assert_eq!(
        (input.context, input.tools, input.resume),
        (None, vec![], vec![])
    );
    for (version, expected) in [
        ("1.0", Version::V1),
        ("1.1", Version::V1),
        ("0.9", Version::V0x),
    ] {
        assert_eq!(
            decode(&with("protocolVersion", json!(version)))
                .unwrap()
                .version,
            expected
        );
    }
    for state in [json!(null), json!(5), json!([1])] {
        assert!(decode(&with("state", state)).unwrap().state.is_empty());
    }
}

#[test]
fn every_call_is_followed_by_its_result() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "ls", "arguments": "{}"}});
    let sub_agent = format!("{RUN}-a1.t1");
    let read = history(json!([
        {"id": "s", "role": "developer", "content": "Be brief."},
        {"id": "e", "role": "system", "content": ""},
        {"id": "u", "role": "user", "content": "Hi"},
        {"id": "a", "role": "assistant", "toolCalls": [call("c1"), call("c2"), call("lost")]},
        {"id": "x", "role": "assistant", "content": "of a sub-agent", "subagentRunId": "a1"},
        {"id": sub_agent, "role": "assistant", "content": "of another"},
        {"id": "r", "role": "reasoning", "content": "Hm."},
        {"id": "2", "role": "tool", "toolCallId": "c2", "content": "two", "error": "it broke"},
        {"id": "0", "role": "tool", "toolCallId": "c1", "content": "old"},
        {"id": "1", "role": "tool", "toolCallId": "c1", "content": [{"type": "text", "text": "new"}]},
        {"id": "o", "role": "tool", "toolCallId": "nobody's", "content": "x"},
        {"id": "b", "role": "assistant", "toolCalls": [call("pending")]},
    ]));
    let made = |id: &str| ToolCall {
        id: id.into(),
        name: "ls".into(),
        arguments: "{}".into(),
    };
    assert_eq!(
        read,
        [
            Message::text(Role::System, "Be brief."),
            Message::text(Role::User, "Hi"),
            Message {
                tool_calls: vec![made("c1"), made("c2")],
                ..Message::of(Role::Assistant, Vec::new())
            },
            Message::tool_result("c1", "new"),
            Message::tool_result("c2", "Error: it broke"),
        ]
    );
}

#[test]
fn parts_that_cannot_be_used_are_named() {
    let picture = json!({"type": "data", "value": "AA==", "mimeType": "image/png"});
    let read = history(json!([{"id": "u", "role": "user", "content": [
        {"type": "text", "text": "Look"},
        {"type": "binary", "mimeType": "image/png", "data": "AA=="},
        {"type": "image", "source": picture},
        {"type": "image", "source": {"type": "url", "value": "https://example.org/a.png"}},
        {"type": "image", "source": {"type": "data", "value": "\"><script>", "mimeType": "image/png"}},
        {"type": "document", "filename": "a.pdf", "source": {"type": "file", "value": "f"}},
        {"type": "hologram"},
    ]}]));
    let text = |text: &str| Part::Text { text: text.into() };
    assert_eq!(
        read[0].content,
        [
            text("Look"),
            Part::Image {
                url: "data:image/png;base64,AA==".into()
            },
            Part::Image {
                url: "https://example.org/a.png".into()
            },
            text("[An attachment of type image was left out.]"),
            text("[An attachment of type document “a.pdf” was left out.]"),
            text("[An attachment of type hologram was left out.]"),
        ]
    );
}

#[test]
fn context_and_foreign_state_reach_the_model() {
    let mut body = with("state", json!({"todos": [], "files": {}, "colour": "red"}));
    body["context"] = json!([{"description": "page", "value": "home"}]);
    let described = decode(&body).unwrap().context.unwrap();
    assert!(
        described.contains("- page: home") && described.contains(r#"{"colour":"red"}"#),
        "{described}"
    );
    assert!(!described.contains("todos"));
    assert_eq!(
        decode(&with("state", json!({"todos": []})))
            .unwrap()
            .context,
        None
    );
}

#[test]
fn answers_name_their_interrupt() {
    let id = format!("{RUN}-p1-9");
    let body = with(
        "resume",
        json!([{"interruptId": id, "status": "resolved", "payload": true},
        {"interruptId": "other", "status": "cancelled"}]),
    );
    let resume = decode(&body).unwrap().resume;
    assert_eq!(
        resume[0].interrupt.as_ref().map(|interrupt| interrupt.seq),
        Some(9)
    );
    assert_eq!(
        resume[1],
        Resume {
            interrupt: None,
            answer: Answer::Cancelled
        }
    );
    let mut alone = body;
    alone["messages"] = json!([]);
    assert!(decode(&alone).unwrap().history.is_empty());
}

#[test]
fn ids_identify_runs_and_sub_agents() {
    let call = json!({"id": format!("{RUN}-c1"), "function": {"name": "x", "arguments": "{}"}});
    let input = decode(&with(
        "messages",
        json!([
            {"id": "u", "role": "user", "content": "Hi"},
            {"id": format!("{RUN}-t1"), "role": "assistant", "content": "x", "toolCalls": [call]},
            {"id": "mine", "role": "tool", "toolCallId": format!("{RUN}-c1"), "content": "yes"},
        ]),
    ))
    .unwrap();
    let run = format!("run_{RUN}").parse().unwrap();
    assert_eq!(input.runs(), HashSet::from([run]));
    assert_eq!(input.foreign().len(), 2);
    assert_eq!(input.result_of(run, "c1").as_deref(), Some("yes"));
    assert_eq!((input.said(), input.said_last().is_some()), (None, true));
}

#[test]
fn wrong_types_are_named() {
    refused("threadId", json!(5), "`threadId` must be a string");
    refused("runId", json!(""), "`runId` must be a string of 1 to");
    refused("messages", json!({}), "`messages` must be a list");
    refused("messages", json!([]), "nothing to answer");
    refused("messages", json!(["Hi"]), "`messages[0]` must be an object");
    refused(
        "messages",
        json!([{"role": "boss"}]),
        "`messages[0].role` must be",
    );
    refused(
        "messages",
        json!([{"role": "user", "content": 5}]),
        "`messages[0].content` must be",
    );
    refused(
        "messages",
        json!([{"role": "user", "content": "a\u{0}"}]),
        "NUL",
    );
    refused(
        "messages",
        json!([{"role": "tool", "content": "x"}]),
        "`messages[0].toolCallId`",
    );
    refused(
        "messages",
        json!([{"role": "assistant", "toolCalls": [{}]}]),
        "`messages[0].toolCalls`",
    );
    refused("tools", json!({}), "`tools` must be a list");
    refused("tools", json!([{"name": ""}]), "`tools[0].name`");
    refused(
        "tools",
        json!([{"name": "x", "parameters": 5}]),
        "`tools[0].parameters`",
    );
    refused("context", json!("x"), "`context` must be a list");
    refused(
        "resume",
        json!([{"interruptId": "x"}]),
        "`resume` must be a list",
    );
}

proptest! {
    #[test]
    fn never_panics(text in r#"[\{\}\[\]":,a-z0-9\\]{0,60}"#) {
        let _ = RunInput::decode(text.as_bytes());
    }

    #[test]
    fn never_panics_on_messages(messages in any_json()) {
        let _ = decode(&with("messages", json!([messages])));
    }
}

/// JSON with the relevant field names.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        "user|assistant|tool|image|data|\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let names = "id|role|content|toolCalls|toolCallId|function|source|type|text|value|mimeType";
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::hash_map(names, inner, 0..5)
                .prop_map(|fields| fields.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}
