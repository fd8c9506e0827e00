//! `POST /api/v1/runs/{run}/fork`: a new chat that goes on from a step of a run.

use std::sync::Arc;

use axum::extract::State;
use domain::{ChatId, MessageId, RunId};
use serde::{Deserialize, Serialize};

use super::{
    chats::checked_title,
    runs::{limited, own_run},
};
use crate::{
    app::App,
    auth::Caller,
    error::ApiError,
    extract::{Json, Path},
    forks::{ForkPoint, Forked},
};

#[derive(Debug, Deserialize)]
pub(super) struct NewFork {
    /// The last event that is taken.
    after: u64,
    guidance: Option<String>,
    model: Option<String>,
    title: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct ForkView {
    chat: ChatId,
    message: MessageId,
    run: RunId,
}

pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(run): Path<RunId>,
    Json(body): Json<NewFork>,
) -> Result<Json<ForkView>, ApiError> {
    let run = own_run(&app, &caller, run).await?;
    let mut model = app.resolve(Some(body.model.as_deref().unwrap_or(&run.model)))?;
    if model.agent.is_none() {
        // Another model is wished for, not another agent.
        model.agent = app.resolve(Some(&run.model)).ok().and_then(|before| before.agent);
    }
    let guidance = body.guidance.filter(|text| !text.trim().is_empty()).map(limited).transpose()?;
    let title = body.title.as_deref().map(checked_title).transpose()?;
    let Forked { chat, message, run } =
        app.fork(run, ForkPoint { after: body.after, guidance, model, title }).await?;
    Ok(Json(ForkView { chat, message, run }))
}
