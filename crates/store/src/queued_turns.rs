//! What people wrote to a run and no agent has read. It begins the next turn of the run's chat.

use domain::{ChatId, RunId, UserId, event::ReceivedInput};

use crate::{
    Store, StoreError,
    query::{Row, Tx, readable},
};

/// The next turn of a chat.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedTurn {
    /// The run that has ended.
    pub run: RunId,
    /// Its specification, if it was stored.
    pub request: Option<String>,
    /// What was written, oldest first.
    pub inputs: Vec<ReceivedInput>,
    /// When the run ended.
    pub queued_at: i64,
}

impl Store {
    /// The runs with a turn queued after `since`, oldest first, at most `limit`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn queued_turns(&self, since: i64, limit: u32) -> Result<Vec<RunId>, StoreError> {
        let sql =
            "SELECT run FROM queued_turns WHERE queued_at > $1 ORDER BY queued_at, run LIMIT $2";
        let query = self.db().read(sql).bind(since).bind(i64::from(limit));
        Ok(readable(&query.fetch_all().await?, |row| row.id("run")))
    }

    /// The turn queued by a run, if there is one.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn queued_turn(&self, run: RunId) -> Result<Option<QueuedTurn>, StoreError> {
        let sql = "SELECT run, request, inputs, queued_at FROM queued_turns WHERE run = $1";
        let row = self.db().read(sql).id(run).fetch_optional().await?;
        row.as_ref().map(read_queued).transpose()
    }

    /// The queued turns of a chat, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn queued_in_chat(&self, chat: ChatId) -> Result<Vec<QueuedTurn>, StoreError> {
        let sql = "SELECT run, queued_turns.request, inputs, queued_at FROM queued_turns JOIN runs ON id = run \
                   WHERE chat = $1 ORDER BY queued_at, run";
        let rows = self.db().read(sql).id(chat).fetch_all().await?;
        Ok(readable(&rows, read_queued))
    }

    /// Adds inputs to the next turn of the chat of an ended run, unless they are there.
    ///
    /// # Errors
    /// `NotFound` if there is no such run, or it has no chat.
    pub async fn queue_turn(
        &self,
        run: RunId,
        inputs: &[ReceivedInput],
        now: i64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "SELECT inputs FROM runs LEFT JOIN queued_turns ON run = id WHERE id = $1 AND chat IS NOT NULL";
        let row = tx.query(sql).id(run).fetch_one().await?;
        let mut all: Vec<ReceivedInput> = row.optional_json("inputs")?.unwrap_or_default();
        for input in inputs {
            if all.iter().all(|known| known.input_id != input.input_id) {
                all.push(input.clone());
            }
        }
        insert(&mut tx, run, &all, now).await?;
        tx.commit().await
    }

    /// Removes an input from a queued turn; if `by` is given, only one of this author. Returns whether it was there.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn unqueue_input(
        &self,
        run: RunId,
        input_id: &str,
        by: Option<UserId>,
    ) -> Result<bool, StoreError> {
        let is_it = |input: &ReceivedInput| {
            input.input_id == input_id && by.is_none_or(|author| input.by.id == author)
        };
        let mut tx = self.db().begin().await?;
        let Some(mut inputs) = locked(&mut tx, run).await? else {
            return Ok(false);
        };
        let before = inputs.len();
        inputs.retain(|input| !is_it(input));
        if inputs.len() == before {
            return Ok(false);
        }
        keep(&mut tx, run, &inputs).await?;
        tx.commit().await?;
        Ok(true)
    }
}

/// Takes the inputs of a turn that begins with them; those that came since stay, for another turn.
///
/// # Errors
/// `Conflict("queued")` if one was withdrawn, or the turn has begun.
pub(crate) async fn take(tx: &mut Tx, turn: &QueuedTurn) -> Result<(), StoreError> {
    let mut inputs = locked(tx, turn.run).await?.unwrap_or_default();
    if !turn.inputs.iter().all(|input| inputs.contains(input)) {
        return Err(StoreError::Conflict("queued"));
    }
    inputs.retain(|input| !turn.inputs.contains(input));
    keep(tx, turn.run, &inputs).await
}

/// The queued inputs of a run, locked until the end of the transaction.
async fn locked(tx: &mut Tx, run: RunId) -> Result<Option<Vec<ReceivedInput>>, StoreError> {
    let sql = "UPDATE queued_turns SET inputs = inputs WHERE run = $1 RETURNING inputs";
    let row = tx.query(sql).id(run).fetch_optional().await?;
    row.map(|row| row.json("inputs")).transpose()
}

/// Stores what is left of a queued turn, or deletes the turn if nothing is.
async fn keep(tx: &mut Tx, run: RunId, inputs: &[ReceivedInput]) -> Result<(), StoreError> {
    let query = match inputs {
        [] => tx.query("DELETE FROM queued_turns WHERE run = $1").id(run),
        inputs => {
            let sql = "UPDATE queued_turns SET inputs = $2 WHERE run = $1";
            tx.query(sql).id(run).json(&inputs)?
        }
    };
    query.execute().await.map(drop)
}

/// Queues the inputs of a run. Its specification is copied, so this comes before that is deleted.
pub(crate) async fn insert(
    tx: &mut Tx,
    run: RunId,
    inputs: &[ReceivedInput],
    now: i64,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO queued_turns (run, inputs, request, queued_at) \
               SELECT id, $2, request, $3 FROM runs WHERE id = $1 AND chat IS NOT NULL \
               ON CONFLICT (run) DO UPDATE SET inputs = excluded.inputs";
    tx.query(sql)
        .id(run)
        .json(&inputs)?
        .bind(now)
        .execute()
        .await
        .map(drop)
}

fn read_queued(row: &Row) -> Result<QueuedTurn, StoreError> {
    Ok(QueuedTurn {
        run: row.id("run")?,
        request: row.get("request")?,
        inputs: row.json("inputs")?,
        queued_at: row.get("queued_at")?,
    })
}
