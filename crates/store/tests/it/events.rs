//! The logs: group commit, order, paging.

use domain::RunId;
use store::{Segment, Store, StoreError};
use tokio::task::JoinSet;

use crate::fixtures::{add_chat, add_run, add_user, new_turn, segment};

on_every_database!(
    takes_appends_from_many_producers,
    refuses_what_does_not_continue,
    a_refused_row_does_not_affect_others,
    survives_runs_deleted_while_they_write,
    pages_by_bytes,
    begins_inside_a_segment,
    stores_a_large_segment,
);
on_lasting_databases!(takes_one_of_two_processes, lets_two_processes_share_a_log);

/// The numbers of all events of a log, read in small pages.
async fn numbers(store: &Store, run: RunId) -> Vec<u64> {
    let mut numbers = Vec::new();
    loop {
        let after = numbers.last().copied().unwrap_or(0);
        let segments = store.events_after(run, after, 200).await.unwrap();
        if segments.is_empty() {
            return numbers;
        }
        let lines = segments.iter().flat_map(|segment| segment.lines.lines());
        numbers.extend(lines.map(|line| {
            line.trim_start_matches("{\"seq\":")
                .trim_end_matches('}')
                .parse::<u64>()
                .unwrap()
        }));
    }
}

async fn takes_appends_from_many_producers(store: Store) {
    let ann = add_user(&store).await;
    let mut producers = JoinSet::new();
    for producer in 0..64_u64 {
        let (store, run) = (store.clone(), add_run(&store, ann).await);
        producers.spawn(async move {
            let mut next = 1;
            for number in 0..20 {
                let last = next + (producer + number) % 3;
                store.append(segment(run, next, last)).await.unwrap();
                // Committed means readable by anybody.
                assert_eq!(store.run(run).await.unwrap().last_seq, last);
                next = last + 1;
            }
            (run, next - 1)
        });
    }
    for (run, last_seq) in producers.join_all().await {
        assert_eq!(
            numbers(&store, run).await,
            (1..=last_seq).collect::<Vec<_>>()
        );
    }
}

async fn refuses_what_does_not_continue(store: Store) {
    let run = add_run(&store, add_user(&store).await).await;
    let conflict = Err(StoreError::Conflict("seq"));
    for (first_seq, last_seq) in [(2, 2), (0, 0), (0, 1), (1, 0), (u64::MAX, u64::MAX)] {
        let bad = Segment {
            first_seq,
            last_seq,
            ..segment(run, 1, 1)
        };
        assert_eq!(
            store.append(bad).await,
            conflict,
            "{first_seq} to {last_seq}"
        );
    }
    store.append(segment(run, 1, 3)).await.unwrap();
    for first in [1, 3, 5] {
        assert_eq!(
            store.append(segment(run, first, 6)).await,
            conflict,
            "{first}"
        );
    }
    store.append(segment(run, 4, 4)).await.unwrap();
    assert_eq!(numbers(&store, run).await, [1, 2, 3, 4]);
    let after_restart = Segment {
        first_seq: 1_000_001,
        last_seq: 1_000_001,
        ..segment(run, 1, 1)
    };
    store.append(after_restart).await.unwrap();
    assert_eq!(store.append(segment(run, 5, 5)).await, conflict);
    let nowhere = store.append(segment(RunId::generate(), 1, 1)).await;
    assert_eq!(nowhere, Err(StoreError::NotFound));
}

async fn a_refused_row_does_not_affect_others(store: Store) {
    let ann = add_user(&store).await;
    let good = add_run(&store, ann).await;
    let bad = add_run(&store, ann).await;
    // Some of them will share a batch; which ones does not matter here.
    let mut appends = JoinSet::new();
    for (run, seq) in [
        (good, 1),
        (bad, 2),
        (RunId::generate(), 1),
        (good, 2),
        (bad, 1),
        (bad, 1),
    ] {
        let store = store.clone();
        appends.spawn(async move { (run, seq, store.append(segment(run, seq, seq)).await) });
        tokio::task::yield_now().await;
    }
    let outcomes = appends.join_all().await;
    let accepted = |run| {
        outcomes
            .iter()
            .filter(|(r, _, outcome)| *r == run && outcome.is_ok())
            .count() as u64
    };
    for run in [good, bad] {
        assert_eq!(
            numbers(&store, run).await,
            (1..=accepted(run)).collect::<Vec<_>>(),
            "{outcomes:?}"
        );
    }
    assert!(accepted(bad) >= 1, "{outcomes:?}");
    for (run, seq, outcome) in &outcomes {
        match outcome {
            Ok(()) => {}
            Err(StoreError::NotFound) => assert!(![good, bad].contains(run)),
            other => assert_eq!(*other, Err(StoreError::Conflict("seq")), "{seq}"),
        }
    }
}

/// One half of the chats goes while all runs write: the other half must not notice.
async fn survives_runs_deleted_while_they_write(store: Store) {
    let ann = add_user(&store).await;
    let mut producers = JoinSet::new();
    let mut chats = Vec::new();
    for _ in 0..16 {
        let chat = add_chat(&store, ann, "t", 1).await;
        let turn = new_turn(&chat, None, "q", 5);
        store.begin_turn(&turn).await.unwrap();
        let store = store.clone();
        let run = turn.run.id;
        producers.spawn(async move {
            for seq in 1..=40 {
                if let Err(error) = store.append(segment(run, seq, seq)).await {
                    return (run, Err(error));
                }
            }
            (run, Ok(()))
        });
        chats.push((chat, run));
    }
    let (gone, kept) = chats.split_at(8);
    for (chat, _) in gone {
        store.delete_chat(ann, chat.id).await.unwrap();
    }
    for (run, outcome) in producers.join_all().await {
        match outcome {
            Ok(()) => {}
            Err(error) => {
                assert_eq!(error, StoreError::NotFound);
                assert!(gone.iter().any(|(_, gone)| *gone == run));
            }
        }
    }
    for (_, run) in kept {
        assert_eq!(numbers(&store, *run).await, (1..=40).collect::<Vec<_>>());
    }
    for (_, run) in gone {
        assert_eq!(store.events_after(*run, 0, 1_000).await, Ok(vec![]));
    }
}

async fn pages_by_bytes(store: Store) {
    let run = add_run(&store, add_user(&store).await).await;
    for seq in 1..=100 {
        store.append(segment(run, seq, seq)).await.unwrap();
    }
    let line_bytes = segment(run, 10, 10).lines.len();
    let seqs = async |after, limit_bytes| -> Vec<u64> {
        let segments = store.events_after(run, after, limit_bytes).await.unwrap();
        segments
            .into_iter()
            .map(|segment| segment.first_seq)
            .collect()
    };
    assert_eq!(seqs(0, 0).await, [1]);
    assert_eq!(seqs(9, 2 * line_bytes).await, [10, 11]);
    assert_eq!(seqs(9, 2 * line_bytes + 1).await, [10, 11, 12]);
    assert_eq!(seqs(0, usize::MAX).await, (1..=100).collect::<Vec<_>>());
    assert_eq!(seqs(98, usize::MAX).await, [99, 100]);
    for after in [100, 101, u64::MAX] {
        assert!(seqs(after, usize::MAX).await.is_empty());
    }
}

async fn begins_inside_a_segment(store: Store) {
    let run = add_run(&store, add_user(&store).await).await;
    let segments = [segment(run, 1, 5), segment(run, 6, 6), segment(run, 7, 20)];
    for segment in &segments {
        store.append(segment.clone()).await.unwrap();
    }
    for (after, from) in [(0, 0), (4, 0), (5, 1), (6, 2), (19, 2), (20, 3)] {
        let found = store.events_after(run, after, usize::MAX).await.unwrap();
        assert_eq!(found, segments[from..], "after {after}");
    }
}

async fn stores_a_large_segment(store: Store) {
    let run = add_run(&store, add_user(&store).await).await;
    let large = Segment {
        lines: ("я".repeat(4_000_000) + "\n").into(),
        ..segment(run, 1, 1)
    };
    store.append(large.clone()).await.unwrap();
    store.append(segment(run, 2, 2)).await.unwrap();
    assert_eq!(store.events_after(run, 0, 1).await.unwrap(), [large]);
}

/// Two stores write the same numbers of the same log: each number is taken once.
async fn takes_one_of_two_processes(url: String) {
    let stores = [
        Store::open(&url).await.unwrap(),
        Store::open(&url).await.unwrap(),
    ];
    let run = add_run(&stores[0], add_user(&stores[0]).await).await;
    for seq in 1..=20 {
        let [one, two] = &stores;
        let outcomes = tokio::join!(
            one.append(segment(run, seq, seq)),
            two.append(segment(run, seq, seq))
        );
        let expected = [Ok(()), Err(StoreError::Conflict("seq"))];
        assert!(
            [(0, 1), (1, 0)]
                .iter()
                .any(|(a, b)| outcomes == (expected[*a].clone(), expected[*b].clone())),
            "{outcomes:?}"
        );
    }
    assert_eq!(numbers(&stores[0], run).await, (1..=20).collect::<Vec<_>>());
    for store in stores {
        store.close().await;
    }
}

/// A run that moves from one process to another and back: what each remembers of its end is out of date.
async fn lets_two_processes_share_a_log(url: String) {
    let stores = [
        Store::open(&url).await.unwrap(),
        Store::open(&url).await.unwrap(),
    ];
    let run = add_run(&stores[0], add_user(&stores[0]).await).await;
    for seq in 1..=12 {
        let store = &stores[(seq as usize / 3) % 2];
        store.append(segment(run, seq, seq)).await.unwrap();
    }
    assert_eq!(numbers(&stores[1], run).await, (1..=12).collect::<Vec<_>>());
    for store in stores {
        store.close().await;
    }
}
