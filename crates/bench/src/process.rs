//! A process under test: its resource usage, and terminating it.

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

    /// Asks it to end, waits for that, and returns what it wrote to standard error, which must be piped.
    pub(crate) fn stop(&mut self) -> anyhow::Result<String> {
        // The shell's own command; small systems have no other.
        let kill = format!("kill -TERM {}", self.0.id());
        let asked = Command::new("sh").args(["-c", &kill]).status()?;
        anyhow::ensure!(asked.success(), "cannot stop the program");
        let mut written = String::new();
        if let Some(mut errors) = self.0.stderr.take() {
            errors.read_to_string(&mut written)?;
        }
        self.0.wait()?;
        Ok(written)
    }

    /// CPU time used so far, seconds.
    pub(crate) fn cpu_s(&self) -> anyhow::Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        // The name in parentheses may contain spaces, so the fields after it are used. A tick is a hundredth of a
        // second.
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        let ticks = |at: usize| {
            fields
                .get(at)
                .and_then(|field| field.parse::<f64>().ok())
                .unwrap_or_default()
        };
        Ok((ticks(11) + ticks(12)) / 100.0)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}
