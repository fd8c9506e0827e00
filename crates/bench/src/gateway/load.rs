//! Applies the same load to each contender.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::bail;
use scripted::{Behaviour, Finish, Reply, Request, ScriptedServer, ServerOptions, Step};
use serde_json::json;
use tokio::{task::JoinSet, time::Instant};

use crate::client::Client;

pub(super) const CHAT: &str = "/v1/chat/completions";
/// Tokens per stream.
pub(super) const TOKENS: usize = 500;
/// The beginning of each token. A number follows, since LiteLLM aborts streams of identical tokens.
pub(super) const TOKEN: &str = "token-";

/// The address, model and headers of requests.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
    /// The path: [`CHAT`] or that of Anthropic's Messages.
    pub(super) path: &'static str,
    /// Model names for whole answers and for streams.
    pub(super) models: [String; 2],
    /// Header lines with their line ends.
    pub(super) headers: String,
}

/// The kind of answer requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One JSON object, 0.9 KB.
    Whole,
    /// [`TOKENS`] tokens, each in a separate write without pauses.
    Stream,
}

/// The amount of load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) kind: Kind,
    pub(super) connections: usize,
    pub(super) answers: usize,
    /// After this time no more requests begin; those in progress are read to their end.
    pub(super) time: Duration,
}

/// The results.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    /// Per answer: time to the first token for a stream, otherwise to the end.
    pub(super) latencies_ms: Vec<f64>,
    /// Per stream: time to the end.
    pub(super) ends_ms: Vec<f64>,
    pub(super) tokens: usize,
    pub(super) elapsed: Duration,
}

impl Tally {
    pub(super) fn add(&mut self, other: Self) {
        self.latencies_ms.extend(other.latencies_ms);
        self.ends_ms.extend(other.ends_ms);
        self.tokens += other.tokens;
        self.elapsed += other.elapsed;
    }
}

/// The model server behind all contenders.
pub(super) async fn model() -> anyhow::Result<ScriptedServer> {
    let text: String = (0..TOKENS)
        .map(|number| format!("{TOKEN}{number} "))
        .collect();
    let stream = Reply::stream(&[
        Step::Text {
            text,
            tokens_per_second: Some(f64::INFINITY),
        },
        Step::Usage {
            input_tokens: 200,
            output_tokens: 500,
        },
        Step::Finish {
            reason: Finish::Stop,
        },
    ]);
    let message = json!({"role": "assistant", "content": "An answer of some length. ".repeat(25)});
    let whole = Reply::json(&json!({
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 200, "completion_tokens": 150, "total_tokens": 350},
    }));
    let choose = move |request: &Request| {
        if request.body["stream"] == true {
            stream.clone()
        } else {
            whole.clone()
        }
    };
    let options = ServerOptions {
        keep_requests: false,
        ..ServerOptions::default()
    };
    Ok(ScriptedServer::start_with(Behaviour::answer(choose), options).await?)
}

fn body(kind: Kind, target: &Target) -> String {
    let system = "You answer questions about a long text. ".repeat(20);
    let question = "What does it say?";
    let question = json!({"role": "user", "content": question});
    let stream = kind == Kind::Stream;
    let model = &target.models[usize::from(stream)];
    if target.path == CHAT {
        let messages = json!([{"role": "system", "content": system}, question]);
        return json!({"model": model, "messages": messages, "stream": stream}).to_string();
    }
    json!({"model": model, "system": system, "messages": [question], "max_tokens": 1000, "stream": stream})
        .to_string()
}

/// Sends one request to check that it works.
pub(super) async fn try_once(target: &Target) -> anyhow::Result<()> {
    let load = Load {
        kind: Kind::Whole,
        connections: 1,
        answers: 1,
        time: Duration::MAX,
    };
    put_on(target, load).await.map(drop)
}

/// Requests as many answers as wanted, or as arrive in the time, over existing connections.
pub(super) async fn put_on(target: &Target, load: Load) -> anyhow::Result<Tally> {
    let mut clients = Vec::new();
    for _ in 0..load.connections {
        clients.push(
            Client::connect(target.address)
                .await?
                .with_headers(&target.headers),
        );
    }
    let left = Arc::new(AtomicUsize::new(load.answers));
    let body = Arc::<str>::from(body(load.kind, target));
    let began = Instant::now();
    let mut workers = JoinSet::new();
    for client in clients {
        let left = Arc::clone(&left);
        let body = Arc::clone(&body);
        let path = target.path;
        workers.spawn(async move {
            let may_go_on = || {
                let one_less = |left: usize| left.checked_sub(1);
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
                    .is_ok()
                    && began.elapsed() < load.time
            };
            work(client, load.kind, path, &body, may_go_on).await
        });
    }
    let mut all = Tally::default();
    while let Some(tally) = workers.join_next().await {
        all.add(tally??);
    }
    all.elapsed = began.elapsed();
    Ok(all)
}

async fn work(
    mut client: Client,
    kind: Kind,
    path: &str,
    body: &str,
    may_go_on: impl Fn() -> bool,
) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    while may_go_on() {
        match kind {
            Kind::Whole => tally.latencies_ms.push(client.ask(path, body).await?),
            Kind::Stream => {
                let timing = client.stream(path, body, TOKEN.as_bytes()).await?;
                // A proxy that copies blocks may split a token, with a chunk header in between.
                if timing.marks < TOKENS * 99 / 100 {
                    bail!("{} of {TOKENS} tokens came", timing.marks);
                }
                tally.tokens += TOKENS;
                tally.latencies_ms.extend(timing.mark_ms);
                tally.ends_ms.push(timing.end_ms);
            }
        }
    }
    Ok(tally)
}
