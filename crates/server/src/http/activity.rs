//! `GET /api/v1/activity`: streams state changes of the caller's runs.

use std::{collections::VecDeque, convert::Infallible, sync::Arc};

use axum::{body::Body, extract::State, response::Response};
use bytes::Bytes;
use futures_util::stream;
use run_registry::Activity;
use sse::{KEEP_ALIVE, write_data};
use store::StoreError;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::{
    app::App,
    error::ApiError,
    http::{
        openapi::Operations,
        streams::{KEEP_ALIVE_AFTER, event_stream},
    },
    identity::auth::Caller,
    runtime::remote::Watching,
};

/// One client that is subscribed to the activity stream.
struct Watcher {
    app: Arc<App>,
    caller: Caller,
    _watching: Watching,
    changes: Receiver<Activity>,
    /// Queued states that are sent before any change.
    known: VecDeque<Activity>,
}

/// Sends the state of every live run, then each change.
pub(super) async fn get(State(app): State<Arc<App>>, caller: Caller) -> Result<Response, ApiError> {
    // Subscribe before the snapshot, so that no change is missed in between.
    let changes = app.runs.subscribe();
    let watching = app.remote.watch(caller.principal().account);
    let known = snapshot(&app, &caller).await?;
    let watcher = Watcher {
        caller,
        _watching: watching,
        changes,
        known,
        app,
    };
    let body = stream::unfold(watcher, |mut watcher| async move {
        let chunk = watcher.next().await?;
        Some((Ok::<_, Infallible>(chunk), watcher))
    });
    Ok(event_stream(Body::from_stream(body)))
}

async fn snapshot(app: &App, caller: &Caller) -> Result<VecDeque<Activity>, StoreError> {
    // Runs on other servers first: if one starts here in the meantime, its local state overrides the remote one.
    let principal = caller.principal();
    let mut known = VecDeque::from(app.remote.going(&principal).await?);
    known.extend(
        app.runs
            .live_of(&principal)
            .iter()
            .map(|live| Activity::now(live)),
    );
    known.retain(|activity| caller.may_hear(&activity.principal));
    Ok(known)
}

impl Watcher {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(activity) = self.known.pop_front() {
                return Some(frame(&activity));
            }
            tokio::select! {
                () = self.app.stopping.cancelled() => return None,
                () = tokio::time::sleep(KEEP_ALIVE_AFTER) => return Some(Bytes::from_static(KEEP_ALIVE.as_bytes())),
                change = self.changes.recv() => match change {
                    Ok(activity) if self.caller.may_hear(&activity.principal) => return Some(frame(&activity)),
                    Ok(_) => {}
                    // This client is too slow and has missed changes: send the current state again.
                    Err(RecvError::Lagged(_)) => {
                        // If the database does not respond, end the stream; the client reconnects.
                        self.known = snapshot(&self.app, &self.caller).await.ok()?;
                    }
                    Err(RecvError::Closed) => return None,
                },
            }
        }
    }
}

fn frame(activity: &Activity) -> Bytes {
    let mut out = Vec::new();
    // Plain data always serializes.
    write_data(
        &serde_json::to_string(activity).unwrap_or_default(),
        &mut out,
    );
    out.into()
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.operation("GET /api/v1/activity", "Streams what happens in the caller's runs")
        .details("First one event per live run, then each change of its state and of what it waits for. Changes \
         of runs on other servers of the same database arrive up to a second later.")
        .answers_events::<Activity>(200);
}
