//! Copies what a program has changed to the files of the chat.

use runner_protocol::Sha256;

use super::sync::{Base, expected};
use crate::{
    ToolFailure,
    tool::ToolContext,
    workspace::{FileProblem, Path, Written, is_drawing, picture_type},
};

/// What became of a changed file.
pub(super) enum Applied {
    /// It is in the chat as this version; 0 if that is not known.
    Kept {
        version: u64,
        line: String,
    },
    NotKept(String),
}

/// Deletes a file that a program has deleted. Returns what to tell the model.
pub(super) async fn delete(
    context: &ToolContext,
    path: &Path,
    base: Base,
) -> Result<Option<String>, ToolFailure> {
    let deleted = match expected(context.workspace(), path, Some(base)).await {
        Ok(expected) => context.workspace().delete(path, expected).await,
        Err(problem) => Err(problem),
    };
    Ok(match deleted {
        Ok(deleted) => {
            context.forget_picture(path.as_str());
            context.emit(deleted.event(path)).await;
            Some(format!("deleted {path}"))
        }
        Err(FileProblem::Missing(_)) => None,
        Err(problem) => Some(format!("could not delete {path}: {problem}")),
    })
}

/// Writes a file that a program has created or changed; `base` is what it found there.
pub(super) async fn write(
    context: &ToolContext,
    path: &Path,
    bytes: &[u8],
    base: Option<Base>,
) -> Result<Applied, ToolFailure> {
    let workspace = context.workspace();
    let is_shared = workspace.directory()?.is_some();
    let mut meanwhile = "";
    let mut written = match expected(workspace, path, base).await {
        Ok(expected) => workspace.write_bytes(path, bytes, expected).await,
        Err(problem) => Err(problem),
    };
    // In a directory, people resolve conflicts.
    if let Err(FileProblem::Conflict(_)) = written
        && !is_shared
    {
        meanwhile = " (somebody changed it meanwhile: that state is in its history)";
        written = workspace.write_bytes(path, bytes, None).await;
    }
    match written {
        Ok(written) => {
            note(context, path, bytes, written).await;
            Ok(Applied::Kept {
                // A directory has a different version number for it, which the next look finds out.
                version: if is_shared { 0 } else { written.version },
                line: line(path, bytes, written, meanwhile),
            })
        }
        Err(problem @ (FileProblem::Unavailable(_) | FileProblem::Full(_))) => Err(problem.into()),
        Err(problem) => Ok(Applied::NotKept(format!("{path} was not kept: {problem}"))),
    }
}

/// Notes a file that an earlier server has written for this call, if it did; otherwise writes it.
pub(super) async fn write_again(
    context: &ToolContext,
    path: &Path,
    bytes: &[u8],
    base: Option<Base>,
) -> Result<Applied, ToolFailure> {
    match context.workspace().read_bytes(path).await {
        Ok((there, version)) if Sha256::of(&there) == Sha256::of(bytes) => {
            let written = Written {
                version,
                size_bytes: there.len() as u64,
                deleted: false,
                lines: None,
            };
            note(context, path, bytes, written).await;
            let is_shared = context.workspace().directory()?.is_some();
            Ok(Applied::Kept {
                version: if is_shared { 0 } else { version },
                line: line(path, bytes, written, ""),
            })
        }
        _ => write(context, path, bytes, base).await,
    }
}

async fn note(context: &ToolContext, path: &Path, bytes: &[u8], written: Written) {
    context.emit(written.event(path)).await;
    context.attach_written(path, written.version, bytes);
    if picture_type(bytes).is_some() || is_drawing(path.as_str(), bytes) {
        context.note_picture(path.as_str());
    }
}

fn line(path: &Path, bytes: &[u8], written: Written, meanwhile: &str) -> String {
    let verb = match written.version {
        1 => "new",
        _ => "changed",
    };
    format!("{verb} {path}, {} bytes{meanwhile}", bytes.len())
}

/// Maximum number of changes listed individually for the model.
const TOLD_LIMIT: usize = 30;
/// Told if not all files could be looked at.
pub(super) const MORE: &str =
    "there are too many files, or folders that cannot be read: the rest was left";

/// Cuts a long list of changes.
pub(super) fn shorten(lines: &mut Vec<String>) {
    if lines.len() > TOLD_LIMIT {
        let others = lines.len() - TOLD_LIMIT;
        lines.truncate(TOLD_LIMIT);
        lines.push(format!("and {others} more"));
    }
}
