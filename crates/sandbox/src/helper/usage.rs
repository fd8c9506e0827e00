//! Measures the resource usage of the sandbox, and reports which limit it exceeds.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    fs::File,
    os::unix::fs::MetadataExt,
    time::{Duration, Instant},
};

use rustix::{
    fs::statvfs,
    net::{AddressFamily, SocketFlags, SocketType, socketpair, sockopt::socket_send_buffer_size},
};

use super::{
    During, Fault,
    held::{Held, sockets},
    processes::{Stat, memory_bytes, stats},
    processor::Processor,
    walk::folder_bytes,
};
use crate::{Limit, Limits, spec::WORK};

/// Interval between scans of memory and CPU time, and the one used when memory grows fast towards its limit.
const LOOK: Duration = Duration::from_millis(50);
const SHORT_LOOK: Duration = Duration::from_millis(10);
/// A walk through the folder and through held resources may take one part in this many of the time.
const WALK_SHARE: u32 = 20;
const WALK_PAUSE: Duration = Duration::from_millis(200);
/// A walk comes sooner if free disk space has shrunk by one part in this many of the folder's limit since the last one.
const LOSS_SHARE: u64 = 8;
/// Descriptors in transit for longer than this count as hidden. Until then, the receiver may only be waiting for the
/// CPU.
const DELIVERY: Duration = Duration::from_secs(1);
/// Memory of a socket beyond its buffer: a last message, and the socket itself.
const SOCKET_BYTES: u64 = 64 * 1024;
/// Kernel memory per file in memory.
const INODE_BYTES: u64 = 1024;

/// The usage observed.
pub(super) struct Usage {
    limits: Limits,
    is_grouped: bool,
    processor: Processor,
    memory_bytes: u64,
    memory_grew_bytes: u64,
    /// Maximum memory of a socket.
    socket_bytes: u64,
    /// Kernel memory as of the last walk.
    kernel_bytes: u64,
    walked: Instant,
    walk_took: Duration,
    free_bytes: u64,
    device: u64,
    /// Descriptors in transit that could not be inspected at the last walk.
    in_flight: u64,
    hidden_sockets: u64,
    /// Since when descriptors have been in transit at every walk, and the free disk space at that time.
    in_flight_since: Option<(Instant, u64)>,
    closed: BTreeSet<u32>,
}

/// How a walk treats what it cannot see.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Walk {
    /// Descriptors may be in transit; they count if they do not arrive, or if the disk fills up meanwhile.
    Running,
    /// Everything is stopped, so nothing will arrive.
    Stopped,
}

impl Usage {
    /// `processor_account` are the control group's CPU statistics.
    pub(super) fn new(limits: &Limits, processor_account: Option<File>) -> Result<Self, Fault> {
        let flags = SocketFlags::CLOEXEC;
        let (one, _other) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)
            .during(|| "make a socket".into())?;
        let buffer = socket_send_buffer_size(&one).during(|| "look at a socket".into())? as u64;
        sockets().ok_or_else(|| {
            Fault("could not count sockets: /proc/net/sockstat is not there".into())
        })?;
        Ok(Self {
            limits: limits.clone(),
            is_grouped: processor_account.is_some(),
            processor: Processor::new(processor_account),
            memory_bytes: 0,
            memory_grew_bytes: 0,
            socket_bytes: buffer + SOCKET_BYTES,
            kernel_bytes: 0,
            walked: Instant::now(),
            walk_took: Duration::ZERO,
            free_bytes: free_bytes().unwrap_or(0),
            device: fs::metadata(WORK)
                .during(|| "look at the folder".into())?
                .dev(),
            in_flight: 0,
            hidden_sockets: 0,
            in_flight_since: None,
            closed: BTreeSet::new(),
        })
    }

    /// Resets the CPU time.
    pub(super) fn restart(&mut self) {
        if let Some(stats) = stats() {
            self.processor.restart(&stats);
        }
        (self.memory_grew_bytes, self.free_bytes) = (0, free_bytes().unwrap_or(0));
    }

    /// The time until the next scan.
    pub(super) fn pause(&self) -> Duration {
        let left = self.limits.memory_bytes.saturating_sub(self.memory_bytes);
        if self.memory_grew_bytes > left / 4 {
            SHORT_LOOK
        } else {
            LOOK
        }
    }

    /// Performs the scans that are due. Returns the exceeded limit, if any.
    pub(super) fn broken_limit(&mut self) -> Option<Limit> {
        // What cannot be measured counts as exceeding the limit.
        let Some(stats) = stats() else {
            return Some(Limit::Memory);
        };
        #[expect(clippy::cast_precision_loss, reason = "a limit in seconds is small")]
        if self.processor.seconds(&stats) >= self.limits.cpu_seconds as f64 {
            return Some(Limit::Cpu);
        }
        let memory_bytes = self.memory(&stats);
        self.memory_grew_bytes = memory_bytes.saturating_sub(self.memory_bytes);
        self.memory_bytes = memory_bytes;
        if memory_bytes > self.limits.memory_bytes {
            return Some(Limit::Memory);
        }
        if self.is_walk_due() {
            self.walk(Walk::Running)
        } else {
            self.disk_limit()
        }
    }

    fn memory(&self, stats: &BTreeMap<u32, Stat>) -> u64 {
        if self.is_grouped {
            // The kernel accounts all of it.
            return 0;
        }
        // The first process is ours.
        let others = stats.iter().filter(|(process, _)| **process != 1);
        let processes: u64 = others
            .map(|(process, stat)| memory_bytes(*process, stat))
            .sum();
        let sockets = sockets()
            .unwrap_or(u64::MAX)
            .saturating_mul(self.socket_bytes);
        let files = taken_bytes("/tmp") + taken_bytes("/dev/shm");
        processes
            .saturating_add(files)
            .saturating_add(self.kernel_bytes)
            .saturating_add(sockets)
    }

    fn is_walk_due(&self) -> bool {
        let since = self.walked.elapsed();
        let took = self.walk_took;
        let lost = self.free_bytes.saturating_sub(free_bytes().unwrap_or(0));
        // Descriptors in transit are checked again soon, since they count only then.
        let pause = if self.in_flight > 0 { LOOK } else { WALK_PAUSE };
        since >= pause.max(took * WALK_SHARE)
            || (lost > self.limits.folder_bytes / LOSS_SHARE && since >= took * 2)
    }

    fn disk_limit(&self) -> Option<Limit> {
        let is_full = free_bytes().is_some_and(|free| free < self.limits.disk_free_bytes);
        is_full.then_some(Limit::FolderSize)
    }

    /// Scans the folder, and what processes hold outside of it.
    pub(super) fn walk(&mut self, walk: Walk) -> Option<Limit> {
        let began = Instant::now();
        self.free_bytes = free_bytes().unwrap_or(0);
        let held = Held::look(self.device);
        let now = (Instant::now(), self.free_bytes);
        self.in_flight_since = (held.in_flight > 0).then(|| self.in_flight_since.unwrap_or(now));
        let broken = self.disk_limit().or_else(|| self.judge(&held, walk));
        self.kernel_bytes = held.kernel_bytes;
        (self.in_flight, self.hidden_sockets, self.closed) =
            (held.in_flight, held.hidden_sockets, held.closed);
        (self.walk_took, self.walked) = (began.elapsed(), Instant::now());
        broken
    }

    fn judge(&self, held: &Held, walk: Walk) -> Option<Limit> {
        if held.is_too_much {
            return Some(Limit::Memory);
        }
        let is_stopped = walk == Walk::Stopped;
        let is_late = self.in_flight_since.is_some_and(|(since, free_bytes)| {
            let lost = free_bytes.saturating_sub(self.free_bytes);
            since.elapsed() >= DELIVERY || lost > self.limits.folder_bytes / LOSS_SHARE
        });
        let stays = |now: u64, before: u64| match is_stopped {
            true => now,
            false if is_late => now.min(before),
            false => 0,
        };
        let in_flight = stays(held.in_flight, self.in_flight);
        let nested = in_flight > 0 && stays(held.hidden_sockets, self.hidden_sockets) > 0;
        let is_closed = held
            .closed
            .iter()
            .any(|process| is_stopped || self.closed.contains(process));
        // What cannot be inspected counts as exceeding the limit.
        if nested || is_closed {
            return Some(Limit::FolderSize);
        }
        // Each of these may be as large as the maximum file size.
        let unknown = in_flight
            .saturating_add(held.mapped)
            .saturating_mul(self.limits.file_bytes);
        match folder_bytes(&self.limits) {
            None => Some(Limit::FolderFiles),
            Some(bytes) => {
                let all = bytes
                    .saturating_add(held.deleted_bytes)
                    .saturating_add(unknown);
                (all > self.limits.folder_bytes).then_some(Limit::FolderSize)
            }
        }
    }
}

fn free_bytes() -> Option<u64> {
    statvfs(WORK)
        .ok()
        .map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Memory used by files in memory.
fn taken_bytes(path: &str) -> u64 {
    statvfs(path).map_or(0, |disk| {
        let blocks = disk
            .f_blocks
            .saturating_sub(disk.f_bfree)
            .saturating_mul(disk.f_frsize);
        blocks.saturating_add(
            disk.f_files
                .saturating_sub(disk.f_ffree)
                .saturating_mul(INODE_BYTES),
        )
    })
}
