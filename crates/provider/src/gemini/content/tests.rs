//! Encoded conversations.

use domain::{Provenance, StoredBlock};
use serde_json::json;

use super::*;

fn user(text: &str) -> Message {
    Message::text(Role::User, text)
}

/// A message with calls, of which the first has data of `provider`.
fn calls(provider: &str, calls: &[(&str, &str)]) -> Message {
    let call = |(id, arguments): &(&str, &str)| ToolCall {
        id: (*id).to_owned(),
        name: "ls".to_owned(),
        arguments: (*arguments).to_owned(),
    };
    let tool_calls: Vec<ToolCall> = calls.iter().map(call).collect();
    let block = |(index, call): (usize, &ToolCall)| StoredBlock::Call {
        id: call.id.clone(),
        data: (index == 0).then(|| json!("sig")),
    };
    let blocks = tool_calls.iter().enumerate().map(block).collect();
    let provenance = Some(Box::new(Provenance {
        provider: provider.to_owned(),
        blocks,
    }));
    Message {
        tool_calls,
        provenance,
        ..Message::of(Role::Assistant, Vec::new())
    }
}

fn check(model: &str, messages: &[Message], expected: Value) {
    let (_, contents) = contents(messages, Generation::of(model));
    assert_eq!(serde_json::to_value(contents).unwrap(), expected);
}

fn called(id: &str, signature: Option<&str>) -> Value {
    let mut part = json!({"functionCall": {"id": id, "name": "ls", "args": {}}});
    if let Some(signature) = signature {
        part["thoughtSignature"] = json!(signature);
    }
    part
}

fn returned(id: &str, response: Value) -> Value {
    json!({"functionResponse": {"id": id, "name": "ls", "response": response}})
}

#[test]
fn all_results_of_a_step_are_one_content_in_the_order_of_the_calls() {
    let messages = [
        user("go"),
        calls(PROVIDER, &[("1", "{}"), ("2", " {} "), ("3", "")]),
        Message::tool_result("2", r#"{"files": [1]}"#),
        Message::tool_result("1", "[1]"),
        Message::tool_result("9", "of no call"),
        user("and?"),
    ];
    let expected = json!([
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [called("1", Some("sig")), called("2", None), called("3", None)]},
        {"role": "user", "parts": [
            returned("1", json!({"result": "[1]"})),
            returned("2", json!({"files": [1]})),
            returned("3", json!({"error": NO_RESULT})),
        ]},
        {"role": "user", "parts": [{"text": "of no call"}]},
        {"role": "user", "parts": [{"text": "and?"}]},
    ]);
    check("gemini-3-pro-preview", &messages, expected);
}

#[test]
fn only_calls_of_the_current_turn_need_a_signature() {
    let foreign = || calls("anthropic", &[("1", "{}"), ("2", "{}")]);
    let messages = [
        user("a"),
        foreign(),
        Message::tool_result("1", "x"),
        Message::tool_result("2", "y"),
        user("b"),
        foreign(),
        Message::tool_result("1", "x"),
        Message::tool_result("2", "y"),
        calls(PROVIDER, &[("3", "{}"), ("4", "{}")]),
    ];
    let signatures = |model: &str| {
        let (_, contents) = contents(&messages, Generation::of(model));
        let contents = serde_json::to_value(contents).unwrap();
        let parts = contents
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|it| it["parts"].as_array().unwrap().clone());
        let calls = parts.filter(|part| part.get("functionCall").is_some());
        let signature = |part: Value| {
            part.get("thoughtSignature")
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        calls.map(signature).collect::<Vec<_>>()
    };
    let own = Some("sig".to_owned());
    let made = Some(NO_SIGNATURE.to_owned());
    assert_eq!(
        signatures("gemini-3-flash-preview"),
        [None, None, made, None, own.clone(), None]
    );
    assert_eq!(
        signatures("gemini-2.5-flash"),
        [None, None, None, None, own, None]
    );
}

#[test]
fn a_conversation_begins_with_user_content() {
    let answer = |text: &str| Message::text(Role::Assistant, text);
    let empty = json!({"role": "user", "parts": [{"text": ""}]});
    check(
        "gemini-2.5-flash",
        &[Message::text(Role::System, "s")],
        json!([empty]),
    );
    let messages = [
        answer("a"),
        answer(""),
        answer("b"),
        user(""),
        Message::text(Role::System, "now"),
        answer(""),
    ];
    let expected = json!([
        empty,
        {"role": "model", "parts": [{"text": "a"}, {"text": "b"}]},
        empty,
        {"role": "user", "parts": [{"text": "now"}]},
        {"role": "model", "parts": [{"text": ""}]},
    ]);
    check("gemini-2.5-flash", &messages, expected);
}

#[test]
fn blocks_keep_their_order_and_data() {
    let text = |data: Option<Value>| StoredBlock::Text { data };
    let code = json!({"executableCode": {"code": "1"}, "thoughtSignature": "c"});
    let blocks = vec![
        StoredBlock::Reasoning {
            text: "hm".to_owned(),
            data: Some(json!("r")),
        },
        StoredBlock::Reasoning {
            text: String::new(),
            data: None,
        },
        text(None),
        StoredBlock::Other {
            data: json!({ "part": code }),
        },
        text(Some(json!("t"))),
        StoredBlock::Other {
            data: json!({"metadata": {"groundingMetadata": {"x": 1}}}),
        },
    ];
    let content = ["a", "b"]
        .map(|text| Part::Text {
            text: text.to_owned(),
        })
        .to_vec();
    let mut message = Message::of(Role::Assistant, content);
    message.provenance = Some(Box::new(Provenance {
        provider: PROVIDER.to_owned(),
        blocks,
    }));
    let expected = json!([
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [
            {"text": "hm", "thought": true, "thoughtSignature": "r"},
            {"text": "a"},
            code,
            {"text": "b", "thoughtSignature": "t"},
        ]},
    ]);
    check("gemini-2.5-pro", &[user("q"), message], expected);
}

#[test]
fn results_are_objects_that_gemini_takes() {
    let response =
        |text: &str| serde_json::to_value(response(&Message::tool_result("1", text))).unwrap();
    assert_eq!(response(r#" {"a": 1.0} "#), json!({"a": 1.0}));
    // Gemini reads these as references to parts of the response.
    for text in [
        r##"{"schema": {"$ref": "#/$defs/a"}}"##,
        r##"{"\u0024ref": "#/$defs/a"}"##,
    ] {
        assert_eq!(response(text), json!({ "result": text }));
    }
    for text in ["", "7", "[]", "{", "{} {}", "null"] {
        assert_eq!(response(text), json!({ "result": text }));
    }
    let args = |text: &str| serde_json::to_value(arguments(text)).unwrap();
    assert_eq!(args(r#"{"a":1}"#), json!({"a": 1}));
    assert_eq!(args(" "), json!({}));
    assert_eq!(args("[1]"), json!({"arguments": [1]}));
    assert_eq!(args(r#"{"a":"#), json!({"arguments": r#"{"a":"#}));
}

#[test]
fn media_of_results_are_within_them_or_behind_all() {
    let mut seen = Message::tool_result("1", "seen");
    seen.content.push(Part::Image {
        url: "data:image/png;base64,iVBO".to_owned(),
    });
    seen.content.push(Part::Video {
        url: "data:video/mp4;base64,AAAA".to_owned(),
    });
    let messages = [
        user("go"),
        calls(PROVIDER, &[("1", "{}"), ("2", "{}")]),
        seen,
        Message::tool_result("2", "x"),
    ];
    let picture = json!({"inlineData": {"mimeType": "image/png", "data": "iVBO"}});
    let film = json!({"inlineData": {"mimeType": "video/mp4", "data": "AAAA"}});
    let about = json!({"text": "Returned by ls beside its result:"});
    let mut nested = returned("1", json!({"result": "seen"}));
    nested["functionResponse"]["parts"] = json!([picture]);
    let first = json!([
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [called("1", Some("sig")), called("2", None)]},
    ]);
    let with = |results: Value, extra: Value| {
        let mut contents = first.as_array().unwrap().clone();
        contents.push(json!({"role": "user", "parts": results}));
        contents.push(json!({"role": "user", "parts": extra}));
        Value::Array(contents)
    };
    let second = returned("2", json!({"result": "x"}));
    check(
        "gemini-3-flash-preview",
        &messages,
        with(json!([nested, second]), json!([about, film])),
    );
    let plain = returned("1", json!({"result": "seen"}));
    check(
        "gemini-2.5-flash",
        &messages,
        with(json!([plain, second]), json!([about, picture, film])),
    );
}

/// As recorded: `google_model_retry` and `google_model_text_as_binary_content_input`.
#[test]
fn failures_and_files() {
    let file = |url: &str, media_type: &str| Part::File {
        url: url.to_owned(),
        media_type: media_type.to_owned(),
        name: "a".to_owned(),
    };
    let failed = Message {
        is_error: true,
        ..Message::tool_result("1", "{\"not\": \"supported\"}")
    };
    let files = vec![
        file(
            "data:text/markdown;base64,VGhpcyBpcyBhIHRlc3QgZG9jdW1lbnQu",
            "text/markdown",
        ),
        file("https://a.example/b", "application/pdf"),
        file("data:application/zip;base64,AAAA", "application/zip"),
    ];
    let messages = [
        user("go"),
        calls(PROVIDER, &[("1", "{}")]),
        failed,
        Message::of(Role::User, files),
    ];
    let note = "[The file “a” of type application/zip was left out: this model does not take it.]";
    let expected = json!([
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [called("1", Some("sig"))]},
        {"role": "user", "parts": [returned("1", json!({"error": "{\"not\": \"supported\"}"}))]},
        {"role": "user", "parts": [
            {"inlineData": {"mimeType": "text/plain", "data": "VGhpcyBpcyBhIHRlc3QgZG9jdW1lbnQu"}},
            {"fileData": {"mimeType": "application/pdf", "fileUri": "https://a.example/b"}},
            {"text": note},
        ]},
    ]);
    check("gemini-2.5-flash", &messages, expected);
}
