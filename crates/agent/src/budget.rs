//! Limits of a run across all its agents, and its usage so far.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::{LocalizedText, Problem, ProblemCode, Usage};

use crate::{
    messages,
    prices::{Prices, call_cost},
};

/// The limits of a run. When one is reached, the run ends with the results so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Maximum number of model calls of one agent.
    pub steps: u32,
    /// Maximum number of model calls of all agents.
    pub all_steps: u32,
    /// Maximum number of input and output tokens of all model calls.
    pub tokens: u64,
    /// Maximum active time: time in which the whole run waits for people does not count.
    pub time: Duration,
    /// Maximum wait for a person's answer, per request.
    pub waiting: Duration,
    /// Maximum cost in millionths of a US dollar, if prices are known.
    pub cost_micro_usd: u64,
    /// Maximum nesting depth of sub-agents: 1 means that sub-agents cannot start any.
    pub depth: usize,
    /// Maximum number of concurrent tool calls (and so sub-agents) of one agent.
    pub parallel_calls: usize,
    /// Maximum size of a tool result, bytes; longer ones are cut with a note.
    pub result_bytes: usize,
    /// The share of a model's context window that a conversation may fill before its older part is summarized.
    pub context_share: f64,
    /// Time limit of a tool call, except for sub-agents and questions.
    pub tool_time: Duration,
}

/// The limits of an agent including its sub-agents, within those of the run. `None` if only the run's limit applies.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AgentLimits {
    /// Maximum number of the agent's own model calls.
    pub steps: Option<u32>,
    /// Maximum number of tokens, including its sub-agents.
    pub tokens: Option<u64>,
    /// Maximum cost in millionths of a US dollar, including its sub-agents.
    pub cost_micro_usd: Option<u64>,
    /// Maximum active time of the run, counted from the agent's start.
    pub time: Option<Duration>,
}

impl Limits {
    /// These limits, capped by the agent's. The number of steps is not capped: it counts the agent's own calls only.
    pub(crate) fn within(self, agent: AgentLimits) -> Self {
        let AgentLimits {
            steps: _,
            tokens,
            cost_micro_usd,
            time,
        } = agent;
        Self {
            tokens: tokens.map_or(self.tokens, |tokens| self.tokens.min(tokens)),
            cost_micro_usd: cost_micro_usd
                .map_or(self.cost_micro_usd, |cost| self.cost_micro_usd.min(cost)),
            time: time.map_or(self.time, |time| self.time.min(time)),
            ..self
        }
    }
}

/// Effectively no time limit: ten years. A longer time overflows timers.
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

/// The usage so far of the run, or of an agent with its own limits.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    used: Mutex<Used>,
    /// For an agent: its parent's budget, and the run's active time when the agent started.
    above: Option<(Arc<Budget>, Duration)>,
}

/// The running totals.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Used {
    pub(crate) usage: Usage,
    /// Model calls.
    pub(crate) steps: u32,
    /// `None` if no price is known.
    pub(crate) cost_micro_usd: Option<u64>,
}

impl Used {
    /// Adds a model call.
    pub(crate) fn add(&mut self, usage: Usage, cost_micro_usd: Option<u64>) {
        self.add_all(&Self {
            usage,
            steps: 1,
            cost_micro_usd,
        });
    }

    /// Adds the usage of something else.
    pub(crate) fn add_all(&mut self, other: &Self) {
        self.usage += other.usage;
        self.steps = self.steps.saturating_add(other.steps);
        if let Some(cost) = other.cost_micro_usd {
            self.cost_micro_usd = Some(self.cost_micro_usd.unwrap_or(0).saturating_add(cost));
        }
    }
}

impl Budget {
    /// `used` is the run's earlier usage.
    pub(crate) fn new(limits: Limits, used: Used) -> Self {
        Self {
            limits,
            used: Mutex::new(used),
            above: None,
        }
    }

    /// The budget of an agent that started at active time `began` of the run.
    pub(crate) fn of_agent(
        above: &Arc<Self>,
        agent: AgentLimits,
        began: Duration,
        used: Used,
    ) -> Self {
        let limits = above.limits.within(agent);
        Self {
            limits,
            used: Mutex::new(used),
            above: Some((Arc::clone(above), began)),
        }
    }

    /// Books one model call. Returns its cost, if known.
    pub(crate) fn book(&self, usage: Usage, prices: Option<Prices>) -> Option<u64> {
        let cost = call_cost(prices, usage);
        let mut budget = Some(self);
        while let Some(Self { used, above, .. }) = budget {
            used.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .add(usage, cost);
            budget = above.as_ref().map(|(above, _)| &**above);
        }
        cost
    }

    /// The active time at which the time limit is reached, and the reason for ending.
    pub(crate) fn end_of_time(&self) -> (Duration, Problem) {
        let seconds = self.limits.time.as_secs();
        let problem = limit_reached(messages::Runs::LimitTime {
            who: self.who(),
            seconds,
        });
        (self.began().saturating_add(self.limits.time), problem)
    }

    fn began(&self) -> Duration {
        self.above
            .as_ref()
            .map_or(Duration::ZERO, |(_, began)| *began)
    }

    fn who(&self) -> LocalizedText {
        if self.above.is_some() {
            messages::Runs::TheAgent
        } else {
            messages::Runs::TheRun
        }
        .into()
    }

    pub(crate) fn used(&self) -> Used {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails once the limit on tokens, cost or steps is reached.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        if let Some((above, _)) = &self.above {
            above.check()?;
        }
        match self.beyond(|limit| limit) {
            Some(beyond) => Err(limit_reached(beyond)),
            None => Ok(()),
        }
    }

    /// The limit that is nearly reached, if any; what remains is just enough for an answer. `time` is the run's active
    /// time.
    pub(crate) fn nearly_spent(&self, time: Duration) -> Option<LocalizedText> {
        if let Some(what) = self
            .above
            .as_ref()
            .and_then(|(above, _)| above.nearly_spent(time))
        {
            return Some(what);
        }
        let limit = self.limits.time;
        let time = time.saturating_sub(self.began());
        if time >= limit.mul_f64(0.9) {
            let who = self.who();
            let seconds = time.as_secs();
            let limit = limit.as_secs();
            return Some(
                messages::Runs::LimitTimeNear {
                    who,
                    seconds,
                    limit,
                }
                .into(),
            );
        }
        self.beyond(|limit| limit.saturating_sub((limit / 10).max(1)))
            .map(LocalizedText::from)
    }

    /// The first limit of which this share has been used.
    fn beyond(&self, share: impl Fn(u64) -> u64) -> Option<messages::Runs> {
        let used = self.used();
        let limits = &self.limits;
        let who = self.who();
        let tokens = used.usage.total_tokens();
        let cost = used.cost_micro_usd.unwrap_or(0);
        let steps = u64::from(used.steps);
        let all_steps = u64::from(limits.all_steps);
        if tokens >= share(limits.tokens) {
            Some(messages::Runs::LimitTokens {
                who,
                count: tokens,
                limit: limits.tokens,
            })
        } else if used.cost_micro_usd.is_some() && cost >= share(limits.cost_micro_usd) {
            Some(messages::Runs::LimitCost {
                who,
                cost: dollars(cost),
                limit: dollars(limits.cost_micro_usd),
            })
        } else if steps >= share(all_steps) {
            Some(messages::Runs::LimitAllSteps {
                who,
                count: steps,
                limit: all_steps,
            })
        } else {
            None
        }
    }
}

pub(crate) fn limit_reached(words: impl Into<LocalizedText>) -> Problem {
    Problem::new(ProblemCode::LimitReached, words)
}

fn dollars(micro_usd: u64) -> String {
    format!(
        "${}.{:04}",
        micro_usd / 1_000_000,
        micro_usd % 1_000_000 / 100
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
        Usage::of(input_tokens, output_tokens)
    }

    #[test]
    fn counts_cost_only_if_prices_are_known() {
        let free = Budget::new(Limits::default(), Used::default());
        assert_eq!(free.book(usage(1_000, 1_000), None), None);
        assert_eq!(free.used().cost_micro_usd, None);
        let prices = Prices::of(2.5, 10.0);
        let paid = Budget::new(Limits::default(), Used::default());
        assert_eq!(paid.book(usage(1_000, 100), Some(prices)), Some(3_500));
        assert_eq!(paid.book(usage(0, 100), Some(prices)), Some(1_000));
        assert_eq!(paid.used().cost_micro_usd, Some(4_500));
    }

    #[test]
    fn says_which_limit_and_by_how_much() {
        let limits = Limits {
            tokens: 100,
            cost_micro_usd: 2_000,
            ..Limits::default()
        };
        let tokens = Budget::new(limits, Used::default());
        assert_eq!(tokens.check(), Ok(()));
        tokens.book(usage(90, 10), None);
        assert!(tokens.check().unwrap_err().message.contains("100 tokens"));
        let money = Budget::new(limits, Used::default());
        let prices = Prices::of(1e3, 0.0);
        money.book(usage(3, 0), Some(prices));
        assert!(
            money
                .check()
                .unwrap_err()
                .message
                .contains("$0.0030 and its limit is $0.0020")
        );
    }

    #[test]
    fn absurd_figures_saturate() {
        let budget = Budget::new(Limits::default(), Used::default());
        let prices = Some(Prices::of(f64::MAX, 1.0));
        budget.book(usage(u64::MAX, u64::MAX), prices);
        budget.book(usage(u64::MAX, u64::MAX), prices);
        assert!(budget.check().is_err());
    }

    #[test]
    fn an_agent_with_its_own_limits_counts_for_itself_and_for_the_run() {
        let run = Arc::new(Budget::new(
            Limits {
                tokens: 1_000,
                ..Limits::default()
            },
            Used::default(),
        ));
        run.book(usage(500, 0), None);
        let own = AgentLimits {
            tokens: Some(100),
            time: Some(Duration::from_secs(60)),
            ..Default::default()
        };
        let agent = Budget::of_agent(&run, own, Duration::from_secs(30), Used::default());
        agent.book(usage(99, 0), None);
        assert_eq!(
            (agent.check(), run.used().usage.total_tokens()),
            (Ok(()), 599)
        );
        assert!(
            agent
                .nearly_spent(Duration::ZERO)
                .unwrap()
                .message
                .contains("The agent used 99 tokens")
        );
        assert_eq!(agent.end_of_time().0, Duration::from_secs(90));
        agent.book(usage(1, 0), None);
        assert!(
            agent
                .check()
                .unwrap_err()
                .message
                .contains("The agent used 100 tokens")
        );
        assert_eq!(run.check(), Ok(()));
        run.book(usage(400, 0), None);
        assert!(
            agent
                .check()
                .unwrap_err()
                .message
                .contains("The run used 1000 tokens")
        );
    }

    #[test]
    fn an_agent_never_has_more_than_the_run() {
        let run = Limits {
            tokens: 10,
            ..Limits::default()
        };
        let agent = AgentLimits {
            tokens: Some(20),
            ..AgentLimits::default()
        };
        assert_eq!(run.within(agent).tokens, 10);
    }
}
