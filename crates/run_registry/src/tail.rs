//! The tail of a log in memory: its last events, which all readers that follow closely share.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use domain::{EventBody, RunEvent};
use serde_json::Value;
use tokio::sync::watch;

/// Events kept for readers that follow closely; slower readers read from the database.
const TAIL_EVENTS: usize = 64;
/// The same limit in bytes of JSON, for long events.
const TAIL_BYTES: usize = 256 * 1024;

/// An event with its JSON, which all readers share.
#[derive(Debug)]
pub struct Logged {
    /// The event.
    pub event: RunEvent,
    /// Its stored form.
    pub json: Bytes,
    /// Debug details of the event, while it is in memory. `None` for events read from the database or the bus.
    pub detail: Option<Arc<Value>>,
}

/// The tail of one log.
#[derive(Debug)]
pub(crate) struct LogTail {
    events: Mutex<Events>,
    /// The last event that readers may see.
    seen: watch::Sender<Seen>,
}

#[derive(Debug, Default)]
struct Events {
    /// In order. A number may be missing: that of an event which was never stored.
    events: VecDeque<Arc<Logged>>,
    size_bytes: usize,
    /// Everything up to here is stored, and may be dropped from memory.
    stored: u64,
    /// The last event before the tail.
    begins_after: u64,
}

/// The progress of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Seen {
    pub(crate) seq: u64,
    /// The run has finished.
    pub(crate) ended: bool,
    /// No more events follow in this tail.
    pub(crate) closed: bool,
    /// This process has lost the run, and perhaps the database: its readers read on elsewhere.
    pub(crate) lost: bool,
}

/// The next events of the tail for a reader.
pub(crate) enum FromTail {
    /// The next events, at least one.
    Events(Vec<Arc<Logged>>),
    /// The next event is no longer in memory, but in the database.
    Older,
    /// No new events yet.
    Nothing,
}

impl LogTail {
    /// The tail of a log whose events up to `last` are stored.
    pub(crate) fn after_stored(last: u64) -> Self {
        let (seen, _) = watch::channel(Seen {
            seq: last,
            ..Seen::default()
        });
        Self {
            events: Mutex::new(Events::after_stored(last)),
            seen,
        }
    }

    /// The number of the last event that readers may see.
    pub(crate) fn last_seq(&self) -> u64 {
        self.seen.borrow().seq
    }

    /// Publishes events, which follow the last one, to the readers.
    pub(crate) fn publish(&self, events: Vec<Arc<Logged>>) {
        let Some(last) = events.last().map(|last| last.event.seq) else {
            return;
        };
        let ended = events
            .iter()
            .any(|logged| matches!(logged.event.body, EventBody::RunFinished { .. }));
        {
            let mut tail = self.lock();
            tail.size_bytes += events.iter().map(|event| event.json.len()).sum::<usize>();
            tail.events.extend(events);
            tail.trim();
        }
        self.seen
            .send_modify(|seen| (seen.seq, seen.ended) = (last, ended));
    }

    /// Records that the database has everything up to `seq`.
    pub(crate) fn mark_stored(&self, seq: u64) {
        let mut tail = self.lock();
        tail.stored = tail.stored.max(seq);
        tail.trim();
    }

    /// The last event that is known to be stored.
    pub(crate) fn stored(&self) -> u64 {
        self.lock().stored
    }

    /// The size of what is in memory only because it is not known to be stored.
    pub(crate) fn unstored_bytes(&self) -> usize {
        let tail = self.lock();
        match tail.events.front() {
            Some(first) if first.event.seq > tail.stored => tail.size_bytes,
            _ => 0,
        }
    }

    /// Whether the run has finished.
    pub(crate) fn has_ended(&self) -> bool {
        self.seen.borrow().ended
    }

    /// Drops the events from memory, as all of them are stored.
    pub(crate) fn forget(&self) {
        *self.lock() = Events::after_stored(self.last_seq());
    }

    /// Ends the readers once they have read everything.
    pub(crate) fn close(&self) {
        self.seen.send_modify(|seen| seen.closed = true);
    }

    /// Ends the readers at once.
    pub(crate) fn turn_readers_away(&self) {
        self.seen.send_modify(|seen| seen.lost = true);
    }

    /// Waits until it is closed.
    pub(crate) async fn closed(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        drop(self.seen.subscribe().wait_for(|seen| seen.closed).await);
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Seen> {
        self.seen.subscribe()
    }

    /// The events after event `after`.
    pub(crate) fn after(&self, after: u64) -> FromTail {
        let tail = self.lock();
        match tail.events.front().map(|first| first.event.seq) {
            Some(first) if first <= after.saturating_add(1) => {
                let skip = tail
                    .events
                    .partition_point(|logged| logged.event.seq <= after);
                let events: Vec<_> = tail.events.iter().skip(skip).cloned().collect();
                if events.is_empty() {
                    FromTail::Nothing
                } else {
                    FromTail::Events(events)
                }
            }
            Some(_) => FromTail::Older,
            None if after < tail.begins_after => FromTail::Older,
            None => FromTail::Nothing,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Events> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Events {
    fn after_stored(last: u64) -> Self {
        Self {
            stored: last,
            begins_after: last,
            ..Self::default()
        }
    }

    fn trim(&mut self) {
        // The last event always stays, so that the tail knows its position.
        while self.events.len() > 1
            && (self.events.len() > TAIL_EVENTS || self.size_bytes > TAIL_BYTES)
        {
            match self.events.front() {
                Some(first) if first.event.seq <= self.stored => {
                    self.size_bytes -= first.json.len();
                    self.events.pop_front();
                }
                _ => return,
            }
        }
    }
}
