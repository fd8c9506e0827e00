//! The history of a workspace's files: deleting, moving, reading earlier versions, and restoring.

use store::{FileVersion, StoreError};

use super::{
    FILE_LIMIT_BYTES, FileProblem, Path, Workspace, Written, as_text, changed_meanwhile,
    diff::{self, LineCounts},
    unavailable,
};
use crate::messages;

impl Workspace {
    /// Deletes a file, which can be restored. With `expected_version`, only if it is still at that version.
    ///
    /// # Errors
    /// If it does not exist, or has changed meanwhile.
    pub async fn delete(
        &self,
        path: &Path,
        expected_version: Option<u64>,
    ) -> Result<Written, FileProblem> {
        let turn = self.turn(path).await?;
        let now = (self.now_ms)();
        match self
            .store
            .delete_file(&self.name, &path.0, expected_version, now)
            .await
        {
            Ok(version) => {
                if let Some(turn) = turn {
                    turn.remove(path).await?;
                }
                Ok(self.gone(path, version).await)
            }
            Err(StoreError::NotFound) => Err(self.missing(path).await),
            Err(StoreError::Conflict(_)) => Err(changed_meanwhile(path)),
            Err(error) => Err(unavailable(error)),
        }
    }

    /// Moves a file to an unused path; returns the changes at both paths.
    ///
    /// # Errors
    /// If the file does not exist, or the other path is in use.
    pub async fn rename(&self, from: &Path, to: &Path) -> Result<(Written, Written), FileProblem> {
        if from == to {
            return Err(FileProblem::Refused(
                messages::Files::FileThere {
                    from: from.to_string(),
                }
                .into(),
            ));
        }
        let turn = self.turn(from).await?;
        let other = self.directory_of(to)?;
        match (&turn, other) {
            (Some(_), Some(directory)) => drop(self.catch_up(directory, to).await?),
            (None, None) => {}
            _ => {
                return Err(FileProblem::Refused(
                    messages::Files::CannotMove {
                        from: from.to_string(),
                        to: to.to_string(),
                    }
                    .into(),
                ));
            }
        }
        match self
            .store
            .move_file(&self.name, &from.0, &to.0, (self.now_ms)())
            .await
        {
            Ok((gone, here)) => {
                if let Some(turn) = turn {
                    turn.rename(from, to).await?;
                }
                let gone = self.gone(from, gone).await;
                let lines = gone.lines.map(|LineCounts { removed, .. }| LineCounts {
                    added: removed,
                    removed: 0,
                });
                let versions = self.stored_versions(to).await?;
                let size_bytes = versions
                    .iter()
                    .find(|it| it.version == here)
                    .map_or(0, |version| version.size_bytes);
                Ok((
                    gone,
                    Written {
                        version: here,
                        size_bytes,
                        deleted: false,
                        lines,
                    },
                ))
            }
            Err(StoreError::NotFound) => Err(self.missing(from).await),
            Err(StoreError::Conflict(_)) => {
                let sentence = format!(
                    "There is a file {to} already. Delete it first, or choose another path."
                );
                Err(FileProblem::Conflict(sentence))
            }
            Err(error) => Err(unavailable(error)),
        }
    }

    /// All stored versions of a file, newest first.
    ///
    /// # Errors
    /// If there never was such a file.
    pub async fn versions(&self, path: &Path) -> Result<Vec<FileVersion>, FileProblem> {
        self.look(path).await?;
        self.stored_versions(path).await
    }

    async fn stored_versions(&self, path: &Path) -> Result<Vec<FileVersion>, FileProblem> {
        let versions = self
            .store
            .file_versions(&self.name, &path.0)
            .await
            .map_err(unavailable)?;
        if versions.is_empty() {
            Err(self.missing(path).await)
        } else {
            Ok(versions)
        }
    }

    /// The content of a file at this version; `None` if there was no file then, as at version 0.
    ///
    /// # Errors
    /// If that version is not stored.
    pub async fn read_version(
        &self,
        path: &Path,
        version: u64,
    ) -> Result<Option<Vec<u8>>, FileProblem> {
        // The stored content of a directory is visible only to those who may work in it.
        self.directory()?;
        if version == 0 {
            return Ok(None);
        }
        let past = self
            .store
            .read_file_version(&self.name, &path.0, version)
            .await
            .map_err(unavailable)?;
        let past = past.ok_or_else(|| {
            FileProblem::Missing(format!(
                "There is no version {version} of {path}, or it is so old that it is not kept any more."
            ))
        })?;
        Ok(if past.deleted {
            None
        } else {
            Some(past.content)
        })
    }

    /// Restores a file to this version, as a new change; if there was no file then, as at version 0, it is deleted.
    /// With `expected_version`, only if it is still at that version.
    ///
    /// # Errors
    /// If that version is not stored, there is no room, or the file has changed meanwhile.
    pub async fn restore(
        &self,
        path: &Path,
        version: u64,
        expected_version: Option<u64>,
    ) -> Result<Written, FileProblem> {
        match self.read_version(path, version).await? {
            Some(content) => self.write_bytes(path, &content, expected_version).await,
            None => self.delete(path, expected_version).await,
        }
    }

    async fn gone(&self, path: &Path, version: u64) -> Written {
        let lines = self.lines_changed(path, version, b"").await;
        Written {
            version,
            size_bytes: 0,
            deleted: true,
            lines,
        }
    }

    /// The numbers of lines that a change added and removed. For a new file this needs no query, otherwise one for the
    /// replaced version.
    pub(super) async fn lines_changed(
        &self,
        path: &Path,
        version: u64,
        content: &[u8],
    ) -> Option<LineCounts> {
        let text = as_text(content).filter(|text| text.len() <= FILE_LIMIT_BYTES)?;
        if version == 1 {
            return diff::count("", text);
        }
        let before = self
            .store
            .read_file_version(&self.name, &path.0, version - 1)
            .await;
        let before =
            before.inspect_err(|error| tracing::warn!(%error, "failed to read an earlier version"));
        let before = before.ok()??;
        let before = as_text(&before.content).filter(|text| text.len() <= FILE_LIMIT_BYTES)?;
        diff::count(before, text)
    }
}
