//! Limits of a run over all its agents, and what has been used of them.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use domain::{Problem, ProblemCode, Usage};

/// What a run may use before it is ended with what it has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Model calls of one agent.
    pub steps: u32,
    /// Model calls of all agents.
    pub all_steps: u32,
    /// Tokens of all model calls of all agents, input and output.
    pub tokens: u64,
    /// Time in which anything of it does something; while all of it waits for people, it does not count.
    pub time: Duration,
    /// How long it waits for a person each time.
    pub waiting: Duration,
    /// Millionths of a US dollar, where prices are known.
    pub cost_micro_usd: u64,
    /// How deep sub-agents may nest: 1 means that sub-agents start none.
    pub depth: usize,
    /// Tool calls (and so sub-agents) of one agent that run at a time.
    pub parallel_calls: usize,
    /// Largest tool result kept, bytes; what is longer is cut and says so.
    pub result_bytes: usize,
    /// The share of a model's context window that a conversation may fill before its older part becomes a summary.
    pub context_share: f64,
    /// How long a tool may run, sub-agents and questions excepted.
    pub tool_time: Duration,
}

/// As good as no limit on a time: ten years. A longer time overflows what timers can hold.
pub const NO_TIME_LIMIT: Duration = Duration::from_secs(315_360_000);

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 50,
            all_steps: 1_000,
            tokens: 2_000_000,
            time: Duration::from_secs(3600),
            waiting: Duration::from_secs(7 * 24 * 3600),
            cost_micro_usd: 5_000_000,
            depth: 3,
            parallel_calls: 8,
            result_bytes: 1_000_000,
            context_share: 0.75,
            tool_time: Duration::from_secs(120),
        }
    }
}

/// A model's prices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// US dollars for a million input tokens.
    pub input_usd_per_million: f64,
    /// US dollars for a million output tokens.
    pub output_usd_per_million: f64,
}

impl Prices {
    /// Millionths of a US dollar, which is tokens times dollars per million.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a float cast saturates, and figures this large have long been refused"
    )]
    pub(crate) fn cost_micro_usd(self, usage: Usage) -> u64 {
        let cost = usage.input_tokens as f64 * self.input_usd_per_million
            + usage.output_tokens as f64 * self.output_usd_per_million;
        cost.ceil() as u64
    }
}

/// What the run has used so far.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    used: Mutex<Used>,
}

/// The running totals.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Used {
    pub(crate) usage: Usage,
    /// Model calls.
    pub(crate) steps: u32,
    /// Nothing where no price is known.
    pub(crate) cost_micro_usd: Option<u64>,
}

impl Used {
    /// Adds a model call.
    pub(crate) fn add(&mut self, usage: Usage, cost_micro_usd: Option<u64>) {
        self.usage += usage;
        self.steps = self.steps.saturating_add(1);
        if let Some(cost) = cost_micro_usd {
            self.cost_micro_usd = Some(self.cost_micro_usd.unwrap_or(0).saturating_add(cost));
        }
    }
}

impl Budget {
    /// `used` is what the run has used before.
    pub(crate) fn new(limits: Limits, used: Used) -> Self {
        Self { limits, used: Mutex::new(used) }
    }

    /// Books one call of a model with these prices and returns its cost where they are known.
    pub(crate) fn book(&self, usage: Usage, prices: Option<Prices>) -> Option<u64> {
        let cost = prices.map(|prices| prices.cost_micro_usd(usage));
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.add(usage, cost);
        cost
    }

    pub(crate) fn used(&self) -> Used {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses once tokens, money or steps are spent.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        match self.beyond(|limit| limit) {
            Some(what) => Err(limit_reached(format!("The run {what}. It ends with what it has."))),
            None => Ok(()),
        }
    }

    /// What is nearly spent, where anything is: then there is just enough left for an answer.
    pub(crate) fn nearly_spent(&self, time: Duration) -> Option<String> {
        let limit = self.limits.time;
        let what = if time >= limit.mul_f64(0.9) {
            Some(format!("worked for {} of the {} seconds it has", time.as_secs(), limit.as_secs()))
        } else {
            self.beyond(|limit| limit.saturating_sub((limit / 10).max(1)))
        };
        what.map(|what| format!("The run {what}. It ends with the answer it has."))
    }

    /// What has reached its share of the limit, in words.
    fn beyond(&self, share: impl Fn(u64) -> u64) -> Option<String> {
        let (used, limits) = (self.used(), &self.limits);
        let tokens = used.usage.total_tokens();
        let cost = used.cost_micro_usd.unwrap_or(0);
        let (steps, all_steps) = (u64::from(used.steps), u64::from(limits.all_steps));
        if tokens >= share(limits.tokens) {
            Some(format!("used {tokens} tokens and its limit is {}", limits.tokens))
        } else if used.cost_micro_usd.is_some() && cost >= share(limits.cost_micro_usd) {
            Some(format!("cost {} and its limit is {}", dollars(cost), dollars(limits.cost_micro_usd)))
        } else if steps >= share(all_steps) {
            Some(format!("took {steps} steps with all its agents and its limit is {all_steps}"))
        } else {
            None
        }
    }
}

pub(crate) fn limit_reached(message: String) -> Problem {
    Problem::new(ProblemCode::LimitReached, message)
}

fn dollars(micro_usd: u64) -> String {
    format!("${}.{:04}", micro_usd / 1_000_000, micro_usd % 1_000_000 / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
        Usage { input_tokens, output_tokens }
    }

    #[test]
    fn counts_money_only_where_prices_are_known() {
        let free = Budget::new(Limits::default(), Used::default());
        assert_eq!(free.book(usage(1_000, 1_000), None), None);
        assert_eq!(free.used().cost_micro_usd, None);
        let prices = Some(Prices { input_usd_per_million: 2.5, output_usd_per_million: 10.0 });
        let paid = Budget::new(Limits::default(), Used::default());
        assert_eq!(paid.book(usage(1_000, 100), prices), Some(3_500));
        assert_eq!(paid.book(usage(0, 100), prices), Some(1_000));
        assert_eq!(paid.used().cost_micro_usd, Some(4_500));
    }

    #[test]
    fn says_which_limit_and_by_how_much() {
        let limits = Limits { tokens: 100, cost_micro_usd: 2_000, ..Limits::default() };
        let tokens = Budget::new(limits, Used::default());
        assert_eq!(tokens.check(), Ok(()));
        tokens.book(usage(90, 10), None);
        assert!(tokens.check().unwrap_err().message.contains("100 tokens"));
        let money = Budget::new(limits, Used::default());
        money.book(usage(3, 0), Some(Prices { input_usd_per_million: 1e3, output_usd_per_million: 0.0 }));
        assert!(money.check().unwrap_err().message.contains("$0.0030 and its limit is $0.0020"));
    }

    #[test]
    fn absurd_figures_saturate() {
        let budget = Budget::new(Limits::default(), Used::default());
        let prices = Some(Prices { input_usd_per_million: f64::MAX, output_usd_per_million: 1.0 });
        budget.book(usage(u64::MAX, u64::MAX), prices);
        budget.book(usage(u64::MAX, u64::MAX), prices);
        assert!(budget.check().is_err());
    }
}
