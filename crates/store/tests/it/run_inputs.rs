//! What came with a run, by chat.

use domain::RunId;
use serde_json::json;
use store::{Store, StoreError};

use crate::fixtures::{add_chat, add_user, new_turn};

on_every_database!(keeps_what_came_with_the_runs_of_a_chat);

async fn keeps_what_came_with_the_runs_of_a_chat(store: Store) {
    let owner = add_user(&store).await;
    let chat = add_chat(&store, owner, "a", 1).await;
    let other = add_chat(&store, owner, "b", 1).await;
    let mut runs = Vec::new();
    for (chat, now) in [(&chat, 20), (&chat, 10), (&other, 30)] {
        let turn = new_turn(chat, None, "?", now);
        store.begin_turn(&turn).await.unwrap();
        store
            .keep_run_input(turn.run.id, &json!({"n": now, "text": "\0 и"}))
            .await
            .unwrap();
        runs.push(turn.run.id);
    }
    let kept = |now: i64| json!({"n": now, "text": "\0 и"});
    let expected = vec![(runs[1], kept(10)), (runs[0], kept(20))];
    assert_eq!(store.run_inputs(chat.id).await, Ok(expected));
    assert_eq!(
        store.keep_run_input(RunId::generate(), &json!({})).await,
        Err(StoreError::NotFound)
    );
    assert!(matches!(
        store.keep_run_input(runs[0], &json!({})).await,
        Err(StoreError::Conflict(_))
    ));
    assert_eq!(store.run_input(runs[0]).await, Ok(Some(kept(20))));
    store.delete_chat(owner, chat.id).await.unwrap();
    assert_eq!(store.run_inputs(chat.id).await, Ok(vec![]));
    assert_eq!(store.run_input(runs[0]).await, Ok(None));
}
