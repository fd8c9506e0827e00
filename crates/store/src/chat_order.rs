//! How people keep order among their chats: folders, what stands above, what is put away, and tags.

use domain::{ChatId, FolderId, UserId};

use crate::{
    Store, StoreError,
    query::{Row, Tx, readable},
};

/// Where its owner has put a chat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatOrder {
    /// It stands above the others.
    pub pinned: bool,
    /// It is put away: neither listed nor found unless asked for.
    pub archived: bool,
    /// The folder it is in.
    pub folder: Option<FolderId>,
    /// Its tags in their order. None has a comma.
    pub tags: Vec<String>,
}

/// What changes for some chats; the rest stays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChatOrderChange {
    /// Whether they stand above the others.
    pub pinned: Option<bool>,
    /// Whether they are put away.
    pub archived: Option<bool>,
    /// The folder they go to, or out of any.
    pub folder: Option<Option<FolderId>>,
}

/// A folder of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Its id.
    pub id: FolderId,
    /// What it is called; no other of that person's has the same, in whatever case.
    pub name: String,
    /// How many chats are in it that are not put away.
    pub chats: u64,
}

/// A tag of a person's chats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagCount {
    /// The tag.
    pub tag: String,
    /// How many chats have it that are not put away.
    pub chats: u64,
}

impl Store {
    /// A person's folders, by name.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn folders(&self, owner: UserId) -> Result<Vec<Folder>, StoreError> {
        let sql = "SELECT id, name, (SELECT count(*) FROM chats WHERE folder = folders.id AND person IS NULL AND NOT archived) AS chats \
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

    /// Makes a folder.
    ///
    /// # Errors
    /// `Conflict("name")` where the person has one of that name, `Conflict("folders")` where they have `most`.
    pub async fn create_folder(
        &self,
        owner: UserId,
        (id, name): (FolderId, &str),
        most: u32,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        make_folder(&mut tx, owner, (id, name), most).await?;
        tx.commit().await
    }

    /// The folder of that name, which is made where it is not there; nothing where the person has `most`.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn folder_named(
        &self,
        owner: UserId,
        name: &str,
        most: u32,
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
        match make_folder(&mut tx, owner, (id, name), most).await {
            Err(StoreError::Conflict(_)) => return Ok(None),
            made => made?,
        }
        tx.commit().await?;
        Ok(Some(id))
    }

    /// Gives a folder another name.
    ///
    /// # Errors
    /// `NotFound`, and `Conflict("name")` where another has that name.
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

    /// Removes a folder; its chats stay, in none.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_folder(&self, owner: UserId, id: FolderId) -> Result<(), StoreError> {
        let sql = "DELETE FROM folders WHERE id = $1 AND owner = $2";
        self.db().write(sql).id(id).id(owner).execute_on_one().await
    }

    /// Puts those of the chats that are the person's where they are to be, all at once; tells how many these are.
    ///
    /// # Errors
    /// `NotFound` where the folder is not the person's.
    pub async fn order_chats(
        &self,
        owner: UserId,
        chats: &[ChatId],
        change: &ChatOrderChange,
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
    /// Only those of the database.
    pub async fn tags(&self, owner: UserId) -> Result<Vec<TagCount>, StoreError> {
        let sql = "SELECT tag, count(*) AS chats FROM chats JOIN chat_tags ON chat_tags.chat = chats.id \
                   WHERE owner = $1 AND person IS NULL AND NOT archived GROUP BY tag ORDER BY count(*) DESC, tag";
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

    /// Gives a chat the tags that its owner has chosen. No model changes them from then on, also where they are none.
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

    /// Gives a chat the tags that a model has found, unless its owner has chosen some. Whether it did.
    ///
    /// # Errors
    /// Only those of the database; a chat that is not there gets none.
    pub async fn set_generated_tags(
        &self,
        chat: ChatId,
        tags: &[String],
    ) -> Result<bool, StoreError> {
        let mut tx = self.db().begin().await?;
        // Also keeps the owner from choosing meanwhile.
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
    (id, name): (FolderId, &str),
    most: u32,
) -> Result<(), StoreError> {
    // Also keeps two at once from being one too many.
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
    if row.number("folders")? >= u64::from(most) {
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
