//! The usage of runs: how the registry reports it to the ledger that it is created with.

use domain::{EventBody, RunEvent, RunId};
use futures_util::future::BoxFuture;
use store::{Principal, Run, StoreError, UsageSum};

/// Books the usage of runs.
pub trait UsageLedger: Send + Sync {
    /// Starts tracking a run whose log is already booked up to `upto`.
    fn run_begins(&self, run: RunId, upto: u64);

    /// Records the usage in a run's event, once the event is stored. Not called for deltas, which report none.
    fn note_event(&self, principal: &Principal, event: &RunEvent);

    /// Records the part of a run's log that an earlier process stored without booking its usage. `calls` are the
    /// events of the log with usage, according to [`used_by`].
    fn note_past<'a>(
        &'a self,
        run: &'a Run,
        calls: &'a [RunEvent],
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Marks the log of a run as complete, for runs that no process works on.
    fn run_is_over(&self, run: RunId, last_seq: u64);
}

/// The model and its usage, if the event reports a model call.
#[must_use]
pub fn used_by(body: &EventBody) -> Option<(&str, UsageSum)> {
    let (model, usage, cost) = match body {
        EventBody::ModelCalled {
            model,
            usage,
            cost_micro_usd,
            ..
        }
        | EventBody::ContextCompacted {
            model,
            usage,
            cost_micro_usd,
            ..
        } => (model, usage, cost_micro_usd),
        _ => return None,
    };
    Some((model, UsageSum::of_call(*usage, *cost)))
}
