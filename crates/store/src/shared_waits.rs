//! What servers of one database wait for together: exports and imports of an account, turns at websites, and model servers that
//! are left alone for a while.

use std::time::Duration;

use domain::{LocalizedText, UserId};

use crate::{
    Store, StoreError,
    leases::{NOW, millis},
    query::Row,
};

/// A model server, or a key of one, that is left alone for a while.
#[derive(Debug, Clone, PartialEq)]
pub struct UpstreamPause {
    /// Its name.
    pub name: String,
    /// For how long from now on.
    pub left: Duration,
    /// Why.
    pub reason: LocalizedText,
}

impl Store {
    /// Begins an export or import of an account. Returns false while another living server has one.
    ///
    /// # Errors
    /// `NotOurs` between two leases, and database errors.
    pub async fn begin_transfer(&self, owner: UserId) -> Result<bool, StoreError> {
        let server = self.db().lease_holder()?.unwrap_or_default();
        let sql = "INSERT INTO transfers (owner, server) VALUES ($1, $2) \
                   ON CONFLICT (owner) DO UPDATE SET server = excluded.server \
                   WHERE transfers.server = excluded.server \
                   OR transfers.server NOT IN (SELECT id FROM servers)";
        let query = self.db().write(sql).id(owner).text(&server);
        Ok(query.execute().await? > 0)
    }

    /// Ends the export or import of an account that this server has begun.
    ///
    /// # Errors
    /// `NotOurs` between two leases, and database errors.
    pub async fn end_transfer(&self, owner: UserId) -> Result<(), StoreError> {
        let server = self.db().lease_holder()?.unwrap_or_default();
        let sql = "DELETE FROM transfers WHERE owner = $1 AND server = $2";
        let query = self.db().write(sql).id(owner).text(&server);
        query.execute().await.map(drop)
    }

    /// Reserves the next turn at a website for a server of a shared database, each at least that long after the one before.
    /// Returns how long it is until then; nothing if the database is not shared.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn next_host_turn(
        &self,
        origin: &str,
        pause: Duration,
    ) -> Result<Duration, StoreError> {
        if !self.is_shared() {
            return Ok(Duration::ZERO);
        }
        let sql = format!(
            "INSERT INTO host_turns (origin, next_at) VALUES ($1, {NOW} + $2) \
             ON CONFLICT (origin) DO UPDATE SET next_at = GREATEST(host_turns.next_at, {NOW}) + $2 \
             RETURNING next_at - $2 - {NOW} AS wait_ms"
        );
        let query = self.db().urgent(sql).text(origin).bind(millis(pause));
        let wait_ms: i64 = query.fetch_one().await?.get("wait_ms")?;
        Ok(Duration::from_millis(wait_ms.try_into().unwrap_or(0)))
    }

    /// Deletes turns at websites that are over.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn purge_host_turns(&self) -> Result<u64, StoreError> {
        if !self.is_shared() {
            return Ok(0);
        }
        let sql = format!("DELETE FROM host_turns WHERE next_at < {NOW}");
        self.db().built(sql).execute().await
    }

    /// Tells the other servers of a shared database about a pause.
    ///
    /// # Errors
    /// `NotOurs` between two leases, and database errors.
    pub async fn share_upstream_pause(&self, pause: &UpstreamPause) -> Result<(), StoreError> {
        let Some(server) = self.db().lease_holder()? else {
            return Ok(());
        };
        let sql = format!(
            "INSERT INTO upstream_pauses (name, server, until, reason) VALUES ($1, $2, {NOW} + $3, $4) \
             ON CONFLICT (name) DO UPDATE SET server = excluded.server, until = excluded.until, \
             reason = excluded.reason"
        );
        let query = self.db().built(sql).text(&pause.name).text(&server);
        let query = query.bind(millis(pause.left)).json(&pause.reason)?;
        query.execute().await.map(drop)
    }

    /// Tells the other servers that a pause of this server is over.
    ///
    /// # Errors
    /// `NotOurs` between two leases, and database errors.
    pub async fn end_upstream_pause(&self, name: &str) -> Result<(), StoreError> {
        let server = self.db().lease_holder()?.unwrap_or_default();
        let sql = "DELETE FROM upstream_pauses WHERE name = $1 AND server = $2";
        let query = self.db().write(sql).text(name).text(&server);
        query.execute().await.map(drop)
    }

    /// The pauses that other servers have told about; none if the database is not shared.
    ///
    /// # Errors
    /// `NotOurs` between two leases, database errors, and `Corrupt`.
    pub async fn upstream_pauses(&self) -> Result<Vec<UpstreamPause>, StoreError> {
        let Some(server) = self.db().lease_holder()? else {
            return Ok(Vec::new());
        };
        let sql = format!(
            "SELECT name, until - {NOW} AS left_ms, reason FROM upstream_pauses WHERE server <> $1 AND until > {NOW}"
        );
        let rows = self.db().built_to_read(sql).text(&server).fetch_all();
        let pause = |row: &Row| {
            let left_ms: i64 = row.get("left_ms")?;
            Ok(UpstreamPause {
                name: row.get("name")?,
                left: Duration::from_millis(left_ms.try_into().unwrap_or(0)),
                reason: row.json("reason")?,
            })
        };
        rows.await?.iter().map(pause).collect()
    }

    /// Deletes pauses that are over.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn purge_upstream_pauses(&self) -> Result<u64, StoreError> {
        if !self.is_shared() {
            return Ok(0);
        }
        let sql = format!("DELETE FROM upstream_pauses WHERE until < {NOW}");
        self.db().built(sql).execute().await
    }
}
