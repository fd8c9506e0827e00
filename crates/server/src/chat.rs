//! Chats: turns, pipelines, search, research, forks, schedules, webhooks and learning about people.

pub(crate) mod access;
pub mod forks;
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
