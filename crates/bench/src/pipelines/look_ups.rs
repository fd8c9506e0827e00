//! Effect of retrieval on the time to the first token: from documents, with the message as the query and with queries
//! written by a model, and from the closed web. With a real, small model: the time to write queries.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use scripted::{
    Behaviour, Finish, Reply, Request, ScriptedServer, ServerOptions, Step,
    web::{ClosedWeb, FactKind},
};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{ask_task, get, seen, variables};
use crate::{
    client::Client,
    program::{Program, Setup},
    research::on_the_web,
    table::{percentile, print},
    turns::{row, until_model_known},
};

/// The scripted model's delay for queries, and for an answer.
const QUERIES_MS: u32 = 200;
const ANSWER_MS: u32 = 50;
/// The beginning of an answer.
const FIRST_WORD: &str = "Photosynthesis";
const KNOWLEDGE: &str = "/api/v1/knowledge";

/// The ways in which a message is answered.
#[derive(Clone, Copy)]
enum Way {
    Plain,
    /// The first message that refers to documents.
    FirstOfDocuments,
    /// A later one.
    NextOfDocuments,
    Web,
}

/// Each way with its row names, and the model's delay for its queries.
const WAYS: [(Way, [&str; 3], u32); 4] = [
    (Way::Plain, ["no look, p50", "no look, p99", ""], 0),
    (
        Way::FirstOfDocuments,
        [
            "documents, the message is the query, p50",
            "the same, p99",
            "of that for the look",
        ],
        0,
    ),
    (
        Way::NextOfDocuments,
        [
            "documents, queries are worked out, p50",
            "the same, p99",
            "of that for the look, without the model's 200 ms",
        ],
        QUERIES_MS,
    ),
    (
        Way::Web,
        [
            "web, queries are worked out and pages read, p50",
            "the same, p99",
            "of that for the look, without the model's 200 ms",
        ],
        QUERIES_MS,
    ),
];

pub(super) async fn measure(program: &Path, quick: bool) -> anyhow::Result<()> {
    let web = ClosedWeb::start().await?;
    let model = model(&web).await?;
    let mut environment = on_the_web(web.origin());
    let names = variables(&["SEARCH_QUERY", "RETRIEVAL_QUERY"]);
    environment.extend(names.iter().map(|name| (name.as_str(), "true")));
    let upstream = Some(model.base_url());
    let program = Program::start(Setup {
        program,
        upstream,
        data_dir: None,
        environment: &environment,
    })?;
    until_model_known(&program).await?;
    let mut client = Client::connect(program.address).await?;
    let collection = collection(&mut client, &web).await?;
    let times = if quick { 5 } else { 50 };
    let mut of_ways = WAYS.map(|_| Vec::with_capacity(times));
    for _ in 0..times {
        // In turns, so that other load on the machine affects all of them.
        for ((way, ..), found) in WAYS.iter().zip(&mut of_ways) {
            found.push(first_token(&program, *way, &collection).await?);
        }
    }
    let mut rows = Vec::new();
    let plain = percentile(&mut of_ways[0].clone(), 0.5);
    for ((_, [middle, highest, of_look], asked), times) in WAYS.iter().zip(&mut of_ways) {
        let p50 = percentile(times, 0.5);
        rows.push(row(middle, p50, "ms", None));
        rows.push(row(highest, percentile(times, 0.99), "ms", None));
        if !of_look.is_empty() {
            rows.push(row(of_look, p50 - plain - f64::from(*asked), "ms", None));
        }
    }
    print(
        "First token of a message, with a look before the answer and without (SQLite; the model thinks for 50 ms)",
        &rows,
    );
    // The first connection has been idle for so long that the server has closed it.
    let mut client = Client::connect(program.address).await?;
    let calls = seen(&mut client, "queries").await?["calls"]
        .as_u64()
        .unwrap_or_default();
    ensure!(
        calls >= 2 * times as u64,
        "queries were worked out {calls} times only"
    );
    Ok(())
}

/// Writes queries and answers.
async fn model(web: &ClosedWeb) -> anyhow::Result<ScriptedServer> {
    let fact = web
        .facts()
        .iter()
        .find(|fact| fact.kind == FactKind::Simple)
        .context("no fact")?;
    let queries = json!({"queries": [fact.question]}).to_string();
    let behaviour = Behaviour::answer(move |request: &Request| {
        let asks_queries = request.body["messages"][0]["content"]
            .to_string()
            .contains("### Task:");
        let (ms, text) = match asks_queries {
            true => (QUERIES_MS, queries.clone()),
            false => (ANSWER_MS, format!("{FIRST_WORD} turns light into sugar.")),
        };
        Reply::stream(&[
            Step::Pause { ms: ms.into() },
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
    Ok(ScriptedServer::start_with(behaviour, options).await?)
}

/// A collection that has been indexed and can be searched.
async fn collection(client: &mut Client, web: &ClosedWeb) -> anyhow::Result<String> {
    let (_, made) = client
        .call("POST", KNOWLEDGE, r#"{"name": "Plants"}"#)
        .await?;
    let made: Value = serde_json::from_slice(&made)?;
    let id = made["id"].as_str().context("no collection")?.to_owned();
    for (number, fact) in web.facts().iter().enumerate().take(20) {
        let text = format!("# {}\n\nThe answer is {}.\n", fact.question, fact.answer);
        let path = format!("{KNOWLEDGE}/{id}/documents?name=fact-{number}.md");
        client.call("POST", &path, &text).await?;
    }
    let began = Instant::now();
    loop {
        let listed = get(client, &format!("{KNOWLEDGE}/{id}/documents")).await?;
        let documents = listed["documents"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        if documents
            .iter()
            .all(|document| document["state"] != "waiting")
        {
            return Ok(id);
        }
        ensure!(
            began.elapsed() < Duration::from_secs(120),
            "documents are not read"
        );
        sleep(Duration::from_millis(50)).await;
    }
}

/// Time from sending a message to the first word of its answer, milliseconds.
async fn first_token(program: &Program, way: Way, collection: &str) -> anyhow::Result<f64> {
    let mut client = Client::connect(program.address).await?;
    let (_, made) = client.call("POST", "/api/v1/chats", "{}").await?;
    let made: Value = serde_json::from_slice(&made)?;
    let chat = made["id"].as_str().context("no chat")?.to_owned();
    let words = json!({"type": "text", "text": "How do plants make food out of light?"});
    let points = json!({"type": "collection", "collection": collection, "name": "Plants"});
    let say = async |content: Value, mode: &str, parent: Value| -> anyhow::Result<(Value, f64)> {
        let body = json!({"content": content, "model": "scripted", "mode": mode, "parent": parent});
        say(program, &chat, &body).await
    };
    let plain = || json!([words.clone()]);
    match way {
        Way::Plain => Ok(say(plain(), "chat", Value::Null).await?.1),
        Way::Web => Ok(say(plain(), "web_search", Value::Null).await?.1),
        Way::FirstOfDocuments => Ok(say(json!([words, points]), "chat", Value::Null).await?.1),
        Way::NextOfDocuments => {
            let (answer, _) = say(json!([words.clone(), points]), "chat", Value::Null).await?;
            Ok(say(plain(), "chat", answer).await?.1)
        }
    }
}

/// Sends a message. Returns the answer's id and the time of its first word, once the run has ended.
async fn say(program: &Program, chat: &str, body: &Value) -> anyhow::Result<(Value, f64)> {
    let mut client = Client::connect(program.address).await?;
    let mut log = Client::connect(program.address).await?;
    let began = Instant::now();
    let path = format!("/api/v1/chats/{chat}/messages");
    let (_, begun) = client.call("POST", &path, &body.to_string()).await?;
    let begun: Value = serde_json::from_slice(&begun)?;
    let run = begun["run"].as_str().context("no run")?;
    log.send("GET", &format!("/runs/{run}/events"), "").await?;
    log.until(FIRST_WORD.as_bytes()).await?;
    let first_ms = began.elapsed().as_secs_f64() * 1_000.0;
    log.until(b"run_finished").await?;
    Ok((begun["assistant"]["id"].clone(), first_ms))
}

/// Conversations whose last message is meaningless without context.
const TALKS: [(&str, &str, &str); 10] = [
    (
        "What does a season ticket for the Ghent tram cost?",
        "62 euros a month.",
        "And for students?",
    ),
    (
        "Who wrote The Master and Margarita?",
        "Mikhail Bulgakov.",
        "When was it first printed in full?",
    ),
    (
        "How tall is the Eiffel Tower?",
        "330 metres.",
        "Which building was the tallest before it?",
    ),
    (
        "What is the newest version of Rust?",
        "I would have to look.",
        "Please do, and say what is new in it.",
    ),
    (
        "Is it going to rain in Lisbon tomorrow?",
        "I cannot know that.",
        "Look it up.",
    ),
    (
        "Кто построил Исаакиевский собор?",
        "Огюст Монферран.",
        "А сколько лет его строили?",
    ),
    (
        "Какая зарплата у пекаря в Казани?",
        "Около 60 тысяч рублей.",
        "А в Москве?",
    ),
    (
        "Что такое чёрная дыра?",
        "Область с очень сильным притяжением.",
        "Какая ближайшая к нам?",
    ),
    (
        "How long does sourdough take to rise?",
        "Four to twelve hours.",
        "Thanks, that helps!",
    ),
    (
        "Сколько стоит проезд в метро Петербурга?",
        "81 рубль.",
        "Спасибо.",
    ),
];

pub(super) async fn with_real_model(
    program: &Path,
    base_url: &str,
    quick: bool,
) -> anyhow::Result<()> {
    let program = super::start(program, base_url, &["SEARCH_QUERY"])?;
    let model = program.first_model().await?;
    let mut client = Client::connect(program.address).await?;
    let mut times = Vec::new();
    let mut none = 0_u32;
    let mut asked = 0_u32;
    for _ in 0..if quick { 1 } else { 3 } {
        for (question, answer, next) in TALKS {
            let messages = json!([
                {"role": "user", "content": question}, {"role": "assistant", "content": answer},
                {"role": "user", "content": next},
            ]);
            let body = json!({"model": model, "messages": messages, "type": "web_search"});
            let (ms, written, _) = ask_task(&mut client, "queries", &body).await?;
            let queries = written["queries"]
                .as_array()
                .map(Vec::len)
                .unwrap_or_default();
            times.push(ms);
            none += u32::from(queries == 0);
            asked += 1;
        }
    }
    let seen = seen(&mut client, "queries").await?;
    let failed = seen["failed"].as_f64().unwrap_or_default();
    print(
        &format!(
            "{asked} times search queries by a real, small model: what stands before the first token"
        ),
        &[
            row(
                "working them out, p50",
                percentile(&mut times, 0.5),
                "ms",
                None,
            ),
            row("the same, p90", percentile(&mut times, 0.9), "ms", None),
            row(
                "of them not usable or later than 8 s: the message itself is searched for",
                failed,
                "",
                None,
            ),
            row("of them with nothing to look up", none.into(), "", None),
        ],
    );
    Ok(())
}
