//! Texts that agents keep of people.

use domain::{MemoryId, RunId, UserId};
use store::{
    Memory, MemoryAuthor, MemoryCall, MemoryChange, MemoryChanged, MemoryContent, MemoryUse, Store,
    StoreError,
};
use tokio::task::JoinSet;

use crate::fixtures::{add_chat, add_run, add_user};

on_every_database!(
    are_made_replaced_and_removed,
    are_found_by_name,
    are_appended_to_by_many_at_once,
    a_call_changes_one_once,
    have_limits,
    are_used_where_a_person_lets_them,
);

fn content(agent: &str, name: &str, text: &str) -> MemoryContent {
    MemoryContent {
        agent: agent.to_owned(),
        name: name.to_owned(),
        description: "For tests".to_owned(),
        text: text.to_owned(),
        pinned: false,
    }
}

fn create(content: MemoryContent) -> MemoryChange {
    MemoryChange::Create {
        id: MemoryId::generate(),
        content,
        max: 3,
    }
}

fn append(content: MemoryContent) -> MemoryChange {
    MemoryChange::Append {
        id: MemoryId::generate(),
        content,
        max: 3,
        max_chars: 20,
    }
}

async fn change(store: &Store, owner: UserId, change: &MemoryChange) -> Result<Memory, StoreError> {
    match store.change_memory(owner, change, None, 7).await? {
        MemoryChanged::Now(memory) => Ok(*memory),
        MemoryChanged::Before(_) => panic!("there was no call"),
    }
}

async fn are_made_replaced_and_removed(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let made = change(&store, ann, &create(content("", "likes", "tea\0")))
        .await
        .unwrap();
    assert_eq!(
        (made.version, made.changed_at, made.content.text.as_str()),
        (1, 7, "tea\u{fffd}")
    );
    assert_eq!(made.author, None);
    assert_eq!(
        store.memories(ann).await.unwrap(),
        std::slice::from_ref(&made)
    );
    assert_eq!(store.memories(bob).await.unwrap(), []);
    let id = made.id;
    assert_eq!(store.memory(bob, id).await, Err(StoreError::NotFound));
    let again = create(content("", "likes", "coffee"));
    assert_eq!(
        change(&store, ann, &again).await,
        Err(StoreError::Conflict("name"))
    );

    let now = MemoryContent {
        pinned: true,
        ..content("main", "likes", "coffee")
    };
    let replace = |version| MemoryChange::Replace {
        id,
        content: now.clone(),
        version,
    };
    assert_eq!(
        change(&store, bob, &replace(1)).await,
        Err(StoreError::NotFound)
    );
    let replaced = change(&store, ann, &replace(1)).await.unwrap();
    assert_eq!((replaced.version, &replaced.content), (2, &now));
    assert_eq!(
        change(&store, ann, &replace(1)).await,
        Err(StoreError::Conflict("version"))
    );
    change(&store, ann, &create(content("", "other", "")))
        .await
        .unwrap();
    let taken = MemoryChange::Replace {
        id,
        content: content("", "other", ""),
        version: 2,
    };
    assert_eq!(
        change(&store, ann, &taken).await,
        Err(StoreError::Conflict("name"))
    );

    let delete = |version| MemoryChange::Delete { id, version };
    assert_eq!(
        change(&store, bob, &delete(None)).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        change(&store, ann, &delete(Some(1))).await,
        Err(StoreError::Conflict("version"))
    );
    assert_eq!(
        change(&store, ann, &delete(Some(2))).await.unwrap(),
        replaced
    );
    assert_eq!(
        change(&store, ann, &delete(None)).await,
        Err(StoreError::NotFound)
    );
}

async fn are_found_by_name(store: Store) {
    let ann = add_user(&store).await;
    let shared = change(&store, ann, &create(content("", "notes", "all")))
        .await
        .unwrap();
    let own = change(&store, ann, &create(content("main", "notes", "own")))
        .await
        .unwrap();
    let named = async |agent: &str, name: &str| store.memory_named(ann, agent, name).await.unwrap();
    assert_eq!(named("main", "notes").await, Some(own));
    assert_eq!(named("general", "notes").await, Some(shared));
    assert_eq!(named("main", "Notes").await, None);
}

async fn are_appended_to_by_many_at_once(store: Store) {
    let ann = add_user(&store).await;
    let append = |line: usize| MemoryChange::Append {
        id: MemoryId::generate(),
        content: content("", "log", &format!("line {line}")),
        max: 1,
        max_chars: 10_000,
    };
    let mut writers = JoinSet::new();
    for line in 0..40 {
        let store = store.clone();
        let append = append(line);
        writers.spawn(async move { change(&store, ann, &append).await });
    }
    for appended in writers.join_all().await {
        appended.unwrap();
    }
    let [log] = &store.memories(ann).await.unwrap()[..] else {
        panic!("more than one")
    };
    let mut lines: Vec<&str> = log.content.text.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!((lines.len(), log.version), (40, 40));
}

async fn a_call_changes_one_once(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "a", 1).await;
    let run = add_run(&store, ann).await;
    let author = MemoryAuthor {
        agent: "main".to_owned(),
        chat: Some(chat.id),
    };
    let call = MemoryCall {
        run,
        call: "c1".to_owned(),
        author: author.clone(),
    };
    let append = append(content("", "log", "one"));
    for time in 0..3 {
        let changed = store
            .change_memory(ann, &append, Some(&call), 9)
            .await
            .unwrap();
        assert_eq!(matches!(changed, MemoryChanged::Now(_)), time == 0);
        assert!(time == 0 || changed == MemoryChanged::Before(1));
    }
    let memory = store.memory_named(ann, "", "log").await.unwrap().unwrap();
    assert_eq!(
        (memory.content.text.as_str(), memory.author),
        ("one", Some(author))
    );
    // What failed may be tried again.
    let other = MemoryCall {
        call: "c2".to_owned(),
        ..call.clone()
    };
    let delete = |version| MemoryChange::Delete {
        id: memory.id,
        version: Some(version),
    };
    let failed = store.change_memory(ann, &delete(5), Some(&other), 9).await;
    assert_eq!(failed, Err(StoreError::Conflict("version")));
    let deleted = store
        .change_memory(ann, &delete(1), Some(&other), 9)
        .await
        .unwrap();
    assert!(matches!(deleted, MemoryChanged::Now(_)));
    let unknown = MemoryCall {
        run: RunId::generate(),
        ..call
    };
    assert_eq!(
        store.change_memory(ann, &append, Some(&unknown), 9).await,
        Err(StoreError::NotFound)
    );
    // The chat goes, what was written in it stays.
    let third = MemoryCall {
        call: "c3".to_owned(),
        ..other
    };
    store
        .change_memory(ann, &append, Some(&third), 9)
        .await
        .unwrap();
    store.delete_chat(ann, chat.id).await.unwrap();
    let author = MemoryAuthor {
        agent: "main".to_owned(),
        chat: None,
    };
    assert_eq!(store.memories(ann).await.unwrap()[0].author, Some(author));
}

async fn have_limits(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    for name in ["a", "b", "c"] {
        change(&store, ann, &create(content("", name, "0123456789")))
            .await
            .unwrap();
    }
    assert_eq!(
        change(&store, ann, &create(content("", "d", ""))).await,
        Err(StoreError::Conflict("limit"))
    );
    assert_eq!(
        change(&store, ann, &append(content("", "d", ""))).await,
        Err(StoreError::Conflict("limit"))
    );
    change(&store, bob, &create(content("", "d", "")))
        .await
        .unwrap();
    let longer = change(&store, ann, &append(content("", "a", "éééé")))
        .await
        .unwrap();
    assert_eq!(longer.content.text, "0123456789\néééé");
    let too_long = append(content("", "a", "ééééé"));
    assert_eq!(
        change(&store, ann, &too_long).await,
        Err(StoreError::Conflict("size"))
    );
}

async fn are_used_where_a_person_lets_them(store: Store) {
    let ann = add_user(&store).await;
    let new = MemoryUse {
        uses_memory: true,
        learns_since: None,
    };
    assert_eq!(store.memory_use(ann).await, Ok(new));
    let changed = MemoryUse {
        uses_memory: false,
        learns_since: Some(5),
    };
    store.put_memory_use(ann, changed).await.unwrap();
    assert_eq!(store.memory_use(ann).await, Ok(changed));
    assert_eq!(
        store.put_memory_use(UserId::generate(), changed).await,
        Err(StoreError::NotFound)
    );
}
