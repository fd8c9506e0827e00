//! Why a source cannot be listed or read.

use outbound::Fault;

/// Maximum length of the reason of a problem, characters. Some come from the source.
const MAX_REASON_CHARS: usize = 200;

/// Why a source, or a document of it, cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceProblem {
    /// A setting is invalid.
    #[error("the setting {field} is invalid: {reason}")]
    Settings {
        /// Its name.
        field: &'static str,
        /// Why, in English.
        reason: String,
    },
    /// The secret is missing, wrong or expired, or does not permit it.
    #[error("the source refuses access")]
    Refused,
    /// What the settings name does not exist.
    #[error("the source does not have it")]
    NotFound,
    /// The document was deleted since it was listed.
    #[error("the document is gone")]
    Gone,
    /// The document is larger than the limit.
    #[error("the document is too large")]
    TooLarge,
    /// There are more documents than the limit.
    #[error("the source has too many documents")]
    TooMany,
    /// The source asks to be left alone for longer than we wait.
    #[error("the source limits requests")]
    Limited,
    /// The request failed.
    #[error("the source cannot be reached: {0}")]
    Unreachable(#[from] Fault),
    /// The source answers with this error.
    #[error("the source answers with the error {status}")]
    Status {
        /// The HTTP status.
        status: u16,
    },
    /// The answer is not in the expected format.
    #[error("the source's answer cannot be read: {0}")]
    Malformed(String),
    /// A program that this kind needs is not installed.
    #[error("{0} is not installed on the server")]
    NoProgram(&'static str),
    /// The server's file system fails.
    #[error("the folder cannot be read: {0}")]
    File(String),
}

pub(crate) fn invalid(field: &'static str, reason: &str) -> SourceProblem {
    let reason = short(reason);
    SourceProblem::Settings { field, reason }
}

pub(crate) fn malformed(reason: &str) -> SourceProblem {
    SourceProblem::Malformed(short(reason))
}

fn short(reason: &str) -> String {
    reason.chars().take(MAX_REASON_CHARS).collect()
}
