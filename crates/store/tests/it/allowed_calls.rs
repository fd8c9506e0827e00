//! Tool calls that people have allowed for good.

use domain::{AllowedCallId, ChatId, UserId};
use serde_json::json;
use store::{AllowedCall, Store, StoreError};

use crate::fixtures::{add_chat, add_user};

on_every_database!(
    hold_in_their_chat_or_everywhere,
    go_with_their_chat,
    have_a_limit
);

async fn allow(store: &Store, owner: UserId, chat: Option<ChatId>, tool: &str) -> AllowedCall {
    let arguments = chat.map(|_| json!({"path": "/notes/*\0"}));
    let id = AllowedCallId::generate();
    let allowed = AllowedCall {
        id,
        owner,
        chat,
        tool: tool.to_owned(),
        arguments,
        created_at: 7,
    };
    store.allow_call(&allowed, 3).await.unwrap();
    allowed
}

async fn hold_in_their_chat_or_everywhere(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let here = add_chat(&store, ann, "a", 1).await;
    let there = add_chat(&store, ann, "b", 1).await;
    let everywhere = allow(&store, ann, None, "ls").await;
    let in_chat = allow(&store, ann, Some(here.id), "write_file").await;
    allow(&store, bob, None, "rm").await;
    let both = [everywhere.clone(), in_chat.clone()];
    assert_eq!(
        store.allowed_calls_in(ann, Some(here.id)).await.unwrap(),
        both
    );
    let alone = std::slice::from_ref(&everywhere);
    assert_eq!(
        store.allowed_calls_in(ann, Some(there.id)).await.unwrap(),
        alone
    );
    assert_eq!(store.allowed_calls_in(ann, None).await.unwrap(), alone);
    assert_eq!(store.allowed_calls(ann).await.unwrap(), both);
    assert_eq!(
        store.ask_again(bob, everywhere.id).await,
        Err(StoreError::NotFound)
    );
    store.ask_again(ann, everywhere.id).await.unwrap();
    assert_eq!(store.allowed_calls(ann).await.unwrap(), [in_chat]);
}

async fn go_with_their_chat(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "a", 1).await;
    allow(&store, ann, Some(chat.id), "ls").await;
    store.delete_chat(ann, chat.id).await.unwrap();
    assert_eq!(store.allowed_calls(ann).await.unwrap(), []);
}

async fn have_a_limit(store: Store) {
    let ann = add_user(&store).await;
    for tool in ["a", "b", "c"] {
        allow(&store, ann, None, tool).await;
    }
    let id = AllowedCallId::generate();
    let fourth = AllowedCall {
        id,
        owner: ann,
        chat: None,
        tool: "d".to_owned(),
        arguments: None,
        created_at: 7,
    };
    assert_eq!(
        store.allow_call(&fourth, 3).await,
        Err(StoreError::Conflict("limit"))
    );
}
