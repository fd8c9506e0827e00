//! The queue of messages to send: bounded in number and bytes, and never waited for.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

use bytes::Bytes;
use tokio::sync::Notify;

const MAX_MESSAGES: usize = 8192;
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// Messages sent together.
const BATCH: usize = 256;
const BATCH_BYTES: usize = 1024 * 1024;

/// Whether any server listens to a channel, as far as its publisher knows.
#[derive(Debug)]
pub struct Audience(
    /// Odd while a server is expected to listen; a new expectation is a new number.
    AtomicU64,
);

impl Audience {
    /// A server may listen: the first message finds out.
    #[must_use]
    pub fn expected_at_first() -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(1)))
    }

    /// Notes that a server listens.
    pub fn renew(&self) {
        // Always succeeds, as it always returns a value.
        _ = self.0.fetch_update(SeqCst, SeqCst, |number| {
            Some(number + if number % 2 == 1 { 2 } else { 1 })
        });
    }

    /// The current expectation, if there is one.
    pub(crate) fn expected(&self) -> Option<u64> {
        Some(self.0.load(SeqCst)).filter(|number| number % 2 == 1)
    }

    /// Whether any server is expected to listen.
    #[must_use]
    pub fn is_expected(&self) -> bool {
        self.expected().is_some()
    }

    /// Notes that no server listened to a message that was sent with this expectation. A newer one stays.
    pub(crate) fn note_absence(&self, expected: u64) {
        _ = self
            .0
            .compare_exchange(expected, expected + 1, SeqCst, SeqCst);
    }
}

/// A message to send.
pub(crate) struct Outgoing {
    pub(crate) channel: Arc<str>,
    pub(crate) content: Bytes,
    /// Whom it is for, and the expectation it is sent with.
    pub(crate) audience: Option<(Arc<Audience>, u64)>,
}

#[derive(Default)]
pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    filled: Notify,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<Outgoing>,
    size_bytes: usize,
}

impl Outbox {
    /// Adds a message. Returns false if there is no room.
    pub(crate) fn push(&self, message: Outgoing) -> bool {
        let mut queue = self.lock();
        let size_bytes = queue.size_bytes + message.content.len();
        if queue.messages.len() >= MAX_MESSAGES || size_bytes > MAX_BYTES {
            return false;
        }
        queue.size_bytes = size_bytes;
        queue.messages.push_back(message);
        drop(queue);
        self.filled.notify_one();
        true
    }

    /// Waits for messages, and takes some.
    pub(crate) async fn take(&self) -> Vec<Outgoing> {
        loop {
            let taken = self.lock().take();
            if !taken.is_empty() {
                return taken;
            }
            self.filled.notified().await;
        }
    }

    pub(crate) fn clear(&self) {
        *self.lock() = Queue::default();
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn take(&mut self) -> Vec<Outgoing> {
        let mut taken = Vec::new();
        let mut size_bytes = 0;
        while taken.len() < BATCH
            && size_bytes < BATCH_BYTES
            && let Some(message) = self.messages.pop_front()
        {
            size_bytes += message.content.len();
            taken.push(message);
        }
        self.size_bytes -= size_bytes;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: usize) -> Outgoing {
        Outgoing {
            channel: "c".into(),
            content: vec![0; bytes].into(),
            audience: None,
        }
    }

    #[tokio::test]
    async fn a_full_outbox_takes_no_more_until_it_is_emptied() {
        let outbox = Outbox::default();
        assert!(outbox.push(message(MAX_BYTES)));
        assert!(!outbox.push(message(1)));
        assert!(outbox.push(message(0)));
        assert_eq!(
            outbox.take().await.len(),
            1,
            "the bytes of a batch are bounded"
        );
        assert_eq!(outbox.take().await.len(), 1);
        let accepted = (0..2 * MAX_MESSAGES)
            .filter(|_| outbox.push(message(1)))
            .count();
        assert_eq!(accepted, MAX_MESSAGES);
        assert_eq!(outbox.take().await.len(), BATCH);
        assert!(outbox.push(message(1)));
    }

    #[test]
    fn an_absence_counts_only_for_the_expectation_it_was_found_with() {
        let audience = Audience::expected_at_first();
        let first = audience.expected().unwrap();
        audience.renew();
        audience.note_absence(first);
        assert!(
            audience.is_expected(),
            "a server came after the message was sent"
        );
        audience.note_absence(audience.expected().unwrap());
        assert!(!audience.is_expected());
        audience.renew();
        assert!(audience.is_expected());
    }
}
