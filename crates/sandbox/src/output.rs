//! The output of a program.

use serde::{Deserialize, Serialize};

/// An output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The output of a program on one stream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collected {
    /// The text. If it was too long, its beginning and its end, separated by a line that says how much is missing.
    pub text: String,
    /// Number of bytes written.
    pub total_bytes: u64,
    /// Number of bytes missing in `text`.
    pub dropped_bytes: u64,
}
