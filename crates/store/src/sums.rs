//! SQL of sums that saturate instead of overflowing, for both databases.
//!
//! PostgreSQL refuses a `bigint` that is too large, and SQLite silently turns it into a `REAL`, which no reader of the
//! column expects: either way one absurd row would break every total that includes it.

/// Maximum of a counter. More than a user consumes in a day; thousands of them fit into an `i64`.
pub(crate) const MAX_COUNTER: u64 = 1_000_000_000_000_000;
/// Maximum of a sum, exact as a double, and as a JavaScript number.
const MAX_SUM: u64 = 9_000_000_000_000_000;

/// The sum of an expression over a group, from 0 to `MAX_SUM`. Values that are no numbers count as 0.
pub(crate) fn sum(expression: &str) -> String {
    // Neither a double nor a `numeric` overflows here.
    let sum = format!("SUM(({expression}) * 1.0)");
    format!(
        "CAST(CASE WHEN {sum} > {MAX_SUM} THEN {MAX_SUM} WHEN {sum} > 0 THEN {sum} ELSE 0 END AS BIGINT)"
    )
}

/// The assignment that adds an upsert's value to a counter of the table. The added value is at most [`MAX_COUNTER`].
pub(crate) fn add_excluded(table: &str, column: &str) -> String {
    format!(
        "{column} = CASE WHEN {table}.{column} > {MAX_COUNTER} - excluded.{column} THEN {MAX_COUNTER} \
         ELSE {table}.{column} + excluded.{column} END"
    )
}
