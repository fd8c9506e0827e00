//! Leases of program calls. A call is leased once: a lease that ends without a result ends the call.

use std::time::Duration;

use crate::{
    Store, StoreError, leases::millis, program_calls::LeasedProgramCall, query::Tx,
    runners::GONE_AFTER_MS,
};

/// How long a call waits for the runner that has the Python variables of its chat, milliseconds.
const WAITS_FOR_PLACE_MS: i64 = 60_000;

/// After this time, an expired lease holds no other call of the chat up, even if no server waits for the call. Until then,
/// the server that waits for it decides.
const ABANDONED_MS: i64 = 600_000;

/// The outcome of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramFileStored {
    /// It is stored, or was before.
    Stored,
    /// The lease has ended.
    NoLease,
    /// The contents of the call take too much space.
    TooMuch,
}

impl Store {
    /// Whether a call may wait for a runner: a cheap question before [`Store::lease_program_call`].
    ///
    /// # Errors
    /// Database errors only.
    pub async fn has_waiting_program_calls(&self) -> Result<bool, StoreError> {
        let sql = "SELECT 1 AS one FROM program_calls WHERE state = 'waiting' LIMIT 1";
        Ok(self.db().read(sql).fetch_optional().await?.is_some())
    }

    /// Leases the oldest call that waits and that this runner should have; `None` if there is none. `lease` is a new secret
    /// of the runner. A runner that did not get the answer repeats the request with the same one.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn lease_program_call(
        &self,
        runner: &str,
        lease: &str,
        length: Duration,
    ) -> Result<Option<LeasedProgramCall>, StoreError> {
        if let Some(call) = self.leased_program_call(lease).await? {
            return Ok(Some(call));
        }
        match self.lease_next(runner, lease, length).await {
            // Another call of the same chat has just been leased.
            Err(StoreError::Conflict(_) | StoreError::Deadlock(_)) => Ok(None),
            leased => leased,
        }
    }

    async fn lease_next(
        &self,
        runner: &str,
        lease: &str,
        length: Duration,
    ) -> Result<Option<LeasedProgramCall>, StoreError> {
        let now = self.db().now();
        let skip = match self.is_shared() {
            true => "FOR UPDATE OF due SKIP LOCKED",
            false => "",
        };
        let mut tx = self.db().begin().await?;
        let expired = format!(
            "UPDATE program_calls SET state = 'lost' WHERE state = 'leased' AND leased_until < {now} \
             AND (stop OR leased_until < {now} - {ABANDONED_MS} OR NOT EXISTS \
             (SELECT 1 FROM runs WHERE runs.id = program_calls.run AND runs.finished_at IS NULL))"
        );
        tx.built(expired).execute().await?;
        let sql = format!(
            "SELECT run, call, workspace FROM program_calls AS due WHERE state = 'waiting' AND EXISTS \
             (SELECT 1 FROM runs WHERE runs.id = due.run AND runs.finished_at IS NULL) AND NOT EXISTS \
             (SELECT 1 FROM program_calls AS other WHERE other.workspace = due.workspace AND other.state = 'leased') \
             AND (created_at < {now} - {WAITS_FOR_PLACE_MS} OR NOT EXISTS \
             (SELECT 1 FROM program_places AS place JOIN runners ON runners.id = place.runner \
             WHERE place.workspace = due.workspace AND place.runner <> $1 AND NOT runners.draining \
             AND runners.seen_at > {now} - {GONE_AFTER_MS})) \
             ORDER BY created_at LIMIT 1 {skip}"
        );
        let Some(row) = tx.built(sql).text(runner).fetch_optional().await? else {
            // What has expired stays so.
            tx.commit().await?;
            return Ok(None);
        };
        let run: String = row.get("run")?;
        let call: String = row.get("call")?;
        let turn = next_turn(&mut tx, now, &row.get::<String>("workspace")?, runner).await?;
        let sql = format!(
            "UPDATE program_calls SET state = 'leased', runner = $3, lease = $4, leased_until = {now} + $5, turn = $6 \
             WHERE run = $1 AND call = $2 AND state = 'waiting'"
        );
        let query = tx.built(sql).text(&run).text(&call).text(runner);
        let query = query.text(lease).bind(millis(length)).bind(turn);
        query.execute_on_one().await?;
        tx.commit().await?;
        self.leased_program_call(lease).await
    }

    /// The call that has this lease; `None` if it has ended.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn leased_program_call(
        &self,
        lease: &str,
    ) -> Result<Option<LeasedProgramCall>, StoreError> {
        let columns = LeasedProgramCall::COLUMNS;
        let sql = format!(
            "SELECT {columns} FROM program_calls JOIN runs ON runs.id = program_calls.run \
             WHERE lease = $1 AND state = 'leased'"
        );
        let row = self.db().built_to_read(sql).text(lease);
        let row = row.fetch_optional().await?;
        row.as_ref().map(LeasedProgramCall::read).transpose()
    }

    /// Whether this lease still holds.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn holds_program_lease(&self, lease: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 AS one FROM program_calls WHERE lease = $1 AND state = 'leased'";
        let row = self.db().read(sql).text(lease).fetch_optional().await?;
        Ok(row.is_some())
    }

    /// Renews these leases of a runner, except those whose call is not wanted any more. Returns those that still hold.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn renew_program_leases(
        &self,
        runner: &str,
        leases: &[String],
        length: Duration,
    ) -> Result<Vec<String>, StoreError> {
        if leases.is_empty() {
            return Ok(Vec::new());
        }
        let now = self.db().now();
        let places: Vec<String> = (3..leases.len() + 3).map(|at| format!("${at}")).collect();
        let places = places.join(", ");
        let sql = format!(
            "UPDATE program_calls SET leased_until = {now} + $2 \
             WHERE runner = $1 AND state = 'leased' AND NOT stop AND lease IN ({places}) AND EXISTS \
             (SELECT 1 FROM runs WHERE runs.id = program_calls.run AND runs.finished_at IS NULL) RETURNING lease"
        );
        let query = self.db().built(sql).text(runner).bind(millis(length));
        let query = leases.iter().fold(query, |query, lease| query.text(lease));
        let rows = query.fetch_all().await?;
        rows.iter().map(|row| row.get("lease")).collect()
    }

    /// Appends to the output of a call, if that has `from` characters. Returns false if it has not, or has no lease.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn add_program_output(
        &self,
        lease: &str,
        from: u64,
        text: &str,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE program_calls SET output = output || $3 \
                   WHERE lease = $1 AND state = 'leased' AND length(output) = $2";
        let query = self.db().write(sql).text(lease).number(from).text(text);
        Ok(query.execute().await? > 0)
    }

    /// Stores the content of a file that the program of this lease has changed.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn put_program_file(
        &self,
        lease: &str,
        sha256: &str,
        content: &[u8],
        limit_bytes: u64,
    ) -> Result<ProgramFileStored, StoreError> {
        let mut tx = self.db().begin().await?;
        let lock = "UPDATE program_calls SET stop = stop WHERE lease = $1 AND state = 'leased'";
        if tx.query(lock).text(lease).execute().await? == 0 {
            return Ok(ProgramFileStored::NoLease);
        }
        let sum = "SELECT CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) AS bytes FROM program_files WHERE lease = $1";
        let bytes = tx
            .query(sum)
            .text(lease)
            .fetch_one()
            .await?
            .number("bytes")?;
        if bytes.saturating_add(content.len() as u64) > limit_bytes {
            return Ok(ProgramFileStored::TooMuch);
        }
        let sql = "INSERT INTO program_files (lease, sha256, size_bytes, content) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (lease, sha256) DO NOTHING";
        let query = tx.query(sql).text(lease).text(sha256);
        let query = query.number(content.len() as u64).file(content);
        query.execute().await?;
        tx.commit().await?;
        Ok(ProgramFileStored::Stored)
    }

    /// The contents that this lease has stored: hash and size.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn program_files(&self, lease: &str) -> Result<Vec<(String, u64)>, StoreError> {
        let sql = "SELECT sha256, size_bytes FROM program_files WHERE lease = $1";
        let rows = self.db().read(sql).text(lease).fetch_all().await?;
        rows.iter()
            .map(|row| Ok((row.get("sha256")?, row.number("size_bytes")?)))
            .collect()
    }

    /// Stores the result of a call, as JSON. Returns false if its lease has ended, or another result is stored.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn finish_program_call(&self, lease: &str, result: &str) -> Result<bool, StoreError> {
        // The same result again: the runner did not get the answer.
        let sql = "UPDATE program_calls SET result = CASE WHEN state = 'leased' THEN $2 ELSE result END, \
                   state = CASE WHEN state = 'leased' THEN 'done' ELSE state END \
                   WHERE lease = $1 AND (state = 'leased' OR state IN ('done', 'taken') AND result = $2)";
        let query = self.db().write(sql).text(lease).text(result);
        Ok(query.execute().await? > 0)
    }
}

/// Notes that this runner has the latest state of the workspace; returns the number of the call.
async fn next_turn(
    tx: &mut Tx,
    now: &str,
    workspace: &str,
    runner: &str,
) -> Result<i64, StoreError> {
    let sql = format!(
        "INSERT INTO program_places (workspace, runner, turn, used_at) VALUES ($1, $2, 1, {now}) \
         ON CONFLICT (workspace) DO UPDATE SET runner = excluded.runner, turn = program_places.turn + 1, \
         used_at = excluded.used_at RETURNING turn"
    );
    let query = tx.built(sql).text(workspace).text(runner);
    query.fetch_one().await?.get("turn")
}
