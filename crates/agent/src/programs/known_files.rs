//! The files of a chat by the hashes of their contents, for programs on runners.

use std::collections::BTreeMap;

use runner_protocol::{ManifestFile, Sha256};

use super::sync::check_size;
use crate::{
    ToolFailure, Workspace,
    workspace::{FileProblem, Path},
};

/// The files whose hashes are known, by their paths in the chat.
pub(super) type KnownFiles = BTreeMap<String, ManifestFile>;

/// All files of the chat, and those that programs do not get, each with the reason. A content is read only if its hash is not
/// known.
pub(super) async fn manifest(
    workspace: &Workspace,
    known: &mut KnownFiles,
) -> Result<(Vec<ManifestFile>, Vec<String>), ToolFailure> {
    let (rows, more) = workspace.states().await?;
    let mut left_out = Vec::new();
    if let Some(directory) = workspace.directory()? {
        check_size(&rows, more)?;
        if known.is_empty() {
            left_out.push(format!("{}, and neither are links", directory.left_out()));
        }
    }
    let mut files = Vec::with_capacity(rows.len());
    let mut now_known = KnownFiles::new();
    for row in rows {
        if let Some(file) = known
            .remove(&row.path)
            .filter(|file| file.version == row.version)
        {
            files.push(file.clone());
            now_known.insert(row.path, file);
            continue;
        }
        let path = Path::parse_file(&row.path)?;
        let read = match workspace.directory()? {
            Some(_) => workspace
                .peek(&path)
                .await
                .map(|bytes| (bytes, row.version)),
            None => workspace.read_bytes(&path).await,
        };
        match read {
            Ok((bytes, version)) => {
                let file = file(&row.path, version, &bytes);
                files.push(file.clone());
                now_known.insert(row.path, file);
            }
            // Deleted meanwhile.
            Err(FileProblem::Missing(_)) => {}
            Err(FileProblem::Unavailable(problem)) => return Err(ToolFailure(problem.message)),
            // A file that is too large or cannot be read is not available to programs.
            Err(problem) => left_out.push(format!("{path} was not laid out: {problem}")),
        }
    }
    *known = now_known;
    Ok((files, left_out))
}

fn file(path: &str, version: u64, bytes: &[u8]) -> ManifestFile {
    ManifestFile {
        path: path.trim_start_matches('/').to_owned(),
        version,
        sha256: Sha256::of(bytes),
        size_bytes: bytes.len() as u64,
    }
}
