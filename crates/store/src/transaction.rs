//! A transaction that holds its connection.

use sqlx::{Database, Error, Executor};
use tokio::runtime::Handle;

use crate::lanes::{Lane, Lanes, Place};

/// A transaction. Dropped without [`Self::commit`], it rolls back.
pub(crate) struct Transaction<DB: Database> {
    lane: Lane<DB>,
    is_open: bool,
    undo: fn(Lane<DB>),
}

impl<DB: Database> Transaction<DB> {
    /// Begins one with the given statement.
    pub(crate) async fn begin(lanes: &Lanes<DB>, statement: &'static str) -> Result<Self, Error>
    where
        for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
    {
        let lane = lanes.acquire().await?;
        // Open from here on: the state of an abandoned statement is unknown.
        let mut transaction = Self {
            lane,
            is_open: true,
            undo: undo::<DB>,
        };
        run(&mut transaction.lane, statement).await?;
        Ok(transaction)
    }

    /// The connection, for a statement inside the transaction.
    pub(crate) fn lane(&mut self) -> &mut Lane<DB> {
        &mut self.lane
    }

    /// Commits it.
    pub(crate) async fn commit(mut self) -> Result<(), Error>
    where
        for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
    {
        run(&mut self.lane, "COMMIT").await?;
        self.is_open = false;
        Ok(())
    }
}

impl<DB: Database> Drop for Transaction<DB> {
    fn drop(&mut self) {
        if self.is_open {
            (self.undo)(self.lane.take());
        }
    }
}

/// Returns the connection after a rollback in the background.
fn undo<DB: Database>(mut lane: Lane<DB>)
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    match (lane.place(), Handle::try_current()) {
        (Place::Here, Ok(runtime)) => {
            runtime.spawn(async move {
                if let Err(error) = run(&mut lane, "ROLLBACK").await {
                    // There was nothing to roll back: the transaction had not begun, or SQLite has ended it itself.
                    tracing::debug!(%error, "nothing was undone");
                }
            });
        }
        // A server rolls back when the connection closes.
        _ => lane.discard(),
    }
}

async fn run<DB: Database>(lane: &mut Lane<DB>, statement: &'static str) -> Result<(), Error>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    let outcome = lane.connection()?.execute(statement).await.map(drop);
    lane.note(outcome)
}
