//! The limits as the agents of a run meet them, before each model call.

use std::{fmt, sync::Arc};

use agent::{CallEstimate, Quota};
use domain::{Problem, ProblemCode, UserId};
use store::Payer;

use super::{Amount, Refused, Usage, Wish};

/// On whose account a run calls models.
pub struct RunQuota {
    usage: Arc<Usage>,
    owner: UserId,
    payer: Payer,
}

impl RunQuota {
    /// Of a run of this account.
    #[must_use]
    pub fn new(usage: Arc<Usage>, owner: UserId, payer: Payer) -> Self {
        Self { usage, owner, payer }
    }
}

impl fmt::Debug for RunQuota {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunQuota").field("owner", &self.owner).finish_non_exhaustive()
    }
}

impl Quota for RunQuota {
    fn begin(&self, call: CallEstimate) -> Result<agent::EndCall, Problem> {
        let wish = wish(call);
        let held = self.usage.begin(self.owner, &self.payer, wish).map_err(problem)?;
        let usage = Arc::clone(&self.usage);
        Ok(Box::new(move |used| {
            let used = used.map(|(tokens, cost)| Amount::of_call(tokens, cost));
            usage.end(&held, wish, used);
        }))
    }

    fn check(&self, call: CallEstimate, calls: u64) -> Result<(), Problem> {
        self.usage.check(self.owner, &self.payer, wish(call), calls).map_err(problem)
    }
}

fn wish(call: CallEstimate) -> Wish {
    let CallEstimate { input_tokens, max_output_tokens, prices } = call;
    Wish { input_tokens, max_output_tokens, prices }
}

fn problem(refused: Refused) -> Problem {
    Problem::new(ProblemCode::LimitReached, refused.message)
}
