//! A metered model call outside of runs: checked against the limits of the account and recorded in the ledger.

use std::sync::Arc;

use domain::Usage as Tokens;
use store::{Principal, UsageSum};

use super::{Amount, Held, Usage, UsageEstimate};
use crate::error::ApiError;

/// A running call. If it is dropped without [`PaidCall::end`], the usage last passed to [`PaidCall::has_used`] is
/// booked, or none.
pub(crate) struct PaidCall {
    usage: Arc<Usage>,
    principal: Principal,
    /// The name of the model on its server.
    model: String,
    expected: UsageEstimate,
    /// `None` after the call has ended.
    held: Option<Held>,
    so_far: Option<Tokens>,
}

impl PaidCall {
    /// Begins a call of the model with this name on its server, on the account of this principal.
    ///
    /// # Errors
    /// 429 if a limit is reached, or would be exceeded.
    pub(crate) async fn begin(
        usage: &Arc<Usage>,
        principal: Principal,
        model: &str,
        expected: UsageEstimate,
    ) -> Result<Self, ApiError> {
        usage.know(&principal).await?;
        let held = Some(usage.begin(&principal, expected).await?);
        Ok(Self {
            usage: Arc::clone(usage),
            principal,
            model: model.to_owned(),
            expected,
            held,
            so_far: None,
        })
    }

    /// The cost of this usage by the known price, in millionths of a US dollar.
    pub(crate) fn price_of(&self, used: Tokens) -> Option<u64> {
        self.expected
            .prices
            .map(|prices| prices.cost_micro_usd(used))
    }

    /// Sets the usage so far, which is booked if the call is dropped; `None` if it has failed.
    pub(crate) fn has_used(&mut self, so_far: Option<Tokens>) {
        self.so_far = so_far;
    }

    /// Books the final usage. Returns its cost in millionths of a US dollar, if the price is known.
    pub(crate) fn end(mut self, used: Tokens) -> Option<u64> {
        self.book(used)
    }

    fn book(&mut self, used: Tokens) -> Option<u64> {
        let held = self.held.take()?;
        let cost = agent::call_cost(self.expected.prices, used);
        let sum = UsageSum::of_call(used, cost);
        self.usage
            .end(&held, self.expected, Some(Amount::of_call(used, cost)));
        self.usage.note(&self.principal, &self.model, sum);
        cost
    }
}

impl Drop for PaidCall {
    fn drop(&mut self) {
        if let Some(used) = self.so_far {
            self.book(used);
        } else if let Some(held) = self.held.take() {
            self.usage.end(&held, self.expected, None);
        }
    }
}
