//! `[limits]`: limits of a run.

use std::time::Duration;

use agent::{Limits, NO_TIME_LIMIT};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLimits {
    steps: u32,
    all_steps: u32,
    tokens: u64,
    seconds: u64,
    waiting_hours: u32,
    usd: f64,
    depth: u32,
    parallel: u32,
    context_share: f64,
}

impl RawLimits {
    pub(super) fn check(self) -> anyhow::Result<Limits> {
        anyhow::ensure!(
            self.usd.is_finite() && self.usd >= 0.0,
            "limits.usd must be 0 or more"
        );
        anyhow::ensure!(self.depth >= 1, "limits.depth must be at least 1");
        anyhow::ensure!(self.parallel >= 1, "limits.parallel must be at least 1");
        anyhow::ensure!(
            (0.2..=0.95).contains(&self.context_share),
            "limits.context_share must be 0.2 to 0.95"
        );
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and a conversion to an integer saturates"
        )]
        let cost_micro_usd = if self.usd == 0.0 {
            u64::MAX
        } else {
            (self.usd * 1e6).round() as u64
        };
        Ok(Limits {
            steps: if self.steps == 0 {
                u32::MAX
            } else {
                self.steps
            },
            all_steps: if self.all_steps == 0 {
                u32::MAX
            } else {
                self.all_steps
            },
            tokens: if self.tokens == 0 {
                u64::MAX
            } else {
                self.tokens
            },
            time: time_limit(self.seconds),
            waiting: time_limit(u64::from(self.waiting_hours) * 3600),
            cost_micro_usd,
            depth: self.depth as usize,
            parallel_calls: self.parallel as usize,
            context_share: self.context_share,
            ..Limits::default()
        })
    }
}

/// 0 means no limit.
fn time_limit(seconds: u64) -> Duration {
    if seconds == 0 {
        NO_TIME_LIMIT
    } else {
        Duration::from_secs(seconds).min(NO_TIME_LIMIT)
    }
}
