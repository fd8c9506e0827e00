//! What hooks look at is kept while a run goes on, and no longer.

use domain::RunId;
use store::{Store, StoreError};

use crate::fixtures::{add_chat, add_user, new_turn};

on_every_database!(keeps_hook_inputs);

async fn keeps_hook_inputs(store: Store) {
    let owner = add_user(&store).await;
    let chat = add_chat(&store, owner, "a", 1).await;
    let first = new_turn(&chat, None, "?", 10);
    let second = new_turn(&chat, None, "!", 20);
    for turn in [&first, &second] {
        store.begin_turn(turn).await.unwrap();
        store
            .keep_hook_input(turn.run.id, "call c1", "one")
            .await
            .unwrap();
    }
    let first = first.run.id;
    let second = second.run.id;
    store
        .keep_hook_input(first, "call c1", "two и\u{1}")
        .await
        .unwrap();
    store
        .keep_hook_input(first, "answer 1", "three")
        .await
        .unwrap();
    assert_eq!(
        store.hook_input(first, "call c1").await,
        Ok(Some("two и\u{1}".to_owned()))
    );
    assert_eq!(store.hook_input(first, "call c2").await, Ok(None));
    assert_eq!(
        store
            .keep_hook_input(RunId::generate(), "call c1", "")
            .await,
        Err(StoreError::NotFound)
    );
    store.forget_hook_inputs(first).await.unwrap();
    assert_eq!(store.hook_input(first, "answer 1").await, Ok(None));
    assert_eq!(
        store.purge_hook_inputs().await,
        Ok(0),
        "the other run goes on"
    );
    assert_eq!(
        store.hook_input(second, "call c1").await,
        Ok(Some("one".to_owned()))
    );
    store.delete_chat(owner, chat.id).await.unwrap();
    assert_eq!(store.hook_input(second, "call c1").await, Ok(None));
}
