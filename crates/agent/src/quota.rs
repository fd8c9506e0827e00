//! What others than the run allow it: limits of an account that many runs share, asked before each model call.

use std::fmt;

use domain::{Problem, ProblemCode, Usage};

use crate::{Prices, models::OneModel, turns::AgentContext};

/// What is known of a model call before it is made.
#[derive(Debug, Clone, Copy)]
pub struct CallEstimate {
    /// What the model reads, by rule of thumb.
    pub input_tokens: u64,
    /// The most it may write, where the caller has said so.
    pub max_output_tokens: Option<u64>,
    /// What it costs, where known.
    pub prices: Option<Prices>,
}

/// Told at the end of a call what it has used and cost; nothing where it failed or was stopped.
pub type EndCall = Box<dyn FnOnce(Option<(Usage, Option<u64>)>) + Send>;

/// Limits that a run shares with others.
pub trait Quota: fmt::Debug + Send + Sync {
    /// Begins a call.
    ///
    /// # Errors
    /// `LimitReached`, in words, where it may not be made.
    fn begin(&self, call: CallEstimate) -> Result<EndCall, Problem>;

    /// Whether so many such calls may be made now.
    ///
    /// # Errors
    /// `LimitReached`, in words, where not.
    fn check(&self, call: CallEstimate, calls: u64) -> Result<(), Problem>;
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

fn estimate(agent: &AgentContext, model: &OneModel, input_tokens: u64) -> CallEstimate {
    let max_output_tokens = agent.run.wishes.max_output_tokens;
    CallEstimate { input_tokens, max_output_tokens, prices: model.settings().prices }
}

/// Begins a call of the model that reads so much.
///
/// # Errors
/// `LimitReached` where it may not be made.
pub(crate) fn begin_call(agent: &AgentContext, model: &OneModel, input_tokens: u64) -> Result<Held, Problem> {
    let Some(quota) = &agent.run.quota else { return Ok(Held(None)) };
    quota.begin(estimate(agent, model, input_tokens)).map(|end| Held(Some(end)))
}

/// Why the agent's next call has to be its last, where it has to: after it there would be no room for another one.
pub(crate) fn nearly_spent(agent: &AgentContext, input_tokens: u64) -> Option<String> {
    let quota = agent.run.quota.as_ref()?;
    let refused = quota.check(estimate(agent, agent.models.chosen(), input_tokens), 2).err()?;
    Some(refused.message)
}

/// Whether a call was not made because of a limit.
pub(crate) fn is_limit(problem: &Problem) -> bool {
    problem.code == ProblemCode::LimitReached
}
