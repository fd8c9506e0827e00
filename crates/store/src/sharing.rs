//! Shared chats: with individual readers, or with all signed-in users who have the link.

use domain::{ChatId, UserId};

use crate::{
    Store, StoreError,
    chats::{Chat, chat_columns, read_chat},
    query::{Row, readable},
    users::{User, read_user},
};

/// The sharing of a chat.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sharing {
    /// Whether all signed-in users with the link may read it.
    pub open: bool,
    /// The readers, in the order they were added.
    pub readers: Vec<ChatReader>,
}

/// A person that a chat is shared with.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatReader {
    /// The account.
    pub user: User,
    /// Whether they may also write in the chat.
    pub may_reply: bool,
}

/// A chat with its owner.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedChat {
    /// The chat.
    pub chat: Chat,
    /// The owner's name.
    pub owner_name: String,
    /// The owner's address.
    pub owner_email: String,
    /// Whether the reader may also write in it.
    pub may_reply: bool,
}

pub(crate) const SHARED: &str = concat!(
    chat_columns!(),
    ", users.name AS owner_name, users.email AS owner_email"
);

impl Store {
    /// A chat that is shared with `reader`, by name or by link.
    ///
    /// # Errors
    /// `NotFound`, also for chats that are not shared, and for their own.
    pub async fn shared_chat(
        &self,
        reader: UserId,
        chat: ChatId,
    ) -> Result<SharedChat, StoreError> {
        let sql = format!(
            "SELECT {SHARED}, COALESCE(may_reply, FALSE) AS may_reply FROM chats JOIN users ON users.id = chats.owner \
             LEFT JOIN chat_readers ON chat = chats.id AND reader = $2 \
             WHERE chats.id = $1 AND chats.owner <> $2 AND chats.person IS NULL AND (open OR reader IS NOT NULL)"
        );
        read_shared(&self.db().built(sql).id(chat).id(reader).fetch_one().await?)
    }

    /// A chat of any owner.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn chat_of_any_owner(&self, chat: ChatId) -> Result<SharedChat, StoreError> {
        let sql = format!(
            "SELECT {SHARED}, FALSE AS may_reply FROM chats JOIN users ON users.id = chats.owner WHERE chats.id = $1"
        );
        read_shared(&self.db().built(sql).id(chat).fetch_one().await?)
    }

    /// The chats that are shared with `reader` by name, newest change first, at most `limit`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn chats_shared_with(
        &self,
        reader: UserId,
        limit: u32,
    ) -> Result<Vec<SharedChat>, StoreError> {
        let sql = format!(
            "SELECT {SHARED}, may_reply FROM chat_readers JOIN chats ON chats.id = chat_readers.chat \
             JOIN users ON users.id = chats.owner WHERE reader = $1 ORDER BY updated_at DESC, chats.id LIMIT $2"
        );
        let rows = self
            .db()
            .built(sql)
            .id(reader)
            .bind(i64::from(limit))
            .fetch_all()
            .await?;
        Ok(readable(&rows, read_shared))
    }

    /// The sharing of a person's chat.
    ///
    /// # Errors
    /// `NotFound`, for other people's chats too.
    pub async fn sharing(&self, owner: UserId, chat: ChatId) -> Result<Sharing, StoreError> {
        let sql = "SELECT open FROM chats WHERE id = $1 AND owner = $2 AND person IS NULL";
        let open = self
            .db()
            .read(sql)
            .id(chat)
            .id(owner)
            .fetch_one()
            .await?
            .get("open")?;
        let sql = "SELECT users.id, email, name, role, users.created_at, may_reply FROM chat_readers \
                   JOIN users ON users.id = reader WHERE chat = $1 ORDER BY since, users.id";
        let readers = self.db().read(sql).id(chat).fetch_all().await?;
        Ok(Sharing {
            open,
            readers: readers.iter().map(read_reader).collect::<Result<_, _>>()?,
        })
    }

    /// Enables or disables link sharing of a person's chat.
    ///
    /// # Errors
    /// `NotFound`, for other people's chats too.
    pub async fn open_chat(
        &self,
        owner: UserId,
        chat: ChatId,
        open: bool,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE chats SET open = $3 WHERE id = $1 AND owner = $2 AND person IS NULL";
        self.db()
            .write(sql)
            .id(chat)
            .id(owner)
            .bind(open)
            .execute_on_one()
            .await
    }

    /// Adds a reader to a person's chat, or changes what they may do.
    ///
    /// # Errors
    /// `NotFound` if the chat is not the owner's; `Conflict("readers")` if it already has `max`.
    pub async fn add_reader(
        &self,
        owner: UserId,
        chat: ChatId,
        reader: UserId,
        may_reply: bool,
        max: i64,
        now: i64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        // Also prevents concurrent callers from exceeding the limit.
        let sql = "UPDATE chats SET open = open WHERE id = $1 AND owner = $2 AND person IS NULL";
        tx.query(sql).id(chat).id(owner).execute_on_one().await?;
        let sql = "SELECT COUNT(*) AS readers FROM chat_readers WHERE chat = $1 AND reader <> $2";
        let others: i64 = tx
            .query(sql)
            .id(chat)
            .id(reader)
            .fetch_one()
            .await?
            .get("readers")?;
        if others >= max {
            return Err(StoreError::Conflict("readers"));
        }
        let sql = "INSERT INTO chat_readers (chat, reader, since, may_reply) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (chat, reader) DO UPDATE SET may_reply = excluded.may_reply";
        tx.query(sql)
            .id(chat)
            .id(reader)
            .bind(now)
            .bind(may_reply)
            .execute()
            .await?;
        tx.commit().await
    }

    /// Removes a reader.
    ///
    /// # Errors
    /// `NotFound` if the chat is not the owner's or there is no such reader.
    pub async fn remove_reader(
        &self,
        owner: UserId,
        chat: ChatId,
        reader: UserId,
    ) -> Result<(), StoreError> {
        let sql = "DELETE FROM chat_readers WHERE chat = $1 AND reader = $3 \
                   AND EXISTS (SELECT 1 FROM chats WHERE id = $1 AND owner = $2)";
        self.db()
            .write(sql)
            .id(chat)
            .id(owner)
            .id(reader)
            .execute_on_one()
            .await
    }
}

pub(crate) fn read_shared(row: &Row) -> Result<SharedChat, StoreError> {
    let owner_name = row.get("owner_name")?;
    let owner_email = row.get("owner_email")?;
    Ok(SharedChat {
        chat: read_chat(row)?,
        owner_name,
        owner_email,
        may_reply: row.get("may_reply")?,
    })
}

fn read_reader(row: &Row) -> Result<ChatReader, StoreError> {
    Ok(ChatReader {
        user: read_user(row)?,
        may_reply: row.get("may_reply")?,
    })
}
