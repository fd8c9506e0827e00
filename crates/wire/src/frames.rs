//! The frames of one event, numbered so that a reader can resume after any of them.

use domain::RunEvent;
use serde::Serialize;
use sse::Frame;

/// The frames of one event.
pub(crate) struct Frames {
    seq: u64,
    /// `None` if the reader has them already.
    frames: Option<Vec<Frame>>,
}

impl Frames {
    /// For an event that is sent.
    pub(crate) fn of(event: &RunEvent) -> Self {
        Self {
            seq: event.seq,
            frames: Some(Vec::new()),
        }
    }

    /// For an event that the reader already has.
    pub(crate) fn none(event: &RunEvent) -> Self {
        Self {
            seq: event.seq,
            frames: None,
        }
    }

    /// Adds a frame of JSON.
    pub(crate) fn push(&mut self, payload: &impl Serialize) {
        self.add(|| Frame {
            id: None,
            event: None,
            data: json(payload),
        });
    }

    /// Adds a frame, built only if it is sent.
    pub(crate) fn add(&mut self, frame: impl FnOnce() -> Frame) {
        if let Some(frames) = &mut self.frames {
            frames.push(frame());
        }
    }

    /// With the event's number. Only the last frame carries it: a reader cut off between two frames of an event gets
    /// both again, rather than never the second.
    pub(crate) fn numbered(self) -> Vec<Frame> {
        let mut frames = self.frames.unwrap_or_default();
        if let Some((last, earlier)) = frames.split_last_mut() {
            last.id = Some(self.seq);
            earlier
                .iter_mut()
                .for_each(|frame| frame.id = Some(self.seq.saturating_sub(1)));
        }
        frames
    }

    /// For readers that cannot resume.
    pub(crate) fn unnumbered(self) -> Vec<Frame> {
        self.frames.unwrap_or_default()
    }
}

/// A payload as JSON.
pub(crate) fn json(payload: &impl Serialize) -> String {
    // Fits most frames, so that memory is allocated once.
    let mut out = Vec::with_capacity(256);
    // Plain structs and values always serialize, and JSON is UTF-8.
    match serde_json::to_writer(&mut out, payload) {
        Ok(()) => String::from_utf8(out).unwrap_or_default(),
        Err(_) => String::new(),
    }
}
