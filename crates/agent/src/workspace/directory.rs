//! A directory of the server's machine that replaces virtual files. The disk is authoritative; the store has what a
//! chat has seen and changed of it. Before each change the store catches up with the disk, so that changes by others
//! get a version as well: a writer that expects an older one is refused, and nothing is lost.

use std::{
    path::{Path as DiskPath, PathBuf},
    sync::Arc,
};

use domain::LocalizedText;
use sandbox::{File, FolderError, Mark};
use store::FileRow;
use tokio::{sync::Mutex, task::spawn_blocking};

use super::{BYTES_LIMIT, FileProblem, Path, Workspace, unavailable};
use crate::messages;

/// Maximum number of files that are listed.
const LISTED_LIMIT: usize = 10_000;
/// Hidden from agents regardless of the configuration: repositories, whose hooks people run, and folders filled by
/// programs.
pub const LEFT_OUT: [&str; 9] = [
    ".git",
    ".hg",
    ".svn",
    "node_modules",
    "target",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
];
/// Files under it belong to the chat and are never on the disk.
const OWN: &str = "/.glasshouse/";

/// A directory that an administrator allows. It is shared by all chats of the server that work in it.
#[derive(Debug)]
pub struct Directory {
    name: String,
    path: PathBuf,
    left_out: Vec<String>,
    read_only: bool,
    /// Held from reading a file until it is written.
    turn: Mutex<()>,
}

/// The location of a workspace's files.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// Only in the store.
    Store,
    /// On a disk.
    Directory(Arc<Directory>),
    /// In a directory that is no longer allowed, with the reason as a sentence.
    Nowhere(LocalizedText),
}

impl Directory {
    /// The directory at `path`, which must not contain links. Files and folders with a name in `left_out` are hidden.
    #[must_use]
    pub fn new(name: String, path: PathBuf, left_out: &[String], read_only: bool) -> Self {
        let left_out = LEFT_OUT
            .into_iter()
            .map(str::to_owned)
            .chain(left_out.iter().cloned())
            .collect();
        Self {
            name,
            path,
            left_out,
            read_only,
            turn: Mutex::default(),
        }
    }

    /// Checks that it can be read.
    ///
    /// # Errors
    /// If directories are not supported, as on systems other than Linux.
    pub fn check(&self) -> std::io::Result<()> {
        sandbox::Directory::open(&self.path, Vec::new()).map(drop)
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path on the server.
    #[must_use]
    pub fn path(&self) -> &DiskPath {
        &self.path
    }

    /// Whether it is read-only.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// The names hidden from agents, as a sentence.
    pub(crate) fn left_out(&self) -> String {
        format!("what is named {} is not there", self.left_out.join(", "))
    }

    /// Runs disk operations on a blocking thread.
    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&sandbox::Directory) -> Result<T, FolderError> + Send + 'static,
    ) -> Result<T, FileProblem> {
        let path = self.path.clone();
        let left_out = self.left_out.clone();
        // Opened each time, since it may have been mounted or created again.
        let done = spawn_blocking(move || work(&sandbox::Directory::open(&path, left_out)?)).await;
        match done {
            Ok(done) => done.map_err(|error| self.in_words(error)),
            Err(_) => Err(FileProblem::Unavailable(
                messages::Files::FilesUnreachable.into(),
            )),
        }
    }

    fn in_words(&self, error: FolderError) -> FileProblem {
        match error {
            FolderError::Path(path) => FileProblem::Refused(
                messages::Files::PathUnusable {
                    path,
                    names: self.left_out.join(", "),
                }
                .into(),
            ),
            FolderError::Missing(path) => {
                FileProblem::Missing(format!("There is no file /{path}."))
            }
            FolderError::Changed(path) => FileProblem::Conflict(format!(
                "/{path} has changed meanwhile, or there is a file already. Read it again and repeat the change."
            )),
            FolderError::TooLarge { limit_bytes } => {
                FileProblem::TooLarge(messages::Files::FileOverLimit { limit: limit_bytes }.into())
            }
            FolderError::Disk(error) if error.kind() == std::io::ErrorKind::StorageFull => {
                FileProblem::Full(
                    messages::Files::DirectoryFull {
                        name: self.name.clone(),
                    }
                    .into(),
                )
            }
            FolderError::Disk(error) => {
                tracing::warn!(%error, directory = self.name, "failed to access a chat's directory");
                let name = self.name.clone();
                let why = error.kind().to_string();
                FileProblem::Unavailable(messages::Files::DirectoryFails { name, why }.into())
            }
        }
    }

    pub(super) async fn list(&self) -> Result<(Vec<(File, Mark)>, bool), FileProblem> {
        self.on_disk(|disk| disk.list(LISTED_LIMIT)).await
    }

    pub(super) async fn read(&self, path: &Path) -> Result<Option<(Vec<u8>, Mark)>, FileProblem> {
        let inside = inside(path);
        self.on_disk(move |disk| disk.read(&inside, BYTES_LIMIT as u64))
            .await
    }
}

/// Exclusive access to change files of a directory, with the known version of one of them.
pub(super) struct Turn<'a> {
    directory: &'a Directory,
    seen: Option<Mark>,
    _turn: tokio::sync::MutexGuard<'a, ()>,
}

impl Turn<'_> {
    /// Writes the new content to a temporary file in the same folder.
    pub(super) async fn draft(
        &self,
        path: &Path,
        content: &[u8],
    ) -> Result<sandbox::Draft, FileProblem> {
        let inside = inside(path);
        let content = content.to_vec();
        let seen = self.seen;
        self.directory
            .on_disk(move |disk| disk.draft(&inside, &content, seen))
            .await
    }

    /// Moves it into place.
    pub(super) async fn keep(&self, draft: sandbox::Draft) -> Result<(), FileProblem> {
        self.directory.on_disk(move |_| draft.keep()).await
    }

    pub(super) async fn remove(&self, path: &Path) -> Result<(), FileProblem> {
        let inside = inside(path);
        let seen = self.seen;
        self.directory
            .on_disk(move |disk| seen.map_or(Ok(()), |seen| disk.remove(&inside, seen)))
            .await
    }

    pub(super) async fn rename(&self, from: &Path, to: &Path) -> Result<(), FileProblem> {
        let from = inside(from);
        let to = inside(to);
        let seen = self.seen;
        self.directory
            .on_disk(move |disk| seen.map_or(Ok(()), |seen| disk.rename(&from, &to, seen)))
            .await
    }
}

/// The folder for results, in a virtual workspace and in a directory.
const RESULTS: [&str; 2] = ["/results", "/.glasshouse/results"];

/// Whether a file contains a stored result.
pub(crate) fn is_of_results(path: &str) -> bool {
    RESULTS.iter().any(|folder| {
        path.strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
    })
}

impl Workspace {
    /// Uses the files of this directory instead.
    #[must_use]
    pub fn in_directory(self, directory: Arc<Directory>) -> Self {
        Self {
            place: Place::Directory(directory),
            ..self
        }
    }

    /// Marks the workspace's directory as unavailable, with the reason `why` as a sentence.
    #[must_use]
    pub fn nowhere(self, why: impl Into<LocalizedText>) -> Self {
        Self {
            place: Place::Nowhere(why.into()),
            ..self
        }
    }

    /// The directory with its files; `None` if they are virtual.
    ///
    /// # Errors
    /// If it is not available.
    pub(crate) fn directory(&self) -> Result<Option<&Directory>, FileProblem> {
        match &self.place {
            Place::Store => Ok(None),
            Place::Directory(directory) => Ok(Some(directory)),
            Place::Nowhere(why) => Err(FileProblem::Refused(why.clone())),
        }
    }

    /// The folder for long results, apart from the files that people work with.
    pub(crate) fn results_folder(&self) -> &'static str {
        RESULTS[usize::from(!matches!(self.place, Place::Store))]
    }

    /// The directory that contains this file.
    pub(super) fn directory_of(&self, path: &Path) -> Result<Option<&Directory>, FileProblem> {
        Ok(self.directory()?.filter(|_| !path.0.starts_with(OWN)))
    }

    /// All files, including the chat's own, where `version` is a number that differs after each change, and whether
    /// there are more.
    pub(super) async fn on_disk(
        &self,
        directory: &Directory,
    ) -> Result<(Vec<FileRow>, bool), FileProblem> {
        let (files, more) = directory.list().await?;
        let row = |(file, mark): (File, Mark)| FileRow {
            path: format!("/{}", file.path),
            size_bytes: file.size_bytes,
            version: mark.0,
            changed_at: file.changed_ms,
        };
        let mut rows: Vec<FileRow> = files.into_iter().map(row).collect();
        // A name that is not a valid path cannot be requested.
        rows.retain(|row| {
            Path::parse_file(&row.path).is_ok_and(|path| path.0 == row.path) && !is_own(row)
        });
        let kept = self.store.files(&self.name).await.map_err(unavailable)?;
        rows.extend(kept.into_iter().filter(is_own));
        Ok((rows, more))
    }

    /// Waits for exclusive access to change this file, and lets the store catch up with the disk. `None` if the file is
    /// only in the store.
    pub(super) async fn turn(&self, path: &Path) -> Result<Option<Turn<'_>>, FileProblem> {
        let Some(directory) = self.directory_of(path)? else {
            return Ok(None);
        };
        if directory.read_only {
            let sentence = messages::Files::DirectoryReadOnly {
                name: directory.name.clone(),
            };
            return Err(FileProblem::Refused(sentence.into()));
        }
        let turn = directory.turn.lock().await;
        let seen = self.catch_up(directory, path).await?;
        Ok(Some(Turn {
            directory,
            seen,
            _turn: turn,
        }))
    }

    /// Records the disk's state in the store. A file that is only in the store is not touched.
    pub(super) async fn look(&self, path: &Path) -> Result<(), FileProblem> {
        if let Some(directory) = self.directory_of(path)? {
            let _turn = directory.turn.lock().await;
            self.catch_up(directory, path).await?;
        }
        Ok(())
    }

    /// Returns the file's state on disk; `None` if it does not exist.
    pub(super) async fn catch_up(
        &self,
        directory: &Directory,
        path: &Path,
    ) -> Result<Option<Mark>, FileProblem> {
        let there = directory.read(path).await?;
        let known = self
            .store
            .read_file(&self.name, &path.0)
            .await
            .map_err(unavailable)?;
        match (&there, known) {
            (Some((bytes, _)), Some(known)) if *bytes == known.content => {}
            (Some((bytes, _)), known) => {
                self.keep(path, bytes, Some(known.map_or(0, |known| known.version)))
                    .await?;
            }
            (None, Some(known)) => {
                let now = (self.now_ms)();
                let gone = self
                    .store
                    .delete_file(&self.name, &path.0, Some(known.version), now)
                    .await;
                gone.map_err(unavailable)?;
            }
            (None, None) => {}
        }
        Ok(there.map(|(_, mark)| mark))
    }
}

fn is_own(row: &FileRow) -> bool {
    row.path.starts_with(OWN)
}

/// The path relative to the directory.
fn inside(path: &Path) -> String {
    path.0.trim_start_matches('/').to_owned()
}
