//! Memories: texts that agents keep about a person across chats, with an increasing version for optimistic concurrency.

use domain::{ChatId, MemoryId, RunId, UserId};

use crate::{
    Store, StoreError,
    query::{Query, Row, Tx, readable},
};

/// A memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Its id.
    pub id: MemoryId,
    /// The content and its audience.
    pub content: MemoryContent,
    /// 1 when new, one more with each change.
    pub version: u64,
    /// When it was last changed.
    pub changed_at: i64,
    /// The agent that changed it last; `None` for the person.
    pub author: Option<MemoryAuthor>,
}

/// The content of a memory and its audience.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryContent {
    /// The only agent that has it; empty if all have it. Unique per person together with the name.
    pub agent: String,
    /// The name.
    pub name: String,
    /// Its purpose; may be empty.
    pub description: String,
    /// The complete text.
    pub text: String,
    /// Whether it is part of every prompt.
    pub pinned: bool,
}

/// An agent that has changed a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryAuthor {
    /// Its name.
    pub agent: String,
    /// The agent's chat; `None` if there is none, or it is gone.
    pub chat: Option<ChatId>,
}

/// The tool call that makes a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryCall {
    /// Its run.
    pub run: RunId,
    /// Its id, unique within the run.
    pub call: String,
    /// The agent and its chat.
    pub author: MemoryAuthor,
}

/// A change. Limits are given by the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryChange {
    /// Creates one.
    Create {
        /// Its id.
        id: MemoryId,
        /// The content.
        content: MemoryContent,
        /// Maximum number of memories of the person.
        max: u32,
    },
    /// Replaces this version.
    Replace {
        /// The memory.
        id: MemoryId,
        /// The new content.
        content: MemoryContent,
        /// The expected version.
        version: u64,
    },
    /// Appends a line to the text; creates the memory if there is none of that name.
    Append {
        /// The id of a created one.
        id: MemoryId,
        /// Audience, name and text. The rest is used only on creation.
        content: MemoryContent,
        /// Maximum number of memories of the person.
        max: u32,
        /// Maximum length of the whole text, characters.
        max_chars: u32,
    },
    /// Deletes it.
    Delete {
        /// The memory.
        id: MemoryId,
        /// The expected version; `None` for any.
        version: Option<u64>,
    },
}

/// The result of a change.
#[derive(Debug, Clone, PartialEq)]
pub enum MemoryChanged {
    /// The current memory; for a deletion, its last state.
    Now(Box<Memory>),
    /// The same call had already made it; the resulting version.
    Before(u64),
}

impl Store {
    /// All memories of a person, by name.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn memories(&self, owner: UserId) -> Result<Vec<Memory>, StoreError> {
        let sql = "SELECT id, agent, name, description, content, pinned, version, changed_at, by_agent, by_chat \
                   FROM memories WHERE owner = $1 ORDER BY name, agent";
        Ok(readable(
            &self.db().read(sql).id(owner).fetch_all().await?,
            read,
        ))
    }

    /// One of them.
    ///
    /// # Errors
    /// `NotFound`, for other people's too.
    pub async fn memory(&self, owner: UserId, id: MemoryId) -> Result<Memory, StoreError> {
        let sql = "SELECT id, agent, name, description, content, pinned, version, changed_at, by_agent, by_chat \
                   FROM memories WHERE owner = $1 AND id = $2";
        read(&self.db().read(sql).id(owner).id(id).fetch_one().await?)
    }

    /// The memory that `agent` finds by this name: its own before a shared one.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn memory_named(
        &self,
        owner: UserId,
        agent: &str,
        name: &str,
    ) -> Result<Option<Memory>, StoreError> {
        let sql = "SELECT id, agent, name, description, content, pinned, version, changed_at, by_agent, by_chat \
                   FROM memories WHERE owner = $1 AND name = $2 AND agent IN ('', $3) ORDER BY agent DESC LIMIT 1";
        let row = self
            .db()
            .read(sql)
            .id(owner)
            .text(name)
            .text(agent)
            .fetch_optional()
            .await?;
        row.as_ref().map(read).transpose()
    }

    /// Makes a change, idempotently per tool call if there is one.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` with `version` if it was changed concurrently, `name` if the name is taken, `limit` if
    /// the maximum number is reached, `size` if the text would be too long.
    pub async fn change_memory(
        &self,
        owner: UserId,
        change: &MemoryChange,
        call: Option<&MemoryCall>,
        now: i64,
    ) -> Result<MemoryChanged, StoreError> {
        let mut tx = self.db().begin().await?;
        if let Some(call) = call
            && !note_call(&mut tx, call).await?
        {
            let sql = "SELECT version FROM memory_calls WHERE run = $1 AND call = $2";
            let row = tx
                .query(sql)
                .id(call.run)
                .text(&call.call)
                .fetch_one()
                .await?;
            return Ok(MemoryChanged::Before(row.number("version")?));
        }
        let stamp = Stamp {
            owner,
            author: call.map(|call| &call.author),
            now,
        };
        let row = make(&mut tx, &stamp, change).await.map_err(name_taken)?;
        let memory = match row {
            Some(row) => read(&row)?,
            None => return Err(conflict_of(&mut tx, owner, change).await?),
        };
        if let Some(call) = call {
            let sql = "UPDATE memory_calls SET version = $3 WHERE run = $1 AND call = $2";
            tx.query(sql)
                .id(call.run)
                .text(&call.call)
                .number(memory.version)
                .execute()
                .await?;
        }
        tx.commit().await?;
        Ok(MemoryChanged::Now(Box::new(memory)))
    }
}

/// Whether the call is new.
async fn note_call(tx: &mut Tx, call: &MemoryCall) -> Result<bool, StoreError> {
    let sql =
        "INSERT INTO memory_calls (run, call, version) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING";
    Ok(tx
        .query(sql)
        .id(call.run)
        .text(&call.call)
        .execute()
        .await?
        == 1)
}

/// The owner, author and time of a change.
struct Stamp<'a> {
    owner: UserId,
    author: Option<&'a MemoryAuthor>,
    now: i64,
}

impl Stamp<'_> {
    /// Binds `changed_at, by_agent, by_chat`.
    fn bind<'q>(&self, query: Query<'q>) -> Query<'q> {
        let query = query
            .bind(self.now)
            .optional_text(self.author.map(|author| author.agent.as_str()));
        query.optional_id(self.author.and_then(|author| author.chat))
    }
}

const CREATE: &str = "INSERT INTO memories \
    (id, owner, agent, name, description, content, pinned, version, changed_at, by_agent, by_chat) \
    SELECT $1, $2, $3, $4, $5, $6, $7, 1, $8, $9, $10 \
    WHERE (SELECT count(*) FROM memories WHERE owner = $2) < $11 \
    RETURNING id, agent, name, description, content, pinned, version, changed_at, by_agent, by_chat";
const APPEND: &str = "INSERT INTO memories \
    (id, owner, agent, name, description, content, pinned, version, changed_at, by_agent, by_chat) \
    SELECT $1, $2, $3, $4, $5, $6, $7, 1, $8, $9, $10 \
    WHERE (SELECT count(*) FROM memories WHERE owner = $2) < $11 \
       OR EXISTS (SELECT 1 FROM memories WHERE owner = $2 AND agent = $3 AND name = $4) \
    ON CONFLICT (owner, agent, name) DO UPDATE SET \
    content = memories.content || CASE WHEN memories.content = '' THEN '' ELSE $12 END || excluded.content, \
    version = memories.version + 1, changed_at = excluded.changed_at, by_agent = excluded.by_agent, \
    by_chat = excluded.by_chat \
    WHERE length(memories.content) + 1 + length(excluded.content) <= $13 \
    RETURNING id, agent, name, description, content, pinned, version, changed_at, by_agent, by_chat";
const REPLACE: &str = "UPDATE memories SET agent = $3, name = $4, description = $5, content = $6, pinned = $7, \
    version = version + 1, changed_at = $8, by_agent = $9, by_chat = $10 \
    WHERE id = $1 AND owner = $2 AND version = $11 \
    RETURNING id, agent, name, description, content, pinned, version, changed_at, by_agent, by_chat";
const DELETE: &str = "DELETE FROM memories WHERE id = $1 AND owner = $2 AND (version = $3 OR $3 = 0) \
    RETURNING id, agent, name, description, content, pinned, version, changed_at, by_agent, by_chat";

/// The changed memory; `None` if the change was not possible.
async fn make(
    tx: &mut Tx,
    stamp: &Stamp<'_>,
    change: &MemoryChange,
) -> Result<Option<Row>, StoreError> {
    let query = match change {
        MemoryChange::Create { id, content, max } => {
            bind(tx.query(CREATE), *id, stamp, content).bind(i64::from(*max))
        }
        MemoryChange::Replace {
            id,
            content,
            version,
        } => bind(tx.query(REPLACE), *id, stamp, content).number(*version),
        MemoryChange::Append {
            id,
            content,
            max,
            max_chars,
        } => {
            let query = bind(tx.query(APPEND), *id, stamp, content).bind(i64::from(*max));
            query.text("\n").bind(i64::from(*max_chars))
        }
        MemoryChange::Delete { id, version } => tx
            .query(DELETE)
            .id(id)
            .id(stamp.owner)
            .number(version.unwrap_or(0)),
    };
    query.fetch_optional().await
}

/// Binds `id, owner`, the content, and the stamp.
fn bind<'q>(
    query: Query<'q>,
    id: MemoryId,
    stamp: &Stamp<'_>,
    content: &MemoryContent,
) -> Query<'q> {
    let query = query
        .id(id)
        .id(stamp.owner)
        .text(&content.agent)
        .text(&content.name);
    stamp.bind(
        query
            .text(&content.description)
            .text(&content.text)
            .bind(content.pinned),
    )
}

fn name_taken(error: StoreError) -> StoreError {
    match error {
        StoreError::Conflict("id") => StoreError::Conflict("name"),
        error => error,
    }
}

/// Why a change affected no row.
async fn conflict_of(
    tx: &mut Tx,
    owner: UserId,
    change: &MemoryChange,
) -> Result<StoreError, StoreError> {
    let id = match change {
        MemoryChange::Create { .. } => return Ok(StoreError::Conflict("limit")),
        MemoryChange::Append {
            content: MemoryContent { agent, name, .. },
            ..
        } => {
            let sql = "SELECT id FROM memories WHERE owner = $1 AND agent = $2 AND name = $3";
            let found = tx
                .query(sql)
                .id(owner)
                .text(agent)
                .text(name)
                .fetch_optional()
                .await?;
            return Ok(StoreError::Conflict(if found.is_some() {
                "size"
            } else {
                "limit"
            }));
        }
        MemoryChange::Replace { id, .. } | MemoryChange::Delete { id, .. } => id,
    };
    let found = tx
        .query("SELECT id FROM memories WHERE owner = $1 AND id = $2")
        .id(owner)
        .id(id);
    Ok(match found.fetch_optional().await? {
        Some(_) => StoreError::Conflict("version"),
        None => StoreError::NotFound,
    })
}

fn read(row: &Row) -> Result<Memory, StoreError> {
    let author = match row.get::<Option<String>>("by_agent")? {
        Some(agent) => Some(MemoryAuthor {
            agent,
            chat: row.optional_id("by_chat")?,
        }),
        None => None,
    };
    Ok(Memory {
        id: row.id("id")?,
        content: MemoryContent {
            agent: row.get("agent")?,
            name: row.get("name")?,
            description: row.get("description")?,
            text: row.get("content")?,
            pinned: row.get("pinned")?,
        },
        version: row.number("version")?,
        changed_at: row.get("changed_at")?,
        author,
    })
}
