//! What a person brings along from elsewhere: a chat with all that is in it, in one transaction, and facts.

use domain::{ChatId, MessageId, RunId, RunSummary, UserId};

use crate::{
    Beside, Chat, ChatMessage, Fact, Segment, Store, StoreError, beside, chat_order::add_tags,
    chats, learning, messages::add_message, query::Tx,
};

/// A run that has ended elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct EndedRun {
    /// Its id here.
    pub id: RunId,
    /// The message of the chat that it has filled.
    pub message: Option<MessageId>,
    /// The main agent's model.
    pub model: String,
    /// When it began.
    pub started_at: i64,
    /// When it ended.
    pub finished_at: i64,
    /// It in short.
    pub summary: RunSummary,
}

/// A chat that is being brought in. Dropped without [`Self::commit`], nothing of it is there.
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
    /// Begins with a chat and its messages, each after the one that it follows. What was said in it is not learned from.
    ///
    /// # Errors
    /// `NotFound` where the owner is gone, `Conflict("id")` where an id is taken, `Conflict("parent")` where a message
    /// follows one that does not come before it.
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

    /// Keeps a fact that was learned elsewhere; of its chat only where that is the person's. Whether it is new: not where
    /// it is here, or the person has `most`.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn import_fact(
        &self,
        owner: UserId,
        fact: &Fact,
        most: u32,
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
        Ok(query.bind(i64::from(most)).execute().await? > 0)
    }
}

impl ChatImport {
    /// Adds what one of the answers stands beside.
    ///
    /// # Errors
    /// `Conflict` where that is said twice.
    pub async fn add_beside(
        &mut self,
        answer: MessageId,
        beside: &Beside,
    ) -> Result<(), StoreError> {
        beside::put(&mut self.tx, answer, beside).await
    }

    /// Adds a run of the chat. Nothing of it is in the ledger, nor will be: it was used elsewhere.
    ///
    /// # Errors
    /// `Conflict("id")` where its id is taken.
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

    /// Adds a piece of the log of one of the runs.
    ///
    /// # Errors
    /// `NotFound` where the chat has no such run, `Conflict` where it has such a piece.
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

    /// Adds a file at the version that it had.
    ///
    /// # Errors
    /// `Conflict` where there is one at this path.
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
            .bind(content);
        let query = query
            .number(content.len() as u64)
            .number(version)
            .bind(changed_at);
        query.execute().await.map(drop)
    }

    /// The chat's id.
    #[must_use]
    pub fn chat(&self) -> ChatId {
        self.chat.id
    }

    /// Makes all of it last.
    ///
    /// # Errors
    /// Only those of the database; then nothing is left.
    pub async fn commit(self) -> Result<(), StoreError> {
        self.tx.commit().await
    }
}
