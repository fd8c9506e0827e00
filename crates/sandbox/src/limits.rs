//! What a program in the sandbox may use up, and which of these limits ended it.

use serde::{Deserialize, Serialize};

/// What a command, or a Python session, may use up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Time on the clock, in milliseconds: of a command, or of each cell of a session.
    pub wall_ms: u64,
    /// How long an interrupted cell has to stop before its session is killed, in milliseconds.
    pub interrupt_grace_ms: u64,
    /// Processor time of all processes together, in seconds: of a command, or of each cell.
    pub cpu_seconds: u64,
    /// Memory of all processes together with what is in `/tmp` and `/dev/shm`, in bytes. One process that asks for
    /// more is refused (Python raises `MemoryError`); several together are killed.
    pub memory_bytes: u64,
    /// Processes and threads at a time.
    pub processes: u64,
    /// Size of each file, in bytes.
    pub file_bytes: u64,
    /// Open files of each process.
    pub open_files: u64,
    /// Size of `/tmp`, in bytes. It is in memory and gone afterwards.
    pub tmp_bytes: u64,
    /// What the folder may hold in total, in bytes; whoever writes more is killed.
    pub folder_bytes: u64,
    /// How many files and folders the folder may hold; whoever makes more is killed.
    pub folder_files: u64,
    /// Room that has to stay free on the folder's disk, in bytes; whoever takes it is killed.
    pub disk_free_bytes: u64,
    /// How much of standard output, and of standard error, is passed on, in bytes. The rest is counted and dropped.
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
    /// Time on the clock.
    #[error("it took too long")]
    Wall,
    /// Processor time.
    #[error("it used too much processor time")]
    Cpu,
    /// Memory.
    #[error("it used too much memory")]
    Memory,
    /// The size of one file.
    #[error("it wrote a file that is too large")]
    FileSize,
    /// The size of the folder, or the free room on its disk.
    #[error("it wrote too much into its folder")]
    FolderSize,
    /// The number of files in the folder.
    #[error("it made too many files in its folder")]
    FolderFiles,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Ended {
    /// By itself, with this code; 0 means well.
    #[error("it ended with exit code {0}")]
    Exit(i32),
    /// By this signal: 11 is a fault in its memory, 9 somebody's kill.
    #[error("it was ended by signal {0}")]
    Signal(i32),
    /// It was killed with everything it started, because it went over this limit.
    #[error("it was ended: {0}")]
    Limit(Limit),
}
