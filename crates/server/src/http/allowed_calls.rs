//! Tool calls that the caller has allowed for good.

use axum::{extract::State, http::StatusCode};
use domain::{AllowedCallId, ChatId};
use serde::Serialize;
use serde_json::Value;
use store::{AllowedCall, Store};

use crate::{
    error::ApiError,
    http::extract::{Json, Path},
    identity::auth::Caller,
};

/// One of them, as the API shows it.
#[derive(Debug, Serialize)]
struct AllowedView {
    id: AllowedCallId,
    chat: Option<ChatId>,
    tool: String,
    arguments: Option<Value>,
    created_at: i64,
}

#[derive(Debug, Serialize)]
pub(super) struct AllowedList {
    allowed: Vec<AllowedView>,
}

/// `GET /api/v1/allowed-calls`: what the caller has allowed, oldest first.
pub(super) async fn list(
    State(store): State<Store>,
    caller: Caller,
) -> Result<Json<AllowedList>, ApiError> {
    let view = |AllowedCall {
                    id,
                    chat,
                    tool,
                    arguments,
                    created_at,
                    ..
                }| AllowedView {
        id,
        chat,
        tool,
        arguments,
        created_at,
    };
    let allowed = store.allowed_calls(caller.id()).await?;
    Ok(Json(AllowedList {
        allowed: allowed.into_iter().map(view).collect(),
    }))
}

/// `DELETE /api/v1/allowed-calls/{allowed}`: asks again, in runs that start from now on.
pub(super) async fn delete(
    State(store): State<Store>,
    caller: Caller,
    Path(allowed): Path<AllowedCallId>,
) -> Result<StatusCode, ApiError> {
    store.ask_again(caller.id(), allowed).await?;
    Ok(StatusCode::NO_CONTENT)
}
