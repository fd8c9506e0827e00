//! Hooks that an administrator configures around a run, a model call, a tool call and an answer. Each call of a hook is
//! a log item with its decision, which is reused when the run is resumed.

mod answer;
mod calling;
mod places;

use std::{fmt, sync::Arc, time::Duration};

use domain::event::HookEvent;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use crate::{Pattern, Star};

pub use answer::HookAnswer;
pub(crate) use places::{
    KeptResult, Settled, add_context, after_answer, after_model, after_run, after_tool,
    before_answer, before_edited_tool, before_model, before_run, before_tool, context_of_call,
    holds_answers, keep_answer, keep_result, kept_answer, kept_result, sent_back,
    withdraw_before_tool,
};

/// The declaration of a hook, limited to what a run needs.
#[derive(Debug, Clone)]
pub struct Hook {
    /// Its name, which is unique.
    pub name: String,
    /// The events that trigger it.
    pub events: Vec<HookEvent>,
    /// The tools to whose calls it applies; all if empty.
    pub tools: Vec<Pattern>,
    /// The names of the agents to which it applies; all if empty.
    pub agents: Vec<Pattern>,
    /// The ids of the models to which it applies; all if empty.
    pub models: Vec<Pattern>,
    /// Whether a failure counts as a denial.
    pub fail_closed: bool,
}

impl Hook {
    fn fits(&self, event: HookEvent, tool: Option<&str>, agent: &str, model: &str) -> bool {
        let fits = |patterns: &[Pattern], name: &str| {
            patterns.is_empty()
                || patterns
                    .iter()
                    .any(|pattern| pattern.fits(name, Star::Anything))
        };
        self.events.contains(&event)
            && tool.is_none_or(|tool| fits(&self.tools, tool))
            && fits(&self.agents, agent)
            && fits(&self.models, model)
    }
}

/// A request to a hook.
#[derive(Debug, Clone)]
pub struct HookRequest {
    /// The id of this call, unique within the run and the same after a restart.
    pub id: String,
    /// The hook's name.
    pub hook: String,
    /// The event that triggered it.
    pub event: HookEvent,
    /// The input.
    pub data: Map<String, Value>,
    /// A time limit shorter than the hook's own, if a caller waits for the run to end.
    pub limit: Option<Duration>,
}

/// Calls hooks for one run, and stores the data under review until they have decided.
pub trait HookCaller: fmt::Debug + Send + Sync {
    /// Calls a hook, with retries if they may help, all within the hook's time limit.
    ///
    /// # Errors
    /// What failed, without secrets.
    fn call(&self, request: HookRequest) -> BoxFuture<'static, Result<HookAnswer, String>>;

    /// Stores data that must survive a restart: a tool's result or an answer that is not in the log yet.
    fn keep(&self, item: String, content: String) -> BoxFuture<'static, ()>;

    /// The stored data; `None` if there is none.
    fn kept(&self, item: String) -> BoxFuture<'static, Option<String>>;

    /// Deletes all data stored for the run.
    fn forget(&self) -> BoxFuture<'static, ()>;
}

/// The hooks of a run, in the order of declaration, and their caller. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Hooks {
    all: Arc<[Hook]>,
    caller: Arc<dyn HookCaller>,
}

impl Hooks {
    /// These hooks.
    #[must_use]
    pub fn new(all: Arc<[Hook]>, caller: Arc<dyn HookCaller>) -> Self {
        Self { all, caller }
    }
}
