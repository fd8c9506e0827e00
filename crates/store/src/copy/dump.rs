//! Reads all rows in one snapshot, without blocking writers.

use std::io;

use blobs::{Blobs, Key};
use futures_util::TryStreamExt;
use sqlx::{AssertSqlSafe, Connection, Database, Executor, Row, SqliteConnection, postgres::PgRow};

use super::{
    Damage, DatabaseUrl, Datum, LAST_MIGRATION, Part,
    damaged::{key_of, read_sqlite},
    of_file,
    shape::{Kind, Table, of_postgres, of_sqlite},
};
use crate::StoreError;

/// Tables about objects, which a copy with the contents in its rows has no use for.
const OF_OBJECTS: [&str; 2] = ["objects", "removed_objects"];

/// Passes the whole database to `take`. The database is not changed or locked. A damaged value is reported and the rest
/// continues. With `objects`, contents in the object storage are read from there, as if they were in the rows; without,
/// the rows refer to them as they do in the database.
///
/// # Errors
/// Database errors, those of `take`, and those of the object storage, except that an object is missing or damaged.
pub async fn dump(
    url: &str,
    objects: Option<&Blobs>,
    mut take: impl FnMut(Part) -> io::Result<()>,
) -> Result<(), StoreError> {
    match DatabaseUrl::of(url)? {
        DatabaseUrl::Sqlite(options) => {
            // A missing file is not created.
            let options = options.create_if_missing(false).read_only(true);
            let mut connection = SqliteConnection::connect_with(&options).await?;
            connection.execute("BEGIN").await?;
            let schema: i64 = sqlx::query(LAST_MIGRATION)
                .fetch_one(&mut connection)
                .await?
                .try_get(0)?;
            take(Part::Schema(schema)).map_err(of_file)?;
            for table in of_sqlite(&mut connection).await? {
                rows(&mut connection, &table, read_sqlite, objects, &mut take).await?;
            }
            Ok(connection.close().await?)
        }
        DatabaseUrl::Postgres(servers) => {
            let mut connection = servers.connect().await?;
            connection
                .execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                .await?;
            let schema: i64 = sqlx::query(LAST_MIGRATION)
                .fetch_one(&mut connection)
                .await?
                .try_get(0)?;
            take(Part::Schema(schema)).map_err(of_file)?;
            for table in of_postgres(&mut connection).await? {
                rows(&mut connection, &table, read_postgres, objects, &mut take).await?;
            }
            Ok(connection.close().await?)
        }
    }
}

async fn rows<C>(
    connection: &mut C,
    table: &Table,
    read: impl Fn(&RowOf<C>, &Table) -> Result<(Vec<Datum>, Vec<Damage>), sqlx::Error>,
    objects: Option<&Blobs>,
    take: &mut impl FnMut(Part) -> io::Result<()>,
) -> Result<(), StoreError>
where
    C: Connection,
    for<'c> &'c mut C: Executor<'c, Database = C::Database>,
    C::Database: Database<Arguments: sqlx::IntoArguments<C::Database>>,
{
    if objects.is_some() && OF_OBJECTS.contains(&table.name.as_str()) {
        return Ok(());
    }
    let columns = table
        .columns
        .iter()
        .map(|column| column.name.clone())
        .collect();
    take(Part::Table {
        name: table.name.clone(),
        columns,
    })
    .map_err(of_file)?;
    let sql = format!("SELECT {} FROM \"{}\"", table.column_list(), table.name);
    let mut rows = sqlx::query::<C::Database>(AssertSqlSafe(sql)).fetch(connection);
    while let Some(row) = rows.try_next().await? {
        let (mut data, mut damaged) = read(&row, table)?;
        if let Some(blobs) = objects {
            damaged.extend(fill(blobs, table, &mut data).await?);
        }
        for damage in damaged {
            take(Part::Damaged(damage)).map_err(of_file)?;
        }
        take(Part::Row(data)).map_err(of_file)?;
    }
    Ok(())
}

/// Puts the content of an object in its row. Returns the damage if it is missing or has changed: then it is empty.
async fn fill(
    blobs: &Blobs,
    table: &Table,
    data: &mut [Datum],
) -> Result<Option<Damage>, StoreError> {
    let place = |name: &str| table.columns.iter().position(|column| column.name == name);
    let (Some(object), Some(content)) = (place("object"), place("content")) else {
        return Ok(None);
    };
    let Datum::Text(key) = std::mem::replace(&mut data[object], Datum::Null) else {
        return Ok(None);
    };
    let read = match Key::parse(&key) {
        Some(key) => blobs.get(&key).await.map_err(StoreError::from),
        None => Err(StoreError::Corrupt("no key of an object".to_owned())),
    };
    match read {
        Ok(bytes) => {
            data[content] = Datum::Bytes(bytes.into());
            Ok(None)
        }
        Err(StoreError::Corrupt(found)) => Ok(Some(Damage {
            table: table.name.clone(),
            row: key_of(table, data),
            column: "content".to_owned(),
            found,
        })),
        Err(error) => Err(error),
    }
}

type RowOf<C> = <<C as Connection>::Database as Database>::Row;

/// PostgreSQL's columns contain only values of their type.
fn read_postgres(row: &PgRow, table: &Table) -> Result<(Vec<Datum>, Vec<Damage>), sqlx::Error> {
    let datum = |(at, kind): (usize, Kind)| -> Result<Datum, sqlx::Error> {
        let datum = match kind {
            Kind::Text => row.try_get::<Option<_>, _>(at)?.map(Datum::Text),
            Kind::Integer => row.try_get::<Option<_>, _>(at)?.map(Datum::Integer),
            Kind::Real => row.try_get::<Option<_>, _>(at)?.map(Datum::Real),
            Kind::Boolean => row.try_get::<Option<_>, _>(at)?.map(Datum::Boolean),
            Kind::Bytes => row.try_get::<Option<_>, _>(at)?.map(Datum::Bytes),
        };
        Ok(datum.unwrap_or(Datum::Null))
    };
    let kinds = table.columns.iter().map(|column| column.kind).enumerate();
    Ok((kinds.map(datum).collect::<Result<_, _>>()?, Vec::new()))
}
