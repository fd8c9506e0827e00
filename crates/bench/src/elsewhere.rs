//! Two servers on one PostgreSQL, with and without a bus: how late readers at one of them see what a run of the other
//! writes, what that costs the database, and how soon commands from elsewhere are obeyed.

use std::{
    net::SocketAddr,
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::Context;
use memchr::memmem;
use scripted::{Behaviour, Finish, Reply, ScriptedServer, ServerOptions, Step};
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{
    client::Client,
    engines::{Database, Engines, Redis, SECRET_KEY},
    program::{Program, Setup},
    table::{percentile, print_grid},
    turns::until_model_known,
};

/// Numbers of readers at the other server, of one run.
const READERS: [usize; 6] = [0, 1, 10, 100, 500, 2000];
const TOKENS_PER_SECOND: f64 = 30.0;
const MEASURED_FOR: Duration = Duration::from_secs(10);
const COMMANDS: usize = 60;

pub(crate) async fn measure(
    program: &Path,
    engines: &Engines<'_>,
    quick: bool,
) -> anyhow::Result<()> {
    measure_with(program, engines.postgres, None, quick).await?;
    if let Some(redis) = engines.redis {
        let redis = Redis::start(redis).await?;
        measure_with(program, engines.postgres, Some(&redis.url), quick).await?;
    }
    Ok(())
}

async fn measure_with(
    program: &Path,
    postgres: &str,
    bus: Option<&str>,
    quick: bool,
) -> anyhow::Result<()> {
    let options = ServerOptions {
        keep_requests: false,
        ..ServerOptions::default()
    };
    let model = ScriptedServer::start_with(Behaviour::always(long_answer()), options).await?;
    let mut database = Database::create(postgres).await?;
    let url = database.url.clone();
    let mut environment = vec![
        ("GLASSHOUSE_DATABASE_URL", url.as_str()),
        ("GLASSHOUSE_SECRET_KEY", SECRET_KEY),
    ];
    environment.extend(bus.map(|url| ("GLASSHOUSE_BUS_URL", url)));
    let start = || {
        Program::start(Setup {
            program,
            upstream: Some(model.base_url()),
            data_dir: None,
            environment: &environment,
        })
    };
    let (here, elsewhere) = (start()?, start()?);
    until_model_known(&here).await?;
    until_model_known(&elsewhere).await?;
    let mut lines = Vec::new();
    for readers in if quick { &READERS[..4] } else { &READERS[..] } {
        let cells = lag(&here, &elsewhere, &mut database, *readers).await;
        lines.push((
            format!("{readers} readers elsewhere"),
            cells.map_err(|error| format!("{error:#}")),
        ));
    }
    let with = if bus.is_some() { "with" } else { "without" };
    print_grid(
        &format!("A run at 30 tokens a second, read at two servers, {with} a bus"),
        &[
            "here p50",
            "p99 ms",
            "elsewhere p50",
            "p99 ms",
            "statements/s",
            "a reader",
            "cores here",
            "elsewhere",
        ],
        &lines,
    );
    let commands = if quick { COMMANDS / 4 } else { COMMANDS };
    let mut stopped = Vec::new();
    for _ in 0..commands {
        stopped.push(stop_from(&here, &elsewhere).await?);
    }
    print_grid(
        &format!("Stop requests until the run has ended, {with} a bus"),
        &["p50 ms", "p99 ms", "max ms"],
        &[(
            "sent to the other server".to_owned(),
            Ok([0.5, 0.99, 1.0]
                .map(|share| format!("{:.0}", percentile(&mut stopped, share)))
                .to_vec()),
        )],
    );
    drop((here, elsewhere));
    database.drop_it().await
}

/// An answer of 30 seconds.
pub(crate) fn long_answer() -> Reply {
    Reply::stream(&[
        Step::Text {
            text: "token ".repeat(900),
            tokens_per_second: Some(TOKENS_PER_SECOND),
        },
        Step::Finish {
            reason: Finish::Stop,
        },
    ])
}

/// Starts a run and returns its id.
pub(crate) async fn begin(server: SocketAddr) -> anyhow::Result<String> {
    let mut client = Client::connect(server).await?;
    let (_, chat) = client.call("POST", "/api/v1/chats", "{}").await?;
    let chat: Value = serde_json::from_slice(&chat)?;
    let chat = chat["id"].as_str().context("a chat without an id")?;
    let said = json!({"content": "Go.", "model": "scripted"}).to_string();
    let path = format!("/api/v1/chats/{chat}/messages");
    let (_, begun) = client.call("POST", &path, &said).await?;
    let begun: Value = serde_json::from_slice(&begun)?;
    Ok(begun["run"]
        .as_str()
        .context("a message without a run")?
        .to_owned())
}

pub(crate) async fn stop(server: SocketAddr, run: &str) -> anyhow::Result<()> {
    let mut client = Client::connect(server).await?;
    client
        .send("POST", &format!("/runs/{run}/cancel"), "{}")
        .await
        .map(drop)
}

/// Opens the run's log.
pub(crate) async fn open(server: SocketAddr, run: &str) -> anyhow::Result<Client> {
    let mut client = Client::connect(server).await?;
    let path = format!("/runs/{run}/events");
    client.send("GET", &path, "").await?;
    Ok(client)
}

/// Whether readers note what they get.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Phase {
    Connecting,
    Measuring,
    Over,
}

/// One row of the table.
async fn lag(
    here: &Program,
    elsewhere: &Program,
    database: &mut Database,
    readers: usize,
) -> anyhow::Result<Vec<String>> {
    let run = begin(here.address).await?;
    let (phase, watched) = watch::channel(Phase::Connecting);
    let (mut local, mut remote) = (JoinSet::new(), JoinSet::new());
    local.spawn(read(open(here.address, &run).await?, watched.clone()));
    for _ in 0..readers {
        let client = open(elsewhere.address, &run).await?;
        remote.spawn(read(client, watched.clone()));
    }
    sleep(Duration::from_secs(1)).await;
    let (began, before) = (Instant::now(), database.transactions().await?);
    let cpu = || anyhow::Ok((here.process.cpu_s()?, elsewhere.process.cpu_s()?));
    let cpu_before = cpu()?;
    phase.send_replace(Phase::Measuring);
    sleep(MEASURED_FOR).await;
    phase.send_replace(Phase::Over);
    let seconds = began.elapsed().as_secs_f64();
    let statements = (database.transactions().await? - before) / seconds;
    let cpu_after = cpu()?;
    stop(here.address, &run).await?;
    let (mut local, mut others) = (all(local).await?, all(remote).await?);
    let ms = |lags: &mut Vec<f64>, share| match lags.is_empty() {
        true => "–".to_owned(),
        false => format!("{:.0}", percentile(lags, share)),
    };
    #[expect(clippy::cast_precision_loss, reason = "a few thousand readers")]
    let a_reader = match readers {
        0 => "–".to_owned(),
        readers => format!("{:.2}", statements / readers as f64),
    };
    Ok(vec![
        ms(&mut local, 0.5),
        ms(&mut local, 0.99),
        ms(&mut others, 0.5),
        ms(&mut others, 0.99),
        format!("{statements:.0}"),
        a_reader,
        format!("{:.2}", (cpu_after.0 - cpu_before.0) / seconds),
        format!("{:.2}", (cpu_after.1 - cpu_before.1) / seconds),
    ])
}

pub(crate) async fn all(
    mut readers: JoinSet<anyhow::Result<Vec<f64>>>,
) -> anyhow::Result<Vec<f64>> {
    let mut all = Vec::new();
    while let Some(lags) = readers.join_next().await {
        all.extend(lags??);
    }
    Ok(all)
}

/// How late each event arrives, milliseconds, while it is measured.
pub(crate) async fn read(
    mut client: Client,
    mut phase: watch::Receiver<Phase>,
) -> anyhow::Result<Vec<f64>> {
    let mut lags = Vec::new();
    loop {
        let line = tokio::select! {
            line = client.take_line() => line?,
            _ = phase.wait_for(|phase| *phase == Phase::Over) => return Ok(lags),
        };
        if *phase.borrow() == Phase::Measuring
            && memmem::find(line.as_bytes(), b"\"text_delta\"").is_some()
            && let Some(at) = time_of(&line)
        {
            lags.push((now_ms()? - at).max(0.0));
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "compared with the time of events"
)]
fn now_ms() -> anyhow::Result<f64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    Ok(now.as_secs_f64() * 1000.0)
}

/// When the event was written, milliseconds since 1970.
fn time_of(line: &str) -> Option<f64> {
    let (_, rest) = line.split_once("\"at\":")?;
    rest.split([',', '}']).next()?.parse().ok()
}

/// Stops a run of one server at the other. Returns the time until its end is seen where it is, milliseconds.
async fn stop_from(here: &Program, elsewhere: &Program) -> anyhow::Result<f64> {
    let run = begin(here.address).await?;
    let mut log = open(here.address, &run).await?;
    log.line_with(b"\"text_delta\"").await?;
    // Not in step with anything that happens at intervals.
    sleep(Duration::from_secs_f64(now_ms()? % 97.0 / 1000.0)).await;
    let began = Instant::now();
    stop(elsewhere.address, &run).await?;
    log.line_with(b"\"run_finished\"").await?;
    Ok(began.elapsed().as_secs_f64() * 1000.0)
}
