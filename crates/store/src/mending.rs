//! Mends counters that earlier versions let overflow, when the database is opened.

use sqlx::{AssertSqlSafe, PgConnection, SqliteConnection};

use crate::{StoreError, sums::MAX_COUNTER, usage::USAGE_COUNTERS};

/// The tables with counters of what model servers have said, and these.
const COUNTERS: [(&str, &[&str]); 2] = [
    ("usage", &USAGE_COUNTERS),
    (
        "pipeline_calls",
        &["input_tokens", "output_tokens", "cost_micro_usd"],
    ),
];

/// SQLite: a sum that overflowed is a `REAL`, and a column takes any other type, too.
pub(crate) async fn mend_sqlite(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    for (table, columns) in COUNTERS {
        let sql = mending(table, columns, |column| {
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

/// PostgreSQL: one that stands at the end of `bigint` refuses every addition.
pub(crate) async fn mend_postgres(connection: &mut PgConnection) -> Result<(), StoreError> {
    for (table, columns) in COUNTERS {
        let sql = mending(table, columns, |column| {
            format!("{column} NOT BETWEEN 0 AND {MAX_COUNTER}")
        });
        let mended = sqlx::query(AssertSqlSafe(sql))
            .execute(&mut *connection)
            .await?;
        tell(table, mended.rows_affected());
    }
    Ok(())
}

/// Sets what cannot be a count to 0: nobody knows what it was, and at a bound it would use up everybody's limits.
fn mending(table: &str, columns: &[&str], is_bad: impl Fn(&str) -> String) -> String {
    let set = columns.iter().map(|column| {
        format!(
            "{column} = CASE WHEN {bad} THEN 0 ELSE {column} END",
            bad = is_bad(column)
        )
    });
    let bad = columns.iter().map(|column| is_bad(column));
    let (set, bad) = (
        set.collect::<Vec<_>>().join(", "),
        bad.collect::<Vec<_>>().join(" OR "),
    );
    format!("UPDATE {table} SET {set} WHERE {bad}")
}

fn tell(table: &str, rows: u64) {
    if rows > 0 {
        tracing::warn!(
            table,
            rows,
            "mended counters that were out of range: they begin again at 0"
        );
    }
}
