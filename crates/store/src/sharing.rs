//! Chats that others may read: by name, or everybody who is signed in and has the address.

use domain::{ChatId, UserId};

use crate::{
    Store, StoreError,
    chats::{Chat, chat_columns, read_chat},
    query::{Row, readable},
    users::{User, read_user},
};

/// Whom a chat is shared with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sharing {
    /// Everybody who is signed in and has its address.
    pub open: bool,
    /// These, those that came first before.
    pub readers: Vec<User>,
}

/// A chat that is somebody else's, and whose.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedChat {
    /// The chat.
    pub chat: Chat,
    /// What its owner is called.
    pub owner_name: String,
    /// Their address.
    pub owner_email: String,
}

pub(crate) const SHARED: &str = concat!(
    chat_columns!(),
    ", users.name AS owner_name, users.email AS owner_email"
);

impl Store {
    /// A chat that is shared with `reader`, by name or with everybody.
    ///
    /// # Errors
    /// `NotFound`, for one that is not shared and for their own too.
    pub async fn shared_chat(
        &self,
        reader: UserId,
        chat: ChatId,
    ) -> Result<SharedChat, StoreError> {
        let sql = format!(
            "SELECT {SHARED} FROM chats JOIN users ON users.id = chats.owner \
             WHERE chats.id = $1 AND chats.owner <> $2 AND chats.person IS NULL AND (open OR EXISTS \
             (SELECT 1 FROM chat_readers WHERE chat = chats.id AND reader = $2))"
        );
        read_shared(&self.db().built(sql).id(chat).id(reader).fetch_one().await?)
    }

    /// Anybody's chat, and whose it is.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn anybodys_chat(&self, chat: ChatId) -> Result<SharedChat, StoreError> {
        let sql = format!(
            "SELECT {SHARED} FROM chats JOIN users ON users.id = chats.owner WHERE chats.id = $1"
        );
        read_shared(&self.db().built(sql).id(chat).fetch_one().await?)
    }

    /// The chats that are shared with `reader` by name, the newest change first, at most `limit`.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn chats_shared_with(
        &self,
        reader: UserId,
        limit: u32,
    ) -> Result<Vec<SharedChat>, StoreError> {
        let sql = format!(
            "SELECT {SHARED} FROM chat_readers JOIN chats ON chats.id = chat_readers.chat \
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

    /// Whom somebody's chat is shared with.
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
        let sql = "SELECT users.id, email, name, role, users.created_at FROM chat_readers \
                   JOIN users ON users.id = reader WHERE chat = $1 ORDER BY since, users.id";
        let readers = self.db().read(sql).id(chat).fetch_all().await?;
        Ok(Sharing {
            open,
            readers: readers.iter().map(read_user).collect::<Result<_, _>>()?,
        })
    }

    /// Opens somebody's chat to everybody who has its address, or closes it again.
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

    /// Lets `reader` read somebody's chat; nothing changes where they may already.
    ///
    /// # Errors
    /// `NotFound` where the chat is not the owner's; `Conflict("readers")` where `most` may read it already.
    pub async fn add_reader(
        &self,
        owner: UserId,
        chat: ChatId,
        reader: UserId,
        most: i64,
        now: i64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        // Also keeps two at once from being one too many.
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
        if others >= most {
            return Err(StoreError::Conflict("readers"));
        }
        let sql = "INSERT INTO chat_readers (chat, reader, since) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
        tx.query(sql)
            .id(chat)
            .id(reader)
            .bind(now)
            .execute()
            .await?;
        tx.commit().await
    }

    /// Lets `reader` read it no longer.
    ///
    /// # Errors
    /// `NotFound` where the chat is not the owner's or the reader is none.
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
    let (owner_name, owner_email) = (row.get("owner_name")?, row.get("owner_email")?);
    Ok(SharedChat {
        chat: read_chat(row)?,
        owner_name,
        owner_email,
    })
}
