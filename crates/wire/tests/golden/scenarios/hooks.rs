//! A run with hooks: one changes a call, one denies another, one fails, and one inspects the answer.

use domain::{
    AgentPath, EventBody, RunEvent,
    event::{Decision, HookCall, HookEnd, HookEvent},
};
use serde_json::{Value, json};

use super::log::Log;

fn hook(id: &str, name: &str, event: HookEvent, call: Option<&str>, step: Option<u32>) -> HookCall {
    let (call, tool) = (call.map(str::to_owned), call.map(|_| "send".to_owned()));
    HookCall {
        id: id.into(),
        hook: name.into(),
        event,
        call,
        tool,
        step,
        edited: false,
    }
}

fn decide(log: &mut Log, call: HookCall, decided: impl FnOnce(&mut HookEnd)) {
    log.main(EventBody::HookStarted(Box::new(call.clone())));
    let mut end = HookEnd {
        decision: Decision::Allow,
        duration_ms: 12,
        ..HookEnd::withdrawn(call)
    };
    decided(&mut end);
    log.main(EventBody::HookFinished(Box::new(end)));
}

pub(super) fn log() -> Vec<RunEvent> {
    let main = AgentPath::main();
    let arguments = json!({"to": "all"});
    let mut log = Log::new();
    decide(
        &mut log,
        hook("h1", "clock", HookEvent::BeforeRun, None, None),
        |end| {
            end.context = Some("It is noon.".into());
        },
    );
    log.request(&main, "c1", "send", &arguments);
    log.request(&main, "c2", "send", &arguments);
    let changed = json!({"to": "ann"});
    decide(
        &mut log,
        hook("h2", "policy", HookEvent::BeforeTool, Some("c1"), None),
        |end| {
            end.change = Some(changed.clone());
            end.reason = Some("Only to one.".into());
        },
    );
    decide(
        &mut log,
        hook("h3", "policy", HookEvent::BeforeTool, Some("c2"), None),
        |end| {
            end.decision = Decision::Deny;
            end.reason = Some("Once is enough <b>.".into());
        },
    );
    let call = "c1".to_owned();
    let name = "send".to_owned();
    log.main(EventBody::ToolStarted {
        call,
        name,
        arguments: changed.clone(),
        repeatable: false,
    });
    decide(
        &mut log,
        hook("h4", "audit", HookEvent::AfterTool, Some("c1"), None),
        |end| {
            end.error = Some("It answered with HTTP 503.".into());
        },
    );
    finish(&mut log, "c1", changed, "Sent.", false);
    finish(
        &mut log,
        "c2",
        arguments,
        "A hook did not allow this call.",
        true,
    );
    decide(
        &mut log,
        hook("h5", "editor", HookEvent::AfterAnswer, None, Some(1)),
        |_| {},
    );
    log.text(&main, "t1", &["It is sent."], true);
    log.completed()
}

fn finish(log: &mut Log, call: &str, arguments: Value, result: &str, error: bool) {
    log.main(EventBody::ToolFinished {
        call: call.into(),
        name: "send".into(),
        arguments,
        result: result.into(),
        error,
        truncated: false,
        duration_ms: 3,
        stopped: false,
        in_doubt: false,
        file: None,
        files: Vec::new(),
        model_note: None,
    });
}
