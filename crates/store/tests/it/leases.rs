//! Several servers on one database: who has which runs, and who may write their logs.

use std::time::Duration;

use store::{Renewal, Store, StoreError};

use crate::{
    database::with_postgres,
    fixtures::{add_run, add_user, segment, summary},
};

const LONG: Duration = Duration::from_secs(60);
const OVER: Duration = Duration::ZERO;

async fn taken(store: &Store) -> Vec<domain::RunId> {
    store.bury_servers().await.unwrap();
    store
        .take_over_runs(1000)
        .await
        .unwrap()
        .into_iter()
        .map(|run| run.id)
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_go_to_one_other_server_once_theirs_is_silent() {
    with_postgres(|url| async move {
        let [a, b, c] = [(); 3].map(|()| Store::open(&url));
        let a = a.await.unwrap();
        let b = b.await.unwrap();
        let c = c.await.unwrap();
        for (store, name) in [(&a, "a"), (&b, "b"), (&c, "c")] {
            store.take_lease(name, LONG).await.unwrap();
        }
        let ann = add_user(&a).await;
        let mut runs = Vec::new();
        for _ in 0..20 {
            runs.push(add_run(&a, ann).await);
        }
        a.finish_run(runs.pop().unwrap(), 1, &summary(""))
            .await
            .unwrap();
        a.append(segment(runs[0], 1, 2)).await.unwrap();
        assert_eq!(
            (taken(&b).await, taken(&a).await),
            (vec![], vec![]),
            "a lives"
        );

        assert!(matches!(
            a.renew_lease(OVER).await,
            Ok(Renewal::Renewed { .. })
        ));
        tokio::time::sleep(Duration::from_millis(5)).await;
        let (one, two) = tokio::join!(taken(&b), taken(&c));
        let mut all = [one.clone(), two].concat();
        all.sort_by_key(ToString::to_string);
        runs.sort_by_key(ToString::to_string);
        assert_eq!(all, runs, "each by one of both");
        assert_eq!((taken(&b).await, taken(&c).await), (vec![], vec![]));

        let owner = if one.contains(&runs[0]) { &b } else { &c };
        let last_seq = a.run(runs[0]).await.unwrap().last_seq;
        assert_eq!(
            a.append(segment(runs[1], 1, 1)).await,
            Err(StoreError::NotOurs),
            "a is taken for dead"
        );
        assert_eq!(
            a.append(segment(runs[0], last_seq + 1, last_seq + 1)).await,
            Err(StoreError::NotOurs)
        );
        let next = domain::event::seq_after_restart(last_seq);
        owner.append(segment(runs[0], next, next)).await.unwrap();
        // Not taken for its own earlier try, whatever it remembers of the log.
        assert_eq!(
            a.append(segment(runs[0], last_seq + 1, last_seq + 1)).await,
            Err(StoreError::NotOurs)
        );
        assert_eq!(a.renew_lease(LONG).await, Ok(Renewal::Lost));

        a.end_lease().await.unwrap();
        assert_eq!(
            a.take_over_runs(1000).await.map(drop),
            Err(StoreError::NotOurs),
            "between two leases"
        );
        a.take_lease("a again", LONG).await.unwrap();
        let new = add_run(&a, ann).await;
        a.append(segment(new, 1, 1)).await.unwrap();
        // Of two in one batch the one that others have is refused, and only that.
        let (foreign, own) = tokio::join!(
            a.append(segment(runs[0], next + 1, next + 1)),
            a.append(segment(new, 2, 2))
        );
        assert_eq!(
            (foreign, own),
            (Err(StoreError::NotOurs), Ok(())),
            "a lease is not enough"
        );
        assert_eq!(
            (a.note_resumed(runs[0]).await, a.note_resumed(new).await),
            (Ok(false), Ok(true))
        );
        assert_eq!(a.own_runs(i64::MAX).await, Ok(vec![new]));
        a.end_lease().await.unwrap();
        assert_eq!(taken(&b).await, [new], "at once");
        for store in [a, b, c] {
            store.close().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_are_released_singly_and_shared_out() {
    with_postgres(|url| async move {
        let [a, b, c] = [(); 3].map(|()| Store::open(&url));
        let a = a.await.unwrap();
        let b = b.await.unwrap();
        let c = c.await.unwrap();
        for (store, name) in [(&a, "a"), (&b, "b"), (&c, "c")] {
            store.take_lease(name, LONG).await.unwrap();
        }
        let ann = add_user(&a).await;
        let mut runs = Vec::new();
        for _ in 0..7 {
            runs.push(add_run(&a, ann).await);
        }
        assert_eq!(b.left_runs().await, Ok(None));

        b.release_run(runs[0]).await.unwrap();
        assert_eq!(b.left_runs().await, Ok(None), "it is not b's");
        a.release_run(runs[0]).await.unwrap();
        assert_eq!(
            a.append(segment(runs[0], 1, 1)).await,
            Err(StoreError::NotOurs),
            "released"
        );
        let left = b.left_runs().await.unwrap().unwrap();
        assert_eq!((left.runs, left.servers, left.share()), (1, 3, 1));
        let [taken] = &b.take_over_runs(9).await.unwrap()[..] else {
            panic!("one was left");
        };
        assert_eq!((taken.id, taken.released), (runs[0], true));
        assert_eq!(b.note_resumed(runs[0]).await, Ok(true));
        assert!(!b.run(runs[0]).await.unwrap().released, "b has it now");

        // The rest is a crash.
        a.end_lease().await.unwrap();
        let left = c.left_runs().await.unwrap().unwrap();
        assert_eq!((left.runs, left.servers, left.share()), (6, 2, 3));
        let (one, two) = tokio::join!(b.take_over_runs(3), c.take_over_runs(3));
        let (one, two) = (one.unwrap(), two.unwrap());
        assert_eq!((one.len(), two.len()), (3, 3), "each its share");
        let both = || one.iter().chain(&two);
        assert!(both().all(|run| !run.released));
        let mut all: Vec<String> = both().map(|run| run.id.to_string()).collect();
        let mut rest: Vec<String> = runs[1..].iter().map(ToString::to_string).collect();
        all.sort();
        rest.sort();
        assert_eq!(all, rest, "each once");

        b.release_runs().await.unwrap();
        assert_eq!(c.left_runs().await.unwrap().unwrap().runs, 4);
        let taken = c.take_over_runs(9).await.unwrap();
        assert!(taken.iter().all(|run| run.released));
        for store in [a, b, c] {
            store.close().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_reach_the_server_of_their_run() {
    with_postgres(|url| async move {
        let a = Store::open(&url).await.unwrap();
        let b = Store::open(&url).await.unwrap();
        a.take_lease("a", LONG).await.unwrap();
        b.take_lease("b", LONG).await.unwrap();
        let run = add_run(&a, add_user(&a).await).await;
        b.enqueue_command(run, "stop").await.unwrap();
        b.enqueue_command(run, "really").await.unwrap();
        assert_eq!(b.pending_commands().await, Ok(vec![]));
        let told = a.pending_commands().await.unwrap();
        let words: Vec<&str> = told
            .iter()
            .map(|(_, _, command)| command.as_str())
            .collect();
        assert_eq!((words, told[0].1), (vec!["stop", "really"], run));
        a.forget_command(told[0].0).await.unwrap();
        assert_eq!(a.pending_commands().await.unwrap().len(), 1);
        a.close().await;
        b.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_file_has_one_server_and_needs_no_lease() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    store.take_lease("a", OVER).await.unwrap();
    let run = add_run(&store, add_user(&store).await).await;
    assert!(!store.is_shared());
    assert_eq!(
        (taken(&store).await, store.renew_lease(OVER).await),
        (vec![run], Ok(Renewal::NotNeeded))
    );
    store.append(segment(run, 1, 1)).await.unwrap();
    assert!(!store.run(run).await.unwrap().released, "it has crashed");
    store.release_runs().await.unwrap();
    assert!(store.unfinished_runs().await.unwrap()[0].released);
    assert_eq!(store.note_resumed(run).await, Ok(true));
    assert!(!store.run(run).await.unwrap().released);
    store.release_run(run).await.unwrap();
    assert!(store.run(run).await.unwrap().released);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_programs_of_a_chat_take_turns_on_all_servers() {
    with_postgres(|url| async move {
        let a = Store::open(&url).await.unwrap();
        let b = Store::open(&url).await.unwrap();
        a.take_lease("a", LONG).await.unwrap();
        b.take_lease("b", LONG).await.unwrap();
        let begin =
            async |store: &Store, longest| store.begin_program_turn("chat", longest).await.unwrap();
        assert_eq!(begin(&a, LONG).await, Some(1));
        assert_eq!(begin(&b, LONG).await, None, "a has it");
        // The next turn of a begins before the end of the last one has arrived.
        assert_eq!(begin(&a, LONG).await, Some(2));
        a.end_program_turn("chat", 1).await.unwrap();
        assert_eq!(begin(&b, LONG).await, None);
        a.end_program_turn("chat", 2).await.unwrap();
        assert_eq!(begin(&b, LONG).await, Some(3));
        assert_eq!(begin(&a, LONG).await, None, "b has it");
        assert_eq!(
            a.begin_program_turn("other", LONG).await,
            Ok(Some(1)),
            "chats do not wait for each other"
        );
        b.end_lease().await.unwrap();
        assert_eq!(begin(&a, OVER).await, Some(4), "b is gone");
        tokio::time::sleep(Duration::from_millis(5)).await;
        b.take_lease("c", LONG).await.unwrap();
        assert_eq!(begin(&b, LONG).await, Some(5), "the time of a is over");
        assert_eq!(a.purge_program_turns().await, Ok(0));
        b.close().await;
        a.close().await;
    })
    .await;
}
