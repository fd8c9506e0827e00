//! `GET /api/v1/inbox`: lists everything that waits for the caller, in all chats.

use std::sync::Arc;

use axum::extract::State;
use domain::{ChatId, RunEvent, RunId};
use run_registry::{Logged, Runs};
use schemars::JsonSchema;
use serde::Serialize;
use store::{Store, StoreError};

use crate::{
    error::ApiError,
    http::{extract::Json, openapi::Operations},
    identity::auth::Caller,
    runtime::commands::Commands,
};

/// An approval or a question that waits for the caller.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "InboxItem")]
struct Item {
    run: RunId,
    chat: Option<ChatId>,
    /// The chat's title.
    title: String,
    /// An `approval_asked` or a `question_asked`.
    event: RunEvent,
}

/// What waits, the oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Inbox {
    items: Vec<Item>,
}

/// The oldest first.
pub(super) async fn list(
    State(commands): State<Arc<Commands>>,
    State(runs): State<Runs>,
    State(store): State<Store>,
    caller: Caller,
) -> Result<Json<Inbox>, ApiError> {
    let mut items = Vec::new();
    for live in runs.live_of(&caller.principal()) {
        let waiting = live.waiting();
        items.extend(
            waiting
                .iter()
                .map(|logged| Item::new(live.id, live.chat, &live.title, logged)),
        );
    }
    for run in commands.going_unseen(&caller.principal()).await? {
        let log = match runs.left_open(&run).await {
            Ok((log, _)) => log,
            // A damaged log must not hide the others.
            Err(error @ StoreError::Corrupt(_)) => {
                tracing::warn!(run = %run.id, %error, "skipping a damaged log in the inbox");
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        if !log.is_waiting() {
            continue;
        }
        let title = match run.chat {
            Some(chat) => store.chat(&run.principal, chat).await?.title,
            None => String::new(),
        };
        items.extend(
            log.waiting()
                .iter()
                .map(|logged| Item::new(run.id, run.chat, &title, logged)),
        );
    }
    items.sort_by_key(|item| (item.event.at, item.run));
    Ok(Json(Inbox { items }))
}

impl Item {
    fn new(run: RunId, chat: Option<ChatId>, title: &str, asked: &Logged) -> Self {
        Self {
            run,
            chat,
            title: title.to_owned(),
            event: asked.event.clone(),
        }
    }
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/inbox",
        list,
        "Lists every open approval and question of the caller, the oldest first",
    )
    .details("The activity stream says when it has changed.");
}
