//! `glasshouse runner`: executes programs of agents for servers, without a database and a secret key.

use std::{path::PathBuf, time::Duration};

use anyhow::Context;
use clap::Args;
use llm::Secret;
use runner::Settings;

use crate::{
    cli::{LogFormat, start_logging},
    start::StopRequests,
};

/// Where and how it runs.
#[derive(Debug, Args)]
pub(super) struct Runner {
    /// The address of the server, or of the balancer in front of several
    #[arg(long, value_name = "URL", env = "GLASSHOUSE_RUNNER_SERVER")]
    server: String,
    /// A file with the token that the server has as programs.runner_token
    #[arg(long, value_name = "FILE", env = "GLASSHOUSE_RUNNER_TOKEN_FILE")]
    token_file: Option<PathBuf>,
    /// The token itself; only as the variable, as others on the machine can see the flags of a program
    #[arg(
        long,
        value_name = "TOKEN",
        env = "GLASSHOUSE_RUNNER_TOKEN",
        hide_env_values = true,
        hide = true
    )]
    token: Option<String>,
    /// Its name, for administrators [default: that of the machine]
    #[arg(long, value_name = "NAME", env = "GLASSHOUSE_RUNNER_NAME")]
    name: Option<String>,
    /// A folder of its own, for the files of chats while programs work on them; it is emptied [default: glasshouse-runner in
    /// the folder for temporary files]
    #[arg(long, value_name = "DIR", env = "GLASSHOUSE_RUNNER_FOLDER")]
    folder: Option<PathBuf>,
    /// The Python interpreter [default: `python3` on the PATH]
    #[arg(long, value_name = "FILE", env = "GLASSHOUSE_RUNNER_PYTHON")]
    python: Option<PathBuf>,
    /// How many programs run at a time, 1 to 64
    #[arg(
        long,
        value_name = "COUNT",
        env = "GLASSHOUSE_RUNNER_SLOTS",
        default_value_t = 4
    )]
    slots: usize,
    /// Seconds for which programs may go on when it is stopped
    #[arg(
        long,
        value_name = "SECONDS",
        env = "GLASSHOUSE_RUNNER_DRAIN_SECONDS",
        default_value_t = 60
    )]
    drain_seconds: u64,
    /// Maximum size of the contents of files that it keeps, MB
    #[arg(
        long,
        value_name = "MB",
        env = "GLASSHOUSE_RUNNER_CACHE_MB",
        default_value_t = 512
    )]
    cache_mb: u64,
    /// How much is logged: error, warn, info, debug or trace
    #[arg(
        long,
        value_name = "LEVEL",
        env = "GLASSHOUSE_LOG_LEVEL",
        default_value = "info"
    )]
    log_level: String,
    /// The format of the log
    #[arg(long, value_parser = ["text", "json"], env = "GLASSHOUSE_LOG_FORMAT", default_value = "text")]
    log_format: String,
}

/// Runs until it is told to stop.
///
/// # Errors
/// A sentence for the person at the terminal.
pub(super) async fn run(flags: Runner) -> anyhow::Result<()> {
    let format = match flags.log_format.as_str() {
        "json" => LogFormat::Json,
        _ => LogFormat::Text,
    };
    start_logging(&flags.log_level, format)?;
    let settings = Settings {
        token: token(&flags)?,
        server: flags.server,
        name: flags.name.unwrap_or_else(machine_name),
        folder: flags
            .folder
            .unwrap_or_else(|| std::env::temp_dir().join("glasshouse-runner")),
        python: flags.python,
        slots: flags.slots,
        drain: Duration::from_secs(flags.drain_seconds),
        cache_bytes: flags.cache_mb.saturating_mul(1_000_000),
    };
    let mut requests = StopRequests::listen();
    runner::run(settings, async move { requests.next().await }).await
}

fn token(flags: &Runner) -> anyhow::Result<Secret> {
    let text = match (&flags.token_file, &flags.token) {
        (Some(path), _) => std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the token in {}", path.display()))?,
        (None, Some(token)) => token.clone(),
        (None, None) => {
            anyhow::bail!("set GLASSHOUSE_RUNNER_TOKEN, or name a file with --token-file")
        }
    };
    let token = Secret::new(text);
    anyhow::ensure!(!token.reveal().is_empty(), "the token is empty");
    Ok(token)
}

#[cfg(unix)]
fn machine_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn machine_name() -> String {
    "runner".to_owned()
}
