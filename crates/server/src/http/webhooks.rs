//! Webhooks of the caller, which are notified when a background run has ended.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{LocalizedText, MessageCode, RunId, WebhookId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Store, StoreError, Webhook};

use crate::{
    app::App,
    chat::webhooks::{MAX_WEBHOOKS, Webhooks},
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::auth::Caller,
    messages,
    platform::clock::Clock,
};

/// A new webhook.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewWebhook {
    url: String,
}

/// A delivery of a webhook.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WebhookDelivery")]
struct DeliveryView {
    run: RunId,
    #[schemars(extend("enum" = ["pending", "delivered", "failed"]))]
    state: &'static str,
    attempts: u32,
    tried_at: Option<i64>,
    next_at: Option<i64>,
    /// The error of the last attempt.
    problem: Option<String>,
    /// The same as a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<Box<MessageCode>>,
}

/// An address that is notified when a background run has ended.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Webhook")]
pub(super) struct WebhookView {
    id: WebhookId,
    /// `null` if it cannot be decrypted with this server's key file.
    url: Option<String>,
    created_at: i64,
    /// The latest delivery.
    last: Option<DeliveryView>,
}

/// Webhooks, the oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WebhookList {
    webhooks: Vec<WebhookView>,
}

/// A new webhook with its secret, which is shown this once.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WebhookWithSecret")]
pub(super) struct Created {
    #[serde(flatten)]
    webhook: WebhookView,
    secret: String,
}

/// The outcome of a test.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WebhookTest")]
pub(super) struct Tried {
    /// The error; `null` if there was none.
    problem: Option<String>,
    /// The same as a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<Box<MessageCode>>,
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

/// `POST /api/v1/webhooks`: the secret is returned only here.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(new): Json<NewWebhook>,
) -> Result<Json<Created>, ApiError> {
    let (webhook, address) = app
        .webhooks
        .new_address(caller.id(), &new.url, app.clock.now_ms())?;
    app.store
        .create_webhook(&webhook, MAX_WEBHOOKS)
        .await
        .map_err(|error| match error {
            StoreError::Conflict(_) => ApiError::conflict(messages::Settings::TooManyWebhooks {
                count: MAX_WEBHOOKS as u64,
            }),
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

/// `POST /api/v1/webhooks/{webhook}/test`: sends one test request now.
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
        let (problem, sentence) = apart(last.problem.map(LocalizedText::of_column));
        let state = match (last.due_at, &problem) {
            (Some(_), _) => "pending",
            (None, Some(_)) => "failed",
            (None, None) => "delivered",
        };
        let run = last.run;
        let attempts = last.attempts;
        let tried_at = last.tried_at;
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

fn apart(problem: Option<LocalizedText>) -> (Option<String>, Option<Box<MessageCode>>) {
    match problem {
        Some(LocalizedText { message, sentence }) => (Some(message), sentence),
        None => (None, None),
    }
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/webhooks",
        list,
        "Lists the caller's webhooks, the oldest first",
    );
    api.handler(
        "POST /api/v1/webhooks",
        create,
        "Creates a webhook; its secret is shown this once",
    )
    .details("409 if there are 10.")
    .errors(&[409]);
    api.handler(
        "DELETE /api/v1/webhooks/{webhook}",
        delete,
        "Deletes a webhook; pending deliveries are dropped",
    );
    api.handler(
        "POST /api/v1/webhooks/{webhook}/test",
        test,
        "Sends `{\"type\": \"test\", …}` to a webhook now, once",
    )
    .errors(&[409]);
}
