//! Runners: other machines that execute the programs of agents.

use crate::{Store, StoreError};

/// A runner that was silent this long is gone, milliseconds.
pub(crate) const GONE_AFTER_MS: i64 = 15_000;

/// Maximum number of runners that are known. More are not noted.
const MAX_RUNNERS: u64 = 1_000;

/// A runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnerRow {
    /// Its ID, new at each of its starts.
    pub id: String,
    /// The name of its machine.
    pub name: String,
    /// What it can run, as JSON.
    pub about: String,
    /// It takes no more calls.
    pub is_draining: bool,
    /// It has called lately.
    pub is_connected: bool,
    /// The calls that it has.
    pub running: u64,
}

impl Store {
    /// Notes that a runner has called.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn note_runner(
        &self,
        id: &str,
        name: &str,
        about: &str,
        is_draining: bool,
    ) -> Result<(), StoreError> {
        let now = self.db().now();
        let sql = format!(
            "INSERT INTO runners (id, name, about, draining, seen_at) SELECT $1, $2, $3, $4, {now} \
             WHERE (SELECT COUNT(*) FROM runners WHERE id <> $1) < {MAX_RUNNERS} \
             ON CONFLICT (id) DO UPDATE SET name = excluded.name, about = excluded.about, \
             draining = excluded.draining, seen_at = excluded.seen_at"
        );
        let query = self.db().built(sql).text(id).text(name).text(about);
        query.bind(is_draining).execute().await.map(drop)
    }

    /// The runners that are known, those heard of last first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn runners(&self) -> Result<Vec<RunnerRow>, StoreError> {
        let now = self.db().now();
        let sql = format!(
            "SELECT id, name, about, draining, seen_at > {now} - {GONE_AFTER_MS} AS connected, \
             (SELECT COUNT(*) FROM program_calls WHERE runner = runners.id AND state = 'leased') AS running \
             FROM runners ORDER BY seen_at DESC"
        );
        let rows = self.db().built_to_read(sql).fetch_all().await?;
        rows.iter()
            .map(|row| {
                Ok(RunnerRow {
                    id: row.get("id")?,
                    name: row.get("name")?,
                    about: row.get("about")?,
                    is_draining: row.get("draining")?,
                    is_connected: row.get("connected")?,
                    running: row.number("running")?,
                })
            })
            .collect()
    }

    /// The number of program calls that wait for a runner.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn waiting_program_calls(&self) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) AS waiting FROM program_calls WHERE state = 'waiting'";
        self.db().read(sql).fetch_one().await?.number("waiting")
    }
}
