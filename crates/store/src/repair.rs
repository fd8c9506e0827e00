//! Repairs counters that overflowed in earlier versions, when the database is opened.

use sqlx::{AssertSqlSafe, PgConnection, SqliteConnection};

use crate::{StoreError, sums::MAX_COUNTER, usage::USAGE_COUNTERS};

/// Tables and columns with token counters.
const COUNTERS: [(&str, &[&str]); 2] = [
    ("usage", &USAGE_COUNTERS),
    (
        "pipeline_calls",
        &["input_tokens", "output_tokens", "cost_micro_usd"],
    ),
];

/// SQLite: an overflowed sum is a `REAL`, and a column accepts any other type, too.
pub(crate) async fn repair_sqlite(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    for (table, columns) in COUNTERS {
        let sql = repair(table, columns, |column| {
            format!(
                "typeof({column}) NOT IN ('integer', 'null') OR {column} NOT BETWEEN 0 AND {MAX_COUNTER}"
            )
        });
        let mended = sqlx::query(AssertSqlSafe(sql))
            .execute(&mut *connection)
            .await?;
        tell(table, mended.rows_affected());
    }
    Ok(())
}

/// PostgreSQL: a counter at the maximum of `bigint` refuses every addition.
pub(crate) async fn repair_postgres(connection: &mut PgConnection) -> Result<(), StoreError> {
    for (table, columns) in COUNTERS {
        let sql = repair(table, columns, |column| {
            format!("{column} NOT BETWEEN 0 AND {MAX_COUNTER}")
        });
        let mended = sqlx::query(AssertSqlSafe(sql))
            .persistent(false)
            .execute(&mut *connection)
            .await?;
        tell(table, mended.rows_affected());
    }
    Ok(())
}

/// Resets invalid counts to 0: the true value is lost, and a maximum would use up all limits.
fn repair(table: &str, columns: &[&str], is_bad: impl Fn(&str) -> String) -> String {
    let set = columns.iter().map(|column| {
        format!(
            "{column} = CASE WHEN {bad} THEN 0 ELSE {column} END",
            bad = is_bad(column)
        )
    });
    let bad = columns.iter().map(|column| is_bad(column));
    let set = set.collect::<Vec<_>>().join(", ");
    let bad = bad.collect::<Vec<_>>().join(" OR ");
    format!("UPDATE {table} SET {set} WHERE {bad}")
}

fn tell(table: &str, rows: u64) {
    if rows > 0 {
        tracing::warn!(table, rows, "reset overflowed counters to 0");
    }
}
