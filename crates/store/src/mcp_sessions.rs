//! Sessions of MCP clients, so that another server, or this one after a restart, can go on with them.

use domain::ChatId;

use crate::{Principal, Store, StoreError};

/// The state of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMcpSession {
    /// The principal that began it.
    pub principal: Principal,
    /// The parameters of the client's `initialize` request, as JSON.
    pub initialized: String,
}

impl Store {
    /// Stores a new session.
    ///
    /// # Errors
    /// `Conflict` if there is one with this id; `NotFound` if the account does not exist any more.
    pub async fn put_mcp_session(
        &self,
        id: &str,
        session: &StoredMcpSession,
        now: i64,
    ) -> Result<(), StoreError> {
        let Principal {
            account,
            key,
            person,
        } = &session.principal;
        let sql = "INSERT INTO mcp_sessions (id, owner, api_key, person, initialized, used_at) \
                   VALUES ($1, $2, $3, $4, $5, $6)";
        self.db()
            .write(sql)
            .text(id)
            .id(account)
            .optional_id(*key)
            .optional_text(person.as_deref())
            .text(&session.initialized)
            .bind(now)
            .execute()
            .await
            .map(drop)
    }

    /// A session; `None` if there is none with this id.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn mcp_session(&self, id: &str) -> Result<Option<StoredMcpSession>, StoreError> {
        let sql = "SELECT owner, api_key, person, initialized FROM mcp_sessions WHERE id = $1";
        let row = self.db().read(sql).text(id).fetch_optional().await?;
        row.map(|row| {
            Ok(StoredMcpSession {
                principal: Principal::read(&row)?,
                initialized: row.get("initialized")?,
            })
        })
        .transpose()
    }

    /// Notes that a session is in use. Returns false if it has ended.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn use_mcp_session(&self, id: &str, now: i64) -> Result<bool, StoreError> {
        let sql = "UPDATE mcp_sessions SET used_at = $2 WHERE id = $1";
        let used = self.db().write(sql).text(id).bind(now).execute().await?;
        Ok(used > 0)
    }

    /// Notes that a session uses a chat. Does nothing if either has ended.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn note_mcp_chat(&self, id: &str, chat: ChatId, now: i64) -> Result<(), StoreError> {
        let sql = "INSERT INTO mcp_session_chats (session, chat, used_at) \
                   SELECT mcp_sessions.id, chats.id, $3 FROM mcp_sessions JOIN chats ON chats.id = $2 \
                   WHERE mcp_sessions.id = $1 \
                   ON CONFLICT (session, chat) DO UPDATE SET used_at = excluded.used_at";
        self.db()
            .write(sql)
            .text(id)
            .id(chat)
            .bind(now)
            .execute()
            .await
            .map(drop)
    }

    /// The chats that a session has used lately, at most that many, the latest last.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn mcp_session_chats(&self, id: &str, most: u64) -> Result<Vec<ChatId>, StoreError> {
        let sql = "SELECT chat FROM mcp_session_chats WHERE session = $1 ORDER BY used_at DESC, chat LIMIT $2";
        let rows = self
            .db()
            .read(sql)
            .text(id)
            .number(most)
            .fetch_all()
            .await?;
        rows.iter().rev().map(|row| row.id("chat")).collect()
    }

    /// Ends a session.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn end_mcp_session(&self, id: &str) -> Result<(), StoreError> {
        let sql = "DELETE FROM mcp_sessions WHERE id = $1";
        self.db().write(sql).text(id).execute().await.map(drop)
    }

    /// Ends the sessions that were last used before that time.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn purge_mcp_sessions(&self, used_before: i64) -> Result<u64, StoreError> {
        let sql = "DELETE FROM mcp_sessions WHERE used_at < $1";
        self.db().write(sql).bind(used_before).execute().await
    }
}
