//! Books the usage of runs, as the run registry reports it.

use domain::{RunEvent, RunId};
use futures_util::{FutureExt, future::BoxFuture};
use run_registry::{UsageLedger, used_by};
use store::{Principal, Run, StoreError, UsageKey};

use super::{Usage, account::DAY_MS};

impl UsageLedger for Usage {
    fn run_begins(&self, run: RunId, upto: u64) {
        self.lock().ledger.run_begins(run, upto);
    }

    fn note_event(&self, principal: &Principal, event: &RunEvent) {
        let is_end = event.is_end();
        let Some((model, sum)) = used_by(&event.body) else {
            if is_end {
                self.lock().ledger.run_ends(event.run, event.seq);
            }
            return;
        };
        let key = UsageKey {
            day: event.at.div_euclid(DAY_MS),
            principal: principal.clone(),
            model: model.to_owned(),
        };
        let now = self.clock.now_ms();
        let mut books = self.lock();
        books.count(now, &self.groups.known(), &key, sum);
        books.ledger.note_run(event.run, event.seq, key, sum);
    }

    fn note_past<'a>(
        &'a self,
        run: &'a Run,
        calls: &'a [RunEvent],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            if self.lock().ledger.knows(run.id) {
                return Ok(());
            }
            let Some(booked) = self.store.booked_seq(run.id).await? else {
                return Ok(());
            };
            self.run_begins(run.id, booked);
            for event in calls.iter().filter(|event| event.seq > booked) {
                self.note_event(&run.principal, event);
            }
            Ok(())
        }
        .boxed()
    }

    fn run_is_over(&self, run: RunId, last_seq: u64) {
        self.lock().ledger.run_ends(run, last_seq);
    }
}
