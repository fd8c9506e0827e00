//! Walks through the folder: what it takes on the disk, and how many files it has.

use std::{fs, io, os::unix::fs::MetadataExt, path::PathBuf};

use crate::{Limits, spec::WORK};

/// Folders in folders; whoever makes more hides something.
const DEPTH_LIMIT: usize = 64;

/// What the folder takes on the disk, in bytes; nothing where it has too many files.
pub(super) fn folder_bytes(limits: &Limits) -> Option<u64> {
    let (mut bytes, mut files) = (0, 0);
    let mut folders = vec![(PathBuf::from(WORK), 0)];
    while let Some((folder, depth)) = folders.pop() {
        // What goes away meanwhile does not count.
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
            // What cannot be counted is too much.
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
