//! What servers share: failed sign-ins, usage within a minute, exports, turns at websites, and pauses of model servers.

use std::time::Duration;

use store::{MinuteUsage, SignInFailures, Store, UpstreamPause};
use tokio::task::JoinSet;

use crate::{database::with_postgres, fixtures::add_user};

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

const LEASE: Duration = Duration::from_secs(60);

/// Two servers of one database.
async fn two(url: &str) -> (Store, Store) {
    let (a, b) = (
        Store::open(url).await.unwrap(),
        Store::open(url).await.unwrap(),
    );
    a.take_lease("a", LEASE).await.unwrap();
    b.take_lease("b", LEASE).await.unwrap();
    (a, b)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_has_one_transfer_at_all_servers() {
    with_postgres(|url| async move {
        let (a, b) = two(&url).await;
        let (ann, bob) = (add_user(&a).await, add_user(&a).await);
        assert_eq!(a.begin_transfer(ann).await, Ok(true));
        assert_eq!(b.begin_transfer(ann).await, Ok(false));
        assert_eq!(b.begin_transfer(bob).await, Ok(true));
        // Only the server that has it ends it.
        b.end_transfer(ann).await.unwrap();
        assert_eq!(b.begin_transfer(ann).await, Ok(false));
        a.end_transfer(ann).await.unwrap();
        assert_eq!(b.begin_transfer(ann).await, Ok(true));
        // A server that has stopped has none.
        b.end_lease().await.unwrap();
        assert_eq!(a.begin_transfer(bob).await, Ok(true));
        a.close().await;
        b.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn turns_at_a_website_are_apart() {
    with_postgres(|url| async move {
        let (a, b) = two(&url).await;
        let pause = Duration::from_secs(100);
        let mut waits = Vec::new();
        for store in [&a, &b, &a] {
            let wait = store.next_host_turn("https://example.org", pause).await;
            waits.push(wait.unwrap());
        }
        // Some seconds of these have passed.
        let near = |wait: Duration, end: Duration| wait <= end && wait + pause / 2 > end;
        assert!(
            near(waits[0], Duration::ZERO)
                && near(waits[1], pause)
                && near(waits[2], pause * 2)
                && waits[2] - waits[1] > pause / 2,
            "{waits:?}"
        );
        let other = b.next_host_turn("https://example.com", pause).await;
        assert_eq!(other, Ok(Duration::ZERO));
        assert_eq!(
            a.next_host_turn("https://example.net", Duration::ZERO)
                .await,
            Ok(Duration::ZERO)
        );
        // What is over is forgotten, and what is reserved is not.
        for _ in 0..100 {
            if a.purge_host_turns().await.unwrap() == 1 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let next = a.next_host_turn("https://example.org", pause).await;
        assert!(near(next.unwrap(), pause * 3));
        a.close().await;
        b.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pauses_of_model_servers_are_told_to_the_others() {
    with_postgres(|url| async move {
        let (a, b) = two(&url).await;
        let pause = |name: &str, seconds| UpstreamPause {
            name: name.to_owned(),
            left: Duration::from_secs(seconds),
            reason: "It's down: \u{0}\"".into(),
        };
        a.share_upstream_pause(&pause("c/0", 50)).await.unwrap();
        a.share_upstream_pause(&pause("d", 0)).await.unwrap();
        assert_eq!(a.upstream_pauses().await, Ok(vec![]), "its own");
        let told = b.upstream_pauses().await.unwrap();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].name == "c/0" && told[0].left > Duration::from_secs(25));
        assert!(told[0].reason.message.starts_with("It's down"));
        // The last one that found it so tells.
        b.share_upstream_pause(&pause("c/0", 80)).await.unwrap();
        a.end_upstream_pause("c/0").await.unwrap();
        assert_eq!(a.upstream_pauses().await.unwrap().len(), 1);
        b.end_upstream_pause("c/0").await.unwrap();
        assert_eq!(a.upstream_pauses().await, Ok(vec![]));
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert_eq!(a.purge_upstream_pauses().await, Ok(1));
        a.close().await;
        b.close().await;
    })
    .await;
}
