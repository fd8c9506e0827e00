//! Runs that wait for a person: how soon they continue after approval, and the memory of ten thousand of them.

use std::{path::Path, time::Duration};

use anyhow::Context;
use memchr::memmem;
use scripted::{Behaviour, Reply, Request, ScriptedServer, ServerOptions};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::{
    client::Client,
    program::{Program, Setup},
    table::{Aim, percentile, print},
    turns::{request, row},
};

const WAITING: usize = 10_000;
const ALLOWED: usize = 200;
/// Longer than a waiting run stays in memory, and than freed memory takes to be returned.
const REST: Duration = Duration::from_secs(20);
/// How often to check whether all of them are hibernated, each time after [`REST`].
const LOOKS: usize = 6;

/// A waiting run, and what is needed to approve it.
struct Waiting {
    run: String,
    approval: String,
    /// The number of the event with the request.
    asked: String,
}

pub(crate) async fn measure(program: &Path, quick: bool) -> anyhow::Result<()> {
    let model = model().await?;
    let environment = [(
        "GLASSHOUSE_APPROVALS",
        r#"[{tool="write_file", then="ask"}]"#,
    )];
    let setup = Setup {
        program,
        upstream: Some(model.base_url()),
        data_dir: None,
        environment: &environment,
    };
    let program = Program::start(setup)?;
    until_model_known(&program).await?;
    let (waiting, allowed) = if quick {
        (WAITING / 10, ALLOWED / 10)
    } else {
        (WAITING, ALLOWED)
    };
    let mut at_once = Vec::with_capacity(allowed);
    for _ in 0..allowed {
        let run = start(&program).await?;
        at_once.push(allow(&program, &run).await?);
    }
    let mut runs = Vec::with_capacity(waiting);
    for _ in 0..waiting {
        runs.push(start(&program).await?);
    }
    let (all_in_memory_mb, _) = program.process.memory_mb()?;
    let resting_mb = when_quiet(&program).await?;
    let mut rested = Vec::with_capacity(allowed);
    for run in runs.iter().take(allowed) {
        rested.push(allow(&program, run).await?);
    }
    print(
        "Runs that wait for a person's consent (each in the database, with its log)",
        &[
            row(
                "allowed to tool's result, at once, median",
                percentile(&mut at_once, 0.5),
                "ms",
                None,
            ),
            row(
                "allowed to tool's result, at once, p99",
                percentile(&mut at_once, 0.99),
                "ms",
                Some(Aim::AtMost(20.0)),
            ),
            row(
                "the same after a rest, median",
                percentile(&mut rested, 0.5),
                "ms",
                None,
            ),
            row(
                "the same after a rest, p99",
                percentile(&mut rested, 0.99),
                "ms",
                Some(Aim::AtMost(20.0)),
            ),
            row("runs that wait", count(waiting), "runs", None),
            row(
                "memory when the last has begun",
                all_in_memory_mb,
                "MB",
                None,
            ),
            row(
                "memory with all at rest",
                resting_mb,
                "MB",
                Some(Aim::AtMost(150.0)),
            ),
        ],
    );
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "some thousands")]
fn count(runs: usize) -> f64 {
    runs as f64
}

/// The model: one call that requires approval, then an answer.
async fn model() -> anyhow::Result<ScriptedServer> {
    let call = Reply::calls(&[(
        "write_file",
        json!({"path": "/notes.md", "content": "Some words to keep.\n"}),
    )]);
    let choose = move |request: &Request| {
        let messages = request.body["messages"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let answered = messages.iter().any(|message| message["role"] == "tool");
        if answered {
            Reply::text("Done.")
        } else {
            call.clone()
        }
    };
    let options = ServerOptions {
        keep_requests: false,
        ..ServerOptions::default()
    };
    Ok(ScriptedServer::start_with(Behaviour::answer(choose), options).await?)
}

async fn until_model_known(program: &Program) -> anyhow::Result<()> {
    for _ in 0..200 {
        if start(program).await.is_ok() {
            return Ok(());
        }
        sleep(Duration::from_millis(50)).await;
    }
    anyhow::bail!("the program does not know the scripted model")
}

/// Starts a run, waits until it requests approval, and disconnects.
async fn start(program: &Program) -> anyhow::Result<Waiting> {
    let mut client = Client::connect(program.address).await?;
    let header = client.send("POST", "/chat/stream", &request()).await?;
    let run = header
        .lines()
        .find_map(|line| line.strip_prefix("x-run-id: "))
        .context("no x-run-id")?
        .trim();
    let mut log = Client::connect(program.address).await?;
    log.send("GET", &format!("/runs/{run}/events"), "").await?;
    let asked = log.line_with(b"approval_asked").await?;
    Ok(Waiting {
        run: run.to_owned(),
        approval: between(&asked, "\"approval\":\"", "\"")?.to_owned(),
        asked: between(&asked, "\"seq\":", ",")?.to_owned(),
    })
}

/// Approves the call of a run. Returns the time from the approval until its result was shown, milliseconds.
async fn allow(program: &Program, waiting: &Waiting) -> anyhow::Result<f64> {
    let mut log = Client::connect(program.address).await?;
    log.send(
        "GET",
        &format!("/runs/{}/events?after={}", waiting.run, waiting.asked),
        "",
    )
    .await?;
    let mut person = Client::connect(program.address).await?;
    let path = format!("/runs/{}/approvals/{}", waiting.run, waiting.approval);
    let began = Instant::now();
    person
        .send("POST", &path, r#"{"decision":"allow"}"#)
        .await?;
    log.until(b"tool_finished").await?;
    let took = began.elapsed();
    log.until(b"run_finished").await?;
    Ok(took.as_secs_f64() * 1000.0)
}

/// The memory once it has stopped falling, MB.
async fn when_quiet(program: &Program) -> anyhow::Result<f64> {
    let mut last = f64::INFINITY;
    for _ in 0..LOOKS {
        sleep(REST).await;
        let (now, _) = program.process.memory_mb()?;
        if now > last - 1.0 {
            return Ok(now);
        }
        last = now;
    }
    Ok(last)
}

/// The part of `text` after `before` and up to the next `after`.
fn between<'a>(text: &'a [u8], before: &str, after: &str) -> anyhow::Result<&'a str> {
    let start = memmem::find(text, before.as_bytes()).with_context(|| format!("no {before}"))?
        + before.len();
    let end = memmem::find(&text[start..], after.as_bytes())
        .with_context(|| format!("no {after}"))?
        + start;
    Ok(std::str::from_utf8(&text[start..end])?)
}
