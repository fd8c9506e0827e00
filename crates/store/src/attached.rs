//! Files that come with messages: collections of one document that only their chat knows.

use domain::{ChatId, CollectionId, UserId};

use crate::{
    Store, StoreError,
    query::{Row, readable},
};

/// A file that came with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// The collection that it is.
    pub collection: CollectionId,
    /// What it is called.
    pub name: String,
    /// Whose messages it came with.
    pub chat: ChatId,
}

impl Store {
    /// The files that came with messages of somebody's chats.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn attached_files(&self, owner: UserId) -> Result<Vec<Attached>, StoreError> {
        let sql = "SELECT id, name, chat FROM collections \
                   WHERE owner = $1 AND attached AND chat IS NOT NULL ORDER BY id";
        let read = |row: &Row| {
            Ok(Attached {
                collection: row.id("id")?,
                name: row.get("name")?,
                chat: row.id("chat")?,
            })
        };
        Ok(readable(
            &self.db().read(sql).id(owner).fetch_all().await?,
            read,
        ))
    }

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
        let sql = "UPDATE collections SET chat = $3 WHERE id = $1 AND owner = $2 AND attached AND chat IS NULL";
        self.db()
            .write(sql)
            .id(id)
            .id(owner)
            .id(chat)
            .execute()
            .await?;
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
