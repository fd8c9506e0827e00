//! A small connection pool.
//!
//! `sqlx` has a pool, but it pings each connection on return: two more thread switches for an SQLite statement, one
//! more round trip with PostgreSQL, and the next caller waits for it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sqlx::{Connection, Database, Error};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout},
};

/// Timeout for a free connection, for opening one, and for a ping.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);
/// A server connection that has been idle for longer is pinged before use.
const MAX_UNCHECKED_IDLE: Duration = Duration::from_secs(1);

type OptionsOf<DB> = <<DB as Database>::Connection as Connection>::Options;

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
    options: OptionsOf<DB>,
    location: Location,
    max: u32,
    idle: Mutex<Vec<(DB::Connection, Instant)>>,
    free: Arc<Semaphore>,
}

/// A borrowed connection; dropping it returns it.
pub(crate) struct PooledConnection<DB: Database> {
    /// `None` once it was moved or returned.
    held: Option<(DB::Connection, OwnedSemaphorePermit)>,
    pool: Pool<DB>,
    is_sound: bool,
}

impl<DB: Database> Pool<DB> {
    /// A pool of at most `max` connections, opened on demand.
    pub(crate) fn new(location: Location, options: OptionsOf<DB>, max: u32) -> Self {
        let free = Arc::new(Semaphore::new(max as usize));
        Self(Arc::new(Shared {
            options,
            location,
            max,
            idle: Mutex::default(),
            free,
        }))
    }

    /// The connection options.
    pub(crate) fn options(&self) -> &OptionsOf<DB> {
        &self.0.options
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
            None => timeout(TIMEOUT, DB::Connection::connect_with(&self.0.options))
                .await
                .map_err(|_| Error::PoolTimedOut)??,
        };
        Ok(PooledConnection {
            held: Some((connection, permit)),
            pool: self.clone(),
            is_sound: true,
        })
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
    /// The connection for one statement, whose outcome is then passed to [`Self::note`]. A connection that is dropped
    /// in the middle of a statement counts as broken.
    pub(crate) fn connection(&mut self) -> Result<&mut DB::Connection, Error> {
        self.is_sound = self.pool.0.location == Location::Here;
        self.held
            .as_mut()
            .map(|(connection, _)| connection)
            .ok_or(Error::PoolClosed)
    }

    /// Records the outcome of a statement.
    pub(crate) fn note<T>(&mut self, outcome: Result<T, Error>) -> Result<T, Error> {
        use Error::{Io, Protocol, Tls, WorkerCrashed};
        self.is_sound = !matches!(outcome, Err(Io(_) | Protocol(_) | Tls(_) | WorkerCrashed));
        outcome
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
        f.debug_struct("Lanes")
            .field("place", &self.0.location)
            .field("most", &self.0.max)
            .finish_non_exhaustive()
    }
}
