//! Restores all rows into an empty database, atomically.

use sqlx::{
    AssertSqlSafe, Connection, Database, Encode, Executor, IntoArguments, PgConnection, Postgres,
    QueryBuilder, Row, Sqlite, SqliteConnection, Type,
};

use super::{
    DatabaseUrl, Datum, LAST_MIGRATION, Part,
    references::{self, prune},
    shape::{Column, Kind, Table, of_postgres, of_sqlite},
};
use crate::{DEFAULT_CONNECTIONS, StoreError, db::Db};

/// Maximum number of values in one statement; PostgreSQL's limit is 65,535, SQLite's 32,766.
const MAX_VALUES: usize = 30_000;
/// Maximum number of rows in one statement, and of their bytes.
const MAX_ROWS: usize = 500;
const MAX_BYTES: usize = 4_000_000;

/// The result of a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Restored {
    /// The number of tables.
    pub tables: u64,
    /// The number of rows.
    pub rows: u64,
    /// The number of values that were damaged in the source.
    pub damaged: u64,
    /// The number of rows that were left out because their references were lost by such damage.
    pub left_out: u64,
}

/// Restores a copy into the database of the URL; a missing file is created. The schema of an earlier version is then
/// migrated.
///
/// # Errors
/// `Conflict("not empty")` if there are accounts already, `Corrupt` if the parts do not match each other or the schema,
/// `Conflict("newer")` if they are of a later version. Database errors. In each case no row is stored.
pub async fn restore<E: std::fmt::Display>(
    url: &str,
    parts: impl Iterator<Item = Result<Part, E>>,
) -> Result<Restored, StoreError> {
    let mut parts = parts.map(|part| part.map_err(|error| StoreError::Corrupt(error.to_string())));
    let Some(Part::Schema(schema)) = parts.next().transpose()? else {
        return Err(StoreError::Corrupt(
            "it does not begin with the number of a schema".to_owned(),
        ));
    };
    if schema < 1 {
        return Err(StoreError::Corrupt(format!("there is no schema {schema}")));
    }
    Db::open_at(url, DEFAULT_CONNECTIONS, schema)
        .await?
        .close()
        .await;
    let restored = match DatabaseUrl::of(url)? {
        DatabaseUrl::Sqlite(options) => {
            let mut connection =
                SqliteConnection::connect_with(&options.foreign_keys(false)).await?;
            check_schema(
                sqlx::query(LAST_MIGRATION)
                    .fetch_one(&mut connection)
                    .await?
                    .try_get(0)?,
                schema,
            )?;
            let tables = of_sqlite(&mut connection).await?;
            let mut tx = connection.begin().await?;
            let mut restored = fill::<Sqlite>(&mut tx, &tables, parts, "").await?;
            if restored.damaged > 0 {
                let references = references::of_sqlite(&mut tx).await?;
                restored.left_out = prune::<Sqlite>(&mut tx, &references).await?;
            }
            let dangling = sqlx::query("PRAGMA foreign_key_check")
                .fetch_optional(&mut *tx)
                .await?;
            if let Some(row) = dangling {
                let (table, parent): (String, String) =
                    (row.try_get("table")?, row.try_get("parent")?);
                let what = format!("a row of {table} names one of {parent} that is not there");
                return Err(StoreError::Corrupt(what));
            }
            tx.commit().await?;
            connection.close().await?;
            restored
        }
        DatabaseUrl::Postgres(servers) => {
            let mut connection = servers.connect().await?;
            check_schema(
                sqlx::query(LAST_MIGRATION)
                    .fetch_one(&mut connection)
                    .await?
                    .try_get(0)?,
                schema,
            )?;
            let tables = of_postgres(&mut connection).await?;
            let mut tx = connection.begin().await?;
            let keys = wait_with_foreign_keys(&mut tx).await?;
            let mut restored =
                fill::<Postgres>(&mut tx, &tables, parts, "OVERRIDING SYSTEM VALUE ").await?;
            if restored.damaged > 0 {
                let references = references::of_postgres(&mut tx).await?;
                restored.left_out = prune::<Postgres>(&mut tx, &references).await?;
            }
            go_on_numbering(&mut tx, &tables).await?;
            tx.execute("SET CONSTRAINTS ALL IMMEDIATE").await?;
            for key in keys {
                tx.execute(AssertSqlSafe(format!("{key} NOT DEFERRABLE")))
                    .await?;
            }
            tx.commit().await?;
            connection.close().await?;
            restored
        }
    };
    Db::open(url, DEFAULT_CONNECTIONS).await?.close().await;
    Ok(restored)
}

/// Fails if the copy has migrations that this version does not know.
fn check_schema(here: i64, wanted: i64) -> Result<(), StoreError> {
    if here == wanted {
        Ok(())
    } else {
        Err(StoreError::Conflict("newer"))
    }
}

/// Defers foreign keys, so that rows may come in any order. Returns the statements that restore them, without their
/// last words.
async fn wait_with_foreign_keys(connection: &mut PgConnection) -> Result<Vec<String>, StoreError> {
    let keys = "SELECT format('ALTER TABLE %s ALTER CONSTRAINT %I', conrelid::regclass, conname) FROM pg_constraint \
                JOIN pg_namespace ON pg_namespace.oid = connamespace \
                WHERE contype = 'f' AND conparentid = 0 AND nspname = current_schema()";
    let rows = sqlx::query(keys).fetch_all(&mut *connection).await?;
    let keys: Vec<String> = rows
        .iter()
        .map(|row| row.try_get(0))
        .collect::<Result<_, _>>()?;
    for key in &keys {
        connection
            .execute(AssertSqlSafe(format!(
                "{key} DEFERRABLE INITIALLY DEFERRED"
            )))
            .await?;
    }
    Ok(keys)
}

/// New rows get numbers above the restored ones.
async fn go_on_numbering(
    connection: &mut PgConnection,
    tables: &[Table],
) -> Result<(), StoreError> {
    for table in tables {
        for column in table
            .columns
            .iter()
            .filter(|column| column.is_number_of_row)
        {
            let table = &table.name;
            let column = &column.name;
            let sql = format!(
                "SELECT setval(pg_get_serial_sequence('\"{table}\"', '{column}'), \
                 (SELECT max(\"{column}\") FROM \"{table}\")) \
                 WHERE EXISTS (SELECT 1 FROM \"{table}\")"
            );
            sqlx::query(AssertSqlSafe(sql))
                .fetch_optional(&mut *connection)
                .await?;
        }
    }
    Ok(())
}

/// Rows of one table that are not written yet.
struct Waiting<'a> {
    table: &'a Table,
    columns: Vec<&'a Column>,
    rows: Vec<Vec<Datum>>,
    bytes: usize,
}

async fn fill<DB>(
    connection: &mut DB::Connection,
    tables: &[Table],
    parts: impl Iterator<Item = Result<Part, StoreError>>,
    overriding: &str,
) -> Result<Restored, StoreError>
where
    DB: Database,
    DB::Arguments: IntoArguments<DB>,
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
    for<'q> Option<String>: Encode<'q, DB> + Type<DB>,
    for<'q> Option<i64>: Encode<'q, DB> + Type<DB>,
    for<'q> Option<f64>: Encode<'q, DB> + Type<DB>,
    for<'q> Option<bool>: Encode<'q, DB> + Type<DB>,
    for<'q> Option<Vec<u8>>: Encode<'q, DB> + Type<DB>,
{
    for table in tables {
        let sql = format!("SELECT 1 FROM \"{}\" LIMIT 1", table.name);
        if sqlx::query::<DB>(AssertSqlSafe(sql))
            .fetch_optional(&mut *connection)
            .await?
            .is_some()
        {
            return Err(StoreError::Conflict("not empty"));
        }
    }
    let (mut restored, mut waiting): (_, Option<Waiting<'_>>) = (Restored::default(), None);
    for part in parts {
        match part? {
            Part::Schema(_) => {
                return Err(StoreError::Corrupt("there is a second schema".to_owned()));
            }
            Part::Table { name, columns } => {
                if let Some(before) = &mut waiting {
                    write::<DB>(connection, before, overriding).await?;
                }
                let (table, columns) = find(tables, &name, &columns)?;
                waiting = Some(Waiting {
                    table,
                    columns,
                    rows: Vec::new(),
                    bytes: 0,
                });
                restored.tables += 1;
            }
            Part::Damaged(_) => restored.damaged += 1,
            Part::Row(row) => {
                let waits = waiting.as_mut().ok_or_else(|| {
                    StoreError::Corrupt("a row comes before its table".to_owned())
                })?;
                waits.add(row)?;
                restored.rows += 1;
                if waits.is_full() {
                    write::<DB>(connection, waits, overriding).await?;
                }
            }
        }
    }
    if let Some(last) = &mut waiting {
        write::<DB>(connection, last, overriding).await?;
    }
    Ok(restored)
}

/// The table of that name and columns. Names become part of statements, so only known ones are accepted.
fn find<'a>(
    tables: &'a [Table],
    name: &str,
    columns: &[String],
) -> Result<(&'a Table, Vec<&'a Column>), StoreError> {
    let unknown = |what: &str| StoreError::Corrupt(format!("there is no {what} in this schema"));
    let table = tables
        .iter()
        .find(|table| table.name == name)
        .ok_or_else(|| unknown("such table"))?;
    let column = |name: &String| {
        table
            .columns
            .iter()
            .find(|column| column.name == *name)
            .ok_or_else(|| unknown("such column"))
    };
    let columns: Vec<&Column> = columns.iter().map(column).collect::<Result<_, _>>()?;
    if columns.is_empty() {
        return Err(unknown("table without columns"));
    }
    Ok((table, columns))
}

impl Waiting<'_> {
    fn add(&mut self, row: Vec<Datum>) -> Result<(), StoreError> {
        let fits = |(datum, column): (&Datum, &&Column)| {
            matches!(
                (datum, column.kind),
                (Datum::Null, _)
                    | (Datum::Text(_), Kind::Text)
                    | (Datum::Integer(_), Kind::Integer)
                    | (Datum::Real(_), Kind::Real)
                    | (Datum::Boolean(_), Kind::Boolean)
                    | (Datum::Bytes(_), Kind::Bytes)
            )
        };
        if row.len() != self.columns.len() || !row.iter().zip(&self.columns).all(fits) {
            return Err(StoreError::Corrupt(format!(
                "a row of {} has other values",
                self.table.name
            )));
        }
        self.bytes += row.iter().map(Datum::len).sum::<usize>();
        self.rows.push(row);
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= MAX_ROWS.min(MAX_VALUES / self.columns.len()) || self.bytes >= MAX_BYTES
    }
}

impl Datum {
    /// The approximate size, bytes.
    fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            _ => 8,
        }
    }
}

async fn write<DB>(
    connection: &mut DB::Connection,
    waiting: &mut Waiting<'_>,
    overriding: &str,
) -> Result<(), StoreError>
where
    DB: Database,
    DB::Arguments: IntoArguments<DB>,
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
    for<'q> Option<String>: Encode<'q, DB> + Type<DB>,
    for<'q> Option<i64>: Encode<'q, DB> + Type<DB>,
    for<'q> Option<f64>: Encode<'q, DB> + Type<DB>,
    for<'q> Option<bool>: Encode<'q, DB> + Type<DB>,
    for<'q> Option<Vec<u8>>: Encode<'q, DB> + Type<DB>,
{
    let rows = std::mem::take(&mut waiting.rows);
    let columns = &waiting.columns;
    waiting.bytes = 0;
    if rows.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = columns
        .iter()
        .map(|column| format!("\"{}\"", column.name))
        .collect();
    let table = &waiting.table.name;
    let mut sql = QueryBuilder::<DB>::new(format!(
        "INSERT INTO \"{table}\" ({}) {overriding}",
        names.join(", ")
    ));
    sql.push_values(rows, |mut values, row| {
        for (datum, column) in row.into_iter().zip(columns) {
            // Null is valid for any type.
            match (datum, column.kind) {
                (Datum::Text(text), _) => values.push_bind(Some(text)),
                (Datum::Integer(number), _) => values.push_bind(Some(number)),
                (Datum::Real(number), _) => values.push_bind(Some(number)),
                (Datum::Boolean(is_so), _) => values.push_bind(Some(is_so)),
                (Datum::Bytes(bytes), _) => values.push_bind(Some(bytes)),
                (Datum::Null, Kind::Text) => values.push_bind(None::<String>),
                (Datum::Null, Kind::Integer) => values.push_bind(None::<i64>),
                (Datum::Null, Kind::Real) => values.push_bind(None::<f64>),
                (Datum::Null, Kind::Boolean) => values.push_bind(None::<bool>),
                (Datum::Null, Kind::Bytes) => values.push_bind(None::<Vec<u8>>),
            };
        }
    });
    sql.build().execute(connection).await?;
    Ok(())
}
