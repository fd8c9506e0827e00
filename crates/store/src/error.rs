//! What can go wrong in the store, named by what the caller can do about it.

use sqlx::{error::ErrorKind, migrate::MigrateError};

/// Why the store did not do what was asked. The texts are for the log, not for users.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is no such thing, or it is not the caller's.
    #[error("not found")]
    NotFound,
    /// What stands in the database does not allow it; the word says what: `email`, `version`, `seq` …
    #[error("conflict: {0}")]
    Conflict(&'static str),
    /// The database cannot be reached or did not answer; later it may.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// There is no room left where the database is kept; what is there can be read.
    #[error("no room is left for the database: {0}")]
    Full(String),
    /// Another server has the run: this one was taken for dead.
    #[error("the run belongs to another server")]
    NotOurs,
    /// What is stored cannot be understood.
    #[error("stored data is damaged: {0}")]
    Corrupt(String),
    /// The database does not take this value or row, however often it is asked; others it may take.
    #[error("the database refuses the data: {0}")]
    Refused(String),
}

impl StoreError {
    /// Whether the same may work later: the trouble is with the database as a whole.
    #[must_use]
    pub fn may_pass(&self) -> bool {
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
            // Every foreign key names an owner, a chat or a run, which then is not there (any more).
            (ErrorKind::ForeignKeyViolation, _) => Self::NotFound,
            // PostgreSQL: a serialisation failure or a deadlock; it works when tried again.
            (_, Some("40001" | "40P01")) => Self::Conflict("concurrent change"),
            // SQLite: no room for a page, or for the index of the write-ahead log. PostgreSQL: disk_full.
            (_, Some("13" | "4874" | "53100")) => Self::Full(error.to_string()),
            // SQLite: a damaged file, or not a database at all.
            (_, Some("11" | "26")) => Self::Corrupt(error.to_string()),
            (_, Some(code)) if is_about_data(code) => Self::Refused(error.to_string()),
            _ => Self::Unavailable(error.to_string()),
        }
    }
}

/// Whether it is the data that the database refuses. PostgreSQL: data exceptions, such as a number out of range, broken
/// constraints, and what a trigger raises. SQLite: the same as constraints (19 and its extended codes), a value that is
/// too big, and one of the wrong type.
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
    fn what_is_wrong_with_the_data_is_told_from_what_is_wrong_with_the_database() {
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
