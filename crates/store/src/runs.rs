//! Runs: their principal, model and outcome. Their logs are in `events.rs`.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use domain::{ChatId, MessageId, Origin, Outcome, RunId, RunSummary, UserId};

use crate::{
    IdempotencyKey, Principal, Store, StoreError,
    db::Db,
    messages::fill_message,
    query::{Query, Row, Tx, long_json, readable},
    queued_turns,
    transaction::despite_deadlocks,
    webhooks,
    writer::{Rows, Work},
};

/// Maximum length of a summary that is written together with those of other runs.
const MAX_SHARED_SUMMARY_BYTES: usize = 256 * 1024;

/// A run to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    /// Its id.
    pub id: RunId,
    /// The principal that started it.
    pub principal: Principal,
    /// The models and agents that the principal's key is limited to. `None` if it is not limited.
    pub key_models: Option<Vec<String>>,
    /// The chat it belongs to; without one it is stored temporarily.
    pub chat: Option<ChatId>,
    /// The assistant message it fills.
    pub message: Option<MessageId>,
    /// The main agent's model.
    pub model: String,
    /// The current time.
    pub started_at: i64,
    /// The specification to resume it after a restart, as JSON; `None` if it cannot be resumed. Deleted when it ends.
    pub request: Option<String>,
    /// The caller's idempotency key, if given; unique for the owner.
    pub idempotency: Option<IdempotencyKey>,
    /// The request that started it, as JSON.
    pub origin: Option<String>,
    /// The research options, as JSON; `None` if it is no research. Kept when it ends.
    pub research: Option<String>,
    /// The workspace of its files, unless it is its chat's or its own.
    pub workspace: Option<String>,
}

/// The database's number of a run in the log, if it is used often: short, and never reused.
pub(crate) type RunNumber = i64;

/// A run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// The principal that started it.
    pub principal: Principal,
    /// The models and agents that the principal's key is limited to. `None` if it is not limited.
    pub key_models: Option<Vec<String>>,
    /// The chat it belongs to.
    pub chat: Option<ChatId>,
    /// The assistant message it fills.
    pub message: Option<MessageId>,
    /// The main agent's model.
    pub model: String,
    /// When it was started.
    pub started_at: i64,
    /// The end time; `None` while it is running.
    pub finished_at: Option<i64>,
    /// The number of the last stored event; 0 if there is none.
    pub last_seq: u64,
    /// The summary, once it has ended.
    pub summary: Option<RunSummary>,
    /// The request that started it, if any.
    pub origin: Option<Origin>,
    /// Whether the report of research was requested early.
    pub report_wanted: bool,
    /// Whether the server that had it last has released it in an orderly way, rather than crashed.
    pub released: bool,
}

pub(crate) const INSERT: &str = "INSERT INTO runs (id, owner, chat, message, model, started_at, request, \
                                 idempotency_key, request_hash, server, api_key, person, key_models, origin, research, booked_seq, workspace) \
                                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";

/// Binds the values of [`INSERT`]; the run is `server`'s.
pub(crate) fn insert<'a>(query: Query<'a>, run: &NewRun, server: Option<&str>) -> Query<'a> {
    let query = query
        .id(run.id)
        .id(run.principal.account)
        .optional_id(run.chat)
        .optional_id(run.message);
    let query = query
        .text(&run.model)
        .bind(run.started_at)
        .optional_text(run.request.as_deref());
    let idempotency = run.idempotency.as_ref();
    let query = query.optional_text(idempotency.map(|it| it.key.as_str()));
    let query = query
        .bind(idempotency.map(|it| it.request_hash.to_vec()))
        .optional_text(server);
    let query = query
        .optional_id(run.principal.key)
        .optional_text(run.principal.person.as_deref());
    let key_models = run
        .key_models
        .as_ref()
        .map(|models| serde_json::Value::from(models.as_slice()).to_string());
    let query = query.optional_text(key_models.as_deref());
    let query = query
        .optional_text(run.origin.as_deref())
        .optional_text(run.research.as_deref());
    // None of its log is in the ledger yet.
    query.number(0).optional_text(run.workspace.as_deref())
}

impl Rows for NewRun {
    type Key<'a> = RunId;
    type Answer = RunNumber;
    const MAX_ROWS: usize = 1024;

    fn key(&self) -> RunId {
        self.id
    }

    async fn write(db: &Db, runs: &[Self]) -> Result<Vec<RunNumber>, StoreError> {
        let mut sql = String::from(
            "INSERT INTO runs (id, owner, chat, message, model, started_at, request, idempotency_key, \
             request_hash, server, api_key, person, key_models, origin, research, booked_seq, workspace) VALUES ",
        );
        db.push_rows(&mut sql, runs.len(), 17);
        let server = db.lease_holder()?;
        sql.push_str(" RETURNING id, number");
        let add = |query, run| insert(query, run, server.as_deref());
        // They may be returned in another order.
        let mut numbers: HashMap<RunId, RunNumber> = HashMap::new();
        for row in runs.iter().fold(db.built(sql), add).fetch_all().await? {
            numbers.insert(row.id("id")?, row.get("number")?);
        }
        runs.iter()
            .map(|run| numbers.remove(&run.id).ok_or(StoreError::NotFound))
            .collect()
    }
}

/// The end of a run without a message and a chat.
#[derive(Debug)]
pub(crate) struct RunEnd {
    run: RunId,
    finished_at: i64,
    /// As JSON.
    summary: Arc<str>,
}

impl Rows for RunEnd {
    type Key<'a> = RunId;
    type Answer = bool;
    const MAX_ROWS: usize = 1024;

    fn key(&self) -> RunId {
        self.run
    }

    /// Returns which of the runs existed, were running, and had no chat.
    async fn write(db: &Db, ends: &[Self]) -> Result<Vec<bool>, StoreError> {
        // Both databases name the columns of VALUES column1, column2 …
        let mut sql = String::from(
            "UPDATE runs SET finished_at = ended.column2, summary = ended.column3, request = NULL FROM (VALUES ",
        );
        db.push_rows(&mut sql, ends.len(), 3);
        sql.push_str(
            ") AS ended WHERE id = ended.column1 AND finished_at IS NULL AND chat IS NULL \
             AND message IS NULL RETURNING id",
        );
        let query = ends.iter().fold(db.built(sql), |query, end| {
            query
                .id(end.run)
                .bind(end.finished_at)
                .shared_text(&end.summary)
        });
        let rows = query.fetch_all().await?;
        let finished: HashSet<RunId> = rows
            .iter()
            .map(|row| row.id("id"))
            .collect::<Result<_, _>>()?;
        Ok(ends.iter().map(|end| finished.contains(&end.run)).collect())
    }
}

/// The columns of a run.
macro_rules! run_columns {
    () => {
        "id, owner, chat, message, model, started_at, finished_at, summary, api_key, person, key_models, origin, \
         report_wanted, released, \
         COALESCE((SELECT last_seq FROM segments WHERE segments.run = runs.number \
                   ORDER BY first_seq DESC LIMIT 1), sealed_seq) AS last_seq"
    };
}
pub(crate) use run_columns;

/// The statement that reads runs, with the given end.
macro_rules! select_runs {
    ($end:literal) => {
        concat!("SELECT ", $crate::runs::run_columns!(), " FROM runs ", $end)
    };
}
pub(crate) use select_runs;

/// How many expired runs are deleted in one transaction.
const PURGED_AT_ONCE: u32 = 200;

impl Store {
    /// Stores a new run; one that fills a message is created by [`Store::begin_turn`].
    ///
    /// # Errors
    /// `NotFound` if its owner or chat is gone, `Conflict("id")` if the id is taken.
    pub async fn create_run(&self, run: &NewRun) -> Result<(), StoreError> {
        self.0.writer.write(Work::CreateRun, run.clone()).await
    }

    /// The run with this id, of any owner.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn run(&self, id: RunId) -> Result<Run, StoreError> {
        read_run(
            &self
                .db()
                .read(select_runs!("WHERE id = $1"))
                .id(id)
                .fetch_one()
                .await?,
        )
    }

    /// All runs that have not ended, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn unfinished_runs(&self) -> Result<Vec<Run>, StoreError> {
        let sql = select_runs!("WHERE finished_at IS NULL ORDER BY started_at, id");
        Ok(readable(&self.db().read(sql).fetch_all().await?, read_run))
    }

    /// A person's runs that have not ended, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn unfinished_runs_of(&self, owner: UserId) -> Result<Vec<Run>, StoreError> {
        let sql = select_runs!("WHERE finished_at IS NULL AND owner = $1 ORDER BY started_at, id");
        Ok(readable(
            &self.db().read(sql).id(owner).fetch_all().await?,
            read_run,
        ))
    }

    /// The runs of a chat that have not ended, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn unfinished_runs_in(&self, chat: ChatId) -> Result<Vec<RunId>, StoreError> {
        let sql =
            "SELECT id FROM runs WHERE chat = $1 AND finished_at IS NULL ORDER BY started_at, id";
        self.db()
            .read(sql)
            .id(chat)
            .fetch_all()
            .await?
            .iter()
            .map(|row| row.id("id"))
            .collect()
    }

    /// The specification to resume a run; `None` if it has ended or cannot be resumed.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn run_request(&self, id: RunId) -> Result<Option<String>, StoreError> {
        self.db()
            .read("SELECT request FROM runs WHERE id = $1")
            .id(id)
            .fetch_one()
            .await?
            .get("request")
    }

    /// The research options of a run; `None` if it is no research.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn run_research(&self, id: RunId) -> Result<Option<String>, StoreError> {
        self.db()
            .read("SELECT research FROM runs WHERE id = $1")
            .id(id)
            .fetch_one()
            .await?
            .get("research")
    }

    /// The workspace of a run's files.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn run_workspace(&self, id: RunId) -> Result<(UserId, String), StoreError> {
        let sql =
            "SELECT owner, COALESCE(workspace, chat, id) AS workspace FROM runs WHERE id = $1";
        let row = self.db().read(sql).id(id).fetch_one().await?;
        Ok((row.id("owner")?, row.get("workspace")?))
    }

    /// Records that the report of research was requested early. Does nothing for a finished run.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn want_report(&self, id: RunId) -> Result<(), StoreError> {
        let sql = "UPDATE runs SET report_wanted = TRUE WHERE id = $1 AND finished_at IS NULL";
        self.db().write(sql).id(id).execute().await.map(drop)
    }

    /// Finishes a run, fills its message with the answer and touches its chat, atomically.
    ///
    /// # Errors
    /// `NotFound`, and `Conflict("finished")` if it had already ended.
    pub async fn finish_run(
        &self,
        id: RunId,
        finished_at: i64,
        summary: &RunSummary,
    ) -> Result<(), StoreError> {
        // A run without a chat is one statement, which is batched with others.
        let json = long_json(summary, summary.answer.len())?;
        let end = RunEnd {
            run: id,
            finished_at,
            summary: Arc::clone(&json),
        };
        // A long answer is not batched: the database would copy it once more for each step of such a statement.
        if json.len() <= MAX_SHARED_SUMMARY_BYTES
            && self.0.writer.write(Work::FinishRun, end).await?
        {
            return Ok(());
        }
        let mut tx = self.db().begin().await?;
        // The chat first, as everywhere: two transactions that lock in different orders can deadlock.
        let touch = "UPDATE chats SET updated_at = $2, unread = unread OR $3 \
                     WHERE id = (SELECT chat FROM runs WHERE id = $1 AND finished_at IS NULL)";
        // A cancelled run is no news for its owner.
        let is_news = summary.outcome != Some(Outcome::Cancelled);
        tx.query(touch)
            .id(id)
            .bind(finished_at)
            .bind(is_news)
            .execute()
            .await?;
        if !summary.unread.is_empty() {
            queued_turns::insert(&mut tx, id, &summary.unread, finished_at).await?;
        }
        let finish = "UPDATE runs SET finished_at = $2, summary = $3, request = NULL \
                      WHERE id = $1 AND finished_at IS NULL RETURNING message";
        let row = tx
            .query(finish)
            .id(id)
            .bind(finished_at)
            .shared_text(&json)
            .fetch_optional()
            .await?;
        let Some(row) = row else {
            tx.query("SELECT id FROM runs WHERE id = $1")
                .id(id)
                .fetch_one()
                .await?;
            return Err(StoreError::Conflict("finished"));
        };
        if let Some(message) = row.optional_id("message")? {
            fill_message(&mut tx, message, summary, &json).await?;
            webhooks::queue_notices(&mut tx, id, finished_at).await?;
        }
        tx.commit().await
    }

    /// Deletes a run without a chat, with its log and its files.
    ///
    /// # Errors
    /// `NotFound` if there is no such run.
    pub async fn delete_run(&self, id: RunId) -> Result<(), StoreError> {
        despite_deadlocks(|| async {
            let mut tx = self.db().begin().await?;
            let run = "DELETE FROM runs WHERE id = $1 AND chat IS NULL RETURNING id";
            tx.query(run).id(id).fetch_one().await?;
            let files = "DELETE FROM files WHERE workspace = $1";
            tx.query(files).id(id).execute().await?;
            tx.commit().await
        })
        .await
    }

    /// Deletes runs without a chat that ended before that time, with logs and files; returns their number. In batches, so
    /// that nothing waits long for a lock, and beside other servers that do the same.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn purge_runs(&self, chatless_finished_before: i64) -> Result<u64, StoreError> {
        let mut purged = 0;
        loop {
            let batch = despite_deadlocks(|| self.purge_some_runs(chatless_finished_before));
            match batch.await? {
                0 => return Ok(purged),
                some => purged += some,
            }
        }
    }

    async fn purge_some_runs(&self, chatless_finished_before: i64) -> Result<u64, StoreError> {
        let mut tx = self.db().begin().await?;
        let expired = format!(
            "SELECT id FROM runs WHERE chat IS NULL AND finished_at < $1 LIMIT {PURGED_AT_ONCE}{}",
            match tx {
                Tx::Sqlite(_) => "",
                Tx::Postgres(_) => " FOR UPDATE SKIP LOCKED",
            }
        );
        let rows = tx
            .built(expired)
            .bind(chatless_finished_before)
            .fetch_all()
            .await?;
        for row in &rows {
            let id: String = row.get("id")?;
            let files = "DELETE FROM files WHERE workspace = $1";
            tx.query(files).text(&id).execute().await?;
            let run = "DELETE FROM runs WHERE id = $1";
            tx.query(run).text(&id).execute().await?;
        }
        tx.commit().await?;
        Ok(rows.len() as u64)
    }
}

pub(crate) fn read_run(row: &Row) -> Result<Run, StoreError> {
    Ok(Run {
        id: row.id("id")?,
        principal: Principal::read(row)?,
        key_models: row.optional_json("key_models")?,
        chat: row.optional_id("chat")?,
        message: row.optional_id("message")?,
        model: row.get("model")?,
        started_at: row.get("started_at")?,
        finished_at: row.get("finished_at")?,
        last_seq: row.number("last_seq")?,
        summary: row.optional_json("summary")?,
        origin: row.optional_json("origin")?,
        report_wanted: row.get("report_wanted")?,
        released: row.get("released")?,
    })
}
