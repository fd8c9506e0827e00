//! Cancels open streams and requests as soon as the account is suspended or the session or key ends, on whichever
//! server that happens.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, PoisonError},
};

use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response},
};
use domain::{SessionId, UserId};
use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use super::{Caller, Credential};
use crate::error::ApiError;

/// Cancellation tokens of accounts, sessions and keys in use.
#[derive(Debug, Default)]
pub struct Revocations(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    /// Per user who has sent a request: cancelled when the account is suspended.
    people: HashMap<UserId, CancellationToken>,
    /// Per session that has sent a request: cancelled when the session ends or the account is suspended.
    sessions: HashMap<SessionId, CancellationToken>,
    /// The same per key secret, by its hash.
    keys: HashMap<[u8; 32], OpenKey>,
}

#[derive(Debug)]
struct OpenKey {
    ends: CancellationToken,
    good_until: Option<i64>,
}

impl Revocations {
    /// A token that is cancelled when the caller's account is suspended, and soon after the session or key ends.
    #[must_use]
    pub fn ends(&self, caller: &Caller) -> CancellationToken {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let person = open.people.entry(caller.id()).or_default().clone();
        let child = || person.child_token();
        match (caller.credential, &caller.key) {
            (Credential::Session(id), _) => open.sessions.entry(id).or_insert_with(child).clone(),
            (Credential::Key(_), Some(key)) => {
                let new = || OpenKey {
                    ends: child(),
                    good_until: key.good_until,
                };
                let known = open.keys.entry(key.secret_hash).or_insert_with(new);
                // Keys outlive a suspension.
                if known.ends.is_cancelled() {
                    *known = new();
                }
                known.ends.clone()
            }
            (Credential::Key(_) | Credential::Proxy | Credential::Local, _) => person,
        }
    }

    /// Answers a request of `caller`, unless the credential is revoked first. A revocation also ends an event stream.
    pub async fn until_revoked(
        &self,
        caller: &Caller,
        answer: impl Future<Output = Response>,
    ) -> Response {
        let ends = self.ends(caller);
        let Some(response) = ends.run_until_cancelled(answer).await else {
            return ApiError::unauthenticated(false).into_response();
        };
        let kind = response.headers().get(header::CONTENT_TYPE);
        if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
            return response;
        }
        let ended = async move { ends.cancelled().await };
        response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(ended))))
    }

    pub(crate) fn end(&self, people: &HashSet<UserId>) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        people
            .iter()
            .filter_map(|user| open.people.remove(user))
            .for_each(|ends| ends.cancel());
    }

    pub(crate) fn end_sessions(&self, sessions: &[SessionId]) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions
            .iter()
            .filter_map(|id| open.sessions.remove(id))
            .for_each(|ends| ends.cancel());
    }

    /// Cancels what was opened with these secrets, and with secrets that have expired by now.
    pub(crate) fn end_keys(&self, secrets: &HashSet<[u8; 32]>, now_ms: i64) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |hash: &[u8; 32], key: &mut OpenKey| {
            secrets.contains(hash) || key.good_until.is_some_and(|until| now_ms >= until)
        };
        open.keys
            .extract_if(is_over)
            .for_each(|(_, key)| key.ends.cancel());
    }
}
