//! Questions of tools to the person: asked once, also where the server is restarted while one waits.

use std::sync::atomic::Ordering;

use domain::EventBody;

use crate::{consent::expires_in_ms, tool::ToolContext, turns::AgentContext};

impl ToolContext {
    /// Asks the person and waits for the answer; `options` are suggestions. Nothing where `withdrawn` comes first, or
    /// nobody answers in time. In a call that was made before a restart, a question that was asked then is not asked
    /// again.
    pub async fn ask(
        &self,
        text: String,
        options: Vec<String>,
        withdrawn: impl Future<Output = ()>,
    ) -> Option<String> {
        let asks = &self.agent.run.asks;
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let past = self.agent.run.past.of_call(&self.call).and_then(|past| past.questions.get(number));
        let same = past.filter(|asked| asked.text == text);
        if let Some(other) = past.filter(|asked| asked.text != text && asked.answer.is_none()) {
            // This time it asks something else.
            self.emit(EventBody::QuestionAnswered { question: other.id.clone(), answer: None }).await;
        }
        let limit = self.agent.run.limits.waiting;
        let (question, waiting, within) = match same.map(|asked| (asked, &asked.answer)) {
            Some((_, Some(Some(answer)))) => return Some(answer.clone()),
            Some((asked, None)) => {
                let waiting = asks.question(&asked.id);
                (asked.id.clone(), waiting, self.agent.run.past.left_of(asked.asked_at, limit))
            }
            Some((_, Some(None))) | None => {
                let question = self.agent.next_item('q');
                let waiting = asks.question(&question);
                let (asked, call, expires_in_ms) =
                    (question.clone(), self.call.clone(), expires_in_ms(limit));
                self.emit(EventBody::QuestionAsked { question: asked, call, text, options, expires_in_ms })
                    .await;
                (question, waiting, limit)
            }
        };
        let _idle = self.is_busy.then(|| self.agent.run.work_time.idle());
        let answer = tokio::select! {
            answer = asks.answer(&question, waiting, within) => answer.ok(),
            () = withdrawn => None,
        };
        self.emit(EventBody::QuestionAnswered { question, answer: answer.clone() }).await;
        answer
    }
}

/// Withdraws the call's questions of before a restart from number `from` on, which it has not asked again.
pub(crate) async fn withdraw_past_questions(agent: &AgentContext, call: &str, from: usize) {
    let past = agent.run.past.of_call(call).map(|past| past.questions.as_slice()).unwrap_or_default();
    for question in past.iter().skip(from).filter(|asked| asked.answer.is_none()) {
        let question = question.id.clone();
        agent.emitter.emit(EventBody::QuestionAnswered { question, answer: None }).await;
    }
}
