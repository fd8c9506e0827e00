//! A small connection pool, whose statements have a time limit where the database is behind a socket.
//!
//! `sqlx` has a pool, but it pings each connection on return: two more thread switches for an SQLite statement, one
//! more round trip with PostgreSQL, and the next caller waits for it.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use sqlx::{Connection, Database, Error};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout},
};

/// Timeout for a free connection, for opening one, and for a ping.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);
/// The least speed that is expected of a connection.
const BYTES_PER_SECOND: u64 = 1_000_000;
/// A server connection that has been idle for longer is pinged before use.
const MAX_UNCHECKED_IDLE: Duration = Duration::from_secs(1);

/// Opens a connection.
type Open<DB> = Box<dyn Fn() -> BoxFuture<'static, Opened<DB>> + Send + Sync>;
type Opened<DB> = Result<<DB as Database>::Connection, Error>;

/// The pool. Cheap to clone; clones share the connections.
pub(crate) struct Pool<DB: Database>(Arc<Shared<DB>>);

/// The location of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Location {
    /// In this process: a connection does not break, and may be the database itself.
    Here,
    /// Behind a socket: a connection with an unfinished statement is not reused.
    Server,
}

struct Shared<DB: Database> {
    open: Open<DB>,
    location: Location,
    max: u32,
    /// How long the database may take to answer a statement.
    limit: Duration,
    /// What begins each transaction, and one around each single statement, if a connection leads to another session for
    /// each transaction.
    begin: Option<&'static str>,
    idle: Mutex<Vec<(DB::Connection, Instant)>>,
    free: Arc<Semaphore>,
    /// Since when the database has not answered, on any connection.
    silent_since: Mutex<Option<Instant>>,
}

/// A borrowed connection; dropping it returns it.
pub(crate) struct PooledConnection<DB: Database> {
    /// `None` once it was moved or returned.
    held: Option<(DB::Connection, OwnedSemaphorePermit)>,
    pool: Pool<DB>,
    is_sound: bool,
}

impl<DB: Database> Pool<DB> {
    /// A pool of at most `max` connections to a database in this process, opened on demand.
    pub(crate) fn here<F>(max: u32, open: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Opened<DB>> + Send + 'static,
    {
        Self::new(Location::Here, max, Duration::MAX, None, open)
    }

    /// A pool of at most `max` connections to a database server, opened on demand. A statement that it does not answer
    /// within `limit` fails: a firewall or a failover may have swallowed the connection without a word. If a connection
    /// leads to another session for each transaction, `begin` begins one.
    pub(crate) fn server<F>(
        max: u32,
        limit: Duration,
        begin: Option<&'static str>,
        open: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Opened<DB>> + Send + 'static,
    {
        Self::new(Location::Server, max, limit, begin, open)
    }

    fn new<F>(
        location: Location,
        max: u32,
        limit: Duration,
        begin: Option<&'static str>,
        open: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Opened<DB>> + Send + 'static,
    {
        let free = Arc::new(Semaphore::new(max as usize));
        Self(Arc::new(Shared {
            open: Box::new(move || open().boxed()),
            location,
            max,
            limit,
            begin,
            idle: Mutex::default(),
            free,
            silent_since: Mutex::default(),
        }))
    }

    /// For how long the database has not answered: since the first statement or connection attempt that failed after
    /// the last answer. Zero if it answers.
    pub(crate) fn silent_for(&self) -> Duration {
        self.silent_since()
            .map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn silent_since(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.0
            .silent_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn note_answer(&self, is_answered: bool, asked: Instant) {
        let mut silent_since = self.silent_since();
        match is_answered {
            true => *silent_since = None,
            false => _ = silent_since.get_or_insert(asked),
        }
    }

    /// What begins a transaction, if the usual statement is not enough.
    pub(crate) fn begin(&self) -> Option<&'static str> {
        self.0.begin
    }

    /// Borrows a connection; waits for a free one.
    pub(crate) async fn acquire(&self) -> Result<PooledConnection<DB>, Error> {
        let free = Arc::clone(&self.0.free).acquire_owned();
        let permit = timeout(TIMEOUT, free)
            .await
            .map_err(|_| Error::PoolTimedOut)?;
        let permit = permit.map_err(|_| Error::PoolClosed)?;
        let connection = match self.take_idle().await {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        Ok(PooledConnection {
            held: Some((connection, permit)),
            pool: self.clone(),
            is_sound: true,
        })
    }

    async fn connect(&self) -> Result<DB::Connection, Error> {
        let asked = Instant::now();
        let opened = timeout(TIMEOUT, (self.0.open)())
            .await
            .unwrap_or_else(|_| Err(unanswered(TIMEOUT)));
        if let Err(error) = &opened {
            self.note_answer(is_answer(error), asked);
        }
        opened
    }

    /// Stops lending, waits for borrowed connections, and closes all.
    pub(crate) async fn close(&self) {
        // Earlier waiters are served first.
        let all = self.0.free.acquire_many(self.0.max).await;
        self.0.free.close();
        drop(all);
        let idle = std::mem::take(&mut *self.idle());
        for (connection, _) in idle {
            if let Err(error) = connection.close().await {
                tracing::debug!(%error, "failed to close a database connection");
            }
        }
    }

    /// The most recently used connection, so that others may age.
    async fn take_idle(&self) -> Option<DB::Connection> {
        loop {
            let (mut connection, since) = self.idle().pop()?;
            if self.0.location == Location::Here || since.elapsed() < MAX_UNCHECKED_IDLE {
                return Some(connection);
            }
            // The server may have been restarted; a connection that does not answer is dropped.
            if let Ok(Ok(())) = timeout(TIMEOUT, connection.ping()).await {
                return Some(connection);
            }
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<(DB::Connection, Instant)>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<DB: Database> PooledConnection<DB> {
    /// The connection for one statement, which then runs [`Self::within`] a limit. A connection that is dropped in the
    /// middle of a statement counts as broken.
    pub(crate) fn connection(&mut self) -> Result<&mut DB::Connection, Error> {
        self.is_sound = self.pool.0.location == Location::Here;
        self.held
            .as_mut()
            .map(|(connection, _)| connection)
            .ok_or(Error::PoolClosed)
    }

    /// The time limit of a statement with values of that many bytes, which may have a limit of its own; `None` if
    /// there is none.
    pub(crate) fn limit(&self, own: Option<Duration>, bytes: usize) -> Option<Duration> {
        let is_server = self.pool.0.location == Location::Server;
        let transfer = Duration::from_secs(bytes as u64 / BYTES_PER_SECOND);
        is_server.then(|| own.unwrap_or(self.pool.0.limit) + transfer)
    }

    /// Records the outcome of a statement that was sent at that time.
    pub(crate) fn note<T>(
        &mut self,
        asked: Option<Instant>,
        outcome: Result<T, Error>,
    ) -> Result<T, Error> {
        let is_answered = outcome.as_ref().map_or_else(is_answer, |_| true);
        self.is_sound = is_answered && !outcome.as_ref().is_err_and(is_from_standby);
        if let Some(asked) = asked {
            self.pool.note_answer(is_answered, asked);
        }
        outcome
    }

    /// What begins a transaction around a single statement, which must not be kept prepared; `None` if it needs none, as
    /// the connection is always the same session.
    pub(crate) fn begin(&self) -> Option<&'static str> {
        self.pool.0.begin
    }

    /// The location of the database.
    pub(crate) fn location(&self) -> Location {
        self.pool.0.location
    }

    /// Moves the connection to another holder.
    pub(crate) fn take(&mut self) -> Self {
        Self {
            held: self.held.take(),
            pool: self.pool.clone(),
            is_sound: self.is_sound,
        }
    }

    /// Closes the connection instead of returning it.
    pub(crate) fn discard(&mut self) {
        self.is_sound = false;
    }
}

/// The outcome of a statement, or an error once the limit has passed; also when it was sent, if it has a limit.
pub(crate) async fn within<T>(
    limit: Option<Duration>,
    statement: impl Future<Output = Result<T, Error>>,
) -> (Option<Instant>, Result<T, Error>) {
    let Some(limit) = limit else {
        return (None, statement.await);
    };
    let asked = Instant::now();
    let outcome = timeout(limit, statement)
        .await
        .unwrap_or_else(|_| Err(unanswered(limit)));
    (Some(asked), outcome)
}

fn unanswered(limit: Duration) -> Error {
    let seconds = limit.as_secs_f32();
    let message = format!("the database did not answer within {seconds} s");
    Error::Io(io::Error::new(io::ErrorKind::TimedOut, message))
}

/// Whether the database itself reported the error, rather than the connection.
fn is_answer(error: &Error) -> bool {
    use Error::{Io, Protocol, Tls, WorkerCrashed};
    !matches!(error, Io(_) | Protocol(_) | Tls(_) | WorkerCrashed)
}

/// PostgreSQL's `read_only_sql_transaction`: after a failover the connection may lead to the old primary.
fn is_from_standby(error: &Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.as_deref() == Some("25006")
}

impl<DB: Database> Drop for PooledConnection<DB> {
    fn drop(&mut self) {
        // The permit is released last, when the next caller can find the connection.
        if let Some((connection, _permit)) = self.held.take()
            && self.is_sound
        {
            self.pool.idle().push((connection, Instant::now()));
        }
    }
}

impl<DB: Database> Clone for Pool<DB> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<DB: Database> std::fmt::Debug for Pool<DB> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("location", &self.0.location)
            .field("max", &self.0.max)
            .finish_non_exhaustive()
    }
}
