//! Push notifications: tells the browsers of a person, also those without an open page, that a chat waits for them, or that
//! a long run has ended.

use std::{sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use data_encoding::BASE64URL_NOPAD;
use domain::{Outcome, PushSubscriptionId, SessionId, UserId};
use futures_util::future::join_all;
use llm::Secret;
use outbound::{Limits, Outbound, Request};
use reqwest::{
    Method, StatusCode, Url,
    header::{AUTHORIZATION, CONTENT_ENCODING, HeaderName},
};
use ring::digest;
use run_registry::{Activity, ActivityState, Runs};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{NewPushSubscription, PushSubscription, Store, StoreError};
use tokio::sync::{OnceCell, broadcast::error::RecvError};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    chat::receivers::receiver,
    error::ApiError,
    messages,
    platform::{
        clock::Clock,
        outbound_fault::of_fault,
        secret::{CannotOpen, Sealer},
        web_push::{BrowserKeys, VapidKey, encrypt},
    },
};

/// Maximum number of browsers per user.
const MAX_SUBSCRIPTIONS: u32 = 20;
/// How long a page has to show the news before browsers are told.
const GRACE: Duration = Duration::from_secs(15);
/// Runs that take less are waited for.
const LONG_RUN_MS: i64 = 60_000;
/// How long a push service keeps a message for a browser that is away: a day.
const KEPT_SECONDS: &str = "86400";
/// How much of a title is sent, characters.
const TITLE_CHARS: usize = 100;
/// Pauses before retries.
const PAUSES: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(60)];
/// The service's answer is not read, and redirects are not followed.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(15),
    body_bytes: 0,
    hops: 0,
};
/// The name of the setting with the server's key, and what it is sealed for.
const KEY: &str = "push_key";

/// Sends push notifications.
pub struct Push {
    clock: Clock,
    outbound: Outbound,
    runs: Runs,
    sealer: Arc<Sealer>,
    stopping: CancellationToken,
    store: Store,
    tasks: TaskTracker,
    key: OnceCell<VapidKey>,
}

/// Where to send a browser's messages; stored encrypted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PushAddress {
    /// The address at the push service.
    pub(crate) endpoint: String,
    pub(crate) p256dh: String,
    pub(crate) auth: String,
    /// The language of the notifications.
    pub(crate) language: String,
    /// The address of our page, by which a push service can find who runs this server.
    pub(crate) origin: Option<String>,
}

/// Why a notification could not be sent.
enum Failure {
    /// The subscription has ended.
    Gone,
    Retry(String),
    Other(String),
}

impl Push {
    pub(crate) fn new(
        clock: Clock,
        outbound: Outbound,
        runs: Runs,
        sealer: Arc<Sealer>,
        stopping: CancellationToken,
        store: Store,
        tasks: TaskTracker,
    ) -> Self {
        Self {
            clock,
            outbound,
            runs,
            sealer,
            stopping,
            store,
            tasks,
            key: OnceCell::new(),
        }
    }

    /// The public key of this server, with which browsers subscribe.
    pub(crate) async fn public_key(&self) -> Result<&str, ApiError> {
        Ok(self.key().await?.public())
    }

    async fn key(&self) -> Result<&VapidKey, ApiError> {
        self.key.get_or_try_init(|| self.load_key()).await
    }

    async fn load_key(&self) -> Result<VapidKey, ApiError> {
        let new = self.new_key()?;
        // The first server on the database decides.
        let stored = self.store.setting_or(KEY, &new).await?;
        if let Some(key) = self.open_key(&stored) {
            return Ok(key);
        }
        // Subscriptions with the earlier key end when the push services refuse this one.
        tracing::warn!(
            "replacing the key for push notifications: it cannot be decrypted with this server's key file"
        );
        self.store.put_setting(KEY, &new).await?;
        self.open_key(&new)
            .ok_or_else(|| ApiError::internal(CannotOpen))
    }

    fn new_key(&self) -> Result<Value, ApiError> {
        let key = VapidKey::generate().map_err(ApiError::internal)?;
        let sealed = self.sealer.seal(KEY, &Secret::new(STANDARD.encode(key)));
        Ok(json!(STANDARD.encode(sealed.map_err(ApiError::internal)?)))
    }

    fn open_key(&self, stored: &Value) -> Option<VapidKey> {
        let sealed = STANDARD.decode(stored.as_str()?).ok()?;
        let key = self.sealer.unseal(KEY, &sealed).ok()?;
        VapidKey::open(&STANDARD.decode(key.reveal()).ok()?)
    }

    /// Subscribes a browser.
    ///
    /// # Errors
    /// 4xx if its address or its keys are not valid, or the person has too many.
    pub(crate) async fn subscribe(
        &self,
        owner: UserId,
        session: Option<SessionId>,
        address: PushAddress,
    ) -> Result<PushSubscriptionId, ApiError> {
        let endpoint = receiver(&self.outbound, &address.endpoint)
            .map_err(|error| error.with_field(Some("endpoint")))?;
        if BrowserKeys::decode(&address.p256dh, &address.auth).is_none() {
            return Err(ApiError::invalid(messages::Settings::BadPushKeys).with_field(Some("keys")));
        }
        let id = PushSubscriptionId::generate();
        let address = PushAddress {
            endpoint: endpoint.into(),
            origin: address.origin.filter(|it| it.starts_with("https://")),
            ..address
        };
        let hash = digest::digest(&digest::SHA256, address.endpoint.as_bytes());
        let text = serde_json::to_string(&address).map_err(ApiError::internal)?;
        let sealed = self.sealer.seal(&sealed_for(owner, id), &Secret::new(text));
        let new = NewPushSubscription {
            subscription: PushSubscription {
                id,
                owner,
                sealed: sealed.map_err(ApiError::internal)?,
                created_at: self.clock.now_ms(),
            },
            session,
            endpoint_hash: hash.as_ref().try_into().map_err(ApiError::internal)?,
        };
        let stored = self.store.put_push_subscription(&new, MAX_SUBSCRIPTIONS);
        stored.await.map_err(|error| match error {
            StoreError::Conflict(_) => {
                ApiError::conflict(messages::Settings::TooManyPushSubscriptions {
                    count: MAX_SUBSCRIPTIONS.into(),
                })
            }
            error => error.into(),
        })?;
        Ok(id)
    }

    /// The person's subscriptions, and the host of the push service of each, if that can be decrypted.
    pub(crate) async fn subscriptions(
        &self,
        owner: UserId,
    ) -> Result<Vec<(PushSubscription, Option<String>)>, StoreError> {
        let now = self.clock.now_ms();
        let all = self.store.push_subscriptions(owner, now).await?;
        let with_host = |subscription: PushSubscription| {
            let address = self.address(&subscription).ok();
            let url = address.and_then(|address| Url::parse(&address.endpoint).ok());
            let host = url.and_then(|url| url.host_str().map(str::to_owned));
            (subscription, host)
        };
        Ok(all.into_iter().map(with_host).collect())
    }

    /// Follows the runs of this server until it stops.
    pub(crate) async fn follow(self: Arc<Self>) {
        let mut changes = self.runs.subscribe_own();
        loop {
            let change = tokio::select! {
                () = self.stopping.cancelled() => return,
                change = changes.recv() => change,
            };
            match change {
                Ok(activity) if is_news(&activity) => {
                    drop(self.tasks.spawn(Arc::clone(&self).tell_later(activity)));
                }
                Ok(_) => {}
                // Notifications that were missed are in the inbox and the list of chats.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn tell_later(self: Arc<Self>, activity: Activity) {
        let told = async {
            tokio::time::sleep(GRACE).await;
            self.tell(&activity).await
        };
        tokio::select! {
            () = self.stopping.cancelled() => {}
            told = told => if let Err(error) = told {
                tracing::info!(%error, "cannot send push notifications");
            }
        }
    }

    /// Notifies all browsers of the person, if it is still news.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn tell(&self, activity: &Activity) -> Result<(), StoreError> {
        let owner = activity.principal.account;
        let now = self.clock.now_ms();
        let subscriptions = self.store.push_subscriptions(owner, now).await?;
        if subscriptions.is_empty() || !self.is_still_news(activity).await? {
            return Ok(());
        }
        let told = subscriptions.iter().map(|it| self.tell_one(it, activity));
        join_all(told).await.into_iter().collect()
    }

    async fn is_still_news(&self, activity: &Activity) -> Result<bool, StoreError> {
        let (Some(run), Some(chat)) = (activity.run, activity.chat) else {
            return Ok(false);
        };
        let stored = match self.store.run(run).await {
            // Its chat was deleted.
            Err(StoreError::NotFound) => return Ok(false),
            stored => stored?,
        };
        if activity.state == ActivityState::Waiting {
            // A run that rests is not live; it waits until it is.
            let live = self.runs.live(run);
            let waits = live.is_none_or(|live| live.is_waiting());
            return Ok(waits && stored.finished_at.is_none());
        }
        let took = stored.finished_at.unwrap_or_default() - stored.started_at;
        Ok(took >= LONG_RUN_MS && self.store.chat(&activity.principal, chat).await?.unread)
    }

    /// Notifies a browser, or deletes its subscription if that has ended.
    async fn tell_one(
        &self,
        subscription: &PushSubscription,
        activity: &Activity,
    ) -> Result<(), StoreError> {
        let PushSubscription { id, owner, .. } = *subscription;
        let sent = match self.address(subscription) {
            Ok(address) => self.send_patiently(&address, activity).await,
            Err(CannotOpen) => Err(Failure::Gone),
        };
        match sent {
            Ok(()) => Ok(()),
            Err(Failure::Gone) => match self.store.delete_push_subscription(owner, id).await {
                Err(StoreError::NotFound) => Ok(()),
                deleted => deleted,
            },
            Err(Failure::Retry(why) | Failure::Other(why)) => {
                tracing::info!(subscription = %id, why, "cannot send a push notification");
                Ok(())
            }
        }
    }

    async fn send_patiently(
        &self,
        address: &PushAddress,
        activity: &Activity,
    ) -> Result<(), Failure> {
        for pause in PAUSES {
            match self.send(address, activity).await {
                Err(Failure::Retry(_)) => tokio::time::sleep(pause).await,
                sent => return sent,
            }
        }
        self.send(address, activity).await
    }

    async fn send(&self, address: &PushAddress, activity: &Activity) -> Result<(), Failure> {
        let ours = |error: &dyn std::error::Error| Failure::Other(error.to_string());
        let keys = BrowserKeys::decode(&address.p256dh, &address.auth).ok_or(Failure::Gone)?;
        let key = self.key().await.map_err(|error| ours(&error))?;
        // The settings may have changed since it was subscribed.
        let endpoint = self.outbound.address(&address.endpoint, &[]);
        let endpoint = endpoint.map_err(|fault| Failure::Other(of_fault(fault).message))?;
        let now = self.clock.now_ms();
        let authorization = key
            .authorization(&endpoint, address.origin.as_deref(), now)
            .map_err(|error| ours(&error))?;
        let text = text_of(activity, &address.language).to_string();
        let body = encrypt(&keys, text.as_bytes()).map_err(|error| ours(&error))?;
        let urgency = match activity.state {
            ActivityState::Waiting => "high",
            _ => "normal",
        };
        let header = HeaderName::from_static;
        let request = Request::new(Method::POST, endpoint, LIMITS)
            .body("application/octet-stream", body)
            .header(AUTHORIZATION, &authorization)
            .header(CONTENT_ENCODING, "aes128gcm")
            .header(header("ttl"), KEPT_SECONDS)
            .header(header("urgency"), urgency)
            // Of a chat only the latest message is kept for a browser that is away.
            .header(header("topic"), &topic_of(activity));
        let answer = self.outbound.send(request).await;
        let status = answer
            .map_err(|fault| Failure::Retry(of_fault(fault).message))?
            .status;
        match status {
            _ if status.is_success() => Ok(()),
            StatusCode::NOT_FOUND | StatusCode::GONE => Err(Failure::Gone),
            // The subscription was made with another key of ours.
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(Failure::Gone),
            StatusCode::TOO_MANY_REQUESTS => Err(Failure::Retry(status.to_string())),
            _ if status.is_server_error() => Err(Failure::Retry(status.to_string())),
            _ => Err(Failure::Other(status.to_string())),
        }
    }

    fn address(&self, subscription: &PushSubscription) -> Result<PushAddress, CannotOpen> {
        let owner = sealed_for(subscription.owner, subscription.id);
        let text = self.sealer.unseal(&owner, &subscription.sealed)?;
        serde_json::from_str(text.reveal()).map_err(|_| CannotOpen)
    }
}

/// Whether it concerns a run in a chat of an account, which waits or has ended by itself.
fn is_news(activity: &Activity) -> bool {
    activity.chat.is_some()
        && !activity.principal.is_front_end_person()
        && match activity.state {
            ActivityState::Waiting => true,
            ActivityState::Finished => activity.outcome != Some(Outcome::Cancelled),
            _ => false,
        }
}

/// What a browser gets; it has the words.
fn text_of(activity: &Activity, language: &str) -> Value {
    let about = match (activity.state, activity.outcome) {
        (ActivityState::Waiting, _) => "waits",
        (_, Some(Outcome::Failed)) => "failed",
        (_, Some(Outcome::Limited)) => "limited",
        _ => "done",
    };
    let title: String = activity.title.chars().take(TITLE_CHARS).collect();
    json!({"about": about, "chat": activity.chat, "title": title, "language": language})
}

/// At most 32 characters of base64url.
fn topic_of(activity: &Activity) -> String {
    let chat = activity.chat.map(|chat| chat.to_string());
    let hash = digest::digest(&digest::SHA256, chat.unwrap_or_default().as_bytes());
    BASE64URL_NOPAD.encode(&hash.as_ref()[..24])
}

fn sealed_for(owner: UserId, id: PushSubscriptionId) -> String {
    format!("push:{owner}:{id}")
}
