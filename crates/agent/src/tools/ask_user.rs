//! `ask_user`: asks the person a question or shows a small form; the run waits for the answer.

mod field;

use domain::{Form, Reply};
use field::WantedField;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    Question, Tool, ToolFailure,
    tool::{ToolContext, ToolKind},
};

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// One clear question; with fields, what they are for.
    #[schemars(length(min = 1, max = 2000))]
    question: String,
    /// Up to six short answers to choose from; the person may also write another. Not together with fields.
    #[serde(default)]
    #[schemars(length(max = 6), inner(length(min = 1, max = 200)))]
    options: Vec<String>,
    /// A small form to fill in, where you need several things at once or a value of a certain type.
    #[serde(default)]
    #[schemars(length(max = 12))]
    fields: Vec<WantedField>,
}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(
        "ask_user",
        "Asks the person a question, or shows a small form, and waits for the answer; a form's answer is a JSON object. \
         Only when you cannot go on without it.",
        ToolKind::WAITING,
        ask_user,
    )
    .map(Tool::answered_by_person)
}

async fn ask_user(arguments: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let Arguments {
        question: text,
        options,
        fields,
    } = arguments;
    let question = Question {
        text,
        form: form(fields, &options)?,
        options,
    };
    match context.ask(question, std::future::pending()).await {
        Some(Reply::Words(words)) => Ok(words),
        Some(Reply::Values(values)) => Ok(Value::Object(values).to_string()),
        Some(Reply::Declined(Some(why))) => Ok(why),
        Some(Reply::Declined(None)) => {
            Ok("The person does not want to answer. Go on with what you know, and say what you assumed."
                .to_owned())
        }
        None => {
            let sentence = "Nobody answered in time. Go on with what you know, and say what you assumed.";
            Err(ToolFailure(sentence.into()))
        }
    }
}

fn form(fields: Vec<WantedField>, options: &[String]) -> Result<Option<Form>, ToolFailure> {
    if fields.is_empty() {
        return Ok(None);
    }
    if !options.is_empty() {
        let fault = "Give options or fields, not both: options of a field stand in the field.";
        return Err(ToolFailure(fault.to_owned()));
    }
    let fields = fields
        .into_iter()
        .map(WantedField::read)
        .collect::<Result<Vec<_>, _>>()?;
    Form::new(fields)
        .map(Some)
        .map_err(|fault| ToolFailure(fault.message.message))
}
