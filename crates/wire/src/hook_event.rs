//! Encodes hook calls for the formats.

use domain::{
    EventBody,
    event::{Decision, HookCall, HookEnd, HookEvent},
};
use serde::Serialize;
use serde_json::{Value, json};

/// A hook call, for formats with JSON in snake case.
#[derive(Debug, Serialize)]
pub(crate) struct HookFrame<'a> {
    hook_id: &'a str,
    hook: &'a str,
    hook_event: HookEvent,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
}

/// The same with its result.
#[derive(Debug, Serialize)]
pub(crate) struct HookEndFrame<'a> {
    #[serde(flatten)]
    call: HookFrame<'a>,
    decision: Decision,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    changed: bool,
    duration_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

impl<'a> From<&'a HookCall> for HookFrame<'a> {
    fn from(
        HookCall {
            id,
            hook,
            event,
            call,
            tool,
            step,
            edited: _,
        }: &'a HookCall,
    ) -> Self {
        let tool_id = call.as_deref();
        let tool_name = tool.as_deref();
        Self {
            hook_id: id,
            hook,
            hook_event: *event,
            tool_id,
            tool_name,
            step: *step,
        }
    }
}

impl<'a> From<&'a HookEnd> for HookEndFrame<'a> {
    fn from(end: &'a HookEnd) -> Self {
        let HookEnd {
            call,
            decision,
            reason,
            change,
            context: _,
            duration_ms,
            error,
        } = end;
        Self {
            call: call.into(),
            decision: *decision,
            reason: reason.as_deref(),
            changed: change.is_some(),
            duration_ms: *duration_ms,
            error: error.as_deref(),
        }
    }
}

/// The call as an object in camel case, with its result once known; `Null` for other events.
pub(crate) fn hook_event(body: &EventBody) -> Value {
    let (call, end) = match body {
        EventBody::HookStarted(call) => (&**call, None),
        EventBody::HookFinished(end) => (&end.call, Some(end)),
        _ => return Value::Null,
    };
    let HookCall {
        id,
        hook,
        event,
        call,
        tool,
        step,
        edited: _,
    } = call;
    let mut updates = json!({"id": id, "hook": hook, "event": event});
    for (name, value) in [("toolCallId", call), ("toolName", tool)] {
        if let Some(value) = value {
            updates[name] = json!(value);
        }
    }
    if let Some(step) = step {
        updates["step"] = json!(step);
    }
    let Some(end) = end else { return updates };
    updates["decision"] = json!(end.decision);
    updates["changed"] = json!(end.change.is_some());
    updates["durationMs"] = json!(end.duration_ms);
    for (name, value) in [("reason", &end.reason), ("error", &end.error)] {
        if let Some(value) = value {
            updates[name] = json!(value);
        }
    }
    updates
}
