//! Limits and permissions as seen by the agents of a run, checked before each call.

use std::{fmt, sync::Arc};

use agent::{CallEstimate, Quota};
use domain::{Problem, ProblemCode};
use futures_util::{FutureExt, future::BoxFuture};
use store::Principal;

use super::{Amount, Refused, Usage, UsageEstimate};
use crate::identity::groups::RunPermits;

/// The account on which a run calls models, with its limits and permissions.
pub struct RunQuota {
    usage: Arc<Usage>,
    principal: Principal,
    permits: RunPermits,
}

impl RunQuota {
    /// The quota of a run of this principal.
    #[must_use]
    pub fn new(usage: Arc<Usage>, principal: Principal, permits: RunPermits) -> Self {
        Self {
            usage,
            principal,
            permits,
        }
    }
}

impl fmt::Debug for RunQuota {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RunQuota")
            .field("principal", &self.principal)
            .finish_non_exhaustive()
    }
}

impl Quota for RunQuota {
    fn begin<'a>(
        &'a self,
        call: CallEstimate<'a>,
    ) -> BoxFuture<'a, Result<agent::EndCall, Problem>> {
        async move {
            self.permits.check(call.agent, call.model)?;
            let estimate = estimate(call);
            let begun = self.usage.begin(&self.principal, estimate);
            let held = begun.await.map_err(problem)?;
            let usage = Arc::clone(&self.usage);
            let end: agent::EndCall = Box::new(move |used| {
                let used = used.map(|(tokens, cost)| Amount::of_call(tokens, cost));
                usage.end(&held, estimate, used);
            });
            Ok(end)
        }
        .boxed()
    }

    fn check(&self, call: CallEstimate<'_>, calls: u64) -> Result<(), Problem> {
        self.usage
            .check(&self.principal, estimate(call), calls)
            .map_err(problem)
    }

    fn allows_tool(&self, name: &str) -> bool {
        self.permits.allows_tool(name)
    }

    fn allows_agent(&self, name: &str) -> bool {
        self.permits.allows_agent(name)
    }
}

fn estimate(call: CallEstimate<'_>) -> UsageEstimate {
    let CallEstimate {
        input_tokens,
        max_output_tokens,
        prices,
        ..
    } = call;
    UsageEstimate {
        input_tokens,
        max_output_tokens,
        prices,
    }
}

fn problem(refused: Refused) -> Problem {
    Problem::new(ProblemCode::LimitReached, refused.words)
}
