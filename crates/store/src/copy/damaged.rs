//! SQLite values of a wrong type: their replacements, and reports of where they were.

use std::fmt;

use sqlx::{Decode, Row, Sqlite, TypeInfo, ValueRef, sqlite::SqliteRow};

use super::{
    Datum,
    shape::{Kind, Table},
};
use crate::query::storable;

/// Maximum length of a reported key value, characters.
const KEY_CHARS: usize = 80;

/// The position of a damaged value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The table.
    pub table: String,
    /// The row, by the columns of its primary key.
    pub row: String,
    /// The column.
    pub column: String,
    /// The found type, by SQLite's name.
    pub found: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            table,
            row,
            column,
            found,
        } = self;
        write!(formatter, "{table} ({row}): {column} holds {found}")
    }
}

/// Reads a row with any content. SQLite allows values of any type in a column, for example after damage or a manual
/// change: a value of a wrong type is converted to the nearest valid one.
pub(super) fn read_sqlite(
    row: &SqliteRow,
    table: &Table,
) -> Result<(Vec<Datum>, Vec<Damage>), sqlx::Error> {
    let mut data = Vec::with_capacity(table.columns.len());
    let mut damaged = Vec::new();
    for (at, column) in table.columns.iter().enumerate() {
        let (datum, is_damaged) = read(row, at, column.kind)?;
        if is_damaged {
            let found = row.try_get_raw(at)?.type_info().name().to_owned();
            let table = table.name.clone();
            let column = column.name.clone();
            damaged.push(Damage {
                table,
                row: String::new(),
                column,
                found,
            });
        }
        data.push(datum);
    }
    if !damaged.is_empty() {
        let key = key_of(table, &data);
        damaged
            .iter_mut()
            .for_each(|damage| damage.row.clone_from(&key));
    }
    Ok((data, damaged))
}

/// The value, and whether it was converted.
fn read(row: &SqliteRow, at: usize, kind: Kind) -> Result<(Datum, bool), sqlx::Error> {
    let raw = row.try_get_raw(at)?;
    if raw.is_null() {
        return Ok((Datum::Null, false));
    }
    let found = raw.type_info().name().to_owned();
    Ok(match (kind, &*found) {
        (Kind::Integer, "INTEGER" | "BOOLEAN") => (Datum::Integer(integer(row, at)?), false),
        (Kind::Boolean, "INTEGER" | "BOOLEAN") => (Datum::Boolean(integer(row, at)? != 0), false),
        (Kind::Real, "REAL") => (Datum::Real(real(row, at)?), false),
        (Kind::Bytes, "BLOB") => (Datum::Bytes(bytes(row, at)?), false),
        (Kind::Text, "TEXT") => text(bytes(row, at)?),
        // The rest is damaged. SQLite reads any value as any type, and a value that is no number as 0.
        (Kind::Integer, _) => (Datum::Integer(integer(row, at)?), true),
        (Kind::Boolean, _) => (Datum::Boolean(integer(row, at)? != 0), true),
        (Kind::Real, _) => (Datum::Real(finite(real(row, at)?)), found != "INTEGER"),
        (Kind::Bytes, _) => (Datum::Bytes(bytes(row, at)?), true),
        (Kind::Text, _) => (text(bytes(row, at)?).0, true),
    })
}

/// Texts are UTF-8, and without U+0000, which PostgreSQL refuses.
fn text(bytes: Vec<u8>) -> (Datum, bool) {
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => (Datum::Text(text), false),
        Ok(text) => (Datum::Text(storable(&text)), true),
        Err(error) => (
            Datum::Text(storable(&String::from_utf8_lossy(error.as_bytes()))),
            true,
        ),
    }
}

fn finite(number: f64) -> f64 {
    if number.is_finite() { number } else { 0.0 }
}

fn integer(row: &SqliteRow, at: usize) -> Result<i64, sqlx::Error> {
    decoded(row, at)
}

fn real(row: &SqliteRow, at: usize) -> Result<f64, sqlx::Error> {
    decoded(row, at)
}

fn bytes(row: &SqliteRow, at: usize) -> Result<Vec<u8>, sqlx::Error> {
    decoded(row, at)
}

/// The value as SQLite itself converts it.
fn decoded<'r, T: Decode<'r, Sqlite>>(row: &'r SqliteRow, at: usize) -> Result<T, sqlx::Error> {
    T::decode(row.try_get_raw(at)?).map_err(sqlx::Error::Decode)
}

/// The primary key of a row, for people.
pub(super) fn key_of(table: &Table, data: &[Datum]) -> String {
    let shown = |datum: &Datum| match datum {
        Datum::Text(text) => text.chars().take(KEY_CHARS).collect(),
        Datum::Integer(number) => number.to_string(),
        Datum::Bytes(bytes) => format!("{} bytes", bytes.len()),
        Datum::Null | Datum::Real(_) | Datum::Boolean(_) => format!("{datum:?}"),
    };
    let keys = table
        .columns
        .iter()
        .zip(data)
        .filter(|(column, _)| column.is_key);
    let keys: Vec<String> = keys
        .map(|(column, datum)| format!("{} {}", column.name, shown(datum)))
        .collect();
    keys.join(", ")
}
