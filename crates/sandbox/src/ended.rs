//! Options, results and errors of the sandbox: plain data that is the same on every system.

use std::{io, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Collected, Ended};

/// Options of the sandbox.
#[derive(Debug, Clone)]
pub struct Options {
    /// The Python to use; `None` for the `python3` in the server's `PATH`.
    pub python: Option<PathBuf>,
    /// Folders hidden from programs even if they lie in a visible folder, such as the server's data.
    pub hidden: Vec<PathBuf>,
    /// User and group id of programs if the server runs as root. Not 0.
    pub user: u32,
    /// The program that calls [`become_helper`](crate::become_helper) first; `None` for the running program.
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

/// Why there is no sandbox, as a sentence for an administrator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// The system is not Linux.
    #[error("Programs are run only on Linux, whose kernel can shut them in.")]
    NotLinux,
    /// Python is missing, or cannot be used.
    #[error("There is no Python 3 to use: {0}.")]
    Python(String),
    /// The kernel, or the environment of this server, does not allow it.
    #[error("The kernel does not allow a sandbox here: {0}.")]
    Kernel(String),
    /// A program ran, but the sandbox did not work as intended.
    #[error("The sandbox was tried and does not work: {0}.")]
    Broken(String),
}

/// The programs available in the sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Programs {
    /// Python's version, such as `3.11.7`.
    pub python_version: String,
    /// The modules out of numpy, pandas, matplotlib, scipy, sympy, PIL, requests, openpyxl and sklearn that can be
    /// imported.
    pub python_modules: Vec<String>,
    /// Whether there is a `/bin/sh`.
    pub shell: bool,
    /// The LaTeX programs available, out of tectonic, latexmk, lualatex, xelatex and pdflatex.
    pub latex: Vec<String>,
}

/// Why a program could not be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Setting up the sandbox failed.
    #[error("the sandbox could not be made: {0}")]
    Start(String),
    /// Arguments and environment, or the code of a cell, exceed `limit_bytes`.
    #[error("this is too long: at most {limit_bytes} bytes can be run at once")]
    TooLong {
        /// The limit, in bytes.
        limit_bytes: usize,
    },
    /// The session has ended, or its last cell was dropped while it ran. Its variables are lost.
    #[error("the Python session has ended, and its variables are gone")]
    SessionEnded,
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// By itself, by a signal, or by a limit.
    pub ended: Ended,
    /// What it wrote to standard output.
    pub stdout: Collected,
    /// What it wrote to standard error.
    pub stderr: Collected,
    /// Elapsed time, in milliseconds.
    pub time_ms: u64,
}

/// The result of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// A value, an error, or the end of the session.
    pub end: CellEnd,
    /// What was written to standard output.
    pub stdout: Collected,
    /// What was written to standard error.
    pub stderr: Collected,
    /// Pictures of the open figures, as names of PNG files in the folder. Each was checked to be a regular file.
    pub pictures: Vec<String>,
    /// Elapsed time, in milliseconds.
    pub time_ms: u64,
}

/// How a cell ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CellEnd {
    /// It completed, with the `repr` of the last expression, at most 20,000 characters, unless it is Python's `None`.
    Value(Option<String>),
    /// It raised an error; the variables are kept.
    Raised(Raised),
    /// It timed out and was interrupted; the variables are kept.
    Interrupted(Raised),
    /// The session has ended and its variables are lost, for this reason.
    Lost(String),
}

/// A Python error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raised {
    /// The class, such as `ValueError`.
    pub kind: String,
    /// The message, at most 2,000 characters.
    pub message: String,
    /// The traceback as printed by Python, without the driver's own frames; at most 20,000 characters.
    pub traceback: String,
}

/// A file in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path in the folder, with `/`.
    pub path: String,
    /// Its size, in bytes.
    pub size_bytes: u64,
    /// The modification time, in milliseconds since 1970.
    pub changed_ms: i64,
}

impl AsRef<Self> for File {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// Why a file operation failed.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Not a plain relative path, or one through a symbolic link.
    #[error("{0:?} is not the path of a file in the folder")]
    Path(String),
    /// The file does not exist, or is not a regular file.
    #[error("there is no file {0:?} in the folder")]
    Missing(String),
    /// It has changed since it was read.
    #[error("the file {0:?} has changed meanwhile")]
    Changed(String),
    /// The file is too large.
    #[error("the file is larger than {limit_bytes} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// An I/O error.
    #[error("the folder cannot be used: {0}")]
    Disk(#[from] io::Error),
}
