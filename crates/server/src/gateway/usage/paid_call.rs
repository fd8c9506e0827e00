//! A model call that is of no run: within the limits of whoever asks for it, and in the ledger.

use std::sync::Arc;

use domain::Usage as Tokens;
use store::{Principal, UsageSum};

use super::{Amount, Held, Usage, UsageEstimate};
use crate::error::ApiError;

/// A call under way. Dropped without [`PaidCall::end`], it has used what [`PaidCall::has_used`] was told last, or nothing.
pub(crate) struct PaidCall {
    usage: Arc<Usage>,
    principal: Principal,
    /// As its server knows it.
    model: String,
    wish: UsageEstimate,
    /// Nothing once it is over.
    held: Option<Held>,
    so_far: Option<Tokens>,
}

impl PaidCall {
    /// Begins a call of the model that its server knows by this name, on the account of this principal.
    ///
    /// # Errors
    /// 429 where a limit is reached, or would be.
    pub(crate) async fn begin(
        usage: &Arc<Usage>,
        principal: Principal,
        model: &str,
        wish: UsageEstimate,
    ) -> Result<Self, ApiError> {
        usage.know(&principal).await?;
        let held = Some(usage.begin(&principal, wish)?);
        Ok(Self {
            usage: Arc::clone(usage),
            principal,
            model: model.to_owned(),
            wish,
            held,
            so_far: None,
        })
    }

    /// What so much costs by our price, millionths of a US dollar.
    pub(crate) fn price_of(&self, used: Tokens) -> Option<u64> {
        self.wish.prices.map(|prices| prices.cost_micro_usd(used))
    }

    /// It has used so much so far, which is booked if it is dropped; `None` if it has failed.
    pub(crate) fn has_used(&mut self, so_far: Option<Tokens>) {
        self.so_far = so_far;
    }

    /// It has used so much. Gives what that costs, millionths of a US dollar, where the price is known.
    pub(crate) fn end(mut self, used: Tokens) -> Option<u64> {
        self.book(used)
    }

    fn book(&mut self, used: Tokens) -> Option<u64> {
        let held = self.held.take()?;
        let cost = agent::call_cost(self.wish.prices, used);
        let sum = UsageSum::of_call(used, cost);
        self.usage
            .end(&held, self.wish, Some(Amount::of_call(used, cost)));
        self.usage.note(&self.principal, &self.model, sum);
        cost
    }
}

impl Drop for PaidCall {
    fn drop(&mut self) {
        if let Some(used) = self.so_far {
            self.book(used);
        } else if let Some(held) = self.held.take() {
            self.usage.end(&held, self.wish, None);
        }
    }
}
