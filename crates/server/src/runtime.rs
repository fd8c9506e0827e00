//! Runs: the registry, commands, leases, recovery, approvals, hooks and traces.

pub(crate) mod approvals;
pub mod client_tools;
pub(crate) mod commands;
pub(crate) mod file_links;
pub(crate) mod hooks;
pub(crate) mod leases;
pub(crate) mod recovery;
pub(crate) mod remote;
pub mod runs;
pub(crate) mod subagent_resume;
pub mod traces;
