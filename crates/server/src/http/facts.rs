//! What agents have learned about the caller, and what the caller lets them do with the memory.

use agent::learning::MAX_FACT_CHARS;
use axum::{extract::State, http::StatusCode};
use domain::{ChatId, FactId, MessageId, refusal};
use serde::{Deserialize, Serialize};
use store::{Fact, MemoryUse, Store};

use crate::{
    error::ApiError,
    http::extract::{Json, Path},
    identity::auth::Caller,
    platform::clock::Clock,
    runtime::runs::Runs,
};

#[derive(Debug, Serialize)]
pub(super) struct FactView {
    id: FactId,
    text: String,
    chat: Option<ChatId>,
    message: Option<MessageId>,
    learned_at: i64,
    corrected: bool,
}

impl From<Fact> for FactView {
    fn from(fact: Fact) -> Self {
        let Fact {
            id,
            text,
            chat,
            message,
            learned_at,
            corrected,
        } = fact;
        Self {
            id,
            text,
            chat,
            message,
            learned_at,
            corrected,
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct FactList {
    facts: Vec<FactView>,
}

/// `GET /api/v1/facts`: oldest first.
pub(super) async fn list(
    State(store): State<Store>,
    caller: Caller,
) -> Result<Json<FactList>, ApiError> {
    let facts = store.facts(caller.id()).await?;
    Ok(Json(FactList {
        facts: facts.into_iter().map(FactView::from).collect(),
    }))
}

#[derive(Debug, Deserialize)]
pub(super) struct FactBody {
    text: String,
}

/// `PUT /api/v1/facts/{fact}`: in the caller's own words.
pub(super) async fn put(
    State(runs): State<Runs>,
    State(store): State<Store>,
    caller: Caller,
    Path(id): Path<FactId>,
    Json(body): Json<FactBody>,
) -> Result<Json<FactView>, ApiError> {
    let text = body.text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() || text.chars().count() > MAX_FACT_CHARS {
        return Err(ApiError::invalid(refusal::Chats::BadFact {
            limit: MAX_FACT_CHARS as u64,
        }));
    }
    let correct = || store.correct_fact(caller.id(), id, &text);
    Ok(Json(
        runs.tell_memory_update(caller.id(), correct).await?.into(),
    ))
}

/// `DELETE /api/v1/facts/{fact}`
pub(super) async fn delete(
    State(runs): State<Runs>,
    State(store): State<Store>,
    caller: Caller,
    Path(id): Path<FactId>,
) -> Result<StatusCode, ApiError> {
    runs.tell_memory_update(caller.id(), || store.forget_fact(caller.id(), id))
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/v1/facts`: all of them.
pub(super) async fn delete_all(
    State(clock): State<Clock>,
    State(runs): State<Runs>,
    State(store): State<Store>,
    caller: Caller,
) -> Result<StatusCode, ApiError> {
    let forget = || store.forget_all_facts(caller.id(), clock.now_ms());
    runs.tell_memory_update(caller.id(), forget).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What the caller lets agents do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct UseView {
    uses_memory: bool,
    learns: bool,
}

/// `GET /api/v1/memory-use`
pub(super) async fn get_use(
    State(store): State<Store>,
    caller: Caller,
) -> Result<Json<UseView>, ApiError> {
    let MemoryUse {
        uses_memory,
        learns_since,
    } = store.memory_use(caller.id()).await?;
    Ok(Json(UseView {
        uses_memory,
        learns: learns_since.is_some(),
    }))
}

/// `PUT /api/v1/memory-use`: what was written while learning was off is never learned from.
pub(super) async fn put_use(
    State(clock): State<Clock>,
    State(store): State<Store>,
    caller: Caller,
    Json(wanted): Json<UseView>,
) -> Result<Json<UseView>, ApiError> {
    let before = store.memory_use(caller.id()).await?;
    let was_learning = before.learns_since.filter(|_| before.uses_memory);
    let now = clock.now_ms();
    let learns_since = wanted.learns.then(|| was_learning.unwrap_or(now));
    let after = MemoryUse {
        uses_memory: wanted.uses_memory,
        learns_since,
    };
    store.put_memory_use(caller.id(), after).await?;
    Ok(Json(wanted))
}
