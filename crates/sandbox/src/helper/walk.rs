//! Walks through the folder and measures its disk usage and number of files.

use std::{fs, io, os::unix::fs::MetadataExt, path::PathBuf};

use crate::{Limits, spec::WORK};

/// Maximum nesting depth; deeper nesting is meant to hide something.
const DEPTH_LIMIT: usize = 64;

/// Disk usage of the folder in bytes; `None` if it has too many files.
pub(super) fn folder_bytes(limits: &Limits) -> Option<u64> {
    let mut bytes = 0;
    let mut files = 0;
    let mut folders = vec![(PathBuf::from(WORK), 0)];
    while let Some((folder, depth)) = folders.pop() {
        // Folders removed meanwhile do not count.
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                continue;
            }
            // What cannot be counted exceeds the limit.
            Err(_) => return None,
        };
        for entry in entries.flatten() {
            files += 1;
            if files > limits.folder_files || depth >= DEPTH_LIMIT {
                return None;
            }
            let Ok(found) = entry.metadata() else {
                continue;
            };
            bytes += found.blocks() * 512;
            if found.is_dir() {
                folders.push((entry.path(), depth + 1));
            }
        }
    }
    Some(bytes)
}
