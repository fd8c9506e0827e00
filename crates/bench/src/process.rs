//! A process under test: its resource usage, and terminating it. CPU time of others.

use std::{
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    process::{Child, Command, Stdio},
};

use anyhow::Context;

/// A running process; dropping it kills it.
pub(crate) struct Process(Child);

impl Process {
    /// Starts a program without input.
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Self> {
        let child = command.stdin(Stdio::null()).spawn();
        Ok(Self(child.with_context(|| {
            format!("cannot start {}", command.get_program().display())
        })?))
    }

    /// Starts a program whose first line of output ends with its listening address, and waits for that line.
    pub(crate) fn start_listening(command: &mut Command) -> anyhow::Result<(Self, SocketAddr)> {
        let mut process = Self::start(command.stdout(Stdio::piped()))?;
        let mut line = String::new();
        let output = process
            .0
            .stdout
            .take()
            .context("the program has no output")?;
        BufReader::new(output).read_line(&mut line)?;
        let address = line
            .trim()
            .rsplit("http://")
            .next()
            .and_then(|address| address.parse().ok());
        let address = address.with_context(|| format!("the program said {line:?}"))?;
        Ok((process, address))
    }

    /// Kills it and waits for its end.
    pub(crate) fn end(&mut self) {
        // It may have exited by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// Whether it has exited by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }

    /// Current and peak memory, MB.
    pub(crate) fn memory_mb(&self) -> anyhow::Result<(f64, f64)> {
        Ok((self.memory_field("VmRSS:")?, self.memory_field("VmHWM:")?))
    }

    /// Current memory that is not a part of a file, MB.
    pub(crate) fn own_memory_mb(&self) -> anyhow::Result<f64> {
        self.memory_field("RssAnon:")
    }

    fn memory_field(&self, name: &str) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        Ok(kilobytes.with_context(|| format!("no {name}"))? / 1024.0)
    }

    /// Asks it to end.
    pub(crate) fn ask_to_end(&self) -> anyhow::Result<()> {
        // The shell's own command; small systems have no other.
        let kill = format!("kill -TERM {}", self.0.id());
        let asked = Command::new("sh").args(["-c", &kill]).status()?;
        anyhow::ensure!(asked.success(), "cannot stop the program");
        Ok(())
    }

    /// Asks it to end, waits for that, and returns what it wrote to standard error, which must be piped.
    pub(crate) fn stop(&mut self) -> anyhow::Result<String> {
        self.ask_to_end()?;
        let mut written = String::new();
        if let Some(mut errors) = self.0.stderr.take() {
            errors.read_to_string(&mut written)?;
        }
        self.0.wait()?;
        Ok(written)
    }

    /// CPU time used so far, seconds.
    pub(crate) fn cpu_s(&self) -> anyhow::Result<f64> {
        Ok(cpu_ticks(&stat_of(self.0.id())?, 0..2) / TICKS_PER_SECOND)
    }
}

/// A tick is a hundredth of a second.
const TICKS_PER_SECOND: f64 = 100.0;
/// The place of the CPU time in user mode in `/proc/…/stat`, behind the name. That in the kernel and both of ended children
/// follow.
const CPU_TIMES: usize = 11;

/// The fields of `/proc/…/stat` behind the name, which may contain spaces.
fn stat_of(process: u32) -> anyhow::Result<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let fields = stat.rsplit(')').next().unwrap_or_default();
    Ok(fields.split_whitespace().map(str::to_owned).collect())
}

fn cpu_ticks(stat: &[String], times: std::ops::Range<usize>) -> f64 {
    times
        .filter_map(|at| stat.get(CPU_TIMES + at)?.parse::<f64>().ok())
        .sum()
}

/// The process that started it.
pub(crate) fn parent_of(process: u32) -> Option<u32> {
    stat_of(process).ok()?.get(1)?.parse().ok()
}

/// CPU seconds of the process and of its children, those included that have ended.
pub(crate) fn cpu_of_children(process: u32) -> f64 {
    let own = stat_of(process).map_or(0.0, |stat| cpu_ticks(&stat, 0..4));
    let others = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let children = others
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|id: u32| stat_of(id).ok())
        .filter(|stat| stat.get(1).and_then(|parent| parent.parse().ok()) == Some(process));
    let children: f64 = children.map(|stat| cpu_ticks(&stat, 0..2)).sum();
    (own + children) / TICKS_PER_SECOND
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}
