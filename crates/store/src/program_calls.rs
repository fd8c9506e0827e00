//! Calls of programs that runners execute, as the server sees them that asked. Their leases are in `program_leases.rs`.

use domain::{RunId, UserId};

use crate::{
    Store, StoreError,
    db::Db,
    leases::NOW,
    query::{Query, Row},
};

/// A call to be queued.
#[derive(Debug, Clone, Copy)]
pub struct NewProgramCall<'a> {
    /// The run.
    pub run: RunId,
    /// The call's ID, unique in the run.
    pub call: &'a str,
    /// The ID of the chat or run with the files.
    pub workspace: &'a str,
    /// The directory in which the chat works, if any.
    pub directory: Option<&'a str>,
    /// What to run, as JSON.
    pub work: &'a str,
}

/// The state of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramCallState {
    /// No runner has it yet.
    Waiting,
    /// A runner has it.
    Leased,
    /// Its result is there.
    Done,
    /// Its result is in the files of the chat.
    Taken,
    /// Its lease ended without a result.
    Lost,
    /// It never ran.
    Refused,
}

impl ProgramCallState {
    fn read(text: &str) -> Result<Self, StoreError> {
        Ok(match text {
            "waiting" => Self::Waiting,
            "leased" => Self::Leased,
            "done" => Self::Done,
            "taken" => Self::Taken,
            "lost" => Self::Lost,
            "refused" => Self::Refused,
            other => {
                return Err(StoreError::Corrupt(format!(
                    "program_calls.state is {other}"
                )));
            }
        })
    }
}

/// A call as the server sees it that asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramCall {
    /// Its state.
    pub state: ProgramCallState,
    /// Its lease has expired.
    pub is_expired: bool,
    /// How long ago it was queued, milliseconds.
    pub waited_ms: u64,
    /// Its lease, once it has one.
    pub lease: Option<String>,
    /// What it has printed, from the character that was asked for.
    pub output: String,
    /// What it was to do, as JSON; empty until it is done, as it may be long.
    pub work: String,
    /// The result, as JSON.
    pub result: Option<String>,
    /// What was told of its files, as JSON.
    pub lines: Option<String>,
}

/// A leased call and the place of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedProgramCall {
    /// The ID of the chat or run with the files.
    pub workspace: String,
    /// The directory in which the chat works, if any.
    pub directory: Option<String>,
    /// The account of the run.
    pub owner: UserId,
    /// The number of this call among those of the workspace.
    pub turn: u64,
    /// What to run, as JSON.
    pub work: String,
}

impl LeasedProgramCall {
    pub(crate) const COLUMNS: &'static str = "program_calls.workspace, program_calls.directory, runs.owner, \
        program_calls.turn, program_calls.work";

    pub(crate) fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            workspace: row.get("workspace")?,
            directory: row.get("directory")?,
            owner: row.id("owner")?,
            turn: row.number("turn")?,
            work: row.get("work")?,
        })
    }
}

impl Db {
    /// The database's time as SQL, milliseconds since 1970.
    pub(crate) fn now(&self) -> &'static str {
        match self {
            Self::Sqlite { .. } => "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
            Self::Postgres { .. } => NOW,
        }
    }
}

impl Store {
    /// Queues a call. Returns false if it is known already: it is never queued twice.
    ///
    /// # Errors
    /// `NotFound` if the run does not exist, `NotOurs` between two leases, and database errors.
    pub async fn queue_program_call(&self, call: &NewProgramCall<'_>) -> Result<bool, StoreError> {
        self.db().lease_holder()?;
        let now = self.db().now();
        let sql = format!(
            "INSERT INTO program_calls (run, call, workspace, directory, state, work, created_at) \
             VALUES ($1, $2, $3, $4, 'waiting', $5, {now}) ON CONFLICT (run, call) DO NOTHING"
        );
        let query = self.of_call(sql, call.run, call.call).text(call.workspace);
        let query = query.optional_text(call.directory).text(call.work);
        Ok(query.execute().await? > 0)
    }

    /// A call, with its output from character `from` on; `None` if it is not known.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn program_call(
        &self,
        run: RunId,
        call: &str,
        from: u64,
    ) -> Result<Option<ProgramCall>, StoreError> {
        let now = self.db().now();
        let sql = format!(
            "SELECT state, leased_until < {now} AS expired, {now} - created_at AS waited, lease, \
             substr(output, CAST($3 AS INTEGER)) AS output, \
             CASE WHEN state IN ('done', 'taken') THEN work ELSE '' END AS work, result, lines \
             FROM program_calls WHERE run = $1 AND call = $2"
        );
        let query = self.db().built_to_read(sql).id(run).text(call);
        let row = query
            .number(from.saturating_add(1))
            .fetch_optional()
            .await?;
        row.map(|row| {
            Ok(ProgramCall {
                state: ProgramCallState::read(&row.get::<String>("state")?)?,
                is_expired: row.get("expired")?,
                waited_ms: u64::try_from(row.get::<i64>("waited")?).unwrap_or(0),
                lease: row.get("lease")?,
                output: row.get("output")?,
                work: row.get("work")?,
                result: row.get("result")?,
                lines: row.get("lines")?,
            })
        })
        .transpose()
    }

    /// Ends a call whose lease has expired.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn lose_program_call(&self, run: RunId, call: &str) -> Result<(), StoreError> {
        let now = self.db().now();
        let sql = format!(
            "UPDATE program_calls SET state = 'lost' \
             WHERE run = $1 AND call = $2 AND state = 'leased' AND leased_until < {now}"
        );
        self.of_call(sql, run, call).execute().await.map(drop)
    }

    /// Withdraws a call that no runner has yet. Returns false if one has it.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn refuse_program_call(&self, run: RunId, call: &str) -> Result<bool, StoreError> {
        let sql = "UPDATE program_calls SET state = 'refused' \
                   WHERE run = $1 AND call = $2 AND state = 'waiting'";
        Ok(self.of_call(sql, run, call).execute().await? > 0)
    }

    /// Withdraws a call, or tells its runner to stop it.
    ///
    /// # Errors
    /// `NotOurs` between two leases, and database errors.
    pub async fn stop_program_call(&self, run: RunId, call: &str) -> Result<(), StoreError> {
        self.db().lease_holder()?;
        let sql = "UPDATE program_calls SET stop = TRUE, \
                   state = CASE WHEN state = 'waiting' THEN 'refused' ELSE state END \
                   WHERE run = $1 AND call = $2 AND state IN ('waiting', 'leased')";
        self.of_call(sql, run, call).execute().await.map(drop)
    }

    /// The content of a file that the program of this lease has changed.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn program_file(
        &self,
        lease: &str,
        sha256: &str,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT content FROM program_files WHERE lease = $1 AND sha256 = $2";
        let query = self.db().read(sql).text(lease).text(sha256);
        let row = query.fetch_optional().await?;
        row.map(|row| row.get("content")).transpose()
    }

    /// Notes that the result is in the files of the chat, with what was told of it, as JSON. Removes the contents.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn take_program_call(
        &self,
        run: RunId,
        call: &str,
        lines: &str,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        tx.query(
            "UPDATE program_calls SET state = 'taken', lines = $3 WHERE run = $1 AND call = $2",
        )
        .id(run)
        .text(call)
        .text(lines)
        .execute()
        .await?;
        tx.query(
            "DELETE FROM program_files WHERE lease IN \
             (SELECT lease FROM program_calls WHERE run = $1 AND call = $2)",
        )
        .id(run)
        .text(call)
        .execute()
        .await?;
        tx.commit().await
    }

    /// Deletes the calls of finished runs, places that were last used long ago, and runners that are long gone.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn purge_program_calls(&self) -> Result<u64, StoreError> {
        let sql = "DELETE FROM program_calls WHERE state <> 'leased' AND EXISTS \
                   (SELECT 1 FROM runs WHERE runs.id = program_calls.run AND runs.finished_at IS NOT NULL)";
        let calls = self.db().write(sql).execute().await?;
        let now = self.db().now();
        for sql in [
            format!("DELETE FROM program_places WHERE used_at < {now} - {PLACES_KEPT_MS}"),
            // The latest stays, as what it can run is what agents are told of.
            format!(
                "DELETE FROM runners WHERE seen_at < {now} - {RUNNERS_KEPT_MS} \
                 AND seen_at < (SELECT max(seen_at) FROM runners)"
            ),
        ] {
            self.db().built(sql).execute().await?;
        }
        Ok(calls)
    }

    fn of_call(&self, sql: impl Into<String>, run: RunId, call: &str) -> Query<'_> {
        self.db().built(sql.into()).id(run).text(call)
    }
}

/// Longer than a runner keeps Python variables.
const PLACES_KEPT_MS: i64 = 24 * 3_600_000;
/// Each start of a runner is another one.
const RUNNERS_KEPT_MS: i64 = 3_600_000;
