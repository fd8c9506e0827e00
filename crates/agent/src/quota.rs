//! The quota of a run, asked before each call: limits of an account that many runs share, and what its owner may use. Both can
//! change during the run.

use std::fmt;

use domain::{Problem, ProblemCode, Usage, Words};

use crate::{Prices, models::OneModel, turns::AgentContext};

/// What is known of a model call before it is made.
#[derive(Debug, Clone, Copy)]
pub struct CallEstimate<'a> {
    /// The model's id here.
    pub model: &'a str,
    /// The agent that calls it, by its own name.
    pub agent: &'a str,
    /// What the model reads, by rule of thumb.
    pub input_tokens: u64,
    /// The most it may write, where the caller has said so.
    pub max_output_tokens: Option<u64>,
    /// What it costs, where known.
    pub prices: Option<Prices>,
}

/// Told at the end of a call what it has used and cost; `None` if it failed or was stopped.
pub type EndCall = Box<dyn FnOnce(Option<(Usage, Option<u64>)>) + Send>;

/// What a run may, as others than the run say.
pub trait Quota: fmt::Debug + Send + Sync {
    /// Begins a call.
    ///
    /// # Errors
    /// `LimitReached`, in words, where it may not be made; `Forbidden` where the model or the agent may not be used any
    /// more.
    fn begin(&self, call: CallEstimate<'_>) -> Result<EndCall, Problem>;

    /// Whether so many such calls may be made now.
    ///
    /// # Errors
    /// `LimitReached`, in words, where not.
    fn check(&self, call: CallEstimate<'_>, calls: u64) -> Result<(), Problem>;

    /// Whether the tool of this name may be used now.
    fn allows_tool(&self, name: &str) -> bool;

    /// Whether work may be handed to the agent of this name now.
    fn allows_agent(&self, name: &str) -> bool;
}

/// A call that was allowed. Dropped without [`Held::end`], it has failed.
pub(crate) struct Held(Option<EndCall>);

impl Held {
    pub(crate) fn end(mut self, usage: Usage, cost_micro_usd: Option<u64>) {
        if let Some(end) = self.0.take() {
            end(Some((usage, cost_micro_usd)));
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(end) = self.0.take() {
            end(None);
        }
    }
}

fn estimate<'a>(
    agent: &'a AgentContext,
    model: &'a OneModel,
    input_tokens: u64,
) -> CallEstimate<'a> {
    let max_output_tokens = agent.parameters(model).max_output_tokens;
    let id = model.id();
    let prices = model.settings().prices;
    CallEstimate {
        model: id,
        agent: &agent.spec.known_as,
        input_tokens,
        max_output_tokens,
        prices,
    }
}

/// Begins a call of the model that reads so much.
///
/// # Errors
/// `LimitReached` if a limit does not allow it, or `RateLimited` if it would be the run's first call: a request that is
/// refused outright gets an error, not an empty answer.
pub(crate) fn begin_call(
    agent: &AgentContext,
    model: &OneModel,
    input_tokens: u64,
) -> Result<Held, Problem> {
    let Some(quota) = &agent.run.quota else {
        return Ok(Held(None));
    };
    match quota.begin(estimate(agent, model, input_tokens)) {
        Ok(end) => Ok(Held(Some(end))),
        Err(problem) if is_limit(&problem) && agent.run.budget.used().steps == 0 => Err(Problem {
            code: ProblemCode::RateLimited,
            ..problem
        }),
        Err(problem) => Err(problem),
    }
}

/// Why the agent's next call has to be its last, where it has to: after it there would be no room for another one.
pub(crate) fn nearly_spent(agent: &AgentContext, input_tokens: u64) -> Option<Words> {
    let quota = agent.run.quota.as_ref()?;
    let refused = quota
        .check(estimate(agent, agent.models.chosen(), input_tokens), 2)
        .err()?;
    Some(refused.words())
}

/// Whether a call was not made because of a limit.
pub(crate) fn is_limit(problem: &Problem) -> bool {
    problem.code == ProblemCode::LimitReached
}
