//! Chats that others may read.

use domain::{ChatId, UserId};
use store::{Sharing, Store, StoreError};

use crate::fixtures::{add_chat, add_user};

on_every_database!(
    is_shared_by_name,
    is_open_to_all,
    ends_with_either,
    has_a_bound
);

async fn is_shared_by_name(store: Store) {
    let owner = add_user(&store).await;
    let reader = add_user(&store).await;
    let other = add_user(&store).await;
    let chat = add_chat(&store, owner, "Plans", 5).await;
    let newer = add_chat(&store, owner, "More", 9).await;
    let missing = Err(StoreError::NotFound);
    assert_eq!(store.shared_chat(reader, chat.id).await, missing);
    assert_eq!(
        store.add_reader(other, chat.id, reader, false, 10, 1).await,
        Err(StoreError::NotFound),
        "not theirs"
    );
    for id in [chat.id, chat.id, newer.id] {
        store
            .add_reader(owner, id, reader, false, 10, 1)
            .await
            .unwrap();
    }
    let shared = store.shared_chat(reader, chat.id).await.unwrap();
    assert_eq!(
        (&shared.chat, shared.owner_name.as_str()),
        (&chat, "Ann Example")
    );
    assert_eq!(store.shared_chat(other, chat.id).await, missing);
    assert_eq!(
        store.shared_chat(owner, chat.id).await,
        missing,
        "their own is not shared with them"
    );
    assert_eq!(
        store
            .chat(&store::Principal::of_account(reader), chat.id)
            .await,
        Err(StoreError::NotFound),
        "it is not the reader's"
    );
    let listed = store.chats_shared_with(reader, 10).await.unwrap();
    assert_eq!(
        listed.iter().map(|it| it.chat.id).collect::<Vec<_>>(),
        [newer.id, chat.id]
    );
    assert_eq!(store.chats_shared_with(reader, 1).await.unwrap().len(), 1);
    let sharing = store.sharing(owner, chat.id).await.unwrap();
    assert_eq!(
        sharing
            .readers
            .iter()
            .map(|it| it.user.id)
            .collect::<Vec<_>>(),
        [reader]
    );
    assert_eq!(
        store.sharing(reader, chat.id).await,
        Err(StoreError::NotFound)
    );

    assert_eq!(
        store.remove_reader(reader, chat.id, reader).await,
        missing_unit()
    );
    assert_eq!(
        store.remove_reader(owner, chat.id, other).await,
        missing_unit()
    );
    store.remove_reader(owner, chat.id, reader).await.unwrap();
    assert_eq!(store.shared_chat(reader, chat.id).await, missing);
    assert_eq!(store.sharing(owner, chat.id).await, Ok(Sharing::default()));
}

const fn missing_unit() -> Result<(), StoreError> {
    Err(StoreError::NotFound)
}

async fn is_open_to_all(store: Store) {
    let owner = add_user(&store).await;
    let other = add_user(&store).await;
    let chat = add_chat(&store, owner, "Plans", 5).await;
    assert_eq!(store.open_chat(other, chat.id, true).await, missing_unit());
    store.open_chat(owner, chat.id, true).await.unwrap();
    assert_eq!(store.shared_chat(other, chat.id).await.unwrap().chat, chat);
    assert!(
        store.chats_shared_with(other, 10).await.unwrap().is_empty(),
        "nobody is told of it"
    );
    assert!(store.sharing(owner, chat.id).await.unwrap().open);
    store.open_chat(owner, chat.id, false).await.unwrap();
    assert_eq!(
        store.shared_chat(other, chat.id).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(store.chat_of_any_owner(chat.id).await.unwrap().chat, chat);
    assert_eq!(
        store.chat_of_any_owner(ChatId::generate()).await,
        Err(StoreError::NotFound)
    );
}

async fn ends_with_either(store: Store) {
    let owner = add_user(&store).await;
    let reader = add_user(&store).await;
    let chat = add_chat(&store, owner, "Plans", 5).await;
    store
        .add_reader(owner, chat.id, reader, false, 10, 1)
        .await
        .unwrap();
    let gone = store
        .add_reader(owner, chat.id, UserId::generate(), false, 10, 1)
        .await;
    assert!(gone.is_err(), "nobody has this id");
    store.delete_chat(owner, chat.id).await.unwrap();
    assert!(
        store
            .chats_shared_with(reader, 10)
            .await
            .unwrap()
            .is_empty()
    );
}

async fn has_a_bound(store: Store) {
    let owner = add_user(&store).await;
    let chat = add_chat(&store, owner, "Plans", 5).await;
    let first = add_user(&store).await;
    let second = add_user(&store).await;
    store
        .add_reader(owner, chat.id, first, false, 1, 1)
        .await
        .unwrap();
    assert_eq!(
        store.add_reader(owner, chat.id, second, false, 1, 1).await,
        Err(StoreError::Conflict("readers"))
    );
    store
        .add_reader(owner, chat.id, first, false, 1, 1)
        .await
        .unwrap();
}
