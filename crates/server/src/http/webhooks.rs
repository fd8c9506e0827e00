//! Addresses of the caller that are told when a background run has ended.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{Coded, RunId, WebhookId, Words, refusal};
use serde::{Deserialize, Serialize};
use store::{Store, StoreError, Webhook};

use crate::{
    app::App,
    chat::webhooks::{MOST, Webhooks},
    error::ApiError,
    http::extract::{Json, Path},
    identity::auth::Caller,
    platform::clock::Clock,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewWebhook {
    url: String,
}

#[derive(Debug, Serialize)]
struct DeliveryView {
    run: RunId,
    state: &'static str,
    attempts: u32,
    tried_at: Option<i64>,
    next_at: Option<i64>,
    problem: Option<String>,
    /// The same by its code.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<Box<Coded>>,
}

#[derive(Debug, Serialize)]
pub(super) struct WebhookView {
    id: WebhookId,
    /// Nothing where it cannot be opened with this server's key file.
    url: Option<String>,
    created_at: i64,
    last: Option<DeliveryView>,
}

#[derive(Debug, Serialize)]
pub(super) struct WebhookList {
    webhooks: Vec<WebhookView>,
}

#[derive(Debug, Serialize)]
pub(super) struct Created {
    #[serde(flatten)]
    webhook: WebhookView,
    secret: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Tried {
    problem: Option<String>,
    /// The same by its code.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<Box<Coded>>,
}

/// `GET /api/v1/webhooks`: oldest first.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
) -> Result<Json<WebhookList>, ApiError> {
    let webhooks = app.store.webhooks(caller.id()).await?;
    Ok(Json(WebhookList {
        webhooks: webhooks
            .into_iter()
            .map(|webhook| view(&app, webhook))
            .collect(),
    }))
}

/// `POST /api/v1/webhooks`: the secret is shown this once.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(new): Json<NewWebhook>,
) -> Result<Json<Created>, ApiError> {
    let (webhook, address) = app
        .webhooks
        .new_address(caller.id(), &new.url, app.clock.now_ms())?;
    app.store
        .create_webhook(&webhook, MOST)
        .await
        .map_err(|error| match error {
            StoreError::Conflict(_) => {
                ApiError::conflict(refusal::Settings::TooManyWebhooks { count: MOST as u64 })
            }
            error => error.into(),
        })?;
    Ok(Json(Created {
        webhook: view(&app, webhook),
        secret: address.secret,
    }))
}

/// `DELETE /api/v1/webhooks/{webhook}`
pub(super) async fn delete(
    State(store): State<Store>,
    caller: Caller,
    Path(id): Path<WebhookId>,
) -> Result<StatusCode, ApiError> {
    store.delete_webhook(caller.id(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/v1/webhooks/{webhook}/test`: sends something now, once.
pub(super) async fn test(
    State(clock): State<Clock>,
    State(store): State<Store>,
    State(webhooks): State<Arc<Webhooks>>,
    caller: Caller,
    Path(id): Path<WebhookId>,
) -> Result<Json<Tried>, ApiError> {
    let all = store.webhooks(caller.id()).await?;
    let webhook = all
        .into_iter()
        .find(|webhook| webhook.id == id)
        .ok_or(StoreError::NotFound)?;
    let tried = webhooks.try_out(&webhook, clock.now_ms()).await?;
    let (problem, sentence) = apart(tried.err());
    Ok(Json(Tried { problem, sentence }))
}

fn view(app: &App, webhook: Webhook) -> WebhookView {
    let url = app
        .webhooks
        .address(&webhook)
        .ok()
        .map(|address| address.url);
    let last = webhook.last.map(|last| {
        let (problem, sentence) = apart(last.problem.map(Words::of_column));
        let state = match (last.due_at, &problem) {
            (Some(_), _) => "pending",
            (None, Some(_)) => "failed",
            (None, None) => "delivered",
        };
        let (run, attempts, tried_at) = (last.run, last.attempts, last.tried_at);
        DeliveryView {
            run,
            state,
            attempts,
            tried_at,
            next_at: last.due_at,
            problem,
            sentence,
        }
    });
    WebhookView {
        id: webhook.id,
        url,
        created_at: webhook.created_at,
        last,
    }
}

fn apart(problem: Option<Words>) -> (Option<String>, Option<Box<Coded>>) {
    match problem {
        Some(Words { message, sentence }) => (Some(message), sentence),
        None => (None, None),
    }
}
