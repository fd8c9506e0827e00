//! Full-text search in chats.

use std::sync::Arc;

use axum::extract::State;
use domain::{MessageId, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::SharedChat;

use super::chats::{ChatRow, row};
use crate::{
    app::App,
    chat::search::{Asked, Excerpt, Hit, Question, ToolPlace},
    error::ApiError,
    http::{
        extract::{Json, Query},
        openapi::Operations,
    },
    identity::auth::Caller,
};

/// Maximum number of hits per page.
const PAGE_LIMIT: u32 = 50;

/// What to search for.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ChatSearchQuery")]
pub(super) struct SearchQuery {
    /// All its words must occur, in any form; the last one may be incomplete. [More about
    /// searching](docs/reference/api.md#searching).
    query: String,
    /// `next` of the previous page.
    before: Option<String>,
    /// How many hits: 20 by default, at most 50.
    limit: Option<u32>,
    /// Also in archived chats.
    #[serde(default)]
    archived: bool,
    /// Only in the branches that are shown.
    #[serde(default)]
    shown: bool,
}

/// A part of a text.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FoundPart")]
struct PieceView {
    text: String,
    /// Whether it matches the query.
    hit: bool,
}

/// A chat whose title matches.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FoundTitle")]
struct TitleView {
    chat: ChatRow,
    parts: Vec<PieceView>,
}

/// A message, or the result of a tool, that matches.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FoundMessage")]
struct HitView {
    chat: ChatRow,
    message: MessageId,
    #[schemars(with = "String", extend("enum" = ["user", "assistant"]))]
    role: Role,
    at: i64,
    /// The tool whose result it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    /// The tool call in the message's run.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<String>,
    /// The event of the run's log that has the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    /// The excerpt in sequence, without Markdown syntax.
    parts: Vec<PieceView>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatsFound")]
pub(super) struct FoundView {
    /// Chats whose titles match, only on the first page.
    titles: Vec<TitleView>,
    /// The newest first.
    hits: Vec<HitView>,
    /// `before` of the next page; `null` if there is none. A page may be shorter than `limit` although there is a
    /// next one.
    next: Option<String>,
}

/// `GET /api/v1/chats/search`: finds titles, messages and tool results that contain these words, the newest first.
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
        ..
    } = found;
    let is_own = chat.principal.account == caller.id();
    let row = row(app, chat);
    if is_own {
        row
    } else {
        row.of_another(owner_name, owner_email)
    }
}

fn pieces(Excerpt(parts): Excerpt) -> Vec<PieceView> {
    parts
        .into_iter()
        .map(|(text, hit)| PieceView { text, hit })
        .collect()
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/chats/search",
        get,
        "Searches titles, messages and results of tools, the newest first",
    );
}
