//! Files that come with messages: collections of one document that only their chat knows.

use domain::{ChatId, CollectionId, UserId};

use crate::{Store, StoreError};

impl Store {
    /// Gives a file that came with a message to its chat, with which it is deleted. One that a chat has stays there.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn attach_collection(
        &self,
        owner: UserId,
        id: CollectionId,
        chat: ChatId,
    ) -> Result<(), StoreError> {
        let sql =
            "UPDATE collections SET chat = $3 WHERE id = $1 AND owner = $2 AND attached AND chat IS NULL";
        self.db().write(sql).id(id).id(owner).id(chat).execute().await?;
        Ok(())
    }

    /// Deletes the files from before `before` that were to come with a message and never did.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn purge_unsent_files(&self, before: i64) -> Result<u64, StoreError> {
        let sql = "DELETE FROM collections WHERE attached AND chat IS NULL AND created_at < $1";
        self.db().write(sql).bind(before).execute().await
    }
}
