//! Questions that tools ask the person, each once, even if the server is restarted while one is pending.

use std::sync::atomic::Ordering;

use domain::{EventBody, Form, Reply};
use tokio::sync::oneshot;

use crate::{
    PendingInput,
    journal::{Ask, CallRecord, QuestionRecord, Recorded},
    pending_input::NoAnswer,
    tool::ToolContext,
};

/// What a tool asks the person.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// In words.
    pub text: String,
    /// Suggested answers.
    pub options: Vec<String>,
    /// What to fill in, where it is not one answer in words.
    pub form: Option<Form>,
}

/// A question in its place among those of the call.
struct AskQuestion {
    question: Question,
    /// How many the call has asked before it.
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
    /// Asks the person and waits for the reply, which fits the form if there is one. `None` if `withdrawn` comes first, or
    /// nobody answers in time. In a call that was made before a restart, a question that was asked then is not asked again.
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
