//! What runs exchange over the bus: the events of runs that other servers read, and the activity of all.
//!
//! Events are sent where they are published to local readers, so the same is true for readers elsewhere: an item is
//! stored before a reader sees it, and a delta that was seen but never stored leaves a number that no other event gets.

use std::sync::{Arc, Mutex, PoisonError};

use bus::{Bus, Delivery};
use bytes::Bytes;
use domain::{RunEvent, RunId};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::{Activity, LiveRun, Logged, Runs};

/// Messages that wait to be taken in; more are dropped, and found in the database.
const QUEUE: usize = 4096;
/// Longer events are not sent: the readers' servers look them up.
const MAX_SENT_BYTES: usize = 256 * 1024;
/// Runs whose servers are asked for their events.
const WANTED: &str = "runs:wanted";
const ACTIVITY: &str = "runs:activity";
/// Begins the channel of one run.
const RUN: &str = "run:";

/// The registry's end of the bus.
pub(crate) struct Feed {
    bus: Bus,
    sender: mpsc::Sender<Delivery>,
    /// Until they are followed.
    receiver: Mutex<Option<mpsc::Receiver<Delivery>>>,
}

impl Feed {
    pub(crate) fn new(bus: Bus) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        Self {
            bus,
            sender,
            receiver: Mutex::new(Some(receiver)),
        }
    }

    /// Follows whether the bus is connected.
    pub(crate) fn state(&self) -> Option<watch::Receiver<bool>> {
        self.bus.state()
    }

    pub(crate) fn is_up(&self) -> bool {
        self.bus.is_up()
    }

    pub(crate) fn subscribe(&self, run: RunId) {
        self.bus.subscribe(&channel_of(run), &self.sender);
    }

    pub(crate) fn unsubscribe(&self, run: RunId) {
        self.bus.unsubscribe(&channel_of(run));
    }

    /// Asks the servers that have these runs to send their events.
    pub(crate) fn ask_for(&self, runs: &[RunId]) {
        if !runs.is_empty() {
            let ids: Vec<String> = runs.iter().map(ToString::to_string).collect();
            self.bus.publish(WANTED, ids.join(" "));
        }
    }

    /// Sends events of a run of this process, if other servers read it.
    pub(crate) fn send(&self, live: &LiveRun, events: &[Arc<Logged>]) {
        if !self.bus.is_up() || !live.audience.is_expected() {
            return;
        }
        let size_bytes: usize = events.iter().map(|event| event.json.len() + 1).sum();
        let stored = live.log.stored();
        let mut message = Vec::with_capacity(size_bytes + size_of::<u64>());
        message.extend_from_slice(&stored.to_be_bytes());
        if size_bytes <= MAX_SENT_BYTES {
            for event in events {
                message.extend_from_slice(&event.json);
                message.push(b'\n');
            }
        }
        self.bus
            .publish_to(&live.audience, &channel_of(live.id), message);
    }

    /// Sends activity to the servers that watch it.
    pub(crate) fn send_activity(&self, activity: &Activity) {
        if self.bus.is_up() {
            self.bus.publish(ACTIVITY, activity.to_json());
        }
    }
}

fn channel_of(run: RunId) -> String {
    format!("{RUN}{run}")
}

impl Runs {
    /// Takes in what other servers send over the bus, until the server stops.
    pub async fn follow_bus(self, stop: CancellationToken) {
        let receiver = self
            .0
            .feed
            .receiver
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(mut deliveries) = receiver else {
            return;
        };
        for channel in [WANTED, ACTIVITY] {
            self.0.feed.bus.subscribe(channel, &self.0.feed.sender);
        }
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                Some(delivery) = deliveries.recv() => self.take_in(delivery),
            }
        }
    }

    fn take_in(&self, delivery: Delivery) {
        match delivery {
            Delivery::Subscribed(channel) => {
                if let Some(run) = run_of(&channel) {
                    self.0.feed.ask_for(&[run]);
                    // What was written before that.
                    self.0.remote.look_now();
                }
            }
            Delivery::Message { channel, content } => match &*channel {
                WANTED => self.note_readers_elsewhere(&content),
                ACTIVITY => self.tell_from_elsewhere(&content),
                channel => {
                    if let Some(run) = run_of(channel) {
                        self.take_in_events(run, &content);
                    }
                }
            },
        }
    }

    fn note_readers_elsewhere(&self, ids: &[u8]) {
        let ids = str::from_utf8(ids).unwrap_or_default();
        for run in ids.split(' ').filter_map(|id| id.parse().ok()) {
            if let Some(live) = self.live(run) {
                live.audience.renew();
            }
        }
    }

    fn take_in_events(&self, run: RunId, message: &[u8]) {
        match parse(run, message) {
            Some((stored, events)) => self.feed_log(run, stored, events),
            None => {
                // Only another version of this program can have sent it.
                tracing::debug!(%run, "cannot read the events of a run from the bus");
                self.0.remote.look_now();
            }
        }
    }

    fn tell_from_elsewhere(&self, message: &[u8]) {
        if let Some(activity) = Activity::from_json(message)
            && activity.run.is_none_or(|run| self.live(run).is_none())
        {
            self.tell_here(activity);
        }
    }
}

fn run_of(channel: &str) -> Option<RunId> {
    channel.strip_prefix(RUN)?.parse().ok()
}

/// The last stored event, and the events of a message, which follow one another.
fn parse(run: RunId, message: &[u8]) -> Option<(u64, Vec<Arc<Logged>>)> {
    let (stored, lines) = message.split_first_chunk()?;
    let mut events: Vec<Arc<Logged>> = Vec::new();
    for line in lines.split(|byte| *byte == b'\n') {
        if line.is_empty() {
            continue;
        }
        let event: RunEvent = serde_json::from_slice(line).ok()?;
        let follows = events
            .last()
            .is_none_or(|last| last.event.seq.checked_add(1) == Some(event.seq));
        if event.run != run || !follows {
            return None;
        }
        events.push(Arc::new(Logged {
            event,
            json: Bytes::copy_from_slice(line),
            detail: None,
        }));
    }
    Some((u64::from_be_bytes(*stored), events))
}
