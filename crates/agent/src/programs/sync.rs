//! Synchronization of a working directory with the chat's files: what both have, and which state a program may overwrite.

use ring::digest::{SHA256, digest};
use store::FileRow;

use crate::{
    ToolFailure, Workspace,
    workspace::{FileProblem, Path},
};

/// Maximum number of files and bytes of a directory that are laid out.
const LAID_OUT_FILES: usize = 4_000;
const LAID_OUT_BYTES: u64 = 200_000_000;

/// A file that the working directory and the chat have in common, and how both looked then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Synced {
    /// Of the chat's file: its version, or in a directory how it looked.
    pub(super) version: u64,
    pub(super) hash: Hash,
    /// Of the folder's file.
    pub(super) size_bytes: u64,
    pub(super) changed_ms: i64,
}

/// Identifies a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hash([u8; 32]);

impl Hash {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, bytes).as_ref());
        Self(hash)
    }
}

/// The version that a program's file may overwrite: the one that was laid out for it, if that is still current.
pub(super) async fn expected(
    workspace: &Workspace,
    path: &Path,
    known: Option<Synced>,
) -> Result<Option<u64>, FileProblem> {
    if workspace.directory()?.is_none() {
        return Ok(known.map(|same| same.version));
    }
    let Some(same) = known else {
        return Ok(Some(0));
    };
    match workspace.read_bytes(path).await {
        Ok((bytes, version)) if Hash::of(&bytes) == same.hash => Ok(Some(version)),
        Ok(_) | Err(FileProblem::Missing(_)) => Err(FileProblem::Conflict(format!(
            "{path} was changed by somebody else meanwhile, and that was left as it is."
        ))),
        Err(problem) => Err(problem),
    }
}

/// Refuses a directory that is too large to be copied for programs.
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
