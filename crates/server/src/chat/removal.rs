//! Deletes chats, with all that belongs to them: when people ask for it, and temporary ones when they expire.

use std::sync::Arc;

use domain::{ChatId, ProblemCode, UserId};
use store::{Chat, Principal, Store};

use crate::{
    error::ApiError,
    platform::{
        clock::Clock,
        jobs::{Failure, Steps},
    },
    runtime::commands::Commands,
    tools::programs::ProgramsHere,
};

/// Maximum number of expired chats deleted in one pass.
const AT_ONCE: u32 = 1000;

/// Deletes chats.
pub struct ChatRemoval {
    pub(crate) clock: Clock,
    pub(crate) commands: Arc<Commands>,
    pub(crate) programs: Arc<ProgramsHere>,
    pub(crate) store: Store,
}

impl ChatRemoval {
    /// Stops the runs of a chat and deletes it.
    pub(crate) async fn delete(&self, owner: UserId, chat: ChatId) -> Result<(), ApiError> {
        let chat = self.store.chat(&Principal::of_account(owner), chat).await?;
        self.remove(&chat).await
    }

    async fn remove(&self, chat: &Chat) -> Result<(), ApiError> {
        // Their last events are still being written; deleting the chat meanwhile would leave some behind.
        self.commands.stop_in(chat.id).await?;
        let owner = chat.principal.account;
        self.store.delete_chat(owner, chat.id).await?;
        if let Some(programs) = self.programs.here() {
            programs.forget(&chat.id.to_string());
        }
        Ok(())
    }

    /// Deletes the temporary chats that have expired.
    ///
    /// # Errors
    /// The names of the chats that could not be deleted.
    pub async fn delete_expired(self: Arc<Self>) -> Result<(), Failure> {
        let mut steps = Steps::default();
        let now = self.clock.now_ms();
        for (owner, chat) in self.store.expired_chats(now, AT_ONCE).await? {
            steps.note(&chat.to_string(), self.delete_if_expired(owner, chat).await);
        }
        steps.finish()
    }

    /// Its owner or another server may have deleted it since, or its owner may have come back to it.
    async fn delete_if_expired(&self, owner: UserId, chat: ChatId) -> Result<(), ApiError> {
        let deleted = match self.store.chat(&Principal::of_account(owner), chat).await {
            Ok(chat) if chat.expires_at.is_some_and(|at| at <= self.clock.now_ms()) => {
                self.remove(&chat).await
            }
            Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        };
        match deleted {
            Err(error) if error.problem().code == ProblemCode::NotFound => Ok(()),
            deleted => deleted,
        }
    }
}
