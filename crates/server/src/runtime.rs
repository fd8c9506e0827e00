//! Runs: preparation, commands, approvals, recovery, leases, forks, hooks, usage bookings and traces.

pub(crate) mod approvals;
pub(crate) mod bookings;
pub mod client_tools;
pub(crate) mod commands;
pub(crate) mod conversation;
pub(crate) mod file_links;
pub mod forks;
pub(crate) mod hints;
pub(crate) mod hooks;
pub(crate) mod leases;
pub mod preparation;
pub(crate) mod progress;
pub(crate) mod recovery;
pub(crate) mod remote;
pub(crate) mod revocation;
pub(crate) mod starting_run;
pub(crate) mod subagent_resume;
pub mod traces;
