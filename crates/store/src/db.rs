//! The connections to SQLite or PostgreSQL: opening, migrating, and where reads and writes go.

use std::{fmt::Write as _, path::PathBuf, str::FromStr};

use sqlx::{
    AssertSqlSafe, Connection, PgConnection, Postgres, Sqlite,
    postgres::PgConnectOptions,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};

use crate::{
    StoreError,
    backup::{before_migrating, create_private},
    leases::LeaseHolder,
    migrations::{self, Dialect},
    pool::{Location, Pool, TIMEOUT},
    query::{On, Query, Tx},
    repair::{repair_postgres, repair_sqlite},
    transaction::Transaction,
};

const SQLITE_READERS: u32 = 4;
const POSTGRES_CONNECTIONS: u32 = 10;
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
    /// With the server on whose behalf runs are started and written.
    Postgres(Pool<Postgres>, LeaseHolder),
}

impl Db {
    pub(crate) async fn open(url: &str) -> Result<Self, StoreError> {
        Self::open_at(url, i64::MAX).await
    }

    /// The same, migrated only up to that number.
    pub(crate) async fn open_at(url: &str, until: i64) -> Result<Self, StoreError> {
        if url.starts_with("postgres:") || url.starts_with("postgresql:") {
            Self::open_postgres(PgConnectOptions::from_str(url)?, until).await
        } else if url.starts_with("sqlite:") {
            let in_memory = url.contains(":memory:") || url.contains("mode=memory");
            Self::open_sqlite(SqliteConnectOptions::from_str(url)?, in_memory, until).await
        } else {
            let cause = "the database URL must begin with sqlite: or postgres:";
            Err(StoreError::Unavailable(cause.to_owned()))
        }
    }

    async fn open_sqlite(
        options: SqliteConnectOptions,
        in_memory: bool,
        until: i64,
    ) -> Result<Self, StoreError> {
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
        let write = Pool::new(Location::Here, writing, 1);
        let mut writer = write.acquire().await?;
        if !in_memory {
            before_migrating(
                writer.connection()?,
                options.get_filename(),
                migrations::newest(),
            )
            .await?;
        }
        migrations::migrator(Dialect::Sqlite, until)
            .run_direct(None, writer.connection()?, false)
            .await?;
        if until >= migrations::newest() {
            repair_sqlite(writer.connection()?).await?;
        }
        drop(writer);
        let read = match in_memory {
            true => write.clone(),
            false => Pool::new(Location::Here, options.read_only(true), SQLITE_READERS),
        };
        Ok(Self::Sqlite { read, write, log })
    }

    async fn open_postgres(options: PgConnectOptions, until: i64) -> Result<Self, StoreError> {
        let options = options.application_name("glasshouse");
        // Not through the pool: it would retry for a while and then report only a timeout.
        let mut connection = PgConnection::connect_with(&options).await?;
        migrations::migrator(Dialect::Postgres, until)
            .run_direct(None, &mut connection, false)
            .await?;
        if until >= migrations::newest() {
            repair_postgres(&mut connection).await?;
        }
        connection.close().await?;
        let pool = Pool::new(Location::Server, options, POSTGRES_CONNECTIONS);
        Ok(Self::Postgres(pool, LeaseHolder::default()))
    }

    /// The same database for the writer task, which has a separate connection on PostgreSQL.
    pub(crate) fn for_writer(&self) -> Self {
        match self {
            Self::Sqlite { .. } => self.clone(),
            Self::Postgres(pool, lease_holder) => {
                let pool = Pool::new(Location::Server, pool.options().clone(), 1);
                Self::Postgres(pool, lease_holder.clone())
            }
        }
    }

    /// The server that holds a lease here; `None` if none is needed.
    ///
    /// # Errors
    /// `NotOurs` between two leases.
    pub(crate) fn lease_holder(&self) -> Result<Option<String>, StoreError> {
        match self {
            Self::Sqlite { .. } => Ok(None),
            Self::Postgres(_, lease_holder) => lease_holder.get(),
        }
    }

    /// A read-only statement.
    pub(crate) fn read(&self, sql: &'static str) -> Query<'_> {
        match self {
            Self::Sqlite { read, .. } => Query::Sqlite(sqlx::query(sql), On::Any(read)),
            Self::Postgres(pool, _) => Query::Postgres(sqlx::query(sql), On::Any(pool)),
        }
    }

    /// A statement that is a transaction by itself.
    pub(crate) fn write(&self, sql: &'static str) -> Query<'_> {
        match self {
            Self::Sqlite { write, .. } => Query::Sqlite(sqlx::query(sql), On::Any(write)),
            Self::Postgres(pool, _) => Query::Postgres(sqlx::query(sql), On::Any(pool)),
        }
    }

    /// A statement that is a transaction by itself, with SQL built from constant pieces and placeholders.
    pub(crate) fn built(&self, sql: String) -> Query<'_> {
        // Keeping a long one prepared would evict the others from the connection's cache.
        let keep = sql.len() < MAX_KEPT_SQL_BYTES;
        let sql = AssertSqlSafe(sql);
        match self {
            Self::Sqlite { write, .. } => {
                Query::Sqlite(sqlx::query(sql).persistent(keep), On::Any(write))
            }
            Self::Postgres(pool, _) => {
                Query::Postgres(sqlx::query(sql).persistent(keep), On::Any(pool))
            }
        }
    }

    /// A read-only statement, with SQL built from constant pieces and placeholders.
    pub(crate) fn built_to_read(&self, sql: String) -> Query<'_> {
        let keep = sql.len() < MAX_KEPT_SQL_BYTES;
        let sql = AssertSqlSafe(sql);
        match self {
            Self::Sqlite { read, .. } => {
                Query::Sqlite(sqlx::query(sql).persistent(keep), On::Any(read))
            }
            Self::Postgres(pool, _) => {
                Query::Postgres(sqlx::query(sql).persistent(keep), On::Any(pool))
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
                Self::Postgres(..) => _ = write!(sql, "${}", value + 1),
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
            Self::Postgres(pool, _) => Tx::Postgres(Transaction::begin(pool, "BEGIN").await?),
        })
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite { read, write, .. } => {
                read.close().await;
                // Last, so that it checkpoints the write-ahead log.
                write.close().await;
            }
            Self::Postgres(pool, _) => pool.close().await,
        }
    }
}
