//! Debug events: golden files, and that none lacks a field or shows a secret.

use std::collections::HashSet;

use domain::{EventBody, Outcome};
use wire::debug_events::{DebugEvent, DebugKind};

use crate::{column::on_every_log, scenarios};

#[test]
fn golden_events() {
    for (name, log) in scenarios::all() {
        let events: Vec<DebugEvent> = log.iter().filter_map(DebugEvent::of).collect();
        let lines = events.iter().map(|event| {
            let line = serde_json::to_string(event).unwrap();
            let end = line.floor_char_boundary(1_500);
            line[..end].to_owned()
        });
        insta::assert_snapshot!(format!("debug_events__{name}"), lines.collect::<Vec<_>>().join("\n"));
    }
}

#[test]
fn every_failure_is_an_error_and_ids_are_unique() {
    on_every_log(|name, log| {
        let events: Vec<DebugEvent> = log.iter().filter_map(DebugEvent::of).collect();
        let ids: HashSet<&str> = events.iter().map(|event| event.id.as_str()).collect();
        assert_eq!(ids.len(), events.len(), "{name}");
        let failures = log.iter().filter(|event| match &event.body {
            EventBody::ToolFinished { error, stopped, .. } => *error && !*stopped,
            EventBody::RunFinished { outcome, .. } | EventBody::AgentFinished { outcome, .. } => {
                *outcome == Outcome::Failed
            }
            EventBody::HookFinished(end) => end.error.is_some(),
            _ => false,
        });
        let errors = events.iter().filter(|event| event.kind == DebugKind::Error).count();
        assert_eq!(errors, failures.count(), "{name}");
        assert!(events.is_sorted_by_key(|event| event.timestamp), "{name}");
    });
}
