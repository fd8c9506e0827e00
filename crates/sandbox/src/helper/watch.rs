//! Watches a program from inside the sandbox: what it uses up, when it ends, and what the server orders.

use std::{fs, io, os::unix::fs::MetadataExt, path::PathBuf, time::Instant};

use nix::sys::signal;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::statvfs,
    net::{RecvFlags, recv},
    param::clock_ticks_per_second,
    process::{Pid, PidfdFlags, WaitOptions, WaitStatus, pidfd_open, wait},
};

use super::{During, Fault, tell};
use crate::{
    Ended, Limit, Limits,
    spec::{Order, Report, Spec, WORK},
};

/// Between two looks at memory and processor time, in milliseconds.
const LOOK_MS: i64 = 50;
/// Between two looks at a session that rests, in seconds.
const RESTING_LOOK_SECONDS: i64 = 2;
/// A walk through the folder may take this part of the time.
const WALK_SHARE: u32 = 20;
const WALK_PAUSE_MS: u128 = 200;
/// Folders in folders; whoever makes more hides something.
const DEPTH_LIMIT: usize = 64;

/// A running program with its limits.
pub(super) struct Watch {
    limits: Limits,
    program: Pid,
    paused: bool,
    /// At the last look something ran although all had been stopped.
    restless: bool,
    /// Processor time that a session used before this cell, in ticks.
    ticks_before: u64,
    walked: Instant,
    walk_pause_ms: u128,
    device: u64,
}

impl Watch {
    pub(super) fn new(spec: &Spec, program: Pid) -> Result<Self, Fault> {
        Ok(Self {
            limits: spec.limits.clone(),
            program,
            paused: false,
            restless: false,
            ticks_before: 0,
            walked: Instant::now(),
            walk_pause_ms: WALK_PAUSE_MS,
            device: fs::metadata(WORK).during(|| "look at the folder".into())?.dev(),
        })
    }

    /// Returns when the program has ended, by itself or killed for a limit.
    pub(super) fn wait(mut self) -> Result<Ended, Fault> {
        let program = pidfd_open(self.program, PidfdFlags::empty()).during(|| "watch the program".into())?;
        let server = io::stdin();
        loop {
            let mut files = [PollFd::new(&program, PollFlags::IN), PollFd::new(&server, PollFlags::IN)];
            let pause = match self.paused {
                true => Timespec { tv_sec: RESTING_LOOK_SECONDS, tv_nsec: 0 },
                false => Timespec { tv_sec: 0, tv_nsec: LOOK_MS * 1_000_000 },
            };
            let mut is_quiet = false;
            match poll(&mut files, Some(&pause)) {
                Ok(ready) => is_quiet = ready == 0,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error).during(|| "wait for the program".into()),
            }
            let ordered = !files[1].revents().is_empty();
            if let Some(ended) = self.bury() {
                return Ok(self.last_look().map_or(ended, Ended::Limit));
            }
            if ordered && !self.obey() {
                // The server is gone, and the keeper perhaps with it.
                kill_all(signal::SIGKILL);
                return Ok(Ended::Signal(libc::SIGKILL));
            }
            if self.paused && is_quiet && self.keeps_running() {
                kill_all(signal::SIGKILL);
                return Ok(Ended::Limit(Limit::Cpu));
            }
            if !self.paused
                && let Some(limit) = self.broken_limit()
            {
                kill_all(signal::SIGKILL);
                return Ok(Ended::Limit(limit));
            }
        }
    }

    /// Whether something has found a way to run although all was stopped: seen twice, as stopping may take a moment.
    fn keeps_running(&mut self) -> bool {
        let runs = |process: u32| {
            let stat = fs::read_to_string(format!("/proc/{process}/stat"));
            stat.is_ok_and(|stat| !matches!(state_of(&stat), 'T' | 't' | 'Z' | 'X'))
        };
        let was_restless =
            std::mem::replace(&mut self.restless, processes().any(|process| process != 1 && runs(process)));
        was_restless && self.restless
    }

    /// Takes note of all that have ended; the program itself is the one that counts.
    fn bury(&self) -> Option<Ended> {
        let mut ended = None;
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == self.program {
                ended = Some(how_it_ended(status));
            }
        }
        ended
    }

    /// Whether the server is still there.
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
                self.ticks_before = usage().map_or(0, |(ticks, _)| ticks);
                self.paused = false;
                kill_all(signal::SIGCONT);
            }
            Ok(Order::Pause) if self.last_look().is_none() => {
                kill_all(signal::SIGSTOP);
                (self.paused, self.restless) = (true, false);
                tell(&Report::Paused);
            }
            // The next look ends it.
            Ok(Order::Pause) | Err(_) => {}
        }
        true
    }

    fn broken_limit(&mut self) -> Option<Limit> {
        // What cannot be seen is too much.
        let Some((ticks, memory_bytes)) = usage() else { return Some(Limit::Memory) };
        let cpu_seconds = ticks.saturating_sub(self.ticks_before) / clock_ticks_per_second();
        if cpu_seconds >= self.limits.cpu_seconds {
            return Some(Limit::Cpu);
        }
        if memory_bytes > self.limits.memory_bytes {
            return Some(Limit::Memory);
        }
        if self.walked.elapsed().as_millis() < self.walk_pause_ms {
            return None;
        }
        let began = Instant::now();
        let broken = self.last_look();
        self.walked = Instant::now();
        self.walk_pause_ms = WALK_PAUSE_MS.max((began.elapsed() * WALK_SHARE).as_millis());
        broken
    }

    /// Does the folder keep to its limits?
    fn last_look(&self) -> Option<Limit> {
        if let Ok(disk) = statvfs(WORK)
            && disk.f_bavail.saturating_mul(disk.f_frsize) < self.limits.disk_free_bytes
        {
            return Some(Limit::FolderSize);
        }
        match self.folder_bytes() {
            None => Some(Limit::FolderFiles),
            Some(bytes) if bytes > self.limits.folder_bytes => Some(Limit::FolderSize),
            Some(_) => None,
        }
    }

    /// What the folder takes on the disk, or nothing where it has too many files.
    fn folder_bytes(&self) -> Option<u64> {
        let (mut bytes, mut files) = (self.deleted_bytes(), 0);
        let mut folders = vec![(PathBuf::from(WORK), 0)];
        while let Some((folder, depth)) = folders.pop() {
            // What goes away meanwhile does not count.
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
                {
                    continue;
                }
                // What cannot be counted is too much.
                Err(_) => return None,
            };
            for entry in entries.flatten() {
                files += 1;
                if files > self.limits.folder_files || depth >= DEPTH_LIMIT {
                    return None;
                }
                let Ok(found) = entry.metadata() else { continue };
                bytes += found.blocks() * 512;
                if found.is_dir() {
                    folders.push((entry.path(), depth + 1));
                }
            }
        }
        Some(bytes)
    }

    /// Files that were deleted while somebody still has them open.
    fn deleted_bytes(&self) -> u64 {
        let mut seen = Vec::new();
        let mut bytes = 0;
        for process in processes() {
            let Ok(open) = fs::read_dir(format!("/proc/{process}/fd")) else { continue };
            for file in open.flatten() {
                let Ok(found) = fs::metadata(file.path()) else { continue };
                let deleted = found.is_file() && found.nlink() == 0 && found.dev() == self.device;
                if deleted && !seen.contains(&found.ino()) {
                    seen.push(found.ino());
                    bytes += found.blocks() * 512;
                }
            }
        }
        bytes
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

/// Everything in the sandbox but this process.
fn kill_all(signal: signal::Signal) {
    // There may be nobody left.
    let _ = signal::kill(nix::unistd::Pid::from_raw(-1), signal);
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Processor time of all processes there are and were, in ticks, and their memory with that of `/tmp`, in bytes.
fn usage() -> Option<(u64, u64)> {
    let mut ticks = 0;
    let mut memory_bytes = taken_bytes("/tmp") + taken_bytes("/dev/shm");
    // Also where this process itself could not be read.
    fs::read_to_string("/proc/1/stat").ok()?;
    for process in processes() {
        if let Ok(stat) = fs::read_to_string(format!("/proc/{process}/stat")) {
            ticks += processor_ticks(&stat);
        }
        // The first process is ours.
        if process != 1
            && let Ok(status) = fs::read_to_string(format!("/proc/{process}/status"))
        {
            memory_bytes += own_bytes(&status);
        }
    }
    Some((ticks, memory_bytes))
}

/// `R` runs, `S` sleeps, `T` is stopped, `Z` has ended.
fn state_of(stat: &str) -> char {
    stat.rsplit_once(')').and_then(|(_, fields)| fields.trim_start().chars().next()).unwrap_or('?')
}

fn taken_bytes(path: &str) -> u64 {
    statvfs(path).map_or(0, |disk| disk.f_blocks.saturating_sub(disk.f_bfree).saturating_mul(disk.f_frsize))
}

/// Its own ticks and those of the children it has waited for.
fn processor_ticks(stat: &str) -> u64 {
    // The name before may have blanks and brackets of its own.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    fields.split_whitespace().skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// Memory that is no file's.
fn own_bytes(status: &str) -> u64 {
    let counted = ["RssAnon:", "RssShmem:", "VmSwap:"];
    let lines = status.lines().filter(|line| counted.iter().any(|name| line.starts_with(name)));
    lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).sum::<u64>() * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_the_kernel_are_read() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 55 1000 2";
        assert_eq!(processor_ticks(stat), 100);
        assert_eq!((state_of(stat), state_of("")), ('S', '?'));
        assert_eq!(
            own_bytes("Name:\tx\nVmRSS:\t99 kB\nRssAnon:\t 8 kB\nRssFile:\t5 kB\nRssShmem:\t 2 kB\n"),
            10240
        );
        assert_eq!((processor_ticks(""), own_bytes("RssAnon: x")), (0, 0));
    }
}
