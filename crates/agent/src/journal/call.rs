//! The record of a tool call.

use domain::{
    AgentPath, EventBody, Form, Reply,
    event::{Decision, ToolFile},
};
use serde_json::Value;

use crate::pending_input::AtWork;

/// One tool call.
#[derive(Debug, Default)]
pub(crate) struct CallRecord {
    pub(super) name: String,
    /// The id that the model gave it.
    pub(super) model_id: Option<String>,
    /// The arguments as the model wrote them.
    pub(super) written: String,
    pub(super) handed_over: bool,
    /// The arguments with which it was started.
    pub(super) started: Option<Value>,
    pub(super) finished: Option<CallResult>,
    pub(crate) approval: Option<ApprovalRecord>,
    /// In the order in which they were asked.
    pub(crate) questions: Vec<QuestionRecord>,
    /// The sub-agent that it started.
    pub(super) sub_agent: Option<AgentPath>,
    /// The log records that it is about to change the memory.
    pub(super) memory_begun: bool,
    /// The log records how that change ended.
    pub(super) memory_changed: bool,
}

impl CallRecord {
    /// Whether it was run, or a request about it was made.
    pub(super) fn was_begun(&self) -> bool {
        self.started.is_some() || self.finished.is_some() || self.approval.is_some()
    }
}

/// The result of a call, as stored in the log.
#[derive(Debug, Clone)]
pub(crate) struct CallResult {
    pub(crate) text: String,
    pub(crate) error: bool,
    /// A note for the model, appended to the result.
    pub(crate) note: Option<String>,
    pub(crate) files: Vec<ToolFile>,
}

/// A call that has just ended.
pub(crate) struct CallEnd {
    pub(crate) result: CallResult,
    /// The event that records its end.
    pub(crate) finished: EventBody,
    /// Held until that event is in the log.
    pub(crate) at_work: Option<AtWork>,
}

/// A request for approval.
#[derive(Debug)]
pub(crate) struct ApprovalRecord {
    pub(crate) id: String,
    pub(crate) asked_at: i64,
    /// `None` while it is open.
    pub(crate) answer: Option<DecisionRecord>,
}

/// The decision on a request for approval.
#[derive(Debug, Clone)]
pub(crate) struct DecisionRecord {
    pub(crate) decision: Decision,
    pub(crate) reason: Option<String>,
    /// The arguments were edited. The log has the new ones only once the call has started.
    pub(crate) edited: bool,
}

/// A question that a tool asked.
#[derive(Debug)]
pub(crate) struct QuestionRecord {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) form: Option<Form>,
    pub(crate) asked_at: i64,
    /// `None` while it is open.
    pub(crate) answer: Option<QuestionAnswer>,
}

/// The person's reply; `None` if the question was closed without one.
pub(crate) type QuestionAnswer = Option<Reply>;
