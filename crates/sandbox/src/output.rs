//! What a program wrote.

/// Where output was written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What a program wrote to one stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collected {
    /// The text; where it was too long its beginning and its end, with a line between that says how much is missing.
    pub text: String,
    /// How much was written, in bytes.
    pub total_bytes: u64,
    /// How much of that is missing in `text`, in bytes.
    pub dropped_bytes: u64,
}
