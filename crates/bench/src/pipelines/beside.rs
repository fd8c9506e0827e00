//! Effect of pipelines on the answers they run alongside, and the savings of one call for three of them.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use scripted::{Behaviour, Finish, Reply, Request, ScriptedServer, ServerOptions, Step};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{get, seen, start};
use crate::{
    client::Client,
    program::Program,
    table::{Aim, percentile, print},
    turns::{row, until_model_known},
};

/// The pipelines that run after an answer.
const ALL: [&str; 4] = ["TITLE", "TAGS", "FOLLOW_UP", "AUTOCOMPLETE"];
/// Messages per chat; each is sent while the pipelines of the previous one are still running.
const MESSAGES: usize = 5;
/// The model's delay for an answer, and for a pipeline.
const ANSWER_MS: u64 = 50;
const BESIDE_MS: u64 = 200;

pub(super) async fn measure(program: &Path, quick: bool) -> anyhow::Result<()> {
    let model = Model::start().await?;
    let with = start(program, &model.base_url(), &ALL)?;
    let without = start(program, &model.base_url(), &[])?;
    until_model_known(&with).await?;
    until_model_known(&without).await?;
    let chats = if quick { 10 } else { 100 };
    let mut on = Vec::new();
    let mut off = Vec::new();
    for chat in 0..chats {
        // Alternates which comes first.
        let both = [(&with, &mut on), (&without, &mut off)];
        let order = if chat % 2 == 0 { [0, 1] } else { [1, 0] };
        let mut both = both.map(Some);
        for place in order {
            if let Some((program, times)) = both[place].take() {
                times.extend(first_tokens(program).await?);
            }
        }
    }
    let off_p50 = percentile(&mut off, 0.5);
    let on_p50 = percentile(&mut on, 0.5);
    let off_p99 = percentile(&mut off, 0.99);
    let on_p99 = percentile(&mut on, 0.99);
    print(
        "First token of a message, with all pipelines and without (SQLite; the model thinks for 50 ms)",
        &[
            row("without, p50", off_p50, "ms", None),
            row("with, p50", on_p50, "ms", None),
            row("without, p99", off_p99, "ms", None),
            row("with, p99", on_p99, "ms", None),
            row(
                "with / without, p50",
                on_p50 / off_p50,
                "",
                Some(Aim::AtMost(1.02)),
            ),
            row("with / without, p99", on_p99 / off_p99, "", None),
        ],
    );
    drop((with, without));
    shared(program, if quick { 3 } else { 20 }).await
}

/// Input and output words for title, tags and follow-ups: in one call, and in three.
async fn shared(program: &Path, chats: usize) -> anyhow::Result<()> {
    let mut words = Vec::new();
    for apart in [false, true] {
        let model = Model::start().await?;
        let program = start(program, &model.base_url(), &ALL[..3])?;
        until_model_known(&program).await?;
        if apart {
            set_templates(&program).await?;
        }
        let before = model.words();
        for _ in 0..chats {
            one_chat(&program).await?;
        }
        words.push(model.words() - before);
    }
    #[expect(clippy::cast_precision_loss, reason = "some thousands")]
    let [together, apart] = [
        words[0] as f64 / chats as f64,
        words[1] as f64 / chats as f64,
    ];
    print(
        "Title, tags and follow-ups of a first answer: words read and written",
        &[
            row(
                "in three calls, an answer of 200 words",
                apart,
                "words",
                None,
            ),
            row("in one call", together, "words", None),
            row("one / three", together / apart, "", Some(Aim::AtMost(0.4))),
        ],
    );
    Ok(())
}

/// Custom templates are called separately.
async fn set_templates(program: &Program) -> anyhow::Result<()> {
    let mut client = Client::connect(program.address).await?;
    for name in ["title", "tags", "follow_ups"] {
        let template = seen(&mut client, name).await?["template"].clone();
        let set = json!({"template": template}).to_string();
        client
            .call("PUT", &format!("/api/v1/pipelines/{name}"), &set)
            .await?;
    }
    Ok(())
}

/// A chat with one answer and all of its pipelines.
async fn one_chat(program: &Program) -> anyhow::Result<()> {
    let mut client = Client::connect(program.address).await?;
    let chat = new_chat(&mut client).await?;
    let (run, _) = say(&mut client, program, &chat).await?;
    let began = Instant::now();
    loop {
        let beside = get(&mut client, &format!("/api/v1/runs/{run}/pipelines")).await?;
        let calls = beside["calls"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let names = calls
            .iter()
            .filter_map(|call| call["pipelines"].as_array())
            .map(Vec::len)
            .sum::<usize>();
        if names >= 3 {
            return Ok(());
        }
        anyhow::ensure!(
            began.elapsed() < Duration::from_secs(30),
            "nothing is written beside a chat"
        );
        sleep(Duration::from_millis(10)).await;
    }
}

/// Time from sending each message of a chat to the first word of its answer, milliseconds.
async fn first_tokens(program: &Program) -> anyhow::Result<Vec<f64>> {
    let mut client = Client::connect(program.address).await?;
    let chat = new_chat(&mut client).await?;
    let mut times = Vec::with_capacity(MESSAGES);
    for _ in 0..MESSAGES {
        times.push(say(&mut client, program, &chat).await?.1);
        // Long enough for the pipelines to begin.
        sleep(Duration::from_millis(20)).await;
    }
    Ok(times)
}

async fn new_chat(client: &mut Client) -> anyhow::Result<String> {
    let (_, made) = client.call("POST", "/api/v1/chats", "{}").await?;
    let made: Value = serde_json::from_slice(&made)?;
    Ok(made["id"].as_str().context("no chat")?.to_owned())
}

/// Sends a message. Returns the run and the time of its first word, once the run has ended.
async fn say(client: &mut Client, program: &Program, chat: &str) -> anyhow::Result<(String, f64)> {
    let mut log = Client::connect(program.address).await?;
    let began = Instant::now();
    let body = json!({"content": QUESTION, "model": "scripted"}).to_string();
    let (_, begun) = client
        .call("POST", &format!("/api/v1/chats/{chat}/messages"), &body)
        .await?;
    let begun: Value = serde_json::from_slice(&begun)?;
    let run = begun["run"].as_str().context("no run")?.to_owned();
    log.send("GET", &format!("/runs/{run}/events"), "").await?;
    log.until(b"Photosynthesis").await?;
    let first_ms = began.elapsed().as_secs_f64() * 1000.0;
    log.until(b"run_finished").await?;
    Ok((run, first_ms))
}

const QUESTION: &str = "How do plants make food out of light, and why are most of them green?";
/// A typical length of answers: about 200 words.
const ANSWER: &str = "Photosynthesis turns light into sugar. Chlorophyll in the leaves takes up red and blue light and leaves \
    green, which is what we see. With the energy of that light the plant splits water, keeps the hydrogen, lets the oxygen \
    go, and builds sugar out of the carbon dioxide that comes in through small openings of the leaf. Some of the sugar is \
    burnt at once, some becomes starch for the night, and some becomes the walls of new cells.\n\nThat most plants are green \
    has to do with where they come from. Their ancestors lived in water, where others had taken the green light before it \
    reached them, so that what was left was red and blue. A pigment that takes up those two was worth having, and it has \
    stayed with all that came after. Algae in deeper water have other pigments, which is why some of them are red or brown. \
    There may be a second reason: green light comes in such amounts at noon, and changes so quickly when a cloud passes, that \
    a leaf which took all of it would be burnt one moment and starved the next. By leaving some of it alone the plant gets a \
    steadier supply, and that is worth more to it than the largest one.";

/// Answers chats and pipelines, and counts words.
struct Model {
    server: ScriptedServer,
    words: Arc<AtomicUsize>,
}

impl Model {
    async fn start() -> anyhow::Result<Self> {
        let words = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&words);
        let behaviour = Behaviour::answer(move |request: &Request| {
            let asked = asked(request);
            let is_beside = asked.contains("### Task:");
            let text = if is_beside {
                beside(&asked)
            } else {
                ANSWER.to_owned()
            };
            if is_beside {
                let all = asked.split_whitespace().count() + text.split_whitespace().count();
                counted.fetch_add(all, Ordering::Relaxed);
            }
            Reply::stream(&[
                Step::Pause {
                    ms: if is_beside { BESIDE_MS } else { ANSWER_MS },
                },
                Step::Text {
                    text,
                    tokens_per_second: None,
                },
                Step::Finish {
                    reason: Finish::Stop,
                },
            ])
        });
        let options = ServerOptions {
            keep_requests: false,
            ..ServerOptions::default()
        };
        Ok(Self {
            server: ScriptedServer::start_with(behaviour, options).await?,
            words,
        })
    }

    fn base_url(&self) -> String {
        self.server.base_url()
    }

    fn words(&self) -> usize {
        self.words.load(Ordering::Relaxed)
    }
}

/// The last message to the model.
fn asked(request: &Request) -> String {
    let messages = request.body["messages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let content = messages.last().map(|message| &message["content"]);
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}

/// The JSON answer with the fields that the request names.
fn beside(asked: &str) -> String {
    let parts = [
        ("title", json!("🌱 How Plants Make Food")),
        ("tags", json!(["science", "botany"])),
        (
            "follow_ups",
            json!([
                "What do plants do at night?",
                "Which plants are not green?",
                "How fast is it?"
            ]),
        ),
    ];
    let wanted = parts
        .into_iter()
        .filter(|(name, _)| asked.contains(&format!("- {name}:")));
    Value::Object(
        wanted
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
    .to_string()
}
