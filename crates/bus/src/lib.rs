//! A message bus between the servers of one database, over Redis or Valkey. It only makes things faster: messages may be
//! lost, and nothing waits for it.

mod outbox;
mod seal;
mod session;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    sync::{Notify, mpsc, watch},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

pub use outbox::Audience;

use outbox::{Outbox, Outgoing};
use seal::{Opener, Sealer};

/// The pause before connecting again: first and maximum.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// Length of the key, bytes.
pub const KEY_BYTES: usize = 32;

/// Why the bus cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BusError {
    /// The URL names no Redis server.
    #[error(
        "the address of the bus must look like redis://host:6379 or rediss://:password@host:6379"
    )]
    InvalidUrl,
    /// The system has no random bytes.
    #[error("the operating system gave no random bytes")]
    NoRandomness,
    /// The server was not reached, or refused.
    #[error("the bus does not answer: {0}")]
    Unavailable(String),
}

impl From<redis::RedisError> for BusError {
    fn from(error: redis::RedisError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

/// What a subscriber receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// From now on, messages of this channel arrive. Repeated after each interruption.
    Subscribed(Arc<str>),
    /// A message of another server.
    Message {
        /// Its channel.
        channel: Arc<str>,
        /// Its content.
        content: Bytes,
    },
}

/// Counts since the start.
#[derive(Debug, Default)]
pub struct Counts {
    /// Messages sent.
    pub sent: AtomicU64,
    /// Messages received from other servers.
    pub received: AtomicU64,
    /// Messages dropped here, because a queue was full.
    pub dropped: AtomicU64,
    /// Messages that no server with our key can have sent.
    pub rejected: AtomicU64,
    /// Connections lost.
    pub lost: AtomicU64,
}

/// The bus, or none. Cheap to clone.
#[derive(Clone, Default)]
pub struct Bus(Option<Arc<Inner>>);

struct Inner {
    client: redis::Client,
    /// Begins the names of channels: servers with another key use others.
    prefix: String,
    outbox: Outbox,
    sealer: Sealer,
    opener: Mutex<Opener>,
    subscribers: Mutex<HashMap<Arc<str>, mpsc::Sender<Delivery>>>,
    /// Notified when they change.
    subscriptions_changed: Notify,
    is_up: watch::Sender<bool>,
    counts: Counts,
}

/// Checks an address without connecting.
///
/// # Errors
/// If it names no Redis server.
pub fn check_url(url: &str) -> Result<(), BusError> {
    let opened = redis::Client::open(url).map(drop);
    opened.map_err(|_| BusError::InvalidUrl)
}

impl Bus {
    /// No bus: nothing is sent, and nothing arrives.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// A bus at this URL for all servers with this key. It connects once [`Bus::run`] is called.
    ///
    /// # Errors
    /// If the URL is invalid.
    pub fn new(url: &str, key: &[u8; KEY_BYTES]) -> Result<Self, BusError> {
        let client = redis::Client::open(url).map_err(|_| BusError::InvalidUrl)?;
        Ok(Self(Some(Arc::new(Inner {
            client,
            prefix: seal::prefix(key),
            outbox: Outbox::default(),
            sealer: Sealer::new(key)?,
            opener: Mutex::new(Opener::new(key)),
            subscribers: Mutex::default(),
            subscriptions_changed: Notify::new(),
            is_up: watch::channel(false).0,
            counts: Counts::default(),
        }))))
    }

    /// Whether there is one, connected or not.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.0.is_some()
    }

    /// Whether it is connected.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| *inner.is_up.borrow())
    }

    /// Follows whether it is connected; `None` if there is no bus.
    #[must_use]
    pub fn state(&self) -> Option<watch::Receiver<bool>> {
        Some(self.0.as_ref()?.is_up.subscribe())
    }

    /// What it has done; `None` if there is no bus.
    #[must_use]
    pub fn counts(&self) -> Option<&Counts> {
        Some(&self.0.as_ref()?.counts)
    }

    /// Sends a message to the other servers that subscribe to `channel`. Never waits: while the bus is away or cannot
    /// keep up, the message is dropped.
    pub fn publish(&self, channel: &str, content: impl Into<Bytes>) {
        self.send(channel, content.into(), None);
    }

    /// The same if any server listens. Their absence is noted in `audience`, so that the next messages are not sent.
    pub fn publish_to(&self, audience: &Arc<Audience>, channel: &str, content: impl Into<Bytes>) {
        if let Some(expected) = audience.expected() {
            self.send(
                channel,
                content.into(),
                Some((Arc::clone(audience), expected)),
            );
        }
    }

    fn send(&self, channel: &str, content: Bytes, audience: Option<(Arc<Audience>, u64)>) {
        let Some(inner) = self.0.as_ref().filter(|_| self.is_up()) else {
            return;
        };
        let message = Outgoing {
            channel: channel.into(),
            content,
            audience,
        };
        if !inner.outbox.push(message) {
            inner.counts.dropped.fetch_add(1, Relaxed);
        }
    }

    /// Delivers the messages of a channel to `receiver`; those for which it has no room are dropped.
    pub fn subscribe(&self, channel: &str, receiver: &mpsc::Sender<Delivery>) {
        if let Some(inner) = &self.0 {
            inner.subscribers().insert(channel.into(), receiver.clone());
            inner.subscriptions_changed.notify_one();
        }
    }

    /// Ends the delivery of a channel.
    pub fn unsubscribe(&self, channel: &str) {
        if let Some(inner) = &self.0
            && inner.subscribers().remove(channel).is_some()
        {
            inner.subscriptions_changed.notify_one();
        }
    }

    /// Connects once, to test whether that is possible.
    ///
    /// # Errors
    /// If it does not answer, or refuses.
    pub async fn check(&self) -> Result<(), BusError> {
        let Some(inner) = &self.0 else {
            return Ok(());
        };
        session::check(&inner.client).await
    }

    /// Keeps the connection until the server stops.
    pub async fn run(self, stop: CancellationToken) {
        let Some(inner) = &self.0 else {
            return;
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = inner.keep_connected() => {}
        }
        inner.go_down();
    }
}

impl Inner {
    async fn keep_connected(&self) {
        let mut pause = FIRST_PAUSE;
        let mut was_told = false;
        loop {
            let error = session::run(self).await;
            if self.go_down() {
                self.counts.lost.fetch_add(1, Relaxed);
                (pause, was_told) = (FIRST_PAUSE, false);
            }
            if !was_told {
                was_told = true;
                tracing::warn!(%error, "no connection to the bus; servers ask the database until it is back");
            }
            sleep(pause).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    fn go_up(&self) {
        // What was written before the interruption is of no use any more.
        self.outbox.clear();
        self.is_up.send_replace(true);
        tracing::info!("connected to the bus");
    }

    /// Returns whether it was up.
    fn go_down(&self) -> bool {
        self.is_up.send_replace(false)
    }

    /// Passes on a message as it came.
    fn receive(&self, channel: &str, sealed: &[u8]) {
        let Some(name) = self.name_of(channel) else {
            return;
        };
        let opened = self.opener().open(name, sealed);
        let Some(content) = opened else {
            // Every client that may publish can do this, as often as it likes: it is counted and not logged.
            self.counts.rejected.fetch_add(1, Relaxed);
            return;
        };
        if self.sealer.is_ours(sealed) {
            return;
        }
        self.counts.received.fetch_add(1, Relaxed);
        self.deliver(name, |channel| Delivery::Message { channel, content });
    }

    fn deliver(&self, name: &str, delivery: impl FnOnce(Arc<str>) -> Delivery) {
        let receiver = self
            .subscribers()
            .get_key_value(name)
            .map(|(name, receiver)| (Arc::clone(name), receiver.clone()));
        if let Some((name, receiver)) = receiver
            && receiver.try_send(delivery(name)).is_err()
        {
            self.counts.dropped.fetch_add(1, Relaxed);
        }
    }

    fn name_of<'a>(&self, channel: &'a str) -> Option<&'a str> {
        channel.strip_prefix(&self.prefix)?.strip_prefix(':')
    }

    fn subscribers(&self) -> MutexGuard<'_, HashMap<Arc<str>, mpsc::Sender<Delivery>>> {
        self.subscribers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn opener(&self) -> MutexGuard<'_, Opener> {
        self.opener.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
