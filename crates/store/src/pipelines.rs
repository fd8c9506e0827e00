//! What pipelines write beside a chat: its title, what could be said next, and what each model call has come to.

use std::collections::HashMap;

use domain::{ChatId, MessageId, PipelineCallId, RunId, Usage, UserId, Words};

use crate::{
    Store, StoreError,
    query::{Row, readable},
    search,
    sums::{MAX_COUNTER, sum},
};

/// A model call beside a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineCall {
    /// Its id.
    pub id: PipelineCallId,
    /// The pipelines it was for, by name, with commas.
    pub pipelines: String,
    /// On whose account.
    pub owner: UserId,
    /// The chat it was about.
    pub chat: Option<ChatId>,
    /// The run it followed.
    pub run: Option<RunId>,
    /// The model's id.
    pub model: String,
    /// When it was begun.
    pub at: i64,
    /// How long it took, milliseconds.
    pub duration_ms: u64,
    /// Tokens used.
    pub usage: Usage,
    /// Millionths of a US dollar, where the price is known.
    pub cost_micro_usd: Option<u64>,
    /// How it ended: `done`, `fallback` where the answer could not be used, `failed`, `cancelled`.
    pub outcome: String,
    /// What was written, or why nothing was.
    pub detail: Words,
}

/// The calls of some pipelines together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PipelineSum {
    /// The pipelines, by name, with commas.
    pub pipelines: String,
    /// How many there were.
    pub calls: u64,
    /// How many of them gave nothing that could be used.
    pub failed: u64,
    /// How many were given up, as they were not needed any more.
    pub cancelled: u64,
    /// Tokens of all.
    pub usage: Usage,
    /// Millionths of a US dollar.
    pub cost_micro_usd: u64,
}

/// The statement that reads calls, with the given end.
macro_rules! select_calls {
    ($end:literal) => {
        concat!(
            "SELECT id, pipelines, owner, chat, run, model, at, duration_ms, input_tokens, output_tokens, ",
            "cost_micro_usd, outcome, detail FROM pipeline_calls ",
            $end
        )
    };
}

impl Store {
    /// Whether the chat is called by its first words, which a model may replace.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn is_titled_by_words(
        &self,
        owner: UserId,
        chat: ChatId,
    ) -> Result<bool, StoreError> {
        let sql = "SELECT titled_by FROM chats WHERE id = $1 AND owner = $2";
        let row = self.db().read(sql).id(chat).id(owner).fetch_one().await?;
        Ok(row.get::<String>("titled_by")? == "words")
    }

    /// Gives a chat the title that a model has found, unless a person has named it meanwhile. Tells whether it did. The chat
    /// keeps its place in the list.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn title_chat(
        &self,
        owner: UserId,
        chat: ChatId,
        title: &str,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE chats SET title = $3, search_text = $4, titled_by = 'model' \
                   WHERE id = $1 AND owner = $2 AND titled_by = 'words'";
        let query = self
            .db()
            .write(sql)
            .id(chat)
            .id(owner)
            .text(title)
            .text(&search::fold(title));
        Ok(query.execute().await? > 0)
    }

    /// The same with a title that somebody has asked a model for: it also takes the place of an earlier one of a model, and of
    /// none. Tells whether it did.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn title_unnamed_chat(
        &self,
        owner: UserId,
        chat: ChatId,
        title: &str,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE chats SET title = $3, search_text = $4, titled_by = 'model' \
                   WHERE id = $1 AND owner = $2 AND (titled_by <> 'person' OR title = '')";
        let query = self
            .db()
            .write(sql)
            .id(chat)
            .id(owner)
            .text(title)
            .text(&search::fold(title));
        Ok(query.execute().await? > 0)
    }

    /// Keeps what could be said after this message, in the place of what was kept before. Nothing where it is gone.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn put_follow_ups(
        &self,
        message: MessageId,
        texts: &[String],
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO follow_ups (message, texts) SELECT id, $2 FROM messages WHERE id = $1 \
                   ON CONFLICT (message) DO UPDATE SET texts = excluded.texts";
        self.db()
            .write(sql)
            .id(message)
            .json(texts)?
            .execute()
            .await
            .map(drop)
    }

    /// What could be said after the messages of a chat.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn follow_ups(
        &self,
        chat: ChatId,
    ) -> Result<HashMap<MessageId, Vec<String>>, StoreError> {
        let sql = "SELECT message, texts FROM follow_ups JOIN messages ON messages.id = follow_ups.message \
                   WHERE messages.chat = $1";
        let rows = self.db().read(sql).id(chat).fetch_all().await?;
        Ok(
            readable(&rows, |row| Ok((row.id("message")?, row.json("texts")?)))
                .into_iter()
                .collect(),
        )
    }

    /// Notes a call. Nothing where its chat or run is gone meanwhile.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn note_pipeline_call(&self, call: &PipelineCall) -> Result<(), StoreError> {
        let sql = "INSERT INTO pipeline_calls (id, pipelines, owner, chat, run, model, at, duration_ms, input_tokens, \
                   output_tokens, cost_micro_usd, outcome, detail) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
        let query = self
            .db()
            .write(sql)
            .id(call.id)
            .text(&call.pipelines)
            .id(call.owner);
        let query = query
            .optional_id(call.chat)
            .optional_id(call.run)
            .text(&call.model)
            .bind(call.at);
        let query = query
            .number(call.duration_ms)
            .number(call.usage.input_tokens.min(MAX_COUNTER));
        let query = query.number(call.usage.output_tokens.min(MAX_COUNTER));
        let cost = call.cost_micro_usd.map(|cost| cost.min(MAX_COUNTER));
        let query = query.bind(cost.map(|cost| i64::try_from(cost).unwrap_or(i64::MAX)));
        match query
            .text(&call.outcome)
            .text(&call.detail.to_column())
            .execute()
            .await
        {
            Err(StoreError::NotFound) => Ok(()),
            noted => noted.map(drop),
        }
    }

    /// The calls that followed a run, the oldest first.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn pipeline_calls_of(&self, run: RunId) -> Result<Vec<PipelineCall>, StoreError> {
        let sql = select_calls!("WHERE run = $1 ORDER BY at, id");
        let rows = self.db().read(sql).id(run).fetch_all().await?;
        Ok(readable(&rows, read_call))
    }

    /// The latest calls of all pipelines, the newest first.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn latest_pipeline_calls(&self, limit: u32) -> Result<Vec<PipelineCall>, StoreError> {
        let sql = select_calls!("ORDER BY at DESC, id DESC LIMIT $1");
        let rows = self
            .db()
            .read(sql)
            .bind(i64::from(limit))
            .fetch_all()
            .await?;
        Ok(readable(&rows, read_call))
    }

    /// The sums of all calls since `since`.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn pipeline_sums(&self, since: i64) -> Result<Vec<PipelineSum>, StoreError> {
        let sql = format!(
            "SELECT pipelines, COUNT(*) AS calls, {} AS failed, {} AS cancelled, {} AS input_tokens, {} AS output_tokens, \
             {} AS cost FROM pipeline_calls WHERE at >= $1 GROUP BY pipelines ORDER BY pipelines",
            sum("CASE WHEN outcome IN ('failed', 'fallback') THEN 1 ELSE 0 END"),
            sum("CASE WHEN outcome = 'cancelled' THEN 1 ELSE 0 END"),
            sum("input_tokens"),
            sum("output_tokens"),
            sum("cost_micro_usd"),
        );
        let rows = self.db().built_to_read(sql).bind(since).fetch_all().await?;
        let read = |row: &Row| {
            Ok(PipelineSum {
                pipelines: row.get("pipelines")?,
                calls: row.number("calls")?,
                failed: row.number("failed")?,
                cancelled: row.number("cancelled")?,
                usage: Usage::of(row.number("input_tokens")?, row.number("output_tokens")?),
                cost_micro_usd: row.number("cost")?,
            })
        };
        Ok(readable(&rows, read))
    }

    /// Forgets calls from before `until`.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn purge_pipeline_calls(&self, until: i64) -> Result<(), StoreError> {
        let sql = "DELETE FROM pipeline_calls WHERE at < $1";
        self.db().write(sql).bind(until).execute().await.map(drop)
    }
}

fn read_call(row: &Row) -> Result<PipelineCall, StoreError> {
    let cost: Option<i64> = row.get("cost_micro_usd")?;
    Ok(PipelineCall {
        id: row.id("id")?,
        pipelines: row.get("pipelines")?,
        owner: row.id("owner")?,
        chat: row.optional_id("chat")?,
        run: row.optional_id("run")?,
        model: row.get("model")?,
        at: row.get("at")?,
        duration_ms: row.number("duration_ms")?,
        usage: Usage::of(row.number("input_tokens")?, row.number("output_tokens")?),
        cost_micro_usd: cost.and_then(|cost| u64::try_from(cost).ok()),
        outcome: row.get("outcome")?,
        detail: Words::of_column(row.get("detail")?),
    })
}
