//! Resources held by processes that no longer appear in any folder: deleted files that are open, mapped or executed,
//! descriptors in transit between processes, and kernel memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::Path,
};

use rustix::param::page_size;

use super::processes::{self, Stat};
use crate::spec::WORK;

/// Pages per pipe; requests for more are refused.
const PIPE_PAGES: u64 = 16;
/// Upper bounds of kernel memory per mapping and per file lock, in bytes.
const MAPPING_BYTES: u64 = 512;
const LOCK_BYTES: u64 = 256;
/// Maximum number of mappings, and of locks, since scanning more takes too long.
const MAPPINGS_LIMIT: usize = 200_000;
const LOCKS_LIMIT: usize = 20_000;

/// A scan of all processes.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Disk space of deleted files of the folder that are open or executed, in bytes.
    pub(super) deleted_bytes: u64,
    /// Number of deleted files of the folder that are only mapped. Their size cannot be queried.
    pub(super) mapped: u64,
    /// Number of descriptors sent and not yet received. What they refer to cannot be queried.
    pub(super) in_flight: u64,
    /// Number of sockets not open in any process: in transit, or not accepted yet. They may hold descriptors as well.
    pub(super) hidden_sockets: u64,
    /// Kernel memory for pipes, mappings and locks, in bytes.
    pub(super) kernel_bytes: u64,
    /// Processes that cannot be inspected.
    pub(super) closed: BTreeSet<u32>,
    /// There is too much to scan.
    pub(super) is_too_much: bool,
}

/// The objects seen, without duplicates, by device and inode.
#[derive(Default)]
struct Seen {
    deleted: BTreeMap<u64, u64>,
    mapped: BTreeSet<u64>,
    pipes: BTreeSet<(u64, u64)>,
    sockets: BTreeMap<u64, u64>,
    mappings: usize,
}

impl Held {
    /// Scans all processes except this one; `device` is the folder's.
    pub(super) fn look(device: u64) -> Self {
        let mut held = Self::default();
        let mut seen = Seen::default();
        for process in processes::all().filter(|process| *process != 1) {
            if let Err(error) = seen.look_into(process, device)
                && error.kind() == io::ErrorKind::PermissionDenied
                // The kernel shows nothing about a process that is exiting.
                && !processes::is_ending(process)
            {
                held.closed.insert(process);
            }
            if seen.mappings > MAPPINGS_LIMIT {
                held.is_too_much = true;
                return held;
            }
        }
        let locks = locks();
        held.is_too_much = locks > LOCKS_LIMIT;
        held.deleted_bytes = seen.deleted.values().sum();
        held.mapped = seen
            .mapped
            .iter()
            .filter(|file| !seen.deleted.contains_key(file))
            .count() as u64;
        held.in_flight = seen.sockets.values().sum();
        held.hidden_sockets = sockets()
            .unwrap_or(0)
            .saturating_sub(seen.sockets.len() as u64);
        held.kernel_bytes = seen.pipes.len() as u64 * PIPE_PAGES * page_size() as u64
            + seen.mappings as u64 * MAPPING_BYTES
            + locks as u64 * LOCK_BYTES;
        held
    }
}

impl Seen {
    fn look_into(&mut self, process: u32, device: u64) -> io::Result<()> {
        let mut path = format!("/proc/{process}");
        let stat = Stat::parse(&fs::read_to_string(format!("{path}/stat"))?);
        if stat.is_none_or(|stat| matches!(stat.state, 'Z' | 'X')) {
            // If its first thread has ended, the others still have its files, which all threads of a process share.
            let Some(other) = processes::threads(process).find(|thread| *thread != process) else {
                return Ok(());
            };
            path = format!("{path}/task/{other}");
        }
        for open in fs::read_dir(format!("{path}/fd"))?.flatten() {
            // Descriptors closed meanwhile do not count.
            let Ok(found) = fs::metadata(open.path()) else {
                continue;
            };
            if found.file_type().is_fifo() {
                self.pipes.insert((found.dev(), found.ino()));
            } else if found.file_type().is_socket() {
                let name = open.file_name();
                let in_flight = || in_flight(&format!("{path}/fdinfo/{}", name.display()));
                self.sockets.entry(found.ino()).or_insert_with(in_flight);
            } else {
                self.note(&found, device);
            }
        }
        // A program may run that is no longer mapped.
        if let Ok(found) = fs::metadata(format!("{path}/exe")) {
            self.note(&found, device);
        }
        let maps = fs::read(format!("{path}/maps"))?;
        for line in maps
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            self.mappings += 1;
            if line.ends_with(b" (deleted)") {
                self.mapped
                    .extend(deleted_file(&String::from_utf8_lossy(line)));
            }
        }
        Ok(())
    }

    fn note(&mut self, found: &fs::Metadata, device: u64) {
        if found.is_file() && found.nlink() == 0 && found.dev() == device {
            self.deleted.insert(found.ino(), found.blocks() * 512);
        }
    }
}

/// The inode of a deleted file of the folder, from a line of maps. The device there may differ from the one elsewhere.
fn deleted_file(line: &str) -> Option<u64> {
    let mut fields = line.split_ascii_whitespace().skip(4);
    let number = fields.next()?.parse().ok()?;
    let is_ours = Path::new(fields.next()?).starts_with(WORK);
    is_ours.then_some(number)
}

/// Descriptors queued in a socket, including connections not accepted yet. Kernels older than 5.6 do not report them.
fn in_flight(path: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("scm_fds:"));
    line.and_then(|number| number.trim().parse().ok())
        .unwrap_or(0)
}

/// File locks held by processes in the sandbox. Locks of open file descriptions, which belong to no process and are
/// visible machine-wide, are refused.
fn locks() -> usize {
    let text = fs::read("/proc/locks").unwrap_or_default();
    let is_ownerless = |line: &[u8]| line.windows(b"OFDLCK".len()).any(|word| word == b"OFDLCK");
    text.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty() && !is_ownerless(line))
        .count()
}

/// All sockets of the sandbox: open, in transit, or closed with unread data.
pub(super) fn sockets() -> Option<u64> {
    let text = fs::read_to_string("/proc/net/sockstat").ok()?;
    text.lines()
        .find_map(|line| line.strip_prefix("sockets: used "))?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deleted_files_are_known_by_their_mappings() {
        let line = "7f10-7f20 rw-s 00000000 fe:01 1234                       /files/a b (deleted)";
        assert_eq!(
            (
                deleted_file(line),
                deleted_file(&line.replace("/files", "/filesx"))
            ),
            (Some(1234), None)
        );
        assert_eq!(deleted_file("7f10-7f20 rw-s 00000000"), None);
    }
}
