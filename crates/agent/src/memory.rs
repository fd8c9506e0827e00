//! The memory of a run: the texts that agents store about a person across chats.

mod run_memories;

use std::{fmt, sync::Arc};

use domain::{ChatId, EventBody, MemoryId, RunId, UserId};
use store::{
    Memory as Block, MemoryAuthor, MemoryCall, MemoryChange, MemoryChanged, MemoryContent, Store,
    StoreError,
};

pub use run_memories::{RunMemories, RunMemoryBlock};

use crate::{
    ToolFailure,
    workspace::diff::{LineCounts, count},
};

/// Maximum number of texts stored per person.
pub const MAX_BLOCKS: u32 = 100;
/// Maximum length of a text, characters.
pub const MAX_TEXT_CHARS: u32 = 8_000;
/// Maximum length of a name, characters.
pub const MAX_NAME_CHARS: usize = 80;
/// Maximum length of a description, characters.
pub const MAX_DESCRIPTION_CHARS: usize = 300;

/// The memories of the person who owns the run.
#[derive(Clone)]
pub struct Memory {
    store: Store,
    owner: UserId,
    run: RunId,
    chat: Option<ChatId>,
    now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Memory").field(&self.owner).finish()
    }
}

/// A change that an agent's call requests of a memory.
pub(crate) enum Wish {
    /// Replaces the whole text.
    Write {
        text: String,
        description: Option<String>,
        /// The version that was read; `None` if none should exist.
        version: Option<u64>,
    },
    /// Appends to the text.
    Append { text: String },
    /// Deletes the memory at this version.
    Forget { version: Option<u64> },
}

/// The agent and the call that request the change.
pub(crate) struct Caller<'a> {
    pub(crate) agent: &'a str,
    pub(crate) call: &'a str,
}

/// The result of a change.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) name: String,
    only_for: Option<String>,
    pub(crate) version: u64,
    deleted: bool,
    lines: Option<LineCounts>,
}

impl Done {
    /// The event for the log.
    pub(crate) fn event(&self, call: &str) -> EventBody {
        EventBody::MemoryUpdateCompleted {
            call: Some(call.to_owned()),
            name: Some(self.name.clone()),
            only_for: self.only_for.clone(),
            version: Some(self.version),
            deleted: self.deleted,
            added_lines: self.lines.map(|lines| lines.added),
            removed_lines: self.lines.map(|lines| lines.removed),
            facts: None,
            error: None,
        }
    }
}

impl Memory {
    /// The memories of `owner`, for one of their runs; `now_ms` is the server's clock.
    #[must_use]
    pub fn new(
        store: Store,
        owner: UserId,
        run: RunId,
        chat: Option<ChatId>,
        now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
    ) -> Self {
        Self {
            store,
            owner,
            run,
            chat,
            now_ms,
        }
    }

    /// Whether the person allows agents to use memories.
    pub(crate) async fn is_on(&self) -> Result<bool, ToolFailure> {
        Ok(self
            .store
            .memory_use(self.owner)
            .await
            .map_err(unavailable)?
            .uses_memory)
    }

    /// The memories visible to `agent`, by name. Its own memory hides a shared one of the same name.
    pub(crate) async fn list(&self, agent: &str) -> Result<Vec<Block>, ToolFailure> {
        let mut blocks = self.store.memories(self.owner).await.map_err(unavailable)?;
        blocks.retain(|block| block.content.agent.is_empty() || block.content.agent == agent);
        // They are sorted with the shared one first.
        blocks.reverse();
        blocks.dedup_by(|shared, own| shared.content.name == own.content.name);
        blocks.reverse();
        Ok(blocks)
    }

    /// The memory that `agent` sees under this name.
    pub(crate) async fn read(&self, agent: &str, name: &str) -> Result<Block, ToolFailure> {
        let found = self
            .store
            .memory_named(self.owner, agent, name.trim())
            .await
            .map_err(unavailable)?;
        match found {
            Some(block) => Ok(block),
            None => Err(self.missing(agent, name).await),
        }
    }

    async fn missing(&self, agent: &str, name: &str) -> ToolFailure {
        let known = self.list(agent).await.unwrap_or_default();
        let names: Vec<&str> = known
            .iter()
            .map(|block| block.content.name.as_str())
            .take(20)
            .collect();
        ToolFailure(match names.is_empty() {
            true => format!("There is no memory “{name}”. Nothing is remembered yet."),
            false => format!(
                "There is no memory “{name}”. There are: {}.",
                names.join(", ")
            ),
        })
    }

    /// Makes the requested change once: if it was made before a crash, its result is returned again.
    pub(crate) async fn change(
        &self,
        caller: Caller<'_>,
        name: &str,
        only_for_me: bool,
        wish: Wish,
    ) -> Result<Done, ToolFailure> {
        let before = self
            .store
            .memory_named(self.owner, caller.agent, name)
            .await
            .map_err(unavailable)?;
        // An own memory with the name of a shared one has to be requested explicitly.
        let before = before.filter(|block| !only_for_me || !block.content.agent.is_empty());
        let scope = match (&before, only_for_me) {
            (Some(block), _) => block.content.agent.clone(),
            (None, true) => caller.agent.to_owned(),
            (None, false) => String::new(),
        };
        let deleted = matches!(wish, Wish::Forget { .. });
        let (change, lines) = plan(wish, before.as_ref(), &scope, name);
        let author = MemoryAuthor {
            agent: caller.agent.to_owned(),
            chat: self.chat,
        };
        let call = MemoryCall {
            run: self.run,
            call: caller.call.to_owned(),
            author,
        };
        let changed = self
            .store
            .change_memory(self.owner, &change, Some(&call), (self.now_ms)())
            .await;
        let (version, lines) =
            match changed.map_err(|error| refused(error, name, before.as_ref()))? {
                MemoryChanged::Now(after) => (after.version, lines),
                MemoryChanged::Before(version) => (version, None),
            };
        let only_for = Some(scope).filter(|agent| !agent.is_empty());
        Ok(Done {
            name: name.to_owned(),
            only_for,
            version,
            deleted,
            lines,
        })
    }
}

/// The requested change, and the number of lines it adds and removes.
fn plan(
    wish: Wish,
    before: Option<&Block>,
    scope: &str,
    name: &str,
) -> (MemoryChange, Option<LineCounts>) {
    let content = |text: String, description: Option<String>| MemoryContent {
        agent: scope.to_owned(),
        name: name.to_owned(),
        description: description
            .or_else(|| before.map(|block| block.content.description.clone()))
            .unwrap_or_default(),
        text,
        pinned: before.is_some_and(|block| block.content.pinned),
    };
    let text_before = before.map_or("", |block| block.content.text.as_str());
    match wish {
        Wish::Write {
            text,
            description,
            version,
        } => {
            let lines = lines_changed(text_before, &text);
            let content = content(text, description);
            let change = match before {
                None => MemoryChange::Create {
                    id: MemoryId::generate(),
                    content,
                    max: MAX_BLOCKS,
                },
                // No memory has version 0, so a caller that has not read it gets a conflict.
                Some(Block { id, .. }) => MemoryChange::Replace {
                    id: *id,
                    content,
                    version: version.unwrap_or(0),
                },
            };
            (change, lines)
        }
        Wish::Append { text } => {
            let lines = lines_changed("", &text);
            let id = MemoryId::generate();
            let content = content(text, None);
            (
                MemoryChange::Append {
                    id,
                    content,
                    max: MAX_BLOCKS,
                    max_chars: MAX_TEXT_CHARS,
                },
                lines,
            )
        }
        Wish::Forget { version } => {
            let id = before.map_or_else(MemoryId::generate, |block| block.id);
            let version = Some(version.unwrap_or(u64::MAX));
            (
                MemoryChange::Delete { id, version },
                lines_changed(text_before, ""),
            )
        }
    }
}

/// The texts lack a trailing line break, without which their last lines would differ.
fn lines_changed(before: &str, after: &str) -> Option<LineCounts> {
    let whole = |text: &str| {
        if text.is_empty() {
            String::new()
        } else {
            format!("{text}\n")
        }
    };
    count(&whole(before), &whole(after))
}

/// The store's error as a message for the model.
fn refused(error: StoreError, name: &str, before: Option<&Block>) -> ToolFailure {
    let sentence = match (&error, before) {
        (StoreError::Conflict("version"), Some(before)) => format!(
            "The memory “{name}” exists and is at version {}. Read it, and send the version you have read.",
            before.version
        ),
        (StoreError::Conflict("name"), _) => {
            format!("Somebody made a memory “{name}” just now. Read it first.")
        }
        (StoreError::Conflict("limit"), _) => {
            format!(
                "{MAX_BLOCKS} memories are kept, which is the limit. Put it into one that exists."
            )
        }
        (StoreError::Conflict("size"), _) => format!(
            "The memory “{name}” would have more than {MAX_TEXT_CHARS} characters. Read it and write a shorter one."
        ),
        (StoreError::NotFound, _) => format!("There is no memory “{name}” (any more)."),
        _ => return unavailable(error),
    };
    ToolFailure(sentence)
}

fn unavailable(error: StoreError) -> ToolFailure {
    tracing::warn!(%error, "failed to access memories in the database");
    ToolFailure("The memory cannot be reached just now. Try again.".to_owned())
}
