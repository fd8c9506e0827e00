//! A transaction that holds its connection.

use sqlx::{Database, Error, Executor};
use tokio::runtime::Handle;

use crate::{
    StoreError,
    pool::{Location, Pool, PooledConnection, within},
};

/// PostgreSQL takes a second to notice a deadlock, so these take as many seconds at most.
const DEADLOCK_ATTEMPTS: u32 = 5;

/// Runs a whole transaction again if PostgreSQL ends it because of a deadlock, a few times. Deletions need this: their foreign
/// keys lock rows in another order than those that write the rows.
pub(crate) async fn despite_deadlocks<Work, Answer>(
    transaction: impl Fn() -> Work,
) -> Result<Answer, StoreError>
where
    Work: Future<Output = Result<Answer, StoreError>>,
{
    for _ in 1..DEADLOCK_ATTEMPTS {
        match transaction().await {
            Err(StoreError::Deadlock(cause)) => {
                tracing::debug!(cause, "a deadlock ended the transaction; repeating it");
            }
            outcome => return outcome,
        }
    }
    transaction().await
}

/// A transaction. Dropped without [`Self::commit`], it rolls back.
pub(crate) struct Transaction<DB: Database> {
    pooled: PooledConnection<DB>,
    is_open: bool,
    undo: fn(PooledConnection<DB>),
}

impl<DB: Database> Transaction<DB> {
    /// Begins one with the given statement.
    pub(crate) async fn begin(pool: &Pool<DB>, statement: &'static str) -> Result<Self, Error>
    where
        for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
    {
        let pooled = pool.acquire().await?;
        // Open from here on: the state of an abandoned statement is unknown.
        let mut transaction = Self {
            pooled,
            is_open: true,
            undo: undo::<DB>,
        };
        run(&mut transaction.pooled, pool.begin().unwrap_or(statement)).await?;
        Ok(transaction)
    }

    /// The connection, for a statement inside the transaction.
    pub(crate) fn pooled(&mut self) -> &mut PooledConnection<DB> {
        &mut self.pooled
    }

    /// Commits it.
    pub(crate) async fn commit(mut self) -> Result<(), Error>
    where
        for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
    {
        run(&mut self.pooled, "COMMIT").await?;
        self.is_open = false;
        Ok(())
    }
}

impl<DB: Database> Drop for Transaction<DB> {
    fn drop(&mut self) {
        if self.is_open {
            (self.undo)(self.pooled.take());
        }
    }
}

/// Returns the connection after a rollback in the background.
fn undo<DB: Database>(mut pooled: PooledConnection<DB>)
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    match (pooled.location(), Handle::try_current()) {
        (Location::Here, Ok(runtime)) => {
            runtime.spawn(async move {
                if let Err(error) = run(&mut pooled, "ROLLBACK").await {
                    // There was nothing to roll back: the transaction had not begun, or SQLite has ended it itself.
                    tracing::debug!(%error, "rollback failed");
                }
            });
        }
        // A server rolls back when the connection closes.
        _ => pooled.discard(),
    }
}

async fn run<DB: Database>(
    pooled: &mut PooledConnection<DB>,
    statement: &'static str,
) -> Result<(), Error>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    let limit = pooled.limit(None, 0);
    let (asked, outcome) = within(limit, pooled.connection()?.execute(statement)).await;
    pooled.note(asked, outcome).map(drop)
}
