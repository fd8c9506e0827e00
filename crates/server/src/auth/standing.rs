//! Ends what people have open as soon as their accounts are suspended or their sessions are over, by whichever server.

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
use domain::{SessionId, UserId};
use futures_util::StreamExt;
use store::StoreError;
use tokio_util::sync::CancellationToken;

use super::{Caller, Credential};
use crate::{app::App, error::ApiError};

/// How often it is looked for accounts that another server has suspended, and for sessions that are over.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What ends with somebody's good standing.
#[derive(Debug, Default)]
pub struct Standing(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    /// For each person who has sent a request what ends when the account is suspended.
    people: HashMap<UserId, CancellationToken>,
    /// For each session that has: what ends with it, or with its person's.
    sessions: HashMap<SessionId, CancellationToken>,
}

impl Standing {
    /// Cancelled when the caller's account is suspended, and where it is a browser, soon after its session is over.
    #[must_use]
    pub fn ends(&self, caller: &Caller) -> CancellationToken {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let person = open.people.entry(caller.id()).or_default().clone();
        match caller.credential {
            Credential::Session(id) => {
                open.sessions.entry(id).or_insert_with(|| person.child_token()).clone()
            }
            Credential::Key(_) | Credential::Local => person,
        }
    }

    /// Answers a request of `caller`, unless the good standing ends before that. A stream ends with it too.
    pub async fn while_good(&self, caller: &Caller, answer: impl Future<Output = Response>) -> Response {
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

    fn end(&self, people: &HashSet<UserId>) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        people.iter().filter_map(|user| open.people.remove(user)).for_each(|ends| ends.cancel());
    }

    fn end_sessions(&self, sessions: &[SessionId]) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.iter().filter_map(|id| open.sessions.remove(id)).for_each(|ends| ends.cancel());
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

    /// Ends the requests, streams and sockets here of browsers whose sessions are over. Runs go on: the person is in
    /// good standing.
    async fn end_for_sessions_over(&self) -> Result<(), StoreError> {
        self.standing.end_sessions(&self.store.sessions_over(self.clock.now_ms()).await?);
        Ok(())
    }
}

/// Looks for suspended accounts and for sessions that are over until the server stops. Also where nobody shares the database: a run may have been about
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
        if let Err(error) = app.end_for_sessions_over().await {
            tracing::warn!(%error, "cannot look for sessions that are over");
        }
    }
}
