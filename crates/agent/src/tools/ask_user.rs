//! `ask_user`: a question to the person; the run waits for the answer.

use domain::EventBody;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Tool, ToolFailure,
    consent::expires_in_ms,
    past::{PastAnswer, PastQuestion},
    tool::{ToolContext, ToolKind},
};

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// One clear question.
    #[schemars(length(min = 1, max = 2000))]
    question: String,
    /// Up to six short answers to choose from; the person may also write another.
    #[serde(default)]
    #[schemars(length(max = 6), inner(length(min = 1, max = 200)))]
    options: Vec<String>,
}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(
        "ask_user",
        "Asks the person a question and waits for the answer. Only when you cannot go on without it.",
        ToolKind::WAITING,
        ask_user,
    )
}

async fn ask_user(arguments: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let asks = &context.agent.run.asks;
    let limit = context.agent.run.limits.waiting;
    let past = context.agent.run.past.of_call(&context.call).and_then(|past| past.question.clone());
    let (question, waiting, within) = match past {
        Some(PastQuestion { end: Some(PastAnswer(answer)), .. }) => return answer.ok_or_else(nobody),
        // It was asked before the server was restarted.
        Some(PastQuestion { id, asked_at, end: None }) => {
            let waiting = asks.question(&id);
            (id, waiting, context.agent.run.past.left_of(asked_at, limit))
        }
        None => {
            let question = context.agent.next_item('q');
            let waiting = asks.question(&question);
            let asked = EventBody::QuestionAsked {
                question: question.clone(),
                call: context.call.clone(),
                text: arguments.question,
                options: arguments.options,
                expires_in_ms: expires_in_ms(limit),
            };
            context.emit(asked).await;
            (question, waiting, limit)
        }
    };
    let answer = asks.answer(&question, waiting, within).await.ok();
    context.emit(EventBody::QuestionAnswered { question, answer: answer.clone() }).await;
    answer.ok_or_else(nobody)
}

fn nobody() -> ToolFailure {
    ToolFailure("Nobody answered in time. Go on with what you know, and say what you assumed.".to_owned())
}
