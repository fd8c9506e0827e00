//! Chats and the runs that answer them: turns, recovery, pipelines, search, research, forks, schedules and webhooks.

pub(crate) mod access;
pub mod forks;
pub(crate) mod housekeeping;
pub(crate) mod idempotency;
pub(crate) mod learning;
pub(crate) mod leases;
pub(crate) mod memory;
pub(crate) mod pipelines;
pub(crate) mod recovery;
pub(crate) mod request_attachments;
pub mod research;
pub mod schedules;
pub(crate) mod search;
pub(crate) mod tags;
pub(crate) mod transfer_slots;
pub mod turns;
pub mod webhooks;
