//! A thousand runs in the middle of their work, a kill, a start: time until all of them continue.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use scripted::{Behaviour, Reply, Request, ScriptedServer, ServerOptions, Step};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::{
    client::Client,
    program::{Program, Setup, new_folder},
    table::{Aim, print},
    turns::{request, row},
};

const RUNS: usize = 1000;
const MAX_SECONDS: u64 = 120;

/// The model's state regarding the crash.
#[derive(Default)]
struct Crash {
    /// Whether it has happened.
    over: AtomicBool,
    /// Number of runs that have called the model again since.
    gone_on: AtomicUsize,
}

pub(crate) async fn measure(program: &Path, quick: bool) -> anyhow::Result<()> {
    let count = if quick { RUNS / 10 } else { RUNS };
    let crash = Arc::new(Crash::default());
    let model = model(Arc::clone(&crash)).await?;
    let data_dir = new_folder("resume");
    let setup = || Setup {
        program,
        upstream: Some(model.base_url()),
        data_dir: Some(data_dir.clone()),
        environment: &[],
    };
    let before = Program::start(setup())?;
    let mut runs = Vec::with_capacity(count);
    while runs.len() < count {
        match start(&before).await {
            Ok(run) => runs.push(run),
            // The list of models may not be available yet.
            Err(_) if runs.is_empty() => sleep(Duration::from_millis(50)).await,
            Err(error) => return Err(error),
        }
    }
    crash.over.store(true, Ordering::SeqCst);
    // Like `kill -9`.
    drop(before);
    let began = Instant::now();
    let after = Program::start(setup())?;
    let ready = began.elapsed();
    until(began, || crash.gone_on.load(Ordering::SeqCst) >= count).await?;
    let all_go_on = began.elapsed();
    for run in &runs {
        let mut log = Client::connect(after.address).await?;
        log.send("GET", &format!("/runs/{run}/events"), "").await?;
        let end = log.line_with(b"run_finished").await?;
        let end = String::from_utf8_lossy(&end);
        anyhow::ensure!(
            end.contains("\"outcome\":\"completed\""),
            "{run} ended with {end}"
        );
    }
    let (_, peak_mb) = after.process.memory_mb()?;
    drop(after);
    std::fs::remove_dir_all(&data_dir)?;
    #[expect(clippy::cast_precision_loss, reason = "a thousand")]
    let interrupted = count as f64;
    print(
        "A kill in the middle of runs, and a start (SQLite)",
        &[
            row("interrupted runs", interrupted, "runs", None),
            row(
                "start of the process to ready",
                ready.as_secs_f64(),
                "s",
                None,
            ),
            row(
                "start of the process until all go on",
                all_go_on.as_secs_f64(),
                "s",
                Some(Aim::AtMost(5.0)),
            ),
            row("all of them finished: peak memory", peak_mb, "MB", None),
        ],
    );
    Ok(())
}

/// The model: a tool call, then endless words until the crash is over, then an answer.
async fn model(crash: Arc<Crash>) -> anyhow::Result<ScriptedServer> {
    let call = Reply::calls(&[(
        "write_file",
        json!({"path": "/notes.md", "content": "Some words to keep.\n"}),
    )]);
    let half = Reply::stream(&[
        Step::Text {
            text: "Half an".into(),
            tokens_per_second: None,
        },
        Step::Silence,
    ]);
    let choose = move |request: &Request| {
        if crash.over.load(Ordering::SeqCst) {
            crash.gone_on.fetch_add(1, Ordering::SeqCst);
            return Reply::text("A whole answer.");
        }
        let messages = request.body["messages"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let called = messages.iter().any(|message| message["role"] == "tool");
        if called { half.clone() } else { call.clone() }
    };
    let options = ServerOptions {
        keep_requests: false,
        ..ServerOptions::default()
    };
    Ok(ScriptedServer::start_with(Behaviour::answer(choose), options).await?)
}

/// Starts a run, waits until it has begun to answer, and disconnects. Returns its id.
async fn start(program: &Program) -> anyhow::Result<String> {
    let mut client = Client::connect(program.address).await?;
    let header = client.send("POST", "/chat/stream", &request()).await?;
    client.until(b"Half").await?;
    let run = header
        .lines()
        .find_map(|line| line.strip_prefix("x-run-id: "));
    Ok(run.context("no x-run-id")?.trim().to_owned())
}

async fn until(began: Instant, done: impl Fn() -> bool) -> anyhow::Result<()> {
    while !done() {
        anyhow::ensure!(
            began.elapsed() < Duration::from_secs(MAX_SECONDS),
            "not all runs went on"
        );
        sleep(Duration::from_millis(2)).await;
    }
    Ok(())
}
