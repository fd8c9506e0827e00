//! The virtual file system of a chat: absolute paths, texts and other bytes, kept in the database with what they were
//! before.

pub mod diff;
mod kind;
mod past;
mod path;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use domain::EventBody;
use store::{FileRow, Store, StoreError};

use diff::LineCounts;
pub use kind::{as_text, picture_type};
pub use path::Path;

/// Largest file that is written as text, bytes.
pub const FILE_LIMIT_BYTES: usize = 1_000_000;
/// Largest file of any kind, bytes.
pub const BYTES_LIMIT: usize = 10_000_000;
/// Most bytes in one workspace, what files were before not counted.
pub const WORKSPACE_LIMIT_BYTES: u64 = 200_000_000;
/// Most files in one workspace.
pub const FILES_LIMIT: usize = 1_000;

/// The files one run works with: those of its chat, or its own where it has no chat.
#[derive(Clone)]
pub struct Workspace {
    store: Store,
    name: String,
    now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
    seen: Arc<Seen>,
}

/// What is in the workspace, as far as is known.
#[derive(Default)]
struct Seen {
    /// 0 where nobody has looked.
    files: AtomicUsize,
    /// Never too few, perhaps too many: what was replaced is not taken off.
    bytes: AtomicU64,
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Workspace").field(&self.name).finish()
    }
}

/// What a file operation met, as a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileProblem {
    /// There is no such file, or no such state of it.
    #[error("{0}")]
    Missing(String),
    /// Somebody else was faster, or there is something in the way.
    #[error("{0}")]
    Conflict(String),
    /// It is not what this works with.
    #[error("{0}")]
    Refused(String),
    /// A limit on sizes or numbers.
    #[error("{0}")]
    TooLarge(String),
    /// The database did not answer.
    #[error("{0}")]
    Unavailable(String),
    /// The server's disk has no room left.
    #[error("{0}")]
    Full(String),
}

/// A change that has been made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The number of this change, from 1.
    pub version: u64,
    /// The file's size now, bytes; 0 where `deleted`.
    pub size_bytes: u64,
    /// Whether the file is gone.
    pub deleted: bool,
    /// How many lines came and went, where both are text that is not too long to compare.
    pub lines: Option<LineCounts>,
}

impl Written {
    /// What is told to the log.
    #[must_use]
    pub fn event(&self, path: &Path) -> EventBody {
        EventBody::FileChanged {
            path: path.to_string(),
            version: self.version,
            size_bytes: self.size_bytes,
            deleted: self.deleted,
            added_lines: self.lines.map(|lines| lines.added),
            removed_lines: self.lines.map(|lines| lines.removed),
        }
    }
}

impl Workspace {
    /// The workspace called `name` (a chat's or run's id); `now_ms` is the server's clock.
    #[must_use]
    pub fn new(store: Store, name: String, now_ms: Arc<dyn Fn() -> i64 + Send + Sync>) -> Self {
        Self { store, name, now_ms, seen: Arc::default() }
    }

    /// The chat's or run's id.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// All files as they are.
    pub(crate) async fn states(&self) -> Result<Vec<FileRow>, FileProblem> {
        self.store.files(&self.name).await.map_err(unavailable)
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
    /// Where there is no such file, with similar ones in the sentence, and where it is not text, with what it is.
    pub async fn read(&self, path: &Path) -> Result<(String, u64), FileProblem> {
        let (bytes, version) = self.read_bytes(path).await?;
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Ok((text, version)),
            Ok(text) => Err(not_text(path, text.as_bytes())),
            Err(error) => Err(not_text(path, error.as_bytes())),
        }
    }

    /// What a file holds, text or not, and its version.
    ///
    /// # Errors
    /// Where there is no such file; the sentence names similar ones.
    pub async fn read_bytes(&self, path: &Path) -> Result<(Vec<u8>, u64), FileProblem> {
        match self.store.read_file(&self.name, &path.0).await.map_err(unavailable)? {
            Some(file) => Ok((file.content, file.version)),
            None => Err(self.missing(path).await),
        }
    }

    /// Writes a whole text file. With `expected_version` only if it is still at that version (0: does not exist).
    ///
    /// # Errors
    /// Where the file is too large, there is no room, or it has changed meanwhile.
    pub async fn write(
        &self,
        path: &Path,
        content: &str,
        expected_version: Option<u64>,
    ) -> Result<Written, FileProblem> {
        check_text(content)?;
        self.write_bytes(path, content.as_bytes(), expected_version).await
    }

    /// Writes a whole file of any kind, as `write` does.
    ///
    /// # Errors
    /// As for `write`.
    pub async fn write_bytes(
        &self,
        path: &Path,
        content: &[u8],
        expected_version: Option<u64>,
    ) -> Result<Written, FileProblem> {
        let version = self.put(path, content, expected_version).await?;
        let lines = self.lines_changed(path, version, content).await;
        Ok(Written { version, size_bytes: content.len() as u64, deleted: false, lines })
    }

    /// Writes a text over one that was read before at this version.
    ///
    /// # Errors
    /// As for `write`.
    pub async fn replace(
        &self,
        path: &Path,
        (before, version): (&str, u64),
        content: &str,
    ) -> Result<Written, FileProblem> {
        check_text(content)?;
        let version = self.put(path, content.as_bytes(), Some(version)).await?;
        let lines = diff::count(before, content);
        Ok(Written { version, size_bytes: content.len() as u64, deleted: false, lines })
    }

    /// Writes, and gives the new version.
    async fn put(
        &self,
        path: &Path,
        content: &[u8],
        expected_version: Option<u64>,
    ) -> Result<u64, FileProblem> {
        if content.len() > BYTES_LIMIT {
            return Err(FileProblem::TooLarge(format!(
                "The file would have {} bytes and the limit is {BYTES_LIMIT}.",
                content.len()
            )));
        }
        self.check_room(path, content.len() as u64).await?;
        let now = (self.now_ms)();
        match self.store.write_file(&self.name, &path.0, content, expected_version, now).await {
            Ok(version) => {
                if version == 1 {
                    self.seen.files.fetch_add(1, Ordering::Relaxed);
                }
                self.seen.bytes.fetch_add(content.len() as u64, Ordering::Relaxed);
                Ok(version)
            }
            Err(StoreError::Conflict(_)) => Err(changed_meanwhile(path)),
            Err(error) => Err(unavailable(error)),
        }
    }

    /// Refuses what is one file, or some bytes, too many. All is counted once and then kept count of: another run of
    /// the same chat may go a little beyond the limit, which bounds all the same.
    async fn check_room(&self, path: &Path, size_bytes: u64) -> Result<(), FileProblem> {
        let seen = (self.seen.files.load(Ordering::Relaxed), self.seen.bytes.load(Ordering::Relaxed));
        if (1..FILES_LIMIT).contains(&seen.0) && seen.1 + size_bytes <= WORKSPACE_LIMIT_BYTES {
            return Ok(());
        }
        let files = self.store.files(&self.name).await.map_err(unavailable)?;
        let total: u64 = files.iter().map(|file| file.size_bytes).sum();
        self.seen.files.store(files.len(), Ordering::Relaxed);
        self.seen.bytes.store(total, Ordering::Relaxed);
        let replaced = files.iter().find(|file| file.path == path.0);
        if files.len() >= FILES_LIMIT && replaced.is_none() {
            return Err(FileProblem::TooLarge(format!(
                "The workspace holds {FILES_LIMIT} files, which is the limit."
            )));
        }
        let after = total + size_bytes - replaced.map_or(0, |file| file.size_bytes);
        if after > WORKSPACE_LIMIT_BYTES {
            return Err(FileProblem::TooLarge(format!(
                "The files would have {after} bytes together and the limit is {WORKSPACE_LIMIT_BYTES}. Delete some \
                 that are not needed any more."
            )));
        }
        Ok(())
    }

    async fn missing(&self, path: &Path) -> FileProblem {
        let name = path.0.rsplit('/').next().unwrap_or_default();
        let files = self.list().await.unwrap_or_default();
        let similar: Vec<&str> =
            files.iter().map(|(path, _)| path.as_str()).filter(|path| path.ends_with(name)).take(3).collect();
        FileProblem::Missing(if similar.is_empty() {
            format!("There is no file {path}. Use ls to see what is there.")
        } else {
            format!("There is no file {path}. Did you mean {}?", similar.join(" or "))
        })
    }
}

fn check_text(content: &str) -> Result<(), FileProblem> {
    if content.len() > FILE_LIMIT_BYTES {
        return Err(FileProblem::TooLarge(format!(
            "The file would have {} bytes and the limit is {FILE_LIMIT_BYTES}. Split it.",
            content.len()
        )));
    }
    if content.contains('\0') {
        let sentence = "Text has no NUL characters, and this tool writes text.";
        return Err(FileProblem::Refused(sentence.into()));
    }
    Ok(())
}

fn not_text(path: &Path, bytes: &[u8]) -> FileProblem {
    let size = bytes.len();
    FileProblem::Refused(format!("{path} is not text: it is {} of {size} bytes.", kind::describe(bytes)))
}

fn changed_meanwhile(path: &Path) -> FileProblem {
    FileProblem::Conflict(format!("{path} has changed meanwhile. Read it again and repeat the edit."))
}

fn unavailable(error: StoreError) -> FileProblem {
    tracing::warn!(%error, "the workspace's database did not answer");
    match error {
        StoreError::Full(_) => FileProblem::Full("The server has no room left for files.".into()),
        _ => FileProblem::Unavailable("The files cannot be reached just now. Try again.".into()),
    }
}
