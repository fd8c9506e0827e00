//! The quota of a run, asked before each call: limits of an account that many runs share, and what its owner may use. Both can
//! change during the run.

use std::fmt;

use domain::{LocalizedText, Problem, ProblemCode, Usage};

use crate::{Prices, models::OneModel, turns::AgentContext};

/// The estimate of a model call before it is made.
#[derive(Debug, Clone, Copy)]
pub struct CallEstimate<'a> {
    /// The model's id here.
    pub model: &'a str,
    /// The agent that calls it, by its own name.
    pub agent: &'a str,
    /// The input, estimated.
    pub input_tokens: u64,
    /// The maximum output, if the caller has set one.
    pub max_output_tokens: Option<u64>,
    /// The price, if known.
    pub prices: Option<Prices>,
}

/// Receives the usage and cost at the end of a call; `None` if it failed or was stopped.
pub type EndCall = Box<dyn FnOnce(Option<(Usage, Option<u64>)>) + Send>;

/// The limits of a run that others than the run set.
pub trait Quota: fmt::Debug + Send + Sync {
    /// Begins a call.
    ///
    /// # Errors
    /// `LimitReached`, with a message, if it may not be made; `Forbidden` if the model or the agent may not be used
    /// at this time.
    fn begin(&self, call: CallEstimate<'_>) -> Result<EndCall, Problem>;

    /// Whether so many such calls may be made now.
    ///
    /// # Errors
    /// `LimitReached`, with a message, if not.
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
    let Some(quota) = &agent.run.deps.quota else {
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

/// Why the agent's next call has to be its last, if it has to: after it there would be no room for another one.
pub(crate) fn nearly_spent(agent: &AgentContext, input_tokens: u64) -> Option<LocalizedText> {
    let quota = agent.run.deps.quota.as_ref()?;
    let refused = quota
        .check(estimate(agent, agent.models.chosen(), input_tokens), 2)
        .err()?;
    Some(refused.words())
}

/// Whether a call was not made because of a limit.
pub(crate) fn is_limit(problem: &Problem) -> bool {
    problem.code == ProblemCode::LimitReached
}
