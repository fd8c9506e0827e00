//! Streams a run to an AG-UI client until it ends, or until nothing goes on without a person.

use std::{convert::Infallible, time::Duration};

use axum::{body::Body, http::HeaderValue, response::Response};
use bytes::Bytes;
use domain::RunId;
use futures_util::stream;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::DropGuard;
use wire::{Frame, ag_ui::AgUiEncoder, sse::KEEP_ALIVE};

use crate::{app::App, runs::Reader, streams::event_stream};

const KEEP_ALIVE_AFTER: Duration = Duration::from_secs(15);
/// How long the stream stays open after something is asked: what is asked at the same time comes along, and answers
/// on their way into the log arrive.
const SETTLE: Duration = Duration::from_millis(100);

/// What happens to the run when its reader closes the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum Leaving {
    /// It is stopped.
    Stops,
    /// Nothing: somebody may come back to it.
    RunsOn,
}

struct AgUiStream {
    reader: Reader,
    encoder: AgUiEncoder,
    opening: Vec<Frame>,
    /// Stops the run when it is dropped.
    guard: Option<DropGuard>,
    pause_at: Option<Instant>,
    over: bool,
}

/// `opening`, then the run's events after `after`.
pub(in crate::http) fn ag_ui_stream(
    app: &App,
    run: RunId,
    after: u64,
    encoder: AgUiEncoder,
    opening: Vec<Frame>,
    leaving: Leaving,
) -> Response {
    let live = app.runs.live(run).filter(|_| leaving == Leaving::Stops);
    let guard = live.map(|live| live.cancel.clone().drop_guard());
    let reader = app.runs.read(run, after);
    let started = AgUiStream { reader, encoder, opening, guard, pause_at: None, over: false };
    let body = stream::unfold(started, |mut stream| async move {
        let chunk = stream.next().await?;
        Some((Ok::<_, Infallible>(chunk), stream))
    });
    let mut response = event_stream(Body::from_stream(body));
    if let Ok(id) = HeaderValue::from_str(&run.to_string()) {
        response.headers_mut().insert("x-run-id", id);
    }
    response
}

/// Only these frames.
pub(in crate::http) fn whole(frames: &[Frame]) -> Response {
    event_stream(Body::from(written(frames)))
}

fn written(frames: &[Frame]) -> Bytes {
    let mut out = Vec::with_capacity(frames.iter().map(|frame| frame.data.len() + 8).sum());
    frames.iter().for_each(|frame| frame.write(&mut out));
    out.into()
}

impl AgUiStream {
    async fn next(&mut self) -> Option<Bytes> {
        if !self.opening.is_empty() {
            return Some(written(&std::mem::take(&mut self.opening)));
        }
        while !self.over {
            let now = Instant::now();
            let wake_at = if self.encoder.can_pause() {
                *self.pause_at.get_or_insert(now + SETTLE)
            } else {
                self.pause_at = None;
                now + KEEP_ALIVE_AFTER
            };
            let frames = match timeout_at(wake_at, self.reader.next()).await {
                Err(_) if self.pause_at.is_none() => return Some(Bytes::from_static(KEEP_ALIVE.as_bytes())),
                Err(_) => {
                    let frames = self.encoder.pause();
                    self.end();
                    frames
                }
                Ok(Ok(Some(events))) => {
                    events.iter().flat_map(|logged| self.encoder.push(&logged.event)).collect()
                }
                Ok(Ok(None)) => {
                    self.end();
                    Vec::new()
                }
                Ok(Err(error)) => {
                    tracing::warn!(%error, "a reader of a log was cut off");
                    self.end();
                    // The client would take silence for success.
                    self.encoder.fault("The database did not answer. The run goes on; come back to it.")
                }
            };
            if !frames.is_empty() {
                return Some(written(&frames));
            }
        }
        None
    }

    /// Whoever leaves from now on does not stop the run.
    fn end(&mut self) {
        self.over = true;
        drop(self.guard.take().map(DropGuard::disarm));
    }
}
