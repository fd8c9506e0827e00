//! Simulated people who send messages, watch the runs, and reconnect each time the server is killed.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, bail};
use domain::RunEvent;
use futures_util::{StreamExt, future::try_join_all};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{client, model::WORK};

/// Number of messages per chat.
const MESSAGES_PER_CHAT: usize = 3;

/// A message accepted by the server, and what its sender saw of the answer.
pub(crate) struct Exchange {
    pub(crate) chat: String,
    pub(crate) work: String,
    pub(crate) run: String,
    /// The events that each reader saw, by number.
    pub(crate) seen: Vec<Seen>,
}

/// Events by number.
pub(crate) type Seen = BTreeMap<u64, RunEvent>;

pub(crate) struct Load {
    world: Arc<World>,
    /// One per server slot.
    servers: Vec<watch::Sender<Option<String>>>,
    people: JoinSet<anyhow::Result<Vec<Exchange>>>,
}

struct World {
    client: Arc<Client>,
    closing: AtomicBool,
    ended: AtomicUsize,
}

impl Load {
    pub(crate) fn start(people: usize, servers: usize) -> anyhow::Result<Self> {
        let closing = AtomicBool::new(false);
        let world = Arc::new(World {
            client: client()?,
            closing,
            ended: AtomicUsize::new(0),
        });
        let servers: Vec<_> = (0..servers).map(|_| watch::Sender::new(None)).collect();
        let mut load = Self {
            world,
            servers,
            people: JoinSet::new(),
        };
        let device = |asks| Device {
            world: Arc::clone(&load.world),
            servers: load.servers.iter().map(watch::Sender::subscribe).collect(),
            asks,
        };
        // With several servers, each run is watched at two of them at a time.
        let devices = if load.servers.len() > 1 { 2 } else { 1 };
        let people: Vec<_> = (0..people)
            .map(|number| Person {
                number,
                devices: (number..number + devices).map(device).collect(),
            })
            .collect();
        for person in people {
            load.people.spawn(person.work());
        }
        Ok(load)
    }

    /// Announces the current URL of the server in this slot; `None` while it is down.
    pub(crate) fn server_is_at(&self, place: usize, url: Option<String>) {
        self.servers[place].send_replace(url);
    }

    /// Number of runs that were watched to their end.
    pub(crate) fn ended(&self) -> usize {
        self.world.ended.load(Ordering::Relaxed)
    }

    /// Waits until everyone has seen the end of their runs.
    pub(crate) async fn finish(mut self) -> anyhow::Result<Vec<Exchange>> {
        self.world.closing.store(true, Ordering::Relaxed);
        let mut exchanges = Vec::new();
        while let Some(person) = self.people.join_next().await {
            exchanges.extend(person??);
        }
        Ok(exchanges)
    }
}

struct Person {
    number: usize,
    devices: Vec<Device>,
}

/// A client of the servers.
struct Device {
    world: Arc<World>,
    servers: Vec<watch::Receiver<Option<String>>>,
    /// The server to ask next; a device uses them in turn.
    asks: usize,
}

impl Person {
    async fn work(mut self) -> anyhow::Result<Vec<Exchange>> {
        let world = Arc::clone(&self.devices[0].world);
        let mut exchanges = Vec::new();
        let mut chat = None;
        for number in 0.. {
            if world.closing.load(Ordering::Relaxed) {
                break;
            }
            if number % MESSAGES_PER_CHAT == 0 {
                chat = None;
            }
            let work = format!("{}-{number}", self.number);
            // An interrupted request may or may not have been accepted; it was not acknowledged.
            let Ok(mut exchange) = self.devices[0].say(&mut chat, work).await else {
                sleep(Duration::from_millis(5)).await;
                continue;
            };
            let readers = self.devices.iter_mut();
            let readers = readers.map(|device| device.watch_to_the_end(&exchange.run));
            exchange.seen = try_join_all(readers).await?;
            world.ended.fetch_add(1, Ordering::Relaxed);
            exchanges.push(exchange);
        }
        Ok(exchanges)
    }
}

impl Device {
    /// The address of the next server that is up.
    async fn url(&mut self) -> anyhow::Result<String> {
        self.asks += 1;
        let next = (0..self.servers.len()).map(|more| (self.asks + more) % self.servers.len());
        for place in next {
            if let Some(url) = &*self.servers[place].borrow() {
                return Ok(url.clone());
            }
        }
        let place = self.asks % self.servers.len();
        let server = self.servers[place].wait_for(Option::is_some).await?;
        server.clone().context("the server is somewhere")
    }

    async fn say(&mut self, chat: &mut Option<String>, work: String) -> anyhow::Result<Exchange> {
        let url = self.url().await?;
        let chat = match chat {
            Some(chat) => chat.clone(),
            None => {
                let made = self
                    .post(&format!("{url}/api/v1/chats"), &json!({}))
                    .await?;
                chat.insert(text(&made["id"])?).clone()
            }
        };
        let messages: Value = self.get(&format!("{url}/api/v1/chats/{chat}")).await?;
        let parent = messages["current_message"].clone();
        let said =
            json!({"content": format!("{WORK}{work}"), "parent": parent, "model": "scripted"});
        let begun = self
            .post(&format!("{url}/api/v1/chats/{chat}/messages"), &said)
            .await?;
        Ok(Exchange {
            chat,
            work,
            run: text(&begun["run"])?,
            seen: Vec::new(),
        })
    }

    async fn get(&self, url: &str) -> anyhow::Result<Value> {
        Ok(self
            .world
            .client
            .get(url)
            .send()
            .await?
            .error_for_status()?
            .json()
            .await?)
    }

    async fn post(&self, url: &str, body: &Value) -> anyhow::Result<Value> {
        Ok(self
            .world
            .client
            .post(url)
            .json(body)
            .send()
            .await?
            .error_for_status()?
            .json()
            .await?)
    }

    /// Watches the run, continuing after each interruption. Returns what it saw.
    async fn watch_to_the_end(&mut self, run: &str) -> anyhow::Result<Seen> {
        let mut seen = Seen::new();
        loop {
            match self.watch(run, &mut seen).await {
                Ok(true) => return Ok(seen),
                Err(error) if error.is::<Torn>() => return Err(error),
                Ok(false) | Err(_) => sleep(Duration::from_millis(5)).await,
            }
        }
    }

    /// Watches until the run or the connection ends. Returns whether the run has ended.
    async fn watch(&mut self, run: &str, seen: &mut Seen) -> anyhow::Result<bool> {
        let last = |seen: &Seen| seen.last_key_value().map_or(0, |(seq, _)| *seq);
        let url = self.url().await?;
        let url = format!("{url}/runs/{run}/events?after={}", last(seen));
        let response = self
            .world
            .client
            .get(url)
            .send()
            .await?
            .error_for_status()?;
        let mut body = response.bytes_stream();
        let mut buffer = Vec::new();
        while let Some(bytes) = timeout(Duration::from_secs(20), body.next()).await? {
            buffer.extend_from_slice(&bytes?);
            while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = buffer.drain(..=end).collect();
                let Some(data) = line.strip_prefix(b"data: ") else {
                    continue;
                };
                let event: RunEvent = serde_json::from_slice(data)?;
                if event.seq <= last(seen) {
                    let (seq, last) = (event.seq, last(seen));
                    return Err(Torn(format!("{run}: event {seq} came after {last}")).into());
                }
                let is_end = matches!(event.body, domain::EventBody::RunFinished { .. });
                seen.insert(event.seq, event);
                if is_end {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// An invalid log, which reconnecting does not repair.
#[derive(Debug)]
struct Torn(String);

impl std::fmt::Display for Torn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Torn {}

fn text(value: &Value) -> anyhow::Result<String> {
    match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => bail!("{value} should be a text"),
    }
}
