//! Limits the memory and disk usage of all processes of a browser together, which the kernel does not do.

use std::{fs, io, path::Path, time::Duration};

use tokio::time::sleep;

/// Maximum memory of all its processes, bytes; large pages take half of it.
const MEMORY_BYTES: u64 = 1024 * 1024 * 1024;
/// Maximum size of its profile, which is empty at the start, bytes.
const STORED_BYTES: u64 = 256 * 1024 * 1024;
/// Interval between two checks.
const LOOK: Duration = Duration::from_millis(100);

/// Resolves when the browser's process group exceeds the limits for a page.
pub(super) async fn too_much(group: Option<u32>, profile: &Path) {
    let Some(group) = group.filter(|_| cfg!(target_os = "linux")) else {
        return std::future::pending().await;
    };
    loop {
        sleep(LOOK).await;
        let profile = profile.to_owned();
        let look = tokio::task::spawn_blocking(move || {
            memory_bytes(group) > MEMORY_BYTES || stored_bytes(&profile) > STORED_BYTES
        });
        if look.await.unwrap_or(true) {
            return;
        }
    }
}

/// Memory without file mappings of all processes of a group.
fn memory_bytes(group: u32) -> u64 {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let paths = entries.filter(|entry| {
        entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.parse::<u32>().is_ok())
    });
    let of_group = paths.map(|entry| entry.path()).filter(|path| {
        let stat = fs::read_to_string(path.join("stat"));
        stat.is_ok_and(|stat| group_of(&stat) == Some(group))
    });
    of_group
        .map(|path| fs::read_to_string(path.join("status")).map_or(0, |status| own_bytes(&status)))
        .sum()
}

fn group_of(stat: &str) -> Option<u32> {
    // The name that comes before may contain spaces and brackets itself.
    stat.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(2)?
        .parse()
        .ok()
}

fn own_bytes(status: &str) -> u64 {
    let counted = ["RssAnon:", "RssShmem:", "VmSwap:"];
    let lines = status
        .lines()
        .filter(|line| counted.iter().any(|name| line.starts_with(name)));
    lines
        .filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
        .sum::<u64>()
        * 1024
}

/// The total size of the files below a folder. Files deleted meanwhile do not count.
fn stored_bytes(folder: &Path) -> u64 {
    let of_entry = |entry: io::Result<fs::DirEntry>| -> Option<u64> {
        let entry = entry.ok()?;
        let found = entry.metadata().ok()?;
        Some(if found.is_dir() {
            stored_bytes(&entry.path())
        } else {
            found.len()
        })
    };
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(of_entry)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_the_kernel_are_read() {
        let stat = "7 (chrome (x)) S 1 42 7 0 -1";
        assert_eq!((group_of(stat), group_of("")), (Some(42), None));
        let status =
            "VmRSS:\t99 kB\nRssAnon:\t 8 kB\nRssFile:\t5 kB\nRssShmem:\t 2 kB\nVmSwap:\t 1 kB\n";
        assert_eq!(own_bytes(status), 11 * 1024);
    }

    #[test]
    fn what_is_stored_counts_with_all_folders() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        fs::write(folder.path().join("a/b/c"), [0; 300]).unwrap();
        fs::write(folder.path().join("d"), [0; 20]).unwrap();
        assert_eq!(stored_bytes(folder.path()), 320);
        assert_eq!(stored_bytes(&folder.path().join("not there")), 0);
    }
}
