//! Monitors a program from inside the sandbox: its resource usage, its end, and commands of the server.

use std::{fs::File, io};

use nix::sys::signal;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    net::{RecvFlags, recv},
    process::{Pid, PidfdFlags, WaitOptions, WaitStatus, pidfd_open, wait},
};

use super::{
    During, Fault,
    processes::stats,
    tell,
    usage::{Usage, Walk},
};
use crate::{
    Ended, Limit,
    spec::{Order, Report, Spec},
};

/// Interval between scans of a paused session, in seconds.
const RESTING_LOOK_SECONDS: i64 = 2;

/// A running program with its limits.
pub(super) struct Watch {
    program: Pid,
    usage: Usage,
    paused: bool,
    /// At the last scan something was running although everything had been stopped.
    restless: bool,
    /// The limit found to be exceeded at the end of a cell.
    broken: Option<Limit>,
}

impl Watch {
    pub(super) fn new(
        spec: &Spec,
        program: Pid,
        processor_account: Option<File>,
    ) -> Result<Self, Fault> {
        let usage = Usage::new(&spec.limits, processor_account)?;
        Ok(Self {
            program,
            usage,
            paused: false,
            restless: false,
            broken: None,
        })
    }

    /// Returns when the program has ended, by itself or killed because of a limit.
    pub(super) fn wait(mut self) -> Result<Ended, Fault> {
        let program =
            pidfd_open(self.program, PidfdFlags::empty()).during(|| "watch the program".into())?;
        let server = io::stdin();
        loop {
            let mut files = [
                PollFd::new(&program, PollFlags::IN),
                PollFd::new(&server, PollFlags::IN),
            ];
            let mut is_quiet = false;
            match poll(&mut files, Some(&self.pause())) {
                Ok(ready) => is_quiet = ready == 0,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error).during(|| "wait for the program".into()),
            }
            let ordered = !files[1].revents().is_empty();
            if let Some(ended) = self.bury() {
                return Ok(self.usage.walk(Walk::Running).map_or(ended, Ended::Limit));
            }
            if ordered && !self.obey() {
                // The server is gone, and possibly the keeper too.
                kill_all(signal::SIGKILL);
                return Ok(Ended::Signal(libc::SIGKILL));
            }
            if self.paused && is_quiet && self.keeps_running() {
                kill_all(signal::SIGKILL);
                return Ok(Ended::Limit(Limit::Cpu));
            }
            let broken = self.broken.take();
            if !self.paused
                && let Some(limit) = broken.or_else(|| self.usage.broken_limit())
            {
                kill_all(signal::SIGKILL);
                return Ok(Ended::Limit(limit));
            }
        }
    }

    fn pause(&self) -> Timespec {
        if self.paused {
            return Timespec {
                tv_sec: RESTING_LOOK_SECONDS,
                tv_nsec: 0,
            };
        }
        Timespec {
            tv_sec: 0,
            tv_nsec: self.usage.pause().subsec_nanos().into(),
        }
    }

    /// Whether something keeps running although everything was stopped. It must be seen twice, since stopping may take
    /// a moment.
    fn keeps_running(&mut self) -> bool {
        let runs = stats().is_none_or(|stats| {
            stats.iter().any(|(process, stat)| {
                *process != 1 && !matches!(stat.state, 'T' | 't' | 'Z' | 'X')
            })
        });
        std::mem::replace(&mut self.restless, runs) && runs
    }

    /// Reaps ended processes. Returns the program's result once it has ended.
    fn bury(&self) -> Option<Ended> {
        let mut ended = None;
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == self.program {
                ended = Some(how_it_ended(status));
            }
        }
        ended
    }

    /// Carries out the server's commands. Returns whether the server still exists.
    fn obey(&mut self) -> bool {
        let mut text = [0; 64];
        let order = match recv(io::stdin(), &mut text, RecvFlags::DONTWAIT) {
            Ok((_, length)) if length > 0 => serde_json::from_slice(&text[..length]),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return true,
            _ => return false,
        };
        match order {
            Ok(Order::Interrupt) => kill_all(signal::SIGINT),
            Ok(Order::Resume) => {
                self.usage.restart();
                self.paused = false;
                kill_all(signal::SIGCONT);
            }
            Ok(Order::Pause) => self.rest(),
            Err(_) => {}
        }
        true
    }

    /// Stops everything, and checks the resources held, since they stay while the session is paused.
    fn rest(&mut self) {
        kill_all(signal::SIGSTOP);
        self.broken = self
            .usage
            .broken_limit()
            .or_else(|| self.usage.walk(Walk::Stopped));
        if self.broken.is_some() {
            return;
        }
        (self.paused, self.restless) = (true, false);
        tell(&Report::Paused);
    }
}

fn how_it_ended(status: WaitStatus) -> Ended {
    match (status.exit_status(), status.terminating_signal()) {
        (_, Some(libc::SIGXCPU)) => Ended::Limit(Limit::Cpu),
        (_, Some(libc::SIGXFSZ)) => Ended::Limit(Limit::FileSize),
        (_, Some(signal)) => Ended::Signal(signal),
        (code, None) => Ended::Exit(code.unwrap_or(-1)),
    }
}

/// Signals everything in the sandbox except this process.
fn kill_all(signal: signal::Signal) {
    // There may be no process left.
    let _ = signal::kill(nix::unistd::Pid::from_raw(-1), signal);
}
