//! Standing approvals of tool calls.

use domain::{AllowedCallId, ChatId, UserId};
use serde_json::Value;

use crate::{Store, StoreError, query::Row};

/// A standing approval.
#[derive(Debug, Clone, PartialEq)]
pub struct AllowedCall {
    /// Its id.
    pub id: AllowedCallId,
    /// The person who gave it.
    pub owner: UserId,
    /// The chat it applies to; `None` for all.
    pub chat: Option<ChatId>,
    /// The tool's name.
    pub tool: String,
    /// The required arguments; `None` for any.
    pub arguments: Option<Value>,
    /// When it was given.
    pub created_at: i64,
}

impl Store {
    /// Stores an approval.
    ///
    /// # Errors
    /// `NotFound` if its owner or chat is gone, `Conflict("limit")` if the person already has `max`.
    pub async fn allow_call(&self, allowed: &AllowedCall, max: u32) -> Result<(), StoreError> {
        let sql = "INSERT INTO allowed_calls (id, owner, chat, tool, arguments, created_at) \
                   SELECT $1, $2, $3, $4, $5, $6 \
                   WHERE (SELECT count(*) FROM allowed_calls WHERE owner = $2) < $7";
        let query = self
            .db()
            .write(sql)
            .id(allowed.id)
            .id(allowed.owner)
            .optional_id(allowed.chat);
        let query = query
            .text(&allowed.tool)
            .optional_json(allowed.arguments.as_ref())?;
        let query = query.bind(allowed.created_at);
        match query.bind(i64::from(max)).execute().await? {
            0 => Err(StoreError::Conflict("limit")),
            _ => Ok(()),
        }
    }

    /// A person's approvals for this chat and for all chats, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn allowed_calls_in(
        &self,
        owner: UserId,
        chat: Option<ChatId>,
    ) -> Result<Vec<AllowedCall>, StoreError> {
        let sql = "SELECT id, owner, chat, tool, arguments, created_at FROM allowed_calls \
                   WHERE owner = $1 AND (chat IS NULL OR chat = $2) ORDER BY created_at, id";
        let rows = self
            .db()
            .read(sql)
            .id(owner)
            .optional_id(chat)
            .fetch_all()
            .await?;
        rows.iter().map(read).collect()
    }

    /// All of a person's approvals, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn allowed_calls(&self, owner: UserId) -> Result<Vec<AllowedCall>, StoreError> {
        let sql = "SELECT id, owner, chat, tool, arguments, created_at FROM allowed_calls \
                   WHERE owner = $1 ORDER BY created_at, id";
        self.db()
            .read(sql)
            .id(owner)
            .fetch_all()
            .await?
            .iter()
            .map(read)
            .collect()
    }

    /// Revokes an approval.
    ///
    /// # Errors
    /// `NotFound` if the person has no such approval.
    pub async fn ask_again(&self, owner: UserId, id: AllowedCallId) -> Result<(), StoreError> {
        let sql = "DELETE FROM allowed_calls WHERE id = $1 AND owner = $2";
        self.db().write(sql).id(id).id(owner).execute_on_one().await
    }
}

fn read(row: &Row) -> Result<AllowedCall, StoreError> {
    Ok(AllowedCall {
        id: row.id("id")?,
        owner: row.id("owner")?,
        chat: row.optional_id("chat")?,
        tool: row.get("tool")?,
        arguments: row.optional_json("arguments")?,
        created_at: row.get("created_at")?,
    })
}
