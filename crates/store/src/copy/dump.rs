//! Reads all rows in one snapshot, without blocking writers.

use std::io;

use futures_util::TryStreamExt;
use sqlx::{AssertSqlSafe, Connection, Database, Executor, Row, SqliteConnection, postgres::PgRow};

use super::{
    Damage, DatabaseUrl, Datum, LAST_MIGRATION, Part,
    damaged::read_sqlite,
    of_file,
    shape::{Kind, Table, of_postgres, of_sqlite},
};
use crate::{StoreError, postgres_url::connect};

/// Passes the whole database to `take`. The database is not changed or locked. A damaged value is reported and the rest
/// continues.
///
/// # Errors
/// Database errors, and those of `take`.
pub async fn dump(
    url: &str,
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
                rows(&mut connection, &table, read_sqlite, &mut take).await?;
            }
            Ok(connection.close().await?)
        }
        DatabaseUrl::Postgres(servers) => {
            let mut connection = connect(servers).await?;
            connection
                .execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                .await?;
            let schema: i64 = sqlx::query(LAST_MIGRATION)
                .fetch_one(&mut connection)
                .await?
                .try_get(0)?;
            take(Part::Schema(schema)).map_err(of_file)?;
            for table in of_postgres(&mut connection).await? {
                rows(&mut connection, &table, read_postgres, &mut take).await?;
            }
            Ok(connection.close().await?)
        }
    }
}

async fn rows<C>(
    connection: &mut C,
    table: &Table,
    read: impl Fn(&RowOf<C>, &Table) -> Result<(Vec<Datum>, Vec<Damage>), sqlx::Error>,
    take: &mut impl FnMut(Part) -> io::Result<()>,
) -> Result<(), StoreError>
where
    C: Connection,
    for<'c> &'c mut C: Executor<'c, Database = C::Database>,
    C::Database: Database<Arguments: sqlx::IntoArguments<C::Database>>,
{
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
        let (data, damaged) = read(&row, table)?;
        for damage in damaged {
            take(Part::Damaged(damage)).map_err(of_file)?;
        }
        take(Part::Row(data)).map_err(of_file)?;
    }
    Ok(())
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
