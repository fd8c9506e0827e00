//! Push notifications: the browsers of the caller that get them.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, header},
};
use domain::PushSubscriptionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::Store;

use crate::{
    chat::push::{Push, PushAddress},
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::auth::{Caller, Credential},
    messages,
};

/// A browser that gets push notifications.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PushSubscription")]
struct SubscriptionView {
    id: PushSubscriptionId,
    /// The host of its push service; `null` if it cannot be decrypted with this server's key file.
    service: Option<String>,
    created_at: i64,
}

/// The browsers of the caller that get push notifications, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PushSubscriptions {
    /// The server's public key, the `applicationServerKey` to subscribe with, in base64url.
    public_key: String,
    subscriptions: Vec<SubscriptionView>,
}

/// `GET /api/v1/push-subscriptions`: the server's key, and the caller's browsers, oldest first.
pub(super) async fn list(
    State(push): State<Arc<Push>>,
    caller: Caller,
) -> Result<Json<PushSubscriptions>, ApiError> {
    let subscriptions = push.subscriptions(caller.id()).await?;
    let view = |(subscription, service): (store::PushSubscription, _)| SubscriptionView {
        id: subscription.id,
        service,
        created_at: subscription.created_at,
    };
    Ok(Json(PushSubscriptions {
        public_key: push.public_key().await?.to_owned(),
        subscriptions: subscriptions.into_iter().map(view).collect(),
    }))
}

/// A subscription, as `PushSubscription.toJSON()` of a browser has it.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "NewPushSubscription")]
pub(super) struct NewSubscription {
    /// The address at the push service, `https` and at most 2,000 bytes.
    endpoint: String,
    keys: Keys,
    /// The language of the notifications, such as `en`.
    #[serde(default)]
    language: String,
}

/// The keys for which messages are encrypted.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "PushKeys")]
struct Keys {
    /// A point of P-256 in base64url.
    p256dh: String,
    /// 16 bytes in base64url.
    auth: String,
}

/// A new subscription.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CreatedPushSubscription")]
pub(super) struct Created {
    id: PushSubscriptionId,
}

/// `POST /api/v1/push-subscriptions`: replaces an earlier one of the same browser.
pub(super) async fn create(
    State(push): State<Arc<Push>>,
    caller: Caller,
    headers: HeaderMap,
    Json(new): Json<NewSubscription>,
) -> Result<Json<Created>, ApiError> {
    let session = match caller.credential {
        Credential::Session(session) => Some(session),
        Credential::Proxy | Credential::Local => None,
        // It would outlive the key, and its scopes.
        Credential::Key(_) => {
            return Err(ApiError::forbidden(messages::Settings::PushNeedsBrowser));
        }
    };
    let origin = headers.get(header::ORIGIN).and_then(|it| it.to_str().ok());
    let address = PushAddress {
        endpoint: new.endpoint,
        p256dh: new.keys.p256dh,
        auth: new.keys.auth,
        language: new.language.chars().take(35).collect(),
        origin: origin.map(str::to_owned),
    };
    let id = push.subscribe(caller.id(), session, address).await?;
    Ok(Json(Created { id }))
}

/// `DELETE /api/v1/push-subscriptions/{subscription}`: ends one.
pub(super) async fn delete(
    State(store): State<Store>,
    caller: Caller,
    Path(subscription): Path<PushSubscriptionId>,
) -> Result<StatusCode, ApiError> {
    let owner = caller.id();
    store.delete_push_subscription(owner, subscription).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/push-subscriptions",
        list,
        "Returns the server's key for push notifications, and the caller's browsers that get them",
    );
    api.handler(
        "POST /api/v1/push-subscriptions",
        create,
        "Subscribes a browser to push notifications, at most 20 per user",
    )
    .details("It replaces an earlier subscription of the same browser, and ends with the caller's session; API keys are \
         refused. What is sent: \
         [Notifications](docs/team/notifications.md).")
    .errors(&[409]);
    api.handler(
        "DELETE /api/v1/push-subscriptions/{subscription}",
        delete,
        "Ends a subscription to push notifications",
    );
}
