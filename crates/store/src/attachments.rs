//! Message attachments: collections of one document that only their chat can see.

use domain::{ChatId, CollectionId, UserId};

use crate::{
    Store, StoreError,
    query::{Row, readable},
};

/// An attachment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Its collection.
    pub collection: CollectionId,
    /// The file name.
    pub name: String,
    /// The chat of its message.
    pub chat: ChatId,
}

pub(crate) const ASSIGN: &str =
    "UPDATE collections SET chat = $3 WHERE id = $1 AND owner = $2 AND attached AND chat IS NULL";

impl Store {
    /// The attachments in a person's chats, except temporary ones.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn attachments(&self, owner: UserId) -> Result<Vec<Attachment>, StoreError> {
        let sql = "SELECT collections.id, name, chat FROM collections JOIN chats ON chats.id = chat \
                   WHERE collections.owner = $1 AND attached AND expires_at IS NULL ORDER BY collections.id";
        let read = |row: &Row| {
            Ok(Attachment {
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

    /// Assigns an attachment to its chat, with which it is deleted. An assigned attachment stays with its chat.
    pub async fn assign_attachment(
        &self,
        owner: UserId,
        id: CollectionId,
        chat: ChatId,
    ) -> Result<(), StoreError> {
        self.db()
            .write(ASSIGN)
            .id(id)
            .id(owner)
            .id(chat)
            .execute()
            .await?;
        Ok(())
    }

    /// Deletes attachments from before `before` that were never sent.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn purge_unsent_attachments(&self, before: i64) -> Result<u64, StoreError> {
        let sql = "DELETE FROM collections WHERE attached AND chat IS NULL AND created_at < $1";
        self.db().write(sql).bind(before).execute().await
    }
}
