//! Debug events: golden files, and that none lacks a field or shows a secret.

use std::collections::HashSet;

use domain::{EventBody, Outcome};
use serde_json::json;
use wire::debug_events::{DebugEvent, DebugKind};

use crate::{column::on_every_log, scenarios};

#[test]
fn golden_events() {
    for (name, log) in scenarios::all() {
        let events: Vec<DebugEvent> = log
            .iter()
            .filter_map(|event| DebugEvent::of(event, None))
            .collect();
        let lines = events.iter().map(|event| {
            let line = serde_json::to_string(event).unwrap();
            let end = line.floor_char_boundary(1_500);
            line[..end].to_owned()
        });
        insta::assert_snapshot!(
            format!("debug_events__{name}"),
            lines.collect::<Vec<_>>().join("\n")
        );
    }
}

/// The detail of an event while its run is live: the person's message, and the request to a model.
#[test]
fn document_002_an_exchange_is_received_sent_and_responded() {
    let (_, log) = scenarios::all()
        .into_iter()
        .find(|(name, _)| *name == "upstream_error")
        .unwrap();
    let events: Vec<serde_json::Value> = log
        .iter()
        .filter_map(|event| {
            let detail = match &event.body {
                EventBody::RunStarted { .. } => Some(json!({"message": "use sk-1234567890abcdef"})),
                EventBody::ModelRequested { .. } => {
                    Some(json!({"request": {"model": "m", "messages": [
                    {"role": "user", "content": "password: hunter2"}]}}))
                }
                _ => None,
            };
            DebugEvent::of(event, detail.as_ref()).map(|event| serde_json::to_value(event).unwrap())
        })
        .collect();
    let described: Vec<[&str; 3]> = events
        .iter()
        .map(|event| ["description", "type", "source"].map(|field| event[field].as_str().unwrap()))
        .collect();
    let expected = [
        ["User message received", "request", "frontend"],
        ["Sending request to LLM", "request", "backend"],
        [
            "The model server asks to slow down. Wait a little and try again.",
            "error",
            "llm",
        ],
        ["The model wrote", "response", "llm"],
        ["LLM responded", "response", "llm"],
        [
            "The model server closed the connection in the middle of the answer.",
            "error",
            "llm",
        ],
    ];
    assert_eq!(described, expected);
    assert_eq!(
        events[0]["data"],
        json!({"model": "m", "message": "use [redacted]"})
    );
    let request =
        json!({"model": "m", "messages": [{"role": "user", "content": "password: [redacted]"}]});
    assert_eq!(
        events[1]["data"],
        json!({"model": "m", "messageCount": 2, "request": request})
    );
}

#[test]
fn document_002_named_secrets_are_in_no_debug_event() {
    for case in include_str!("../../../redact/src/cases.txt").lines() {
        let (found, secret) = case.split_once('\t').unwrap();
        let (_, mut log) = scenarios::all()
            .into_iter()
            .find(|(name, _)| *name == "tool")
            .unwrap();
        for event in &mut log {
            match &mut event.body {
                EventBody::ToolStarted { arguments, .. } => *arguments = json!({"command": found}),
                EventBody::ToolFinished {
                    arguments, result, ..
                } => {
                    (*arguments, *result) = (json!([found]), found.to_owned());
                }
                EventBody::TextFinished { text, .. } => found.clone_into(text),
                _ => {}
            }
        }
        let detail = json!({"message": found, "request": {"messages": [{"role": "tool", "content": found}]}});
        let events: Vec<DebugEvent> = log
            .iter()
            .filter_map(|event| DebugEvent::of(event, Some(&detail)))
            .collect();
        let events = serde_json::to_string(&events).unwrap();
        assert!(
            events.contains("[redacted]") && !events.contains(secret),
            "{events}"
        );
    }
}

#[test]
fn every_failure_is_an_error_and_ids_are_unique() {
    on_every_log(|name, log| {
        let events: Vec<DebugEvent> = log
            .iter()
            .filter_map(|event| DebugEvent::of(event, None))
            .collect();
        let ids: HashSet<&str> = events.iter().map(|event| event.id.as_str()).collect();
        assert_eq!(ids.len(), events.len(), "{name}");
        let failures = log.iter().filter(|event| match &event.body {
            EventBody::ToolFinished { error, stopped, .. } => *error && !*stopped,
            EventBody::RunFinished { outcome, .. } | EventBody::AgentFinished { outcome, .. } => {
                *outcome == Outcome::Failed
            }
            EventBody::Notice { failed_try, .. } => *failed_try,
            EventBody::MemoryUpdateCompleted { error, .. } => error.is_some(),
            EventBody::HookFinished(end) => end.error.is_some(),
            _ => false,
        });
        let errors = events
            .iter()
            .filter(|event| event.kind == DebugKind::Error)
            .count();
        assert_eq!(errors, failures.count(), "{name}");
        assert!(events.is_sorted_by_key(|event| event.timestamp), "{name}");
    });
}
