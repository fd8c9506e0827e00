//! Queries on a real server that speaks Bolt: the one at `GLASSHOUSE_TEST_BOLT_URL`, as `cargo xtask test` starts it, and
//! what comes where there is none.
#![expect(
    clippy::unwrap_used,
    reason = "clippy spares only the test functions themselves"
)]

mod real;
mod wrong;
