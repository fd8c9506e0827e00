//! The virtual file system of a chat: absolute paths, text files, kept in the database.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use store::{Store, StoreError};

/// Largest file, bytes.
pub const FILE_LIMIT_BYTES: usize = 1_000_000;
/// Most files in one workspace.
pub const FILES_LIMIT: usize = 1_000;
const PATH_LIMIT_BYTES: usize = 500;

/// The files one run works with: those of its chat, or its own where it has no chat.
#[derive(Clone)]
pub struct Workspace {
    store: Store,
    name: String,
    now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
    /// How many files there are, as far as is known; 0 where nobody has looked.
    files_seen: Arc<AtomicUsize>,
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Workspace").field(&self.name).finish()
    }
}

/// What a file operation met, as a sentence for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FileProblem(pub String);

/// A change that has been made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The file's new version, from 1.
    pub version: u64,
    /// Its size now, bytes.
    pub size_bytes: u64,
}

impl Workspace {
    /// The workspace called `name` (a chat's or run's id); `now_ms` is the server's clock.
    #[must_use]
    pub fn new(store: Store, name: String, now_ms: Arc<dyn Fn() -> i64 + Send + Sync>) -> Self {
        Self { store, name, now_ms, files_seen: Arc::default() }
    }

    /// All paths in order, with sizes in bytes.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn list(&self) -> Result<Vec<(String, u64)>, FileProblem> {
        let files = self.store.files(&self.name).await.map_err(unavailable)?;
        Ok(files.into_iter().map(|file| (file.path, file.size_bytes)).collect())
    }

    /// A file's text and version.
    ///
    /// # Errors
    /// Where there is no such file; the sentence names similar ones.
    pub async fn read(&self, path: &Path) -> Result<(String, u64), FileProblem> {
        match self.store.read_file(&self.name, &path.0).await.map_err(unavailable)? {
            Some(file) => Ok((file.content, file.version)),
            None => Err(self.missing(path).await),
        }
    }

    /// Writes a whole file. With `expected_version` only if it is still at that version (0: does not exist).
    ///
    /// # Errors
    /// Where the file is too large, there are too many, or it has changed meanwhile.
    pub async fn write(
        &self,
        path: &Path,
        content: &str,
        expected_version: Option<u64>,
    ) -> Result<Written, FileProblem> {
        if content.len() > FILE_LIMIT_BYTES {
            return Err(FileProblem(format!(
                "The file would have {} bytes and the limit is {FILE_LIMIT_BYTES}. Split it.",
                content.len()
            )));
        }
        if content.contains('\0') {
            return Err(FileProblem("Files hold text, and text has no NUL characters.".into()));
        }
        self.check_room(path).await?;
        let now = (self.now_ms)();
        match self.store.write_file(&self.name, &path.0, content, expected_version, now).await {
            Ok(version) => {
                if version == 1 {
                    self.files_seen.fetch_add(1, Ordering::Relaxed);
                }
                Ok(Written { version, size_bytes: content.len() as u64 })
            }
            Err(StoreError::Conflict(_)) => {
                Err(FileProblem(format!("{path} has changed meanwhile. Read it again and repeat the edit.")))
            }
            Err(error) => Err(unavailable(error)),
        }
    }

    /// Refuses one file too many. The files are counted once and then kept count of: another run of the same
    /// chat may add a few beyond the limit, which bounds all the same.
    async fn check_room(&self, path: &Path) -> Result<(), FileProblem> {
        let seen = self.files_seen.load(Ordering::Relaxed);
        if (1..FILES_LIMIT).contains(&seen) {
            return Ok(());
        }
        let files = self.store.files(&self.name).await.map_err(unavailable)?;
        self.files_seen.store(files.len(), Ordering::Relaxed);
        if files.len() >= FILES_LIMIT && !files.iter().any(|file| file.path == path.0) {
            return Err(FileProblem(format!("The workspace holds {FILES_LIMIT} files, which is the limit.")));
        }
        Ok(())
    }

    async fn missing(&self, path: &Path) -> FileProblem {
        let name = path.0.rsplit('/').next().unwrap_or_default();
        let files = self.list().await.unwrap_or_default();
        let similar: Vec<&str> =
            files.iter().map(|(path, _)| path.as_str()).filter(|path| path.ends_with(name)).take(3).collect();
        FileProblem(if similar.is_empty() {
            format!("There is no file {path}. Use ls to see what is there.")
        } else {
            format!("There is no file {path}. Did you mean {}?", similar.join(" or "))
        })
    }
}

fn unavailable(error: StoreError) -> FileProblem {
    tracing::warn!(%error, "the workspace's database did not answer");
    FileProblem("The files cannot be reached just now. Try again.".into())
}

/// An absolute, normalised path in a workspace: `/notes/plan.md`. `..` cannot leave the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path(String);

impl Path {
    /// Reads a path as a model writes it; relative ones start at the root.
    ///
    /// # Errors
    /// Where it is too long or holds control characters.
    pub fn parse(text: &str) -> Result<Self, FileProblem> {
        if text.len() > PATH_LIMIT_BYTES || text.chars().any(char::is_control) {
            return Err(FileProblem(format!(
                "A path has at most {PATH_LIMIT_BYTES} bytes and no control characters."
            )));
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in text.split(['/', '\\']) {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        Ok(Self(format!("/{}", parts.join("/"))))
    }

    /// Reads the path of a file, which is more than `/`.
    ///
    /// # Errors
    /// As `parse`, and for the root.
    pub fn parse_file(text: &str) -> Result<Self, FileProblem> {
        let path = Self::parse(text)?;
        if path.0 == "/" { Err(FileProblem("The path of a file is missing.".into())) } else { Ok(path) }
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `path` is this or lies under it.
    #[must_use]
    pub fn contains(&self, path: &str) -> bool {
        self.0 == "/"
            || path.strip_prefix(&self.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalised_and_stay_inside() {
        for (text, path) in [
            ("a.md", "/a.md"),
            ("/a//b/./c", "/a/b/c"),
            ("../../etc/passwd", "/etc/passwd"),
            ("/a/../..", "/"),
            (r"notes\plan.md", "/notes/plan.md"),
            ("", "/"),
        ] {
            assert_eq!(Path::parse(text).unwrap().as_str(), path, "{text}");
        }
        assert!(Path::parse("a\0b").is_err());
        assert!(Path::parse(&"a".repeat(501)).is_err());
        assert!(Path::parse_file("/").is_err());
    }

    #[test]
    fn a_folder_contains_only_its_own() {
        let folder = Path::parse("/src").unwrap();
        assert!(folder.contains("/src/a.rs") && !folder.contains("/srcs/a.rs"));
        assert!(Path::parse("/").unwrap().contains("/x"));
    }
}
