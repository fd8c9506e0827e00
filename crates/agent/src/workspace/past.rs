//! What files of a workspace were before: deleted, moved, read again, and brought back.

use domain::refusal::Files;
use store::{FileVersion, StoreError};

use super::{
    FILE_LIMIT_BYTES, FileProblem, Path, Workspace, Written, as_text, changed_meanwhile,
    diff::{self, LineCounts},
    unavailable,
};

impl Workspace {
    /// Deletes a file; what it was can be brought back. With `expected_version` only if it is still at that version.
    ///
    /// # Errors
    /// Where there is none, or it has changed meanwhile.
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

    /// Moves a file to a path where there is none; gives the change here and the one there.
    ///
    /// # Errors
    /// Where there is no such file, or one at the other path.
    pub async fn rename(&self, from: &Path, to: &Path) -> Result<(Written, Written), FileProblem> {
        if from == to {
            return Err(FileProblem::Refused(
                Files::FileThere {
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
                    Files::CannotMove {
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

    /// All states of a file that are kept, newest first: what it is now, then its past.
    ///
    /// # Errors
    /// Where there never was such a file.
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

    /// What a file held at this version; `None` if there was no file then, as at version 0.
    ///
    /// # Errors
    /// Where that state is not kept.
    pub async fn read_version(
        &self,
        path: &Path,
        version: u64,
    ) -> Result<Option<Vec<u8>>, FileProblem> {
        // What is kept of a directory is seen by those only who may work in it.
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

    /// Makes a file what it was at this version, as a new change; where there was no file then, as at version 0, it
    /// is deleted. With `expected_version` only if it is still at that version.
    ///
    /// # Errors
    /// Where that state is not kept, there is no room, or it has changed meanwhile.
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

    /// How many lines a change brought and took. A file that is new costs no look at the database; for others it is
    /// one, at what the change has replaced.
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
            before.inspect_err(|error| tracing::warn!(%error, "a file's past could not be read"));
        let before = before.ok()??;
        let before = as_text(&before.content).filter(|text| text.len() <= FILE_LIMIT_BYTES)?;
        diff::count(before, text)
    }
}
