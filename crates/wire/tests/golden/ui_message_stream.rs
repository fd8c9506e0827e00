//! The AI SDK's parts: golden frames, and the order that its reader requires.

use std::collections::{BTreeMap, HashMap, HashSet};

use domain::{EventBody, event::Decision};
use serde_json::Value;
use sse::Frame;
use wire::ui_message_stream::UiMessageEncoder;

use crate::{
    column::{assert_resumes, encode, on_every_log, readable},
    scenarios,
};

/// The parts, and that `[DONE]` comes once and last.
#[track_caller]
fn parts(frames: &[Frame]) -> Vec<Value> {
    let (done, parts) = frames.split_last().unwrap();
    assert_eq!(done.data, "[DONE]");
    parts
        .iter()
        .map(|frame| serde_json::from_str(&frame.data).unwrap())
        .collect()
}

#[test]
fn golden_frames() {
    for (name, log) in scenarios::all() {
        let frames = encode(UiMessageEncoder::default(), &log);
        insta::assert_snapshot!(format!("ui_message_stream__{name}"), readable(&frames));
    }
}

#[test]
fn parts_come_in_the_order_the_reader_insists_on() {
    on_every_log(|name, log| {
        let mut texts = HashSet::new();
        let mut calls = HashMap::new();
        let mut step = false;
        let mut ended = false;
        for (at, part) in parts(&encode(UiMessageEncoder::default(), log))
            .iter()
            .enumerate()
        {
            assert!(!ended, "{name}: {part} after the end");
            let kind = part["type"].as_str().unwrap();
            assert_eq!(kind == "start", at == 0, "{name}");
            let id = || part["id"].as_str().unwrap().to_owned();
            let call = || part["toolCallId"].as_str().unwrap().to_owned();
            match kind {
                "start-step" => assert!(!std::mem::replace(&mut step, true), "{name}"),
                "finish-step" => assert!(std::mem::take(&mut step) && texts.is_empty(), "{name}"),
                "text-start" | "reasoning-start" => assert!(step && texts.insert(id()), "{name}"),
                "text-delta" | "reasoning-delta" => assert!(texts.contains(&id()), "{name}"),
                "text-end" | "reasoning-end" => assert!(texts.remove(&id()), "{name}"),
                "tool-input-start" => assert_eq!(calls.insert(call(), "open"), None, "{name}"),
                "tool-input-delta" => assert_eq!(calls[&call()], "open", "{name}"),
                "tool-input-available" => {
                    assert!(calls.insert(call(), "input").is_some(), "{name}")
                }
                "tool-approval-request" => assert_eq!(calls[&call()], "input", "{name}"),
                "tool-output-available" | "tool-output-error" | "tool-output-denied" => {
                    assert_eq!(
                        calls.insert(call(), "done"),
                        Some("input"),
                        "{name}: {part}"
                    );
                }
                "tool-input-error" => {
                    assert_eq!(calls.insert(call(), "done"), Some("open"), "{name}")
                }
                "finish" | "abort" | "error" => ended = true,
                "start" | "source-url" => {}
                data => assert!(data.starts_with("data-"), "{name}: unknown {data}"),
            }
        }
        assert!(ended && !step && texts.is_empty(), "{name}");
        let handed_over = log
            .iter()
            .filter(|event| matches!(event.body, EventBody::ToolHandedOver { .. }))
            .count();
        assert_eq!(
            calls.values().filter(|state| **state != "done").count(),
            handed_over,
            "{name}"
        );
    });
}

/// The accumulated text of each item.
fn texts(frames: &[Frame]) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for part in parts(frames) {
        let kind = part["type"].as_str().unwrap();
        let id = part["id"].as_str().unwrap_or_default().to_owned();
        match kind {
            "text-start" | "reasoning-start" => assert_eq!(texts.insert(id, String::new()), None),
            "text-delta" | "reasoning-delta" => {
                texts
                    .get_mut(&id)
                    .unwrap()
                    .push_str(part["delta"].as_str().unwrap());
            }
            _ => {}
        }
    }
    texts
}

#[test]
fn the_reader_has_the_texts_of_the_log() {
    on_every_log(|name, log| {
        let whole =
            log.iter()
                .filter(|event| event.agent.is_main())
                .filter_map(|event| match &event.body {
                    EventBody::TextFinished { item, text, .. }
                    | EventBody::ReasoningFinished { item, text, .. } => {
                        Some((item.clone(), text.clone()))
                    }
                    _ => None,
                });
        let whole: BTreeMap<String, String> = whole.collect();
        assert_eq!(
            texts(&encode(UiMessageEncoder::default(), log)),
            whole,
            "{name}"
        );
        let replay = log.iter().filter(|event| !event.body.is_delta());
        assert_eq!(
            texts(&encode(UiMessageEncoder::default(), replay)),
            whole,
            "{name} without deltas"
        );
    });
}

/// A denied call is shown as denied, and not as failed.
#[test]
fn denied_calls_are_shown_as_denied() {
    on_every_log(|name, log| {
        let mut asked = HashMap::new();
        let mut denied = HashSet::new();
        for event in log {
            match &event.body {
                EventBody::ApprovalAsked { approval, call, .. } => {
                    drop(asked.insert(approval, call.clone()))
                }
                EventBody::ApprovalAnswered {
                    approval,
                    decision: Decision::Deny,
                    ..
                } => {
                    denied.extend(asked.get(approval).cloned());
                }
                _ => {}
            }
        }
        let parts = parts(&encode(UiMessageEncoder::default(), log));
        let shown = parts
            .iter()
            .filter(|part| part["type"] == "tool-output-denied");
        let shown: HashSet<String> = shown
            .map(|part| part["toolCallId"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(shown, denied, "{name}");
    });
}

/// A run that waits for approval pauses its stream, and the next one continues the same message.
#[test]
fn a_waiting_run_pauses() {
    let (_, log) = scenarios::all()
        .into_iter()
        .find(|(name, _)| *name == "approval")
        .unwrap();
    let mut encoder = UiMessageEncoder::default();
    let mut waited = 0;
    for event in &log {
        encoder.push(event);
        if encoder.waits() {
            waited += 1;
            assert!(matches!(event.body, EventBody::ApprovalAsked { .. }));
            let kinds: Vec<Value> = parts(&encoder.pause())
                .iter()
                .map(|part| part["type"].clone())
                .collect();
            assert_eq!(kinds, ["finish-step", "finish"]);
            let start: Value = serde_json::from_str(&encoder.resume()[0].data).unwrap();
            assert_eq!(
                (&start["type"], &start["messageId"]),
                (&"start".into(), &event.run.to_string().into())
            );
        }
    }
    assert_eq!(waited, 1);
}

#[test]
fn a_reader_can_come_back_after_any_event() {
    on_every_log(|name, log| {
        assert_resumes(name, log, UiMessageEncoder::default);
    });
}
