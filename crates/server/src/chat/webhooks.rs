//! Webhooks: notifies URLs of users when a background run has ended, signed according to Standard Webhooks. A notice is
//! stored when the run ends; the server that claims it sends it, and retries if that fails.

use std::{sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{LocalizedText, UserId, WebhookId};
use futures_util::future::join_all;
use llm::Secret;
use outbound::{Limits, Outbound, Request};
use reqwest::{Method, header::HeaderName};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{Notice, Store, StoreError, Webhook};
use tokio::sync::{Notify, Semaphore};

use crate::{
    chat::receivers::receiver,
    error::ApiError,
    messages,
    platform::{
        clock::Clock,
        outbound_fault::of_fault,
        secret::{CannotOpen, NoRandomness, Sealer},
        standard_webhooks::{SECRET_PREFIX, in_words, sign},
    },
};

/// Maximum number of webhooks per user.
pub(crate) const MAX_WEBHOOKS: u32 = 10;
/// How much of the answer is sent, characters.
const ANSWER_CHARS: usize = 4_000;
/// The receiver's body is not read, and redirects are not followed.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(15),
    body_bytes: 0,
    hops: 0,
};
/// How long a claim of a notice is valid, milliseconds; longer than a request may take.
const CLAIM_MS: i64 = 60_000;
/// Pauses before retries, milliseconds: nine hours in total.
const PAUSES_MS: [i64; 6] = [10_000, 60_000, 300_000, 1_800_000, 7_200_000, 21_600_000];
/// Maximum number of notices sent concurrently.
const BATCH: u32 = 16;
/// Maximum number of concurrent test requests.
const TRIALS: usize = 4;

/// Sends webhooks.
pub struct Webhooks {
    pub(crate) clock: Clock,
    pub(crate) store: Store,
    outbound: Outbound,
    sealer: Arc<Sealer>,
    pub(crate) changed: Arc<Notify>,
    trials: Semaphore,
}

/// The URL, and the secret that signs the requests.
#[derive(Serialize, Deserialize)]
pub(crate) struct Address {
    pub(crate) url: String,
    pub(crate) secret: String,
}

impl Webhooks {
    pub(crate) fn new(outbound: Outbound, sealer: Arc<Sealer>, store: Store, clock: Clock) -> Self {
        Self {
            clock,
            store,
            outbound,
            sealer,
            changed: Arc::default(),
            trials: Semaphore::new(TRIALS),
        }
    }

    /// Call when the clock was moved.
    pub fn look_again(&self) {
        self.changed.notify_one();
    }

    /// A new webhook of this user with a secret of its own, which cannot be read later.
    ///
    /// # Errors
    /// An error message if the URL is not allowed.
    pub(crate) fn new_address(
        &self,
        owner: UserId,
        url: &str,
        now: i64,
    ) -> Result<(Webhook, Address), ApiError> {
        let place = receiver(&self.outbound, url)?;
        let mut key = [0; 32];
        SystemRandom::new()
            .fill(&mut key)
            .map_err(|_| ApiError::internal(NoRandomness))?;
        let secret = format!("{SECRET_PREFIX}{}", STANDARD.encode(key));
        let id = WebhookId::generate();
        let address = Address {
            url: place.into(),
            secret,
        };
        let text = serde_json::to_string(&address).map_err(ApiError::internal)?;
        let sealed = self
            .sealer
            .seal(&sealed_for(owner, id), &Secret::new(text))
            .map_err(ApiError::internal)?;
        Ok((
            Webhook {
                id,
                owner,
                sealed,
                created_at: now,
                last: None,
            },
            address,
        ))
    }

    pub(crate) fn address(&self, webhook: &Webhook) -> Result<Address, CannotOpen> {
        let text = self
            .sealer
            .unseal(&sealed_for(webhook.owner, webhook.id), &webhook.sealed)?;
        serde_json::from_str(text.reveal()).map_err(|_| CannotOpen)
    }

    /// Sends a test request once, so that the user sees whether it arrives.
    ///
    /// # Errors
    /// 429 if too many tests are in progress.
    pub(crate) async fn try_out(
        &self,
        webhook: &Webhook,
        now: i64,
    ) -> Result<Result<(), LocalizedText>, ApiError> {
        let _trial = self
            .trials
            .try_acquire()
            .map_err(|_| ApiError::rate_limited(10))?;
        let body = json!({ "type": "test", "timestamp": in_words(now), "data": {} });
        Ok(self
            .tell(webhook, &format!("{}.test.{now}", webhook.id), now, &body)
            .await)
    }

    /// Sends one request.
    async fn tell(
        &self,
        webhook: &Webhook,
        id: &str,
        now: i64,
        body: &Value,
    ) -> Result<(), LocalizedText> {
        let address =
            self.address(webhook)
                .map_err(|error| messages::Settings::WebhookSecretLost {
                    why: error.to_string(),
                })?;
        let body = body.to_string();
        let seconds = now / 1000;
        let signature = sign(&address.secret, &format!("{id}.{seconds}.{body}"));
        // The settings may have changed since the webhook was created.
        let place = self.outbound.address(&address.url, &[]).map_err(of_fault)?;
        let request = Request::new(Method::POST, place, LIMITS)
            .body("application/json", body)
            .header(HeaderName::from_static("webhook-id"), id)
            .header(
                HeaderName::from_static("webhook-timestamp"),
                &seconds.to_string(),
            )
            .header(HeaderName::from_static("webhook-signature"), &signature);
        let answer = self.outbound.send(request).await.map_err(of_fault)?;
        match answer.status.is_success() {
            true => Ok(()),
            false => Err(messages::Settings::WebhookAnswers {
                status: answer.status.as_u16(),
            }
            .into()),
        }
    }
}

impl Webhooks {
    /// Sends the notices that are due.
    pub(crate) async fn tell_due(self: Arc<Self>) -> Result<(), StoreError> {
        let now = self.clock.now_ms();
        let due = self.store.claim_notices(now, now + CLAIM_MS, BATCH).await?;
        join_all(due.iter().map(|notice| self.tell_of(notice)))
            .await
            .into_iter()
            .collect()
    }

    async fn tell_of(&self, notice: &Notice) -> Result<(), StoreError> {
        // The same id for each attempt, so that receivers can detect duplicates.
        let id = format!("{}.{}", notice.webhook.id, notice.run);
        let delivered = self
            .tell(&notice.webhook, &id, self.clock.now_ms(), &body(notice))
            .await;
        let now = self.clock.now_ms();
        let problem = delivered.err().map(|words| words.to_column());
        let pause = PAUSES_MS.get(usize::try_from(notice.attempts).unwrap_or(usize::MAX));
        let next = pause.filter(|_| problem.is_some()).map(|pause| now + pause);
        self.store
            .settle_notice(notice, problem.as_deref(), now, next)
            .await
    }
}

fn body(notice: &Notice) -> Value {
    let summary = notice.summary.as_ref();
    let answer = summary.map_or("", |summary| &summary.answer);
    let excerpt: String = answer.chars().take(ANSWER_CHARS).collect();
    json!({
        "type": "run.finished",
        "timestamp": in_words(notice.finished_at.unwrap_or_default()),
        "data": {
            "run": notice.run,
            "chat": notice.chat,
            "title": notice.title,
            "outcome": summary.and_then(|summary| summary.outcome),
            "problem": summary.and_then(|summary| summary.problem.as_ref()).map(|problem| &problem.message),
            "answer": excerpt,
            "answer_is_whole": excerpt.len() == answer.len(),
        },
    })
}

fn sealed_for(owner: UserId, id: WebhookId) -> String {
    format!("webhook:{owner}:{id}")
}
