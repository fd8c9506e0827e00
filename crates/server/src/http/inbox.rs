//! `GET /api/v1/inbox`: everything that waits for the caller, in all chats.

use std::sync::Arc;

use axum::extract::State;
use domain::{ChatId, RunEvent, RunId};
use serde::Serialize;

use crate::{app::App, auth::Caller, extract::Json};

/// An approval or a question that waits.
#[derive(Debug, Serialize)]
struct Item {
    run: RunId,
    chat: Option<ChatId>,
    title: String,
    /// `approval_asked` or `question_asked`.
    event: RunEvent,
}

#[derive(Debug, Serialize)]
pub(super) struct Inbox {
    items: Vec<Item>,
}

/// What waits longest comes first.
pub(super) async fn list(State(app): State<Arc<App>>, caller: Caller) -> Json<Inbox> {
    let live = app.runs.live_of(caller.id());
    let items = live.iter().flat_map(|live| {
        let item = |event: RunEvent| Item { run: live.id, chat: live.chat, title: live.title.clone(), event };
        live.waiting().into_iter().map(move |logged| item(logged.event.clone()))
    });
    let mut items: Vec<Item> = items.collect();
    items.sort_by_key(|item| (item.event.at, item.run));
    Json(Inbox { items })
}
