//! The whole database as rows that know nothing of the database they come from: for backups, and for moving from SQLite to
//! PostgreSQL and back.

mod damaged;
mod dump;
mod references;
mod restore;
mod shape;

use std::{io, str::FromStr};

use sqlx::{postgres::PgConnectOptions, sqlite::SqliteConnectOptions};

pub use damaged::Damage;
pub use dump::dump;
pub use restore::{Restored, restore};

use crate::StoreError;

/// What a copy consists of, in this order: the schema, then each table with its rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// The number of the last step that the schema has taken.
    Schema(i64),
    /// The rows that follow are of this table.
    Table {
        /// Its name.
        name: String,
        /// Its columns, in the order of the values.
        columns: Vec<String>,
    },
    /// A value of the row that follows could not be read: something else stands in its place.
    Damaged(Damage),
    /// A row.
    Row(Vec<Datum>),
}

/// What stands in one column of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Datum {
    /// Nothing.
    Null,
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Real(f64),
    /// Yes or no.
    Boolean(bool),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// The last step of the schema that was taken.
const STEPS: &str = "SELECT max(version) FROM _sqlx_migrations WHERE success";
/// Of servers that run now, which means nothing later; and what is made from the rest.
const PASSING: [&str; 11] = [
    "servers",
    "run_commands",
    "ended_secrets",
    "used_challenges",
    "search_pieces",
    "search_due",
    // With those in which SQLite keeps them.
    "search_words",
    "search_words_config",
    "search_words_content",
    "search_words_data",
    "search_words_idx",
];

/// The database that a URL names.
enum Place {
    Sqlite(SqliteConnectOptions),
    Postgres(PgConnectOptions),
}

impl Place {
    fn of(url: &str) -> Result<Self, StoreError> {
        if url.starts_with("postgres:") || url.starts_with("postgresql:") {
            Ok(Self::Postgres(PgConnectOptions::from_str(url)?))
        } else {
            Ok(Self::Sqlite(SqliteConnectOptions::from_str(url)?))
        }
    }
}

fn of_file(error: io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull => StoreError::Full(error.to_string()),
        _ => StoreError::Unavailable(error.to_string()),
    }
}
