//! The frames that one event becomes, numbered so that a reader may come back at any of them.

use domain::RunEvent;
use serde::Serialize;

use crate::Frame;

/// The frames of one event, each named `message`.
pub(crate) struct Frames {
    seq: u64,
    /// `None` where the reader has them already.
    frames: Option<Vec<Frame>>,
}

impl Frames {
    /// For an event that the reader is to have.
    pub(crate) fn of(event: &RunEvent) -> Self {
        Self { seq: event.seq, frames: Some(Vec::new()) }
    }

    /// For an event that the reader has already.
    pub(crate) fn none(event: &RunEvent) -> Self {
        Self { seq: event.seq, frames: None }
    }

    pub(crate) fn push(&mut self, payload: &impl Serialize) {
        if let Some(frames) = &mut self.frames {
            // Plain structs and values always have a JSON form.
            let data = serde_json::to_string(payload).unwrap_or_default();
            frames.push(Frame { id: Some(self.seq), event: Some("message"), data });
        }
    }

    /// Only the last frame says that the reader has the event: one cut off between two frames of an event
    /// gets both again, rather than never the second.
    pub(crate) fn numbered(self) -> Vec<Frame> {
        let mut frames = self.frames.unwrap_or_default();
        if let Some((_, earlier)) = frames.split_last_mut() {
            earlier.iter_mut().for_each(|frame| frame.id = Some(self.seq.saturating_sub(1)));
        }
        frames
    }
}
