//! The server that is killed: the real one with two additional tools, whose effects are recorded outside of it.

use std::{
    fmt, fs,
    io::Write,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use agent::{Agents, Tool, ToolFailure, Toolbox, tool::ToolKind};
use anyhow::Context;
use schemars::JsonSchema;
use serde::Deserialize;
use server::platform::config::{Config, Flags};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, ChildStdout, Command},
    time::{sleep, timeout},
};

use crate::{LEASE_SECONDS, client, random::Random};

/// The tool that must not be repeated.
pub(crate) const EFFECT: &str = "effect";
/// The tool that may be repeated.
pub(crate) const LOOK: &str = "look";
/// The key of servers that share a database.
const SECRET_KEY: &str = "qZ8mJ0c1Yt3rVb7nKx5wEo2uHs6pLd9fGa4iRy0zTkM=";
/// Number of effects in a thousand that kill the server.
const DEATHS_PER_MILLE: u64 = 15;
/// How long a server that is told to stop goes on as before, and how long its model calls may last then.
const SHUTDOWN_DELAY_SECONDS: u64 = 1;
const DRAIN_SECONDS: u64 = 2;
/// How long a server takes to stop at most, on a busy machine.
const MAX_STOP: Duration = Duration::from_secs(30);

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    what: String,
}

/// Serves until it is killed.
pub(crate) async fn serve(
    data_dir: PathBuf,
    ledger: PathBuf,
    deaths_per_mille: u64,
    seed: u64,
) -> anyhow::Result<()> {
    let flags = Flags {
        config: None,
        listen: vec!["127.0.0.1:0".to_owned()],
        data_dir: Some(data_dir),
        auth: Some("none".to_owned()),
        no_migrate: false,
    };
    let mut agents = Agents::built_in()?;
    let chance = Chance {
        deaths_per_mille,
        random: Arc::new(Mutex::new(Random::new(seed))),
    };
    let harmless = Chance {
        deaths_per_mille: 0,
        ..chance.clone()
    };
    let ours = [
        Arc::new(tool(EFFECT, ToolKind::ONCE, ledger.clone(), chance)?),
        Arc::new(tool(LOOK, ToolKind::REPEATABLE, ledger, harmless)?),
    ];
    agents.main.tools = with(&agents.main.tools, &ours);
    for helper in &mut agents.sub_agents {
        helper.tools = with(&helper.tools, &ours);
    }
    server::cli::serve_with(Config::load(&flags)?, agents, |_| None).await
}

fn with(tools: &Toolbox, more: &[Arc<Tool>]) -> Toolbox {
    let theirs = tools
        .names()
        .into_iter()
        .filter_map(|name| tools.get(name).cloned());
    Toolbox::new(theirs.chain(more.iter().cloned()).collect())
}

/// What may happen around an effect.
#[derive(Clone)]
struct Chance {
    deaths_per_mille: u64,
    random: Arc<Mutex<Random>>,
}

impl Chance {
    fn per_mille(&self) -> u64 {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        random.per_mille()
    }

    fn maybe_die(&self) {
        if self.per_mille() < self.deaths_per_mille {
            // As abrupt as a kill: nothing more is written.
            std::process::abort();
        }
    }

    async fn pause(&self) {
        sleep(Duration::from_millis(self.per_mille() % 4)).await;
    }
}

fn tool(
    name: &'static str,
    kind: ToolKind,
    ledger: PathBuf,
    chance: Chance,
) -> Result<Tool, ToolFailure> {
    Tool::new(
        name,
        "Writes into the ledger.",
        kind,
        move |Arguments { what }, _| {
            let ledger = ledger.clone();
            let chance = chance.clone();
            async move {
                chance.pause().await;
                chance.maybe_die();
                write_down(&ledger, &format!("{name} {what}\n"))
                    .map_err(|error| ToolFailure(error.to_string()))?;
                chance.maybe_die();
                chance.pause().await;
                Ok("Done.".to_owned())
            }
        },
    )
}

/// A single write, so that lines of concurrent calls do not mix.
fn write_down(ledger: &Path, line: &str) -> std::io::Result<()> {
    fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(ledger)?
        .write_all(line.as_bytes())
}

/// The folder of the server's data and the ledger.
pub(crate) struct Folder {
    path: PathBuf,
    /// The database, if not in the folder.
    database_url: Option<String>,
    bus_url: Option<String>,
}

impl Folder {
    pub(crate) fn new(
        database_url: Option<String>,
        bus_url: Option<String>,
    ) -> anyhow::Result<Self> {
        let folder = PathBuf::from("target/torture").join(std::process::id().to_string());
        fs::create_dir_all(&folder)?;
        Ok(Self {
            path: folder.canonicalize()?,
            database_url,
            bus_url,
        })
    }

    pub(crate) fn ledger(&self) -> PathBuf {
        self.path.join("ledger.txt")
    }

    /// The path of its configuration file, which may not exist.
    pub(crate) fn settings(&self) -> PathBuf {
        self.path.join("settings.toml")
    }

    /// Where the servers of this slot say what goes wrong.
    fn log(&self, place: usize) -> anyhow::Result<fs::File> {
        let path = self.path.join(format!("log-{place}.txt"));
        let log = fs::OpenOptions::new().create(true).append(true).open(path);
        log.context("cannot open a server's log")
    }

    /// Whether several servers may work on its data.
    pub(crate) fn is_shared(&self) -> bool {
        self.database_url.is_some()
    }

    pub(crate) fn remove(&self) {
        // Leftovers are harmless.
        let _ = fs::remove_dir_all(&self.path);
    }
}

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.path.display(), f)
    }
}

/// Whether the server also dies around effects.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiesItself {
    /// With this seed.
    Sometimes(u64),
    Never,
}

/// A running server.
pub(crate) struct Victim {
    child: Child,
    /// Kept open, so that it can print.
    _output: BufReader<ChildStdout>,
    pub(crate) url: String,
    pub(crate) ready_after: Duration,
}

impl Victim {
    /// Starts it and waits until it reports that it is ready. `place` distinguishes concurrent servers.
    pub(crate) async fn start(
        folder: &Folder,
        place: usize,
        model_url: &str,
        dies: DiesItself,
    ) -> anyhow::Result<Self> {
        let began = Instant::now();
        let (deaths, seed) = match dies {
            DiesItself::Sometimes(seed) => (DEATHS_PER_MILLE, seed),
            DiesItself::Never => (0, 0),
        };
        let mut command = Command::new(std::env::current_exe()?);
        command
            .arg("serve")
            .arg("--data-dir")
            .arg(folder.path.join(format!("data-{place}")))
            .arg("--ledger")
            .arg(folder.ledger());
        command.arg("--deaths-per-mille").arg(deaths.to_string());
        command.arg("--seed").arg(seed.to_string());
        command
            .env("OPENAI_API_BASE_URL", model_url)
            .env("GLASSHOUSE_LOG_LEVEL", "error");
        if let Some(url) = &folder.database_url {
            command.env("GLASSHOUSE_DATABASE_URL", url);
            command.env("GLASSHOUSE_SECRET_KEY", SECRET_KEY);
            let seconds = [
                ("LEASE", LEASE_SECONDS),
                ("SHUTDOWN_DELAY", SHUTDOWN_DELAY_SECONDS),
                ("DRAIN", DRAIN_SECONDS),
            ];
            for (name, seconds) in seconds {
                command.env(format!("GLASSHOUSE_{name}_SECONDS"), seconds.to_string());
            }
        }
        if let Some(url) = &folder.bus_url {
            command.env("GLASSHOUSE_BUS_URL", url);
        }
        if folder.settings().exists() {
            command.env("GLASSHOUSE_CONFIG", folder.settings());
        }
        // The sandbox needs the real program to start itself again.
        command.env("GLASSHOUSE_PROGRAMS_ENABLED", "false");
        // The ledger counts only the effects of runs.
        for name in ["TITLE", "TAGS", "FOLLOW_UP"] {
            command.env(
                format!("GLASSHOUSE_PIPELINES_ENABLE_{name}_GENERATION"),
                "false",
            );
        }
        command.stdout(Stdio::piped()).stderr(folder.log(place)?);
        let mut child = command.kill_on_drop(true).spawn()?;
        let output = child.stdout.take().context("the server has no output")?;
        let mut output = BufReader::new(output);
        let mut line = String::new();
        let read = timeout(Duration::from_secs(30), output.read_line(&mut line));
        read.await
            .context("the server did not start within 30 seconds")??;
        let url = line
            .trim()
            .rsplit(' ')
            .next()
            .filter(|url| url.starts_with("http://"));
        let url = url
            .with_context(|| format!("the server said {line:?} and not where it is"))?
            .to_owned();
        Ok(Self {
            child,
            _output: output,
            url,
            ready_after: began.elapsed(),
        })
    }

    /// Waits this long. Returns whether it died by itself meanwhile.
    pub(crate) async fn lives_for(&mut self, time: Duration) -> anyhow::Result<bool> {
        match timeout(time, self.child.wait()).await {
            Ok(status) => status.map(|_| true).context("cannot wait for the server"),
            Err(_) => Ok(false),
        }
    }

    /// Stands still for this long, as a machine that sleeps does. It may be dead.
    pub(crate) async fn freeze(&self, time: Duration) -> anyhow::Result<()> {
        signal(&self.child, "-STOP").await?;
        sleep(time).await;
        signal(&self.child, "-CONT").await
    }

    /// Tells it to stop. Returns how long it took.
    pub(crate) async fn stop(&mut self) -> anyhow::Result<Duration> {
        let began = Instant::now();
        signal(&self.child, "-TERM").await?;
        let ended = timeout(MAX_STOP, self.child.wait()).await;
        let status = ended.context("a server that was told to stop did not")??;
        // It may have died of an effect meanwhile.
        let has_aborted = status.code().is_none();
        anyhow::ensure!(
            status.success() || has_aborted,
            "a server that was told to stop ended with {status}"
        );
        Ok(began.elapsed())
    }

    /// The number of its live runs.
    pub(crate) async fn live_runs(&self) -> anyhow::Result<u64> {
        let url = format!("{}/metrics", self.url);
        let metrics = client()?.get(url).send().await?.text().await?;
        let live = metrics
            .lines()
            .find_map(|line| line.strip_prefix("glasshouse_runs_live "));
        Ok(live
            .context("the server does not tell its live runs")?
            .parse()?)
    }

    /// Kills it as the kernel does when out of memory.
    pub(crate) async fn kill(&mut self) -> anyhow::Result<()> {
        // It may already be dead.
        let _ = self.child.start_kill();
        self.child
            .wait()
            .await
            .map(drop)
            .context("cannot wait for the server")
    }
}

/// Sends a signal to a child that was not waited for; nothing if it was.
pub(crate) async fn signal(child: &Child, name: &str) -> anyhow::Result<()> {
    let Some(id) = child.id() else { return Ok(()) };
    let status = Command::new("kill").args([name, &id.to_string()]).status();
    anyhow::ensure!(
        status.await?.success(),
        "cannot send {name} to process {id}"
    );
    Ok(())
}
