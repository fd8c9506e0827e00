//! Leases: which servers on one PostgreSQL are alive. A run is its server's until that has said nothing for as long as its
//! lease is; then another may take the run, and the first can write no log any more.
//!
//! A lease is one row for each server, whatever it runs. Times are by the database's clock, which all servers share.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::{ChatId, RunId};

use crate::{Principal, Run, Store, StoreError, db::Db, query::Row};

/// The server that has the lease, for all who write on its behalf.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lessee(Arc<Mutex<Lease>>);

#[derive(Debug, Clone, Default)]
enum Lease {
    /// None was asked for: whoever has opened the database starts no runs, or is the only one.
    #[default]
    NotNeeded,
    /// The server's id.
    Held(String),
    /// There was one, and others may have our runs.
    Lost,
}

impl Lessee {
    /// The server's id, where it has or had a lease.
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

/// A run that has not ended, as the servers that do not have it see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoingRun {
    /// Its id.
    pub id: RunId,
    /// Who began it.
    pub principal: Principal,
    /// Its chat, if any.
    pub chat: Option<ChatId>,
    /// The chat's title.
    pub title: String,
    /// The last event that has changed for what it waits; 0 where it waits for nobody.
    pub waiting_seq: u64,
}

impl GoingRun {
    fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id("id")?,
            principal: Principal::read(row)?,
            chat: row.optional_id("chat")?,
            title: row.get("title")?,
            waiting_seq: row.number("waiting_seq")?,
        })
    }
}

/// The database's time, milliseconds since 1970.
const NOW: &str = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";

impl Store {
    /// Whether several servers may work on this database.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        matches!(self.db(), Db::Postgres(..))
    }

    /// Begins a lease for a server that nobody has known before. From then on runs that begin are its own, and logs are
    /// written only as long as nobody has found the lease expired. Where nobody shares the database, this does nothing.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn take_lease(&self, server: &str, length: Duration) -> Result<(), StoreError> {
        let Db::Postgres(_, lessee) = self.db() else {
            return Ok(());
        };
        let sql = format!("INSERT INTO servers (id, alive_until) VALUES ($1, {NOW} + $2)");
        self.db()
            .built(sql)
            .text(server)
            .bind(millis(length))
            .execute()
            .await?;
        *lessee.lock() = Lease::Held(server.to_owned());
        Ok(())
    }

    /// Makes the lease `length` long again. Whether it still was there: where not, others have the runs.
    ///
    /// # Errors
    /// Only those of the database; then the lease may have been renewed or not.
    pub async fn renew_lease(&self, length: Duration) -> Result<bool, StoreError> {
        let Some(server) = self.db().lessee()? else {
            return Ok(true);
        };
        let sql = format!("UPDATE servers SET alive_until = {NOW} + $2 WHERE id = $1");
        let renewed = self
            .db()
            .built(sql)
            .text(&server)
            .bind(millis(length))
            .execute()
            .await?;
        Ok(renewed == 1)
    }

    /// Ends the lease, so that others need not wait. No run begins and nothing comes into a log until there is another.
    ///
    /// # Errors
    /// Only those of the database; then it ends when it expires.
    pub async fn give_up_lease(&self) -> Result<(), StoreError> {
        let Db::Postgres(_, lessee) = self.db() else {
            return Ok(());
        };
        let held = std::mem::replace(&mut *lessee.lock(), Lease::Lost);
        let Lease::Held(server) = held else {
            return Ok(());
        };
        self.db()
            .write("DELETE FROM servers WHERE id = $1")
            .text(&server)
            .execute()
            .await
            .map(drop)
    }

    /// Makes the runs ours that have not ended and whose servers are gone, and tells which these are. Where nobody shares
    /// the database, those are all.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn take_left_runs(&self) -> Result<Vec<Run>, StoreError> {
        let Some(server) = self.db().lessee()? else {
            return self.unfinished_runs().await;
        };
        // Appends hold this row while they write, so that nothing comes into a log once it is gone.
        let sql = format!("DELETE FROM servers WHERE alive_until < {NOW}");
        self.db().built(sql).execute().await?;
        let sql = "UPDATE runs SET server = $1 WHERE finished_at IS NULL AND (server IS NULL OR server NOT IN \
                   (SELECT id FROM servers)) RETURNING id";
        let rows = self.db().write(sql).text(&server).fetch_all().await?;
        let mut runs = Vec::with_capacity(rows.len());
        for row in &rows {
            runs.push(self.run(row.id("id")?).await?);
        }
        runs.sort_by_key(|run| (run.started_at, run.id.to_string()));
        Ok(runs)
    }

    /// Whether the run is ours to work on.
    ///
    /// # Errors
    /// `NotFound`, and `NotOurs` between two leases.
    pub async fn is_ours(&self, run: RunId) -> Result<bool, StoreError> {
        let Some(server) = self.db().lessee()? else {
            return Ok(true);
        };
        let row = self
            .db()
            .read("SELECT server FROM runs WHERE id = $1")
            .id(run)
            .fetch_one()
            .await?;
        Ok(row.get::<Option<String>>("server")? == Some(server))
    }

    /// Our runs that began before that and have not ended.
    ///
    /// # Errors
    /// `NotOurs` between two leases.
    pub async fn our_runs(&self, began_before: i64) -> Result<Vec<RunId>, StoreError> {
        let Some(server) = self.db().lessee()? else {
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

    /// Writes a run's row without changing it: whether the database takes what is written.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn try_writing(&self, run: RunId) -> Result<(), StoreError> {
        self.db()
            .write("UPDATE runs SET server = server WHERE id = $1")
            .id(run)
            .execute()
            .await
            .map(drop)
    }

    /// Leaves a message for the server whose run this is.
    ///
    /// # Errors
    /// `NotFound` where there is no such run.
    pub async fn leave_command(&self, run: RunId, command: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO run_commands (run, command) VALUES ($1, $2)";
        self.db()
            .write(sql)
            .id(run)
            .text(command)
            .execute()
            .await
            .map(drop)
    }

    /// The messages for our runs, oldest first.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn commands_for_us(&self) -> Result<Vec<(i64, RunId, String)>, StoreError> {
        let Some(server) = self.db().lessee()? else {
            return Ok(Vec::new());
        };
        let sql = "SELECT run_commands.number, run, command FROM run_commands JOIN runs ON runs.id = run_commands.run \
                   WHERE runs.server = $1 ORDER BY run_commands.number";
        let rows = self.db().read(sql).text(&server).fetch_all().await?;
        rows.iter()
            .map(|row| Ok((row.get("number")?, row.id("run")?, row.get("command")?)))
            .collect()
    }

    /// Notes for other servers that a run waits for people: `seq` is that of the last event that changed for what, 0 where
    /// it waits for nobody. Where nobody shares the database, this does nothing.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// All runs that have not ended, whichever server has them.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn going_anywhere(&self) -> Result<Vec<GoingRun>, StoreError> {
        let sql = "SELECT runs.id, runs.owner, runs.api_key, runs.person, runs.chat, \
                   COALESCE(chats.title, '') AS title, waiting_seq FROM runs \
                   LEFT JOIN chats ON chats.id = runs.chat WHERE finished_at IS NULL ORDER BY started_at, runs.id";
        self.db()
            .read(sql)
            .fetch_all()
            .await?
            .iter()
            .map(GoingRun::read)
            .collect()
    }

    /// Forgets a message.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn forget_command(&self, number: i64) -> Result<(), StoreError> {
        self.db()
            .write("DELETE FROM run_commands WHERE number = $1")
            .bind(number)
            .execute()
            .await
            .map(drop)
    }
}

fn millis(length: Duration) -> i64 {
    i64::try_from(length.as_millis()).unwrap_or(i64::MAX)
}
