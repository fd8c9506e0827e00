//! The registry through its public API, with a database and a fake ledger.
#![expect(
    clippy::unwrap_used,
    reason = "clippy spares only the test functions themselves"
)]

use std::sync::{Arc, Mutex};

use bus::Bus;
use domain::{Clock, EventBody, Outcome, RunEvent, RunId, Usage, UserId};
use futures_util::{FutureExt, future::BoxFuture};
use run_registry::{Runs, UsageLedger};
use store::{NewRun, NewUser, Principal, Run, Store, StoreError, UserRole};

/// A ledger that keeps what it is called with.
#[derive(Default)]
struct Calls(Mutex<Vec<String>>);

impl Calls {
    fn push(&self, call: String) {
        self.0.lock().unwrap().push(call);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl UsageLedger for Calls {
    fn run_begins(&self, _: RunId, upto: u64) {
        self.push(format!("begins after {upto}"));
    }

    fn note_event(&self, _: &Principal, event: &RunEvent) {
        self.push(format!("event {}", event.seq));
    }

    fn note_past<'a>(
        &'a self,
        _: &'a Run,
        calls: &'a [RunEvent],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let seqs = calls.iter().map(|event| event.seq);
        self.push(format!("past {:?}", seqs.collect::<Vec<_>>()));
        async { Ok(()) }.boxed()
    }

    fn run_is_over(&self, _: RunId, last_seq: u64) {
        self.push(format!("over at {last_seq}"));
    }
}

fn text_delta() -> EventBody {
    EventBody::TextDelta {
        item: "item_1".to_owned(),
        delta: "a".to_owned(),
    }
}

fn model_called() -> EventBody {
    EventBody::ModelCalled {
        model: "m".to_owned(),
        usage: Usage::default(),
        cost_micro_usd: None,
        duration_ms: 1,
        first_token_ms: None,
        broken_off: false,
    }
}

async fn add_run(store: &Store) -> (RunId, Principal) {
    let user = NewUser {
        id: UserId::generate(),
        email: "a@example.org".to_owned(),
        name: "A".to_owned(),
        role: UserRole::User,
        password_hash: String::new(),
        created_at: 1,
    };
    let owner = store.create_user(&user).await.unwrap().id;
    let row = NewRun {
        id: RunId::generate(),
        principal: Principal::of_account(owner),
        key_models: None,
        chat: None,
        message: None,
        model: "m".to_owned(),
        started_at: 1,
        request: None,
        idempotency: None,
        origin: None,
        research: None,
        workspace: None,
    };
    store.create_run(&row).await.unwrap();
    (row.id, row.principal)
}

#[tokio::test]
async fn a_log_is_stored_published_and_booked_once() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let (run, principal) = add_run(&store).await;
    let ledger = Arc::new(Calls::default());
    let runs = Runs::new(
        store.clone(),
        Clock::movable(7),
        ledger.clone(),
        Bus::none(),
    );
    let started = EventBody::RunStarted {
        chat: None,
        message: None,
        model: "m".to_owned(),
    };
    let log = runs.keep_log(run, principal, started).await;
    let mut live = runs.read(run, 0);
    log.emit(model_called()).await;
    log.emit(text_delta()).await;
    assert_eq!(runs.live_counts().live, 1);
    log.finish(Outcome::Completed, None, Usage::default(), None)
        .await;
    assert_eq!(runs.live_counts().live, 0);
    assert_eq!(
        ledger.take(),
        ["begins after 0", "event 1", "event 2", "event 4"],
        "no delta is booked"
    );

    let mut seqs = Vec::new();
    while let Some(events) = live.next().await.unwrap() {
        seqs.extend(events.iter().map(|logged| logged.event.seq));
    }
    assert_eq!(seqs, [1, 2, 3, 4]);
    let row = store.run(run).await.unwrap();
    assert_eq!((row.finished_at, row.last_seq), (Some(7), 4));
    assert!(runs.left_open(&row).await.unwrap().0.has_ended);
    assert_eq!(ledger.take(), ["past [2]"]);
}
