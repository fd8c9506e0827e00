//! Agents that an administrator has defined.

use serde_json::json;
use store::{Store, StoreError};

on_every_database!(are_made_changed_and_forgotten);

async fn are_made_changed_and_forgotten(store: Store) {
    let first = json!({"instructions": "a\0b", "limits": {}});
    let second = json!({"instructions": "c"});
    store.create_agent("writer", &first, 7).await.unwrap();
    store.create_agent("editor", &second, 8).await.unwrap();
    assert_eq!(
        store.create_agent("writer", &second, 9).await,
        Err(StoreError::Conflict("agent"))
    );
    let both = [
        ("editor".to_owned(), second.clone()),
        ("writer".to_owned(), first),
    ];
    assert_eq!(store.agents().await.unwrap(), both);
    store.replace_agent("writer", &second).await.unwrap();
    store.delete_agent("editor").await.unwrap();
    assert_eq!(
        store.agents().await.unwrap(),
        [("writer".to_owned(), second.clone())]
    );
    assert_eq!(
        store.replace_agent("editor", &second).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store.delete_agent("editor").await,
        Err(StoreError::NotFound)
    );
}
