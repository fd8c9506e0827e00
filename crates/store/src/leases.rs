//! Leases: which servers sharing a PostgreSQL are alive. A run belongs to its server until the server's lease expires;
//! then another may take over the run, and the first can no longer write logs.
//!
//! There is one lease per server, whatever it runs. Times are by the database's clock, which all servers share.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::{ChatId, RunId, UserId};

use crate::{
    Principal, Run, Store, StoreError,
    db::Db,
    query::{Row, readable},
    runs::{read_run, run_columns},
};

/// The current lease of this process, for all writers.
#[derive(Debug, Clone, Default)]
pub(crate) struct LeaseHolder(Arc<Mutex<Lease>>);

#[derive(Debug, Clone, Default)]
enum Lease {
    /// None was requested: this process starts no runs, or is the only server.
    #[default]
    NotNeeded,
    /// The server's id.
    Held(String),
    /// It was lost, and others may have taken our runs.
    Lost,
}

impl LeaseHolder {
    /// The server's id, if it has or had a lease.
    ///
    /// # Errors
    /// `NotOurs` between two leases.
    pub(crate) fn get(&self) -> Result<Option<String>, StoreError> {
        match &*self.lock() {
            Lease::NotNeeded => Ok(None),
            Lease::Held(id) => Ok(Some(id.clone())),
            Lease::Lost => Err(StoreError::NotOurs),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Lease> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The outcome of a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// The database is not shared, or this process has never taken a lease.
    NotNeeded,
    /// It was renewed at this time of the database's clock, milliseconds since 1970.
    Renewed {
        /// The time.
        database_ms: i64,
    },
    /// It was lost: others have the runs.
    Lost,
}

/// Accounts per query for their runs.
const OWNERS_AT_ONCE: usize = 1000;

/// A running run, or one that has just finished, as other servers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveRun {
    /// Its id.
    pub id: RunId,
    /// The principal that started it.
    pub principal: Principal,
    /// Its chat, if any.
    pub chat: Option<ChatId>,
    /// The chat's title.
    pub title: String,
    /// The last event that changed its pending input; 0 if it waits for none.
    pub waiting_seq: u64,
    /// Whether it has finished.
    pub is_finished: bool,
}

/// Running runs that no server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftRuns {
    /// How many there are.
    pub runs: u64,
    /// How many servers there are, this one included.
    pub servers: u64,
}

impl LeftRuns {
    /// The part of them that this server takes over, so that each gets about as many.
    #[must_use]
    pub fn share(self) -> u32 {
        u32::try_from(self.runs.div_ceil(self.servers.max(1))).unwrap_or(u32::MAX)
    }
}

impl ActiveRun {
    fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id("id")?,
            principal: Principal::read(row)?,
            chat: row.optional_id("chat")?,
            title: row.get("title")?,
            waiting_seq: row.number("waiting_seq")?,
            is_finished: row.get::<Option<i64>>("finished_at")?.is_some(),
        })
    }
}

/// The database's time, milliseconds since 1970.
pub(crate) const NOW: &str = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";

impl Store {
    /// Whether several servers may work on this database.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        matches!(self.db(), Db::Postgres { .. })
    }

    /// Whether this server may start runs and write logs: false between two leases.
    #[must_use]
    pub fn has_lease(&self) -> bool {
        self.db().lease_holder().is_ok()
    }

    /// Starts a lease for a new server id. From then on new runs belong to it, and logs are written only while the
    /// lease is valid. Does nothing if the database is not shared.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn take_lease(&self, server: &str, length: Duration) -> Result<(), StoreError> {
        let Db::Postgres { lease_holder, .. } = self.db() else {
            return Ok(());
        };
        let sql = format!("INSERT INTO servers (id, alive_until) VALUES ($1, {NOW} + $2)");
        self.db()
            .urgent(sql)
            .text(server)
            .bind(millis(length))
            .execute()
            .await?;
        *lease_holder.lock() = Lease::Held(server.to_owned());
        Ok(())
    }

    /// Renews the lease for `length`.
    ///
    /// # Errors
    /// Database errors only; then the lease may have been renewed or not.
    pub async fn renew_lease(&self, length: Duration) -> Result<Renewal, StoreError> {
        let Some(server) = self.db().lease_holder()? else {
            return Ok(Renewal::NotNeeded);
        };
        let sql = format!(
            "UPDATE servers SET alive_until = {NOW} + $2 WHERE id = $1 RETURNING {NOW} AS now"
        );
        let query = self.db().urgent(sql).text(&server).bind(millis(length));
        match query.fetch_optional().await? {
            Some(row) => Ok(Renewal::Renewed {
                database_ms: row.get("now")?,
            }),
            None => Ok(Renewal::Lost),
        }
    }

    /// The time of the database's clock, milliseconds since 1970; `None` if servers cannot share the database.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn database_time(&self) -> Result<Option<i64>, StoreError> {
        if !self.is_shared() {
            return Ok(None);
        }
        let query = self.db().urgent(format!("SELECT {NOW} AS now"));
        Ok(Some(query.fetch_one().await?.get("now")?))
    }

    /// Releases a run of this server in an orderly way: its log has everything that it has done. Does nothing if it has ended
    /// or another server has it.
    ///
    /// # Errors
    /// `NotOurs` between two leases.
    pub async fn release_run(&self, run: RunId) -> Result<(), StoreError> {
        let query = match self.db().lease_holder()? {
            None => self
                .db()
                .write("UPDATE runs SET released = TRUE WHERE id = $1 AND finished_at IS NULL")
                .id(run),
            Some(server) => {
                let sql = "UPDATE runs SET server = NULL, released = TRUE WHERE id = $1 AND server = $2 AND finished_at IS NULL";
                self.db().write(sql).id(run).text(&server)
            }
        };
        query.execute().await.map(drop)
    }

    /// Releases all runs of this server in an orderly way.
    ///
    /// # Errors
    /// `NotOurs` between two leases.
    pub async fn release_runs(&self) -> Result<(), StoreError> {
        let query = match self.db().lease_holder()? {
            None => self
                .db()
                .write("UPDATE runs SET released = TRUE WHERE finished_at IS NULL"),
            Some(server) => {
                let sql = "UPDATE runs SET server = NULL, released = TRUE WHERE server = $1 AND finished_at IS NULL";
                self.db().write(sql).text(&server)
            }
        };
        query.execute().await.map(drop)
    }

    /// Ends the lease, so that others need not wait. No run starts and no log is written until there is another.
    ///
    /// # Errors
    /// Database errors only; then it ends when it expires.
    pub async fn end_lease(&self) -> Result<(), StoreError> {
        let Db::Postgres { lease_holder, .. } = self.db() else {
            return Ok(());
        };
        let held = std::mem::replace(&mut *lease_holder.lock(), Lease::Lost);
        let Lease::Held(server) = held else {
            return Ok(());
        };
        // First, so that no log is written from then on.
        let sql = "DELETE FROM servers WHERE id = $1";
        self.db().urgent(sql).text(&server).execute().await?;
        let sql = "UPDATE runs SET server = NULL WHERE server = $1 AND finished_at IS NULL";
        self.db().write(sql).text(&server).execute().await.map(drop)
    }

    /// Takes the runs from servers whose lease has expired, for [`Store::take_over_runs`] of any server.
    ///
    /// # Errors
    /// `NotOurs` between two leases.
    pub async fn bury_servers(&self) -> Result<(), StoreError> {
        if self.db().lease_holder()?.is_none() {
            return Ok(());
        }
        // Appends lock this row while they write, so that no log is written once it is deleted.
        let sql = format!("DELETE FROM servers WHERE alive_until < {NOW}");
        self.db().urgent(sql).execute().await?;
        let sql = "UPDATE runs SET server = NULL WHERE id IN (SELECT id FROM runs WHERE finished_at IS NULL \
                   AND server IS NOT NULL AND server NOT IN (SELECT id FROM servers) FOR UPDATE SKIP LOCKED)";
        self.db().write(sql).execute().await.map(drop)
    }

    /// The running runs that no server has. `None` if there are none.
    ///
    /// # Errors
    /// `NotOurs` between two leases.
    pub async fn left_runs(&self) -> Result<Option<LeftRuns>, StoreError> {
        if self.db().lease_holder()?.is_none() {
            return Ok(None);
        }
        let sql = "SELECT COUNT(*) AS runs, (SELECT COUNT(*) FROM servers) AS servers FROM runs \
                   WHERE finished_at IS NULL AND server IS NULL";
        let row = self.db().watch(sql).fetch_one().await?;
        let left = LeftRuns {
            runs: row.number("runs")?,
            servers: row.number("servers")?,
        };
        Ok(Some(left).filter(|left| left.runs > 0))
    }

    /// Takes over running runs that no server has, at most `limit`, and returns them, oldest first. If the database is not
    /// shared, all running runs are returned.
    ///
    /// # Errors
    /// `NotOurs` between two leases.
    pub async fn take_over_runs(&self, limit: u32) -> Result<Vec<Run>, StoreError> {
        let Some(server) = self.db().lease_holder()? else {
            return self.unfinished_runs().await;
        };
        let sql = concat!(
            "UPDATE runs SET server = $1 WHERE id IN (SELECT id FROM runs WHERE finished_at IS NULL AND server IS NULL \
             ORDER BY started_at LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING ",
            run_columns!()
        );
        let rows = self.db().write(sql).text(&server).bind(i64::from(limit));
        let mut runs = readable(&rows.fetch_all().await?, read_run);
        runs.sort_by_key(|run| (run.started_at, run.id.to_string()));
        Ok(runs)
    }

    /// Notes that this server goes on with a run. Returns whether the run is its own: its lease may have expired.
    ///
    /// # Errors
    /// `NotOurs` between two leases.
    pub async fn note_resumed(&self, run: RunId) -> Result<bool, StoreError> {
        let query = match self.db().lease_holder()? {
            None => self
                .db()
                .write("UPDATE runs SET released = FALSE WHERE id = $1")
                .id(run),
            Some(server) => {
                let sql = "UPDATE runs SET released = FALSE WHERE id = $1 AND server = $2";
                self.db().write(sql).id(run).text(&server)
            }
        };
        Ok(query.execute().await? == 1)
    }

    /// This server's runs that started before that time and have not ended.
    ///
    /// # Errors
    /// `NotOurs` between two leases.
    pub async fn own_runs(&self, began_before: i64) -> Result<Vec<RunId>, StoreError> {
        let Some(server) = self.db().lease_holder()? else {
            return Ok(Vec::new());
        };
        let sql =
            "SELECT id FROM runs WHERE server = $1 AND finished_at IS NULL AND started_at < $2";
        let rows = self
            .db()
            .read(sql)
            .text(&server)
            .bind(began_before)
            .fetch_all()
            .await?;
        rows.iter().map(|row| row.id("id")).collect()
    }

    /// Writes a run's row without changing it, to test whether the database accepts writes.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn try_writing(&self, run: RunId) -> Result<(), StoreError> {
        self.db()
            .write("UPDATE runs SET server = server WHERE id = $1")
            .id(run)
            .execute()
            .await
            .map(drop)
    }

    /// Enqueues a command for the server of this run.
    ///
    /// # Errors
    /// `NotFound` if there is no such run.
    pub async fn enqueue_command(&self, run: RunId, command: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO run_commands (run, command) VALUES ($1, $2)";
        self.db()
            .write(sql)
            .id(run)
            .text(command)
            .execute()
            .await
            .map(drop)
    }

    /// The commands for this server's runs, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn pending_commands(&self) -> Result<Vec<(i64, RunId, String)>, StoreError> {
        let Some(server) = self.db().lease_holder()? else {
            return Ok(Vec::new());
        };
        let sql = "SELECT run_commands.number, run, command FROM run_commands JOIN runs ON runs.id = run_commands.run \
                   WHERE runs.server = $1 ORDER BY run_commands.number";
        let rows = self.db().urgent(sql).text(&server).fetch_all().await?;
        rows.iter()
            .map(|row| Ok((row.get("number")?, row.id("run")?, row.get("command")?)))
            .collect()
    }

    /// Publishes to other servers that a run waits for input: `seq` is the last event that changed its pending input, 0
    /// if it waits for none. Does nothing if the database is not shared.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn note_waiting(&self, run: RunId, seq: u64) -> Result<(), StoreError> {
        if !self.is_shared() {
            return Ok(());
        }
        let sql = "UPDATE runs SET waiting_seq = $2 WHERE id = $1 AND finished_at IS NULL";
        self.db()
            .write(sql)
            .id(run)
            .number(seq)
            .execute()
            .await
            .map(drop)
    }

    /// The runs of these accounts, on any server, that are running, or finished on another server after this time.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn active_runs(
        &self,
        owners: &[UserId],
        finished_after: i64,
    ) -> Result<Vec<ActiveRun>, StoreError> {
        let mut runs = Vec::new();
        for owners in owners.chunks(OWNERS_AT_ONCE) {
            runs.extend(self.active_runs_of(owners, finished_after).await?);
        }
        Ok(runs)
    }

    async fn active_runs_of(
        &self,
        owners: &[UserId],
        finished_after: i64,
    ) -> Result<Vec<ActiveRun>, StoreError> {
        let places: Vec<String> = (3..owners.len() + 3).map(|at| format!("${at}")).collect();
        let places = places.join(", ");
        // Two searches, each with its index.
        let which = |condition: &str| {
            format!(
                "SELECT runs.id, runs.owner, runs.api_key, runs.person, runs.chat, \
                 COALESCE(chats.title, '') AS title, waiting_seq, finished_at, started_at FROM runs \
                 LEFT JOIN chats ON chats.id = runs.chat WHERE {condition} AND runs.owner IN ({places})"
            )
        };
        let sql = format!(
            "{} UNION ALL {} ORDER BY started_at, id",
            which("finished_at IS NULL"),
            which("finished_at > $1 AND runs.server IS DISTINCT FROM $2")
        );
        let server = self.db().lease_holder()?.unwrap_or_default();
        let query = self.db().built(sql).bind(finished_after);
        let mut query = query.text(&server);
        for owner in owners {
            query = query.id(owner);
        }
        query
            .fetch_all()
            .await?
            .iter()
            .map(ActiveRun::read)
            .collect()
    }

    /// Deletes a command.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn forget_command(&self, number: i64) -> Result<(), StoreError> {
        self.db()
            .urgent("DELETE FROM run_commands WHERE number = $1")
            .bind(number)
            .execute()
            .await
            .map(drop)
    }
}

pub(crate) fn millis(length: Duration) -> i64 {
    i64::try_from(length.as_millis()).unwrap_or(i64::MAX)
}
