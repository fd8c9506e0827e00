//! Bearer keys for programs.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::ApiKeyId;
use serde::{Deserialize, Serialize};
use store::ApiKey;

use crate::{
    api_key::{KeyName, create_key},
    app::App,
    auth::Caller,
    error::ApiError,
    extract::{Json, Path},
};

/// A key as the API shows it: never the secret.
#[derive(Debug, Serialize)]
pub(super) struct KeyView {
    id: ApiKeyId,
    name: String,
    created_at: i64,
    last_used_at: Option<i64>,
    prefix: String,
}

impl From<ApiKey> for KeyView {
    fn from(key: ApiKey) -> Self {
        let ApiKey { id, name, prefix, created_at, last_used_at, .. } = key;
        Self { id, name, created_at, last_used_at, prefix }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct KeyList {
    keys: Vec<KeyView>,
}

/// `GET /api/v1/keys`: the caller's keys.
pub(super) async fn list(State(app): State<Arc<App>>, caller: Caller) -> Result<Json<KeyList>, ApiError> {
    let keys = app.store.api_keys(caller.id()).await?;
    Ok(Json(KeyList { keys: keys.into_iter().map(KeyView::from).collect() }))
}

#[derive(Debug, Deserialize)]
pub(super) struct CreateKey {
    name: String,
}

#[derive(Serialize)]
pub(super) struct CreatedKey {
    key: KeyView,
    secret: String,
}

/// `POST /api/v1/keys`: makes a key and shows its secret, this once.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(body): Json<CreateKey>,
) -> Result<Json<CreatedKey>, ApiError> {
    let name = KeyName::parse(&body.name)?;
    let (key, secret) = create_key(&app.store, caller.id(), name, app.clock.now_ms()).await?;
    Ok(Json(CreatedKey { key: key.into(), secret: secret.reveal().to_owned() }))
}

/// `DELETE /api/v1/keys/{key}`: the key stops working.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(key): Path<ApiKeyId>,
) -> Result<StatusCode, ApiError> {
    app.store.delete_api_key(caller.id(), key).await?;
    app.known_keys.forget(key);
    Ok(StatusCode::NO_CONTENT)
}
