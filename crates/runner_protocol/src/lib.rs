//! The messages between servers and the runners that execute programs of agents: plain data and its checks.
//!
//! A runner calls a server: it beats, leases a call, fetches the contents that it lacks, reports output, stores the contents
//! that the program has changed, and ends with a result. Everything that a runner sends is checked, since untrusted
//! programs run beside it.

mod check;
mod hash;

use sandbox::{Cell, Limits, Programs};
use serde::{Deserialize, Serialize};

pub use check::{Unfit, check_files, is_secret};
pub use hash::Sha256;

/// Maximum number of files in a manifest.
pub const MAX_FILES: usize = 5_000;
/// Maximum length of a path, bytes.
pub const MAX_PATH_BYTES: usize = 1_024;
/// Maximum number of calls that a runner has at a time.
pub const MAX_SLOTS: usize = 64;
/// Maximum length of a piece of output, bytes.
pub const MAX_OUTPUT_BYTES: usize = 64_000;
/// How often a runner beats, milliseconds.
pub const BEAT_MS: u64 = 2_000;

/// What a runner says of itself. Every beat renews its leases.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Beat {
    /// Its ID: random, new at each of its starts.
    pub runner: String,
    /// The name of its machine.
    pub name: String,
    /// What it can run.
    pub about: About,
    /// It takes no more calls.
    pub draining: bool,
    /// The leases that it has.
    pub leases: Vec<String>,
}

/// What a runner can run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Its version.
    pub version: String,
    /// How many calls it runs at a time.
    pub slots: usize,
    /// The programs in its sandbox.
    pub programs: Programs,
    /// How the resource usage of programs is accounted.
    pub accounting: String,
}

/// The answer to a beat.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct BeatReply {
    /// The leases that have ended: their programs are to be killed.
    pub ended: Vec<String>,
}

/// The request for a call. The answer has a [`Call`], or none.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ask {
    /// The runner.
    pub runner: String,
    /// The secret of the new lease; the same one again if there was no answer.
    pub lease: String,
    /// Only the call that already has this lease is wanted: the runner takes no more.
    pub last: bool,
}

/// A call to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The chat or run whose files these are.
    pub workspace: String,
    /// One more than that of the call before it of the workspace. A runner that did not have that one begins with an empty
    /// folder.
    pub turn: u64,
    /// What to run.
    pub work: Work,
}

/// What to run, with which files and limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The program.
    pub program: Program,
    /// The files that it finds.
    pub files: Vec<ManifestFile>,
    /// Its limits.
    pub limits: Limits,
    /// Maximum size of a file that is kept.
    pub max_file_bytes: u64,
    /// Files that the program does not find, each with the reason. The server tells of them at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// A program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// A script for `/bin/sh`.
    Script {
        /// The script.
        script: String,
        /// Environment variables.
        variables: Vec<(String, String)>,
    },
    /// A piece of Python, which keeps its variables.
    Cell {
        /// The code.
        code: String,
        /// Begin without the variables of earlier calls.
        restart: bool,
    },
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestFile {
    /// Its path in the folder, with `/`, without one at the beginning.
    pub path: String,
    /// The version in the files of the chat; 0 for a file that a program has changed.
    #[serde(default)]
    pub version: u64,
    /// The hash of its content.
    pub sha256: Sha256,
    /// Its size.
    pub size_bytes: u64,
}

/// Output, while the program runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Output {
    /// The number of characters reported before.
    pub from: u64,
    /// The next ones.
    pub text: String,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    /// How the program ended.
    pub outcome: Outcome,
    /// The files that it has created or changed. Their contents are stored before.
    pub changed: Vec<ManifestFile>,
    /// The paths of files that it has deleted.
    pub deleted: Vec<String>,
    /// Files that were not there for it, or are not kept, each with the reason.
    pub left_out: Vec<String>,
    /// There are more files than could be looked at.
    pub more: bool,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A script.
    Script(sandbox::Outcome),
    /// A piece of Python.
    Cell {
        /// In a new process, without variables of earlier calls.
        started: bool,
        /// Its result.
        cell: Cell,
    },
    /// It did not run, or was stopped, for this reason.
    Failed(String),
}

/// The answer to a result.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ResultReply {
    /// Contents that have to be stored first; if there are none, the result is accepted.
    pub missing: Vec<Sha256>,
}

/// Whether a new file becomes one of the chat's: hidden files and Python's own caches stay in the folder.
#[must_use]
pub fn is_kept(path: &str) -> bool {
    !path
        .split('/')
        .any(|part| part.starts_with('.') || part == "__pycache__")
}

#[cfg(test)]
mod tests {
    #[test]
    fn hidden_files_are_the_programs_own() {
        for (path, kept) in [
            ("a.txt", true),
            ("a/b.png", true),
            (".bashrc", false),
            ("a/.cache/b", false),
            ("__pycache__/a.pyc", false),
        ] {
            assert_eq!(super::is_kept(path), kept, "{path}");
        }
    }
}
