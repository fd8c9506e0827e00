//! Activity events: which chats have a run that is working or waiting, for the sidebar.

use domain::{ApiKeyId, ChatId, EventBody, Outcome, RunId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::Principal;

use crate::LiveRun;

/// A change in a run's state, or in a chat.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Activity {
    /// The principal that started the run; not sent.
    #[serde(skip)]
    pub principal: Principal,
    /// Its chat, if any.
    pub chat: Option<ChatId>,
    /// `null` if the event is about the chat or the memory.
    pub run: Option<RunId>,
    /// Its current state.
    pub state: ActivityState,
    /// How it ended, if it is `finished`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The chat's title when the run started.
    pub title: String,
}

/// The state of a run, or an event in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActivityState {
    /// Working.
    Running,
    /// Waiting for a user.
    Waiting,
    /// Ended.
    Finished,
    /// The chat was read.
    Read,
    /// A [pipeline](docs/models/pipelines.md) has changed the chat: a new title, or follow-ups.
    Changed,
    /// A memory update of the user begins. One by an agent has a run and a chat, a
    /// [learned](docs/decisions/0020-memories-and-learned-facts.md) one a run, and one by the user neither.
    MemoryUpdateStarted,
    /// The memory update has ended.
    MemoryUpdateCompleted,
}

/// The same between servers.
#[derive(Serialize, Deserialize)]
struct SharedActivity {
    account: UserId,
    key: Option<ApiKeyId>,
    person: Option<String>,
    chat: Option<ChatId>,
    run: Option<RunId>,
    state: ActivityState,
    outcome: Option<Outcome>,
    title: String,
}

impl ActivityState {
    /// The state for an event about the memory.
    pub(crate) fn of_memory(body: &EventBody) -> Option<Self> {
        match body {
            EventBody::MemoryUpdateStarted { .. } => Some(Self::MemoryUpdateStarted),
            EventBody::MemoryUpdateCompleted { .. } => Some(Self::MemoryUpdateCompleted),
            _ => None,
        }
    }
}

impl Activity {
    /// As other servers read it.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        let Self {
            principal,
            chat,
            run,
            state,
            outcome,
            title,
        } = self.clone();
        let shared = SharedActivity {
            account: principal.account,
            key: principal.key,
            person: principal.person,
            chat,
            run,
            state,
            outcome,
            title,
        };
        // Plain data always serializes.
        serde_json::to_vec(&shared).unwrap_or_default()
    }

    /// As another server wrote it; `None` if it cannot be read.
    pub(crate) fn from_json(json: &[u8]) -> Option<Self> {
        let SharedActivity {
            account,
            key,
            person,
            chat,
            run,
            state,
            outcome,
            title,
        } = serde_json::from_slice(json).ok()?;
        Some(Self {
            principal: Principal {
                account,
                key,
                person,
            },
            chat,
            run,
            state,
            outcome,
            title,
        })
    }

    pub(crate) fn of(live: &LiveRun, state: ActivityState) -> Self {
        let outcome = live.outcome.get().copied();
        Self {
            principal: live.principal.clone(),
            chat: live.chat,
            run: Some(live.id),
            state,
            outcome,
            title: live.title.clone(),
        }
    }

    pub(crate) fn read(owner: UserId, chat: ChatId) -> Self {
        let principal = Principal::of_account(owner);
        Self {
            principal,
            chat: Some(chat),
            run: None,
            state: ActivityState::Read,
            outcome: None,
            title: String::new(),
        }
    }

    /// A change of the user's memory, made by the user and not by a run.
    pub(crate) fn of_own_memory(owner: UserId, state: ActivityState) -> Self {
        let principal = Principal::of_account(owner);
        Self {
            principal,
            chat: None,
            run: None,
            state,
            outcome: None,
            title: String::new(),
        }
    }

    /// A pipeline has changed a chat; `title` is its new title, or empty if it is unchanged.
    #[must_use]
    pub fn changed(principal: Principal, chat: ChatId, title: String) -> Self {
        Self {
            principal,
            chat: Some(chat),
            run: None,
            state: ActivityState::Changed,
            outcome: None,
            title,
        }
    }

    /// The current state of a live run.
    #[must_use]
    pub fn now(live: &LiveRun) -> Self {
        Self::of(
            live,
            if live.is_waiting() {
                ActivityState::Waiting
            } else {
                ActivityState::Running
            },
        )
    }
}
