//! The file system of a chat: absolute paths to text and binary files, stored in the database with their earlier
//! versions, or in a directory of the machine.

pub mod diff;
mod directory;
mod kind;
mod past;
mod path;
mod writing;

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize},
    },
};

use domain::{EventBody, LocalizedText};
use store::{FileRow, Store, StoreError};

use diff::LineCounts;
use directory::Place;

use crate::messages;
pub(crate) use directory::is_of_results;
pub use directory::{Directory, LEFT_OUT};
pub use kind::{as_text, media_type, picture_type};
pub(crate) use kind::{is_drawing, seems_picture};
pub use path::Path;

/// Maximum size of a file written as text, bytes.
pub const FILE_LIMIT_BYTES: usize = 1_000_000;
/// Maximum size of a file of any kind, bytes.
pub const BYTES_LIMIT: usize = 10_000_000;
/// Maximum size of a workspace, bytes, not counting earlier versions of files.
pub const WORKSPACE_LIMIT_BYTES: u64 = 200_000_000;
/// Maximum number of files in one workspace.
pub const FILES_LIMIT: usize = 1_000;

/// Appended to an incomplete list of files.
pub(crate) const MORE_FILES: &str = "\n… the directory has more files than are listed";

/// The files of one run: those of its chat, or its own if it has no chat.
#[derive(Clone)]
pub struct Workspace {
    store: Store,
    name: String,
    now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
    place: Place,
    seen: Arc<Seen>,
}

/// The files of a workspace.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Paths in order, with sizes in bytes.
    pub files: Vec<(String, u64)>,
    /// Whether there are more, which is possible for a directory.
    pub more: bool,
}

/// The known size of the workspace.
#[derive(Default)]
struct Seen {
    /// 0 before the first count.
    files: AtomicUsize,
    /// Never too low, but possibly too high: replaced files are not subtracted.
    bytes: AtomicU64,
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Workspace").field(&self.name).finish()
    }
}

/// The error of a file operation, as a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileProblem {
    /// The file, or the requested version of it, does not exist.
    #[error("{0}")]
    Missing(String),
    /// It was changed concurrently, or something is in the way.
    #[error("{0}")]
    Conflict(String),
    /// Not supported by this kind of workspace.
    #[error("{0}")]
    Refused(LocalizedText),
    /// A limit on sizes or numbers was exceeded.
    #[error("{0}")]
    TooLarge(LocalizedText),
    /// The database did not respond.
    #[error("{0}")]
    Unavailable(LocalizedText),
    /// The server's disk is full.
    #[error("{0}")]
    Full(LocalizedText),
}

impl From<FileProblem> for LocalizedText {
    fn from(problem: FileProblem) -> Self {
        match problem {
            FileProblem::Missing(why) | FileProblem::Conflict(why) => why.into(),
            FileProblem::Refused(why)
            | FileProblem::TooLarge(why)
            | FileProblem::Unavailable(why)
            | FileProblem::Full(why) => why,
        }
    }
}

/// A completed change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The number of this change, from 1.
    pub version: u64,
    /// The file's size now, bytes; 0 if `deleted`.
    pub size_bytes: u64,
    /// Whether the file was deleted.
    pub deleted: bool,
    /// How many lines were added and removed, if both versions are text that is not too long to compare.
    pub lines: Option<LineCounts>,
}

impl Written {
    /// The event for the log.
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
    /// The workspace named `name` (a chat's or run's id); `now_ms` is the server's clock.
    #[must_use]
    pub fn new(store: Store, name: String, now_ms: Arc<dyn Fn() -> i64 + Send + Sync>) -> Self {
        Self {
            store,
            name,
            now_ms,
            place: Place::Store,
            seen: Arc::default(),
        }
    }

    /// The database with its files.
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// The chat's or run's id.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// All files, where `version` is a number that differs after each change, and whether there are more.
    pub(crate) async fn states(&self) -> Result<(Vec<FileRow>, bool), FileProblem> {
        match self.directory()? {
            Some(directory) => self.on_disk(directory).await,
            None => Ok((
                self.store.files(&self.name).await.map_err(unavailable)?,
                false,
            )),
        }
    }

    /// All files with their known versions, 0 for files without one; and whether there are more.
    ///
    /// # Errors
    /// If the database, or the directory, does not respond.
    pub async fn rows(&self) -> Result<(Vec<FileRow>, bool), FileProblem> {
        let (mut rows, more) = self.states().await?;
        if self.directory()?.is_some() {
            let known = self.store.files(&self.name).await.map_err(unavailable)?;
            let known: HashMap<String, u64> = known
                .into_iter()
                .map(|row| (row.path, row.version))
                .collect();
            for row in &mut rows {
                row.version = known.get(&row.path).copied().unwrap_or(0);
            }
        }
        Ok((rows, more))
    }

    /// Deleted files that can be restored, each in its last version with the time of its deletion, the last deleted
    /// first. `there` are the existing files, since a file may have been restored to a directory from outside.
    ///
    /// # Errors
    /// If the database does not respond.
    pub async fn deleted_rows(&self, there: &[FileRow]) -> Result<Vec<FileRow>, FileProblem> {
        let mut rows = self
            .store
            .deleted_files(&self.name)
            .await
            .map_err(unavailable)?;
        let there: HashSet<&str> = there.iter().map(|row| &*row.path).collect();
        rows.retain(|row| !there.contains(&*row.path));
        Ok(rows)
    }

    /// All paths in order, with sizes in bytes.
    ///
    /// # Errors
    /// If the database, or the directory, does not respond.
    pub async fn list(&self) -> Result<Listing, FileProblem> {
        let (files, more) = self.states().await?;
        Ok(Listing {
            files: files
                .into_iter()
                .map(|file| (file.path, file.size_bytes))
                .collect(),
            more,
        })
    }

    /// A file's text. For a directory, nothing is stored.
    ///
    /// # Errors
    /// See `read`.
    pub async fn peek_text(&self, path: &Path) -> Result<String, FileProblem> {
        text(path, self.peek(path).await?)
    }

    /// The content of a text or binary file. For a directory, nothing is stored.
    ///
    /// # Errors
    /// See `read_bytes`.
    pub async fn peek(&self, path: &Path) -> Result<Vec<u8>, FileProblem> {
        let Some(directory) = self.directory_of(path)? else {
            return Ok(self.read_bytes(path).await?.0);
        };
        match directory.read(path).await? {
            Some((bytes, _)) => Ok(bytes),
            None => Err(self.missing(path).await),
        }
    }

    /// A file's text and version.
    ///
    /// # Errors
    /// If the file does not exist, with similar names in the message, or is not text, with its type.
    pub async fn read(&self, path: &Path) -> Result<(String, u64), FileProblem> {
        let (bytes, version) = self.read_bytes(path).await?;
        Ok((text(path, bytes)?, version))
    }

    /// The content of a text or binary file, and its version.
    ///
    /// # Errors
    /// If the file does not exist; the message names similar ones.
    pub async fn read_bytes(&self, path: &Path) -> Result<(Vec<u8>, u64), FileProblem> {
        self.look(path).await?;
        match self
            .store
            .read_file(&self.name, &path.0)
            .await
            .map_err(unavailable)?
        {
            Some(file) => Ok((file.content, file.version)),
            None => Err(self.missing(path).await),
        }
    }

    async fn missing(&self, path: &Path) -> FileProblem {
        let name = path.0.rsplit('/').next().unwrap_or_default();
        let files = self.list().await.unwrap_or_default();
        let similar: Vec<&str> = files
            .files
            .iter()
            .map(|(path, _)| path.as_str())
            .filter(|path| path.ends_with(name))
            .take(3)
            .collect();
        FileProblem::Missing(if similar.is_empty() {
            format!("There is no file {path}. Use ls to see what is there.")
        } else {
            format!(
                "There is no file {path}. Did you mean {}?",
                similar.join(" or ")
            )
        })
    }
}

fn text(path: &Path, bytes: Vec<u8>) -> Result<String, FileProblem> {
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        Ok(text) => Err(not_text(path, text.as_bytes())),
        Err(error) => Err(not_text(path, error.as_bytes())),
    }
}

fn not_text(path: &Path, bytes: &[u8]) -> FileProblem {
    let what = kind::describe(bytes).to_string();
    let size = bytes.len() as u64;
    FileProblem::Refused(
        messages::Files::FileNotText {
            path: path.to_string(),
            what,
            size,
        }
        .into(),
    )
}

fn changed_meanwhile(path: &Path) -> FileProblem {
    FileProblem::Conflict(format!(
        "{path} has changed meanwhile. Read it again and repeat the edit."
    ))
}

fn unavailable(error: StoreError) -> FileProblem {
    tracing::warn!(%error, "failed to access the workspace in the database");
    match error {
        StoreError::Full(_) => FileProblem::Full(messages::Files::NoRoomForFiles.into()),
        _ => FileProblem::Unavailable(messages::Files::FilesUnreachable.into()),
    }
}
