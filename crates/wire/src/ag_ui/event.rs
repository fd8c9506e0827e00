//! AG-UI events as serialized. Missing optional fields are left out, never `null`.

use serde::Serialize;
use serde_json::{Map, Value};
use sse::Frame;

use super::ids::{Id, InterruptId, StepName};
use crate::frames::json;

/// The version of the protocol we speak.
pub(super) const PROTOCOL_VERSION: &str = "1.0";

/// An event with the fields common to all events.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Stamped<'a> {
    #[serde(flatten)]
    pub(super) event: &'a Event<'a>,
    pub(super) timestamp: i64,
    /// The sub-agent that caused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subagent_run_id: Option<Id<'a>>,
}

/// The events we send.
#[derive(Debug, Serialize)]
#[serde(
    tag = "type",
    rename_all = "SCREAMING_SNAKE_CASE",
    rename_all_fields = "camelCase"
)]
pub(super) enum Event<'a> {
    RunStarted {
        thread_id: &'a str,
        run_id: &'a str,
        protocol_version: &'static str,
    },
    RunFinished {
        thread_id: &'a str,
        run_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<RunOutcome<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Value>,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        usage: &'a [TokenUsage],
    },
    RunError {
        message: &'a str,
        code: &'static str,
    },
    StepStarted {
        step_name: StepName<'a>,
    },
    StepFinished {
        step_name: StepName<'a>,
    },
    TextMessageStart {
        message_id: Id<'a>,
        role: &'static str,
    },
    TextMessageContent {
        message_id: Id<'a>,
        delta: &'a str,
    },
    TextMessageEnd {
        message_id: Id<'a>,
    },
    ReasoningStart {
        message_id: Id<'a>,
    },
    ReasoningMessageStart {
        message_id: Id<'a>,
        role: &'static str,
    },
    ReasoningMessageContent {
        message_id: Id<'a>,
        delta: &'a str,
    },
    ReasoningMessageEnd {
        message_id: Id<'a>,
    },
    ReasoningEnd {
        message_id: Id<'a>,
    },
    ToolCallStart {
        tool_call_id: Id<'a>,
        tool_call_name: &'a str,
        parent_message_id: Id<'a>,
    },
    ToolCallArgs {
        tool_call_id: Id<'a>,
        delta: &'a str,
    },
    ToolCallEnd {
        tool_call_id: Id<'a>,
    },
    ToolCallResult {
        message_id: Id<'a>,
        tool_call_id: Id<'a>,
        content: &'a str,
        role: &'static str,
    },
    StateSnapshot {
        snapshot: &'a Map<String, Value>,
    },
    StateDelta {
        delta: [Value; 1],
    },
    MessagesSnapshot {
        messages: &'a [&'a Value],
    },
    SubagentStarted {
        name: &'a str,
        description: &'a str,
        parent_tool_call_id: Id<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_subagent_run_id: Option<Id<'a>>,
    },
    SubagentFinished {
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<SubagentOutcome>,
    },
    SubagentError {
        message: &'a str,
    },
    Custom {
        name: &'static str,
        value: Value,
    },
}

/// Why a run ended, if it did not simply succeed.
#[derive(Debug, Serialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(super) enum RunOutcome<'a> {
    Success { pending_tool_call_ids: Vec<Id<'a>> },
    Interrupt { interrupts: Vec<Interrupt<'a>> },
    Cancelled,
}

/// Why a sub-agent ended, if it did not simply succeed.
#[derive(Debug, Serialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(super) enum SubagentOutcome {
    Suspended { interrupt_ids: Vec<InterruptId> },
}

/// A question that must be answered before the run can continue.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Interrupt<'a> {
    pub(super) id: InterruptId,
    pub(super) reason: &'static str,
    pub(super) message: String,
    pub(super) tool_call_id: Id<'a>,
    pub(super) response_schema: Value,
    pub(super) metadata: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subagent_run_id: Option<Id<'a>>,
}

/// Tokens used with one model.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenUsage {
    pub(super) model: String,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) total_tokens: u64,
}

/// Receives events: a stream, a transcript, or none.
pub(super) trait Sink {
    fn put(&mut self, event: Stamped<'_>);
}

/// Discards them: the reader has them already.
impl Sink for () {
    fn put(&mut self, _: Stamped<'_>) {}
}

impl Sink for Vec<Frame> {
    fn put(&mut self, event: Stamped<'_>) {
        self.push(Frame {
            id: None,
            event: None,
            data: json(&event),
        });
    }
}
