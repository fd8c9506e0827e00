//! What the sidebar shows: which chats have a run that is going or waiting.

use domain::{ChatId, EventBody, Outcome, RunId, UserId};
use schemars::JsonSchema;
use serde::Serialize;
use store::Principal;

use super::LiveRun;

/// A change in a run's state, or in a chat.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Activity {
    /// Who began the run; not sent.
    #[serde(skip)]
    pub principal: Principal,
    /// Its chat, if any.
    pub chat: Option<ChatId>,
    /// `null` if it is about the chat.
    pub run: Option<RunId>,
    /// What it is doing.
    pub state: ActivityState,
    /// How it ended, if it is `finished`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The chat's title when the run started.
    pub title: String,
}

/// What a run is doing, or has happened in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActivityState {
    /// Working.
    Running,
    /// Waiting for a person.
    Waiting,
    /// Over.
    Finished,
    /// The chat was read.
    Read,
    /// A [pipeline](docs/models/pipelines.md) has written something: a new title, or follow-ups.
    Changed,
    /// A memory update of the person begins. An agent's names its run and chat, a
    /// [learned](docs/decisions/0020-memories-and-learned-facts.md) one its run, and a person's own neither.
    MemoryUpdateStarted,
    /// It has ended.
    MemoryUpdateCompleted,
}

impl ActivityState {
    /// What an event says of the memory, if it does.
    pub(super) fn of_memory(body: &EventBody) -> Option<Self> {
        match body {
            EventBody::MemoryUpdateStarted { .. } => Some(Self::MemoryUpdateStarted),
            EventBody::MemoryUpdateCompleted { .. } => Some(Self::MemoryUpdateCompleted),
            _ => None,
        }
    }
}

impl Activity {
    pub(super) fn of(live: &LiveRun, state: ActivityState) -> Self {
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

    pub(super) fn read(owner: UserId, chat: ChatId) -> Self {
        let (state, title) = (ActivityState::Read, String::new());
        let principal = Principal::of_account(owner);
        Self {
            principal,
            chat: Some(chat),
            run: None,
            state,
            outcome: None,
            title,
        }
    }

    /// A change of what is remembered of a person, in no run: they make it themselves.
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

    /// The state of a run that is going now.
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
