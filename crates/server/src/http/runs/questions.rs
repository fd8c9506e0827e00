//! Answers to what an agent asks: in words, as the values of a form, or that there will be none.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{Reply, RunId};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::check_changeable;
use crate::{
    app::App,
    error::ApiError,
    http::extract::{Json, Path},
    identity::auth::Caller,
    runtime::commands::Command,
};

/// One of the three.
#[derive(Debug, Deserialize)]
pub(in crate::http) struct AnswerQuestion {
    answer: Option<String>,
    values: Option<Map<String, Value>>,
    #[serde(default)]
    decline: bool,
}

impl AnswerQuestion {
    /// The reply that it is.
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
