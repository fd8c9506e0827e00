//! `ask_user`: a question to the person; the run waits for the answer.

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
    let answer = context.ask(arguments.question, arguments.options, std::future::pending()).await;
    let sentence = "Nobody answered in time. Go on with what you know, and say what you assumed.";
    answer.ok_or_else(|| ToolFailure(sentence.into()))
}
