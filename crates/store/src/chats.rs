//! Chats. Each belongs to one person; for all others it does not exist.

use domain::{ChatId, FolderId, MessageId, ModelParameters, UserId};

use crate::{
    ChatOrganization, Principal, Store, StoreError,
    query::{Query, Row, readable},
    search,
    transaction::despite_deadlocks,
};

/// A chat without its messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Chat {
    /// Its id.
    pub id: ChatId,
    /// The owner, and the key or front end that created it.
    pub principal: Principal,
    /// The title.
    pub title: String,
    /// The displayed leaf of the message tree; `None` for an empty chat.
    pub current: Option<MessageId>,
    /// The directory of its files, by name; `None` if they are virtual.
    pub directory: Option<String>,
    /// The parameters of its model calls.
    pub parameters: ModelParameters,
    /// The creation time.
    pub created_at: i64,
    /// The time of the last change.
    pub updated_at: i64,
    /// Whether a run has ended that its owner has not looked at.
    pub unread: bool,
    /// When it is deleted, if it is temporary: then it is in no list and no search, and nothing is learned from it.
    pub expires_at: Option<i64>,
    /// Its place in the owner's list.
    pub order: ChatOrganization,
}

/// Which chats to list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChatPage {
    /// Only chats whose title or messages contain this, in whatever case.
    pub query: Option<String>,
    /// Only chats changed before this time.
    pub before: Option<i64>,
    /// Only archived ones, or only others.
    pub archived: Option<bool>,
    /// Only pinned ones.
    pub pinned: bool,
    /// Only those in this folder.
    pub folder: Option<FolderId>,
    /// Only those with this tag.
    pub tag: Option<String>,
    /// Maximum number of chats.
    pub limit: u32,
}

pub(crate) const INSERT: &str = "INSERT INTO chats \
                                 (id, owner, title, search_text, current_message, created_at, updated_at, \
                                 directory, pinned, archived, folder, api_key, person, parameters, expires_at) \
                                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";

/// Binds the values of [`INSERT`]. Tags are separate rows.
pub(crate) fn insert<'a>(query: Query<'a>, chat: &Chat) -> Query<'a> {
    let query = query.id(chat.id).id(chat.principal.account);
    let query = query
        .text(&chat.title)
        .text(&search::fold(&chat.title))
        .optional_id(chat.current);
    let query = query
        .bind(chat.created_at)
        .bind(chat.updated_at)
        .bind(chat.directory.as_deref());
    let query = query
        .bind(chat.order.pinned)
        .bind(chat.order.archived)
        .optional_id(chat.order.folder);
    let query = query
        .optional_id(chat.principal.key)
        .optional_text(chat.principal.person.as_deref());
    let query = query.optional_text(written(&chat.parameters).as_deref());
    query.bind(chat.expires_at)
}

/// The JSON of the parameters; `None` if none are set.
fn written(parameters: &ModelParameters) -> Option<String> {
    // Plain data always serializes.
    serde_json::to_string(parameters)
        .ok()
        .filter(|_| !parameters.is_unset())
}

/// The columns that [`read_chat`] reads, where `chats` is among the tables.
macro_rules! chat_columns {
    () => {
        "chats.id, chats.owner, chats.api_key, chats.person, chats.title, chats.current_message, chats.created_at, chats.updated_at, \
         chats.directory, chats.parameters, chats.unread, chats.expires_at, chats.pinned, chats.archived, chats.folder, \
         (SELECT string_agg(tag, ',' ORDER BY place) FROM chat_tags WHERE chat_tags.chat = chats.id) AS tags"
    };
}
pub(crate) use chat_columns;

/// The statement that reads chats, with the given end.
macro_rules! select_chats {
    ($end:literal) => {
        concat!(
            "SELECT ",
            crate::chats::chat_columns!(),
            " FROM chats ",
            $end
        )
    };
}
pub(crate) use select_chats;

impl Store {
    /// Stores a new chat.
    ///
    /// # Errors
    /// `NotFound` if the owner is gone, `Conflict("id")` if the id is taken.
    pub async fn create_chat(&self, chat: &Chat) -> Result<(), StoreError> {
        insert(self.db().write(INSERT), chat)
            .execute()
            .await
            .map(drop)
    }

    /// A chat of the same individual: of the account if the principal is no user of a front end.
    ///
    /// # Errors
    /// `NotFound`, for other people's chats too.
    pub async fn chat(&self, principal: &Principal, id: ChatId) -> Result<Chat, StoreError> {
        let sql = select_chats!("WHERE id = $1 AND owner = $2");
        let chat = read_chat(
            &self
                .db()
                .read(sql)
                .id(id)
                .id(principal.account)
                .fetch_one()
                .await?,
        )?;
        if chat.principal.is_same_individual(principal) {
            Ok(chat)
        } else {
            Err(StoreError::NotFound)
        }
    }

    /// An account's own chats, newest change first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn chats(&self, owner: UserId, page: &ChatPage) -> Result<Vec<Chat>, StoreError> {
        let sql = select_chats!(
            r"WHERE owner = $1 AND person IS NULL AND expires_at IS NULL AND updated_at < $2
                AND (search_text LIKE $3 ESCAPE '\' OR search_text LIKE $9 ESCAPE '\' OR EXISTS (
                    SELECT 1 FROM messages
                    WHERE messages.chat = chats.id AND (messages.search_text LIKE $3 ESCAPE '\'
                        OR messages.search_text LIKE $9 ESCAPE '\')))
                AND (CAST($5 AS BOOLEAN) IS NULL OR archived = $5) AND (NOT $6 OR pinned)
                AND (CAST($7 AS TEXT) IS NULL OR folder = $7)
                AND (CAST($8 AS TEXT) IS NULL OR EXISTS (
                    SELECT 1 FROM chat_tags WHERE chat_tags.chat = chats.id AND tag = $8))
              ORDER BY updated_at DESC, chats.id DESC LIMIT $4"
        );
        let wanted = page.query.as_deref().unwrap_or_default();
        let pattern = search::pattern(wanted);
        let query = self
            .db()
            .read(sql)
            .id(owner)
            .bind(page.before.unwrap_or(i64::MAX));
        let query = query
            .text(&pattern)
            .bind(i64::from(page.limit))
            .bind(page.archived)
            .bind(page.pinned);
        let rows = query
            .optional_id(page.folder)
            .optional_text(page.tag.as_deref())
            .optional_text(search::earlier_pattern(wanted).as_deref())
            .fetch_all()
            .await?;
        Ok(readable(&rows, read_chat))
    }

    /// Renames a chat.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn rename_chat(
        &self,
        owner: UserId,
        id: ChatId,
        title: &str,
        now: i64,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE chats SET title = $3, search_text = $4, updated_at = $5, titled_by = 'person' \
                   WHERE id = $1 AND owner = $2 AND person IS NULL";
        let query = self
            .db()
            .write(sql)
            .id(id)
            .id(owner)
            .text(title)
            .text(&search::fold(title));
        query.bind(now).execute_on_one().await
    }

    /// Sets the parameters of a chat's model calls.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn set_chat_parameters(
        &self,
        owner: UserId,
        id: ChatId,
        parameters: &ModelParameters,
    ) -> Result<(), StoreError> {
        let sql =
            "UPDATE chats SET parameters = $3 WHERE id = $1 AND owner = $2 AND person IS NULL";
        self.db()
            .write(sql)
            .id(id)
            .id(owner)
            .optional_text(written(parameters).as_deref())
            .execute_on_one()
            .await
    }

    /// Changes the displayed leaf of the message tree.
    ///
    /// # Errors
    /// `NotFound`, and `Conflict("message")` if the message is not in that chat.
    pub async fn set_current(
        &self,
        owner: UserId,
        id: ChatId,
        message: MessageId,
        now: i64,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE chats SET current_message = $3, updated_at = $4 \
                   WHERE id = $1 AND owner = $2 AND person IS NULL \
                   AND EXISTS (SELECT 1 FROM messages WHERE messages.id = $3 AND messages.chat = $1)";
        match self
            .db()
            .write(sql)
            .id(id)
            .id(owner)
            .id(message)
            .bind(now)
            .execute()
            .await?
        {
            // Distinguishes a missing chat from a missing message.
            0 => {
                let chat = self.chat(&Principal::of_account(owner), id).await;
                chat.and(Err(StoreError::Conflict("message")))
            }
            _ => Ok(()),
        }
    }

    /// Marks a chat as read. Returns whether there was anything new.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn mark_chat_read(&self, owner: UserId, id: ChatId) -> Result<bool, StoreError> {
        let sql = "UPDATE chats SET unread = FALSE WHERE id = $1 AND owner = $2 AND person IS NULL AND unread";
        match self.db().write(sql).id(id).id(owner).execute().await? {
            0 => self
                .chat(&Principal::of_account(owner), id)
                .await
                .map(|_| false),
            _ => Ok(true),
        }
    }

    /// Changes when a temporary chat is deleted; `None` keeps it for good.
    ///
    /// # Errors
    /// `NotFound`, and `Conflict("expires_at")` if the chat is not temporary and would become so.
    pub async fn set_chat_expiry(
        &self,
        owner: UserId,
        id: ChatId,
        expires_at: Option<i64>,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE chats SET expires_at = $3 WHERE id = $1 AND owner = $2 AND person IS NULL \
                   AND (expires_at IS NOT NULL OR $4)";
        let query = self.db().write(sql).id(id).id(owner).bind(expires_at);
        match query.bind(expires_at.is_none()).execute().await? {
            0 => {
                let chat = self.chat(&Principal::of_account(owner), id).await;
                chat.and(Err(StoreError::Conflict("expires_at")))
            }
            _ => Ok(()),
        }
    }

    /// Temporary chats to delete now, with their owners.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn expired_chats(
        &self,
        now: i64,
        limit: u32,
    ) -> Result<Vec<(UserId, ChatId)>, StoreError> {
        let sql = "SELECT owner, id FROM chats WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2";
        let query = self.db().read(sql).bind(now).bind(i64::from(limit));
        let rows = query.fetch_all().await?;
        Ok(readable(&rows, |row| Ok((row.id("owner")?, row.id("id")?))))
    }

    /// Deletes a chat with its messages, runs, logs and files, atomically.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_chat(&self, owner: UserId, id: ChatId) -> Result<(), StoreError> {
        despite_deadlocks(|| async {
            let mut tx = self.db().begin().await?;
            // Messages, runs and logs are deleted by their foreign keys.
            let chat = "DELETE FROM chats WHERE id = $1 AND owner = $2 AND person IS NULL";
            tx.query(chat).id(id).id(owner).execute_on_one().await?;
            let files = "DELETE FROM files WHERE workspace = $1";
            tx.query(files).id(id).execute().await?;
            tx.commit().await
        })
        .await
    }
}

pub(crate) fn read_chat(row: &Row) -> Result<Chat, StoreError> {
    Ok(Chat {
        id: row.id("id")?,
        principal: Principal::read(row)?,
        title: row.get("title")?,
        current: row.optional_id("current_message")?,
        directory: row.get("directory")?,
        parameters: parameters_of(row)?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
        unread: row.get("unread")?,
        expires_at: row.get("expires_at")?,
        order: ChatOrganization {
            pinned: row.get("pinned")?,
            archived: row.get("archived")?,
            folder: row.optional_id("folder")?,
            tags: tags_of(row)?,
        },
    })
}

fn parameters_of(row: &Row) -> Result<ModelParameters, StoreError> {
    let written: Option<String> = row.get("parameters")?;
    // Unknown data of a later version is ignored rather than fatal.
    Ok(written
        .and_then(|written| serde_json::from_str(&written).ok())
        .unwrap_or_default())
}

fn tags_of(row: &Row) -> Result<Vec<String>, StoreError> {
    let tags: Option<String> = row.get("tags")?;
    Ok(tags
        .iter()
        .flat_map(|tags| tags.split(','))
        .map(str::to_owned)
        .collect())
}
