//! Hooks: what an administrator has called before and after a run, a model call, a tool call and an answer. Each call is an item
//! of the log with its decision, which counts again when the run is resumed.

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

/// A hook as it is declared, as far as a run has to know it.
#[derive(Debug, Clone)]
pub struct Hook {
    /// Its name, which no other has.
    pub name: String,
    /// When it is called.
    pub events: Vec<HookEvent>,
    /// The tools whose calls it sees; all where empty.
    pub tools: Vec<Pattern>,
    /// The agents that it looks after, by name; all where empty.
    pub agents: Vec<Pattern>,
    /// The models that it looks after, by id; all where empty.
    pub models: Vec<Pattern>,
    /// Whether it counts as a denial where it fails.
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

/// What a hook is asked.
#[derive(Debug, Clone)]
pub struct HookRequest {
    /// The id of this call, unique within the run and the same after a restart.
    pub id: String,
    /// The hook's name.
    pub hook: String,
    /// When it is called.
    pub event: HookEvent,
    /// What it is about.
    pub data: Map<String, Value>,
    /// Less time than the hook has usually, where somebody waits for the run to end.
    pub limit: Option<Duration>,
}

/// Calls hooks for one run, and keeps what they look at until they have decided.
pub trait HookCaller: fmt::Debug + Send + Sync {
    /// Calls a hook, again where that may help; all of it within the hook's time.
    ///
    /// # Errors
    /// What went wrong, without secrets.
    fn call(&self, request: HookRequest) -> BoxFuture<'static, Result<HookAnswer, String>>;

    /// Keeps what a restart must not lose: a tool's result or an answer that nobody else has yet.
    fn keep(&self, item: String, content: String) -> BoxFuture<'static, ()>;

    /// What was kept; `None` if nothing was.
    fn kept(&self, item: String) -> BoxFuture<'static, Option<String>>;

    /// Forgets all that was kept for the run.
    fn forget(&self) -> BoxFuture<'static, ()>;
}

/// The hooks of a run, in the order in which they are declared, and what calls them. Cheap to clone.
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
