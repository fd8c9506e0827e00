//! API keys: create, list, rotate and delete.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::ApiKeyId;
use llm::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{ApiKey, ApiKeyRights, KeyScope, Store, UserRole};

use crate::{
    app::App,
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::{
        Identity,
        api_key::{KeyName, create_key_for, rotate_key},
        audit::Noted,
        auth::Caller,
        groups::Right,
    },
    messages,
    platform::clock::Clock,
};

/// Maximum number of models that a key can be limited to.
const MAX_MODELS: usize = 200;
const MAX_MODEL_BYTES: usize = 300;
/// Length of a signing key, bytes.
const SIGNING_KEY_BYTES: std::ops::RangeInclusive<usize> = 16..=500;
/// How long the previous secret stays valid after a rotation by default, seconds.
const GRACE_S: u64 = 24 * 3600;
const MAX_GRACE_S: u64 = 30 * 24 * 3600;

/// An API key; its secret is shown only when it is created.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ApiKey")]
pub(super) struct KeyView {
    id: ApiKeyId,
    name: String,
    created_at: i64,
    last_used_at: Option<i64>,
    /// The first characters of the secret.
    prefix: String,
    /// What it may do; `null` if everything that its owner may.
    scopes: Option<Vec<KeyScope>>,
    /// Ids of the only models it works for; `null` if all.
    models: Option<Vec<String>>,
    /// When it stops working; `null` if never.
    expires_at: Option<i64>,
    /// Whether it is the key of a [front end](docs/integrate/front-ends.md).
    front_end: bool,
    /// Whether the front end has to sign the identities of its people.
    signs: bool,
    /// Until when the previous secret works; `null` if it does not.
    old_until: Option<i64>,
}

impl KeyView {
    fn of(key: ApiKey, now_ms: i64) -> Self {
        let ApiKey {
            id,
            name,
            prefix,
            created_at,
            last_used_at,
            rights,
            signs,
            old_until,
        } = key;
        let ApiKeyRights {
            scopes,
            models,
            expires_at,
            front_end,
        } = rights;
        let old_until = old_until.filter(|until| *until > now_ms);
        Self {
            id,
            name,
            created_at,
            last_used_at,
            prefix,
            scopes,
            models,
            expires_at,
            front_end,
            signs,
            old_until,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ApiKeyList")]
pub(super) struct KeyList {
    keys: Vec<KeyView>,
}

/// `GET /api/v1/keys`: lists the caller's keys.
pub(super) async fn list(
    State(clock): State<Clock>,
    State(store): State<Store>,
    caller: Caller,
) -> Result<Json<KeyList>, ApiError> {
    let keys = store.api_keys(caller.id()).await?;
    let now_ms = clock.now_ms();
    Ok(Json(KeyList {
        keys: keys
            .into_iter()
            .map(|key| KeyView::of(key, now_ms))
            .collect(),
    }))
}

/// A new key of the caller.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "NewApiKey")]
pub(super) struct CreateKey {
    name: String,
    /// What it may do; if absent, everything that its owner may.
    scopes: Option<Vec<KeyScope>>,
    /// Ids of the only models it works for, as in `GET /v1/models`, including those of sub-agents, fallbacks and
    /// pipelines; an agent brings its own model. Such a key can have only the scopes `chat` and `read`, and sees on
    /// `/ws` and in the activity only what it began.
    models: Option<Vec<String>>,
    /// When it stops working, milliseconds since 1970-01-01 UTC; never if absent.
    expires_at: Option<i64>,
    /// Makes it the key of a [trusted front end](docs/integrate/front-ends.md), whose program acts for users of its
    /// own. Only for administrators.
    #[serde(default)]
    front_end: bool,
    /// 16 to 500 bytes with which the front end has to sign the identities of its people.
    signing_key: Option<String>,
}

/// A key with its secret, which is shown this once.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ApiKeyWithSecret")]
pub(super) struct CreatedKey {
    key: KeyView,
    /// `gh_…`
    secret: String,
}

/// `POST /api/v1/keys`: creates a key and returns its secret, which is shown only once.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    noted: Noted,
    Json(body): Json<CreateKey>,
) -> Result<Json<CreatedKey>, ApiError> {
    app.gateway.permit_of(&caller).check(Right::ApiKeys)?;
    let name = KeyName::parse(&body.name)?;
    let now_ms = app.clock.now_ms();
    let is_admin = caller.user.role == UserRole::Admin;
    let signing_key = checked_signing_key(body.signing_key, body.front_end)?;
    let rights = ApiKeyRights {
        scopes: body.scopes,
        models: body.models,
        expires_at: body.expires_at,
        front_end: body.front_end,
    };
    let rights = checked_rights(rights, is_admin, now_ms)?;
    let signing = signing_key.map(|secret| (&*app.sealer, secret));
    noted.with("scopes", &rights.scopes);
    noted.with("front_end", rights.front_end.then_some(true));
    let (key, secret) =
        create_key_for(&app.store, caller.id(), name, rights, signing, now_ms).await?;
    noted.about(key.id, &key.name);
    Ok(Json(CreatedKey {
        key: KeyView::of(key, now_ms),
        secret: secret.reveal().to_owned(),
    }))
}

/// Rejects rights that are invalid or more than the caller may grant.
fn checked_rights(
    mut rights: ApiKeyRights,
    is_admin: bool,
    now_ms: i64,
) -> Result<ApiKeyRights, ApiError> {
    let about = |message: messages::Accounts, field| {
        Err(ApiError::invalid(message).with_field(Some(field)))
    };
    if let Some(scopes) = &mut rights.scopes {
        scopes.sort_by_key(|scope| *scope as u8);
        scopes.dedup();
        if scopes.is_empty() {
            return about(messages::Accounts::NoScopes, "scopes");
        }
        if scopes.contains(&KeyScope::Admin) && !is_admin {
            return Err(ApiError::forbidden(messages::Accounts::NoAdminScope));
        }
    }
    if rights.front_end && !is_admin {
        return Err(ApiError::forbidden(messages::Accounts::NoFrontEndKey));
    }
    if let Some(models) = &rights.models {
        let is_bad = |model: &String| model.trim().is_empty() || model.len() > MAX_MODEL_BYTES;
        if models.is_empty() || models.len() > MAX_MODELS || models.iter().any(is_bad) {
            return about(messages::Accounts::BadKeyModels, "models");
        }
        let uses_only = |scopes: &Vec<KeyScope>| {
            scopes
                .iter()
                .all(|scope| matches!(scope, KeyScope::Chat | KeyScope::Read))
        };
        if !rights.scopes.as_ref().is_some_and(uses_only) {
            // With other scopes the key could use models in other ways, such as through a schedule.
            let message = messages::Accounts::ScopesOfModelKey;
            return about(message, "scopes");
        }
    }
    if rights.expires_at.is_some_and(|at| at <= now_ms) {
        return about(messages::Accounts::ExpiredAlready, "expires_at");
    }
    Ok(rights)
}

fn checked_signing_key(key: Option<String>, front_end: bool) -> Result<Option<Secret>, ApiError> {
    match key {
        None => Ok(None),
        Some(key) if front_end && SIGNING_KEY_BYTES.contains(&key.len()) => {
            Ok(Some(Secret::new(key)))
        }
        Some(_) => {
            let message = messages::Accounts::BadSigningKey;
            Err(ApiError::invalid(message).with_field(Some("signing_key")))
        }
    }
}

/// How to replace a secret.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "KeyRotation")]
pub(super) struct Rotate {
    /// For how many seconds the previous secret keeps working: 86400 by default, at most 2592000, 0 for not at all.
    grace_s: Option<u64>,
}

/// `POST /api/v1/keys/{key}/rotate`: creates a new secret for the key, shown only once. The previous one stays valid
/// for a while.
pub(super) async fn rotate(
    State(app): State<Arc<App>>,
    caller: Caller,
    noted: Noted,
    Path(key): Path<ApiKeyId>,
    Json(body): Json<Rotate>,
) -> Result<Json<CreatedKey>, ApiError> {
    app.gateway.permit_of(&caller).check(Right::ApiKeys)?;
    let grace_s = body.grace_s.unwrap_or(GRACE_S);
    if grace_s > MAX_GRACE_S {
        let message = "`grace_s` is 0 to 2,592,000 seconds, which is 30 days.";
        return Err(ApiError::invalid(message).with_field(Some("grace_s")));
    }
    let now_ms = app.clock.now_ms();
    let grace_ms = i64::try_from(grace_s).unwrap_or(0) * 1000;
    let old_until = (grace_s > 0).then_some(now_ms + grace_ms);
    let (view, secret) = rotate_key(&app.store, caller.id(), key, old_until, now_ms).await?;
    app.identity.known_keys.forget(key);
    noted.called(&view.name);
    noted.with("old_good_for_s", grace_s);
    Ok(Json(CreatedKey {
        key: KeyView::of(view, now_ms),
        secret: secret.reveal().to_owned(),
    }))
}

/// `DELETE /api/v1/keys/{key}`: revokes the key.
pub(super) async fn delete(
    State(clock): State<Clock>,
    State(identity): State<Arc<Identity>>,
    State(store): State<Store>,
    caller: Caller,
    Path(key): Path<ApiKeyId>,
) -> Result<StatusCode, ApiError> {
    store
        .delete_api_key(caller.id(), key, clock.now_ms())
        .await?;
    identity.known_keys.forget(key);
    Ok(StatusCode::NO_CONTENT)
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler("GET /api/v1/keys", list, "Lists the caller's API keys");
    api.handler(
        "POST /api/v1/keys",
        create,
        "Creates an API key; its secret is shown this once",
    )
    .details(
        "Keys are created, rotated and deleted in a browser, or with a key that has neither scopes nor an expiry.",
    )
    .errors(&[409]);
    api.handler(
        "POST /api/v1/keys/{key}/rotate",
        rotate,
        "Replaces a key's secret, which is shown this once",
    )
    .errors(&[409]);
    api.handler("DELETE /api/v1/keys/{key}", delete, "Deletes an API key")
        .details("Streams and WebSockets that were opened with it end within a second, on all servers. Runs continue.");
}
