//! Imports a chat with its content in one transaction, and facts.

use domain::{ChatId, CollectionId, MessageId, RunId, RunSummary, UserId};

use crate::{
    Alternatives, Chat, ChatMessage, Fact, Segment, Store, StoreError, alternatives,
    attachments::ASSIGN, chat_organization::add_tags, chats, learning, messages::add_message,
    query::Tx,
};

/// A finished run from another server.
#[derive(Debug, Clone, PartialEq)]
pub struct EndedRun {
    /// Its id here.
    pub id: RunId,
    /// The message that it produced.
    pub message: Option<MessageId>,
    /// The main agent's model.
    pub model: String,
    /// The start time.
    pub started_at: i64,
    /// The end time.
    pub finished_at: i64,
    /// The summary.
    pub summary: RunSummary,
}

/// A chat import in progress. Dropping it without [`Self::commit`] rolls back.
pub struct ChatImport {
    tx: Tx,
    chat: Chat,
}

const RUN: &str = "INSERT INTO runs (id, owner, chat, message, model, started_at, finished_at, summary) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
const LOG: &str = "INSERT INTO segments (run, first_seq, last_seq, lines) \
                   SELECT number, $3, $4, $5 FROM runs WHERE id = $1 AND chat = $2";
const FILE: &str = "INSERT INTO files (workspace, path, content, size_bytes, version, changed_at) \
                    VALUES ($1, $2, $3, $4, $5, $6)";
const FACT: &str = "INSERT INTO facts (id, owner, content, chat, message, learned_at, corrected) \
                    SELECT $1, $2, $3, (SELECT id FROM chats WHERE id = $4 AND owner = $2), $5, $6, $7 \
                    WHERE (SELECT count(*) FROM facts WHERE owner = $2) < $8 ON CONFLICT DO NOTHING";

impl Store {
    /// Starts an import with a chat and its messages, each after its parent. They are not learned from.
    ///
    /// # Errors
    /// `NotFound` if the owner is gone, `Conflict("id")` if an id is taken, `Conflict("parent")` if a message's parent
    /// does not precede it.
    pub async fn import_chat(
        &self,
        chat: Chat,
        messages: &[ChatMessage],
    ) -> Result<ChatImport, StoreError> {
        let mut tx = self.db().begin().await?;
        chats::insert(tx.query(chats::INSERT), &chat)
            .execute()
            .await?;
        if chat.unread {
            tx.query("UPDATE chats SET unread = TRUE WHERE id = $1")
                .id(chat.id)
                .execute()
                .await?;
        }
        add_tags(&mut tx, chat.id, &chat.order.tags).await?;
        for message in messages {
            add_message(&mut tx, chat.id, message).await?;
        }
        learning::mark(tx.query(learning::MARK), chat.id, chat.updated_at)
            .execute()
            .await?;
        Ok(ChatImport { tx, chat })
    }

    /// Stores an imported fact; with its chat only if that is the person's. Returns false if it is already known, or
    /// the person has `max`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn import_fact(
        &self,
        owner: UserId,
        fact: &Fact,
        max: u32,
    ) -> Result<bool, StoreError> {
        let query = self
            .db()
            .write(FACT)
            .id(fact.id)
            .id(owner)
            .text(&fact.text)
            .optional_id(fact.chat);
        let query = query
            .optional_id(fact.message)
            .bind(fact.learned_at)
            .bind(fact.corrected);
        Ok(query.bind(i64::from(max)).execute().await? > 0)
    }
}

impl ChatImport {
    /// Adds the alternatives of an answer.
    ///
    /// # Errors
    /// `Conflict` if it has some already.
    pub async fn add_alternatives(
        &mut self,
        answer: MessageId,
        alternatives: &Alternatives,
    ) -> Result<(), StoreError> {
        alternatives::put(&mut self.tx, answer, alternatives).await
    }

    /// Adds a run of the chat. It is never added to the usage ledger: it was used elsewhere.
    ///
    /// # Errors
    /// `Conflict("id")` if its id is taken.
    pub async fn add_run(&mut self, run: &EndedRun) -> Result<(), StoreError> {
        let query = self
            .tx
            .query(RUN)
            .id(run.id)
            .id(self.chat.principal.account)
            .id(self.chat.id);
        let query = query
            .optional_id(run.message)
            .text(&run.model)
            .bind(run.started_at);
        query
            .bind(run.finished_at)
            .json(&run.summary)?
            .execute()
            .await
            .map(drop)
    }

    /// Adds a segment of a run's log.
    ///
    /// # Errors
    /// `NotFound` if the chat has no such run, `Conflict` if the segment exists.
    pub async fn add_log(&mut self, segment: &Segment) -> Result<(), StoreError> {
        let query = self
            .tx
            .query(LOG)
            .id(segment.run)
            .id(self.chat.id)
            .number(segment.first_seq);
        query
            .number(segment.last_seq)
            .text(&segment.lines)
            .execute_on_one()
            .await
    }

    /// Adds a file at its original version.
    ///
    /// # Errors
    /// `Conflict` if the path is taken.
    pub async fn add_file(
        &mut self,
        path: &str,
        version: u64,
        changed_at: i64,
        content: &[u8],
    ) -> Result<(), StoreError> {
        let query = self
            .tx
            .query(FILE)
            .id(self.chat.id)
            .text(path)
            .file(content);
        let query = query
            .number(content.len() as u64)
            .number(version)
            .bind(changed_at);
        query.execute().await.map(drop)
    }

    /// Gives the chat an attachment of the same person that belongs to none yet.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn add_attachment(&mut self, id: CollectionId) -> Result<(), StoreError> {
        let query = self.tx.query(ASSIGN).id(id);
        let query = query.id(self.chat.principal.account).id(self.chat.id);
        query.execute().await.map(drop)
    }

    /// The chat's id.
    #[must_use]
    pub fn chat(&self) -> ChatId {
        self.chat.id
    }

    /// Commits the import.
    ///
    /// # Errors
    /// Database errors only; then nothing is stored.
    pub async fn commit(self) -> Result<(), StoreError> {
        self.tx.commit().await
    }
}
