//! Resource limits of programs in the sandbox, and how programs end.

use serde::{Deserialize, Serialize};

/// Resource limits of a command, or of a Python session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Elapsed time of a command, or of each cell of a session, in milliseconds.
    pub wall_ms: u64,
    /// Time for an interrupted cell to stop before its session is killed, in milliseconds.
    pub interrupt_grace_ms: u64,
    /// CPU time of all processes together, in seconds, of a command or of each cell.
    pub cpu_seconds: u64,
    /// Memory of all processes, including the contents of `/tmp` and `/dev/shm`, in bytes. A single process that
    /// requests more is refused (Python raises `MemoryError`); several together are killed.
    pub memory_bytes: u64,
    /// Maximum number of concurrent processes and threads.
    pub processes: u64,
    /// Maximum size of a file, in bytes.
    pub file_bytes: u64,
    /// Maximum number of open files per process.
    pub open_files: u64,
    /// Size of `/tmp`, in bytes. It is in memory and discarded afterwards.
    pub tmp_bytes: u64,
    /// Maximum total size of the folder, in bytes; a program that exceeds it is killed.
    pub folder_bytes: u64,
    /// Maximum number of files and folders in the folder; a program that exceeds it is killed.
    pub folder_files: u64,
    /// Space that must stay free on the folder's disk, in bytes; otherwise the program is killed.
    pub disk_free_bytes: u64,
    /// Maximum size of standard output, and of standard error, that is passed on, in bytes. The rest is counted and
    /// dropped.
    pub output_bytes: usize,
}

const MIB: u64 = 1024 * 1024;

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall_ms: 60_000,
            interrupt_grace_ms: 2_000,
            cpu_seconds: 60,
            memory_bytes: 1024 * MIB,
            processes: 64,
            file_bytes: 128 * MIB,
            open_files: 256,
            tmp_bytes: 128 * MIB,
            folder_bytes: 512 * MIB,
            folder_files: 10_000,
            disk_free_bytes: 64 * MIB,
            output_bytes: 256 * 1024,
        }
    }
}

/// The limit that ended a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Limit {
    /// Elapsed time.
    #[error("it took too long")]
    Wall,
    /// CPU time.
    #[error("it used too much processor time")]
    Cpu,
    /// Memory.
    #[error("it used too much memory")]
    Memory,
    /// The size of one file.
    #[error("it wrote a file that is too large")]
    FileSize,
    /// The size of the folder, or the free space on its disk.
    #[error("it wrote too much into its folder")]
    FolderSize,
    /// The number of files in the folder.
    #[error("it made too many files in its folder")]
    FolderFiles,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Ended {
    /// It exited with this code; 0 means success.
    #[error("it ended with exit code {0}")]
    Exit(i32),
    /// By this signal, for example 11 for a memory fault or 9 for a kill.
    #[error("it was ended by signal {0}")]
    Signal(i32),
    /// It was killed with all its descendants because it exceeded this limit.
    #[error("it was ended: {0}")]
    Limit(Limit),
}
