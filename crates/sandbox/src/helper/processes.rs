//! CPU time and memory of the processes in the sandbox, read from `/proc`.

use std::{collections::BTreeMap, fs};

/// All process ids, except of those that have ended meanwhile.
pub(super) fn all() -> impl Iterator<Item = u32> {
    numbers("/proc")
}

/// The threads of a process.
pub(super) fn threads(process: u32) -> impl Iterator<Item = u32> {
    numbers(&format!("/proc/{process}/task"))
}

fn numbers(path: &str) -> impl Iterator<Item = u32> + use<> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// A snapshot of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    /// `R` running, `S` sleeping, `T` stopped, `Z` zombie.
    pub(super) state: char,
    /// Its own CPU time, in ticks.
    pub(super) own_ticks: u64,
    /// CPU time of the children it has waited for, and their descendants, in ticks.
    pub(super) waited_ticks: u64,
    /// Start time, in ticks, since process ids can be reused.
    pub(super) began: u64,
    /// Whether its first thread has an address space.
    pub(super) has_memory: bool,
}

impl Stat {
    pub(super) fn parse(stat: &str) -> Option<Self> {
        // The preceding name may contain spaces and parentheses.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
        Some(Self {
            state: fields.first()?.chars().next()?,
            own_ticks: number(11)? + number(12)?,
            waited_ticks: number(13)? + number(14)?,
            began: number(19)?,
            has_memory: number(20)? > 0,
        })
    }

    /// The current state of a process; `None` if it does not exist.
    pub(super) fn read(process: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }
}

/// Whether a process has ended, or is about to: it releases its memory shortly before its state changes. It continues
/// as long as it has other threads.
pub(super) fn is_ending(process: u32) -> bool {
    let has_memory = Stat::read(process).is_some_and(|stat| stat.has_memory);
    !has_memory && !threads(process).any(|thread| thread != process)
}

/// `None` if not even this process itself can be read.
pub(super) fn stats() -> Option<BTreeMap<u32, Stat>> {
    let stats: BTreeMap<u32, Stat> = all()
        .filter_map(|process| Some((process, Stat::read(process)?)))
        .collect();
    stats.contains_key(&1).then_some(stats)
}

/// Anonymous memory of a process with its page tables, in bytes. If its first thread has ended, the other threads still
/// have it.
pub(super) fn memory_bytes(process: u32, stat: &Stat) -> u64 {
    let of = |path: String| {
        fs::read_to_string(path)
            .ok()
            .and_then(|status| own_bytes(&status))
    };
    of(format!("/proc/{process}/status"))
        .or_else(|| {
            let mut others =
                threads(process).filter(|thread| stat.state == 'Z' && *thread != process);
            others.find_map(|thread| of(format!("/proc/{process}/task/{thread}/status")))
        })
        .unwrap_or(0)
}

/// `None` if the process no longer has memory. Shared memory belongs to files in memory, which are counted where they
/// are.
fn own_bytes(status: &str) -> Option<u64> {
    let counted = ["RssAnon:", "VmSwap:", "VmPTE:", "HugetlbPages:"];
    let lines = status
        .lines()
        .filter(|line| counted.iter().any(|name| line.starts_with(name)));
    let mut numbers = lines
        .filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
        .peekable();
    numbers.peek()?;
    Some(numbers.sum::<u64>() * 1024)
}

/// The share of its runnable time in which a process actually ran; 1 if it is not known yet.
pub(super) fn share_of_wish(process: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{process}/schedstat")).unwrap_or_default();
    let mut numbers = text
        .split_whitespace()
        .filter_map(|number| number.parse::<f64>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(ran), Some(waited)) if ran + waited > 0.0 => ran / (ran + waited),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_the_kernel_are_read() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 55 1000 2";
        let expected = Stat {
            state: 'S',
            own_ticks: 30,
            waited_ticks: 70,
            began: 55,
            has_memory: true,
        };
        assert_eq!((Stat::parse(stat), Stat::parse("")), (Some(expected), None));
        let status = "Name:\tx\nVmRSS:\t99 kB\nRssAnon:\t 8 kB\nRssFile:\t5 kB\nRssShmem:\t 2 kB\nVmPTE:\t 4 kB\n";
        assert_eq!(own_bytes(status), Some(12 * 1024));
        assert_eq!(
            (own_bytes("State:\tZ (zombie)\n"), own_bytes("RssAnon: x")),
            (None, None)
        );
    }
}
