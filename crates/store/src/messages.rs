//! The messages of a chat: a tree, where editing or regenerating makes a sibling.

use std::sync::Arc;

use domain::{
    ChatId, MessageId, Part, Role, RunId, RunSummary, event::Author, message::plain_text,
};
use serde::{Deserialize, Serialize};

use crate::{
    Alternatives, NewRun, QueuedTurn, Store, StoreError, alternatives,
    query::{Row, Tx, long_json, readable},
    queued_turns, runs, search,
};

/// One message of a chat.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatMessage {
    /// Its id.
    pub id: MessageId,
    /// Its chat.
    pub chat: ChatId,
    /// The parent message; `None` for a first one.
    pub parent: Option<MessageId>,
    /// The role.
    pub role: Role,
    /// The content; an assistant's is empty until its run has finished.
    pub content: Vec<Part>,
    /// The creation time.
    pub created_at: i64,
    /// The answering model, for an assistant's message.
    pub model: Option<String>,
    /// The run that produces it, for an assistant's message.
    pub run: Option<RunId>,
    /// The summary of that run, once it has finished.
    pub summary: Option<RunSummary>,
    /// The name of the schedule that created it, for a message that the person did not write.
    pub schedule: Option<String>,
    /// Who wrote it, if that is not the chat's owner.
    pub author: Option<Author>,
}

/// A person's turn.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTurn {
    /// The person's message; `None` if an answer is regenerated.
    pub user: Option<ChatMessage>,
    /// The message that the run will fill.
    pub assistant: ChatMessage,
    /// The run. Its owner must be the chat's.
    pub run: NewRun,
    /// The new title of the chat, from the first words of the message; `None` keeps it.
    pub title: Option<String>,
    /// The alternatives of the answer, if requested.
    pub beside: Option<Alternatives>,
    /// The queued turn that begins with it.
    pub queued: Option<QueuedTurn>,
}

impl Store {
    /// All messages of a chat, oldest first.
    ///
    /// # Errors
    /// Database errors only; a missing chat has no messages.
    pub async fn messages(&self, chat: ChatId) -> Result<Vec<ChatMessage>, StoreError> {
        let sql = "SELECT id, chat, parent, role, content, created_at, model, run, summary, schedule, author FROM messages \
                   WHERE chat = $1 ORDER BY created_at, id";
        Ok(readable(
            &self.db().read(sql).id(chat).fetch_all().await?,
            read_message,
        ))
    }

    /// The runs of a chat's answers, oldest first; in a fork including those of the original chat.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn runs_answering_in(&self, chat: ChatId) -> Result<Vec<RunId>, StoreError> {
        let sql =
            "SELECT run FROM messages WHERE chat = $1 AND run IS NOT NULL ORDER BY created_at, id";
        Ok(readable(
            &self.db().read(sql).id(chat).fetch_all().await?,
            |row| row.id("run"),
        ))
    }

    /// Adds a turn to a chat: its messages and its run, atomically. The answer becomes the displayed leaf, unless it is
    /// an alternative of others.
    ///
    /// # Errors
    /// `NotFound` if the chat does not exist or is not the run owner's; `Conflict("parent")` if a parent is not a
    /// message of that chat; `Conflict("queued")` if a queued input was withdrawn.
    pub async fn begin_turn(&self, turn: &NewTurn) -> Result<(), StoreError> {
        let chat = turn.assistant.chat;
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE chats SET current_message = CASE WHEN $7 THEN current_message ELSE $3 END, updated_at = $4, title = COALESCE($5, title), \
                   search_text = COALESCE($6, search_text), \
                   titled_by = CASE WHEN $5 IS NULL THEN titled_by ELSE 'words' END WHERE id = $1 AND owner = $2";
        let update = tx
            .query(sql)
            .id(chat)
            .id(turn.run.principal.account)
            .id(turn.assistant.id);
        let update = update
            .bind(turn.assistant.created_at)
            .optional_text(turn.title.as_deref());
        let update = update.optional_text(turn.title.as_deref().map(search::fold).as_deref());
        let is_one_of_several = turn
            .beside
            .as_ref()
            .is_some_and(|beside| beside.made_of.is_empty());
        update.bind(is_one_of_several).execute_on_one().await?;
        if let Some(queued) = &turn.queued {
            queued_turns::take(&mut tx, queued).await?;
        }
        for message in turn.user.iter().chain([&turn.assistant]) {
            add_message(&mut tx, chat, message).await?;
        }
        if let Some(beside) = &turn.beside {
            alternatives::put(&mut tx, turn.assistant.id, beside).await?;
        }
        let server = self.db().lease_holder()?;
        runs::insert(tx.query(runs::INSERT), &turn.run, server.as_deref())
            .execute()
            .await?;
        tx.commit().await
    }
}

pub(crate) async fn add_message(
    tx: &mut Tx,
    chat: ChatId,
    message: &ChatMessage,
) -> Result<(), StoreError> {
    if let Some(parent) = message.parent {
        let sql = "SELECT id FROM messages WHERE id = $1 AND chat = $2";
        let found = tx.query(sql).id(parent).id(chat).fetch_optional().await?;
        found.ok_or(StoreError::Conflict("parent"))?;
    }
    let sql = "INSERT INTO messages \
               (id, chat, parent, role, content, search_text, created_at, model, run, summary, schedule, author) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    let query = tx
        .query(sql)
        .id(message.id)
        .id(chat)
        .optional_id(message.parent);
    let query = query.text(role_name(message.role)).json(&message.content)?;
    let query = query
        .text(&search::fold(&plain_text(&message.content)))
        .bind(message.created_at);
    let query = query
        .optional_text(message.model.as_deref())
        .optional_id(message.run);
    let query = query
        .optional_json(message.summary.as_ref())?
        .optional_text(message.schedule.as_deref())
        .optional_json(message.author.as_ref())?;
    query.execute().await.map(drop)
}

/// Fills a run's message with its answer.
pub(crate) async fn fill_message(
    tx: &mut Tx,
    id: MessageId,
    summary: &RunSummary,
    summary_json: &Arc<str>,
) -> Result<(), StoreError> {
    #[derive(Serialize)]
    #[serde(tag = "type", rename_all = "snake_case")]
    enum Part<'a> {
        Text { text: &'a str },
    }
    let content = long_json(
        &[Part::Text {
            text: &summary.answer,
        }],
        summary.answer.len(),
    )?;
    let sql = "UPDATE messages SET content = $2, search_text = $3, summary = $4 WHERE id = $1";
    let query = tx
        .query(sql)
        .id(id)
        .shared_text(&content)
        .text(&search::fold(&summary.answer));
    query.shared_text(summary_json).execute().await.map(drop)
}

fn read_message(row: &Row) -> Result<ChatMessage, StoreError> {
    Ok(ChatMessage {
        id: row.id("id")?,
        chat: row.id("chat")?,
        parent: row.optional_id("parent")?,
        role: read_role(row)?,
        content: row.json("content")?,
        created_at: row.get("created_at")?,
        model: row.get("model")?,
        run: row.optional_id("run")?,
        summary: row.optional_json("summary")?,
        schedule: row.get("schedule")?,
        author: row.optional_json("author")?,
    })
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

pub(crate) fn read_role(row: &Row) -> Result<Role, StoreError> {
    let name = serde_json::Value::String(row.get("role")?);
    Role::deserialize(name).map_err(|error| StoreError::Corrupt(format!("messages.role: {error}")))
}
