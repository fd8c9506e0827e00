//! The numbered frames of one event, without those that the reader already has.

use domain::{ProblemCode, RunEvent};
use serde::Serialize;
use sse::Frame;

use crate::frames::{Frames, json};

/// Numbers the frames of a stream from 0, determined only by the log; a reader may have the first of them.
#[derive(Debug, Clone)]
pub(super) struct Numbers {
    next: u64,
    /// The number of the last frame that the reader has.
    had: Option<u64>,
}

impl Numbers {
    pub(super) fn new(had: Option<u64>) -> Self {
        Self { next: 0, had }
    }

    /// The number for the next frame; `None` if the reader has it.
    fn take(&mut self) -> Option<u64> {
        let number = self.next;
        self.next += 1;
        self.had.is_none_or(|had| number > had).then_some(number)
    }

    /// Skips the numbers of events that a crash took before they were stored. A reader may have seen them: those are
    /// deltas, with at most one frame each.
    pub(super) fn skip(&mut self, lost: u64) {
        self.next += lost;
    }

    /// The number of the last frame; 0 before the first.
    pub(super) fn last(&self) -> u64 {
        self.next.saturating_sub(1)
    }
}

/// The frames of one event.
pub(super) struct Output<'n> {
    numbers: &'n mut Numbers,
    frames: Frames,
}

/// `{"type":…,"sequence_number":…,…}`.
#[derive(Serialize)]
struct Numbered<'a, P> {
    #[serde(rename = "type")]
    kind: &'static str,
    sequence_number: u64,
    #[serde(flatten)]
    payload: &'a P,
}

impl<'n> Output<'n> {
    /// For an event that is sent.
    pub(super) fn of(event: &RunEvent, numbers: &'n mut Numbers) -> Self {
        Self {
            numbers,
            frames: Frames::of(event),
        }
    }

    /// For an event that the reader already has.
    pub(super) fn none(event: &RunEvent, numbers: &'n mut Numbers) -> Self {
        Self {
            numbers,
            frames: Frames::none(event),
        }
    }

    /// Adds a frame; its payload is built only if it is sent.
    pub(super) fn push<P: Serialize>(&mut self, kind: &'static str, payload: impl FnOnce() -> P) {
        if let Some(number) = self.numbers.take() {
            self.frames.add(|| frame(kind, number, &payload()));
        }
    }

    /// With the event's number as id if requested.
    pub(super) fn finish(self, with_ids: bool) -> Vec<Frame> {
        if with_ids {
            self.frames.numbered()
        } else {
            self.frames.unnumbered()
        }
    }
}

/// Ends the stream of a passed-through response that broke off: its frames are not counted here.
#[must_use]
pub fn error_frame(code: ProblemCode, message: &str) -> Frame {
    frame(
        "error",
        0,
        &serde_json::json!({"code": code.as_str(), "message": message, "param": null}),
    )
}

/// One frame, with its type as event name.
pub(super) fn frame(kind: &'static str, sequence_number: u64, payload: &impl Serialize) -> Frame {
    let data = json(&Numbered {
        kind,
        sequence_number,
        payload,
    });
    Frame {
        id: None,
        event: Some(kind),
        data,
    }
}
