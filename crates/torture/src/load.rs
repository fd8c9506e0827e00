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
use futures_util::StreamExt;
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
    /// All events except deltas, by number.
    pub(crate) seen: BTreeMap<u64, RunEvent>,
}

pub(crate) struct Load {
    world: Arc<World>,
    /// One per server slot.
    servers: Vec<watch::Sender<Option<String>>>,
    people: JoinSet<anyhow::Result<Vec<Exchange>>>,
}

struct World {
    client: Arc<Client>,
    closing: AtomicBool,
    taken: AtomicUsize,
}

impl Load {
    pub(crate) fn start(people: usize, servers: usize) -> anyhow::Result<Self> {
        let closing = AtomicBool::new(false);
        let world = Arc::new(World {
            client: client()?,
            closing,
            taken: AtomicUsize::new(0),
        });
        let servers: Vec<_> = (0..servers).map(|_| watch::Sender::new(None)).collect();
        let mut load = Self {
            world,
            servers,
            people: JoinSet::new(),
        };
        for number in 0..people {
            let servers = load.servers.iter().map(watch::Sender::subscribe).collect();
            let person = Person {
                number,
                world: Arc::clone(&load.world),
                servers,
                asks: number,
            };
            load.people.spawn(person.work());
        }
        Ok(load)
    }

    /// Announces the current URL of the server in this slot; `None` while it is down.
    pub(crate) fn server_is_at(&self, place: usize, url: Option<String>) {
        self.servers[place].send_replace(url);
    }

    /// Number of messages accepted by the server.
    pub(crate) fn taken(&self) -> usize {
        self.world.taken.load(Ordering::Relaxed)
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
    world: Arc<World>,
    servers: Vec<watch::Receiver<Option<String>>>,
    /// The server to ask next; a person uses them in turn.
    asks: usize,
}

impl Person {
    async fn work(mut self) -> anyhow::Result<Vec<Exchange>> {
        let mut exchanges = Vec::new();
        let mut chat = None;
        for number in 0.. {
            if self.world.closing.load(Ordering::Relaxed) {
                break;
            }
            if number % MESSAGES_PER_CHAT == 0 {
                chat = None;
            }
            let work = format!("{}-{number}", self.number);
            // An interrupted request may or may not have been accepted; it was not acknowledged.
            let Ok(mut exchange) = self.say(&mut chat, work).await else {
                sleep(Duration::from_millis(5)).await;
                continue;
            };
            self.world.taken.fetch_add(1, Ordering::Relaxed);
            self.watch_to_the_end(&mut exchange).await?;
            exchanges.push(exchange);
        }
        Ok(exchanges)
    }

    async fn url(&mut self) -> anyhow::Result<String> {
        self.asks += 1;
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
            seen: BTreeMap::new(),
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

    /// Watches the run, continuing after each interruption.
    async fn watch_to_the_end(&mut self, exchange: &mut Exchange) -> anyhow::Result<()> {
        let mut after = 0;
        loop {
            match self.watch(exchange, &mut after).await {
                Ok(true) => return Ok(()),
                Ok(false) => sleep(Duration::from_millis(5)).await,
                Err(error) if error.is::<Torn>() => return Err(error),
                Err(_) => sleep(Duration::from_millis(5)).await,
            }
        }
    }

    /// Watches until the run or the connection ends. Returns whether the run has ended.
    async fn watch(&mut self, exchange: &mut Exchange, after: &mut u64) -> anyhow::Result<bool> {
        let url = format!(
            "{}/runs/{}/events?after={after}",
            self.url().await?,
            exchange.run
        );
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
                if event.seq <= *after {
                    return Err(Torn(format!(
                        "{}: event {} came after {after}",
                        exchange.run, event.seq
                    ))
                    .into());
                }
                *after = event.seq;
                let is_end = matches!(event.body, domain::EventBody::RunFinished { .. });
                if !event.body.is_delta() {
                    exchange.seen.insert(event.seq, event);
                }
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
