//! Why an object could not be stored or read.

use std::{error::Error as _, io};

use object_store::Error;

/// Maximum length of a cause, characters: it may quote an answer.
const CAUSE_CHARS: usize = 500;

/// A failure, with the name of the object and the cause; for the log, not for users.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// There is no such object, or no such bucket.
    #[error("{0} is missing in the object storage")]
    Missing(String),
    /// The object has another content than the one that was stored.
    #[error("{0} in the object storage is damaged: its content has changed")]
    Damaged(String),
    /// The storage does not accept the credentials, or they do not permit this.
    #[error("the object storage refuses access: {0}")]
    Refused(String),
    /// The storage has no space left, or a quota is used up.
    #[error("the object storage is full: {0}")]
    Full(String),
    /// It did not answer, or not as expected; retrying later may help.
    #[error("the object storage is unavailable: {0}")]
    Unavailable(String),
}

impl Problem {
    /// Whether retrying later may help.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Full(_))
    }

    pub(crate) fn of(name: String, error: &Error) -> Self {
        let cause = || format!("{name}: {}", short(&chain(error)));
        match error {
            // Of a bucket, too, with another text.
            Error::NotFound { .. } if !chain(error).contains("NoSuchBucket") => Self::Missing(name),
            Error::PermissionDenied { .. }
            | Error::Unauthenticated { .. }
            | Error::NotFound { .. } => Self::Refused(cause()),
            other if is_full(other) => Self::Full(cause()),
            other if io_kind(other) == Some(io::ErrorKind::PermissionDenied) => {
                Self::Refused(cause())
            }
            _ => Self::Unavailable(cause()),
        }
    }
}

/// A full disk of a local folder, or an answer by which a server says so.
fn is_full(error: &Error) -> bool {
    let is_full_disk = matches!(
        io_kind(error),
        Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    );
    is_full_disk
        || ["507 ", "QuotaExceeded", "StorageFull"]
            .iter()
            .any(|sign| chain(error).contains(sign))
}

fn io_kind(error: &Error) -> Option<io::ErrorKind> {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(error) = cause.downcast_ref::<io::Error>() {
            return Some(error.kind());
        }
        source = cause.source();
    }
    None
}

/// The texts of an error and its causes, without what a text repeats of its cause.
fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

/// In one line.
fn short(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(CAUSE_CHARS).collect()
}
