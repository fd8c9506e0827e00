//! What a run waits for a person to say: approvals and questions. Waiting holds a small entry here, no thread.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use domain::event::{Decision, Remembered};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::{Allowed, tool::Tool};

/// A person's decision about a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalAnswer {
    /// Allow or deny.
    pub decision: Decision,
    /// Other arguments to run with.
    pub arguments: Option<Value>,
    /// Why, for the model.
    pub reason: Option<String>,
    /// Where further calls of the kind are allowed with it, for the log; the rule itself goes to
    /// [`crate::Consents::allow`].
    pub remembered: Option<Remembered>,
}

impl ApprovalAnswer {
    /// This decision and nothing else.
    #[must_use]
    pub fn only(decision: Decision) -> Self {
        Self { decision, arguments: None, reason: None, remembered: None }
    }
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
    /// Consent was given for good where each call is to be asked about.
    #[error("The administrator wants each of these calls to be asked about. Allow this one alone.")]
    EachTime,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// Nobody gave one in time.
    Expired,
    /// Nobody will.
    Withdrawn,
}

/// The open asks of one run; shared between the run and whoever brings the answers.
#[derive(Debug, Clone, Default)]
pub struct Asks(Arc<Mutex<HashMap<String, Waiting>>>);

#[derive(Debug)]
enum Waiting {
    Approval(WaitingCall, oneshot::Sender<ApprovalAnswer>),
    Question(oneshot::Sender<String>),
}

/// A call that waits for consent.
#[derive(Debug)]
pub(crate) struct WaitingCall {
    pub(crate) tool: Arc<Tool>,
    pub(crate) arguments: Value,
    pub(crate) may_remember: bool,
}

impl WaitingCall {
    fn check(&self, answer: &ApprovalAnswer) -> Result<(), AskError> {
        if answer.remembered.is_some() && !self.may_remember {
            return Err(AskError::EachTime);
        }
        match &answer.arguments {
            Some(arguments) => self.tool.check(arguments).map_err(AskError::InvalidArguments),
            None => Ok(()),
        }
    }
}

impl Asks {
    /// Whether the answer would be taken. Returns the name of the tool that waits for it.
    ///
    /// # Errors
    /// As [`Asks::answer_approval`].
    pub fn check_approval(&self, approval: &str, answer: &ApprovalAnswer) -> Result<String, AskError> {
        match self.lock().get(approval) {
            Some(Waiting::Approval(call, _)) => call.check(answer).map(|()| call.tool.name().to_owned()),
            _ => Err(AskError::NotWaiting),
        }
    }

    /// Brings a person's decision.
    ///
    /// # Errors
    /// Where nobody waits, or the answer cannot be taken; then it keeps waiting.
    pub fn answer_approval(&self, approval: &str, answer: ApprovalAnswer) -> Result<(), AskError> {
        let mut asks = self.lock();
        match asks.get(approval) {
            Some(Waiting::Approval(call, _)) => call.check(&answer)?,
            _ => return Err(AskError::NotWaiting),
        }
        match asks.remove(approval) {
            Some(Waiting::Approval(_, waiting)) => waiting.send(answer).map_err(|_| AskError::NotWaiting),
            _ => Err(AskError::NotWaiting),
        }
    }

    /// Allows the calls that wait and fit.
    pub fn allow_all(&self, allowed: &Allowed) {
        let fits = |_: &String, waiting: &mut Waiting| match waiting {
            Waiting::Approval(call, _) => {
                call.may_remember && allowed.fits(call.tool.name(), &call.arguments)
            }
            Waiting::Question(_) => false,
        };
        let answered: Vec<_> = self.lock().extract_if(fits).collect();
        for (_, waiting) in answered {
            if let Waiting::Approval(_, waiting) = waiting {
                // One whose run has just ended needs no answer.
                drop(waiting.send(ApprovalAnswer::only(Decision::Allow)));
            }
        }
    }

    /// Brings a person's answer to a question.
    ///
    /// # Errors
    /// Where nobody waits.
    pub fn answer_question(&self, question: &str, answer: String) -> Result<(), AskError> {
        let mut asks = self.lock();
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
    pub(crate) fn approval(&self, id: &str, call: WaitingCall) -> oneshot::Receiver<ApprovalAnswer> {
        let (sender, receiver) = oneshot::channel();
        self.lock().insert(id.to_owned(), Waiting::Approval(call, sender));
        receiver
    }

    /// Registers a question; the answer comes through the receiver.
    pub(crate) fn question(&self, id: &str) -> oneshot::Receiver<String> {
        let (sender, receiver) = oneshot::channel();
        self.lock().insert(id.to_owned(), Waiting::Question(sender));
        receiver
    }

    /// Waits for the answer to `id`, at most for this long.
    pub(crate) async fn answer<T>(
        &self,
        id: &str,
        mut receiver: oneshot::Receiver<T>,
        within: Duration,
    ) -> Result<T, NoAnswer> {
        match tokio::time::timeout(within, &mut receiver).await {
            Ok(answer) => answer.map_err(|_| NoAnswer::Withdrawn),
            Err(_) => {
                self.lock().remove(id);
                // It may have come just before nobody could send one any more.
                receiver.try_recv().map_err(|_| NoAnswer::Expired)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
