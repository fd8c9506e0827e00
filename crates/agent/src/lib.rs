//! The run loop, sub-agents and tools. Knows neither HTTP nor configuration files; what it does, it emits.

pub mod agents;
mod answer_form;
pub mod asks;
mod budget;
mod calls;
mod consent;
mod context;
pub mod emitter;
pub mod history;
mod late_tools;
mod long_results;
mod past;
pub mod programs;
mod questions;
mod run;
mod step;
mod subagent;
pub mod tool;
pub mod tools;
pub mod tour;
mod turns;
mod work_time;
pub mod workspace;

pub use agents::{AgentSpec, Agents};
pub use answer_form::AnswerForm;
pub use asks::{ApprovalAnswer, AskError, Asks};
pub use budget::{Limits, NO_TIME_LIMIT, Prices};
pub use consent::{Allowed, Consents, Pattern, Rule, RuleProblem, Star, Verdict};
pub use emitter::{Emitted, Emitter};
pub use late_tools::{FoundTools, LateTools};
pub use past::Past;
pub use programs::Programs;
pub use run::{CallWishes, INTERRUPTED, ModelSettings, RunRequest, StopSignals, run};
pub use tool::{Tool, ToolContext, ToolFailure, ToolKind, Toolbox};
pub use workspace::Workspace;
