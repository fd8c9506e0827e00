//! The run loop driven by a scripted model: whole logs and the exact requests are looked at.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends at the first surprise"
)]

mod answer_form;
mod asks;
mod broken_off;
mod citations;
mod compaction;
mod continued;
mod deferred_tools;
mod defined_agents;
mod hooks;
mod inputs;
mod limits;
mod look_up;
mod made_pictures;
mod memory;
mod parameters;
mod permits;
mod play;
mod prompt_prefix;
mod replayed;
mod research;
mod restarts;
mod strict_servers;
mod subagents;
mod tools;
mod tour;
mod turns;
mod upstream_status;
mod workspace;
