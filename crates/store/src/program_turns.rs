//! Turns of the programs of a chat: where servers share a database, one of them at a time runs its programs, and each
//! notices if another one did in between.

use std::time::Duration;

use crate::{
    Store, StoreError,
    leases::{NOW, millis},
};

impl Store {
    /// Begins a turn for the programs of a workspace; returns its number, one more than that of the previous turn. `None`
    /// while another living server has the turn, for at most the time that it asked for.
    ///
    /// # Errors
    /// `NotOurs` between two leases, and database errors.
    pub async fn begin_program_turn(
        &self,
        workspace: &str,
        longest: Duration,
    ) -> Result<Option<i64>, StoreError> {
        let server = self.db().lease_holder()?.unwrap_or_default();
        let sql = format!(
            "INSERT INTO program_turns (workspace, server, number, held_until) VALUES ($1, $2, 1, {NOW} + $3) \
             ON CONFLICT (workspace) DO UPDATE SET server = excluded.server, number = program_turns.number + 1, \
             held_until = excluded.held_until \
             WHERE program_turns.server = '' OR program_turns.server = excluded.server \
             OR program_turns.held_until < {NOW} OR program_turns.server NOT IN (SELECT id FROM servers) \
             RETURNING number"
        );
        let query = self.db().urgent(sql).text(workspace).text(&server);
        let row = query.bind(millis(longest)).fetch_optional().await?;
        row.map(|row| row.get("number")).transpose()
    }

    /// Ends the turn with this number, unless the next one has begun.
    ///
    /// # Errors
    /// `NotOurs` between two leases, and database errors.
    pub async fn end_program_turn(&self, workspace: &str, number: i64) -> Result<(), StoreError> {
        let server = self.db().lease_holder()?.unwrap_or_default();
        let sql = "UPDATE program_turns SET server = '' \
                   WHERE workspace = $1 AND server = $2 AND number = $3";
        let query = self.db().urgent(sql).text(workspace).text(&server);
        query.bind(number).execute().await.map(drop)
    }

    /// Deletes the turns that began long ago: the Python variables of their chats are gone.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn purge_program_turns(&self) -> Result<u64, StoreError> {
        if !self.is_shared() {
            return Ok(0);
        }
        let sql = format!("DELETE FROM program_turns WHERE held_until < {NOW} - {KEPT_MS}");
        self.db().built(sql).execute().await
    }
}

/// How long a turn is remembered after its end, milliseconds; longer than a server keeps Python variables.
const KEPT_MS: i64 = 24 * 3_600_000;
