//! The connections to SQLite or PostgreSQL: opening, migrating, and where reads and writes go.

use std::{fmt::Write as _, path::PathBuf, str::FromStr, time::Duration};

use futures_util::{FutureExt, future::BoxFuture};
use sqlx::{
    AssertSqlSafe, Connection, Database, Executor, PgConnection, Postgres, Sqlite,
    SqliteConnection,
    database::HasStatementCache,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};

use crate::{
    StoreError,
    backup::{before_migrating, create_private},
    leases::LeaseHolder,
    migrations,
    pool::{Pool, TIMEOUT},
    pooler,
    postgres_url::{Pooling, Servers},
    query::{On, Query, Tx},
    repair::{repair_postgres, repair_sqlite},
    schema::{self, Migrated, Migrating},
    transaction::Transaction,
};

const SQLITE_READERS: u32 = 4;
/// Connections to PostgreSQL for what cannot wait behind other statements: the lease, and commands to runs.
const URGENT_CONNECTIONS: u32 = 2;
/// How long PostgreSQL may take to answer a statement, an urgent one, and one of the writer.
const STATEMENT_LIMIT: Duration = Duration::from_secs(30);
const URGENT_LIMIT: Duration = Duration::from_secs(5);
const WRITER_LIMIT: Duration = Duration::from_secs(5);
/// How long a statement of the writer waits for a lock. Shorter than its limit, so that the database answers: a lock is
/// no reason to presume that the connection is dead.
const SET_WRITER_LOCK_TIMEOUT: &str = "SET lock_timeout = '3s'";
/// The same for each of its transactions, where a pooler gives each another session.
const BEGIN_WRITING: &str = "BEGIN; SET LOCAL lock_timeout = '3s'";
/// 8 MB, negative because it is in kilobytes: a batch for 256 runs touches as many index pages, and SQLite's
/// 2 MB would spill them to the disk before the commit.
const WRITER_CACHE: &str = "-8000";
/// Checkpoints the write-ahead log every 16 MB rather than every 4 MB. All writers wait meanwhile, depending on the
/// size: 16 MB take some 40 ms, 64 MB more than 100 ms.
const CHECKPOINT_PAGES: &str = "4000";
/// Longer generated statements are not kept prepared.
const MAX_KEPT_SQL_BYTES: usize = 300;

/// One of the two databases.
#[derive(Debug, Clone)]
pub(crate) enum Db {
    /// SQLite has one writer at a time, so one connection writes and callers queue for it here, where waiting is cheap.
    /// In memory `read` is the same single connection.
    Sqlite {
        read: Pool<Sqlite>,
        write: Pool<Sqlite>,
        /// The file of the write-ahead log; `None` in memory.
        log: Option<PathBuf>,
    },
    Postgres {
        servers: Servers,
        pool: Pool<Postgres>,
        urgent: Pool<Postgres>,
        /// The server on whose behalf runs are started and written.
        lease_holder: LeaseHolder,
    },
}

impl Db {
    /// On PostgreSQL with at most that many connections besides the urgent ones and that of the writer.
    pub(crate) async fn open(url: &str, connections: u32) -> Result<Self, StoreError> {
        Self::open_at(url, connections, i64::MAX).await
    }

    /// Opens a database whose schema has to be there.
    pub(crate) async fn open_migrated(url: &str, connections: u32) -> Result<Self, StoreError> {
        let (db, _) = Self::open_with(url, connections, Migrating::Never).await?;
        Ok(db)
    }

    /// The same, migrated only up to that number.
    pub(crate) async fn open_at(
        url: &str,
        connections: u32,
        until: i64,
    ) -> Result<Self, StoreError> {
        let (db, _) = Self::open_with(url, connections, Migrating::UpTo(until)).await?;
        Ok(db)
    }

    /// Opens it. Tells what became of the schema.
    pub(crate) async fn open_with(
        url: &str,
        connections: u32,
        migrating: Migrating,
    ) -> Result<(Self, Migrated), StoreError> {
        if url.starts_with("postgres:") || url.starts_with("postgresql:") {
            Self::open_postgres(Servers::of(url)?, connections, migrating).await
        } else if url.starts_with("sqlite:") {
            let in_memory = url.contains(":memory:") || url.contains("mode=memory");
            Self::open_sqlite(SqliteConnectOptions::from_str(url)?, in_memory, migrating).await
        } else {
            let cause = "the database URL must begin with sqlite: or postgres:";
            Err(StoreError::Unavailable(cause.to_owned()))
        }
    }

    async fn open_sqlite(
        options: SqliteConnectOptions,
        in_memory: bool,
        migrating: Migrating,
    ) -> Result<(Self, Migrated), StoreError> {
        let options = options.foreign_keys(true).busy_timeout(TIMEOUT);
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
        if !in_memory {
            create_private(options.get_filename());
        }
        let write = Pool::here(1, connecting(writing));
        let mut writer = write.acquire().await?;
        if !in_memory && migrating != Migrating::Never {
            before_migrating(
                writer.connection()?,
                options.get_filename(),
                migrations::newest(),
            )
            .await?;
        }
        let migrated = schema::bring_up(writer.connection()?, migrating).await?;
        if migrating.is_complete() {
            repair_sqlite(writer.connection()?).await?;
        }
        drop(writer);
        let read = match in_memory {
            true => write.clone(),
            false => Pool::here(SQLITE_READERS, connecting(options.read_only(true))),
        };
        Ok((Self::Sqlite { read, write, log }, migrated))
    }

    async fn open_postgres(
        servers: Servers,
        connections: u32,
        migrating: Migrating,
    ) -> Result<(Self, Migrated), StoreError> {
        // Not through the pool: it would retry for a while and then report only a timeout.
        let mut connection = servers.connect().await?;
        pooler::check(&servers, &mut connection).await?;
        // Migrations lock the database for as long as the session lasts.
        let migrating_here = match servers.pooling {
            Pooling::Session => migrating,
            Pooling::Transaction => Migrating::Never,
        };
        let migrated = schema::bring_up(&mut connection, migrating_here)
            .await
            .map_err(|error| match (error, servers.pooling) {
                (StoreError::Schema(text), Pooling::Transaction) => StoreError::Schema(format!(
                    "{text}, with a URL that leads to PostgreSQL itself or to a pooler in session mode"
                )),
                (error, _) => error,
            })?;
        if migrating.is_complete() {
            let mut tx = connection.begin().await?;
            repair_postgres(&mut tx).await?;
            tx.commit().await?;
        }
        connection.close().await?;
        let begin = match servers.pooling {
            Pooling::Session => None,
            Pooling::Transaction => Some("BEGIN"),
        };
        let pool = |most, limit| Pool::server(most, limit, begin, connecting_to(&servers));
        let db = Self::Postgres {
            pool: pool(connections, STATEMENT_LIMIT),
            urgent: pool(URGENT_CONNECTIONS, URGENT_LIMIT),
            servers,
            lease_holder: LeaseHolder::default(),
        };
        Ok((db, migrated))
    }

    /// Whether a pooler gives each transaction another session of PostgreSQL.
    pub(crate) fn is_pooled_by_transaction(&self) -> bool {
        match self {
            Self::Sqlite { .. } => false,
            Self::Postgres { servers, .. } => servers.pooling == Pooling::Transaction,
        }
    }

    /// The same database for the writer task, which has a separate connection on PostgreSQL.
    pub(crate) fn for_writer(&self) -> Self {
        match self {
            Self::Sqlite { .. } => self.clone(),
            Self::Postgres {
                servers,
                urgent,
                lease_holder,
                ..
            } => {
                let pool = match servers.pooling {
                    Pooling::Session => {
                        Pool::server(1, WRITER_LIMIT, None, connecting_to_write(servers))
                    }
                    Pooling::Transaction => {
                        Pool::server(1, WRITER_LIMIT, Some(BEGIN_WRITING), connecting_to(servers))
                    }
                };
                Self::Postgres {
                    pool,
                    urgent: urgent.clone(),
                    servers: servers.clone(),
                    lease_holder: lease_holder.clone(),
                }
            }
        }
    }

    /// For how long the database has not answered on these connections; zero if it answers.
    pub(crate) fn silent_for(&self) -> Duration {
        match self {
            Self::Sqlite { .. } => Duration::ZERO,
            Self::Postgres { pool, .. } => pool.silent_for(),
        }
    }

    /// The server that holds a lease here; `None` if none is needed.
    ///
    /// # Errors
    /// `NotOurs` between two leases.
    pub(crate) fn lease_holder(&self) -> Result<Option<String>, StoreError> {
        match self {
            Self::Sqlite { .. } => Ok(None),
            Self::Postgres { lease_holder, .. } => lease_holder.get(),
        }
    }

    /// A read-only statement.
    pub(crate) fn read(&self, sql: &'static str) -> Query<'_> {
        match self {
            Self::Sqlite { read, .. } => Query::Sqlite(sqlx::query(sql), On::any(read, sql)),
            Self::Postgres { pool, .. } => Query::Postgres(sqlx::query(sql), On::any(pool, sql)),
        }
    }

    /// A statement that is a transaction by itself.
    pub(crate) fn write(&self, sql: &'static str) -> Query<'_> {
        match self {
            Self::Sqlite { write, .. } => Query::Sqlite(sqlx::query(sql), On::any(write, sql)),
            Self::Postgres { pool, .. } => Query::Postgres(sqlx::query(sql), On::any(pool, sql)),
        }
    }

    /// Checks that the database answers.
    pub(crate) async fn ping(&self) -> Result<(), StoreError> {
        self.watch("SELECT 1").fetch_all().await.map(drop)
    }

    /// A read-only statement that does not wait behind others.
    pub(crate) fn watch(&self, sql: &'static str) -> Query<'_> {
        match self {
            Self::Sqlite { .. } => self.read(sql),
            Self::Postgres { .. } => self.urgent(sql),
        }
    }

    /// A statement that does not wait behind others, with SQL built from constant pieces and placeholders.
    pub(crate) fn urgent(&self, sql: impl Into<String>) -> Query<'_> {
        let sql = sql.into();
        match self {
            Self::Sqlite { write, .. } => {
                let on = On::any(write, &sql);
                Query::Sqlite(sqlx::query(AssertSqlSafe(sql)), on)
            }
            Self::Postgres { urgent, .. } => {
                let on = On::any(urgent, &sql);
                Query::Postgres(sqlx::query(AssertSqlSafe(sql)), on).within(URGENT_LIMIT)
            }
        }
    }

    /// A statement that is a transaction by itself, with SQL built from constant pieces and placeholders.
    pub(crate) fn built(&self, sql: String) -> Query<'_> {
        match self {
            Self::Sqlite { write, .. } => {
                let on = On::any(write, &sql);
                Query::Sqlite(generated(sql), on)
            }
            Self::Postgres { pool, .. } => {
                let on = On::any(pool, &sql);
                Query::Postgres(generated(sql), on)
            }
        }
    }

    /// A read-only statement, with SQL built from constant pieces and placeholders.
    pub(crate) fn built_to_read(&self, sql: String) -> Query<'_> {
        match self {
            Self::Sqlite { read, .. } => {
                let on = On::any(read, &sql);
                Query::Sqlite(generated(sql), on)
            }
            Self::Postgres { pool, .. } => {
                let on = On::any(pool, &sql);
                Query::Postgres(generated(sql), on)
            }
        }
    }

    /// Appends `($1,$2), ($3,$4)` and so on, or `(?,?), (?,?)` for SQLite, which compares each name with all before it.
    pub(crate) fn push_rows(&self, sql: &mut String, rows: usize, columns: usize) {
        for value in 0..rows * columns {
            sql.push_str(match (value, value % columns) {
                (0, _) => "(",
                (_, 0) => "), (",
                _ => ",",
            });
            match self {
                Self::Sqlite { .. } => sql.push('?'),
                // Writing to a String cannot fail.
                Self::Postgres { .. } => _ = write!(sql, "${}", value + 1),
            }
        }
        sql.push(')');
    }

    /// A read-write transaction; dropping it rolls back.
    pub(crate) async fn begin(&self) -> Result<Tx, StoreError> {
        Ok(match self {
            // Takes SQLite's write lock at once: taking it later may fail half-way.
            Self::Sqlite { write, .. } => {
                Tx::Sqlite(Transaction::begin(write, "BEGIN IMMEDIATE").await?)
            }
            Self::Postgres { pool, .. } => Tx::Postgres(Transaction::begin(pool, "BEGIN").await?),
        })
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite { read, write, .. } => {
                read.close().await;
                // Last, so that it checkpoints the write-ahead log.
                write.close().await;
            }
            Self::Postgres { pool, urgent, .. } => {
                pool.close().await;
                urgent.close().await;
            }
        }
    }
}

/// Keeping a long one prepared would evict the others from the connection's cache.
fn generated<DB: Database + HasStatementCache>(
    sql: String,
) -> sqlx::query::Query<'static, DB, DB::Arguments> {
    let keep = sql.len() < MAX_KEPT_SQL_BYTES;
    sqlx::query(AssertSqlSafe(sql)).persistent(keep)
}

fn connecting(
    options: SqliteConnectOptions,
) -> impl Fn() -> BoxFuture<'static, Result<SqliteConnection, sqlx::Error>> {
    move || {
        let options = options.clone();
        async move { SqliteConnection::connect_with(&options).await }.boxed()
    }
}

fn connecting_to(
    servers: &Servers,
) -> impl Fn() -> BoxFuture<'static, Result<PgConnection, sqlx::Error>> + 'static {
    let servers = servers.clone();
    move || {
        let servers = servers.clone();
        async move { servers.connect().await }.boxed()
    }
}

/// Not as a parameter of the connection, which PgBouncer refuses.
fn connecting_to_write(
    servers: &Servers,
) -> impl Fn() -> BoxFuture<'static, Result<PgConnection, sqlx::Error>> + 'static {
    let servers = servers.clone();
    move || {
        let servers = servers.clone();
        async move {
            let mut connection = servers.connect().await?;
            connection.execute(SET_WRITER_LOCK_TIMEOUT).await?;
            Ok(connection)
        }
        .boxed()
    }
}
