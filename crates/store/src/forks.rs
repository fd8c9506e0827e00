//! Forks a chat: copies its conversation, its files at a point in time, and a run's log so far as the past of a new
//! run.

use crate::{
    Chat, ChatMessage, NewRun, Segment, Store, StoreError, chats, learning,
    messages::add_message,
    query::{Row, Tx},
    runs,
};

/// The initial content of a forked chat.
#[derive(Debug, Clone)]
pub struct Fork {
    /// The chat; it displays the last of the messages.
    pub chat: Chat,
    /// Its messages, each after its parent.
    pub messages: Vec<ChatMessage>,
    /// The run of the last message.
    pub run: NewRun,
    /// The run's log so far, in order from event 1.
    pub log: Vec<Segment>,
    /// The source workspace of its files.
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
                          (workspace, path, content, size_bytes, version, changed_at, deleted, object) \
                          SELECT $1, path, content, size_bytes, version, changed_at, deleted, object FROM files \
                          WHERE workspace = $2 AND path = $3 AND version = $4 \
                          UNION ALL \
                          SELECT $1, path, content, size_bytes, version, changed_at, deleted, object FROM file_versions \
                          WHERE workspace = $2 AND path = $3 AND version = $4";
/// The history is copied, too, so that changes can still be viewed.
const COPY_PAST: &str = "INSERT INTO file_versions \
                         (workspace, path, version, content, size_bytes, changed_at, deleted, object) \
                         SELECT $1, path, version, content, size_bytes, changed_at, deleted, object FROM file_versions \
                         WHERE workspace = $2 AND path = $3 AND version < $4 ORDER BY version";
const COPY_LOG: &str = "INSERT INTO segments (run, first_seq, last_seq, lines) \
                        SELECT number, $2, $3, $4 FROM runs WHERE id = $1";

const BOOKED: &str = "UPDATE runs SET booked_seq = $2 WHERE id = $1";

impl Store {
    /// All stored states of all files of a workspace, including deletions, by path and version.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn file_states(&self, workspace: &str) -> Result<Vec<FileState>, StoreError> {
        let read = |row: &Row| {
            let path = row.get("path")?;
            let changed_at = row.get("changed_at")?;
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

    /// Stores a fork atomically.
    ///
    /// # Errors
    /// `NotFound` if the owner is gone, `Conflict("file")` if a file version is no longer stored,
    /// `Conflict("parent")` if a message's parent does not precede it.
    pub async fn fork(&self, fork: &Fork) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        chats::insert(tx.query(chats::INSERT), &fork.chat)
            .execute()
            .await?;
        for message in &fork.messages {
            add_message(&mut tx, fork.chat.id, message).await?;
        }
        let server = self.db().lease_holder()?;
        runs::insert(tx.query(runs::INSERT), &fork.run, server.as_deref())
            .execute()
            .await?;
        // Copied usage was already counted.
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
        // Copied messages are learned from in the original chat only.
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
