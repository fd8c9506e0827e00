//! Synchronization of a working directory with the chat's files: their common files, and the version that a program may
//! overwrite.

use runner_protocol::Sha256;
use store::FileRow;

use crate::{
    ToolFailure, Workspace,
    workspace::{FileProblem, Path},
};

/// Maximum number of files, and bytes, of a directory to copy.
const LAID_OUT_FILES: usize = 4_000;
const LAID_OUT_BYTES: u64 = 200_000_000;

/// A file in both the working directory and the chat, with the state of both when they were last equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Synced {
    /// The version of the chat's file; in a directory, a fingerprint of its state.
    pub(super) version: u64,
    pub(super) hash: Sha256,
    /// The size of the file in the working directory.
    pub(super) size_bytes: u64,
    pub(super) changed_ms: i64,
}

/// The state of a file of the chat that a program found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) version: u64,
    pub(super) hash: Sha256,
}

impl Synced {
    pub(super) fn base(self) -> Base {
        Base {
            version: self.version,
            hash: self.hash,
        }
    }
}

/// The version that a program's file may overwrite: the one that was copied for it, if it is still current.
pub(super) async fn expected(
    workspace: &Workspace,
    path: &Path,
    known: Option<Base>,
) -> Result<Option<u64>, FileProblem> {
    if workspace.directory()?.is_none() {
        return Ok(known.map(|same| same.version));
    }
    let Some(same) = known else {
        return Ok(Some(0));
    };
    match workspace.read_bytes(path).await {
        Ok((bytes, version)) if Sha256::of(&bytes) == same.hash => Ok(Some(version)),
        Ok(_) | Err(FileProblem::Missing(_)) => Err(FileProblem::Conflict(format!(
            "{path} was changed by somebody else meanwhile, and that was left as it is."
        ))),
        Err(problem) => Err(problem),
    }
}

/// Refuses a directory that is too large to copy for programs.
pub(super) fn check_size(files: &[FileRow], more: bool) -> Result<(), ToolFailure> {
    let bytes: u64 = files.iter().map(|file| file.size_bytes).sum();
    if !more && files.len() <= LAID_OUT_FILES && bytes <= LAID_OUT_BYTES {
        return Ok(());
    }
    Err(ToolFailure(format!(
        "The directory of this chat is too large for programs: they get a copy of up to {LAID_OUT_FILES} files and \
         {LAID_OUT_BYTES} bytes. Work with the file tools; an administrator can leave folders out."
    )))
}
