//! Ends what people have open as soon as their accounts are suspended, by whichever server.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response},
};
use domain::UserId;
use futures_util::StreamExt;
use store::StoreError;
use tokio_util::sync::CancellationToken;

use crate::{app::App, error::ApiError};

/// How often it is looked for accounts that another server has suspended.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// For each person who has sent a request what ends when the account is suspended.
#[derive(Debug, Default)]
pub struct Standing(Mutex<HashMap<UserId, CancellationToken>>);

impl Standing {
    /// Cancelled when the person's account is suspended.
    #[must_use]
    pub fn ends(&self, user: UserId) -> CancellationToken {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(user).or_default().clone()
    }

    /// Answers a request of `user`, unless the account is suspended before that. A stream ends with the account's
    /// good standing too.
    pub async fn while_good(&self, user: UserId, answer: impl Future<Output = Response>) -> Response {
        let ends = self.ends(user);
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

    fn end(&self, people: &HashSet<UserId>) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        people.iter().filter_map(|user| open.remove(user)).for_each(|ends| ends.cancel());
    }
}

impl App {
    /// Ends everything here of people whose accounts are suspended: requests, streams, sockets and runs. Their sessions
    /// and keys are refused by the database.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub(crate) async fn end_for_suspended(&self) -> Result<(), StoreError> {
        let people: HashSet<UserId> = self.store.suspended_users().await?.into_iter().collect();
        if !people.is_empty() {
            self.known_keys.forget_people(&people);
            self.standing.end(&people);
            self.runs.stop_of(&people);
        }
        Ok(())
    }
}

/// Looks for suspended accounts until the server stops. Also where nobody shares the database: a run may have been about
/// to begin when its owner was suspended.
pub(crate) async fn keep_standing(app: Arc<App>) {
    loop {
        tokio::select! {
            () = app.stopping.cancelled() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        if let Err(error) = app.end_for_suspended().await {
            tracing::warn!(%error, "cannot look for suspended accounts");
        }
    }
}
