//! The working directory and the Python process of one chat.

use std::collections::{BTreeMap, HashSet};

use runner_protocol::{Sha256, is_kept};
use sandbox::{File, Folder, FolderError};

use super::{
    apply::{Applied, MORE, delete, shorten, write},
    sync::{Synced, check_size},
};
use crate::{
    ToolFailure, Workspace,
    tool::ToolContext,
    workspace::{BYTES_LIMIT, FileProblem, Path},
};

/// Maximum number of files examined after a program has run.
const FILES_LIMIT: usize = 5_000;

/// A working directory. `same` has the files that equal the chat's, with the state of both when they were last equal.
#[derive(Debug)]
pub(super) struct Workdir {
    workdir: sandbox::Workdir,
    same: BTreeMap<String, Synced>,
    /// Files of the chat that cannot be copied into the folder, each with the reason.
    left_out: Vec<String>,
    /// A program may have run whose changes were not copied to the chat.
    half_done: bool,
    turn: Option<i64>,
}

/// Runs disk operations on a blocking thread.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FolderError> + Send + 'static,
) -> Result<T, ToolFailure> {
    at_disk(work)
        .await?
        .map_err(|error| ToolFailure(format!("The files could not be laid out: {error}.")))
}

/// Like [`blocking`], but the caller handles a file's error.
async fn at_disk<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FolderError> + Send + 'static,
) -> Result<Result<T, FolderError>, ToolFailure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| ToolFailure("The files could not be laid out.".to_owned()))
}

impl Workdir {
    /// An empty working directory.
    pub(super) fn new(workdir: sandbox::Workdir) -> Self {
        Self {
            workdir,
            same: BTreeMap::new(),
            left_out: Vec::new(),
            half_done: false,
            turn: None,
        }
    }

    /// The number of its last turn, if servers share the database.
    pub(super) fn turn(&self) -> Option<i64> {
        self.turn
    }

    pub(super) fn begin_turn(&mut self, number: Option<i64>) {
        self.turn = number;
    }

    /// Whether a program was stopped in it.
    pub(super) fn is_half_done(&self) -> bool {
        self.half_done
    }

    /// What programs work in.
    pub(super) fn inner(&mut self) -> &mut sandbox::Workdir {
        &mut self.workdir
    }

    fn folder(&self) -> Folder {
        self.workdir.folder().clone()
    }

    /// Copies the chat's changed files into the folder.
    pub(super) async fn lay_out(&mut self, workspace: &Workspace) -> Result<(), ToolFailure> {
        self.half_done = true;
        self.left_out.clear();
        let (files, more) = workspace.states().await?;
        if let Some(directory) = workspace.directory()? {
            check_size(&files, more)?;
            if self.same.is_empty() {
                self.left_out
                    .push(format!("{}, and neither are links", directory.left_out()));
            }
        }
        let there: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let gone: Vec<String> = self
            .same
            .keys()
            .filter(|path| !there.contains(path.as_str()))
            .cloned()
            .collect();
        for path in gone {
            let folder = self.folder();
            let inside = inside(&path);
            if let Err(error @ (FolderError::Path(_) | FolderError::Disk(_))) =
                at_disk(move || folder.remove(&inside)).await?
            {
                tracing::debug!(%error, path, "failed to remove a deleted file");
            }
            self.same.remove(&path);
        }
        for file in files {
            if self
                .same
                .get(&file.path)
                .is_some_and(|same| same.version == file.version)
            {
                continue;
            }
            let path = Path::parse_file(&file.path)?;
            let read = match workspace.directory()? {
                Some(_) => workspace
                    .peek(&path)
                    .await
                    .map(|bytes| (bytes, file.version)),
                None => workspace.read_bytes(&path).await,
            };
            let (bytes, version) = match read {
                Ok(read) => read,
                // Deleted meanwhile.
                Err(FileProblem::Missing(_)) => continue,
                Err(FileProblem::Unavailable(problem)) => return Err(ToolFailure(problem.message)),
                // A file that is too large or cannot be read is not available to programs.
                Err(problem) => {
                    self.same.remove(&file.path);
                    self.left_out
                        .push(format!("{path} was not laid out: {problem}"));
                    continue;
                }
            };
            let hash = Sha256::of(&bytes);
            let folder = self.folder();
            let name = inside(&file.path);
            let put = at_disk(move || {
                folder.put(&name, &bytes)?;
                folder.look(&name)
            });
            match put.await? {
                Ok(File {
                    size_bytes,
                    changed_ms,
                    ..
                }) => {
                    self.same.insert(
                        file.path,
                        Synced {
                            version,
                            hash,
                            size_bytes,
                            changed_ms,
                        },
                    );
                }
                // Something that a program has created is in the way, or the path is too long. Continue with the
                // others.
                Err(error) => {
                    self.same.remove(&file.path);
                    self.left_out
                        .push(format!("{path} was not laid out: {error}"));
                }
            }
        }
        Ok(())
    }

    /// Copies what programs have changed to the chat's files.
    pub(super) async fn take_over(
        &mut self,
        context: &ToolContext,
    ) -> Result<Vec<String>, ToolFailure> {
        let folder = self.folder();
        let (files, more) = blocking(move || folder.collect(FILES_LIMIT)).await?;
        let mut lines = std::mem::take(&mut self.left_out);
        let there: HashSet<String> = files.iter().map(|file| format!("/{}", file.path)).collect();
        let gone: Vec<(String, Synced)> = self
            .same
            .iter()
            .filter(|(path, _)| !more && !there.contains(*path))
            .map(|(path, same)| (path.clone(), *same))
            .collect();
        for (path, same) in gone {
            self.same.remove(&path);
            let path = Path::parse_file(&path)?;
            lines.extend(delete(context, &path, same.base()).await?);
        }
        // A program's own files, such as caches, do not belong to the chat unless they came from it.
        let same = &self.same;
        let is_ours =
            |file: &File| is_kept(&file.path) || same.contains_key(&format!("/{}", file.path));
        let files: Vec<File> = files.into_iter().filter(is_ours).collect();
        for file in &files {
            if let Some(line) = self.take_one(context, file).await? {
                lines.push(line);
            }
        }
        if more {
            lines.push(MORE.to_owned());
        }
        shorten(&mut lines);
        self.half_done = false;
        Ok(lines)
    }

    /// Copies one file into the chat if it has changed.
    async fn take_one(
        &mut self,
        context: &ToolContext,
        file: &File,
    ) -> Result<Option<String>, ToolFailure> {
        let name = format!("/{}", file.path);
        let known = self.same.get(&name).copied();
        if known.is_some_and(|same| {
            (same.size_bytes, same.changed_ms) == (file.size_bytes, file.changed_ms)
        }) {
            return Ok(None);
        }
        let path = match Path::parse_file(&name) {
            Ok(path) if path.as_str() == name => path,
            _ => {
                return Ok(Some(format!(
                    "{name:?} was not kept: the chat's files cannot have that name"
                )));
            }
        };
        let folder = self.folder();
        let inside = file.path.clone();
        let bytes = match at_disk(move || folder.read(&inside, BYTES_LIMIT as u64)).await? {
            Ok(bytes) => bytes,
            Err(FolderError::Missing(_)) => return Ok(None),
            Err(error) => return Ok(Some(format!("{path} was not kept: {error}"))),
        };
        let size_bytes = file.size_bytes;
        let changed_ms = file.changed_ms;
        let hash = Sha256::of(&bytes);
        if let Some(same) = known.filter(|same| same.hash == hash) {
            // Rewritten with the same content.
            self.same.insert(
                name,
                Synced {
                    size_bytes,
                    changed_ms,
                    ..same
                },
            );
            return Ok(None);
        }
        match write(context, &path, &bytes, known.map(Synced::base)).await? {
            Applied::Kept { version, line } => {
                let synced = Synced {
                    version,
                    hash,
                    size_bytes,
                    changed_ms,
                };
                self.same.insert(name, synced);
                Ok(Some(line))
            }
            Applied::NotKept(line) => {
                let is_shared = context.workspace().directory()?.is_some();
                // The next program gets the current file instead.
                if let Some(same) = self.same.get_mut(&name).filter(|_| is_shared) {
                    same.version = 0;
                }
                Ok(Some(line))
            }
        }
    }
}

/// The path of a chat's file relative to the folder.
fn inside(path: &str) -> String {
    path.trim_start_matches('/').to_owned()
}
