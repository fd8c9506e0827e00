//! What the sidebar shows: which chats have a run that is going or waiting.

use domain::{ChatId, RunId, UserId};
use serde::Serialize;

use super::LiveRun;

/// A change in a run's state.
#[derive(Debug, Clone, Serialize)]
pub struct Activity {
    /// Whose run; not sent.
    #[serde(skip)]
    pub owner: UserId,
    /// Its chat, if any.
    pub chat: Option<ChatId>,
    /// The run.
    pub run: RunId,
    /// What it is doing.
    pub state: ActivityState,
    /// The chat's title when the run started.
    pub title: String,
}

/// What a run is doing, as far as a list of chats cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ActivityState {
    /// Working.
    Running,
    /// Waiting for a person.
    Waiting,
    /// Over.
    Finished,
}

impl Activity {
    pub(super) fn of(live: &LiveRun, state: ActivityState) -> Self {
        Self { owner: live.owner, chat: live.chat, run: live.id, state, title: live.title.clone() }
    }

    /// The state of a run that is going now.
    #[must_use]
    pub fn now(live: &LiveRun) -> Self {
        Self::of(live, if live.is_waiting() { ActivityState::Waiting } else { ActivityState::Running })
    }
}
