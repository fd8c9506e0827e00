//! The server that is killed: the real one with two additional tools, whose effects are recorded outside of it.

use std::{
    fmt, fs,
    io::Write,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::{Duration, Instant},
};

use agent::{Agents, Tool, ToolFailure, Toolbox, tool::ToolKind};
use anyhow::Context;
use schemars::JsonSchema;
use serde::Deserialize;
use server::platform::config::{Config, Flags};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    time::{sleep, timeout},
};

use crate::{LEASE_SECONDS, random_per_mille};

/// The tool that must not be repeated.
pub(crate) const EFFECT: &str = "effect";
/// The tool that may be repeated.
pub(crate) const LOOK: &str = "look";
/// The key of servers that share a database.
const SECRET_KEY: &str = "qZ8mJ0c1Yt3rVb7nKx5wEo2uHs6pLd9fGa4iRy0zTkM=";
/// Number of effects in a thousand that kill the server.
const DEATHS_PER_MILLE: u64 = 15;

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    what: String,
}

/// Serves until it is killed.
pub(crate) async fn serve(
    data_dir: PathBuf,
    ledger: PathBuf,
    deaths_per_mille: u64,
) -> anyhow::Result<()> {
    let flags = Flags {
        config: None,
        listen: vec!["127.0.0.1:0".to_owned()],
        data_dir: Some(data_dir),
        auth: Some("none".to_owned()),
        no_migrate: false,
    };
    let mut agents = Agents::built_in()?;
    let ours = [
        Arc::new(tool(
            EFFECT,
            ToolKind::ONCE,
            ledger.clone(),
            deaths_per_mille,
        )?),
        Arc::new(tool(LOOK, ToolKind::REPEATABLE, ledger, 0)?),
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

fn tool(
    name: &'static str,
    kind: ToolKind,
    ledger: PathBuf,
    deaths_per_mille: u64,
) -> Result<Tool, ToolFailure> {
    let maybe_die = move || {
        if random_per_mille() < deaths_per_mille {
            // As abrupt as a kill: nothing more is written.
            std::process::abort();
        }
    };
    Tool::new(
        name,
        "Writes into the ledger.",
        kind,
        move |Arguments { what }, _| {
            let ledger = ledger.clone();
            async move {
                sleep(Duration::from_millis(random_per_mille() % 4)).await;
                maybe_die();
                write_down(&ledger, &format!("{name} {what}\n"))
                    .map_err(|error| ToolFailure(error.to_string()))?;
                maybe_die();
                sleep(Duration::from_millis(random_per_mille() % 4)).await;
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
}

impl Folder {
    pub(crate) fn new(database_url: Option<String>) -> anyhow::Result<Self> {
        let folder = PathBuf::from("target/torture").join(std::process::id().to_string());
        fs::create_dir_all(&folder)?;
        Ok(Self {
            path: folder.canonicalize()?,
            database_url,
        })
    }

    pub(crate) fn ledger(&self) -> PathBuf {
        self.path.join("ledger.txt")
    }

    /// The path of its configuration file, which may not exist.
    pub(crate) fn settings(&self) -> PathBuf {
        self.path.join("settings.toml")
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
    Sometimes,
    Never,
}

/// A running server.
pub(crate) struct Victim {
    child: Child,
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
        let deaths = if dies == DiesItself::Sometimes {
            DEATHS_PER_MILLE
        } else {
            0
        };
        let mut command = Command::new(std::env::current_exe()?);
        command
            .arg("serve")
            .arg("--data-dir")
            .arg(folder.path.join(format!("data-{place}")))
            .arg("--ledger")
            .arg(folder.ledger());
        command.arg("--deaths-per-mille").arg(deaths.to_string());
        command
            .env("OPENAI_API_BASE_URL", model_url)
            .env("GLASSHOUSE_LOG_LEVEL", "error");
        if let Some(url) = &folder.database_url {
            command.env("GLASSHOUSE_DATABASE_URL", url);
            command.env("GLASSHOUSE_SECRET_KEY", SECRET_KEY);
            command.env("GLASSHOUSE_LEASE_SECONDS", LEASE_SECONDS.to_string());
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
        let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
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
