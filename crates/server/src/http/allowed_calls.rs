//! Standing approvals: tool calls that the caller has allowed permanently.

use std::collections::BTreeMap;

use axum::{extract::State, http::StatusCode};
use domain::{AllowedCallId, ChatId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use store::{AllowedCall, Store};

use crate::{
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::auth::Caller,
};

/// A [standing approval](docs/agents/approvals.md#standing-approvals).
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AllowedCall")]
struct AllowedView {
    id: AllowedCallId,
    /// The only chat that it is for; `null` for all.
    chat: Option<ChatId>,
    tool: String,
    /// Patterns that the arguments have to match, by name; `null` for any.
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    arguments: Option<Value>,
    created_at: i64,
}

/// Standing approvals.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AllowedCallList")]
pub(super) struct AllowedList {
    allowed: Vec<AllowedView>,
}

/// `GET /api/v1/allowed-calls`: lists the caller's standing approvals, the oldest first.
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

/// `DELETE /api/v1/allowed-calls/{allowed}`: deletes a standing approval; takes effect for runs that start afterwards.
pub(super) async fn delete(
    State(store): State<Store>,
    caller: Caller,
    Path(allowed): Path<AllowedCallId>,
) -> Result<StatusCode, ApiError> {
    store.ask_again(caller.id(), allowed).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/allowed-calls",
        list,
        "Lists the caller's [standing approvals](docs/agents/approvals.md#standing-approvals)",
    );
    api.handler(
        "DELETE /api/v1/allowed-calls/{allowed}",
        delete,
        "Deletes a standing approval",
    )
    .details("Runs that start from now on ask again.");
}
