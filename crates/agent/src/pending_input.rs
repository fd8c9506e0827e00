//! The approvals and questions of a run that wait for a person. An entry is small and holds no thread. A run that only
//! waits can be hibernated, which removes it from memory.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use domain::{
    Form, FormFault, Reply,
    event::{Decision, Remembered},
};
use serde_json::Value;
use tokio::sync::{Notify, oneshot};

use crate::{StandingApproval, messages, tool::Tool};

/// A person's decision about a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalDecision {
    /// Allow or deny.
    pub decision: Decision,
    /// Edited arguments to run with.
    pub arguments: Option<Value>,
    /// The reason, shown to the model.
    pub reason: Option<String>,
    /// The scope of a standing approval given with it, for the log. The rule itself goes to
    /// [`crate::ApprovalPolicy::allow`].
    pub remembered: Option<Remembered>,
}

impl ApprovalDecision {
    /// A decision without arguments, reason or standing approval.
    #[must_use]
    pub fn only(decision: Decision) -> Self {
        Self {
            decision,
            arguments: None,
            reason: None,
            remembered: None,
        }
    }
}

/// Why an answer was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// Nothing with this id is pending.
    #[error("{}", messages::Approvals::NotWaiting)]
    NotWaiting,
    /// The edited arguments do not match the tool's schema.
    #[error("{}", unfit(.0))]
    InvalidArguments(String),
    /// The answer does not match the question's form.
    #[error(transparent)]
    Unfit(#[from] FormFault),
    /// A standing approval was given, but each call requires its own approval.
    #[error("{}", messages::Approvals::AskedEachTime)]
    EachTime,
}

fn unfit(why: &str) -> messages::Approvals {
    messages::Approvals::ArgumentsUnfit {
        why: why.to_owned(),
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// The time limit passed.
    Expired,
    /// The request was withdrawn.
    Withdrawn,
}

/// The pending approvals and questions of one run, shared by the run and those who deliver the answers.
#[derive(Debug, Clone, Default)]
pub struct PendingInput(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified when the run makes a request.
    asked: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: HashMap<String, Waiting>,
    /// Number of active parts of the run whose state is not in the log.
    at_work: usize,
    /// Number of parts that begin no more work, as the run is being handed over to another server.
    held_back: usize,
    /// The run is hibernated, or about to be.
    rests: bool,
    /// Number of entries that a resumed run has yet to register again.
    to_repeat: usize,
}

/// Prevents hibernation of the run until dropped.
#[derive(Debug)]
pub(crate) struct AtWork(PendingInput);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.lock().at_work -= 1;
    }
}

/// Counts a part of the run that is held back until dropped.
struct HeldBack(PendingInput);

impl Drop for HeldBack {
    fn drop(&mut self) {
        self.0.lock().held_back -= 1;
    }
}

#[derive(Debug)]
enum Waiting {
    Approval(ApprovalRequest, oneshot::Sender<ApprovalDecision>),
    Question(Option<Form>, oneshot::Sender<Reply>),
}

/// A call that waits for approval.
#[derive(Debug)]
pub(crate) struct ApprovalRequest {
    pub(crate) tool: Arc<Tool>,
    pub(crate) arguments: Value,
    pub(crate) may_remember: bool,
}

impl ApprovalRequest {
    fn check(&self, answer: &ApprovalDecision) -> Result<(), AnswerError> {
        if answer.remembered.is_some() && !self.may_remember {
            return Err(AnswerError::EachTime);
        }
        match &answer.arguments {
            Some(arguments) => self
                .tool
                .check(arguments)
                .map_err(AnswerError::InvalidArguments),
            None => Ok(()),
        }
    }
}

impl PendingInput {
    /// Checks whether the answer would be accepted. Returns the name of the tool that waits for it.
    ///
    /// # Errors
    /// See [`PendingInput::answer_approval`].
    pub fn check_approval(
        &self,
        approval: &str,
        answer: &ApprovalDecision,
    ) -> Result<String, AnswerError> {
        match self.open()?.waiting.get(approval) {
            Some(Waiting::Approval(call, _)) => {
                call.check(answer).map(|()| call.tool.name().to_owned())
            }
            _ => Err(AnswerError::NotWaiting),
        }
    }

    /// Delivers a person's decision.
    ///
    /// # Errors
    /// If the approval is not pending, or the answer is invalid; in the latter case it stays pending.
    pub fn answer_approval(
        &self,
        approval: &str,
        answer: ApprovalDecision,
    ) -> Result<(), AnswerError> {
        let waiting = &mut self.open()?.waiting;
        match waiting.get(approval) {
            Some(Waiting::Approval(call, _)) => call.check(&answer)?,
            _ => return Err(AnswerError::NotWaiting),
        }
        match waiting.remove(approval) {
            Some(Waiting::Approval(_, sender)) => {
                sender.send(answer).map_err(|_| AnswerError::NotWaiting)
            }
            _ => Err(AnswerError::NotWaiting),
        }
    }

    /// Allows the pending calls that match.
    pub fn allow_all(&self, allowed: &StandingApproval) {
        let fits = |_: &String, waiting: &mut Waiting| match waiting {
            Waiting::Approval(call, _) => {
                call.may_remember && allowed.fits(call.tool.name(), &call.arguments)
            }
            Waiting::Question(..) => false,
        };
        let Ok(mut state) = self.open() else { return };
        let answered: Vec<_> = state.waiting.extract_if(fits).collect();
        for (_, waiting) in answered {
            if let Waiting::Approval(_, waiting) = waiting {
                // If its run has just ended, no answer is needed.
                drop(waiting.send(ApprovalDecision::only(Decision::Allow)));
            }
        }
    }

    /// Checks whether the reply would be accepted.
    ///
    /// # Errors
    /// See [`PendingInput::answer_question`].
    pub fn check_reply(&self, question: &str, reply: Reply) -> Result<(), AnswerError> {
        match self.open()?.waiting.get(question) {
            Some(Waiting::Question(form, _)) => Ok(reply.fit(form.as_ref()).map(drop)?),
            _ => Err(AnswerError::NotWaiting),
        }
    }

    /// Delivers a person's reply to a question. If the question has a form, a text reply is parsed into its fields.
    ///
    /// # Errors
    /// If the question is not pending, or the reply does not match the form; in the latter case it stays pending.
    pub fn answer_question(&self, question: &str, reply: Reply) -> Result<(), AnswerError> {
        let waiting = &mut self.open()?.waiting;
        let reply = match waiting.get(question) {
            Some(Waiting::Question(form, _)) => reply.fit(form.as_ref())?,
            _ => return Err(AnswerError::NotWaiting),
        };
        match waiting.remove(question) {
            Some(Waiting::Question(_, sender)) => {
                sender.send(reply).map_err(|_| AnswerError::NotWaiting)
            }
            _ => Err(AnswerError::NotWaiting),
        }
    }

    /// Registers an approval. The answer arrives through the receiver.
    pub(crate) fn approval(
        &self,
        id: &str,
        call: ApprovalRequest,
    ) -> oneshot::Receiver<ApprovalDecision> {
        let (sender, receiver) = oneshot::channel();
        self.add(id, Waiting::Approval(call, sender));
        receiver
    }

    /// Registers a question with an optional form. The reply arrives through the receiver.
    pub(crate) fn question(&self, id: &str, form: Option<Form>) -> oneshot::Receiver<Reply> {
        let (sender, receiver) = oneshot::channel();
        self.add(id, Waiting::Question(form, sender));
        receiver
    }

    /// Stops accepting answers to `id`.
    pub(crate) fn forget(&self, id: &str) {
        self.lock().waiting.remove(id);
    }

    fn add(&self, id: &str, waiting: Waiting) {
        let mut state = self.lock();
        state.waiting.insert(id.to_owned(), waiting);
        state.to_repeat = state.to_repeat.saturating_sub(1);
        self.0.asked.notify_waiters();
    }

    /// Waits at most this long for the answer to `id`.
    pub(crate) async fn answer<T>(
        &self,
        id: &str,
        mut receiver: oneshot::Receiver<T>,
        within: Duration,
    ) -> Result<T, NoAnswer> {
        match tokio::time::timeout(within, &mut receiver).await {
            Ok(answer) => answer.map_err(|_| NoAnswer::Withdrawn),
            Err(_) => {
                self.lock().waiting.remove(id);
                // The answer may have arrived just before the entry was removed.
                receiver.try_recv().map_err(|_| NoAnswer::Expired)
            }
        }
    }

    /// Prevents hibernation of the run while a part of it is working whose state is not in the log.
    pub(crate) fn at_work(&self) -> AtWork {
        self.lock().at_work += 1;
        AtWork(self.clone())
    }

    /// Holds a part of the run back for ever, because the run is being handed over.
    pub(crate) async fn hold_back(&self) -> AtWork {
        self.lock().held_back += 1;
        let _held_back = HeldBack(self.clone());
        std::future::pending().await
    }

    /// Hibernates the run if it only waits, for people or to be handed over, and its log has `asked` open requests. Returns
    /// whether it did.
    /// From then on no answers are accepted until [`PendingInput::wake`]; the caller may drop the run, which can
    /// continue from its log.
    #[must_use]
    pub fn rest(&self, asked: usize) -> bool {
        let mut state = self.lock();
        // An answered request is removed here before it is closed in the log.
        let is_waiting = asked > 0 || state.held_back > 0;
        if state.rests || state.at_work > 0 || !is_waiting || state.waiting.len() != asked {
            return false;
        }
        // Entries stay until the agent is dropped, which would otherwise read a closed channel as a withdrawal.
        state.rests = true;
        state.to_repeat = 0;
        true
    }

    /// Marks the agent of a hibernated run as dropped.
    pub fn is_dropped(&self) {
        self.lock().waiting = HashMap::new();
    }

    /// Whether the run is hibernated.
    #[must_use]
    pub fn rests(&self) -> bool {
        self.lock().rests
    }

    /// Whether the run is hibernated, or resuming and has not yet registered all of its requests again.
    #[must_use]
    pub fn is_away(&self) -> bool {
        let state = self.lock();
        state.rests || state.to_repeat > 0
    }

    /// Marks the run as resuming, with `asked` open requests.
    pub fn wake(&self, asked: usize) {
        let mut state = self.lock();
        state.rests = false;
        state.to_repeat = asked;
    }

    /// Waits until the run accepts an answer to `id`. That may never happen, so the caller has to limit the wait.
    pub async fn asked(&self, id: &str) {
        loop {
            let asked = self.0.asked.notified();
            let mut asked = std::pin::pin!(asked);
            asked.as_mut().enable();
            if self
                .open()
                .is_ok_and(|state| state.waiting.contains_key(id))
            {
                return;
            }
            asked.await;
        }
    }

    /// The locked state, unless the run is hibernated.
    fn open(&self) -> Result<MutexGuard<'_, State>, AnswerError> {
        let state = self.lock();
        if state.rests {
            Err(AnswerError::NotWaiting)
        } else {
            Ok(state)
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_a_run_that_does_nothing_but_wait_is_put_to_rest() {
        let pending = PendingInput::default();
        assert!(!pending.rest(0), "it waits for nobody");
        let first = pending.question("q1", None);
        let works = pending.at_work();
        assert!(!pending.rest(1), "something works");
        drop(works);
        assert!(
            !pending.rest(2),
            "the second is answered, and the log does not know yet"
        );
        assert!(pending.rest(1));
        assert_eq!(
            pending.answer_question("q1", "yes".into()),
            Err(AnswerError::NotWaiting)
        );
        pending.is_dropped();
        assert_eq!(first.await.ok(), None);
        pending.wake(1);
        assert!(pending.is_away() && !pending.rests());
        let asks_again = async { Some(pending.question("q1", None)) };
        let (again, ()) = tokio::join!(asks_again, pending.asked("q1"));
        assert!(!pending.is_away());
        assert_eq!(pending.answer_question("q1", "yes".into()), Ok(()));
        assert_eq!(again.unwrap().await.ok(), Some("yes".into()));
    }

    #[tokio::test]
    async fn a_run_that_is_handed_over_rests_once_nothing_works() {
        let pending = PendingInput::default();
        let works = pending.at_work();
        let mut held = Box::pin(pending.hold_back());
        assert!(futures_util::poll!(&mut held).is_pending());
        assert!(!pending.rest(0), "something works");
        drop(works);
        let question = pending.question("q1", None);
        assert!(!pending.rest(0), "the question is not in the log yet");
        pending.forget("q1");
        drop(held);
        assert!(!pending.rest(0), "nothing is held back any more");
        let mut held = Box::pin(pending.hold_back());
        assert!(futures_util::poll!(&mut held).is_pending());
        assert!(pending.rest(0));
        drop(question);
    }
}
