//! `ask_user`: a question to the person; the run waits for the answer.

use domain::EventBody;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Tool, ToolFailure,
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
    let past = context.agent.run.past.of_call(&context.call).and_then(|past| past.question.clone());
    let (question, waiting) = match past {
        Some((_, Some(answer))) => return Ok(answer),
        // It was asked before the server was restarted.
        Some((question, None)) => {
            let waiting = asks.question(&question);
            (question, waiting)
        }
        None => {
            let question = context.agent.next_item('q');
            let waiting = asks.question(&question);
            let asked = EventBody::QuestionAsked {
                question: question.clone(),
                call: context.call.clone(),
                text: arguments.question,
                options: arguments.options,
            };
            context.emit(asked).await;
            (question, waiting)
        }
    };
    let answer = waiting.await.map_err(|_| ToolFailure("Nobody answered.".into()))?;
    context.emit(EventBody::QuestionAnswered { question, answer: Some(answer.clone()) }).await;
    Ok(answer)
}
