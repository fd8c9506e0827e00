//! Searching through chats.

use std::sync::Arc;

use axum::extract::State;
use domain::{MessageId, Role};
use serde::{Deserialize, Serialize};
use store::SharedChat;

use super::chats::{ChatRow, row};
use crate::{
    app::App,
    chat::search::{Asked, Excerpt, Hit, Question, ToolPlace},
    error::ApiError,
    http::extract::{Json, Query},
    identity::auth::Caller,
};

/// Most hits of one page.
const PAGE_LIMIT: u32 = 50;

#[derive(Debug, Deserialize)]
pub(super) struct SearchQuery {
    query: String,
    /// Where the page before has ended.
    before: Option<String>,
    limit: Option<u32>,
    /// Also in what is put away.
    #[serde(default)]
    archived: bool,
    /// Only in the branches that are shown.
    #[serde(default)]
    shown: bool,
}

/// A piece of a text.
#[derive(Debug, Serialize)]
struct PieceView {
    text: String,
    /// Whether it is a word that was looked for.
    hit: bool,
}

#[derive(Debug, Serialize)]
struct TitleView {
    chat: ChatRow,
    parts: Vec<PieceView>,
}

#[derive(Debug, Serialize)]
struct HitView {
    chat: ChatRow,
    message: MessageId,
    role: Role,
    at: i64,
    /// The tool whose answer it is, the call in the message's run, and the event that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    parts: Vec<PieceView>,
}

#[derive(Debug, Serialize)]
pub(super) struct FoundView {
    titles: Vec<TitleView>,
    hits: Vec<HitView>,
    /// Where the next page begins; nothing where there is none.
    next: Option<String>,
}

/// `GET /api/v1/chats/search`: titles, messages and answers of tools that have these words, newest first.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    Query(query): Query<SearchQuery>,
) -> Result<Json<FoundView>, ApiError> {
    let before = query.before.map(|place| place.parse::<i64>()).transpose();
    let before = before
        .map_err(|_| ApiError::invalid("`before` is what an earlier page gave as `next`."))?;
    let asked = Asked {
        question: Question::parse(&query.query),
        archived: query.archived,
        shown: query.shown,
        before,
        limit: query.limit.unwrap_or(20).clamp(1, PAGE_LIMIT),
    };
    if asked.question.is_empty() {
        return Ok(Json(FoundView {
            titles: Vec::new(),
            hits: Vec::new(),
            next: None,
        }));
    }
    let found = app.search.search_chats(caller.id(), &asked).await?;
    let row = |chat| row_for(&app, &caller, chat);
    let titles = found.titles.into_iter();
    let titles = titles.map(|(chat, title)| TitleView {
        chat: row(chat),
        parts: pieces(title),
    });
    let hits = found.hits.into_iter().map(|hit| {
        let Hit {
            chat,
            message,
            role,
            at,
            tool,
            excerpt,
        } = hit;
        let view = |tool: ToolPlace| (Some(tool.name), Some(tool.call), Some(tool.seq));
        let (tool, call, seq) = tool.map(view).unwrap_or_default();
        HitView {
            chat: row(chat),
            message,
            role,
            at,
            tool,
            call,
            seq,
            parts: pieces(excerpt),
        }
    });
    let next = found.next.map(|place| place.to_string());
    Ok(Json(FoundView {
        titles: titles.collect(),
        hits: hits.collect(),
        next,
    }))
}

fn row_for(app: &App, caller: &Caller, found: SharedChat) -> ChatRow {
    let SharedChat {
        chat,
        owner_name,
        owner_email,
    } = found;
    let is_own = chat.principal.account == caller.id();
    let row = row(app, chat);
    if is_own {
        row
    } else {
        row.of_another((owner_name, owner_email))
    }
}

fn pieces(Excerpt(parts): Excerpt) -> Vec<PieceView> {
    parts
        .into_iter()
        .map(|(text, hit)| PieceView { text, hit })
        .collect()
}
