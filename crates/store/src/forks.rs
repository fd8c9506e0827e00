//! A chat that begins with a copy of another one: its conversation, its files as they were at some time, and a run that
//! has the log of another run so far as its past.

use crate::{
    Chat, ChatMessage, NewRun, Segment, Store, StoreError, chats, learning,
    messages::add_message,
    query::{Row, Tx},
    runs,
};

/// All that a forked chat begins with.
#[derive(Debug, Clone)]
pub struct Fork {
    /// The chat; it shows the last of the messages.
    pub chat: Chat,
    /// Its messages, each after the one that it follows.
    pub messages: Vec<ChatMessage>,
    /// The run that fills the last of them.
    pub run: NewRun,
    /// The run's log so far, in order from event 1.
    pub log: Vec<Segment>,
    /// The workspace that its files come from.
    pub workspace: String,
    /// The path and the version of each of them.
    pub files: Vec<(String, u64)>,
}

/// A state of one of the files of a workspace.
#[derive(Debug, Clone, PartialEq)]
pub struct FileState {
    /// The file.
    pub path: String,
    /// The number of the state, from 1.
    pub version: u64,
    /// When it became this.
    pub changed_at: i64,
}

const STATES: &str = "SELECT path, version, changed_at FROM files WHERE workspace = $1 \
                      UNION ALL SELECT path, version, changed_at FROM file_versions WHERE workspace = $1 \
                      ORDER BY path, version";
const COPY_STATE: &str = "INSERT INTO files \
                          (workspace, path, content, size_bytes, version, changed_at, deleted) \
                          SELECT $1, path, content, size_bytes, version, changed_at, deleted FROM files \
                          WHERE workspace = $2 AND path = $3 AND version = $4 \
                          UNION ALL \
                          SELECT $1, path, content, size_bytes, version, changed_at, deleted FROM file_versions \
                          WHERE workspace = $2 AND path = $3 AND version = $4";
/// What a file was before comes along, so that its changes can still be looked at.
const COPY_PAST: &str = "INSERT INTO file_versions \
                         (workspace, path, version, content, size_bytes, changed_at, deleted) \
                         SELECT $1, path, version, content, size_bytes, changed_at, deleted FROM file_versions \
                         WHERE workspace = $2 AND path = $3 AND version < $4 ORDER BY version";
const COPY_LOG: &str = "INSERT INTO segments (run, first_seq, last_seq, lines) \
                        SELECT number, $2, $3, $4 FROM runs WHERE id = $1";

const BOOKED: &str = "UPDATE runs SET booked_seq = $2 WHERE id = $1";

impl Store {
    /// All states of all files of a workspace that are kept, deletions among them, by path and version.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn file_states(&self, workspace: &str) -> Result<Vec<FileState>, StoreError> {
        let read = |row: &Row| {
            let (path, changed_at) = (row.get("path")?, row.get("changed_at")?);
            Ok(FileState {
                path,
                version: row.number("version")?,
                changed_at,
            })
        };
        self.db()
            .read(STATES)
            .text(workspace)
            .fetch_all()
            .await?
            .iter()
            .map(read)
            .collect()
    }

    /// Keeps all of a fork, or nothing of it.
    ///
    /// # Errors
    /// `NotFound` where the owner is gone, `Conflict("file")` where a file is not kept any more as it was,
    /// `Conflict("parent")` where a message follows one that does not come before it.
    pub async fn fork(&self, fork: &Fork) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        chats::insert(tx.query(chats::INSERT), &fork.chat)
            .execute()
            .await?;
        for message in &fork.messages {
            add_message(&mut tx, fork.chat.id, message).await?;
        }
        let server = self.db().lessee()?;
        runs::insert(tx.query(runs::INSERT), &fork.run, server.as_deref())
            .execute()
            .await?;
        // What is copied was used once.
        let booked = fork
            .log
            .iter()
            .map(|segment| segment.last_seq)
            .max()
            .unwrap_or(0);
        tx.query(BOOKED)
            .id(fork.run.id)
            .number(booked)
            .execute()
            .await?;
        for segment in &fork.log {
            let query = tx.query(COPY_LOG).id(fork.run.id).number(segment.first_seq);
            query
                .number(segment.last_seq)
                .text(&segment.lines)
                .execute_on_one()
                .await?;
        }
        for (path, version) in &fork.files {
            copy_file(&mut tx, fork, path, *version).await?;
        }
        // What is copied was said in the other chat, and is learned from there or never.
        learning::mark(tx.query(learning::MARK), fork.chat.id, fork.chat.created_at)
            .execute()
            .await?;
        tx.commit().await
    }
}

async fn copy_file(tx: &mut Tx, fork: &Fork, path: &str, version: u64) -> Result<(), StoreError> {
    let query = tx
        .query(COPY_STATE)
        .id(fork.chat.id)
        .text(&fork.workspace)
        .text(path)
        .number(version);
    if query.execute().await? == 0 {
        return Err(StoreError::Conflict("file"));
    }
    let query = tx
        .query(COPY_PAST)
        .id(fork.chat.id)
        .text(&fork.workspace)
        .text(path)
        .number(version);
    query.execute().await.map(drop)
}
