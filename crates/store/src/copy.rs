//! Dumps and restores the whole database in a portable form: for backups, and for moving between SQLite and PostgreSQL.

mod damaged;
mod dump;
mod references;
mod restore;
mod shape;

use std::{io, str::FromStr};

use sqlx::sqlite::SqliteConnectOptions;

pub use damaged::Damage;
pub use dump::dump;
pub use restore::{Restored, restore};

use crate::{StoreError, postgres_url::Servers};

/// A part of a copy, in this order: the schema, then each table with its rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// The number of the last migration.
    Schema(i64),
    /// The following rows are of this table.
    Table {
        /// Its name.
        name: String,
        /// Its columns, in the order of the values.
        columns: Vec<String>,
    },
    /// A value of the next row could not be read, and was replaced.
    Damaged(Damage),
    /// A row.
    Row(Vec<Datum>),
}

/// A value of a row.
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
const LAST_MIGRATION: &str = "SELECT max(version) FROM _sqlx_migrations WHERE success";
/// Tables with the state of running servers, and those derived from others.
const PASSING: [&str; 23] = [
    "servers",
    "transfers",
    "host_turns",
    "upstream_pauses",
    "program_files",
    "program_calls",
    "program_places",
    "runners",
    "program_turns",
    "mcp_session_chats",
    "mcp_sessions",
    "minute_usage",
    "sign_in_failures",
    "run_commands",
    "ended_secrets",
    "used_challenges",
    "search_pieces",
    "search_due",
    // And the tables in which SQLite stores them.
    "search_words",
    "search_words_config",
    "search_words_content",
    "search_words_data",
    "search_words_idx",
];

/// The database of a URL.
enum DatabaseUrl {
    Sqlite(Box<SqliteConnectOptions>),
    Postgres(Servers),
}

impl DatabaseUrl {
    fn of(url: &str) -> Result<Self, StoreError> {
        if url.starts_with("postgres:") || url.starts_with("postgresql:") {
            let servers = Servers::of(url)?;
            servers.need_sessions()?;
            Ok(Self::Postgres(servers))
        } else {
            Ok(Self::Sqlite(Box::new(SqliteConnectOptions::from_str(url)?)))
        }
    }
}

fn of_file(error: io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull => StoreError::Full(error.to_string()),
        _ => StoreError::Unavailable(error.to_string()),
    }
}
