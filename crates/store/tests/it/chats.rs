//! Conversations: whose they are, how they are listed, and what goes when they go.

use std::time::Duration;

use domain::{ChatId, MessageId, ModelParameters, UserId};
use sqlx::{Connection, Executor, PgConnection, Row};
use store::{Chat, ChatPage, Store, StoreError};
use tokio::time::sleep;

use crate::{
    database::with_postgres,
    fixtures::{add_chat, add_run, add_user, new_turn, segment, summary, text},
};

on_every_database!(
    belongs_to_one_person,
    lists_the_newest_change_first,
    renames,
    keeps_its_parameters,
    shows_another_leaf,
    takes_everything_with_it,
    expires_if_it_is_temporary,
    needs_an_owner,
);

async fn belongs_to_one_person(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let chat = add_chat(&store, ann, "Ann's", 10).await;
    assert_eq!(
        store
            .chat(&store::Principal::of_account(ann), chat.id)
            .await,
        Ok(chat.clone())
    );
    let turn = new_turn(&chat, None, "secret", 20);
    store.begin_turn(&turn).await.unwrap();

    let id = chat.id;
    assert_eq!(
        store.chat(&store::Principal::of_account(bob), id).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store.rename_chat(bob, id, "Bob's", 99).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store.set_current(bob, id, turn.assistant.id, 99).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(store.delete_chat(bob, id).await, Err(StoreError::NotFound));
    for query in [None, Some("secret".to_owned())] {
        let page = ChatPage {
            query,
            before: None,
            limit: 10,
            ..ChatPage::default()
        };
        assert_eq!(store.chats(bob, &page).await, Ok(vec![]));
        assert_eq!(store.chats(ann, &page).await.unwrap().len(), 1);
    }
    let mut intrusion = new_turn(&chat, Some(turn.assistant.id), "hello", 99);
    intrusion.run.principal.account = bob;
    assert_eq!(
        store.begin_turn(&intrusion).await,
        Err(StoreError::NotFound)
    );
    let expected = Chat {
        current: Some(turn.assistant.id),
        updated_at: 20,
        ..chat
    };
    assert_eq!(
        store.chat(&store::Principal::of_account(ann), id).await,
        Ok(expected)
    );
}

async fn lists_the_newest_change_first(store: Store) {
    let ann = add_user(&store).await;
    for (title, updated_at) in [("b", 20), ("a", 10), ("d", 40), ("c", 30)] {
        add_chat(&store, ann, title, updated_at).await;
    }
    let titles = async |before, limit| -> String {
        let page = ChatPage {
            query: None,
            before,
            limit,
            ..ChatPage::default()
        };
        store
            .chats(ann, &page)
            .await
            .unwrap()
            .into_iter()
            .map(|chat| chat.title)
            .collect()
    };
    assert_eq!(titles(None, 10).await, "dcba");
    assert_eq!(titles(None, 2).await, "dc");
    assert_eq!(titles(Some(30), 10).await, "ba");
    assert_eq!(titles(Some(10), 10).await, "");
    assert_eq!(titles(None, 0).await, "");
    assert_eq!(titles(None, u32::MAX).await, "dcba");
}

async fn renames(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "old", 10).await;
    store.rename_chat(ann, chat.id, "new\0", 20).await.unwrap();
    let expected = Chat {
        title: "new\u{fffd}".into(),
        updated_at: 20,
        ..chat
    };
    assert_eq!(
        store
            .chat(&store::Principal::of_account(ann), expected.id)
            .await,
        Ok(expected)
    );
    assert_eq!(
        store.rename_chat(ann, ChatId::generate(), "x", 1).await,
        Err(StoreError::NotFound)
    );
}

async fn keeps_its_parameters(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let chat = add_chat(&store, ann, "", 10).await;
    let stored = async || {
        store
            .chat(&store::Principal::of_account(ann), chat.id)
            .await
            .unwrap()
            .parameters
    };
    let set = ModelParameters {
        system_prompt: Some("Be brief.".to_owned()),
        temperature: Some(0.1),
        stop: Some(vec!["\n\0".to_owned()]),
        seed: Some(i64::MIN),
        ..ModelParameters::default()
    };
    store.set_chat_parameters(ann, chat.id, &set).await.unwrap();
    assert_eq!(stored().await, set);
    assert_eq!(
        store.set_chat_parameters(bob, chat.id, &set).await,
        Err(StoreError::NotFound)
    );
    let copy = Chat {
        id: ChatId::generate(),
        parameters: set.clone(),
        ..chat.clone()
    };
    store.create_chat(&copy).await.unwrap();
    let copied = store
        .chat(&store::Principal::of_account(ann), copy.id)
        .await
        .unwrap();
    assert_eq!(copied.parameters, set);
    store
        .set_chat_parameters(ann, chat.id, ModelParameters::unset())
        .await
        .unwrap();
    assert!(stored().await.is_unset());
}

async fn shows_another_leaf(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "", 1).await;
    let other = add_chat(&store, ann, "", 1).await;
    let here = new_turn(&chat, None, "q", 2);
    let there = new_turn(&other, None, "q", 2);
    store.begin_turn(&here).await.unwrap();
    store.begin_turn(&there).await.unwrap();
    let leaf = here.user.unwrap().id;
    store.set_current(ann, chat.id, leaf, 3).await.unwrap();
    let expected = Chat {
        current: Some(leaf),
        updated_at: 3,
        ..chat
    };
    assert_eq!(
        store
            .chat(&store::Principal::of_account(ann), expected.id)
            .await
            .as_ref(),
        Ok(&expected)
    );
    for stranger in [there.assistant.id, MessageId::generate()] {
        let refused = store.set_current(ann, expected.id, stranger, 4).await;
        assert_eq!(refused, Err(StoreError::Conflict("message")));
    }
    assert_eq!(
        store.set_current(ann, ChatId::generate(), leaf, 4).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store
            .chat(&store::Principal::of_account(ann), expected.id)
            .await,
        Ok(expected)
    );
}

async fn takes_everything_with_it(store: Store) {
    let ann = add_user(&store).await;
    let gone = add_chat(&store, ann, "gone", 1).await;
    let kept = add_chat(&store, ann, "kept", 1).await;
    let gone_turn = new_turn(&gone, None, "q", 2);
    let kept_turn = new_turn(&kept, None, "q", 2);
    for turn in [&gone_turn, &kept_turn] {
        store.begin_turn(turn).await.unwrap();
        store.append(segment(turn.run.id, 1, 3)).await.unwrap();
        let workspace = turn.assistant.chat.to_string();
        store
            .write_file(&workspace, "/a", b"text", None, 2)
            .await
            .unwrap();
    }
    store
        .finish_run(kept_turn.run.id, 3, &summary("answer"))
        .await
        .unwrap();
    let chatless = add_run(&store, ann).await;

    store.delete_chat(ann, gone.id).await.unwrap();
    assert_eq!(
        store
            .chat(&store::Principal::of_account(ann), gone.id)
            .await,
        Err(StoreError::NotFound)
    );
    assert_eq!(store.messages(gone.id).await, Ok(vec![]));
    assert_eq!(store.run(gone_turn.run.id).await, Err(StoreError::NotFound));
    assert_eq!(
        store.events_after(gone_turn.run.id, 0, 1_000).await,
        Ok(vec![])
    );
    assert_eq!(store.files(&gone.id.to_string()).await, Ok(vec![]));
    assert_eq!(
        store.append(segment(gone_turn.run.id, 4, 4)).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store.delete_chat(ann, gone.id).await,
        Err(StoreError::NotFound)
    );

    assert_eq!(
        store.messages(kept.id).await.unwrap()[1].content,
        text("answer")
    );
    assert_eq!(
        store
            .events_after(kept_turn.run.id, 0, 1_000)
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(store.files(&kept.id.to_string()).await.unwrap().len(), 1);
    assert!(store.run(chatless).await.is_ok());
}

async fn expires_if_it_is_temporary(store: Store) {
    let ann = add_user(&store).await;
    let ordinary = add_chat(&store, ann, "one", 1).await;
    let temporary = |expires_at| Chat {
        id: ChatId::generate(),
        expires_at: Some(expires_at),
        ..ordinary.clone()
    };
    let (later, sooner) = (temporary(30), temporary(20));
    for chat in [&later, &sooner] {
        store.create_chat(chat).await.unwrap();
    }
    assert_eq!(store.expired_chats(19, 10).await.unwrap(), []);
    let both = [(ann, sooner.id), (ann, later.id)];
    assert_eq!(store.expired_chats(30, 10).await.unwrap(), both);
    assert_eq!(store.expired_chats(30, 1).await.unwrap(), both[..1]);
    let set = async |owner, chat, at| store.set_chat_expiry(owner, chat, at).await;
    set(ann, sooner.id, Some(40)).await.unwrap();
    set(ann, later.id, None).await.unwrap();
    assert_eq!(store.expired_chats(39, 10).await.unwrap(), []);
    let page = ChatPage {
        limit: 10,
        ..ChatPage::default()
    };
    assert_eq!(store.chats(ann, &page).await.unwrap().len(), 2);
    let conflict = Err(StoreError::Conflict("expires_at"));
    assert_eq!(set(ann, later.id, Some(50)).await, conflict);
    assert_eq!(set(ann, later.id, None).await, Ok(()));
    let bob = add_user(&store).await;
    assert_eq!(set(bob, sooner.id, None).await, Err(StoreError::NotFound));
}

async fn needs_an_owner(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "one", 1).await;
    assert_eq!(
        store.create_chat(&chat).await,
        Err(StoreError::Conflict("id"))
    );
    let nobodys = Chat {
        id: ChatId::generate(),
        principal: store::Principal::of_account(UserId::generate()),
        ..chat
    };
    assert_eq!(store.create_chat(&nobodys).await, Err(StoreError::NotFound));
}

/// A writer locks a run and then its chat, a deletion the chat and then its runs.
#[tokio::test]
async fn a_deletion_that_loses_a_deadlock_is_repeated() {
    with_postgres(async |url: String| {
        let store = Store::open(&url).await.unwrap();
        let ann = add_user(&store).await;
        let chat = add_chat(&store, ann, "", 10).await;
        let turn = new_turn(&chat, None, "Hello", 20);
        store.begin_turn(&turn).await.unwrap();

        let mut writer = PgConnection::connect(&url).await.unwrap();
        // The deletion notices the deadlock first.
        writer
            .execute("SET deadlock_timeout = '1min'; BEGIN; UPDATE runs SET model = model")
            .await
            .unwrap();
        let delete = store.delete_chat(ann, chat.id);
        let write = async {
            let is_waiting = "SELECT count(*) FROM pg_stat_activity \
                              WHERE datname = current_database() AND wait_event_type = 'Lock'";
            let mut watcher = PgConnection::connect(&url).await.unwrap();
            for _ in 0..200 {
                let count = watcher.fetch_one(is_waiting).await.unwrap();
                if count.get::<i64, _>(0) > 0 {
                    break;
                }
                sleep(Duration::from_millis(5)).await;
            }
            writer
                .execute("UPDATE chats SET title = 'New'; COMMIT")
                .await
                .unwrap();
        };
        let (deleted, ()) = tokio::join!(delete, write);
        assert_eq!(deleted, Ok(()));
        let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
        let mut counted = 0;
        for _ in 0..200 {
            let row = writer.fetch_one(deadlocks).await.unwrap();
            counted = row.get::<i64, _>(0);
            if counted > 0 {
                break;
            }
            sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(counted, 1, "there was a deadlock");
    })
    .await;
}
