//! The program under test, in a separate process with its own data folder.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::Context;
use serde_json::{Value, json};

use crate::{client::Client, process::Process};

/// The administrator, if there are accounts.
pub(crate) const TEAM_EMAIL: &str = "bench@example.org";
/// The password of all accounts.
pub(crate) const TEAM_PASSWORD: &str = "only for a minute";

/// The variable with the address, to start it on a certain port.
pub(crate) const LISTEN: &str = "GLASSHOUSE_LISTEN";

/// A running Glasshouse; dropping it kills it and removes its data.
pub(crate) struct Program {
    pub(crate) process: Process,
    data_dir: PathBuf,
    keep_data: bool,
    pub(crate) address: SocketAddr,
    /// Time from the start of the process to its first line of output.
    pub(crate) ready_after: Duration,
}

/// Start options.
pub(crate) struct Setup<'a> {
    pub(crate) program: &'a Path,
    /// The model server's base URL, with `/v1`.
    pub(crate) upstream: Option<String>,
    /// An existing data folder; `None` for a new one.
    pub(crate) data_dir: Option<PathBuf>,
    /// Additional environment variables.
    pub(crate) environment: &'a [(&'a str, &'a str)],
}

impl Program {
    /// Starts it on a free port without passwords and waits until it reports that it is ready.
    pub(crate) fn start(setup: Setup<'_>) -> anyhow::Result<Self> {
        Self::start_with(setup, "none")
    }

    /// Starts it with accounts, and creates the administrator.
    pub(crate) async fn start_as_team(setup: Setup<'_>) -> anyhow::Result<Self> {
        let program = Self::start_with(setup, "password")?;
        let account =
            json!({"email": TEAM_EMAIL, "name": "Bench", "password": TEAM_PASSWORD}).to_string();
        Client::connect(program.address)
            .await?
            .send("POST", "/api/v1/setup", &account)
            .await?;
        Ok(program)
    }

    /// Like [`Program::start_as_team`], and creates a key.
    pub(crate) async fn start_with_key(setup: Setup<'_>) -> anyhow::Result<(Self, String)> {
        let path = setup.program;
        let program = Self::start_as_team(setup).await?;
        let mut create = Command::new(path);
        create
            .args(["key", "create", "--user", TEAM_EMAIL, "--data-dir"])
            .arg(&program.data_dir);
        let said = String::from_utf8(create.output()?.stdout)?;
        let key = said.split_whitespace().find(|word| word.starts_with("gh_"));
        Ok((
            program,
            key.with_context(|| format!("no key in {said:?}"))?
                .to_owned(),
        ))
    }

    /// The first model of its model server, once the program has discovered it.
    pub(crate) async fn first_model(&self) -> anyhow::Result<String> {
        let mut client = Client::connect(self.address).await?;
        for _ in 0..200 {
            let (_, answer) = client.call("GET", "/api/v1/models", "").await?;
            let models: Value = serde_json::from_slice(&answer)?;
            let named = models["models"].as_array().into_iter().flatten();
            let mut named = named.filter_map(|model| model["id"].as_str());
            if let Some(name) = named.find(|name| *name != "tour") {
                return Ok(name.to_owned());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        anyhow::bail!("the program knows no model of the server")
    }

    /// Starts it so that [`Program::count`] knows what it did.
    pub(crate) fn start_counting(setup: Setup<'_>, counter: Counter) -> anyhow::Result<Self> {
        let mut command = counter.command(setup.program)?;
        command.stderr(Stdio::piped());
        Self::start_as(command, setup, "none")
    }

    /// Ends it and returns how many there were since its start.
    pub(crate) fn count(mut self, counter: Counter) -> anyhow::Result<f64> {
        counter.read(&self.process.stop()?)
    }

    fn start_with(setup: Setup<'_>, auth: &str) -> anyhow::Result<Self> {
        Self::start_as(Command::new(setup.program), setup, auth)
    }

    fn start_as(mut command: Command, setup: Setup<'_>, auth: &str) -> anyhow::Result<Self> {
        let keep_data = setup.data_dir.is_some();
        let data_dir = setup.data_dir.unwrap_or_else(|| new_folder("data"));
        std::fs::create_dir_all(&data_dir)?;
        let began = Instant::now();
        let listen = setup
            .environment
            .iter()
            .find(|(name, _)| *name == LISTEN)
            .map_or("127.0.0.1:0", |(_, address)| *address);
        command
            .args(["--listen", listen, "--auth", auth, "--data-dir"])
            .arg(&data_dir);
        command.env("GLASSHOUSE_LOG_LEVEL", "warn");
        // All clients have the same address here.
        command.env("GLASSHOUSE_CONNECTIONS_PER_ADDRESS", "16384");
        // Pipelines are measured separately.
        for name in ["TITLE", "TAGS", "FOLLOW_UP"] {
            command.env(
                format!("GLASSHOUSE_PIPELINES_ENABLE_{name}_GENERATION"),
                "false",
            );
        }
        command.envs(setup.environment.iter().copied());
        if let Some(upstream) = setup.upstream {
            command.env("OPENAI_API_BASE_URL", upstream);
        }
        let (process, address) = Process::start_listening(&mut command)?;
        Ok(Self {
            process,
            data_dir,
            keep_data,
            address,
            ready_after: began.elapsed(),
        })
    }
}

/// What is counted in a process from its start to its end.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Counter {
    /// Allocations, which the program's allocator counts.
    Allocations,
    /// Instructions, which Valgrind counts, with the program many times slower.
    Instructions,
}

impl Counter {
    fn command(self, program: &Path) -> anyhow::Result<Command> {
        match self {
            Self::Allocations => {
                let mut command = Command::new(program);
                // At its end: JSON, the sums over all arenas only.
                let options = "stats_print:true,stats_print_opts:Jgdablx";
                command.env("_RJEM_MALLOC_CONF", options);
                Ok(command)
            }
            Self::Instructions => {
                let found = Command::new("valgrind").arg("--version").output();
                found.context("valgrind is not installed")?;
                let mut command = Command::new("valgrind");
                command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
                command.arg(program);
                Ok(command)
            }
        }
    }

    /// Finds the count in what the process wrote to standard error.
    fn read(self, written: &str) -> anyhow::Result<f64> {
        match self {
            Self::Allocations => {
                let start = written
                    .find("{\"jemalloc\"")
                    .context("the program was built without statistics of its allocator")?;
                let mut values = serde_json::Deserializer::from_str(&written[start..]).into_iter();
                let stats: Value = values.next().context("no statistics")??;
                let arenas = &stats["jemalloc"]["stats.arenas"]["merged"];
                let of = |size: &str| arenas[size]["nmalloc"].as_f64();
                let count = of("small").zip(of("large"));
                let (small, large) = count.context("no nmalloc in the statistics")?;
                Ok(small + large)
            }
            Self::Instructions => {
                let line = written
                    .lines()
                    .find_map(|line| line.split_once("Collected :"));
                let (_, count) = line.context("valgrind printed no count")?;
                Ok(count.trim().parse()?)
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.process.end();
        if !self.keep_data {
            let _ = std::fs::remove_dir_all(&self.data_dir);
        }
    }
}

/// A unique folder in the build directory.
pub(crate) fn new_folder(name: &str) -> PathBuf {
    let unique = format!("{name}-{}-{:?}", std::process::id(), Instant::now())
        .replace(|c: char| !c.is_alphanumeric(), "-");
    PathBuf::from("target/bench").join(unique)
}
