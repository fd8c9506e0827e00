//! Runs of three turns with eight parallel tool calls each and a short answer, a hundred at once: Glasshouse, and the
//! fastest other agent server.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use scripted::{Behaviour, Finish, Reply, Request, ScriptedServer, ServerOptions, Step};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    client::{Client, Timing},
    peer::{Peer, free_address, made_folder, until},
    process::Process,
    program::{Program, Setup},
    table::{percentile, print_grid},
    turns::{request, until_model_known},
};

const TURNS: usize = 3;
const TOOLS: usize = 8;
const TOKENS: usize = 20;
const AT_ONCE: usize = 100;
const ALONE: usize = 20;
/// How many times the rate of the best other server is aimed for.
const AIM: f64 = 20.0;

/// A server that runs agents.
struct Contender {
    name: &'static str,
    address: SocketAddr,
    /// The path and body of a run request.
    path: &'static str,
    headers: &'static str,
    body: Arc<str>,
    server: Server,
}

enum Server {
    Glasshouse(Program),
    Peer(Peer),
}

/// The results of a contender.
struct Figures {
    alone_ms: f64,
    rate: f64,
    first_ms: f64,
    cpu_ms: f64,
    peak_mb: f64,
}

pub(crate) async fn measure(
    program: &Path,
    agno: Option<&Path>,
    quick: bool,
) -> anyhow::Result<()> {
    let model = model().await?;
    let time = Duration::from_secs(if quick { 2 } else { 10 });
    let contenders = [
        ("Glasshouse, all stored", glasshouse(program, &model).await),
        ("Agno", peer(agno, &model, "Agno", &[]).await),
        (
            "Agno, sessions stored",
            peer(agno, &model, "Agno, sessions stored", &["--keep"]).await,
        ),
    ];
    let mut lines = Vec::new();
    let mut ours = None;
    let mut best = None::<f64>;
    for (name, contender) in contenders {
        let figures = match contender {
            Ok(contender) => contender.measure(time).await,
            Err(error) => Err(error),
        };
        if let Ok(figures) = &figures {
            match ours {
                None => ours = Some(figures.rate),
                Some(_) => best = Some(best.unwrap_or_default().max(figures.rate)),
            }
        }
        let cells = figures
            .map(|figures| figures.cells(ours))
            .map_err(|error| format!("{error:#}"));
        lines.push((name.to_owned(), cells));
    }
    let title = "3 turns of 8 parallel tool calls, 20 tokens, 100 runs at once";
    let columns = [
        "alone, median",
        "runs/s",
        "ours to it",
        "first event, p50",
        "processor",
        "peak memory",
    ];
    print_grid(title, &columns, &lines);
    tell(ours, best);
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a benchmark prints")]
fn tell(ours: Option<f64>, best: Option<f64>) {
    if let (Some(ours), Some(best)) = (ours, best) {
        let ratio = ours / best;
        let verdict = if ratio >= AIM { "met" } else { "MISSED" };
        println!("  {ratio:.1} times the runs of the best other one; aim ≥ {AIM} times, {verdict}");
    }
}

/// The model: writes eight files, reads them twice, then answers.
async fn model() -> anyhow::Result<ScriptedServer> {
    let calls = |turn: usize| -> Reply {
        let calls: Vec<(&str, Value)> = (0..TOOLS)
            .map(|tool| match turn {
                0 => (
                    "write_file",
                    json!({"path": format!("/{tool}.md"), "content": "Some words.\n".repeat(10)}),
                ),
                _ => ("read_file", json!({"path": format!("/{tool}.md")})),
            })
            .collect();
        Reply::calls(&calls)
    };
    let mut replies: Vec<Reply> = (0..TURNS).map(calls).collect();
    replies.push(Reply::stream(&[
        Step::Text {
            text: "token ".repeat(TOKENS),
            tokens_per_second: None,
        },
        Step::Usage {
            input_tokens: 1000,
            output_tokens: 20,
        },
        Step::Finish {
            reason: Finish::Stop,
        },
    ]));
    let choose = move |request: &Request| {
        let messages = request.body["messages"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let answers = messages
            .iter()
            .filter(|message| message["role"] == "assistant")
            .count();
        replies
            .get(answers)
            .cloned()
            .unwrap_or_else(|| Reply::text("Done."))
    };
    let options = ServerOptions {
        keep_requests: false,
        ..ServerOptions::default()
    };
    Ok(ScriptedServer::start_with(Behaviour::answer(choose), options).await?)
}

async fn glasshouse(program: &Path, model: &ScriptedServer) -> anyhow::Result<Contender> {
    let program = Program::start(Setup {
        program,
        upstream: Some(model.base_url()),
        data_dir: None,
        environment: &[],
    })?;
    until_model_known(&program).await?;
    Ok(Contender {
        name: "Glasshouse",
        address: program.address,
        path: "/chat/stream",
        headers: "",
        body: request().into(),
        server: Server::Glasshouse(program),
    })
}

/// Agno in its own server, with one process like ours.
async fn peer(
    python: Option<&Path>,
    model: &ScriptedServer,
    name: &'static str,
    more: &[&str],
) -> anyhow::Result<Contender> {
    let python = python.context("not installed; `cargo xtask bench tools` installs it")?;
    let script = PathBuf::from("integrations/agents/agno/server.py");
    let address = free_address()?;
    let folder = made_folder("agno")?;
    let mut command = Command::new(python);
    command
        .arg(script)
        .args([&address.port().to_string(), &model.base_url()])
        .arg(&folder)
        .args(more);
    let mut peer = Peer::start(command, folder)?;
    until(&mut peer, async || {
        Client::connect(address)
            .await?
            .send("GET", "/health", "")
            .await
    })
    .await?;
    Ok(Contender {
        name,
        address,
        path: "/agents/bench/runs",
        headers: "content-type: application/x-www-form-urlencoded\r\n",
        body: "message=Do+the+work.&stream=true".into(),
        server: Server::Peer(peer),
    })
}

impl Contender {
    async fn measure(&self, time: Duration) -> anyhow::Result<Figures> {
        let mut alone = Vec::new();
        for _ in 0..ALONE {
            alone.push(self.run(&mut self.connect().await?).await?.end_ms);
        }
        let began = Instant::now();
        let cpu_before = self.process().cpu_s()?;
        let mut workers = tokio::task::JoinSet::new();
        for _ in 0..AT_ONCE {
            let (mut client, path, body) =
                (self.connect().await?, self.path, Arc::clone(&self.body));
            workers.spawn(async move {
                let mut timings = Vec::new();
                while timings.is_empty() || began.elapsed() < time {
                    timings.push(client.stream(path, &body, LAST_TOKEN).await?);
                }
                anyhow::Ok(timings)
            });
        }
        let mut all: Vec<Timing> = Vec::new();
        while let Some(timings) = workers.join_next().await {
            all.extend(timings??);
        }
        #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
        let runs = all.len() as f64;
        let cpu_ms = (self.process().cpu_s()? - cpu_before) * 1000.0 / runs;
        let rate = runs / began.elapsed().as_secs_f64();
        let whole = all.iter().all(|timing| timing.mark_ms.is_some());
        anyhow::ensure!(whole, "{} did not bring every answer to its end", self.name);
        let mut first: Vec<f64> = all.iter().map(|timing| timing.first_ms).collect();
        Ok(Figures {
            alone_ms: percentile(&mut alone, 0.5),
            rate,
            first_ms: percentile(&mut first, 0.5),
            cpu_ms,
            peak_mb: self.process().memory_mb()?.1,
        })
    }

    async fn connect(&self) -> anyhow::Result<Client> {
        Ok(Client::connect(self.address)
            .await?
            .with_headers(self.headers))
    }

    async fn run(&self, client: &mut Client) -> anyhow::Result<Timing> {
        client.stream(self.path, &self.body, LAST_TOKEN).await
    }

    fn process(&self) -> &Process {
        match &self.server {
            Server::Glasshouse(program) => &program.process,
            Server::Peer(peer) => &peer.process,
        }
    }
}

/// Part of an answer only if the model was called to the end.
const LAST_TOKEN: &[u8] = b"token";

impl Figures {
    fn cells(&self, ours: Option<f64>) -> Vec<String> {
        let ratio = ours.map_or(1.0, |ours| ours / self.rate);
        vec![
            format!("{:.1} ms", self.alone_ms),
            format!("{:.1}", self.rate),
            format!("{ratio:.1}"),
            format!("{:.1} ms", self.first_ms),
            format!("{:.1} ms", self.cpu_ms),
            format!("{:.0} MB", self.peak_mb),
        ]
    }
}
