//! Forks: all of one is kept or nothing, and files come with what they were.

use domain::{ChatId, MessageId, RunId};
use store::{Chat, ChatMessage, FileState, Fork, Segment, Store, StoreError};

use crate::fixtures::{add_chat, add_user, new_turn};

on_every_database!(
    copies_files_as_they_were,
    keeps_nothing_of_a_fork_that_cannot_be
);

/// A fork of `chat` with the given files.
pub(crate) fn fork_of(chat: &Chat, files: &[(&str, u64)]) -> Fork {
    let new = Chat {
        id: ChatId::generate(),
        title: "Fork".to_owned(),
        ..chat.clone()
    };
    let turn = new_turn(&new, None, "Question", 5);
    let user = turn.user.unwrap();
    let mut run = turn.run;
    let id = MessageId::generate();
    let assistant = ChatMessage {
        id,
        parent: Some(user.id),
        run: Some(run.id),
        ..turn.assistant
    };
    run.message = Some(id);
    let new = Chat {
        current: Some(id),
        ..new
    };
    let segment = |seq| Segment {
        run: run.id,
        first_seq: seq,
        last_seq: seq,
        lines: "{}\n".into(),
    };
    let log = vec![segment(1), segment(1_000_001)];
    let files = files
        .iter()
        .map(|(path, version)| ((*path).to_owned(), *version))
        .collect();
    Fork {
        chat: new,
        messages: vec![user, assistant],
        run,
        log,
        workspace: chat.id.to_string(),
        files,
    }
}

async fn copies_files_as_they_were(store: Store) {
    let owner = add_user(&store).await;
    let chat = add_chat(&store, owner, "First", 1).await;
    let workspace = chat.id.to_string();
    for (content, at) in [("one", 1), ("two", 2), ("three", 3)] {
        store
            .write_file(&workspace, "/a", content.as_bytes(), None, at)
            .await
            .unwrap();
    }
    store
        .write_file(&workspace, "/b", b"b", None, 4)
        .await
        .unwrap();
    store.delete_file(&workspace, "/b", None, 5).await.unwrap();
    let state = |path: &str, version, changed_at| FileState {
        path: path.to_owned(),
        version,
        changed_at,
    };
    let states = store.file_states(&workspace).await.unwrap();
    let expected = [
        state("/a", 1, 1),
        state("/a", 2, 2),
        state("/a", 3, 3),
        state("/b", 1, 4),
        state("/b", 2, 5),
    ];
    assert_eq!(states, expected);

    let fork = fork_of(&chat, &[("/a", 2), ("/b", 1)]);
    store.fork(&fork).await.unwrap();
    let copy = fork.chat.id.to_string();
    assert_eq!(
        store
            .chat(&store::Principal::of_account(owner), fork.chat.id)
            .await,
        Ok(fork.chat.clone())
    );
    assert_eq!(store.messages(fork.chat.id).await.unwrap(), fork.messages);
    assert_eq!(store.run(fork.run.id).await.unwrap().last_seq, 1_000_001);
    assert_eq!(
        store.events_after(fork.run.id, 0, 1_000).await.unwrap(),
        fork.log
    );
    let a = store.read_file(&copy, "/a").await.unwrap().unwrap();
    assert_eq!((a.content.as_slice(), a.version), (&b"two"[..], 2));
    let before = store
        .read_file_version(&copy, "/a", 1)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(before.content, b"one");
    assert_eq!(
        store.read_file(&copy, "/b").await.unwrap().unwrap().content,
        b"b"
    );
    // The copy goes on by itself.
    assert_eq!(
        store.write_file(&copy, "/a", b"other", None, 6).await,
        Ok(3)
    );
    assert_eq!(
        store
            .read_file(&workspace, "/a")
            .await
            .unwrap()
            .unwrap()
            .content,
        b"three"
    );
    store.delete_chat(owner, chat.id).await.unwrap();
    assert_eq!(store.files(&copy).await.unwrap().len(), 2);
    // The log can be written on.
    let next = Segment {
        run: fork.run.id,
        first_seq: 1_000_002,
        last_seq: 1_000_002,
        lines: "{}\n".into(),
    };
    assert_eq!(store.append(next).await, Ok(()));
}

async fn keeps_nothing_of_a_fork_that_cannot_be(store: Store) {
    let owner = add_user(&store).await;
    let chat = add_chat(&store, owner, "First", 1).await;
    store
        .write_file(&chat.id.to_string(), "/a", b"one", None, 1)
        .await
        .unwrap();
    let fork = fork_of(&chat, &[("/a", 1), ("/a.not", 1)]);
    assert_eq!(store.fork(&fork).await, Err(StoreError::Conflict("file")));
    assert_eq!(
        store
            .chat(&store::Principal::of_account(owner), fork.chat.id)
            .await,
        Err(StoreError::NotFound)
    );
    assert_eq!(store.run(fork.run.id).await, Err(StoreError::NotFound));
    assert_eq!(store.files(&fork.chat.id.to_string()).await, Ok(vec![]));
    assert_eq!(
        store.run(RunId::generate()).await,
        Err(StoreError::NotFound)
    );
}
