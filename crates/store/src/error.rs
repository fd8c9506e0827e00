//! Errors of the store, named by what the caller can do about them.

use sqlx::{error::ErrorKind, migrate::MigrateError};

/// Why an operation failed. The texts are for the log, not for users.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// It does not exist, or it is not the caller's.
    #[error("not found")]
    NotFound,
    /// The stored data does not allow it; the text names the cause: `email`, `version`, `seq` …
    #[error("conflict: {0}")]
    Conflict(&'static str),
    /// The database cannot be reached or did not answer; retrying later may help.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// PostgreSQL ended the transaction because it and another one waited for each other; retrying helps.
    #[error("the transaction was ended in favour of another: {0}")]
    Deadlock(String),
    /// The database has no space left; stored data can still be read.
    #[error("no room is left for the database: {0}")]
    Full(String),
    /// The object storage cannot be reached, or refuses access; retrying later may help.
    #[error("{0}")]
    ObjectStorage(String),
    /// Another server owns the run: this one was presumed dead.
    #[error("the run belongs to another server")]
    NotOurs,
    /// Stored data cannot be parsed.
    #[error("stored data is damaged: {0}")]
    Corrupt(String),
    /// The database has a schema with which this version does not work; the text says what to do.
    #[error("{0}")]
    Schema(String),
    /// The database refuses this value or row; retrying does not help.
    #[error("the database refuses the data: {0}")]
    Refused(String),
}

impl StoreError {
    /// Whether retrying may help: the failure does not come from the data.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        self.is_outage() || matches!(self, Self::Deadlock(_) | Self::ObjectStorage(_))
    }

    /// Whether the failure concerns the database as a whole, so that nothing else succeeds at this time.
    pub(crate) fn is_outage(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Full(_))
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::RowNotFound => return Self::NotFound,
            sqlx::Error::ColumnDecode { .. }
            | sqlx::Error::ColumnNotFound(_)
            | sqlx::Error::Decode(_) => {
                return Self::Corrupt(error.to_string());
            }
            _ => {}
        }
        let Some(database) = error.as_database_error() else {
            return Self::Unavailable(error.to_string());
        };
        match (database.kind(), database.code().as_deref()) {
            (ErrorKind::UniqueViolation, _) => Self::Conflict("id"),
            // Every foreign key refers to an owner, a chat or a run that does not, or no longer, exist.
            (ErrorKind::ForeignKeyViolation, _) => Self::NotFound,
            // PostgreSQL: serialization_failure, deadlock_detected.
            (_, Some("40001" | "40P01")) => Self::Deadlock(error.to_string()),
            // SQLite: no space for a page, or for the index of the write-ahead log. PostgreSQL: disk_full.
            (_, Some("13" | "4874" | "53100")) => Self::Full(error.to_string()),
            // SQLite: a damaged file, or not a database at all.
            (_, Some("11" | "26")) => Self::Corrupt(error.to_string()),
            (_, Some(code)) if is_about_data(code) => Self::Refused(error.to_string()),
            _ => Self::Unavailable(error.to_string()),
        }
    }
}

/// Whether the database refuses the data itself. PostgreSQL: data exceptions, such as a number out of range, violated
/// constraints, and errors raised by triggers. SQLite: constraints (19 and its extended codes), a value that is too
/// big, and one of a wrong type.
fn is_about_data(code: &str) -> bool {
    match code.len() {
        5 => ["22", "23", "P0"]
            .iter()
            .any(|class| code.starts_with(class)),
        _ => code
            .parse::<u32>()
            .is_ok_and(|code| matches!(code & 0xff, 18..=20)),
    }
}

impl From<MigrateError> for StoreError {
    fn from(error: MigrateError) -> Self {
        match error {
            MigrateError::Execute(cause) | MigrateError::ExecuteMigration(cause, _) => cause.into(),
            other => Self::Corrupt(format!("the schema is not one this version knows: {other}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_errors_are_distinguished_from_database_errors() {
        for (code, is_so) in [
            ("22003", true),
            ("23514", true),
            ("P0001", true),
            ("57P01", false),
            ("53300", false),
            ("08006", false),
            ("18", true),
            ("20", true),
            ("275", true),
            ("1811", true),
            ("5", false),
            ("1", false),
            ("13", false),
        ] {
            assert_eq!(is_about_data(code), is_so, "{code}");
        }
    }
}
