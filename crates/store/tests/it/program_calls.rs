//! Calls of programs for runners: each is leased once, and what a lease does not hold changes nothing.

use std::time::Duration;

use domain::RunId;
use store::{NewProgramCall, ProgramCallState, ProgramFileStored, Store};
use tokio::task::JoinSet;

use crate::fixtures::{add_run, add_user, summary};

on_every_database!(
    a_call_is_leased_once,
    only_the_lease_changes_a_call,
    programs_of_a_chat_run_one_at_a_time_where_the_last_one_ran,
    a_lease_that_ends_loses_the_call,
    calls_that_nobody_wants_are_withdrawn,
    runners_are_known,
);

const LONG: Duration = Duration::from_secs(60);

async fn queue(store: &Store, run: RunId, call: &str, workspace: &str) -> bool {
    let call = NewProgramCall {
        run,
        call,
        workspace,
        directory: None,
        work: "{}",
    };
    store.queue_program_call(&call).await.unwrap()
}

async fn lease(store: &Store, runner: &str, lease: &str) -> bool {
    let leased = store.lease_program_call(runner, lease, LONG).await;
    leased.unwrap().is_some()
}

async fn state(store: &Store, run: RunId, call: &str) -> ProgramCallState {
    let call = store.program_call(run, call, 0).await.unwrap();
    call.unwrap().state
}

async fn a_call_is_leased_once(store: Store) {
    let run = add_run(&store, add_user(&store).await).await;
    assert!(!store.has_waiting_program_calls().await.unwrap());
    assert!(queue(&store, run, "c1", "chat").await);
    assert!(!queue(&store, run, "c1", "chat").await);
    assert_eq!(state(&store, run, "c1").await, ProgramCallState::Waiting);
    let mut runners = JoinSet::new();
    for number in 0..12 {
        let store = store.clone();
        runners.spawn(async move {
            let name = format!("l{number}");
            lease(&store, &format!("r{number}"), &name)
                .await
                .then_some(name)
        });
    }
    let got: Vec<String> = runners.join_all().await.into_iter().flatten().collect();
    let [held] = &got[..] else {
        panic!("{got:?}");
    };
    // The answer did not arrive: the same request again.
    assert!(lease(&store, "r", held).await);
    assert!(!lease(&store, "r", "another").await);
    assert!(store.holds_program_lease(held).await.unwrap());
    let call = store.leased_program_call(held).await.unwrap().unwrap();
    assert_eq!((call.workspace.as_str(), call.turn), ("chat", 1));
    assert!(!store.refuse_program_call(run, "c1").await.unwrap());
}

async fn only_the_lease_changes_a_call(store: Store) {
    let run = add_run(&store, add_user(&store).await).await;
    queue(&store, run, "c1", "chat").await;
    assert!(lease(&store, "r", "l").await);
    assert!(store.add_program_output("l", 0, "äb\0").await.unwrap());
    for (lease, from) in [("l", 0), ("l", 4), ("x", 3)] {
        assert!(!store.add_program_output(lease, from, "c").await.unwrap());
    }
    assert!(store.add_program_output("l", 3, "c").await.unwrap());
    let call = store.program_call(run, "c1", 1).await.unwrap().unwrap();
    assert_eq!(call.output, "b\u{fffd}c");
    let put = async |lease: &str, hash: &str, content: &[u8]| {
        let stored = store.put_program_file(lease, hash, content, 10).await;
        stored.unwrap()
    };
    assert_eq!(put("x", "h1", b"12345").await, ProgramFileStored::NoLease);
    assert_eq!(put("l", "h1", b"12345").await, ProgramFileStored::Stored);
    assert_eq!(put("l", "h1", b"12345").await, ProgramFileStored::Stored);
    assert_eq!(put("l", "h2", b"123456").await, ProgramFileStored::TooMuch);
    assert_eq!(
        store.program_files("l").await.unwrap(),
        [("h1".to_owned(), 5)]
    );
    assert!(!store.finish_program_call("x", "1").await.unwrap());
    assert!(store.finish_program_call("l", "1").await.unwrap());
    assert!(store.finish_program_call("l", "1").await.unwrap());
    assert!(!store.finish_program_call("l", "2").await.unwrap());
    assert_eq!(put("l", "h3", b"1").await, ProgramFileStored::NoLease);
    assert!(!store.add_program_output("l", 4, "d").await.unwrap());
    assert!(!store.holds_program_lease("l").await.unwrap());
    let file = store.program_file("l", "h1").await.unwrap();
    assert_eq!(file.as_deref(), Some(&b"12345"[..]));
    store.take_program_call(run, "c1", "[]").await.unwrap();
    assert_eq!(store.program_file("l", "h1").await.unwrap(), None);
    let call = store.program_call(run, "c1", 0).await.unwrap().unwrap();
    assert_eq!(
        (call.state, call.result.as_deref(), call.lines.as_deref()),
        (ProgramCallState::Taken, Some("1"), Some("[]"))
    );
    // Until the run has finished, a server that continues it has to find the call.
    assert_eq!(store.purge_program_calls().await, Ok(0));
    store.finish_run(run, 9, &summary("")).await.unwrap();
    assert_eq!(store.purge_program_calls().await, Ok(1));
}

async fn programs_of_a_chat_run_one_at_a_time_where_the_last_one_ran(store: Store) {
    let run = add_run(&store, add_user(&store).await).await;
    for runner in ["a", "b"] {
        let noted = store.note_runner(runner, runner, "{}", false).await;
        noted.unwrap();
    }
    queue(&store, run, "c1", "chat").await;
    queue(&store, run, "c2", "chat").await;
    queue(&store, run, "c3", "other").await;
    assert!(lease(&store, "a", "l1").await);
    // Not the second of the chat, but the one of another chat.
    assert!(lease(&store, "b", "l3").await);
    assert!(!lease(&store, "a", "l2").await);
    assert!(store.finish_program_call("l1", "1").await.unwrap());
    // That runner has the variables of the chat.
    assert!(!lease(&store, "b", "l2").await);
    assert!(lease(&store, "a", "l2").await);
    let call = store.leased_program_call("l2").await.unwrap().unwrap();
    assert_eq!(call.turn, 2);
    assert!(store.finish_program_call("l2", "1").await.unwrap());
    // Unless it takes no more.
    queue(&store, run, "c4", "chat").await;
    assert!(!lease(&store, "b", "l4").await);
    store.note_runner("a", "a", "{}", true).await.unwrap();
    assert!(lease(&store, "b", "l4").await);
    let call = store.leased_program_call("l4").await.unwrap().unwrap();
    assert_eq!(call.turn, 3);
}

async fn a_lease_that_ends_loses_the_call(store: Store) {
    let run = add_run(&store, add_user(&store).await).await;
    queue(&store, run, "c1", "chat").await;
    let short = store.lease_program_call("r", "l", Duration::ZERO).await;
    assert!(short.unwrap().is_some());
    let expired = async || {
        let call = store.program_call(run, "c1", 0).await.unwrap();
        call.unwrap().is_expired
    };
    while !expired().await {
        tokio::task::yield_now().await;
    }
    let both = ["l".to_owned(), "x".to_owned()];
    let renewed = store.renew_program_leases("r", &both, LONG).await;
    assert_eq!(renewed.unwrap(), ["l"]);
    assert!(!expired().await);
    store.lose_program_call(run, "c1").await.unwrap();
    assert_eq!(state(&store, run, "c1").await, ProgramCallState::Leased);
    let others = store.renew_program_leases("r2", &["l".into()], LONG).await;
    assert!(others.unwrap().is_empty());
    let renewed = store.renew_program_leases("r", &both, Duration::ZERO).await;
    assert_eq!(renewed.unwrap(), ["l"]);
    while !expired().await {
        tokio::task::yield_now().await;
    }
    store.lose_program_call(run, "c1").await.unwrap();
    assert_eq!(state(&store, run, "c1").await, ProgramCallState::Lost);
    assert!(!store.finish_program_call("l", "1").await.unwrap());
    assert!(!lease(&store, "r", "l2").await, "it is never leased again");
    let late = store.renew_program_leases("r", &["l".into()], LONG).await;
    assert!(late.unwrap().is_empty());
}

async fn calls_that_nobody_wants_are_withdrawn(store: Store) {
    let run = add_run(&store, add_user(&store).await).await;
    queue(&store, run, "c1", "chat").await;
    store.stop_program_call(run, "c1").await.unwrap();
    assert_eq!(state(&store, run, "c1").await, ProgramCallState::Refused);
    assert!(!lease(&store, "r", "l1").await);
    queue(&store, run, "c2", "chat").await;
    assert!(lease(&store, "r", "l2").await);
    store.stop_program_call(run, "c2").await.unwrap();
    let held = store.renew_program_leases("r", &["l2".into()], LONG).await;
    assert!(held.unwrap().is_empty(), "its runner is told to stop");
    // It says that it did.
    assert!(store.finish_program_call("l2", "1").await.unwrap());
    queue(&store, run, "c3", "chat").await;
    assert!(lease(&store, "r", "l3").await);
    queue(&store, run, "c4", "other").await;
    store.finish_run(run, 9, &summary("")).await.unwrap();
    let held = store.renew_program_leases("r", &["l3".into()], LONG).await;
    assert!(held.unwrap().is_empty(), "the run has finished");
    assert!(!lease(&store, "r", "l4").await);
}

async fn runners_are_known(store: Store) {
    assert_eq!(store.runners().await, Ok(Vec::new()));
    store.note_runner("a", "first", "{}", false).await.unwrap();
    store.note_runner("a", "first", "[]", true).await.unwrap();
    let run = add_run(&store, add_user(&store).await).await;
    queue(&store, run, "c1", "chat").await;
    queue(&store, run, "c2", "other").await;
    assert!(lease(&store, "a", "l").await);
    assert_eq!(store.waiting_program_calls().await, Ok(1));
    let [known] = &store.runners().await.unwrap()[..] else {
        panic!();
    };
    assert_eq!(
        (
            known.name.as_str(),
            known.about.as_str(),
            known.is_draining,
            known.is_connected,
            known.running
        ),
        ("first", "[]", true, true, 1)
    );
    store.purge_program_calls().await.unwrap();
    assert_eq!(store.runners().await.unwrap().len(), 1);
}
