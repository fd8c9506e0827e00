//! Counts that servers share: failed sign-ins, and usage within a minute.

use store::{MinuteUsage, SignInFailures, Store};
use tokio::task::JoinSet;

on_every_database!(concurrent_failures_all_count, minutes_add_up_by_subject);

async fn concurrent_failures_all_count(store: Store) {
    let names = ["b".to_owned(), "a".to_owned()];
    let mut attempts = JoinSet::new();
    for number in 0..20 {
        let (store, mut names) = (store.clone(), names.clone());
        if number % 2 == 0 {
            names.reverse();
        }
        attempts.spawn(async move {
            let fail = |failures: &mut SignInFailures| {
                failures.count += 1;
                failures.last_at = failures.last_at.max(number);
            };
            store
                .change_sign_in_failures(&names, |all| all.values_mut().for_each(fail))
                .await
        });
    }
    while let Some(attempt) = attempts.join_next().await {
        attempt.unwrap().unwrap();
    }
    let known = async |name: &str| {
        let name = [name.to_owned()];
        let read = store.change_sign_in_failures(&name, |known| known[&name[0]]);
        read.await.unwrap()
    };
    let all = SignInFailures {
        count: 20,
        last_at: 19,
    };
    assert_eq!((known("a").await, known("b").await), (all, all));
    assert_eq!(known("c").await, SignInFailures::default());
    assert_eq!(store.purge_sign_in_failures(19).await, Ok(1));
    assert_eq!(store.purge_sign_in_failures(20).await, Ok(2));
    assert_eq!(known("a").await, SignInFailures::default());
}

async fn minutes_add_up_by_subject(store: Store) {
    let usage = |requests, tokens| MinuteUsage {
        requests,
        tokens,
        cost_micro_usd: tokens,
    };
    let add = async |minute, added: &[(&str, MinuteUsage)]| {
        let added: Vec<_> = added
            .iter()
            .map(|(subject, usage)| ((*subject).to_owned(), *usage))
            .collect();
        store.add_minute_usage(minute, &added).await.unwrap()
    };
    assert_eq!(add(7, &[]).await, []);
    let first = add(7, &[("b", usage(1, 5)), ("a", usage(2, 0))]).await;
    assert_eq!(first, [usage(1, 5), usage(2, 0)]);
    let second = add(7, &[("a", usage(1, 1)), ("b", usage(0, 0))]).await;
    assert_eq!(second, [usage(3, 1), usage(1, 5)]);
    assert_eq!(add(8, &[("a", usage(1, 0))]).await, [usage(1, 0)]);
    let subjects = ["b".to_owned(), "c".to_owned()];
    store.take_back_minute_request(7, &subjects).await.unwrap();
    store.take_back_minute_request(7, &subjects).await.unwrap();
    assert_eq!(add(7, &[("b", usage(0, 0))]).await, [usage(0, 5)]);
    // An absurd number breaks nothing.
    let most = add(8, &[("a", usage(0, 1_000_000_000_000_000))]).await;
    assert_eq!(add(8, &[("a", usage(0, 5))]).await, most);
    assert_eq!(store.purge_minute_usage(8).await, Ok(2));
}
