//! Read access to chats: the owner, users that a chat is shared with, and administrators if moderation is enabled.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{body::Body, response::Response};
use domain::{ChatId, RunId, UserId};
use futures_util::StreamExt;
use serde_json::Map;
use store::{Chat, KeyScope, Run, SharedChat, Store, StoreError, UserRole};
use tokio::time::Instant;
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use crate::{
    error::ApiError,
    identity::{Identity, auth::Caller},
    messages,
    platform::{client_info::ClientInfo, live_config::LiveConfig},
};

/// How often access to an open chat is checked again.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// An administrator's reads of one chat are audited at most once in this time.
const ONE_LOOK: Duration = Duration::from_secs(600);
/// Maximum number of remembered reads; beyond it, repeated reads are audited again.
const MAX_LOOKS: usize = 10_000;

/// The caller who reads a chat, and where the request comes from.
#[derive(Debug, Clone)]
pub(crate) struct Viewer {
    pub(crate) caller: Caller,
    place: ClientInfo,
}

impl Viewer {
    /// The caller, and where the request comes from.
    pub(crate) fn new(caller: Caller, place: ClientInfo) -> Self {
        Self { caller, place }
    }
}

/// A chat that may be read.
#[derive(Debug)]
pub(crate) struct Readable {
    pub(crate) chat: Chat,
    /// The owner's name and e-mail address if the chat is not the reader's own.
    pub(crate) owner: Option<(String, String)>,
    /// Whether the reader may also write in it.
    pub(crate) may_reply: bool,
}

impl Readable {
    /// Whether the reader owns the chat, rather than having it shared with them.
    pub(crate) fn is_own(&self) -> bool {
        self.owner.is_none()
    }
}

/// Continuous read access to another user's chat, which ends when it is revoked.
#[derive(Debug)]
pub(crate) struct Reading {
    /// Cancelled within a second after access is revoked.
    ends: CancellationToken,
    /// Stops the checks when dropped.
    _stays: DropGuard,
}

impl Reading {
    /// Runs `work` until access is revoked.
    pub(crate) async fn during(this: Option<Self>, work: impl Future) {
        match &this {
            Some(reading) => drop(reading.ends.run_until_cancelled(work).await),
            None => drop(work.await),
        }
    }

    /// The same response, whose body ends when access is revoked.
    pub(crate) fn stream(this: Option<Self>, response: Response) -> Response {
        let Some(reading) = this else { return response };
        let ended = async move {
            // Moves all of `reading` into the future: the checks stop when it is dropped.
            let reading = reading;
            reading.ends.cancelled().await;
        };
        response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(ended))))
    }
}

/// Recent reads by administrators.
#[derive(Debug, Default)]
pub(crate) struct AccessAudit(Mutex<HashMap<(UserId, ChatId), Instant>>);

impl AccessAudit {
    /// Whether this read has to be audited: the first within [`ONE_LOOK`].
    fn is_news(&self, who: UserId, chat: ChatId, now: Instant) -> bool {
        let looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looks
            .get(&(who, chat))
            .is_none_or(|at| now.duration_since(*at) >= ONE_LOOK)
    }

    /// Remembers an audited read.
    fn remember(&self, who: UserId, chat: ChatId, now: Instant) {
        let mut looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looks.retain(|_, at| now.duration_since(*at) < ONE_LOOK);
        if looks.len() < MAX_LOOKS {
            looks.insert((who, chat), now);
        }
    }
}

/// Checks who may read a chat.
pub(crate) struct ChatAccess {
    /// Recent reads of other people's chats, so that each is audited once.
    pub(crate) audit: AccessAudit,
    pub(crate) config: LiveConfig,
    pub(crate) identity: Arc<Identity>,
    pub(crate) stopping: CancellationToken,
    pub(crate) store: Store,
    pub(crate) tasks: TaskTracker,
}

impl ChatAccess {
    /// The chat, if the viewer may read it. An administrator's read of another user's chat is audited.
    ///
    /// # Errors
    /// 404 otherwise, so that it does not reveal whether the chat exists.
    pub(crate) async fn readable(
        &self,
        viewer: &Viewer,
        chat: ChatId,
    ) -> Result<Readable, ApiError> {
        let Viewer { caller, place } = viewer;
        match self.store.chat(&caller.principal(), chat).await {
            Ok(chat) => {
                return Ok(Readable {
                    chat,
                    owner: None,
                    may_reply: true,
                });
            }
            Err(StoreError::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
        let (
            SharedChat {
                chat,
                owner_name,
                owner_email,
                may_reply,
            },
            is_shared,
        ) = self.of_others(caller, chat).await?;
        let who = caller.id();
        let now = Instant::now();
        if !is_shared && self.audit.is_news(who, chat.id, now) {
            let subject = chat.id.to_string();
            let name = owner_email.clone();
            self.identity
                .note_look("chat.look", caller, place, subject, name, Map::new())
                .await?;
            // Only after the audit entry is stored: if that fails, the next read has to be audited again.
            self.audit.remember(who, chat.id, now);
        }
        Ok(Readable {
            chat,
            owner: Some((owner_name, owner_email)),
            may_reply,
        })
    }

    /// Another user's chat that the caller may write in.
    ///
    /// # Errors
    /// 404 otherwise, as if there were no such chat.
    pub(crate) async fn writable(&self, caller: &Caller, chat: ChatId) -> Result<Chat, ApiError> {
        let (shared, _) = self.of_others(caller, chat).await?;
        let writable = Some(shared).filter(|shared| shared.may_reply);
        Ok(writable.ok_or(StoreError::NotFound)?.chat)
    }

    /// The run, if it is the viewer's or in a chat that they may read.
    ///
    /// # Errors
    /// 404 otherwise.
    pub(crate) async fn readable_run(&self, viewer: &Viewer, run: RunId) -> Result<Run, ApiError> {
        let missing = || ApiError::not_found(messages::Chats::NoSuchRun);
        let caller = &viewer.caller;
        let run = match self.store.run(run).await {
            Err(StoreError::NotFound) => return Err(missing()),
            run => run?,
        };
        if run.principal.account == caller.id() {
            return if caller.may_see(&run.principal) {
                Ok(run)
            } else {
                Err(missing())
            };
        }
        let chat = run.chat.ok_or_else(missing)?;
        // Report the run as missing, whatever the reason.
        self.readable(viewer, chat)
            .await
            .map_err(|error| if error.is_ours() { error } else { missing() })?;
        Ok(run)
    }

    /// Another user's chat, and whether it is shared with the caller.
    async fn of_others(
        &self,
        caller: &Caller,
        chat: ChatId,
    ) -> Result<(SharedChat, bool), StoreError> {
        // People behind a front end see only chats that they started. Reading other users' chats takes more than the
        // permission to use models and agents.
        if caller.person.is_some() || !caller.key_allows(KeyScope::Read) {
            return Err(StoreError::NotFound);
        }
        match self.store.shared_chat(caller.id(), chat).await {
            Err(StoreError::NotFound) if self.moderates(caller) => {
                Ok((self.store.chat_of_any_owner(chat).await?, false))
            }
            shared => Ok((shared?, true)),
        }
    }

    /// Whether the caller may read all users' chats.
    pub(crate) fn moderates(&self, caller: &Caller) -> bool {
        self.config.now().moderation && caller.user.role == UserRole::Admin
    }

    /// Starts checking whether the caller may still read the run; `None` if it is their own.
    pub(crate) fn reading_of(self: &Arc<Self>, caller: &Caller, run: &Run) -> Option<Reading> {
        let chat = run.chat.filter(|_| run.principal.account != caller.id())?;
        let ends = CancellationToken::new();
        let app = self.clone();
        let mut caller = caller.clone();
        let over = ends.clone();
        let reading = CancellationToken::new();
        let stays = reading.clone().drop_guard();
        self.tasks.spawn(async move {
            loop {
                tokio::select! {
                    () = app.stopping.cancelled() => return,
                    () = reading.cancelled() => return,
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                }
                match app.still_reads(&mut caller, chat).await {
                    Ok(true) => {}
                    Ok(false) => return over.cancel(),
                    Err(error) => tracing::warn!(%error, "cannot look who may read a chat"),
                }
            }
        });
        Some(Reading {
            ends,
            _stays: stays,
        })
    }

    async fn still_reads(&self, caller: &mut Caller, chat: ChatId) -> Result<bool, StoreError> {
        if self.moderates(caller) {
            // The role may have changed.
            caller.user = Arc::new(self.store.user(caller.id()).await?);
        }
        match self.of_others(caller, chat).await {
            Ok(_) => Ok(true),
            Err(StoreError::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_news_once_in_a_while() {
        let looks = AccessAudit::default();
        let now = Instant::now();
        let who = UserId::generate();
        let chat = ChatId::generate();
        assert!(looks.is_news(who, chat, now));
        assert!(
            looks.is_news(who, chat, now),
            "the line could not be written"
        );
        looks.remember(who, chat, now);
        assert!(!looks.is_news(who, chat, now + Duration::from_secs(599)));
        assert!(looks.is_news(who, ChatId::generate(), now), "another chat");
        assert!(
            looks.is_news(UserId::generate(), chat, now),
            "another administrator"
        );
        assert!(looks.is_news(who, chat, now + ONE_LOOK));
    }
}
