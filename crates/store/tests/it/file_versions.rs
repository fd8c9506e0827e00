//! What files were before: kept with every kind of change, in bounds, and gone with the workspace.

use domain::RunId;
use store::{FileRow, NewRun, PastFile, Store, StoreError};
use tokio::task::JoinSet;

use crate::fixtures::{add_chat, add_user, summary};

on_every_database!(
    every_change_keeps_what_it_replaces,
    a_deleted_file_keeps_its_history_and_versions,
    deleted_files_are_listed_while_their_last_state_is_kept,
    deleting_minds_the_expected_version,
    a_moved_file_starts_a_new_history,
    keeps_fifty_states_of_a_file,
    keeps_64_mb_and_two_thousand_states_of_a_workspace,
    forgets_the_deleted_of_which_nothing_is_kept,
    nothing_outlives_the_workspace,
    changes_at_once_all_leave_their_past,
);

/// The kept states, newest first: number, size, and whether there was no file.
async fn states(store: &Store, path: &str) -> Vec<(u64, u64, bool)> {
    let versions = store.file_versions("w", path).await.unwrap();
    versions
        .into_iter()
        .map(|it| (it.version, it.size_bytes, it.deleted))
        .collect()
}

async fn text(store: &Store, path: &str, version: u64) -> Option<String> {
    let past = store.read_file_version("w", path, version).await.unwrap()?;
    Some(String::from_utf8(past.content).unwrap())
}

async fn every_change_keeps_what_it_replaces(store: Store) {
    assert_eq!(states(&store, "/a").await, []);
    store.write_file("w", "/a", b"one", None, 1).await.unwrap();
    assert_eq!(
        states(&store, "/a").await,
        [(1, 3, false)],
        "what is new has no past"
    );
    store
        .write_file("w", "/a", b"three", None, 2)
        .await
        .unwrap();
    store
        .write_file("w", "/a", b"four", Some(2), 3)
        .await
        .unwrap();
    assert_eq!(
        states(&store, "/a").await,
        [(3, 4, false), (2, 5, false), (1, 3, false)]
    );
    assert_eq!(text(&store, "/a", 1).await.as_deref(), Some("one"));
    assert_eq!(text(&store, "/a", 2).await.as_deref(), Some("three"));
    assert_eq!(text(&store, "/a", 3).await.as_deref(), Some("four"));
    assert_eq!(text(&store, "/a", 4).await, None);
    let times: Vec<i64> = store
        .file_versions("w", "/a")
        .await
        .unwrap()
        .iter()
        .map(|it| it.changed_at)
        .collect();
    assert_eq!(times, [3, 2, 1]);
}

async fn a_deleted_file_keeps_its_history_and_versions(store: Store) {
    store.write_file("w", "/a", b"one", None, 1).await.unwrap();
    assert_eq!(store.delete_file("w", "/a", None, 2).await, Ok(2));
    assert_eq!(store.files("w").await, Ok(vec![]));
    assert_eq!(store.read_file("w", "/a").await, Ok(None));
    assert_eq!(states(&store, "/a").await, [(2, 0, true), (1, 3, false)]);
    let gone = store.read_file_version("w", "/a", 2).await;
    assert_eq!(
        gone,
        Ok(Some(PastFile {
            content: vec![],
            deleted: true
        }))
    );
    // It is not there for those who change, and may be made by those who want it not to be there.
    assert_eq!(
        store.delete_file("w", "/a", None, 3).await,
        Err(StoreError::NotFound)
    );
    let change = store.write_file("w", "/a", b"x", Some(2), 3).await;
    assert_eq!(change, Err(StoreError::Conflict("version")));
    assert_eq!(
        store.write_file("w", "/a", b"anew", Some(0), 4).await,
        Ok(3)
    );
    assert_eq!(store.delete_file("w", "/a", Some(3), 5).await, Ok(4));
    assert_eq!(
        store.write_file("w", "/a", b"and again", None, 6).await,
        Ok(5)
    );
    let kept = [
        (5, 9, false),
        (4, 0, true),
        (3, 4, false),
        (2, 0, true),
        (1, 3, false),
    ];
    assert_eq!(states(&store, "/a").await, kept);
    assert_eq!(store.files("w").await.unwrap()[0].version, 5);
}

async fn deleted_files_are_listed_while_their_last_state_is_kept(store: Store) {
    for (path, at) in [("/a", 1), ("/b", 1), ("/kept", 1)] {
        store.write_file("w", path, b"one", None, at).await.unwrap();
    }
    store.write_file("other", "/a", b"", None, 1).await.unwrap();
    store.delete_file("other", "/a", None, 9).await.unwrap();
    store
        .write_file("w", "/a", b"longer", None, 2)
        .await
        .unwrap();
    store.delete_file("w", "/a", None, 3).await.unwrap();
    store.delete_file("w", "/b", None, 4).await.unwrap();
    let row = |path: &str, size_bytes, version, changed_at| FileRow {
        path: path.to_owned(),
        size_bytes,
        version,
        changed_at,
    };
    let deleted = store.deleted_files("w").await.unwrap();
    assert_eq!(deleted, [row("/b", 3, 1, 4), row("/a", 6, 2, 3)]);
    store
        .write_file("w", "/b", b"anew", Some(0), 5)
        .await
        .unwrap();
    assert_eq!(
        store.deleted_files("w").await.unwrap(),
        [row("/a", 6, 2, 3)]
    );
}

async fn deleting_minds_the_expected_version(store: Store) {
    assert_eq!(
        store.delete_file("w", "/a", Some(1), 1).await,
        Err(StoreError::NotFound)
    );
    store.write_file("w", "/a", b"1", None, 1).await.unwrap();
    store.write_file("w", "/a", b"2", None, 2).await.unwrap();
    let outcome = store.delete_file("w", "/a", Some(1), 3).await;
    assert_eq!(outcome, Err(StoreError::Conflict("version")));
    assert_eq!(store.delete_file("w", "/a", Some(2), 3).await, Ok(3));
}

async fn a_moved_file_starts_a_new_history(store: Store) {
    store.write_file("w", "/a", b"1", None, 1).await.unwrap();
    store.write_file("w", "/a", b"2", None, 2).await.unwrap();
    store
        .write_file("w", "/taken", b"3", None, 2)
        .await
        .unwrap();
    assert_eq!(
        store.move_file("w", "/none", "/b", 3).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store.move_file("w", "/a", "/taken", 3).await,
        Err(StoreError::Conflict("path"))
    );
    assert_eq!(
        states(&store, "/a").await,
        [(2, 1, false), (1, 1, false)],
        "nothing has happened"
    );
    assert_eq!(store.move_file("w", "/a", "/b", 4).await, Ok((3, 1)));
    assert_eq!(text(&store, "/b", 1).await.as_deref(), Some("2"));
    assert_eq!(
        states(&store, "/a").await,
        [(3, 0, true), (2, 1, false), (1, 1, false)]
    );
    // Back again: there it continues with its numbers.
    assert_eq!(store.move_file("w", "/b", "/a", 5).await, Ok((2, 4)));
    assert_eq!(text(&store, "/a", 4).await.as_deref(), Some("2"));
}

async fn keeps_fifty_states_of_a_file(store: Store) {
    for number in 1..=60_i64 {
        store
            .write_file("w", "/a", number.to_string().as_bytes(), None, number)
            .await
            .unwrap();
    }
    store
        .write_file("w", "/b", b"another", None, 1)
        .await
        .unwrap();
    store.write_file("w", "/b", b"file", None, 2).await.unwrap();
    let kept = states(&store, "/a").await;
    let ends = (
        kept.first().map(|it| it.0),
        kept.last().map(|it| it.0),
        kept.len(),
    );
    assert_eq!(ends, (Some(60), Some(10), 51), "fifty and what it is now");
    assert_eq!(states(&store, "/b").await.len(), 2);
}

async fn keeps_64_mb_and_two_thousand_states_of_a_workspace(store: Store) {
    let large = vec![b'x'; 10_000_000];
    for number in 0..9_u8 {
        let path = format!("/{}", number % 3);
        store
            .write_file("w", &path, &large, None, i64::from(number))
            .await
            .unwrap();
    }
    // Six were replaced; a seventh does not fit, so the oldest goes.
    store
        .write_file("w", "/0", b"small", None, 10)
        .await
        .unwrap();
    assert_eq!(
        states(&store, "/0")
            .await
            .iter()
            .map(|it| it.0)
            .collect::<Vec<_>>(),
        [4, 3, 2]
    );
    assert_eq!(states(&store, "/1").await.len(), 3);
    // Another workspace is not concerned, and has bounds of its own.
    for number in 0..41 {
        for path in 0..50 {
            store
                .write_file("v", &format!("/{path}"), b"", None, number)
                .await
                .unwrap();
        }
    }
    let counts = async |path: &str| store.file_versions("v", path).await.unwrap().len();
    assert_eq!(
        (counts("/0").await, counts("/49").await),
        (41, 41),
        "40 × 50 are just as many as are kept"
    );
    store.write_file("v", "/49", b"", None, 99).await.unwrap();
    assert_eq!((counts("/0").await, counts("/49").await), (40, 42));
}

async fn forgets_the_deleted_of_which_nothing_is_kept(store: Store) {
    store.write_file("w", "/old", b"", None, 1).await.unwrap();
    store.delete_file("w", "/old", None, 1).await.unwrap();
    for number in 0..40 {
        for path in 0..51 {
            store
                .write_file("w", &format!("/{path}"), b"", None, number)
                .await
                .unwrap();
        }
    }
    assert_eq!(
        states(&store, "/old").await,
        [(2, 0, true), (1, 0, false)],
        "1,989 states replaced since"
    );
    for path in 0..51 {
        store
            .write_file("w", &format!("/{path}"), b"", None, 41)
            .await
            .unwrap();
    }
    assert_eq!(states(&store, "/old").await, [(2, 0, true)]);
    assert_eq!(
        store.deleted_files("w").await.unwrap(),
        [],
        "there is nothing to bring back"
    );
    store.delete_file("w", "/50", None, 42).await.unwrap();
    assert_eq!(states(&store, "/old").await, []);
    assert_eq!(states(&store, "/50").await.len(), 42);
}

async fn nothing_outlives_the_workspace(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "Files", 1).await;
    let run = NewRun {
        id: RunId::generate(),
        principal: store::Principal::of_account(ann),
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
    store.create_run(&run).await.unwrap();
    store.finish_run(run.id, 2, &summary("")).await.unwrap();
    let workspaces = [chat.id.to_string(), run.id.to_string()];
    for workspace in &workspaces {
        for content in [b"1", b"2"] {
            store
                .write_file(workspace, "/a", content, None, 1)
                .await
                .unwrap();
        }
        store.delete_file(workspace, "/a", None, 2).await.unwrap();
        assert_eq!(store.file_versions(workspace, "/a").await.unwrap().len(), 3);
    }
    store.delete_chat(ann, chat.id).await.unwrap();
    store.purge_runs(3).await.unwrap();
    for workspace in &workspaces {
        assert_eq!(
            store.file_versions(workspace, "/a").await,
            Ok(vec![]),
            "{workspace}"
        );
    }
}

async fn changes_at_once_all_leave_their_past(store: Store) {
    let mut writers = JoinSet::new();
    for number in 0..40_i64 {
        let store = store.clone();
        writers.spawn(async move {
            let path = format!("/{}", number % 4);
            let content = number.to_string();
            store
                .write_file("w", &path, content.as_bytes(), None, number)
                .await
                .unwrap()
        });
    }
    writers.join_all().await;
    for path in ["/0", "/1", "/2", "/3"] {
        let mut texts = Vec::new();
        for (version, ..) in states(&store, path).await {
            texts.push(
                text(&store, path, version)
                    .await
                    .unwrap()
                    .parse::<u32>()
                    .unwrap(),
            );
        }
        texts.sort_unstable();
        let mine: u32 = path[1..].parse().unwrap();
        assert_eq!(
            texts,
            (0..10).map(|turn| turn * 4 + mine).collect::<Vec<_>>(),
            "{path}"
        );
    }
}
