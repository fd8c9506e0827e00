//! Requests to people, made once: a request from before a restart keeps its id, its answer and its deadline.

use std::{future, time::Duration};

use domain::{EventBody, Reply, event::Decision};
use tokio::sync::oneshot;

use super::{AgentJournal, CallRecord};
use crate::{PendingInput, budget::NO_TIME_LIMIT, pending_input::NoAnswer, step::millis};

/// A request to a person about a tool call.
pub(crate) trait Ask: Sized {
    /// The person's reply.
    type Answer;
    /// The first letter of its ids.
    const KIND: char;

    /// Its state in the log.
    fn recorded(&self, call: &CallRecord) -> Recorded<Self::Answer>;

    /// The event that opens it.
    fn asked(&self, id: &str, call: &str, expires_in_ms: Option<u64>) -> EventBody;

    /// The event that closes it.
    fn answered(id: String, answer: &Result<Self::Answer, NoAnswer>) -> EventBody;

    /// Registers it with the pending input, which delivers the answer.
    fn register(self, id: &str, pending_input: &PendingInput) -> oneshot::Receiver<Self::Answer>;
}

/// The state of a request in the log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Recorded<Answer> {
    /// It has not been made yet.
    Nothing,
    /// It was made at this time and is still open.
    Open {
        /// Its id.
        id: String,
        /// Milliseconds since 1970-01-01 UTC.
        asked_at: i64,
    },
    /// It was answered.
    Answered(Answer),
    /// Another request, which has this id, was made instead and is still open.
    Other {
        /// The id of that request.
        id: String,
    },
}

impl AgentJournal {
    /// The recorded answer to a request about a call, or the one that arrives now. An open request keeps its id and its
    /// remaining time.
    ///
    /// # Errors
    /// If it expires, or `withdrawn` completes first.
    pub(crate) async fn ask<A: Ask>(
        &self,
        call: &str,
        ask: A,
        withdrawn: impl Future<Output = ()>,
    ) -> Result<A::Answer, NoAnswer> {
        let record = self.recorded_call(call);
        let (id, receiver, within) =
            match record.map_or(Recorded::Nothing, |call| ask.recorded(call)) {
                Recorded::Answered(answer) => return Ok(answer),
                Recorded::Open { id, asked_at } => {
                    let receiver = ask.register(&id, &self.pending_input);
                    (id, receiver, self.run.left_of(asked_at, self.waiting))
                }
                Recorded::Other { id } => {
                    let taken_back = A::answered(id, &Err(NoAnswer::Withdrawn));
                    self.emitter.emit(taken_back).await;
                    self.begin_to_ask(call, ask).await
                }
                Recorded::Nothing => self.begin_to_ask(call, ask).await,
            };
        let answer = tokio::select! {
            answer = self.pending_input.answer(&id, receiver, within) => answer,
            () = withdrawn => {
                self.pending_input.forget(&id);
                Err(NoAnswer::Withdrawn)
            }
        };
        self.emitter.emit(A::answered(id, &answer)).await;
        answer
    }

    /// Like [`AgentJournal::ask`], for requests that are not withdrawn.
    pub(crate) async fn ask_until_answered<A: Ask>(
        &self,
        call: &str,
        ask: A,
    ) -> Result<A::Answer, NoAnswer> {
        self.ask(call, ask, future::pending()).await
    }

    async fn begin_to_ask<A: Ask>(
        &self,
        call: &str,
        ask: A,
    ) -> (String, oneshot::Receiver<A::Answer>, Duration) {
        let limit = self.waiting;
        let id = self.next_item(A::KIND);
        let expires_in_ms = (limit < NO_TIME_LIMIT).then(|| millis(limit));
        let asked = ask.asked(&id, call, expires_in_ms);
        let receiver = ask.register(&id, &self.pending_input);
        self.emitter.emit(asked).await;
        (id, receiver, limit)
    }

    /// Whether approval of the call was requested according to the log.
    pub(crate) fn has_asked_approval(&self, call: &str) -> bool {
        let record = self.recorded_call(call);
        record.is_some_and(|call| call.approval.is_some())
    }

    /// Withdraws the recorded request for approval of a call if it is open and will not be repeated.
    pub(crate) async fn withdraw_approval(&self, call: &str) {
        let record = self.recorded_call(call);
        let approval = record.and_then(|call| call.approval.as_ref());
        if let Some(open) = approval.filter(|approval| approval.answer.is_none()) {
            let withdrawn = EventBody::ApprovalAnswered {
                approval: open.id.clone(),
                decision: Decision::Withdrawn,
                reason: None,
                edited: false,
                remembered: None,
            };
            self.emitter.emit(withdrawn).await;
        }
    }

    /// Withdraws the recorded open questions of a call from number `from` on, since the call does not repeat them.
    pub(crate) async fn withdraw_questions(&self, call: &str, from: usize) {
        let record = self.recorded_call(call);
        let questions = record.into_iter().flat_map(|call| &call.questions);
        for open in questions
            .skip(from)
            .filter(|question| question.answer.is_none())
        {
            let withdrawn = Reply::answered(open.id.clone(), None);
            self.emitter.emit(withdrawn).await;
        }
    }
}
