//! Runs of ten tool turns and 200 tokens, everything stored: sequentially, and a hundred at once.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use scripted::{Behaviour, Finish, Reply, Request, ScriptedServer, ServerOptions, Step};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    client::Client,
    program::{Program, Setup},
    table::{Aim, Row, percentile, print, print_grid},
};

const TURNS: usize = 10;
const TOKENS: usize = 200;
const AT_ONCE: usize = 100;

/// The model: ten turns with one tool call each, then the answer.
pub(crate) async fn model() -> anyhow::Result<ScriptedServer> {
    let tool = |turn: usize| -> (&str, Value) {
        match turn % 3 {
            0 => (
                "write_todos",
                json!({"todos": [{"content": format!("Task {turn}"), "status": "in_progress"}]}),
            ),
            1 => (
                "write_file",
                json!({"path": format!("/notes/{turn}.md"), "content": "Some words to keep.\n".repeat(10)}),
            ),
            _ => (
                "read_file",
                json!({"path": format!("/notes/{}.md", turn - 1)}),
            ),
        }
    };
    let mut replies: Vec<Reply> = (0..TURNS).map(|turn| Reply::calls(&[tool(turn)])).collect();
    replies.push(Reply::stream(&[
        Step::Text {
            text: "token ".repeat(TOKENS),
            tokens_per_second: None,
        },
        Step::Usage {
            input_tokens: 1000,
            output_tokens: 200,
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

pub(crate) fn request() -> String {
    json!({"messages": [{"role": "user", "content": "Do the work."}], "stream": true, "model": "scripted"})
        .to_string()
}

/// Waits until the program has fetched the list of models from its model server.
pub(crate) async fn until_model_known(program: &Program) -> anyhow::Result<()> {
    for _ in 0..200 {
        let mut client = Client::connect(program.address).await?;
        if client
            .stream("/chat/stream", &request(), b"done")
            .await
            .is_ok()
        {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    anyhow::bail!("the program does not know the scripted model")
}

/// The main figures of a program under load.
pub(crate) struct LoadFigures {
    /// Median of a run alone.
    pub(crate) alone_ms: f64,
    /// Runs a second, a hundred at once.
    pub(crate) rate: f64,
    /// The 99th percentile of the time to the first event then.
    pub(crate) first_p99_ms: f64,
}

/// Measures runs alone, then a hundred at once.
pub(crate) async fn load(program: &Program, quick: bool) -> anyhow::Result<LoadFigures> {
    let (repeats, seconds) = if quick { (20, 5) } else { (200, 10) };
    let alone = alone(program, repeats).await?;
    let mut whole: Vec<f64> = alone.iter().map(|timing| timing.end_ms).collect();
    let (crowd, rate, _) = at_once(program, Duration::from_secs(seconds)).await?;
    let mut first: Vec<f64> = crowd.iter().map(|timing| timing.first_ms).collect();
    Ok(LoadFigures {
        alone_ms: percentile(&mut whole, 0.5),
        rate,
        first_p99_ms: percentile(&mut first, 0.99),
    })
}

pub(crate) async fn measure(program: &Path, quick: bool) -> anyhow::Result<()> {
    let model = model().await?;
    let program = Program::start(Setup {
        program,
        upstream: Some(model.base_url()),
        data_dir: None,
        environment: &[],
    })?;
    until_model_known(&program).await?;
    let repeats = if quick { 20 } else { 200 };
    let mut straight = straight(&model, repeats).await?;
    let alone = alone(&program, repeats).await?;
    let (crowd, rate, cpu_ms) =
        at_once(&program, Duration::from_secs(if quick { 2 } else { 10 })).await?;
    let (_, peak_mb) = program.process.memory_mb()?;
    let mut whole: Vec<f64> = alone.iter().map(|timing| timing.end_ms).collect();
    let mut first: Vec<f64> = crowd.iter().map(|timing| timing.first_ms).collect();
    print(
        "10 tool turns and 200 tokens, everything stored (POST /chat/stream, SQLite)",
        &[
            row(
                "its model calls alone, straight, median",
                percentile(&mut straight, 0.5),
                "ms",
                None,
            ),
            row(
                "alone: one run, median",
                percentile(&mut whole, 0.5),
                "ms",
                Some(Aim::AtMost(8.5)),
            ),
            row(
                "alone: one run, p99",
                percentile(&mut whole, 0.99),
                "ms",
                None,
            ),
            row(
                "100 at once: runs a second",
                rate,
                "runs/s",
                Some(Aim::AtLeast(350.0)),
            ),
            row(
                "100 at once: first event, p50",
                percentile(&mut first, 0.5),
                "ms",
                None,
            ),
            row(
                "100 at once: first event, p99",
                percentile(&mut first, 0.99),
                "ms",
                Some(Aim::AtMost(100.0)),
            ),
            row("processor time of one run", cpu_ms, "ms", None),
            row("peak memory", peak_mb, "MB", Some(Aim::AtMost(80.0))),
        ],
    );
    Ok(())
}

/// Number of rounds in which two programs take turns.
const ROUNDS: usize = 8;

/// The results of a program's runs, over all rounds.
#[derive(Debug, Default)]
struct Figures {
    alone_ms: Vec<f64>,
    rates: Vec<f64>,
    cpu_ms: Vec<f64>,
}

impl Figures {
    async fn measure(
        &mut self,
        program: &Program,
        runs: usize,
        time: Duration,
    ) -> anyhow::Result<()> {
        self.alone_ms.extend(
            alone(program, runs)
                .await?
                .iter()
                .map(|timing| timing.end_ms),
        );
        let (_, rate, cpu_ms) = at_once(program, time).await?;
        self.rates.push(rate);
        self.cpu_ms.push(cpu_ms);
        Ok(())
    }

    /// Medians of the time of sequential runs in milliseconds, of runs per second, and of CPU milliseconds.
    fn medians(&mut self) -> [f64; 3] {
        [&mut self.alone_ms, &mut self.rates, &mut self.cpu_ms]
            .map(|figures| percentile(figures, 0.5))
    }
}

/// The same runs with an earlier program and with this one, taking turns so that other load on the machine affects
/// both.
pub(crate) async fn compare(before: &Path, now: &Path, quick: bool) -> anyhow::Result<()> {
    let model = model().await?;
    let mut programs = Vec::new();
    for program in [before, now] {
        let upstream = Some(model.base_url());
        let program = Program::start(Setup {
            program,
            upstream,
            data_dir: None,
            environment: &[],
        })?;
        until_model_known(&program).await?;
        programs.push((program, Figures::default()));
    }
    let (rounds, runs, time) = if quick { (2, 10, 1) } else { (ROUNDS, 50, 4) };
    // The first round is a warm-up. The order alternates.
    for round in 0..=rounds {
        for (program, figures) in &mut programs {
            figures
                .measure(program, runs, Duration::from_secs(time))
                .await?;
            if round == 0 {
                *figures = Figures::default();
            }
        }
        programs.reverse();
    }
    if rounds.is_multiple_of(2) {
        programs.reverse();
    }
    let medians: Vec<[f64; 3]> = programs
        .iter_mut()
        .map(|(_, figures)| figures.medians())
        .collect();
    let [before, now] = [medians[0], medians[1]];
    let line = |name: &str, of: [f64; 3]| {
        (
            name.to_owned(),
            Ok(of.map(|figure| format!("{figure:.2}")).to_vec()),
        )
    };
    print_grid(
        "10 tool turns and 200 tokens, before and now in turns: medians",
        &["alone ms", "100 at once: runs/s", "processor ms"],
        &[line("before", before), line("now", now)],
    );
    let slower = |share: f64| (share - 1.0) * 100.0;
    let aim = || Some(Aim::AtMost(3.0));
    print(
        "Slower than before",
        &[
            row("alone", slower(now[0] / before[0]), "%", aim()),
            row("100 at once", slower(before[1] / now[1]), "%", aim()),
            row("processor time", slower(now[2] / before[2]), "%", None),
        ],
    );
    Ok(())
}

pub(crate) fn row(what: &'static str, figure: f64, unit: &'static str, aim: Option<Aim>) -> Row {
    Row {
        what,
        figure,
        unit,
        aim,
    }
}

/// The baseline: the eleven calls of a run made sequentially over one connection to the model server, milliseconds.
async fn straight(model: &ScriptedServer, runs: usize) -> anyhow::Result<Vec<f64>> {
    let mut client = Client::connect(upstream(model)?).await?;
    let bodies: Vec<String> = (0..=TURNS)
        .map(|turn| {
            let mut messages = vec![json!({"role": "user", "content": "Do the work."})];
            messages.extend((0..turn).map(|_| json!({"role": "assistant", "content": "Yes."})));
            json!({"model": "scripted", "messages": messages, "stream": true}).to_string()
        })
        .collect();
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        let began = Instant::now();
        for body in &bodies {
            client
                .stream("/v1/chat/completions", body, b"[DONE]")
                .await?;
        }
        times.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(times)
}

/// The scripted model's address.
pub(crate) fn upstream(model: &ScriptedServer) -> anyhow::Result<SocketAddr> {
    Ok(model
        .base_url()
        .trim_start_matches("http://")
        .trim_end_matches("/v1")
        .parse()?)
}

async fn alone(program: &Program, runs: usize) -> anyhow::Result<Vec<crate::client::Timing>> {
    let mut client = Client::connect(program.address).await?;
    let mut timings = Vec::with_capacity(runs);
    for _ in 0..runs {
        timings.push(client.stream("/chat/stream", &request(), b"done").await?);
    }
    Ok(timings)
}

/// The timings, runs per second, and the program's CPU time per run in milliseconds.
async fn at_once(
    program: &Program,
    time: Duration,
) -> anyhow::Result<(Vec<crate::client::Timing>, f64, f64)> {
    let began = Instant::now();
    let cpu_before = program.process.cpu_s()?;
    let deadline = began + time;
    let body: Arc<str> = request().into();
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..AT_ONCE {
        let address = program.address;
        let body = Arc::clone(&body);
        workers.spawn(async move {
            let mut client = Client::connect(address).await?;
            let mut timings = Vec::new();
            while Instant::now() < deadline {
                timings.push(client.stream("/chat/stream", &body, b"done").await?);
            }
            anyhow::Ok(timings)
        });
    }
    let mut all = Vec::new();
    while let Some(timings) = workers.join_next().await {
        all.extend(timings??);
    }
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    let runs = all.len() as f64;
    let cpu_ms = (program.process.cpu_s()? - cpu_before) * 1000.0 / runs;
    Ok((all, runs / began.elapsed().as_secs_f64(), cpu_ms))
}
