//! The repository's files, as git lists them.

use std::{fs, path::Path, process::Command};

/// A text file of the repository.
pub(crate) struct File {
    /// Its path from the repository's folder.
    pub(crate) path: String,
    /// What it holds.
    pub(crate) text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
}

/// The text of the file at `path`, from the repository's folder.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Whether there is something at `path`, from the repository's folder.
pub(crate) fn is_there(path: &Path) -> bool {
    root().join(path).exists()
}

/// All text files: those git keeps, and those it would keep.
pub(crate) fn files() -> Vec<File> {
    let arguments = [
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ];
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("git runs");
    assert!(
        output.status.success(),
        "git ls-files failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let names = String::from_utf8(output.stdout).expect("our file names are UTF-8");
    let mut paths: Vec<&str> = names.split_terminator('\0').collect();
    paths.sort_unstable();
    // In a merge git lists a file several times; one that was just deleted cannot be read, and pictures are no text.
    paths.dedup();
    let read = |path: &str| {
        let text = String::from_utf8(fs::read(root().join(path)).ok()?).ok()?;
        Some(File {
            path: path.to_owned(),
            text,
        })
    };
    let files: Vec<File> = paths.into_iter().filter_map(read).collect();
    assert!(
        files.len() > 100,
        "only {} files found: is this the repository?",
        files.len()
    );
    files
}

/// All text files whose names end so.
pub(crate) fn files_named(endings: &[&str]) -> Vec<File> {
    files()
        .into_iter()
        .filter(|file| endings.iter().any(|ending| file.path.ends_with(ending)))
        .collect()
}
