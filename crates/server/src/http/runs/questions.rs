//! Answers to questions of agents: text, the values of a form, or a refusal.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{Reply, RunId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::check_changeable;
use crate::{
    app::App,
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::auth::Caller,
    runtime::commands::Command,
};

/// One of the three.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "QuestionAnswer")]
pub(in crate::http) struct AnswerQuestion {
    /// An answer in words. For a [form](docs/reference/api.md#forms) it is parsed.
    answer: Option<String>,
    /// The values of a form, by the names of its properties.
    values: Option<Map<String, Value>>,
    /// Whether the person declines to answer.
    #[serde(default)]
    decline: bool,
}

impl AnswerQuestion {
    /// The reply.
    fn reply(self) -> Result<Reply, ApiError> {
        match (self.answer, self.values, self.decline) {
            (Some(words), None, false) => Ok(Reply::Words(words)),
            (None, Some(values), false) => Ok(Reply::Values(values)),
            (None, None, true) => Ok(Reply::Declined(None)),
            _ => Err(ApiError::invalid(
                "Send one of `answer`, `values` and `\"decline\": true`.",
            )),
        }
    }
}

/// `POST /runs/{run}/questions/{question}`: answers an agent's question.
pub(in crate::http) async fn answer(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((run, question)): Path<(RunId, String)>,
    Json(body): Json<AnswerQuestion>,
) -> Result<StatusCode, ApiError> {
    check_changeable(&app, &caller, run).await?;
    app.commands
        .tell(
            run,
            Command::Answer {
                question,
                reply: body.reply()?,
            },
        )
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Describes the operations of this file.
pub(in crate::http) fn operations(api: &mut Operations) {
    api.handler("POST /runs/{run}/questions/{question}", answer, "Answers a question that waits")
        .details("409 if it no longer waits; 422 if it does not fit the [form](docs/reference/api.md#forms), with \
         the name of the field as `field`.")
        .errors(&[409, 422]);
}
