//! What agents remember of people: who may use it, and what a run is told when it begins.

use std::sync::Arc;

use agent::{Memory, Told, memory::ToldBlock};
use domain::{ChatId, RunId, UserId};
use store::StoreError;

use crate::{
    chat::turns::{Preparation, Work, Worker},
    platform::built_in::TOUR,
};

impl Preparation {
    /// What the agents of a new run are told; nothing where they must not use the memory.
    pub(crate) async fn told(
        &self,
        owner: UserId,
        work: &Work,
    ) -> Result<Option<Told>, StoreError> {
        // The tour plays what is written, and what is remembered is of the account, not of a front end's people.
        let is_for_another = work.model.authority.principal.is_front_end_person();
        let is_off = is_for_another || !agent::may_remember(&work.narrowed);
        if work.worker == Worker::Model || work.model.model_id == TOUR || is_off {
            return Ok(None);
        }
        let allowed = self.store.memory_use(owner).await?;
        if !allowed.uses_memory {
            return Ok(None);
        }
        let blocks = self.store.memories(owner).await?.into_iter().map(|memory| {
            let content = memory.content;
            let text = content.pinned.then_some(content.text);
            ToldBlock {
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
        Ok(Some(Told {
            blocks: blocks.collect(),
            facts,
        }))
    }

    /// The same for a run that goes on: what it was told, unless its owner has turned the memory off meanwhile.
    pub(crate) async fn still_told(
        &self,
        owner: UserId,
        told: Option<Told>,
    ) -> Result<Option<Told>, StoreError> {
        match told {
            Some(told) if self.store.memory_use(owner).await?.uses_memory => Ok(Some(told)),
            _ => Ok(None),
        }
    }

    /// What is remembered of a run's owner.
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
