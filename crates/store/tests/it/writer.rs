//! Many runs at once, from their beginning to their end, share statements: nobody is mixed up or harmed.

use std::collections::HashMap;

use domain::{RunId, UserId};
use store::{NewRun, Store, StoreError};
use tokio::task::JoinSet;

use crate::fixtures::{add_user, segment, summary};

on_every_database!(
    serves_two_hundred_runs,
    lets_one_of_many_finish_a_run,
    lets_one_of_many_create_a_run,
    counts_every_write_of_a_file,
);

/// What is wrong with every seventh run, in turn.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    NoOwner,
    IdTaken,
    WrongSeq,
    NeverCreated,
}

fn new_run(id: RunId, owner: UserId) -> NewRun {
    NewRun {
        id,
        principal: store::Principal::of_account(owner),
        key_models: None,
        chat: None,
        message: None,
        model: "tour\0".to_owned(),
        started_at: 1_000,
        request: None,
        idempotency: None,
        origin: None,
        research: None,
        workspace: None,
    }
}

async fn serves_two_hundred_runs(store: Store) {
    let ann = add_user(&store).await;
    let taken = RunId::generate();
    store.create_run(&new_run(taken, ann)).await.unwrap();
    let mut runs = JoinSet::new();
    for number in 0..200_usize {
        let faults = [
            Fault::NoOwner,
            Fault::IdTaken,
            Fault::WrongSeq,
            Fault::NeverCreated,
        ];
        let fault = (number % 7 == 3).then(|| faults[number / 7 % 4]);
        let store = store.clone();
        runs.spawn(async move {
            match fault {
                None => live(&store, ann, number).await,
                Some(fault) => fail(&store, fault, ann, taken).await,
            }
        });
    }
    runs.join_all().await;
    let unfinished: Vec<RunId> = store
        .unfinished_runs()
        .await
        .unwrap()
        .into_iter()
        .map(|run| run.id)
        .collect();
    assert_eq!(unfinished, [taken]);
    assert_eq!(store.run(taken).await.unwrap().last_seq, 0);
}

/// The whole life of a run; what is stored is looked at after each step.
async fn live(store: &Store, owner: UserId, number: usize) {
    let id = RunId::generate();
    let workspace = id.to_string();
    let content = format!("\0 {number}");
    store.create_run(&new_run(id, owner)).await.unwrap();
    let run = store.run(id).await.unwrap();
    assert_eq!(
        (run.principal.account, run.model.as_str(), run.finished_at),
        (owner, "tour\u{fffd}", None)
    );
    for seq in 1..=3 {
        store.append(segment(id, seq, seq)).await.unwrap();
        assert_eq!(
            store
                .write_file(&workspace, "/odd\0", content.as_bytes(), None, 5)
                .await,
            Ok(seq)
        );
    }
    let file = store
        .read_file(&workspace, "/odd\0")
        .await
        .unwrap()
        .unwrap();
    assert_eq!((file.content, file.version), (content.into_bytes(), 3));
    let end = summary(&format!("answer {number}"));
    store.finish_run(id, number as i64, &end).await.unwrap();
    let run = store.run(id).await.unwrap();
    assert_eq!(
        (run.finished_at, run.last_seq, run.summary),
        (Some(number as i64), 3, Some(end))
    );
}

async fn fail(store: &Store, fault: Fault, owner: UserId, taken: RunId) {
    let id = RunId::generate();
    match fault {
        Fault::NoOwner => {
            let outcome = store.create_run(&new_run(id, UserId::generate())).await;
            assert_eq!(outcome, Err(StoreError::NotFound));
            assert_eq!(store.run(id).await, Err(StoreError::NotFound));
        }
        Fault::IdTaken => {
            let outcome = store.create_run(&new_run(taken, owner)).await;
            assert_eq!(outcome, Err(StoreError::Conflict("id")));
        }
        Fault::WrongSeq => {
            store.create_run(&new_run(id, owner)).await.unwrap();
            assert_eq!(
                store.append(segment(id, 2, 2)).await,
                Err(StoreError::Conflict("seq"))
            );
            store.finish_run(id, 1, &summary("")).await.unwrap();
            assert_eq!(store.run(id).await.unwrap().last_seq, 0);
        }
        Fault::NeverCreated => {
            assert_eq!(
                store.append(segment(id, 1, 1)).await,
                Err(StoreError::NotFound)
            );
            assert_eq!(
                store.finish_run(id, 1, &summary("")).await,
                Err(StoreError::NotFound)
            );
        }
    }
}

/// How many of fifty callers at once were told what.
async fn fifty_times<T, F>(attempt: impl Fn(i64) -> F) -> HashMap<String, usize>
where
    T: std::fmt::Debug + Send + 'static,
    F: Future<Output = Result<T, StoreError>> + Send + 'static,
{
    let attempts: JoinSet<_> = (0..50).map(attempt).collect();
    let mut told = HashMap::new();
    for outcome in attempts.join_all().await {
        *told.entry(format!("{outcome:?}")).or_default() += 1;
    }
    told
}

async fn lets_one_of_many_finish_a_run(store: Store) {
    let id = RunId::generate();
    store
        .create_run(&new_run(id, add_user(&store).await))
        .await
        .unwrap();
    let told = fifty_times(|number| {
        let store = store.clone();
        async move { store.finish_run(id, number, &summary("")).await }
    })
    .await;
    assert_eq!(
        told,
        expected(&[(Ok(()), 1), (Err(StoreError::Conflict("finished")), 49)])
    );
}

async fn lets_one_of_many_create_a_run(store: Store) {
    let run = new_run(RunId::generate(), add_user(&store).await);
    let told = fifty_times(|_| {
        let store = store.clone();
        let run = run.clone();
        async move { store.create_run(&run).await }
    })
    .await;
    assert_eq!(
        told,
        expected(&[(Ok(()), 1), (Err(StoreError::Conflict("id")), 49)])
    );
}

/// Two spellings of one path as well: U+0000 is stored as U+FFFD.
async fn counts_every_write_of_a_file(store: Store) {
    let told = fifty_times(|number| {
        let store = store.clone();
        let path = if number % 2 == 0 {
            "/a\0"
        } else {
            "/a\u{fffd}"
        };
        async move {
            store
                .write_file("w", path, number.to_string().as_bytes(), None, number)
                .await
        }
    })
    .await;
    let versions: Vec<_> = (1..=50_u64).map(|version| (Ok(version), 1)).collect();
    assert_eq!(told, expected(&versions));
    let file = store.read_file("w", "/a\0").await.unwrap().unwrap();
    let row = store.files("w").await.unwrap().remove(0);
    assert_eq!(
        (file.version, file.content),
        (50, row.changed_at.to_string().into_bytes())
    );
}

fn expected<T: std::fmt::Debug>(
    outcomes: &[(Result<T, StoreError>, usize)],
) -> HashMap<String, usize> {
    outcomes
        .iter()
        .map(|(outcome, count)| (format!("{outcome:?}"), *count))
        .collect()
}
