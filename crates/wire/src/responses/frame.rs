//! The numbered frames of one event, and those among them that the reader has already.

use domain::RunEvent;
use serde::Serialize;

use crate::{
    Frame,
    frames::{Frames, json},
};

/// Counts the frames of a stream from 0; a reader may have the first of them.
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

    /// The number for the next frame; nothing where the reader has it.
    fn take(&mut self) -> Option<u64> {
        let number = self.next;
        self.next += 1;
        self.had.is_none_or(|had| number > had).then_some(number)
    }

    /// A reader that had more than there is now saw what a crash took before it was stored: the end is told it
    /// under a number that is new to it.
    pub(super) fn before_end(&mut self) {
        if let Some(had) = self.had.filter(|had| *had > self.next) {
            self.next = had + 1;
        }
    }

    /// The number that follows the last frame.
    pub(super) fn next(&self) -> u64 {
        self.next
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
    /// For an event that the reader is to have.
    pub(super) fn of(event: &RunEvent, numbers: &'n mut Numbers) -> Self {
        Self { numbers, frames: Frames::of(event) }
    }

    /// For an event that the reader has already.
    pub(super) fn none(event: &RunEvent, numbers: &'n mut Numbers) -> Self {
        Self { numbers, frames: Frames::none(event) }
    }

    /// Adds a frame; what is in it is made only where it is needed.
    pub(super) fn push<P: Serialize>(&mut self, kind: &'static str, payload: impl FnOnce() -> P) {
        if let Some(number) = self.numbers.take() {
            self.frames.add(|| frame(kind, number, &payload()));
        }
    }

    pub(super) fn before_end(&mut self) {
        self.numbers.before_end();
    }

    /// With the event's number as id where wanted.
    pub(super) fn finish(self, with_ids: bool) -> Vec<Frame> {
        if with_ids { self.frames.numbered() } else { self.frames.unnumbered() }
    }
}

/// One frame, named like its type.
pub(super) fn frame(kind: &'static str, sequence_number: u64, payload: &impl Serialize) -> Frame {
    let data = json(&Numbered { kind, sequence_number, payload });
    Frame { id: None, event: Some(kind), data }
}
