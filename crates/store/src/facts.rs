//! What agents have learned about a person, and whether they may use the memory at all.

use domain::{ChatId, FactId, MessageId, UserId};

use crate::{
    Store, StoreError,
    query::{Row, readable},
};

/// Something that was learned.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// Its id.
    pub id: FactId,
    /// A short sentence.
    pub text: String,
    /// The chat it was learned from; nothing where that is gone.
    pub chat: Option<ChatId>,
    /// The message it was learned from, which may be gone.
    pub message: Option<MessageId>,
    /// When it was learned, or last changed.
    pub learned_at: i64,
    /// Whether it is in the person's own words. Learning leaves it alone then.
    pub corrected: bool,
}

/// What a person lets agents do with the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryUse {
    /// Whether agents may use it at all.
    pub uses_memory: bool,
    /// Since when they learn from what the person writes; nothing where they do not.
    pub learns_since: Option<i64>,
}

impl Store {
    /// What a person lets agents do.
    ///
    /// # Errors
    /// `NotFound` where there is no such person.
    pub async fn memory_use(&self, owner: UserId) -> Result<MemoryUse, StoreError> {
        let sql = "SELECT uses_memory, learns_since FROM users WHERE id = $1";
        let row = self.db().read(sql).id(owner).fetch_one().await?;
        Ok(MemoryUse {
            uses_memory: row.get("uses_memory")?,
            learns_since: row.get("learns_since")?,
        })
    }

    /// Changes what a person lets agents do. Messages of before `learns_since` are never learned from.
    ///
    /// # Errors
    /// `NotFound` where there is no such person.
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

    /// All that was learned about a person, oldest first.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn facts(&self, owner: UserId) -> Result<Vec<Fact>, StoreError> {
        let sql = "SELECT id, content, chat, message, learned_at, corrected FROM facts WHERE owner = $1 \
                   ORDER BY learned_at, id";
        Ok(readable(
            &self.db().read(sql).id(owner).fetch_all().await?,
            read,
        ))
    }

    /// Puts one into the person's own words.
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

    /// Forgets one. It does not come back from the messages that were looked at.
    ///
    /// # Errors
    /// `NotFound`, for other people's too.
    pub async fn forget_fact(&self, owner: UserId, id: FactId) -> Result<(), StoreError> {
        let sql = "DELETE FROM facts WHERE id = $1 AND owner = $2";
        self.db().write(sql).id(id).id(owner).execute_on_one().await
    }

    /// Forgets all. What is being learned just now is dropped too, as learning begins anew at `now`.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn forget_all_facts(&self, owner: UserId, now: i64) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        // First the row that learning holds while it stores, so that the two come one after the other.
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
