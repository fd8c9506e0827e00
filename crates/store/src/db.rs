//! The connections to SQLite or PostgreSQL: opening, migrating, and where reads and writes go.

use std::{fmt::Write as _, path::PathBuf, str::FromStr};

use sqlx::{
    AssertSqlSafe, Connection, PgConnection, Postgres, Sqlite,
    migrate::{Migration, MigrationType, Migrator},
    postgres::PgConnectOptions,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};

use crate::{
    StoreError,
    backup::before_migrating,
    lanes::{Lanes, PATIENCE, Place},
    leases::Lessee,
    query::{On, Query, Tx},
    transaction::Transaction,
};

const SQLITE_READERS: u32 = 4;
const POSTGRES_CONNECTIONS: u32 = 10;
/// 8 MB, negative because it is in kilobytes: a batch for 256 runs touches as many index pages, and SQLite's
/// 2 MB would spill them to the disk before the commit.
const WRITER_CACHE: &str = "-8000";
/// Copying the write-ahead log into the database every 16 MB rather than every 4 MB. All who write wait meanwhile,
/// the longer the more there is to copy: 16 MB take some 40 ms, 64 MB more than 100 ms.
const CHECKPOINT_PAGES: &str = "4000";
/// A longer made-up statement is not kept prepared.
const MAX_KEPT_SQL_BYTES: usize = 300;

/// One of the two databases.
#[derive(Debug, Clone)]
pub(crate) enum Db {
    /// SQLite has one writer at a time, so one connection writes and callers queue for it here, where
    /// waiting costs nothing. In memory `read` is the same single connection.
    Sqlite {
        read: Lanes<Sqlite>,
        write: Lanes<Sqlite>,
        /// The file of the write-ahead log; nothing in memory.
        log: Option<PathBuf>,
    },
    /// With the server on whose behalf runs are begun and written.
    Postgres(Lanes<Postgres>, Lessee),
}

impl Db {
    pub(crate) async fn open(url: &str) -> Result<Self, StoreError> {
        Self::open_at(url, usize::MAX).await
    }

    /// The same with the first `steps` of the schema only, as an earlier version had it.
    pub(crate) async fn open_at(url: &str, steps: usize) -> Result<Self, StoreError> {
        if url.starts_with("postgres:") || url.starts_with("postgresql:") {
            Self::open_postgres(PgConnectOptions::from_str(url)?, steps).await
        } else if url.starts_with("sqlite:") {
            let in_memory = url.contains(":memory:") || url.contains("mode=memory");
            Self::open_sqlite(SqliteConnectOptions::from_str(url)?, in_memory, steps).await
        } else {
            let cause = "the database URL must begin with sqlite: or postgres:";
            Err(StoreError::Unavailable(cause.to_owned()))
        }
    }

    async fn open_sqlite(
        options: SqliteConnectOptions,
        in_memory: bool,
        steps: usize,
    ) -> Result<Self, StoreError> {
        let options = options.foreign_keys(true).busy_timeout(PATIENCE);
        let writing = options
            .clone()
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .pragma("cache_size", WRITER_CACHE)
            .pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
            .synchronous(SqliteSynchronous::Normal);
        let log = (!in_memory).then(|| {
            let mut path = options.get_filename().as_os_str().to_owned();
            path.push("-wal");
            PathBuf::from(path)
        });
        let write = Lanes::new(Place::Here, writing, 1);
        let migrations = [
            ("first", include_str!("../migrations/sqlite/0001_first.sql")),
            ("run inputs", include_str!("../migrations/sqlite/0002_run_inputs.sql")),
            ("runs have numbers", include_str!("../migrations/sqlite/0003_runs_have_numbers.sql")),
            ("trusted connections", include_str!("../migrations/sqlite/0004_trusted_connections.sql")),
            ("runs go on", include_str!("../migrations/sqlite/0005_runs_go_on.sql")),
            ("allowed calls", include_str!("../migrations/sqlite/0006_allowed_calls.sql")),
            ("past of files", include_str!("../migrations/sqlite/0007_past_of_files.sql")),
            ("agents", include_str!("../migrations/sqlite/0008_agents.sql")),
            ("memories", include_str!("../migrations/sqlite/0009_memories.sql")),
            ("idempotency keys", include_str!("../migrations/sqlite/0010_idempotency_keys.sql")),
            ("leases", include_str!("../migrations/sqlite/0011_leases.sql")),
            ("directories of chats", include_str!("../migrations/sqlite/0012_directories_of_chats.sql")),
            ("mcp sign-ins", include_str!("../migrations/sqlite/0013_mcp_sign_ins.sql")),
            ("schedules", include_str!("../migrations/sqlite/0014_schedules.sql")),
            ("suspended accounts", include_str!("../migrations/sqlite/0015_suspended_accounts.sql")),
            ("usage", include_str!("../migrations/sqlite/0016_usage.sql")),
            ("webhooks", include_str!("../migrations/sqlite/0017_webhooks.sql")),
            ("origins of runs", include_str!("../migrations/sqlite/0018_origins_of_runs.sql")),
            ("runs that wait", include_str!("../migrations/sqlite/0019_runs_that_wait.sql")),
            ("identities", include_str!("../migrations/sqlite/0020_identities.sql")),
            ("seen sessions", include_str!("../migrations/sqlite/0021_seen_sessions.sql")),
            ("links to get in", include_str!("../migrations/sqlite/0022_links_to_get_in.sql")),
            ("connection keys", include_str!("../migrations/sqlite/0023_connection_keys.sql")),
            ("audit", include_str!("../migrations/sqlite/0024_audit.sql")),
            ("second factors", include_str!("../migrations/sqlite/0025_second_factors.sql")),
            ("shared chats", include_str!("../migrations/sqlite/0026_shared_chats.sql")),
            ("ended secrets", include_str!("../migrations/sqlite/0027_ended_secrets.sql")),
            ("groups", include_str!("../migrations/sqlite/0028_groups.sql")),
            ("passkeys", include_str!("../migrations/sqlite/0029_passkeys.sql")),
            ("knowledge", include_str!("../migrations/sqlite/0030_knowledge.sql")),
            ("meanings", include_str!("../migrations/sqlite/0031_meanings.sql")),
            ("web", include_str!("../migrations/sqlite/0032_web.sql")),
            ("attached files", include_str!("../migrations/sqlite/0033_attached_files.sql")),
            ("graph", include_str!("../migrations/sqlite/0034_graph.sql")),
            ("readers and pictures", include_str!("../migrations/sqlite/0040_readers_and_pictures.sql")),
            ("research", include_str!("../migrations/sqlite/0039_research.sql")),
        ];
        let mut writer = write.acquire().await?;
        if !in_memory {
            let newest = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
            before_migrating(writer.connection()?, options.get_filename(), newest).await?;
        }
        migrator(migrations, steps).run_direct(None, writer.connection()?, false).await?;
        drop(writer);
        let read = match in_memory {
            true => write.clone(),
            false => Lanes::new(Place::Here, options.read_only(true), SQLITE_READERS),
        };
        Ok(Self::Sqlite { read, write, log })
    }

    async fn open_postgres(options: PgConnectOptions, steps: usize) -> Result<Self, StoreError> {
        let options = options.application_name("glasshouse");
        // Not through the pool: it would try for a while and then tell no more than that it has waited.
        let mut connection = PgConnection::connect_with(&options).await?;
        let migrations = [
            ("first", include_str!("../migrations/postgres/0001_first.sql")),
            ("run inputs", include_str!("../migrations/postgres/0002_run_inputs.sql")),
            ("runs have numbers", include_str!("../migrations/postgres/0003_runs_have_numbers.sql")),
            ("trusted connections", include_str!("../migrations/postgres/0004_trusted_connections.sql")),
            ("runs go on", include_str!("../migrations/postgres/0005_runs_go_on.sql")),
            ("allowed calls", include_str!("../migrations/postgres/0006_allowed_calls.sql")),
            ("past of files", include_str!("../migrations/postgres/0007_past_of_files.sql")),
            ("agents", include_str!("../migrations/postgres/0008_agents.sql")),
            ("memories", include_str!("../migrations/postgres/0009_memories.sql")),
            ("idempotency keys", include_str!("../migrations/postgres/0010_idempotency_keys.sql")),
            ("leases", include_str!("../migrations/postgres/0011_leases.sql")),
            ("directories of chats", include_str!("../migrations/postgres/0012_directories_of_chats.sql")),
            ("mcp sign-ins", include_str!("../migrations/postgres/0013_mcp_sign_ins.sql")),
            ("schedules", include_str!("../migrations/postgres/0014_schedules.sql")),
            ("suspended accounts", include_str!("../migrations/postgres/0015_suspended_accounts.sql")),
            ("usage", include_str!("../migrations/postgres/0016_usage.sql")),
            ("webhooks", include_str!("../migrations/postgres/0017_webhooks.sql")),
            ("origins of runs", include_str!("../migrations/postgres/0018_origins_of_runs.sql")),
            ("runs that wait", include_str!("../migrations/postgres/0019_runs_that_wait.sql")),
            ("identities", include_str!("../migrations/postgres/0020_identities.sql")),
            ("seen sessions", include_str!("../migrations/postgres/0021_seen_sessions.sql")),
            ("links to get in", include_str!("../migrations/postgres/0022_links_to_get_in.sql")),
            ("connection keys", include_str!("../migrations/postgres/0023_connection_keys.sql")),
            ("audit", include_str!("../migrations/postgres/0024_audit.sql")),
            ("second factors", include_str!("../migrations/postgres/0025_second_factors.sql")),
            ("shared chats", include_str!("../migrations/postgres/0026_shared_chats.sql")),
            ("ended secrets", include_str!("../migrations/postgres/0027_ended_secrets.sql")),
            ("groups", include_str!("../migrations/postgres/0028_groups.sql")),
            ("passkeys", include_str!("../migrations/postgres/0029_passkeys.sql")),
            ("knowledge", include_str!("../migrations/postgres/0030_knowledge.sql")),
            ("meanings", include_str!("../migrations/postgres/0031_meanings.sql")),
            ("web", include_str!("../migrations/postgres/0032_web.sql")),
            ("attached files", include_str!("../migrations/postgres/0033_attached_files.sql")),
            ("graph", include_str!("../migrations/postgres/0034_graph.sql")),
            ("readers and pictures", include_str!("../migrations/postgres/0040_readers_and_pictures.sql")),
            ("research", include_str!("../migrations/postgres/0039_research.sql")),
        ];
        migrator(migrations, steps).run_direct(None, &mut connection, false).await?;
        connection.close().await?;
        let lanes = Lanes::new(Place::Server, options, POSTGRES_CONNECTIONS);
        Ok(Self::Postgres(lanes, Lessee::default()))
    }

    /// The same database for the writer task, which on PostgreSQL has a connection of its own.
    pub(crate) fn for_writer(&self) -> Self {
        match self {
            Self::Sqlite { .. } => self.clone(),
            Self::Postgres(lanes, lessee) => {
                let lanes = Lanes::new(Place::Server, lanes.options().clone(), 1);
                Self::Postgres(lanes, lessee.clone())
            }
        }
    }

    /// The server that has a lease here; nothing where none is needed.
    ///
    /// # Errors
    /// `NotOurs` between two leases.
    pub(crate) fn lessee(&self) -> Result<Option<String>, StoreError> {
        match self {
            Self::Sqlite { .. } => Ok(None),
            Self::Postgres(_, lessee) => lessee.get(),
        }
    }

    /// A statement that changes nothing.
    pub(crate) fn read(&self, sql: &'static str) -> Query<'_> {
        match self {
            Self::Sqlite { read, .. } => Query::Sqlite(sqlx::query(sql), On::Any(read)),
            Self::Postgres(lanes, _) => Query::Postgres(sqlx::query(sql), On::Any(lanes)),
        }
    }

    /// A statement that is a transaction of its own.
    pub(crate) fn write(&self, sql: &'static str) -> Query<'_> {
        match self {
            Self::Sqlite { write, .. } => Query::Sqlite(sqlx::query(sql), On::Any(write)),
            Self::Postgres(lanes, _) => Query::Postgres(sqlx::query(sql), On::Any(lanes)),
        }
    }

    /// A statement that is a transaction of its own, its text made here of constant pieces and placeholders.
    pub(crate) fn built(&self, sql: String) -> Query<'_> {
        // Keeping a long one prepared would push the others out of the connection's cache.
        let keep = sql.len() < MAX_KEPT_SQL_BYTES;
        let sql = AssertSqlSafe(sql);
        match self {
            Self::Sqlite { write, .. } => Query::Sqlite(sqlx::query(sql).persistent(keep), On::Any(write)),
            Self::Postgres(lanes, _) => Query::Postgres(sqlx::query(sql).persistent(keep), On::Any(lanes)),
        }
    }

    /// Adds `($1,$2), ($3,$4)` and so on, or `(?,?), (?,?)` for SQLite, which compares each name with all
    /// before it.
    pub(crate) fn push_rows(&self, sql: &mut String, rows: usize, columns: usize) {
        for value in 0..rows * columns {
            sql.push_str(match (value, value % columns) {
                (0, _) => "(",
                (_, 0) => "), (",
                _ => ",",
            });
            match self {
                Self::Sqlite { .. } => sql.push('?'),
                // Writing to a String does not fail.
                Self::Postgres(..) => _ = write!(sql, "${}", value + 1),
            }
        }
        sql.push(')');
    }

    /// A transaction that may write; dropping it undoes everything.
    pub(crate) async fn begin(&self) -> Result<Tx, StoreError> {
        Ok(match self {
            // Taking SQLite's write lock at once: taking it later may fail half-way.
            Self::Sqlite { write, .. } => Tx::Sqlite(Transaction::begin(write, "BEGIN IMMEDIATE").await?),
            Self::Postgres(lanes, _) => Tx::Postgres(Transaction::begin(lanes, "BEGIN").await?),
        })
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite { read, write, .. } => {
                read.close().await;
                // Last, so that it is the one to fold the write-ahead log into the file.
                write.close().await;
            }
            Self::Postgres(lanes, _) => lanes.close().await,
        }
    }
}

/// The steps to today's schema, in order: a step that has been released never changes.
fn migrator<const COUNT: usize>(all: [(&'static str, &'static str); COUNT], steps: usize) -> Migrator {
    let numbered = all.into_iter().take(steps).zip(1..).map(|((name, sql), number)| {
        let sql = sqlx::SqlSafeStr::into_sql_str(sql);
        Migration::new(number, name.into(), MigrationType::Simple, sql, false)
    });
    Migrator::with_migrations(numbered.collect())
}
