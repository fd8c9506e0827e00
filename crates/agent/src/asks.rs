//! What a run waits for a person to say: approvals and questions. Waiting holds a small entry here, no thread.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use domain::event::Decision;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::tool::Tool;

/// A person's decision about a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalAnswer {
    /// Allow or deny.
    pub decision: Decision,
    /// Other arguments to run with.
    pub arguments: Option<Value>,
    /// Why, for the model.
    pub reason: Option<String>,
}

/// Why an answer was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// Nobody waits for it (any more).
    #[error("Nothing waits for this answer any more: it was answered already, or the run has ended.")]
    NotWaiting,
    /// The edited arguments do not fit the tool.
    #[error("The edited arguments do not fit the tool: {0}")]
    InvalidArguments(String),
}

/// The open asks of one run; shared between the run and whoever brings the answers.
#[derive(Debug, Clone, Default)]
pub struct Asks(Arc<Mutex<HashMap<String, Waiting>>>);

#[derive(Debug)]
enum Waiting {
    Approval(Arc<Tool>, oneshot::Sender<ApprovalAnswer>),
    Question(oneshot::Sender<String>),
}

impl Asks {
    /// Brings a person's decision.
    ///
    /// # Errors
    /// Where nobody waits, or the edited arguments are not valid; then it keeps waiting.
    pub fn answer_approval(&self, approval: &str, answer: ApprovalAnswer) -> Result<(), AskError> {
        let mut asks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Waiting::Approval(tool, _)) = asks.get(approval) else { return Err(AskError::NotWaiting) };
        if let Some(arguments) = &answer.arguments {
            tool.check(arguments).map_err(AskError::InvalidArguments)?;
        }
        match asks.remove(approval) {
            Some(Waiting::Approval(_, waiting)) => waiting.send(answer).map_err(|_| AskError::NotWaiting),
            _ => Err(AskError::NotWaiting),
        }
    }

    /// Brings a person's answer to a question.
    ///
    /// # Errors
    /// Where nobody waits.
    pub fn answer_question(&self, question: &str, answer: String) -> Result<(), AskError> {
        let mut asks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match asks.remove(question) {
            Some(Waiting::Question(waiting)) => waiting.send(answer).map_err(|_| AskError::NotWaiting),
            Some(other) => {
                asks.insert(question.to_owned(), other);
                Err(AskError::NotWaiting)
            }
            None => Err(AskError::NotWaiting),
        }
    }

    /// Registers an approval; the answer comes through the receiver.
    pub(crate) fn approval(&self, id: &str, tool: Arc<Tool>) -> oneshot::Receiver<ApprovalAnswer> {
        let (sender, receiver) = oneshot::channel();
        self.insert(id, Waiting::Approval(tool, sender));
        receiver
    }

    /// Registers a question; the answer comes through the receiver.
    pub(crate) fn question(&self, id: &str) -> oneshot::Receiver<String> {
        let (sender, receiver) = oneshot::channel();
        self.insert(id, Waiting::Question(sender));
        receiver
    }

    fn insert(&self, id: &str, waiting: Waiting) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), waiting);
    }
}
