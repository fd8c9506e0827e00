//! Document 000, "Open WebUI - Deep Agent UI Specifications": typed events, and one block for all steps.

use scripted::{Behaviour, Reply};
use serde_json::Value;

use super::{deep, frames, log, say, screens};
use crate::openai::Door;

#[tokio::test]
async fn document_000_answers_with_typed_server_sent_events() {
    let door = Door::open(Behaviour::always(Reply::text("Hello."))).await;
    let answer = door
        .server
        .post("/chat/stream", &door.key, &say("Hi"))
        .await;
    answer.expect(200);
    assert_eq!(answer.headers["content-type"], "text/event-stream");
    assert!(answer.text.ends_with("\n\n"), "{}", answer.text);
    let blocks: Vec<&str> = answer
        .text
        .trim_end()
        .split("\n\n")
        .filter(|it| !it.starts_with(':'))
        .collect();
    let events: Vec<Value> = blocks
        .iter()
        .map(|block| {
            let data: Vec<&str> = block
                .lines()
                .filter_map(|line| line.strip_prefix("data: "))
                .collect();
            assert_eq!(data.len(), 1, "one line of data: {block}");
            serde_json::from_str(data[0]).unwrap()
        })
        .collect();
    assert!(
        events.iter().all(|event| event["type"].is_string()),
        "{events:?}"
    );
    assert!(
        events
            .iter()
            .any(|event| event["data"]["content"] == "Hello."),
        "{events:?}"
    );
    assert_eq!(events.last().unwrap()["type"], "done");
}

#[tokio::test]
async fn document_000_every_event_has_the_fields_of_its_schema() {
    let door = Door::open(deep()).await;
    let (_, frames) = frames(&door, "", &say("Work")).await;
    let all: Vec<Value> = frames.iter().map(|frame| frame.json()).collect();
    for (kind, texts, depth) in [
        ("status", &["description"][..], "agent_depth"),
        ("tool_start", &["tool_id", "name"], "agent_depth"),
        ("tool_end", &["tool_id", "name", "result"], "agent_depth"),
        ("token", &["content"], "agent_depth"),
        ("agent_start", &["agent_id", "name"], "depth"),
        ("agent_end", &["agent_id"], "depth"),
    ] {
        let of_kind: Vec<&Value> = all.iter().filter(|event| event["type"] == kind).collect();
        assert!(!of_kind.is_empty(), "there is no {kind}");
        for event in of_kind {
            let data = &event["data"];
            assert!(texts.iter().all(|field| data[field].is_string()), "{event}");
            assert!(data[depth].is_u64(), "{event}");
        }
    }
    assert_eq!(
        all.iter().filter(|event| event["type"] == "done").count(),
        1
    );
    // A call has one id from its start to its end, and so has an agent.
    let ids = |kind: &str, field: &str| {
        let of_kind = all.iter().filter(|event| event["type"] == kind);
        let mut ids: Vec<&str> = of_kind
            .map(|event| event["data"][field].as_str().unwrap())
            .collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(ids("tool_start", "tool_id"), ids("tool_end", "tool_id"));
    assert_eq!(ids("agent_start", "agent_id"), ids("agent_end", "agent_id"));
}

/// The kinds of events with their depths, without statuses, each once where several follow each other.
fn course(frames: &[crate::sse::Event]) -> Vec<(String, Option<u64>)> {
    let mut course: Vec<_> = frames
        .iter()
        .map(|frame| frame.json())
        .filter(|event| event["type"] != "status")
        .map(|event| {
            let data = &event["data"];
            let depth = data["agent_depth"].as_u64().or(data["depth"].as_u64());
            (event["type"].as_str().unwrap().to_owned(), depth)
        })
        .collect();
    course.dedup();
    course
}

#[tokio::test]
async fn document_000_events_come_in_the_order_of_the_document() {
    let door = Door::open(deep()).await;
    let (_, frames) = frames(&door, "", &say("Work")).await;
    assert_eq!(frames[0].json()["type"], "status");
    let course = course(&frames);
    let course: Vec<_> = course
        .iter()
        .map(|(kind, depth)| (kind.as_str(), *depth))
        .collect();
    let expected = [
        ("token", Some(0)),
        ("tool_start", Some(0)),
        ("tool_end", Some(0)),
        ("tool_start", Some(0)),
        ("tool_end", Some(0)),
        ("tool_start", Some(0)),
        ("agent_start", Some(1)),
        ("tool_start", Some(1)),
        ("agent_start", Some(2)),
        ("token", Some(2)),
        ("agent_end", Some(2)),
        ("tool_end", Some(1)),
        ("token", Some(1)),
        ("agent_end", Some(1)),
        ("tool_end", Some(0)),
        ("token", Some(0)),
        ("done", None),
    ];
    assert_eq!(course, expected);
}

#[tokio::test]
async fn document_000_agent_depth_counts_the_nesting() {
    let door = Door::open(deep()).await;
    let (_, frames) = frames(&door, "", &say("Work")).await;
    let all: Vec<Value> = frames.iter().map(|frame| frame.json()).collect();
    let words = |depth: u64| -> String {
        let tokens = all
            .iter()
            .filter(|event| event["type"] == "token" && event["data"]["agent_depth"] == depth);
        tokens
            .map(|event| event["data"]["content"].as_str().unwrap())
            .collect()
    };
    assert_eq!(
        (words(1).as_str(), words(2).as_str()),
        ("Halfway.", "Deep down.")
    );
    assert!(
        words(0).starts_with("I look first.") && words(0).ends_with("All of it is done."),
        "{}",
        words(0)
    );
}

/// Each part of the block comes with the event that it shows, not later.
#[tokio::test]
async fn document_000_the_block_streams_step_by_step() {
    let door = Door::open(deep()).await;
    let (run, frames) = frames(&door, "?format=markup", &say("Work")).await;
    let screens = screens(&frames);
    let first = |words: &str| {
        let at = screens.iter().position(|screen| screen.contains(words));
        frames[at.unwrap_or_else(|| panic!("{words} never comes: {}", screens.last().unwrap()))]
            .id
            .unwrap()
    };
    let finished: Vec<u64> = log(&door, &run)
        .await
        .iter()
        .filter(|(_, it)| it["type"] == "tool_finished")
        .map(|(seq, _)| *seq)
        .collect();
    // The block opens with what the model said before its first tool, while that tool is at work.
    let opened = first("<details open>");
    assert_eq!(opened, first("**🤖 AI:** I look first."));
    assert!(opened < finished[0], "{opened} before {}", finished[0]);
    for (at, seq) in finished.iter().enumerate() {
        let lines = |screen: &String| screen.matches("**🔧 ").count();
        let shown = screens
            .iter()
            .position(|screen| lines(screen) > at)
            .unwrap();
        assert_eq!(
            frames[shown].id,
            Some(*seq),
            "call {at} is shown when it ends"
        );
    }
    // The block closes before the answer begins.
    assert!(first("</details>") > *finished.last().unwrap());
    let whole = screens.last().unwrap();
    assert!(
        whole.ends_with("</details>\n\nAll of it is done."),
        "{whole}"
    );
}

#[test]
fn document_000_listens_on_port_8000_unless_told_otherwise() {
    assert!(
        server::platform::config::DEFAULTS
            .lines()
            .any(|line| line == r#"listen = ["127.0.0.1:8000"]"#)
    );
}
