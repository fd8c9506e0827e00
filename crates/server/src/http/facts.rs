//! The facts that agents have learned about the caller, and the caller's settings for the memory.

use agent::learning::MAX_FACT_CHARS;
use axum::{extract::State, http::StatusCode};
use domain::{ChatId, FactId, MessageId};
use run_registry::Runs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Fact, MemoryUse, Store};

use crate::{
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::auth::Caller,
    messages,
    platform::clock::Clock,
};

/// A fact that was learned about the caller. There are at most 50.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Fact")]
pub(super) struct FactView {
    id: FactId,
    /// At most 300 characters.
    text: String,
    /// The chat that it was learned from.
    chat: Option<ChatId>,
    /// The message that it was learned from.
    message: Option<MessageId>,
    learned_at: i64,
    /// Whether it is in the caller's words, which learning does not change.
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

/// Facts, the oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FactList {
    facts: Vec<FactView>,
}

/// `GET /api/v1/facts`: lists the facts, the oldest first.
pub(super) async fn list(
    State(store): State<Store>,
    caller: Caller,
) -> Result<Json<FactList>, ApiError> {
    let facts = store.facts(caller.id()).await?;
    Ok(Json(FactList {
        facts: facts.into_iter().map(FactView::from).collect(),
    }))
}

/// A fact in the caller's words.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "FactChange")]
pub(super) struct FactBody {
    /// At most 300 characters.
    text: String,
}

/// `PUT /api/v1/facts/{fact}`: replaces a fact with the caller's own words.
pub(super) async fn put(
    State(runs): State<Runs>,
    State(store): State<Store>,
    caller: Caller,
    Path(id): Path<FactId>,
    Json(body): Json<FactBody>,
) -> Result<Json<FactView>, ApiError> {
    let text = body.text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() || text.chars().count() > MAX_FACT_CHARS {
        return Err(ApiError::invalid(messages::Chats::BadFact {
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

/// `DELETE /api/v1/facts`: deletes all facts.
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

/// What agents may do with the memory. Applies to runs that start from now on.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MemoryUse")]
pub(super) struct UseView {
    /// Whether agents may use it; true by default.
    uses_memory: bool,
    /// Whether agents learn about the caller from what the caller writes; false by default. What was written while
    /// it was off is never learned from.
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

/// `PUT /api/v1/memory-use`: changes the settings. What was written while learning was off is never learned from.
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

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/memory-use",
        get_use,
        "Returns what agents may do with the memory",
    );
    api.handler(
        "PUT /api/v1/memory-use",
        put_use,
        "Sets what agents may do with the memory",
    );
    api.handler(
        "GET /api/v1/facts",
        list,
        "Lists the facts that were learned about the caller, the oldest first",
    );
    api.handler("DELETE /api/v1/facts", delete_all, "Deletes all facts")
        .details("Nothing that was written until now is learned from again.");
    api.handler(
        "PUT /api/v1/facts/{fact}",
        put,
        "Rewrites a fact in the caller's words",
    )
    .errors(&[409]);
    api.handler("DELETE /api/v1/facts/{fact}", delete, "Deletes a fact")
        .details("It does not come back from the same messages.");
}
