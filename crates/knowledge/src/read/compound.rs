//! Compound files: the streams that Outlook and the Office programs before 2007 keep in one file.

use std::io::{Cursor, Read};

use cfb::CompoundFile;

/// Maximum number of folders that are looked at.
const FOLDERS_LIMIT: usize = 10_000;

/// A compound file. Paths in it begin with a slash.
pub(super) struct Compound<'a> {
    file: CompoundFile<Cursor<&'a [u8]>>,
    /// The number of bytes that are still read: streams that overlap may have more in total than the file.
    left_bytes: usize,
}

impl<'a> Compound<'a> {
    /// `None` if it is damaged.
    pub(super) fn open(bytes: &'a [u8]) -> Option<Self> {
        Some(Self {
            file: CompoundFile::open(Cursor::new(bytes)).ok()?,
            left_bytes: bytes.len().saturating_mul(2),
        })
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.file.exists(path)
    }

    /// The folders in a folder whose names begin like this, in order.
    pub(super) fn folders(&self, folder: &str, beginning: &str) -> Vec<String> {
        let Ok(entries) = self.file.read_storage(folder) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .filter(|entry| entry.is_storage() && entry.name().starts_with(beginning))
            .take(FOLDERS_LIMIT)
            .map(|entry| entry.name().to_owned())
            .collect();
        names.sort();
        names
    }

    /// The content of a stream, if it exists and can be read.
    pub(super) fn stream(&mut self, path: &str) -> Option<Vec<u8>> {
        let stream = self.file.open_stream(path).ok()?;
        let mut bytes = Vec::new();
        let limit = self.left_bytes as u64;
        stream.take(limit).read_to_end(&mut bytes).ok()?;
        self.left_bytes -= bytes.len();
        Some(bytes)
    }
}
