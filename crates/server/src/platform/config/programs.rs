//! `[programs]`: whether agents run programs, and the limits of each.

use std::{path::PathBuf, time::Duration};

use llm::Secret;
use serde::Deserialize;

/// Settings for programs that agents run.
#[derive(Debug, Clone)]
pub struct ProgramSettings {
    /// The Python interpreter; if `None`, the one on the server's `PATH`.
    pub python: Option<PathBuf>,
    /// Limits of each program.
    pub limits: sandbox::Limits,
    /// Programs run on runners; `None` if they run on this machine.
    pub runners: Option<RunnerAccess>,
}

/// Settings for runners.
#[derive(Debug, Clone)]
pub struct RunnerAccess {
    /// The token with which they call.
    pub token: Secret,
    /// How long a call waits for one.
    pub wait: Duration,
}

/// Minimum length of the token, as it can be tried from outside.
const MIN_TOKEN_CHARS: usize = 32;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPrograms {
    enabled: bool,
    python: String,
    seconds: u64,
    memory_mb: u64,
    processes: u64,
    runner_token: String,
    runner_wait_seconds: u64,
}

impl RawPrograms {
    pub(super) fn check(self) -> anyhow::Result<Option<ProgramSettings>> {
        anyhow::ensure!(
            (1..=3600).contains(&self.seconds),
            "programs.seconds must be 1 to 3600"
        );
        anyhow::ensure!(
            (64..=1_000_000).contains(&self.memory_mb),
            "programs.memory_mb must be 64 to 1000000"
        );
        anyhow::ensure!(
            (4..=10_000).contains(&self.processes),
            "programs.processes must be 4 to 10000"
        );
        let limits = sandbox::Limits {
            wall_ms: self.seconds * 1000,
            cpu_seconds: self.seconds,
            memory_bytes: self.memory_mb * 1_000_000,
            processes: self.processes,
            ..sandbox::Limits::default()
        };
        anyhow::ensure!(
            (1..=3600).contains(&self.runner_wait_seconds),
            "programs.runner_wait_seconds must be 1 to 3600"
        );
        let token = Secret::new(self.runner_token);
        let token_chars = token.reveal().chars().count();
        anyhow::ensure!(
            token_chars == 0 || token_chars >= MIN_TOKEN_CHARS,
            "programs.runner_token must have {MIN_TOKEN_CHARS} characters or more"
        );
        let runners = (token_chars > 0).then(|| RunnerAccess {
            token,
            wait: Duration::from_secs(self.runner_wait_seconds),
        });
        let python = Some(self.python)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from);
        Ok(self.enabled.then_some(ProgramSettings {
            python,
            limits,
            runners,
        }))
    }
}
