//! What the log says of a tool call.

use domain::{
    AgentPath, Form, Reply,
    event::{Decision, ToolFile},
};
use serde_json::Value;

/// One tool call.
#[derive(Debug, Default)]
pub(crate) struct PastCall {
    pub(super) name: String,
    /// The id that the model gave it.
    pub(super) model_id: Option<String>,
    /// The arguments as the model wrote them.
    pub(super) written: String,
    pub(crate) handed_over: bool,
    /// The arguments it was started with.
    pub(crate) started: Option<Value>,
    pub(crate) finished: Option<PastResult>,
    pub(crate) approval: Option<PastApproval>,
    /// In the order they were asked.
    pub(crate) questions: Vec<PastQuestion>,
    /// The sub-agent that it started.
    pub(crate) sub_agent: Option<AgentPath>,
    /// The log has heard that it is about to change the memory, and how that ended.
    pub(crate) memory_begun: bool,
    pub(crate) memory_changed: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct PastResult {
    pub(crate) text: String,
    pub(crate) error: bool,
    /// What the model reads behind it.
    pub(crate) note: Option<String>,
    pub(crate) files: Vec<ToolFile>,
}

#[derive(Debug)]
pub(crate) struct PastApproval {
    pub(crate) id: String,
    pub(crate) asked_at: i64,
    pub(crate) answer: Option<PastDecision>,
}

#[derive(Debug)]
pub(crate) struct PastQuestion {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) form: Option<Form>,
    pub(crate) asked_at: i64,
    /// Nothing while it waits.
    pub(crate) answer: Option<PastAnswer>,
}

/// What the person said; `None` if the question was closed without an answer.
pub(crate) type PastAnswer = Option<Reply>;

#[derive(Debug, Clone)]
pub(crate) struct PastDecision {
    pub(crate) decision: Decision,
    pub(crate) reason: Option<String>,
    /// What it was changed to is not known before the call is started.
    pub(crate) edited: bool,
}

impl PastCall {
    /// Whether it was run, or somebody was asked about it.
    pub(crate) fn was_begun(&self) -> bool {
        self.started.is_some() || self.finished.is_some() || self.approval.is_some()
    }
}
