//! The files of a call: lays them out by their hashes, and finds what the program has changed.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use runner_protocol::{
    MAX_FILES, MAX_PATH_BYTES, ManifestFile, Sha256, Work, check_files, is_kept,
};
use sandbox::{File, Folder, FolderError};

use super::Chat;
use crate::{Runner, server::Failure};

/// A file in the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    sha256: Sha256,
    size_bytes: u64,
    changed_ms: i64,
}

/// What a program has changed.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) changed: Vec<ManifestFile>,
    pub(super) deleted: Vec<String>,
    /// Files that are not reported, each with the reason.
    pub(super) left_out: Vec<String>,
    /// There are more files than could be looked at.
    pub(super) more: bool,
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| "The files could not be laid out.".to_owned())
}

/// Brings the folder to the state of the manifest. Returns the files that are not there, each with the reason.
pub(super) async fn lay_out(
    runner: &Runner,
    lease: &str,
    chat: &mut Chat,
    work: &Work,
) -> Result<Vec<String>, String> {
    check_files(&work.files, work.max_file_bytes)
        .map_err(|error| format!("The files could not be laid out: {error}."))?;
    let wanted: HashMap<&str, Sha256> = work
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.sha256))
        .collect();
    let gone = chat
        .known
        .extract_if(.., |path, _| !wanted.contains_key(path.as_str()));
    let gone: Vec<String> = gone.map(|(path, _)| path).collect();
    let folder = chat.workdir.folder().clone();
    blocking(move || remove_all(&folder, &gone)).await?;
    let mut left_out = Vec::new();
    for file in &work.files {
        let is_there = chat
            .known
            .get(&file.path)
            .is_some_and(|known| known.sha256 == file.sha256);
        if is_there {
            continue;
        }
        let put = match content(runner, lease, file).await {
            Ok(content) => put(chat.workdir.folder(), &file.path, content).await?,
            Err(Failure::Refused(..)) => Err("it was changed meanwhile".to_owned()),
            Err(error) => return Err(format!("The files could not be fetched: {error}.")),
        };
        match put {
            Ok(known) => {
                chat.known.insert(file.path.clone(), known);
            }
            // Something that a program has created is in the way, or the path is too long.
            Err(why) => {
                chat.known.remove(&file.path);
                left_out.push(format!("/{} was not laid out: {why}", file.path));
            }
        }
    }
    Ok(left_out)
}

fn remove_all(folder: &Folder, paths: &[String]) {
    for path in paths {
        if let Err(error @ (FolderError::Path(_) | FolderError::Disk(_))) = folder.remove(path) {
            tracing::debug!(%error, path, "failed to remove a deleted file");
        }
    }
}

/// The content of a file, from the cache or else the server.
async fn content(runner: &Runner, lease: &str, file: &ManifestFile) -> Result<Vec<u8>, Failure> {
    let hash = file.sha256;
    let cache = Arc::clone(&runner.cache);
    let cached = tokio::task::spawn_blocking(move || cache.get(hash)).await;
    if let Ok(Some(content)) = cached {
        return Ok(content);
    }
    let fetched = runner.server.fetch(lease, hash, file.size_bytes).await?;
    let cache = Arc::clone(&runner.cache);
    let kept = fetched.clone();
    let keeping = tokio::task::spawn_blocking(move || cache.put(hash, &kept));
    drop(keeping.await);
    Ok(fetched.into())
}

async fn put(
    folder: &Folder,
    path: &str,
    content: Vec<u8>,
) -> Result<Result<Known, String>, String> {
    let (folder, path) = (folder.clone(), path.to_owned());
    let put = blocking(move || {
        folder.put(&path, &content)?;
        let File {
            size_bytes,
            changed_ms,
            ..
        } = folder.look(&path)?;
        Ok(Known {
            sha256: Sha256::of(&content),
            size_bytes,
            changed_ms,
        })
    });
    Ok(put.await?.map_err(|error: FolderError| error.to_string()))
}

/// What has changed in the folder since it was laid out. From then on, it is known.
pub(super) async fn changes(chat: &mut Chat, max_file_bytes: u64) -> Result<Changes, String> {
    let folder = chat.workdir.folder().clone();
    let known = std::mem::take(&mut chat.known);
    let (known, changes) = blocking(move || compare(&folder, known, max_file_bytes)).await?;
    chat.known = known;
    changes.map_err(|error| format!("The files could not be read: {error}."))
}

fn compare(
    folder: &Folder,
    mut known: BTreeMap<String, Known>,
    max_file_bytes: u64,
) -> (BTreeMap<String, Known>, Result<Changes, FolderError>) {
    let (files, more) = match folder.collect(MAX_FILES) {
        Ok(found) => found,
        Err(error) => return (known, Err(error)),
    };
    let mut changes = Changes {
        more,
        ..Changes::default()
    };
    if !more {
        let there: std::collections::HashSet<&str> =
            files.iter().map(|file| file.path.as_str()).collect();
        let gone = known.extract_if(.., |path, _| !there.contains(path.as_str()));
        changes.deleted = gone.map(|(path, _)| path).collect();
    }
    for file in files {
        // A program's own files, such as caches, do not belong to the chat unless they came from it.
        if !is_kept(&file.path) && !known.contains_key(&file.path) {
            continue;
        }
        if let Err(why) = note(
            folder,
            &mut known,
            &file,
            max_file_bytes,
            &mut changes.changed,
        ) {
            changes
                .left_out
                .push(format!("/{} was not kept: {why}", file.path));
        }
    }
    (known, Ok(changes))
}

/// Adds a file to what has changed, if it has.
fn note(
    folder: &Folder,
    known: &mut BTreeMap<String, Known>,
    file: &File,
    max_file_bytes: u64,
    changed: &mut Vec<ManifestFile>,
) -> Result<(), FolderError> {
    let before = known.get(&file.path).copied();
    if before.is_some_and(|known| {
        (known.size_bytes, known.changed_ms) == (file.size_bytes, file.changed_ms)
    }) {
        return Ok(());
    }
    if file.path.len() > MAX_PATH_BYTES {
        return Err(FolderError::Path(file.path.clone()));
    }
    let content = match folder.read(&file.path, max_file_bytes) {
        Err(FolderError::Missing(_)) => return Ok(()),
        content => content?,
    };
    let sha256 = Sha256::of(&content);
    let size_bytes = content.len() as u64;
    let now = Known {
        sha256,
        size_bytes: file.size_bytes,
        changed_ms: file.changed_ms,
    };
    known.insert(file.path.clone(), now);
    if before.is_none_or(|known| known.sha256 != sha256) {
        changed.push(ManifestFile {
            path: file.path.clone(),
            version: 0,
            sha256,
            size_bytes,
        });
    }
    Ok(())
}
