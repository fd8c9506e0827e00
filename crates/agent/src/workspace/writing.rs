//! Writes files of a workspace, within its limits and only over a version that the writer has seen.

use std::sync::atomic::Ordering;

use store::StoreError;

use super::{
    BYTES_LIMIT, FILE_LIMIT_BYTES, FILES_LIMIT, FileProblem, Path, WORKSPACE_LIMIT_BYTES,
    Workspace, Written, changed_meanwhile, diff, directory::Place, unavailable,
};
use crate::messages;

impl Workspace {
    /// Writes a complete text file. With `expected_version`, only if it is still at that version (0: does not exist).
    ///
    /// # Errors
    /// If the file is too large, there is no room, or it has changed meanwhile.
    pub async fn write(
        &self,
        path: &Path,
        content: &str,
        expected_version: Option<u64>,
    ) -> Result<Written, FileProblem> {
        check_text(content)?;
        self.write_bytes(path, content.as_bytes(), expected_version)
            .await
    }

    /// Writes a complete file of any kind, like `write`.
    ///
    /// # Errors
    /// See `write`.
    pub async fn write_bytes(
        &self,
        path: &Path,
        content: &[u8],
        expected_version: Option<u64>,
    ) -> Result<Written, FileProblem> {
        let version = self.put(path, content, expected_version).await?;
        let lines = self.lines_changed(path, version, content).await;
        Ok(Written {
            version,
            size_bytes: content.len() as u64,
            deleted: false,
            lines,
        })
    }

    /// Replaces a text that was read before at this version.
    ///
    /// # Errors
    /// See `write`.
    pub async fn replace(
        &self,
        path: &Path,
        before: &str,
        version: u64,
        content: &str,
    ) -> Result<Written, FileProblem> {
        check_text(content)?;
        let version = self.put(path, content.as_bytes(), Some(version)).await?;
        let lines = diff::count(before, content);
        Ok(Written {
            version,
            size_bytes: content.len() as u64,
            deleted: false,
            lines,
        })
    }

    /// Writes the content. Returns the new version.
    async fn put(
        &self,
        path: &Path,
        content: &[u8],
        expected_version: Option<u64>,
    ) -> Result<u64, FileProblem> {
        if content.len() > BYTES_LIMIT {
            return Err(FileProblem::TooLarge(
                messages::Files::FileTooLarge {
                    size: content.len() as u64,
                    limit: BYTES_LIMIT as u64,
                }
                .into(),
            ));
        }
        let Some(turn) = self.turn(path).await? else {
            return self.keep(path, content, expected_version).await;
        };
        // Disk operations, which can fail, come first. If the rest fails, the store catches up with the disk later.
        let draft = turn.draft(path, content).await?;
        let version = self.keep(path, content, expected_version).await?;
        turn.keep(draft).await?;
        Ok(version)
    }

    /// Writes into the store. Returns the new version.
    pub(super) async fn keep(
        &self,
        path: &Path,
        content: &[u8],
        expected_version: Option<u64>,
    ) -> Result<u64, FileProblem> {
        self.check_room(path, content.len() as u64).await?;
        let now = (self.now_ms)();
        match self
            .store
            .write_file(&self.name, &path.0, content, expected_version, now)
            .await
        {
            Ok(version) => {
                if version == 1 {
                    self.seen.files.fetch_add(1, Ordering::Relaxed);
                }
                self.seen
                    .bytes
                    .fetch_add(content.len() as u64, Ordering::Relaxed);
                Ok(version)
            }
            Err(StoreError::Conflict(_)) => Err(changed_meanwhile(path)),
            Err(error) => Err(unavailable(error)),
        }
    }

    /// Refuses a write beyond the limits on files and bytes. Everything is counted once and then tracked, so another
    /// run of the same chat may exceed the limit slightly.
    async fn check_room(&self, path: &Path, size_bytes: u64) -> Result<(), FileProblem> {
        let seen = (
            self.seen.files.load(Ordering::Relaxed),
            self.seen.bytes.load(Ordering::Relaxed),
        );
        if (1..FILES_LIMIT).contains(&seen.0) && seen.1 + size_bytes <= WORKSPACE_LIMIT_BYTES {
            return Ok(());
        }
        let files = self.store.files(&self.name).await.map_err(unavailable)?;
        let total: u64 = files.iter().map(|file| file.size_bytes).sum();
        self.seen.files.store(files.len(), Ordering::Relaxed);
        self.seen.bytes.store(total, Ordering::Relaxed);
        let replaced = files.iter().find(|file| file.path == path.0);
        if files.len() >= FILES_LIMIT && replaced.is_none() {
            return Err(self.no_room(messages::Files::TooManyFiles {
                count: FILES_LIMIT as u64,
            }));
        }
        let after = total + size_bytes - replaced.map_or(0, |file| file.size_bytes);
        if after > WORKSPACE_LIMIT_BYTES {
            return Err(self.no_room(messages::Files::FilesTooLarge {
                size: after,
                limit: WORKSPACE_LIMIT_BYTES,
            }));
        }
        Ok(())
    }

    /// In a directory there is room; the limit applies to what the chat may store of it.
    fn no_room(&self, sentence: messages::Files) -> FileProblem {
        let sentence = if matches!(self.place, Place::Store) {
            sentence
        } else {
            messages::Files::DirectoryKept {
                files: FILES_LIMIT as u64,
                bytes: WORKSPACE_LIMIT_BYTES,
            }
        };
        FileProblem::TooLarge(sentence.into())
    }
}

fn check_text(content: &str) -> Result<(), FileProblem> {
    if content.len() > FILE_LIMIT_BYTES {
        return Err(FileProblem::TooLarge(
            messages::Files::TextTooLarge {
                size: content.len() as u64,
                limit: FILE_LIMIT_BYTES as u64,
            }
            .into(),
        ));
    }
    if content.contains('\0') {
        return Err(FileProblem::Refused(messages::Files::NulInText.into()));
    }
    Ok(())
}
