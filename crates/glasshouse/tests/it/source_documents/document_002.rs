//! Document 002, "AG-UI Protocol Documentation": messages with debug events.

use std::collections::BTreeSet;

use scripted::{Behaviour, Reply, Step};
use serde_json::{Value, json};

use super::{deep, fields};
use crate::openai::{Door, finish, text};

const DAY_MS: i64 = 86_400_000;

async fn chat(door: &Door, body: &Value) -> Value {
    let answer = door.server.post("/api/chat", &door.key, body).await;
    answer.expect(200);
    answer.json()
}

fn described<'a>(answer: &'a Value, kind: &str) -> Vec<&'a Value> {
    let events = answer["debugEvents"].as_array().unwrap();
    events
        .iter()
        .filter(|event| event["type"] == kind)
        .collect()
}

fn set<'a>(names: &[&'a str]) -> BTreeSet<&'a str> {
    names.iter().copied().collect()
}

#[tokio::test]
async fn document_002_messages_and_debug_events_have_the_fields_of_the_document() {
    let door = Door::open(deep()).await;
    let answer = chat(&door, &json!({"message": "Work"})).await;
    let of = |object: &Value| {
        fields(object)
            .into_iter()
            .map(str::to_owned)
            .collect::<BTreeSet<_>>()
    };
    let expect = |object: &Value, names: &[&str]| {
        assert_eq!(
            of(object),
            names.iter().map(|name| (*name).to_owned()).collect(),
            "{object}"
        );
    };
    expect(&answer, &["message", "conversationId", "debugEvents"]);
    expect(&answer["message"], &["id", "role", "content", "timestamp"]);
    assert_eq!(
        (
            &answer["message"]["role"],
            answer["message"]["id"].is_string()
        ),
        (&json!("assistant"), true)
    );
    assert_eq!(answer["message"]["content"], "All of it is done.");
    let is_now =
        |time: &Value| (time.as_i64().unwrap() - door.server.clock.now_ms()).abs() < DAY_MS;
    assert!(
        is_now(&answer["message"]["timestamp"]),
        "milliseconds: {}",
        answer["message"]
    );
    let events = answer["debugEvents"].as_array().unwrap();
    let mut sources = BTreeSet::new();
    for event in events {
        expect(
            event,
            &["id", "timestamp", "type", "source", "data", "description"],
        );
        let (kind, source) = (
            event["type"].as_str().unwrap(),
            event["source"].as_str().unwrap(),
        );
        assert!(
            set(&["request", "response", "tool_call", "thought", "error"]).contains(kind),
            "{event}"
        );
        sources.insert(source);
        assert!(is_now(&event["timestamp"]), "{event}");
        assert!(event["description"].as_str().unwrap().len() > 3, "{event}");
    }
    assert_eq!(sources, set(&["frontend", "backend", "llm"]));
    let times: Vec<i64> = events
        .iter()
        .map(|event| event["timestamp"].as_i64().unwrap())
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    let ids: BTreeSet<&str> = events
        .iter()
        .map(|event| event["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), events.len());
}

/// The model calls a tool, the server runs it, and the model hears of it before it answers.
#[tokio::test]
async fn document_002_a_tool_call_is_told_when_it_is_made_and_when_it_is_done() {
    let door = Door::open(Behaviour::sequence(vec![
        Reply::calls(&[("write_file", json!({"path": "/a.md", "content": "x"}))]),
        Reply::text("Written."),
    ]))
    .await;
    let answer = chat(&door, &json!({"message": "Write"})).await;
    let calls = described(&answer, "tool_call");
    let who: Vec<_> = calls
        .iter()
        .map(|call| (&call["source"], &call["data"]["name"]))
        .collect();
    assert_eq!(who[0], (&json!("llm"), &json!("write_file")));
    assert_eq!(
        who.last().unwrap(),
        &(&json!("backend"), &json!("write_file"))
    );
    assert_eq!(calls[0]["data"]["arguments"]["path"], "/a.md");
    assert_eq!(answer["message"]["content"], "Written.");
    let told = door.upstream.requests()[1]["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(told["role"], "tool");
}

#[tokio::test]
async fn document_002_a_system_message_reaches_the_model_and_nothing_is_kept() {
    let door = Door::open(Behaviour::always(Reply::text("Arr."))).await;
    let before = json!([{"role": "system", "content": "Talk like a pirate."}, {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Ahoy."}]);
    let answer = chat(&door, &json!({"message": "And now?", "messages": before})).await;
    assert_eq!(answer["conversationId"], Value::Null);
    let sent = door.upstream.requests()[0]["messages"].clone();
    let sent = sent.as_array().unwrap();
    let has = |role: &str, words: &str| {
        sent.iter().any(|message| {
            message["role"] == role && message["content"].to_string().contains(words)
        })
    };
    assert!(has("system", "Talk like a pirate."), "{sent:?}");
    assert!(
        has("user", "Hello") && has("assistant", "Ahoy.") && has("user", "And now?"),
        "{sent:?}"
    );
    assert_eq!(
        door.server.get("/api/v1/chats", &door.key).await.json()["chats"],
        json!([])
    );
}

#[tokio::test]
async fn document_002_failures_are_error_events_in_words() {
    let door = Door::open(deep()).await;
    let answer = chat(&door, &json!({"message": "Work"})).await;
    let errors = described(&answer, "error");
    let [failed] = errors[..] else {
        panic!("one call fails: {errors:?}")
    };
    assert!(
        failed["data"]["result"]
            .as_str()
            .unwrap()
            .contains("/none.md"),
        "{failed}"
    );
    assert!(
        failed["description"]
            .as_str()
            .unwrap()
            .contains("read_file"),
        "{failed}"
    );

    let door = Door::open(Behaviour::always(Reply::error(400, "I am out of order"))).await;
    let answer = chat(&door, &json!({"message": "Work"})).await;
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("I am out of order"),
        "{answer}"
    );
    let errors = described(&answer, "error");
    let last = errors.last().unwrap();
    assert!(
        last["description"]
            .as_str()
            .unwrap()
            .contains("I am out of order"),
        "{errors:?}"
    );
}

#[tokio::test]
async fn document_002_sub_agents_and_reasoning_are_told() {
    let thinking = Step::Reasoning {
        text: "They greet me.".into(),
        tokens_per_second: None,
    };
    let door = Door::open(Behaviour::always(Reply::stream(&[
        thinking,
        text("Hello."),
        finish(),
    ])))
    .await;
    let answer = chat(&door, &json!({"message": "Hi"})).await;
    let [thought] = described(&answer, "thought")[..] else {
        panic!("{answer}")
    };
    assert_eq!(
        (&thought["source"], &thought["data"]["text"]),
        (&json!("llm"), &json!("They greet me."))
    );

    let door = Door::open(deep()).await;
    let answer = chat(&door, &json!({"message": "Work"})).await;
    let events = answer["debugEvents"].as_array().unwrap();
    let agents: BTreeSet<&str> = events
        .iter()
        .filter_map(|event| event["data"]["agent"].as_str())
        .collect();
    assert_eq!(agents, set(&["a1", "a1.1"]));
}
