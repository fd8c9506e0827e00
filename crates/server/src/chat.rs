//! Chats and the runs that answer them: turns, recovery, pipelines, search, research, forks, schedules and webhooks.

pub(crate) mod access;
pub(crate) mod after_answer;
pub(crate) mod housekeeping;
pub(crate) mod idempotency;
pub(crate) mod learning;
pub mod push;
pub mod queued_turns;
pub(crate) mod receivers;
pub mod removal;
pub mod schedules;
pub(crate) mod search;
pub(crate) mod transfer_slots;
pub mod turns;
pub mod webhooks;
