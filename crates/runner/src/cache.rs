//! Contents of files by their hash, on the runner's disk.

use std::{
    collections::HashMap,
    io,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use runner_protocol::Sha256;

/// A cache with a maximum size; what was not used for longest is removed first. Its functions block on the disk.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    limit_bytes: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<Sha256, Entry>,
    total_bytes: u64,
    /// Counts uses, so that they have an order.
    uses: u64,
}

#[derive(Debug)]
struct Entry {
    size_bytes: u64,
    used: u64,
}

impl Cache {
    /// An empty cache in `folder`.
    pub(crate) fn new(folder: PathBuf, limit_bytes: u64) -> io::Result<Self> {
        sandbox::remove_folder(&folder)?;
        std::fs::create_dir_all(&folder)?;
        Ok(Self {
            folder,
            limit_bytes,
            state: Mutex::default(),
        })
    }

    /// A content.
    pub(crate) fn get(&self, hash: Sha256) -> Option<Vec<u8>> {
        self.state().use_entry(hash)?;
        let content = std::fs::read(self.path(hash)).ok();
        let content = content.filter(|content| Sha256::of(content) == hash);
        if content.is_none() {
            self.state().remove(hash);
        }
        content
    }

    /// Keeps a content. Does nothing if the disk fails.
    pub(crate) fn put(&self, hash: Sha256, content: &[u8]) {
        let size_bytes = content.len() as u64;
        if size_bytes > self.limit_bytes || self.state().entries.contains_key(&hash) {
            return;
        }
        if let Err(error) = std::fs::write(self.path(hash), content) {
            tracing::debug!(%error, "failed to keep a content");
            drop(std::fs::remove_file(self.path(hash)));
            return;
        }
        for gone in self.state().insert(hash, size_bytes, self.limit_bytes) {
            drop(std::fs::remove_file(self.path(gone)));
        }
    }

    fn path(&self, hash: Sha256) -> PathBuf {
        self.folder.join(hash.to_string())
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn use_entry(&mut self, hash: Sha256) -> Option<()> {
        self.uses += 1;
        self.entries.get_mut(&hash)?.used = self.uses;
        Some(())
    }

    /// Adds an entry; returns those that have to go.
    fn insert(&mut self, hash: Sha256, size_bytes: u64, limit_bytes: u64) -> Vec<Sha256> {
        self.uses += 1;
        let used = self.uses;
        self.remove(hash);
        self.entries.insert(hash, Entry { size_bytes, used });
        self.total_bytes += size_bytes;
        let mut gone = Vec::new();
        while self.total_bytes > limit_bytes {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used);
            let Some(oldest) = oldest.map(|(hash, _)| *hash) else {
                break;
            };
            self.remove(oldest);
            gone.push(oldest);
        }
        gone
    }

    fn remove(&mut self, hash: Sha256) {
        if let Some(entry) = self.entries.remove(&hash) {
            self.total_bytes -= entry.size_bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_first_and_damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("cache"), 10).unwrap();
        let contents = [b"aaaa", b"bbbb", b"cccc"];
        let hashes = contents.map(|content| Sha256::of(content));
        cache.put(hashes[0], contents[0]);
        cache.put(hashes[1], contents[1]);
        assert_eq!(cache.get(hashes[0]).as_deref(), Some(&contents[0][..]));
        cache.put(hashes[2], contents[2]);
        assert_eq!(cache.get(hashes[1]), None);
        assert!(!cache.path(hashes[1]).exists());
        std::fs::write(cache.path(hashes[0]), "x").unwrap();
        assert_eq!(cache.get(hashes[0]), None);
        cache.put(Sha256::of(&[0; 11]), &[0; 11]);
        assert_eq!(cache.get(hashes[2]).as_deref(), Some(&contents[2][..]));
    }
}
