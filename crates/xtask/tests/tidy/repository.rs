//! The repository's files, as git lists them.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

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

/// Whether git keeps, or would keep, a file or a folder at `path`, from the repository's folder. What is only on this
/// machine (a build's output, an empty folder) does not count: a clean checkout has none of it.
pub(crate) fn is_there(path: &Path) -> bool {
    static KEPT: LazyLock<BTreeSet<PathBuf>> = LazyLock::new(|| {
        let paths = listed();
        let with_folders = paths.iter().flat_map(|path| Path::new(path).ancestors());
        with_folders.map(Path::to_path_buf).collect()
    });
    KEPT.contains(path)
}

/// All text files: those git keeps, and those it would keep.
pub(crate) fn files() -> Vec<File> {
    // Pictures are no text.
    let read = |path: String| {
        let text = String::from_utf8(fs::read(root().join(&path)).ok()?).ok()?;
        Some(File { path, text })
    };
    let files: Vec<File> = listed().into_iter().filter_map(read).collect();
    assert!(
        files.len() > 100,
        "only {} files found: is this the repository?",
        files.len()
    );
    files
}

/// The paths that git lists and that exist.
fn listed() -> Vec<String> {
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
    let mut paths: Vec<String> = names.split_terminator('\0').map(str::to_owned).collect();
    paths.sort_unstable();
    // In a merge git lists a file several times, and it still lists one that was just deleted.
    paths.dedup();
    paths.retain(|path| root().join(path).exists());
    paths
}

/// All text files whose names end so.
pub(crate) fn files_named(endings: &[&str]) -> Vec<File> {
    files()
        .into_iter()
        .filter(|file| endings.iter().any(|ending| file.path.ends_with(ending)))
        .collect()
}
