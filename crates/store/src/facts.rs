//! Facts that agents have learned about a person, and the person's memory settings.

use domain::{ChatId, FactId, MessageId, UserId};

use crate::{
    Store, StoreError,
    query::{Row, readable},
};

/// A learned fact.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// Its id.
    pub id: FactId,
    /// A short sentence.
    pub text: String,
    /// The chat it was learned from; `None` if that is gone.
    pub chat: Option<ChatId>,
    /// The message it was learned from, which may be gone.
    pub message: Option<MessageId>,
    /// When it was learned or last changed.
    pub learned_at: i64,
    /// Whether the person has edited it. Learning does not change it then.
    pub corrected: bool,
}

/// A person's memory settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryUse {
    /// Whether agents may use the memory.
    pub uses_memory: bool,
    /// When learning from the person's messages was enabled; `None` if it is disabled.
    pub learns_since: Option<i64>,
}

impl Store {
    /// A person's memory settings.
    ///
    /// # Errors
    /// `NotFound` if there is no such person.
    pub async fn memory_use(&self, owner: UserId) -> Result<MemoryUse, StoreError> {
        let sql = "SELECT uses_memory, learns_since FROM users WHERE id = $1";
        let row = self.db().read(sql).id(owner).fetch_one().await?;
        Ok(MemoryUse {
            uses_memory: row.get("uses_memory")?,
            learns_since: row.get("learns_since")?,
        })
    }

    /// Changes a person's memory settings. Messages from before `learns_since` are never learned from.
    ///
    /// # Errors
    /// `NotFound` if there is no such person.
    pub async fn put_memory_use(&self, owner: UserId, now: MemoryUse) -> Result<(), StoreError> {
        let sql = "UPDATE users SET uses_memory = $2, learns_since = $3 WHERE id = $1";
        self.db()
            .write(sql)
            .id(owner)
            .bind(now.uses_memory)
            .bind(now.learns_since)
            .execute_on_one()
            .await
    }

    /// All facts about a person, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn facts(&self, owner: UserId) -> Result<Vec<Fact>, StoreError> {
        let sql = "SELECT id, content, chat, message, learned_at, corrected FROM facts WHERE owner = $1 \
                   ORDER BY learned_at, id";
        Ok(readable(
            &self.db().read(sql).id(owner).fetch_all().await?,
            read,
        ))
    }

    /// Replaces a fact by the person's own wording.
    ///
    /// # Errors
    /// `NotFound`, for other people's too.
    pub async fn correct_fact(
        &self,
        owner: UserId,
        id: FactId,
        text: &str,
    ) -> Result<Fact, StoreError> {
        let sql = "UPDATE facts SET content = $3, corrected = TRUE WHERE id = $1 AND owner = $2 \
                   RETURNING id, content, chat, message, learned_at, corrected";
        read(
            &self
                .db()
                .write(sql)
                .id(id)
                .id(owner)
                .text(text)
                .fetch_one()
                .await?,
        )
    }

    /// Deletes a fact. It is not learned again from messages that were already processed.
    ///
    /// # Errors
    /// `NotFound`, for other people's too.
    pub async fn forget_fact(&self, owner: UserId, id: FactId) -> Result<(), StoreError> {
        let sql = "DELETE FROM facts WHERE id = $1 AND owner = $2";
        self.db().write(sql).id(id).id(owner).execute_on_one().await
    }

    /// Deletes all facts. Learning in progress is discarded, too, as learning restarts at `now`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn forget_all_facts(&self, owner: UserId, now: i64) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        // First the row that learning locks while it stores, so that the two are serialized.
        let sql = "UPDATE users SET learns_since = CASE WHEN learns_since < $2 THEN $2 ELSE learns_since + 1 END \
                   WHERE id = $1 AND learns_since IS NOT NULL";
        tx.query(sql).id(owner).bind(now).execute().await?;
        tx.query("DELETE FROM facts WHERE owner = $1")
            .id(owner)
            .execute()
            .await?;
        tx.commit().await
    }
}

fn read(row: &Row) -> Result<Fact, StoreError> {
    Ok(Fact {
        id: row.id("id")?,
        text: row.get("content")?,
        chat: row.optional_id("chat")?,
        message: row.optional_id("message")?,
        learned_at: row.get("learned_at")?,
        corrected: row.get("corrected")?,
    })
}
