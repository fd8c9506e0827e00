//! Removes rows of a damaged copy whose foreign keys have no target.

use sqlx::{AssertSqlSafe, Database, Executor, IntoArguments, PgConnection, Row, SqliteConnection};

use crate::StoreError;

/// A foreign key.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reference {
    table: String,
    columns: Vec<String>,
    parent: String,
    parent_columns: Vec<String>,
    /// Whether the column is set to null instead.
    sets_null: bool,
}

impl Reference {
    /// The statement that deletes the rows without a target, or sets their reference to null.
    fn pruning(&self) -> String {
        let Self {
            table,
            columns,
            parent,
            parent_columns,
            sets_null,
        } = self;
        let is_set = columns
            .iter()
            .map(|column| format!("\"{table}\".\"{column}\" IS NOT NULL"));
        let names = columns
            .iter()
            .zip(parent_columns)
            .map(|(column, of)| format!("parent.\"{of}\" = \"{table}\".\"{column}\""));
        let change = if *sets_null {
            let nulls: Vec<String> = columns
                .iter()
                .map(|column| format!("\"{column}\" = NULL"))
                .collect();
            format!("UPDATE \"{table}\" SET {}", nulls.join(", "))
        } else {
            format!("DELETE FROM \"{table}\"")
        };
        format!(
            "{change} WHERE {} AND NOT EXISTS (SELECT 1 FROM \"{parent}\" AS parent WHERE {}) RETURNING 1",
            is_set.collect::<Vec<_>>().join(" AND "),
            names.collect::<Vec<_>>().join(" AND ")
        )
    }
}

/// Removes rows without a target, repeatedly; returns their number.
pub(super) async fn prune<DB>(
    connection: &mut DB::Connection,
    references: &[Reference],
) -> Result<u64, StoreError>
where
    DB: Database,
    DB::Arguments: IntoArguments<DB>,
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    let mut pruned = 0;
    loop {
        let before = pruned;
        for reference in references {
            let sql = AssertSqlSafe(reference.pruning());
            let rows = sqlx::query::<DB>(sql)
                .fetch_all(&mut *connection)
                .await?
                .len() as u64;
            pruned += if reference.sets_null { 0 } else { rows };
        }
        if pruned == before {
            return Ok(pruned);
        }
    }
}

/// All foreign keys, including those of tables that are not copied: triggers fill these.
pub(super) async fn of_sqlite(
    connection: &mut SqliteConnection,
) -> Result<Vec<Reference>, StoreError> {
    let mut references = Vec::new();
    let names = "SELECT name FROM sqlite_master WHERE type = 'table'";
    for row in sqlx::query(names).fetch_all(&mut *connection).await? {
        let table: String = row.try_get(0)?;
        let sql = format!("PRAGMA foreign_key_list(\"{table}\")");
        let mut last = None;
        for row in sqlx::query(AssertSqlSafe(sql))
            .fetch_all(&mut *connection)
            .await?
        {
            let (id, parent): (i64, String) = (row.try_get("id")?, row.try_get("table")?);
            let (column, of): (String, String) = (row.try_get("from")?, row.try_get("to")?);
            if last != Some(id) {
                last = Some(id);
                let sets_null = row.try_get::<String, _>("on_delete")? == "SET NULL";
                let table = table.clone();
                references.push(Reference {
                    table,
                    columns: Vec::new(),
                    parent,
                    parent_columns: Vec::new(),
                    sets_null,
                });
            }
            if let Some(reference) = references.last_mut() {
                reference.columns.push(column);
                reference.parent_columns.push(of);
            }
        }
    }
    Ok(references)
}

/// All foreign keys, those of partitions excepted.
pub(super) async fn of_postgres(
    connection: &mut PgConnection,
) -> Result<Vec<Reference>, StoreError> {
    let names = |key: &str, table: &str| {
        format!(
            "(SELECT array_agg(attname::text ORDER BY place) FROM unnest({key}) WITH ORDINALITY AS k (number, place) \
             JOIN pg_attribute ON attrelid = {table} AND attnum = number)"
        )
    };
    let sql = format!(
        "SELECT child.relname::text, {}, parent.relname::text, {}, confdeltype = 'n' FROM pg_constraint \
         JOIN pg_class AS child ON child.oid = conrelid JOIN pg_class AS parent ON parent.oid = confrelid \
         JOIN pg_namespace ON pg_namespace.oid = pg_constraint.connamespace \
         WHERE contype = 'f' AND conparentid = 0 AND nspname = current_schema()",
        names("conkey", "conrelid"),
        names("confkey", "confrelid")
    );
    let mut references = Vec::new();
    for row in sqlx::query(AssertSqlSafe(sql))
        .fetch_all(&mut *connection)
        .await?
    {
        references.push(Reference {
            table: row.try_get(0)?,
            columns: row.try_get(1)?,
            parent: row.try_get(2)?,
            parent_columns: row.try_get(3)?,
            sets_null: row.try_get(4)?,
        });
    }
    Ok(references)
}
