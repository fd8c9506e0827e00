//! Reads the tables and columns of a database.

use sqlx::{AssertSqlSafe, PgConnection, Row, SqliteConnection};

use super::PASSING;
use crate::StoreError;

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Whether it is the generated row number.
    pub(super) is_number_of_row: bool,
    /// Whether it belongs to the primary key; known for SQLite only.
    pub(super) is_key: bool,
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Integer,
    Real,
    Boolean,
    Bytes,
}

impl Kind {
    /// The type with this name in SQLite or PostgreSQL.
    fn named(name: &str) -> Result<Self, StoreError> {
        Ok(match name.to_ascii_uppercase().as_str() {
            "TEXT" => Self::Text,
            "BIGINT" | "INTEGER" => Self::Integer,
            "REAL" | "DOUBLE PRECISION" => Self::Real,
            "BOOLEAN" => Self::Boolean,
            "BLOB" | "BYTEA" => Self::Bytes,
            other => {
                return Err(StoreError::Corrupt(format!(
                    "a column is {other}, which cannot be copied"
                )));
            }
        })
    }
}

impl Table {
    /// The quoted names of its columns, separated by commas.
    pub(super) fn column_list(&self) -> String {
        let quoted: Vec<String> = self
            .columns
            .iter()
            .map(|column| format!("\"{}\"", column.name))
            .collect();
        quoted.join(", ")
    }
}

pub(super) async fn of_sqlite(connection: &mut SqliteConnection) -> Result<Vec<Table>, StoreError> {
    let names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
                 AND name NOT LIKE '\\_sqlx%' ESCAPE '\\' ORDER BY name";
    let mut tables = Vec::new();
    for row in sqlx::query(names).fetch_all(&mut *connection).await? {
        let name: String = row.try_get(0)?;
        if PASSING.contains(&name.as_str()) {
            continue;
        }
        let mut columns = Vec::new();
        let about = format!("PRAGMA table_info(\"{name}\")");
        for row in sqlx::query(AssertSqlSafe(about))
            .fetch_all(&mut *connection)
            .await?
        {
            let kind = Kind::named(row.try_get("type")?)?;
            let is_key = row.try_get::<i64, _>("pk")? > 0;
            columns.push(Column {
                name: row.try_get("name")?,
                kind,
                is_number_of_row: false,
                is_key,
            });
        }
        tables.push(Table { name, columns });
    }
    Ok(tables)
}

pub(super) async fn of_postgres(connection: &mut PgConnection) -> Result<Vec<Table>, StoreError> {
    let about = "SELECT columns.table_name::text, column_name::text, data_type::text, is_identity = 'YES' \
                 FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name) \
                 JOIN pg_class ON pg_class.oid = to_regclass(quote_ident(table_name)) AND NOT relispartition \
                 WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' \
                 AND columns.table_name NOT LIKE '\\_sqlx%' ORDER BY columns.table_name, ordinal_position";
    let mut tables: Vec<Table> = Vec::new();
    for row in sqlx::query(about).fetch_all(connection).await? {
        let name: String = row.try_get(0)?;
        if PASSING.contains(&name.as_str()) {
            continue;
        }
        let kind = Kind::named(row.try_get(2)?)?;
        let column = Column {
            name: row.try_get(1)?,
            kind,
            is_number_of_row: row.try_get(3)?,
            is_key: false,
        };
        match tables.last_mut().filter(|table| table.name == name) {
            Some(table) => table.columns.push(column),
            None => tables.push(Table {
                name,
                columns: vec![column],
            }),
        }
    }
    Ok(tables)
}
