//! Output of background model calls for a chat: titles, follow-up suggestions, and a log of the calls.

use std::collections::HashMap;

use domain::{ChatId, LocalizedText, MessageId, PipelineCallId, RunId, Usage, UserId};

use crate::{
    Store, StoreError,
    query::{Row, readable},
    search,
    sums::{MAX_COUNTER, sum},
};

/// A background model call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineCall {
    /// Its id.
    pub id: PipelineCallId,
    /// Its pipelines, by name, separated by commas.
    pub pipelines: String,
    /// The account that pays.
    pub owner: UserId,
    /// Its chat.
    pub chat: Option<ChatId>,
    /// The preceding run.
    pub run: Option<RunId>,
    /// The model's id.
    pub model: String,
    /// The start time.
    pub at: i64,
    /// How long it took, milliseconds.
    pub duration_ms: u64,
    /// Tokens used.
    pub usage: Usage,
    /// Millionths of a US dollar, if the price is known.
    pub cost_micro_usd: Option<u64>,
    /// The outcome: `done`, `fallback` if the answer was unusable, `failed`, `cancelled`.
    pub outcome: String,
    /// The output, or the reason why there is none.
    pub detail: LocalizedText,
}

/// Totals for a set of pipelines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PipelineSum {
    /// The pipelines, by name, separated by commas.
    pub pipelines: String,
    /// The number of calls.
    pub calls: u64,
    /// The number of calls without usable output.
    pub failed: u64,
    /// The number of cancelled calls.
    pub cancelled: u64,
    /// The total tokens.
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
    /// Whether the title is the first words of the chat, which a model may replace.
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

    /// Sets a model's title, unless a person has named the chat meanwhile. Returns whether it did. The chat keeps its
    /// position in the list.
    ///
    /// # Errors
    /// Database errors only.
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

    /// The same for a requested title: it also replaces an earlier one of a model, or an empty one. Returns whether it
    /// did.
    ///
    /// # Errors
    /// Database errors only.
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

    /// Stores follow-up suggestions for this message, replacing earlier ones. Does nothing if it is gone.
    ///
    /// # Errors
    /// Database errors only.
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

    /// The follow-up suggestions of a chat's messages.
    ///
    /// # Errors
    /// Database errors only.
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

    /// Logs a call. Does nothing if its chat or run is gone.
    ///
    /// # Errors
    /// Database errors only.
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

    /// The calls after a run, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn pipeline_calls_of(&self, run: RunId) -> Result<Vec<PipelineCall>, StoreError> {
        let sql = select_calls!("WHERE run = $1 ORDER BY at, id");
        let rows = self.db().read(sql).id(run).fetch_all().await?;
        Ok(readable(&rows, read_call))
    }

    /// The latest calls of all pipelines, the newest first.
    ///
    /// # Errors
    /// Database errors only.
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

    /// The totals of all calls since `since`.
    ///
    /// # Errors
    /// Database errors only.
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

    /// Deletes calls from before `until`.
    ///
    /// # Errors
    /// Database errors only.
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
        detail: LocalizedText::of_column(row.get("detail")?),
    })
}
