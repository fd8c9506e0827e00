//! Memories in runs: which runs may use them, and what a run gets at its start.

use std::sync::Arc;

use agent::{Memory, RunMemories, Worker, memory::RunMemoryBlock};
use domain::{ChatId, RunId, UserId};
use store::StoreError;

use crate::{
    platform::built_in::TOUR,
    runtime::{preparation::Preparation, starting_run::StartingRun},
};

impl Preparation {
    /// The memories that the agents of a new run get; `None` if they must not use any.
    pub(crate) async fn memories(
        &self,
        owner: UserId,
        start: &StartingRun,
    ) -> Result<Option<RunMemories>, StoreError> {
        // The tour is scripted, and memories belong to the account, not to the people of a front end.
        let StartingRun { spec, model, .. } = start;
        let is_for_another = model.authority.principal.is_front_end_person();
        let is_off =
            is_for_another || start.is_temporary || !agent::may_remember(&spec.tool_restrictions);
        if spec.worker == Worker::Model || model.model_id == TOUR || is_off {
            return Ok(None);
        }
        let allowed = self.store.memory_use(owner).await?;
        if !allowed.uses_memory {
            return Ok(None);
        }
        let blocks = self.store.memories(owner).await?.into_iter().map(|memory| {
            let content = memory.content;
            let text = content.pinned.then_some(content.text);
            RunMemoryBlock {
                agent: content.agent,
                name: content.name,
                description: content.description,
                text,
            }
        });
        let facts = match allowed.learns_since {
            Some(_) => self.store.facts(owner).await?,
            None => Vec::new(),
        };
        let facts = facts.into_iter().map(|fact| fact.text).collect();
        Ok(Some(RunMemories {
            blocks: blocks.collect(),
            facts,
        }))
    }

    /// The memories of a resumed run: those of its start, unless its owner has turned memory off since.
    pub(crate) async fn still_allowed(
        &self,
        owner: UserId,
        memories: Option<RunMemories>,
    ) -> Result<Option<RunMemories>, StoreError> {
        match memories {
            Some(memories) if self.store.memory_use(owner).await?.uses_memory => Ok(Some(memories)),
            _ => Ok(None),
        }
    }

    /// Access to the memories of a run's owner.
    pub(crate) fn memory(&self, owner: UserId, run: RunId, chat: Option<ChatId>) -> Memory {
        let clock = self.clock.clone();
        Memory::new(
            self.store.clone(),
            owner,
            run,
            chat,
            Arc::new(move || clock.now_ms()),
        )
    }
}
