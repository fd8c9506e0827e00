//! The organization of chats: folders, pins, the archive, and tags.

use domain::{ChatId, FolderId, UserId};

use crate::{
    Store, StoreError,
    query::{Row, Tx, readable},
};

/// The place of a chat in its owner's list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatOrganization {
    /// Whether it is pinned.
    pub pinned: bool,
    /// Whether it is archived: listed and found only on request.
    pub archived: bool,
    /// Its folder.
    pub folder: Option<FolderId>,
    /// Its tags in order. None contains a comma.
    pub tags: Vec<String>,
}

/// Changes for some chats; `None` leaves a field unchanged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChatOrganizationChange {
    /// Whether they are pinned.
    pub pinned: Option<bool>,
    /// Whether they are archived.
    pub archived: Option<bool>,
    /// The folder they move to, or out of any.
    pub folder: Option<Option<FolderId>>,
}

/// A person's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Its id.
    pub id: FolderId,
    /// The name; unique for that person, case-insensitively.
    pub name: String,
    /// The number of chats in it that are not archived.
    pub chats: u64,
}

/// A tag of a person's chats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagCount {
    /// The tag.
    pub tag: String,
    /// The number of chats with it that are not archived.
    pub chats: u64,
}

impl Store {
    /// A person's folders, by name.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn folders(&self, owner: UserId) -> Result<Vec<Folder>, StoreError> {
        let sql = "SELECT id, name, (SELECT count(*) FROM chats WHERE folder = folders.id AND person IS NULL AND expires_at IS NULL AND NOT archived) AS chats \
                   FROM folders WHERE owner = $1 ORDER BY name_key, id";
        let read = |row: &Row| {
            Ok(Folder {
                id: row.id("id")?,
                name: row.get("name")?,
                chats: row.number("chats")?,
            })
        };
        Ok(readable(
            &self.db().read(sql).id(owner).fetch_all().await?,
            read,
        ))
    }

    /// Creates a folder.
    ///
    /// # Errors
    /// `Conflict("name")` if the name is taken, `Conflict("folders")` if the person has `max`.
    pub async fn create_folder(
        &self,
        owner: UserId,
        id: FolderId,
        name: &str,
        max: u32,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        make_folder(&mut tx, owner, id, name, max).await?;
        tx.commit().await
    }

    /// The folder of that name, created if it does not exist; `None` if the person has `max`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn folder_named(
        &self,
        owner: UserId,
        name: &str,
        max: u32,
    ) -> Result<Option<FolderId>, StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "SELECT id FROM folders WHERE owner = $1 AND name_key = $2";
        if let Some(row) = tx
            .query(sql)
            .id(owner)
            .text(&name.to_lowercase())
            .fetch_optional()
            .await?
        {
            return row.id("id").map(Some);
        }
        let id = FolderId::generate();
        match make_folder(&mut tx, owner, id, name, max).await {
            Err(StoreError::Conflict(_)) => return Ok(None),
            made => made?,
        }
        tx.commit().await?;
        Ok(Some(id))
    }

    /// Renames a folder.
    ///
    /// # Errors
    /// `NotFound`, and `Conflict("name")` if the name is taken.
    pub async fn rename_folder(
        &self,
        owner: UserId,
        id: FolderId,
        name: &str,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE folders SET name = $3, name_key = $4 WHERE id = $1 AND owner = $2";
        let query = self
            .db()
            .write(sql)
            .id(id)
            .id(owner)
            .text(name)
            .text(&name.to_lowercase());
        query.execute_on_one().await.map_err(|error| match error {
            StoreError::Conflict(_) => StoreError::Conflict("name"),
            error => error,
        })
    }

    /// Deletes a folder; its chats remain without one.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_folder(&self, owner: UserId, id: FolderId) -> Result<(), StoreError> {
        let sql = "DELETE FROM folders WHERE id = $1 AND owner = $2";
        self.db().write(sql).id(id).id(owner).execute_on_one().await
    }

    /// Applies the changes to those of the chats that are the person's, atomically; returns their number.
    ///
    /// # Errors
    /// `NotFound` if the folder is not the person's.
    pub async fn organize_chats(
        &self,
        owner: UserId,
        chats: &[ChatId],
        change: &ChatOrganizationChange,
    ) -> Result<u64, StoreError> {
        let mut tx = self.db().begin().await?;
        if let Some(Some(folder)) = change.folder {
            let sql = "SELECT id FROM folders WHERE id = $1 AND owner = $2";
            tx.query(sql).id(folder).id(owner).fetch_one().await?;
        }
        let sql = "UPDATE chats SET pinned = COALESCE($3, pinned), archived = COALESCE($4, archived), \
                   folder = CASE WHEN $5 THEN $6 ELSE folder END \
                   WHERE id = $1 AND owner = $2 AND person IS NULL";
        let mut changed = 0;
        for chat in chats {
            let query = tx
                .query(sql)
                .id(chat)
                .id(owner)
                .bind(change.pinned)
                .bind(change.archived);
            let query = query
                .bind(change.folder.is_some())
                .optional_id(change.folder.flatten());
            changed += query.execute().await?;
        }
        tx.commit().await?;
        Ok(changed)
    }

    /// The tags of a person's chats, the most used first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn tags(&self, owner: UserId) -> Result<Vec<TagCount>, StoreError> {
        let sql = "SELECT tag, count(*) AS chats FROM chats JOIN chat_tags ON chat_tags.chat = chats.id \
                   WHERE owner = $1 AND person IS NULL AND expires_at IS NULL AND NOT archived GROUP BY tag ORDER BY count(*) DESC, tag";
        let read = |row: &Row| {
            Ok(TagCount {
                tag: row.get("tag")?,
                chats: row.number("chats")?,
            })
        };
        self.db()
            .read(sql)
            .id(owner)
            .fetch_all()
            .await?
            .iter()
            .map(read)
            .collect()
    }

    /// Sets the tags that a chat's owner has chosen. Models no longer change them, even if the list is empty.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn set_tags(
        &self,
        owner: UserId,
        chat: ChatId,
        tags: &[String],
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE chats SET tagged_by_hand = TRUE WHERE id = $1 AND owner = $2 AND person IS NULL";
        tx.query(sql).id(chat).id(owner).execute_on_one().await?;
        replace_tags(&mut tx, chat, tags).await?;
        tx.commit().await
    }

    /// Sets the tags that a model has found, unless the owner has chosen some. Returns whether it did.
    ///
    /// # Errors
    /// Database errors only; a missing chat is ignored.
    pub async fn set_generated_tags(
        &self,
        chat: ChatId,
        tags: &[String],
    ) -> Result<bool, StoreError> {
        let mut tx = self.db().begin().await?;
        // Also locks out a concurrent choice of the owner.
        let sql = "UPDATE chats SET tagged_by_hand = FALSE WHERE id = $1 AND NOT tagged_by_hand";
        if tx.query(sql).id(chat).execute().await? == 0 {
            return Ok(false);
        }
        replace_tags(&mut tx, chat, tags).await?;
        tx.commit().await?;
        Ok(true)
    }
}

async fn make_folder(
    tx: &mut Tx,
    owner: UserId,
    id: FolderId,
    name: &str,
    max: u32,
) -> Result<(), StoreError> {
    // Also prevents concurrent callers from exceeding the limit.
    tx.query("UPDATE users SET name = name WHERE id = $1")
        .id(owner)
        .execute_on_one()
        .await?;
    let key = name.to_lowercase();
    let sql = "SELECT count(*) AS folders, COALESCE(sum(CASE WHEN name_key = $2 THEN 1 ELSE 0 END), 0) AS same \
               FROM folders WHERE owner = $1";
    let row = tx.query(sql).id(owner).text(&key).fetch_one().await?;
    if row.number("same")? > 0 {
        return Err(StoreError::Conflict("name"));
    }
    if row.number("folders")? >= u64::from(max) {
        return Err(StoreError::Conflict("folders"));
    }
    let sql = "INSERT INTO folders (id, owner, name, name_key) VALUES ($1, $2, $3, $4)";
    tx.query(sql)
        .id(id)
        .id(owner)
        .text(name)
        .text(&key)
        .execute()
        .await
        .map(drop)
}

async fn replace_tags(tx: &mut Tx, chat: ChatId, tags: &[String]) -> Result<(), StoreError> {
    tx.query("DELETE FROM chat_tags WHERE chat = $1")
        .id(chat)
        .execute()
        .await?;
    add_tags(tx, chat, tags).await
}

pub(crate) async fn add_tags(tx: &mut Tx, chat: ChatId, tags: &[String]) -> Result<(), StoreError> {
    let sql = "INSERT INTO chat_tags (chat, tag, place) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
    for (place, tag) in (0..).zip(tags) {
        tx.query(sql)
            .id(chat)
            .text(tag)
            .number(place)
            .execute()
            .await?;
    }
    Ok(())
}
