//! Streams that end when a run waits for a person, for protocols in which the answer comes with the next request.

use std::{convert::Infallible, time::Duration};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use domain::RunEvent;
use futures_util::stream;
use run_registry::Reader;
use sse::{Frame, KEEP_ALIVE};
use tokio::time::{Instant, timeout_at};
use wire::{ag_ui::AgUiEncoder, ui_message_stream::UiMessageEncoder};

use super::{KEEP_ALIVE_AFTER, RunFiles, event_stream, for_reader, goes_on, note_broken_off};
use crate::runtime::commands::StopsWhenDropped;

/// How long the stream stays open after a question: concurrent questions are included, and answers on their way into
/// the log arrive.
const SETTLE: Duration = Duration::from_millis(100);

/// An encoder whose stream can end before its run does.
pub trait Pausing: Send + 'static {
    /// The frames for the next event.
    fn push(&mut self, event: &RunEvent) -> Vec<Frame>;

    /// Whether the run is only waiting for a person.
    fn can_pause(&self) -> bool;

    /// Ends the stream at a pause.
    fn pause(&mut self) -> Vec<Frame>;

    /// Ends a stream whose log cannot be read, though the run may continue.
    fn fault(&self, message: &str) -> Vec<Frame>;
}

impl Pausing for AgUiEncoder {
    fn push(&mut self, event: &RunEvent) -> Vec<Frame> {
        self.push(event)
    }

    fn can_pause(&self) -> bool {
        self.can_pause()
    }

    fn pause(&mut self) -> Vec<Frame> {
        self.pause()
    }

    fn fault(&self, message: &str) -> Vec<Frame> {
        self.fault(message)
    }
}

impl Pausing for UiMessageEncoder {
    fn push(&mut self, event: &RunEvent) -> Vec<Frame> {
        self.push(event)
    }

    fn can_pause(&self) -> bool {
        self.waits()
    }

    fn pause(&mut self) -> Vec<Frame> {
        Self::pause(self)
    }

    fn fault(&self, message: &str) -> Vec<Frame> {
        vec![self.fault(message)]
    }
}

struct PausingStream<E> {
    reader: Reader,
    encoder: E,
    files: Option<RunFiles>,
    opening: Vec<Frame>,
    /// Stops the run when it is dropped.
    guard: Option<StopsWhenDropped>,
    pause_at: Option<Instant>,
    over: bool,
}

/// `opening`, then the reader's events until the run ends or waits. An earlier disconnect drops `guard`.
#[must_use]
pub fn pausing(
    reader: Reader,
    encoder: impl Pausing,
    files: Option<RunFiles>,
    opening: Vec<Frame>,
    guard: Option<StopsWhenDropped>,
) -> Response {
    let started = PausingStream {
        reader,
        encoder,
        files,
        opening,
        guard,
        pause_at: None,
        over: false,
    };
    let body = stream::unfold(started, |mut stream| async move {
        let chunk = stream.next().await?;
        Some((Ok::<_, Infallible>(chunk), stream))
    });
    event_stream(Body::from_stream(body))
}

/// A response with only these frames.
#[must_use]
pub fn whole(frames: &[Frame]) -> Response {
    event_stream(Body::from(written(frames)))
}

fn written(frames: &[Frame]) -> Bytes {
    let mut out = Vec::with_capacity(frames.iter().map(|frame| frame.data.len() + 24).sum());
    frames.iter().for_each(|frame| frame.write(&mut out));
    out.into()
}

impl<E: Pausing> PausingStream<E> {
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
                Err(_) if self.pause_at.is_none() => {
                    return Some(Bytes::from_static(KEEP_ALIVE.as_bytes()));
                }
                Err(_) => {
                    self.end();
                    self.encoder.pause()
                }
                Ok(Ok(Some(events))) => {
                    let mut frames = Vec::new();
                    for logged in &events {
                        if let Some(event) = for_reader(self.files.as_mut(), &logged.event).await {
                            frames.extend(self.encoder.push(&event));
                        }
                    }
                    frames
                }
                Ok(Ok(None)) => {
                    self.end();
                    Vec::new()
                }
                Ok(Err(error)) => {
                    note_broken_off(&error);
                    self.end();
                    // Otherwise the client would take the end for success.
                    self.encoder.fault(goes_on(&error))
                }
            };
            if !frames.is_empty() {
                return Some(written(&frames));
            }
        }
        None
    }

    /// A disconnect no longer stops the run.
    fn end(&mut self) {
        self.over = true;
        if let Some(guard) = self.guard.take() {
            guard.disarm();
        }
    }
}
