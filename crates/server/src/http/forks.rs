//! `POST /api/v1/runs/{run}/fork`: creates a chat that continues from a step of a run.

use std::sync::Arc;

use axum::extract::State;
use domain::{ChatId, MessageId, RunId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{chats::checked_title, runs::own_run};
use crate::{
    app::App,
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::auth::Caller,
    runtime::commands::check_length,
    runtime::forks::{ForkPoint, Forked},
};

/// Where to continue, and how.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct NewFork {
    /// The number of the last event that is taken: the one right before a `step_started` of the main agent.
    after: u64,
    /// A message of the person after it, up to 100,000 bytes.
    guidance: Option<String>,
    /// Another model.
    model: Option<String>,
    /// The title of the new chat.
    title: Option<String>,
}

/// A chat that continues from a run.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Fork")]
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
    let mut model = app
        .gateway
        .resolve_for(&caller, Some(body.model.as_deref().unwrap_or(&run.model)))
        .await?;
    if model.agent.is_none() {
        // The caller asks for another model, not another agent: keep the agent, whose name the answer and later ones
        // carry.
        let before = app
            .gateway
            .resolve(Some(&run.model), &app.gateway.permit_of(&caller))
            .ok()
            .filter(|before| before.agent.is_some());
        if let Some(before) = before {
            (model.id, model.agent) = (before.id, before.agent);
        }
    }
    let guidance = body.guidance.filter(|text| !text.trim().is_empty());
    guidance.as_deref().map_or(Ok(()), check_length)?;
    let title = body.title.as_deref().map(checked_title).transpose()?;
    let point = ForkPoint {
        after: body.after,
        guidance,
        model,
        title,
    };
    // Once the fork is stored, its run must be started even if the client has disconnected.
    let forked = app.tasks.spawn({
        let app = Arc::clone(&app);
        async move { app.forks.fork(run, point).await }
    });
    let Forked { chat, message, run } = forked.await.map_err(ApiError::internal)??;
    Ok(Json(ForkView { chat, message, run }))
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler("POST /api/v1/runs/{run}/fork", create, "[Forks](docs/reference/api.md#forking) a run that has ended: a new chat continues from one of \
         its steps")
        .errors(&[409, 422, 429]);
}
