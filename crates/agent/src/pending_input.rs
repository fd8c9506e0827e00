//! The approvals and questions of a run that wait for a person. An entry is small and holds no thread; a run that only
//! waits can be hibernated, which takes it out of memory.

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
    /// Other arguments to run with.
    pub arguments: Option<Value>,
    /// Why, for the model.
    pub reason: Option<String>,
    /// The scope of a standing approval given with it, for the log; the rule itself goes to
    /// [`crate::ApprovalPolicy::allow`].
    pub remembered: Option<Remembered>,
}

impl ApprovalDecision {
    /// This decision and nothing else.
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

/// Why an answer was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// Nothing with this id is pending.
    #[error("{}", messages::Approvals::NotWaiting)]
    NotWaiting,
    /// The edited arguments do not fit the tool.
    #[error("{}", unfit(.0))]
    InvalidArguments(String),
    /// The answer does not fit the question's form.
    #[error(transparent)]
    Unfit(#[from] FormFault),
    /// A standing approval was given, but each call has to be approved.
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

/// The pending approvals and questions of one run, shared by the run and by those who bring the answers.
#[derive(Debug, Clone, Default)]
pub struct PendingInput(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified when the run asks something.
    asked: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: HashMap<String, Waiting>,
    /// The number of active parts of the run whose state is not in the log.
    at_work: usize,
    /// The run is hibernated, or about to be.
    rests: bool,
    /// How many entries a run that comes back has yet to register again.
    to_repeat: usize,
}

/// Keeps the run from being hibernated.
#[derive(Debug)]
pub(crate) struct AtWork(PendingInput);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.lock().at_work -= 1;
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
    /// Whether the answer would be taken. Returns the name of the tool that waits for it.
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

    /// Brings a person's decision.
    ///
    /// # Errors
    /// If the approval is not pending, or the answer is not valid; in the second case it stays pending.
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

    /// Allows the calls that wait and fit.
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
                // One whose run has just ended needs no answer.
                drop(waiting.send(ApprovalDecision::only(Decision::Allow)));
            }
        }
    }

    /// Whether the reply would be taken.
    ///
    /// # Errors
    /// See [`PendingInput::answer_question`].
    pub fn check_reply(&self, question: &str, reply: Reply) -> Result<(), AnswerError> {
        match self.open()?.waiting.get(question) {
            Some(Waiting::Question(form, _)) => Ok(reply.fit(form.as_ref()).map(drop)?),
            _ => Err(AnswerError::NotWaiting),
        }
    }

    /// Brings a person's reply to a question. If that has a form, a text reply is parsed into its fields.
    ///
    /// # Errors
    /// If the question is not pending, or the reply does not fit the form; in the second case it stays pending.
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

    /// Registers an approval; the answer comes through the receiver.
    pub(crate) fn approval(
        &self,
        id: &str,
        call: ApprovalRequest,
    ) -> oneshot::Receiver<ApprovalDecision> {
        let (sender, receiver) = oneshot::channel();
        self.add(id, Waiting::Approval(call, sender));
        receiver
    }

    /// Registers a question, with its form if it has one; the reply comes through the receiver.
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
                self.lock().waiting.remove(id);
                // It may have arrived just before the entry was removed.
                receiver.try_recv().map_err(|_| NoAnswer::Expired)
            }
        }
    }

    /// Keeps the run from being hibernated while something of it works whose state is not in the log.
    pub(crate) fn at_work(&self) -> AtWork {
        self.lock().at_work += 1;
        AtWork(self.clone())
    }

    /// Hibernates the run if it only waits for people and its log has `asked` open requests. Whether it did. From then on no
    /// answers are accepted until [`PendingInput::wake`]: the caller may drop the run, which can continue from its log.
    #[must_use]
    pub fn rest(&self, asked: usize) -> bool {
        let mut state = self.lock();
        // One that is answered is gone from here before it is from the log.
        if state.rests || state.at_work > 0 || asked == 0 || state.waiting.len() != asked {
            return false;
        }
        // Entries stay until the agent is dropped, which would otherwise read a closed channel as a withdrawal.
        state.rests = true;
        state.to_repeat = 0;
        true
    }

    /// Says that the agent of a hibernated run is dropped.
    pub fn is_dropped(&self) {
        self.lock().waiting = HashMap::new();
    }

    /// Whether the run is hibernated.
    #[must_use]
    pub fn rests(&self) -> bool {
        self.lock().rests
    }

    /// Whether the run is hibernated, or comes back and has not yet registered again all that it asked.
    #[must_use]
    pub fn is_away(&self) -> bool {
        let state = self.lock();
        state.rests || state.to_repeat > 0
    }

    /// Says that the run comes back, with `asked` open requests.
    pub fn wake(&self, asked: usize) {
        let mut state = self.lock();
        state.rests = false;
        state.to_repeat = asked;
    }

    /// Waits until the run accepts an answer to `id`. That may never happen; the caller has to limit the wait.
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

    /// What waits, to bring an answer to it.
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
}
