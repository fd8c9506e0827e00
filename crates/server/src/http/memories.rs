//! The memories that agents keep about the caller.

use std::sync::Arc;

use agent::memory::{MAX_BLOCKS, MAX_DESCRIPTION_CHARS, MAX_NAME_CHARS, MAX_TEXT_CHARS};
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
};
use domain::{ChatId, MemoryId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Memory, MemoryAuthor, MemoryChange, MemoryChanged, MemoryContent, Store, StoreError};
use wire::export;

use super::files::expected_version;
use crate::{
    app::App,
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::auth::Caller,
    messages,
};

/// Maximum length of an agent's name, characters.
const MAX_AGENT_CHARS: usize = 80;

/// A text that agents keep about the caller.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Memory")]
pub(super) struct MemoryView {
    id: MemoryId,
    /// The only agent that has it; empty if all have it.
    agent: String,
    name: String,
    description: String,
    text: String,
    pinned: bool,
    version: u64,
    changed_at: i64,
    /// The agent that changed it last; `null` if the caller did.
    author: Option<AuthorView>,
}

/// The agent that changed a memory last.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MemoryAuthor")]
struct AuthorView {
    agent: String,
    chat: Option<ChatId>,
}

impl From<Memory> for MemoryView {
    fn from(memory: Memory) -> Self {
        let Memory {
            id,
            content,
            version,
            changed_at,
            author,
        } = memory;
        let MemoryContent {
            agent,
            name,
            description,
            text,
            pinned,
        } = content;
        let author = author.map(|MemoryAuthor { agent, chat }| AuthorView { agent, chat });
        Self {
            id,
            agent,
            name,
            description,
            text,
            pinned,
            version,
            changed_at,
            author,
        }
    }
}

/// Memories, by name.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MemoryList {
    memories: Vec<MemoryView>,
}

/// The content of a memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "MemoryContent")]
pub(super) struct MemoryBody {
    /// At most 80 characters.
    name: String,
    /// At most 8,000 characters.
    text: String,
    /// At most 300 characters.
    #[serde(default)]
    description: String,
    /// The only agent that has it; all if empty.
    #[serde(default)]
    agent: String,
    /// Whether agents always see all of it.
    #[serde(default)]
    pinned: bool,
}

impl MemoryBody {
    fn content(self) -> Result<MemoryContent, ApiError> {
        let one_line = |text: String, most: usize, refused: fn(u64) -> messages::Chats| {
            let text = text.trim().to_owned();
            match text.chars().count() > most || text.chars().any(char::is_control) {
                true => Err(ApiError::invalid(refused(most as u64))),
                false => Ok(text),
            }
        };
        let name = one_line(self.name, MAX_NAME_CHARS, |limit| {
            messages::Chats::LongMemoryName { limit }
        })?;
        if name.is_empty() {
            return Err(ApiError::invalid(messages::Chats::MemoryWithoutName));
        }
        let text = self.text.trim_end().to_owned();
        if text.chars().count() > MAX_TEXT_CHARS as usize {
            return Err(ApiError::invalid(messages::Chats::LongMemory {
                limit: MAX_TEXT_CHARS.into(),
            }));
        }
        Ok(MemoryContent {
            agent: one_line(self.agent, MAX_AGENT_CHARS, |limit| {
                messages::Chats::LongMemoryAgent { limit }
            })?,
            name,
            description: one_line(self.description, MAX_DESCRIPTION_CHARS, |limit| {
                messages::Chats::LongMemoryDescription { limit }
            })?,
            text,
            pinned: self.pinned,
        })
    }
}

/// An imported memory, checked like a new one.
pub(super) fn checked(memory: export::Memory) -> Result<MemoryContent, ApiError> {
    let export::Memory {
        agent,
        name,
        description,
        text,
        pinned,
        ..
    } = memory;
    MemoryBody {
        name,
        text,
        description,
        agent,
        pinned,
    }
    .content()
}

/// `GET /api/v1/memories`: all memories by name.
pub(super) async fn list(
    State(store): State<Store>,
    caller: Caller,
) -> Result<Json<MemoryList>, ApiError> {
    let memories = store.memories(caller.id()).await?;
    Ok(Json(MemoryList {
        memories: memories.into_iter().map(MemoryView::from).collect(),
    }))
}

/// `POST /api/v1/memories`: creates a memory.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(body): Json<MemoryBody>,
) -> Result<(StatusCode, Json<MemoryView>), ApiError> {
    let id = MemoryId::generate();
    let content = body.content()?;
    let change = MemoryChange::Create {
        id,
        content,
        max: MAX_BLOCKS,
    };
    Ok((
        StatusCode::CREATED,
        Json(make(&app, &caller, &change).await?),
    ))
}

/// `PUT /api/v1/memories/{memory}`: replaces the version in `If-Match`.
pub(super) async fn put(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<MemoryId>,
    headers: HeaderMap,
    Json(body): Json<MemoryBody>,
) -> Result<Json<MemoryView>, ApiError> {
    let version = expected_version(&headers)?.filter(|version| *version > 0);
    let missing =
        || ApiError::invalid("Send the version that you have seen, such as If-Match: \"3\".");
    let change = MemoryChange::Replace {
        id,
        content: body.content()?,
        version: version.ok_or_else(missing)?,
    };
    Ok(Json(make(&app, &caller, &change).await?))
}

/// `DELETE /api/v1/memories/{memory}`: with `If-Match`, only that version.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<MemoryId>,
    headers: HeaderMap,
) -> Result<StatusCode, ApiError> {
    let version = expected_version(&headers)?.filter(|version| *version > 0);
    make(&app, &caller, &MemoryChange::Delete { id, version }).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn make(app: &App, caller: &Caller, change: &MemoryChange) -> Result<MemoryView, ApiError> {
    app.runs
        .tell_memory_update(caller.id(), || make_now(app, caller, change))
        .await
}

async fn make_now(
    app: &App,
    caller: &Caller,
    change: &MemoryChange,
) -> Result<MemoryView, ApiError> {
    match app
        .store
        .change_memory(caller.id(), change, None, app.clock.now_ms())
        .await
    {
        Ok(MemoryChanged::Now(memory)) => Ok((*memory).into()),
        // Only a tool call can be a repetition.
        Ok(MemoryChanged::Before(_)) => Err(ApiError::conflict("This change was made before.")),
        Err(StoreError::Conflict("name")) => {
            Err(ApiError::conflict(messages::Chats::MemoryNameTaken))
        }
        Err(StoreError::Conflict("limit")) => {
            Err(ApiError::conflict(messages::Chats::TooManyMemories {
                count: MAX_BLOCKS.into(),
            }))
        }
        Err(StoreError::Conflict("version")) => {
            Err(ApiError::conflict(messages::Chats::MemoryChanged))
        }
        Err(error) => Err(error.into()),
    }
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/memories",
        list,
        "Lists the texts that agents keep about the caller, by name",
    );
    api.operation("POST /api/v1/memories", "Creates a memory")
        .details("409 if the name is taken, or if there are 100.")
        .body::<MemoryBody>()
        .answers::<MemoryView>(201)
        .errors(&[409]);
    api.handler("PUT /api/v1/memories/{memory}", put, "Changes a memory")
        .details("409 if it has changed meanwhile.")
        .header("If-Match", "The version that was seen: `\"3\"`.")
        .errors(&[409]);
    api.handler(
        "DELETE /api/v1/memories/{memory}",
        delete,
        "Deletes a memory",
    )
    .header("If-Match", "Deletes only this version.")
    .errors(&[409]);
}
