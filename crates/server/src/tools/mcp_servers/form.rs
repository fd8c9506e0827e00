//! Elicitation: a form that a server sends in the middle of a call becomes a question of the run.

use agent::{Question, ToolContext};
use domain::{Form, Reply};

/// Asks the user and sends the reply to the server.
pub(super) async fn ask(server: &str, mut asked: mcp::Question, context: &ToolContext) {
    let reply = match Form::try_from(std::mem::take(&mut asked.schema)) {
        Ok(form) => {
            let text = format!("{server}: {}", asked.message);
            let question = Question {
                text,
                options: Vec::new(),
                form: Some(form),
            };
            match context.ask(question, asked.withdrawn()).await {
                Some(Reply::Values(values)) => mcp::Reply::Accept(values),
                Some(Reply::Declined(None)) => mcp::Reply::Decline,
                // Not declined by a person: there was no one to ask.
                Some(Reply::Declined(Some(_)) | Reply::Words(_)) | None => mcp::Reply::Cancel,
            }
        }
        Err(fault) => {
            tracing::warn!(server, %fault, "unsupported elicitation form");
            context
                .progress(format!(
                    "{server} asked for something that no form can hold: {fault}"
                ))
                .await;
            mcp::Reply::Cancel
        }
    };
    asked.reply(reply);
}
