//! What a server asks a person in the middle of a call (elicitation): its form is a question of the run.

use agent::{Question, ToolContext};
use domain::{Form, Reply};

/// Asks the person and tells the server what they said.
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
                // Nobody said no: nobody was there to be asked.
                Some(Reply::Declined(Some(_)) | Reply::Words(_)) | None => mcp::Reply::Cancel,
            }
        }
        Err(fault) => {
            tracing::warn!(server, %fault, "the server asks for something that cannot be asked");
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
