//! Questions that tools ask the person, each asked only once, even if the server restarts while it is pending.

use std::sync::atomic::Ordering;

use domain::{EventBody, Form, Reply};
use tokio::sync::oneshot;

use crate::{
    PendingInput,
    journal::{Ask, CallRecord, QuestionRecord, Recorded},
    pending_input::NoAnswer,
    tool::ToolContext,
};

/// A tool's question to the person.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The text.
    pub text: String,
    /// Suggested answers.
    pub options: Vec<String>,
    /// The form; `None` for a text reply.
    pub form: Option<Form>,
}

/// A question with its index among those of the call.
struct AskQuestion {
    question: Question,
    /// Number of earlier questions of the call.
    number: usize,
}

impl AskQuestion {
    fn is(&self, asked: &QuestionRecord) -> bool {
        asked.text == self.question.text && asked.form == self.question.form
    }
}

impl Ask for AskQuestion {
    type Answer = Reply;
    const KIND: char = 'q';

    fn recorded(&self, call: &CallRecord) -> Recorded<Reply> {
        let Some(asked) = call.questions.get(self.number) else {
            return Recorded::Nothing;
        };
        let id = asked.id.clone();
        match &asked.answer {
            None if self.is(asked) => Recorded::Open {
                id,
                asked_at: asked.asked_at,
            },
            None => Recorded::Other { id },
            Some(Some(reply)) if self.is(asked) => Recorded::Answered(reply.clone()),
            Some(_) => Recorded::Nothing,
        }
    }

    fn asked(&self, id: &str, call: &str, expires_in_ms: Option<u64>) -> EventBody {
        let Question {
            text,
            options,
            form: schema,
        } = self.question.clone();
        EventBody::QuestionAsked {
            question: id.to_owned(),
            call: call.to_owned(),
            text,
            options,
            schema,
            expires_in_ms,
        }
    }

    fn answered(id: String, answer: &Result<Reply, NoAnswer>) -> EventBody {
        Reply::answered(id, answer.clone().ok())
    }

    fn register(self, id: &str, pending_input: &PendingInput) -> oneshot::Receiver<Reply> {
        pending_input.question(id, self.question.form)
    }
}

impl ToolContext {
    /// Asks the person and waits for the reply, which matches the form if there is one. `None` if `withdrawn` completes
    /// first or the question expires. A call resumed after a restart does not repeat a question that it asked before.
    pub async fn ask(&self, ask: Question, withdrawn: impl Future<Output = ()>) -> Option<Reply> {
        let ask = AskQuestion {
            question: ask,
            number: self.asked.fetch_add(1, Ordering::Relaxed),
        };
        let _idle = self.is_busy.then(|| self.agent.run.active_time.idle());
        let journal = &self.agent.journal;
        journal.ask(&self.call, ask, withdrawn).await.ok()
    }
}
