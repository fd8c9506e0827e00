//! What the sandbox is asked with and what it answers: plain data, the same on every system.

use std::{io, path::PathBuf};

use crate::{Collected, Ended};

/// How the sandbox is to be made.
#[derive(Debug, Clone)]
pub struct Options {
    /// The Python to use; otherwise the `python3` of the server's `PATH`.
    pub python: Option<PathBuf>,
    /// Folders that programs must never see even where they lie in a folder that is shown, such as the server's data.
    pub hidden: Vec<PathBuf>,
    /// Whom programs run as where the server is root, as user and as group. Not 0.
    pub user: u32,
    /// The program that calls [`become_helper`](crate::become_helper) first; otherwise this very program.
    pub helper: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        // “nobody” on most systems.
        Self {
            python: None,
            hidden: Vec::new(),
            user: 65534,
            helper: None,
        }
    }
}

/// Why there is no sandbox, in a sentence for an administrator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// Another system.
    #[error("Programs are run only on Linux, whose kernel can shut them in.")]
    NotLinux,
    /// There is none, or it cannot be used.
    #[error("There is no Python 3 to use: {0}.")]
    Python(String),
    /// The kernel, or what this server runs in, does not allow it.
    #[error("The kernel does not allow a sandbox here: {0}.")]
    Kernel(String),
    /// A program ran, but not as it should.
    #[error("The sandbox was tried and does not work: {0}.")]
    Broken(String),
}

/// What programs find in the sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Programs {
    /// Python's version, such as `3.11.7`.
    pub python_version: String,
    /// Which of numpy, pandas, matplotlib, scipy, sympy, PIL, requests, openpyxl and sklearn can be imported.
    pub python_modules: Vec<String>,
    /// There is a `/bin/sh`.
    pub shell: bool,
    /// Programs for LaTeX: of tectonic, latexmk, lualatex, xelatex and pdflatex those that are there.
    pub latex: Vec<String>,
}

/// Why a program could not be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The sandbox could not be made this time.
    #[error("the sandbox could not be made: {0}")]
    Start(String),
    /// Arguments and environment, or the code of a cell, are larger than `limit_bytes`.
    #[error("this is too long: at most {limit_bytes} bytes can be run at once")]
    TooLong {
        /// The limit, in bytes.
        limit_bytes: usize,
    },
    /// A session has ended before, or its last cell was dropped while it ran. Its variables are gone.
    #[error("the Python session has ended, and its variables are gone")]
    SessionEnded,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// By itself, by a signal, or for a limit.
    pub ended: Ended,
    /// What it wrote to standard output.
    pub stdout: Collected,
    /// What it wrote to standard error.
    pub stderr: Collected,
    /// How long it took, in milliseconds.
    pub time_ms: u64,
}

/// How a cell ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// With a value, an error, or the whole session.
    pub end: CellEnd,
    /// What was written to standard output.
    pub stdout: Collected,
    /// What was written to standard error.
    pub stderr: Collected,
    /// Pictures of the figures that were open, as names of PNG files in the folder. They are checked: each is a plain
    /// file there now.
    pub pictures: Vec<String>,
    /// How long it took, in milliseconds.
    pub time_ms: u64,
}

/// What became of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellEnd {
    /// It came to its end; the last expression's `repr`, at most 20,000 characters, where it is not `None`.
    Value(Option<String>),
    /// An error; the variables are kept.
    Raised(Raised),
    /// It took too long and was interrupted; the variables are kept.
    Interrupted(Raised),
    /// The session is over, and its variables are gone: why.
    Lost(String),
}

/// A Python error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raised {
    /// The class, such as `ValueError`.
    pub kind: String,
    /// What it says; at most 2,000 characters.
    pub message: String,
    /// As Python prints it, without the frames of ours; at most 20,000 characters.
    pub traceback: String,
}

/// A file in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path in the folder, with `/`.
    pub path: String,
    /// Its size, in bytes.
    pub size_bytes: u64,
    /// When it was changed, in milliseconds since 1970.
    pub changed_ms: i64,
}

impl AsRef<Self> for File {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// Why files could not be moved in or out.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Not a plain relative path, or one that leads over a symbolic link.
    #[error("{0:?} is not the path of a file in the folder")]
    Path(String),
    /// There is no such file, or it is no plain file.
    #[error("there is no file {0:?} in the folder")]
    Missing(String),
    /// It is not what was seen before.
    #[error("the file {0:?} has changed meanwhile")]
    Changed(String),
    /// The file has more bytes.
    #[error("the file is larger than {limit_bytes} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// The disk.
    #[error("the folder cannot be used: {0}")]
    Disk(#[from] io::Error),
}
