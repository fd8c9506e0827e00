//! Reads a person's chats and runs for an export, in an order that stays stable while they continue to work.

use domain::{ChatId, RunId, UserId};

use crate::{
    Chat, Run, Store, StoreError,
    chats::{read_chat, select_chats},
    query::readable,
    runs::{read_run, select_runs},
};

impl Store {
    /// An account's own chats created after `after`, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn chats_made_after(
        &self,
        owner: UserId,
        after: Option<ChatId>,
        limit: u32,
    ) -> Result<Vec<Chat>, StoreError> {
        let sql = select_chats!(
            "WHERE owner = $1 AND person IS NULL AND expires_at IS NULL AND id > $2 ORDER BY id LIMIT $3"
        );
        let after = after.map_or(String::new(), |id| id.to_string());
        let query = self
            .db()
            .read(sql)
            .id(owner)
            .text(&after)
            .bind(i64::from(limit));
        Ok(readable(&query.fetch_all().await?, read_chat))
    }

    /// All runs of a chat, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn runs_in(&self, chat: ChatId) -> Result<Vec<Run>, StoreError> {
        let sql = select_runs!("WHERE chat = $1 ORDER BY started_at, id");
        Ok(readable(
            &self.db().read(sql).id(chat).fetch_all().await?,
            read_run,
        ))
    }

    /// An account's own runs without a chat, created after `after`, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn runs_without_chat_after(
        &self,
        owner: UserId,
        after: Option<RunId>,
        limit: u32,
    ) -> Result<Vec<Run>, StoreError> {
        let sql = select_runs!(
            "WHERE owner = $1 AND person IS NULL AND chat IS NULL AND id > $2 ORDER BY id LIMIT $3"
        );
        let after = after.map_or(String::new(), |id| id.to_string());
        let query = self
            .db()
            .read(sql)
            .id(owner)
            .text(&after)
            .bind(i64::from(limit));
        Ok(readable(&query.fetch_all().await?, read_run))
    }
}
