//! Queue of chats for learning, and the learned facts, stored atomically with the progress mark.

use domain::{ChatId, FactId, MessageId, UserId};

use crate::{
    Store, StoreError,
    query::{Query, Row, Tx, readable},
};

/// A chat with messages that were not processed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatToLearnFrom {
    /// The chat.
    pub chat: ChatId,
    /// The owner.
    pub owner: UserId,
    /// When learning was enabled for this person.
    pub learns_since: i64,
    /// Messages up to this time were processed, or are excluded.
    pub after: i64,
    /// The time of the last change in it.
    pub until: i64,
    /// The number of failures.
    pub failures: u64,
}

/// The result of learning from a chat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Learned {
    /// New facts.
    pub new: Vec<NewFact>,
    /// Known facts that are replaced by these, by id.
    pub changed: Vec<NewFact>,
    /// Facts that no longer hold.
    pub gone: Vec<FactId>,
}

/// A newly learned fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFact {
    /// Its id.
    pub id: FactId,
    /// A short sentence.
    pub text: String,
    /// The message it was learned from.
    pub message: MessageId,
}

pub(crate) const MARK: &str = "INSERT INTO learned_chats (chat, looked_until, failures, retry_at) VALUES ($1, $2, $3, $4) \
                    ON CONFLICT (chat) DO UPDATE SET looked_until = excluded.looked_until, \
                    failures = excluded.failures, retry_at = excluded.retry_at";

/// Values for [`MARK`]: messages of the chat up to `until` are processed.
pub(crate) fn mark<'a>(query: Query<'a>, chat: ChatId, until: i64) -> Query<'a> {
    query.id(chat).bind(until).number(0).bind(until)
}

impl Store {
    /// Chats with unprocessed messages, none after `quiet_since`, and without a running run; oldest first, at most
    /// `limit`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn chats_to_learn_from(
        &self,
        quiet_since: i64,
        now: i64,
        limit: u32,
    ) -> Result<Vec<ChatToLearnFrom>, StoreError> {
        let sql = "SELECT chats.id, chats.owner, chats.updated_at, users.learns_since, \
                   learned_chats.looked_until, learned_chats.failures \
                   FROM users JOIN chats ON chats.owner = users.id \
                   LEFT JOIN learned_chats ON learned_chats.chat = chats.id \
                   WHERE users.uses_memory AND users.learns_since IS NOT NULL \
                   AND chats.updated_at > users.learns_since AND chats.updated_at <= $1 \
                   AND chats.person IS NULL AND chats.expires_at IS NULL \
                   AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.chat = chats.id AND runs.finished_at IS NULL) \
                   AND (learned_chats.chat IS NULL OR (chats.updated_at > learned_chats.looked_until \
                   AND learned_chats.retry_at <= $2)) \
                   ORDER BY chats.updated_at, chats.id LIMIT $3";
        let query = self
            .db()
            .read(sql)
            .bind(quiet_since)
            .bind(now)
            .bind(i64::from(limit));
        Ok(readable(&query.fetch_all().await?, read))
    }

    /// Stores facts learned from a chat and the progress; a person has at most `max` facts. Returns false if the
    /// person has disabled learning, or deleted all facts, meanwhile.
    ///
    /// # Errors
    /// `NotFound` if the chat is gone; otherwise only those of the database.
    pub async fn learn(
        &self,
        from: &ChatToLearnFrom,
        learned: &Learned,
        max: u32,
        now: i64,
    ) -> Result<bool, StoreError> {
        let mut tx = self.db().begin().await?;
        // Locks the row until the end.
        let sql = "UPDATE users SET learns_since = learns_since \
                   WHERE id = $1 AND learns_since = $2 AND uses_memory";
        if tx
            .query(sql)
            .id(from.owner)
            .bind(from.learns_since)
            .execute()
            .await?
            == 0
        {
            return Ok(false);
        }
        // Another server may have processed it concurrently.
        let sql = "SELECT chat FROM learned_chats WHERE chat = $1 AND looked_until >= $2";
        if tx
            .query(sql)
            .id(from.chat)
            .bind(from.until)
            .fetch_optional()
            .await?
            .is_some()
        {
            return Ok(false);
        }
        mark(tx.query(MARK), from.chat, from.until)
            .execute()
            .await?;
        for id in &learned.gone {
            let sql = "DELETE FROM facts WHERE id = $1 AND owner = $2 AND NOT corrected";
            tx.query(sql).id(id).id(from.owner).execute().await?;
        }
        for NewFact { id, text, message } in &learned.changed {
            let sql = "UPDATE facts SET content = $3, chat = $4, message = $5, learned_at = $6 \
                       WHERE id = $1 AND owner = $2 AND NOT corrected";
            let query = tx.query(sql).id(id).id(from.owner).text(text).id(from.chat);
            query.id(message).bind(now).execute().await?;
        }
        for fact in &learned.new {
            add(&mut tx, from, fact, max, now).await?;
        }
        tx.commit().await?;
        Ok(true)
    }

    /// Records a failure and schedules a retry at `retry_at`.
    ///
    /// # Errors
    /// `NotFound` if the chat is gone; otherwise only those of the database.
    pub async fn learn_later(
        &self,
        from: &ChatToLearnFrom,
        retry_at: i64,
    ) -> Result<(), StoreError> {
        let query = self
            .db()
            .write(MARK)
            .id(from.chat)
            .bind(from.after)
            .number(from.failures + 1);
        query.bind(retry_at).execute().await.map(drop)
    }
}

async fn add(
    tx: &mut Tx,
    from: &ChatToLearnFrom,
    NewFact { id, text, message }: &NewFact,
    max: u32,
    now: i64,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO facts (id, owner, content, chat, message, learned_at, corrected) \
               SELECT $1, $2, $3, $4, $5, $6, FALSE WHERE (SELECT count(*) FROM facts WHERE owner = $2) < $7";
    let query = tx
        .query(sql)
        .id(id)
        .id(from.owner)
        .text(text)
        .id(from.chat)
        .id(message);
    query
        .bind(now)
        .bind(i64::from(max))
        .execute()
        .await
        .map(drop)
}

fn read(row: &Row) -> Result<ChatToLearnFrom, StoreError> {
    let learns_since = row.get::<i64>("learns_since")?;
    let looked_until = row.get::<Option<i64>>("looked_until")?;
    Ok(ChatToLearnFrom {
        chat: row.id("id")?,
        owner: row.id("owner")?,
        learns_since,
        after: learns_since.max(looked_until.unwrap_or(i64::MIN)),
        until: row.get("updated_at")?,
        failures: row
            .get::<Option<i64>>("failures")?
            .unwrap_or(0)
            .unsigned_abs(),
    })
}
