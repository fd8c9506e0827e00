//! Questions of tools to the person: asked once, also where the server is restarted while one waits.

use std::sync::atomic::Ordering;

use domain::{EventBody, Form, Reply};

use crate::{consent::expires_in_ms, past::PastQuestion, tool::ToolContext, turns::AgentContext};

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

impl Question {
    fn is(&self, past: &PastQuestion) -> bool {
        past.text == self.text && past.form == self.form
    }
}

impl ToolContext {
    /// Asks the person and waits for the reply, which fits the form where there is one. Nothing where `withdrawn` comes
    /// first, or nobody answers in time. In a call that was made before a restart, a question that was asked then is not
    /// asked again.
    pub async fn ask(&self, ask: Question, withdrawn: impl Future<Output = ()>) -> Option<Reply> {
        let asks = &self.agent.run.asks;
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let past = self
            .agent
            .run
            .past
            .of_call(&self.call)
            .and_then(|past| past.questions.get(number));
        let same = past.filter(|asked| ask.is(asked));
        if let Some(other) = past.filter(|asked| !ask.is(asked) && asked.answer.is_none()) {
            // This time it asks something else.
            self.emit(Reply::answered(other.id.clone(), None)).await;
        }
        let limit = self.agent.run.limits.waiting;
        let (question, waiting, within) = match same.map(|asked| (asked, &asked.answer)) {
            Some((_, Some(Some(reply)))) => return Some(reply.clone()),
            Some((asked, None)) => {
                let waiting = asks.question(&asked.id, ask.form);
                (
                    asked.id.clone(),
                    waiting,
                    self.agent.run.past.left_of(asked.asked_at, limit),
                )
            }
            Some((_, Some(None))) | None => {
                let question = self.agent.next_item('q');
                let waiting = asks.question(&question, ask.form.clone());
                self.emit(asked(&question, &self.call, ask, expires_in_ms(limit)))
                    .await;
                (question, waiting, limit)
            }
        };
        let _idle = self.is_busy.then(|| self.agent.run.work_time.idle());
        let reply = tokio::select! {
            reply = asks.answer(&question, waiting, within) => reply.ok(),
            () = withdrawn => {
                asks.forget(&question);
                None
            }
        };
        self.emit(Reply::answered(question, reply.clone())).await;
        reply
    }
}

fn asked(question: &str, call: &str, ask: Question, expires_in_ms: Option<u64>) -> EventBody {
    let Question {
        text,
        options,
        form: schema,
    } = ask;
    let (question, call) = (question.to_owned(), call.to_owned());
    EventBody::QuestionAsked {
        question,
        call,
        text,
        options,
        schema,
        expires_in_ms,
    }
}

/// Withdraws the call's questions of before a restart from number `from` on, which it has not asked again.
pub(crate) async fn withdraw_past_questions(agent: &AgentContext, call: &str, from: usize) {
    let past = agent
        .run
        .past
        .of_call(call)
        .map(|past| past.questions.as_slice())
        .unwrap_or_default();
    for question in past
        .iter()
        .skip(from)
        .filter(|asked| asked.answer.is_none())
    {
        agent
            .emitter
            .emit(Reply::answered(question.id.clone(), None))
            .await;
    }
}
