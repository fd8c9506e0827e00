//! A few connections to one database, lent one at a time.
//!
//! `sqlx` has a pool, but that asks each connection for a sign of life when it comes back: two more changes of
//! thread for a statement of SQLite's, one more round trip with PostgreSQL, and the next caller waits for it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sqlx::{Connection, Database, Error};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout},
};

/// How long a caller waits for a free connection, for a new one, and for a sign of life.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// A connection to a server that has been idle for longer is asked for a sign of life before it is lent.
const TRUSTED_IDLE: Duration = Duration::from_secs(1);

type OptionsOf<DB> = <<DB as Database>::Connection as Connection>::Options;

/// The connections. Cloning is cheap; clones share them.
pub(crate) struct Lanes<DB: Database>(Arc<Shared<DB>>);

/// Where the database is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In this process: a connection does not break, and may be the database itself.
    Here,
    /// Behind a socket: whatever did not end properly is not trusted again.
    Server,
}

struct Shared<DB: Database> {
    options: OptionsOf<DB>,
    place: Place,
    most: u32,
    idle: Mutex<Vec<(DB::Connection, Instant)>>,
    free: Arc<Semaphore>,
}

/// A connection on loan; dropping it gives it back.
pub(crate) struct Lane<DB: Database> {
    /// Nothing once it was moved elsewhere or given back.
    held: Option<(DB::Connection, OwnedSemaphorePermit)>,
    lanes: Lanes<DB>,
    is_sound: bool,
}

impl<DB: Database> Lanes<DB> {
    /// At most `most` connections, opened when they are needed.
    pub(crate) fn new(place: Place, options: OptionsOf<DB>, most: u32) -> Self {
        let free = Arc::new(Semaphore::new(most as usize));
        Self(Arc::new(Shared {
            options,
            place,
            most,
            idle: Mutex::default(),
            free,
        }))
    }

    /// How they are opened.
    pub(crate) fn options(&self) -> &OptionsOf<DB> {
        &self.0.options
    }

    /// A connection nobody else uses; waits for one.
    pub(crate) async fn acquire(&self) -> Result<Lane<DB>, Error> {
        let free = Arc::clone(&self.0.free).acquire_owned();
        let permit = timeout(PATIENCE, free)
            .await
            .map_err(|_| Error::PoolTimedOut)?;
        let permit = permit.map_err(|_| Error::PoolClosed)?;
        let connection = match self.take_idle().await {
            Some(connection) => connection,
            None => timeout(PATIENCE, DB::Connection::connect_with(&self.0.options))
                .await
                .map_err(|_| Error::PoolTimedOut)??,
        };
        Ok(Lane {
            held: Some((connection, permit)),
            lanes: self.clone(),
            is_sound: true,
        })
    }

    /// Lends no more, waits for what is on loan, and closes all.
    pub(crate) async fn close(&self) {
        // Whoever waits already is served first.
        let all = self.0.free.acquire_many(self.0.most).await;
        self.0.free.close();
        drop(all);
        let idle = std::mem::take(&mut *self.idle());
        for (connection, _) in idle {
            if let Err(error) = connection.close().await {
                tracing::debug!(%error, "a database connection did not close properly");
            }
        }
    }

    /// The connection that was used last, so that the others may grow old.
    async fn take_idle(&self) -> Option<DB::Connection> {
        loop {
            let (mut connection, since) = self.idle().pop()?;
            if self.0.place == Place::Here || since.elapsed() < TRUSTED_IDLE {
                return Some(connection);
            }
            // The server may have been restarted; one that says nothing is as good as gone.
            if let Ok(Ok(())) = timeout(PATIENCE, connection.ping()).await {
                return Some(connection);
            }
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<(DB::Connection, Instant)>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<DB: Database> Lane<DB> {
    /// The connection, for one statement whose outcome is then given to [`Self::note`]. One that is dropped
    /// in the middle of a statement counts as broken.
    pub(crate) fn connection(&mut self) -> Result<&mut DB::Connection, Error> {
        self.is_sound = self.lanes.0.place == Place::Here;
        self.held
            .as_mut()
            .map(|(connection, _)| connection)
            .ok_or(Error::PoolClosed)
    }

    /// Takes note of how a statement went.
    pub(crate) fn note<T>(&mut self, outcome: Result<T, Error>) -> Result<T, Error> {
        use Error::{Io, Protocol, Tls, WorkerCrashed};
        self.is_sound = !matches!(outcome, Err(Io(_) | Protocol(_) | Tls(_) | WorkerCrashed));
        outcome
    }

    /// Where the database is.
    pub(crate) fn place(&self) -> Place {
        self.lanes.0.place
    }

    /// Moves the connection to another holder.
    pub(crate) fn take(&mut self) -> Self {
        Self {
            held: self.held.take(),
            lanes: self.lanes.clone(),
            is_sound: self.is_sound,
        }
    }

    /// Closes the connection instead of giving it back.
    pub(crate) fn discard(&mut self) {
        self.is_sound = false;
    }
}

impl<DB: Database> Drop for Lane<DB> {
    fn drop(&mut self) {
        // The permit goes last, when the next one can find the connection.
        if let Some((connection, _permit)) = self.held.take()
            && self.is_sound
        {
            self.lanes.idle().push((connection, Instant::now()));
        }
    }
}

impl<DB: Database> Clone for Lanes<DB> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<DB: Database> std::fmt::Debug for Lanes<DB> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lanes")
            .field("place", &self.0.place)
            .field("most", &self.0.most)
            .finish_non_exhaustive()
    }
}
