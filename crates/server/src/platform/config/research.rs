//! `[research]`: limits on the length, reading and usage of research.

use std::time::Duration;

use agent::{Limits, NO_TIME_LIMIT};
use serde::Deserialize;

/// Settings of research. The limits of a run apply, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResearchSettings {
    /// Maximum number of turns of searching and reading.
    pub turns: u32,
    /// The same for deep research.
    pub deep_turns: u32,
    /// Maximum number of queries per turn.
    pub queries: usize,
    /// Maximum number of sources read per turn.
    pub sources: usize,
    /// Its limits, as far as they are lower than those of a run.
    budget: Budget,
}

/// Effectively infinite values mean no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Budget {
    /// Model calls of all its agents.
    steps: u32,
    tokens: u64,
    cost_micro_usd: u64,
    time: Duration,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawResearch {
    turns: u32,
    deep_turns: u32,
    queries: usize,
    sources: usize,
    steps: u32,
    tokens: u64,
    usd: f64,
    minutes: u64,
}

impl RawResearch {
    pub(super) fn check(self) -> anyhow::Result<ResearchSettings> {
        let Self {
            turns,
            deep_turns,
            queries,
            sources,
            steps,
            tokens,
            usd,
            minutes,
        } = self;
        anyhow::ensure!((1..=20).contains(&turns), "research.turns must be 1 to 20");
        anyhow::ensure!(
            (1..=20).contains(&deep_turns),
            "research.deep_turns must be 1 to 20"
        );
        anyhow::ensure!(
            (1..=10).contains(&queries),
            "research.queries must be 1 to 10"
        );
        anyhow::ensure!(
            (1..=30).contains(&sources),
            "research.sources must be 1 to 30"
        );
        anyhow::ensure!(
            usd.is_finite() && usd >= 0.0,
            "research.usd must be 0 or more"
        );
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and a conversion to an integer saturates"
        )]
        let micro_usd = (usd * 1e6).round() as u64;
        let time = match minutes {
            0 => NO_TIME_LIMIT,
            minutes => Duration::from_secs(minutes.saturating_mul(60)).min(NO_TIME_LIMIT),
        };
        let budget = Budget {
            steps: if steps == 0 { u32::MAX } else { steps },
            tokens: if tokens == 0 { u64::MAX } else { tokens },
            cost_micro_usd: if micro_usd == 0 { u64::MAX } else { micro_usd },
            time,
        };
        Ok(ResearchSettings {
            turns,
            deep_turns,
            queries,
            sources,
            budget,
        })
    }
}

impl ResearchSettings {
    /// The limits of research within those of a run.
    pub(crate) fn within(&self, limits: Limits) -> Limits {
        let Budget {
            steps,
            tokens,
            cost_micro_usd,
            time,
        } = self.budget;
        Limits {
            all_steps: limits.all_steps.min(steps),
            tokens: limits.tokens.min(tokens),
            cost_micro_usd: limits.cost_micro_usd.min(cost_micro_usd),
            time: limits.time.min(time),
            ..limits
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw() -> RawResearch {
        RawResearch {
            turns: 2,
            deep_turns: 4,
            queries: 4,
            sources: 6,
            steps: 0,
            tokens: 0,
            usd: 0.0,
            minutes: 0,
        }
    }

    #[test]
    fn it_may_use_less_than_a_run_and_never_more() {
        let run = Limits::default();
        let within = |raw: RawResearch| raw.check().unwrap().within(run);
        assert_eq!(within(raw()), run);
        let less = within(RawResearch {
            steps: 9,
            tokens: 100,
            usd: 0.5,
            minutes: 2,
            ..raw()
        });
        assert_eq!(
            (less.all_steps, less.tokens, less.cost_micro_usd),
            (9, 100, 500_000)
        );
        assert_eq!(
            (less.time, less.steps),
            (Duration::from_secs(120), run.steps)
        );
        let more = RawResearch {
            steps: u32::MAX,
            tokens: u64::MAX,
            usd: 1e30,
            minutes: u64::MAX,
            ..raw()
        };
        assert_eq!(within(more), run);
        assert!(
            RawResearch {
                usd: f64::NAN,
                ..raw()
            }
            .check()
            .is_err()
        );
    }
}
