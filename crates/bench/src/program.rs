//! The program under test, in a process and a data folder of its own.

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::Context;

/// A running Glasshouse; dropping it ends it and removes its data.
pub(crate) struct Program {
    child: Child,
    data_dir: PathBuf,
    keep_data: bool,
    pub(crate) address: SocketAddr,
    /// From the start of the process to its first line.
    pub(crate) ready_after: Duration,
}

/// How to start it.
pub(crate) struct Setup<'a> {
    pub(crate) program: &'a Path,
    /// The model server, with `/v1`.
    pub(crate) upstream: Option<String>,
    /// An existing data folder; a new one where nothing.
    pub(crate) data_dir: Option<PathBuf>,
}

impl Program {
    /// Starts it on a free port without passwords and waits until it says that it is ready.
    pub(crate) fn start(setup: Setup<'_>) -> anyhow::Result<Self> {
        let keep_data = setup.data_dir.is_some();
        let data_dir = setup.data_dir.unwrap_or_else(|| new_folder("data"));
        std::fs::create_dir_all(&data_dir)?;
        let began = Instant::now();
        let mut command = Command::new(setup.program);
        command.args(["--listen", "127.0.0.1:0", "--auth", "none", "--data-dir"]).arg(&data_dir);
        command.env("GLASSHOUSE_LOG_LEVEL", "warn").stdin(Stdio::null()).stdout(Stdio::piped());
        if let Some(upstream) = setup.upstream {
            command.env("OPENAI_API_BASE_URL", upstream);
        }
        let mut child =
            command.spawn().with_context(|| format!("cannot start {}", setup.program.display()))?;
        let mut line = String::new();
        let output = child.stdout.take().context("the program has no output")?;
        BufReader::new(output).read_line(&mut line)?;
        let ready_after = began.elapsed();
        let address = line.trim().rsplit("http://").next().and_then(|address| address.parse().ok());
        let address = address.with_context(|| format!("the program said {line:?}"))?;
        Ok(Self { child, data_dir, keep_data, address, ready_after })
    }

    /// Memory in use and its highest point, MB.
    pub(crate) fn memory_mb(&self) -> anyhow::Result<(f64, f64)> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let field = |name: &str| -> Option<f64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1024.0)
        };
        Ok((field("VmRSS:").context("no VmRSS")?, field("VmHWM:").context("no VmHWM")?))
    }

    /// Processor time used so far, seconds.
    pub(crate) fn cpu_s(&self) -> anyhow::Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name, in brackets, may hold spaces; the figures come after it. A tick is a hundredth of a second.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks =
            |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default();
        Ok((ticks(11) + ticks(12)) / 100.0)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if !self.keep_data {
            let _ = std::fs::remove_dir_all(&self.data_dir);
        }
    }
}

/// A folder in the build directory that nobody else uses.
pub(crate) fn new_folder(name: &str) -> PathBuf {
    let unique = format!("{name}-{}-{:?}", std::process::id(), Instant::now())
        .replace(|c: char| !c.is_alphanumeric(), "-");
    PathBuf::from("target/bench").join(unique)
}
