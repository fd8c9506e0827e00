//! Runs: the registry, commands, approvals, hooks, usage bookings and traces.

pub(crate) mod approvals;
pub(crate) mod bookings;
pub mod client_tools;
pub(crate) mod commands;
pub(crate) mod conversation;
pub(crate) mod file_links;
pub(crate) mod hooks;
pub(crate) mod remote;
pub(crate) mod revocation;
pub mod runs;
pub(crate) mod subagent_resume;
pub mod traces;
