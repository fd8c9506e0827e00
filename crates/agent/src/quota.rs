//! The quota of a run, checked before each call: the limits of an account shared by many runs, and what its owner may
//! use. Both can change during the run.

use std::fmt;

use domain::{LocalizedText, Problem, ProblemCode, Usage};
use futures_util::future::BoxFuture;

use crate::{Prices, models::OneModel, turns::AgentContext};

/// The estimate of a model call before it is made.
#[derive(Debug, Clone, Copy)]
pub struct CallEstimate<'a> {
    /// The model's id on this server.
    pub model: &'a str,
    /// The name of the agent that makes the call.
    pub agent: &'a str,
    /// Estimated input tokens.
    pub input_tokens: u64,
    /// Maximum output tokens, if the caller has set a limit.
    pub max_output_tokens: Option<u64>,
    /// The price, if known.
    pub prices: Option<Prices>,
}

/// Receives the usage and cost at the end of a call; `None` if it failed or was stopped.
pub type EndCall = Box<dyn FnOnce(Option<(Usage, Option<u64>)>) + Send>;

/// Limits on a run that are set outside of it.
pub trait Quota: fmt::Debug + Send + Sync {
    /// Begins a call.
    ///
    /// # Errors
    /// `LimitReached`, with a message, if it may not be made; `Forbidden` if the model or the agent may not currently
    /// be used.
    fn begin<'a>(&'a self, call: CallEstimate<'a>) -> BoxFuture<'a, Result<EndCall, Problem>>;

    /// Checks whether this many such calls may be made now.
    ///
    /// # Errors
    /// `LimitReached`, with a message, if not.
    fn check(&self, call: CallEstimate<'_>, calls: u64) -> Result<(), Problem>;

    /// Whether the tool of this name may currently be used.
    fn allows_tool(&self, name: &str) -> bool;

    /// Whether the agent of this name may currently be delegated to.
    fn allows_agent(&self, name: &str) -> bool;
}

/// An admitted call. If dropped without [`Held::end`], it counts as failed.
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

/// Begins a call of the model with this many input tokens.
///
/// # Errors
/// `LimitReached` if a limit does not allow it, or `RateLimited` if it would be the run's first call: a request that is
/// refused outright gets an error, not an empty answer.
pub(crate) async fn begin_call(
    agent: &AgentContext,
    model: &OneModel,
    input_tokens: u64,
) -> Result<Held, Problem> {
    let Some(quota) = &agent.run.deps.quota else {
        return Ok(Held(None));
    };
    match quota.begin(estimate(agent, model, input_tokens)).await {
        Ok(end) => Ok(Held(Some(end))),
        Err(problem) if is_limit(&problem) && agent.run.budget.used().steps == 0 => Err(Problem {
            code: ProblemCode::RateLimited,
            ..problem
        }),
        Err(problem) => Err(problem),
    }
}

/// Why the agent's next call has to be its last, if it does: no room would be left for another one.
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
