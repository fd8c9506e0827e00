//! A transaction that holds its connection.

use sqlx::{Database, Error, Executor};
use tokio::runtime::Handle;

use crate::lanes::{Lane, Lanes, Place};

/// What is done through it happens as a whole. Dropped without [`Self::commit`], it leaves no trace.
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
        // Open from here on: nobody knows how far a statement came that is abandoned.
        let mut transaction = Self {
            lane,
            is_open: true,
            undo: undo::<DB>,
        };
        run(&mut transaction.lane, statement).await?;
        Ok(transaction)
    }

    /// For a statement inside the transaction.
    pub(crate) fn lane(&mut self) -> &mut Lane<DB> {
        &mut self.lane
    }

    /// Makes it last.
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

/// Gives the connection back without the transaction, soon.
fn undo<DB: Database>(mut lane: Lane<DB>)
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    match (lane.place(), Handle::try_current()) {
        (Place::Here, Ok(runtime)) => {
            runtime.spawn(async move {
                if let Err(error) = run(&mut lane, "ROLLBACK").await {
                    // There was nothing to undo: the transaction had not begun, or SQLite has ended it itself.
                    tracing::debug!(%error, "nothing was undone");
                }
            });
        }
        // A server undoes what a closed connection has left.
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
