//! `?format=tool_calls`: golden frames, and properties of every log.

use std::collections::HashMap;

use domain::EventBody;
use serde_json::Value;
use wire::tool_calls::ToolCallsEncoder;

use crate::{
    column::{assert_resumes, encode, on_every_log, payloads, readable},
    scenarios,
};

#[test]
fn golden_frames() {
    for (name, log) in scenarios::all() {
        let frames = encode(ToolCallsEncoder::default(), &log);
        assert!(
            frames.iter().all(|frame| frame.event == Some("message")),
            "{name}"
        );
        insta::assert_snapshot!(format!("tool_calls__{name}"), readable(&frames));
    }
}

#[test]
fn each_call_starts_once_and_ends_once() {
    on_every_log(|name, log| {
        let frames = payloads(&encode(ToolCallsEncoder::default(), log));
        let mut open: HashMap<String, bool> = HashMap::new();
        for frame in &frames {
            let id = frame["tool_call_id"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            match frame["type"].as_str().unwrap() {
                "tool_call_start" => assert_eq!(open.insert(id, true), None, "{name}: {frame}"),
                "tool_call_complete" | "tool_call_error" => {
                    assert_eq!(open.insert(id, false), Some(true), "{name}: {frame}");
                    let text = frame["result"]
                        .as_str()
                        .or(frame["error"].as_str())
                        .unwrap();
                    assert!(text.chars().count() <= 2_003, "{name}");
                }
                "approval" | "question" | "memory_update_started" => assert!(open[&id], "{name}"),
                // The end of a memory update may come after that of its call.
                "memory_update_completed" => assert!(open.contains_key(&id), "{name}"),
                "status" | "message" | "error" => {
                    assert!(frame["content"].is_string(), "{name}: {frame}")
                }
                "pre_hook_started"
                | "pre_hook_completed"
                | "post_hook_started"
                | "post_hook_completed" => {
                    assert!(frame["hook"].is_string(), "{name}: {frame}");
                }
                "done" => {}
                other => panic!("{name}: unknown {other}"),
            }
        }
        let handed_over = log
            .iter()
            .filter(|event| matches!(event.body, EventBody::ToolHandedOver { .. }))
            .count();
        assert_eq!(
            open.values().filter(|open| **open).count(),
            handed_over,
            "{name}"
        );
        let of = |kind: &str| frames.iter().filter(|frame| frame["type"] == kind).count();
        assert_eq!(
            (of("done"), frames.last().unwrap()),
            (1, &serde_json::json!({"type": "done"})),
            "{name}"
        );
        let failed = matches!(
            log.last().unwrap().body,
            EventBody::RunFinished {
                outcome: domain::Outcome::Failed,
                ..
            }
        );
        assert_eq!(of("error") == 1, failed, "{name}");
    });
}

#[test]
fn a_replay_without_deltas_shows_the_same_text() {
    let text = |frames: Vec<Value>| -> String {
        let messages = frames.iter().filter(|frame| frame["type"] == "message");
        messages
            .map(|frame| frame["content"].as_str().unwrap())
            .collect()
    };
    for (name, log) in scenarios::all() {
        let whole = encode(ToolCallsEncoder::default(), &log);
        let short = encode(
            ToolCallsEncoder::default(),
            log.iter().filter(|event| !event.body.is_delta()),
        );
        assert_eq!(text(payloads(&short)), text(payloads(&whole)), "{name}");
    }
}

#[test]
fn a_reader_can_come_back_after_any_event() {
    on_every_log(|name, log| {
        assert_resumes(name, log, ToolCallsEncoder::default);
    });
}
