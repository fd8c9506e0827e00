//! Configured model servers.

use domain::ConnectionId;
use store::{Connection, Store, StoreError};

on_every_database!(reads_back_what_was_made, changes_models, changes_trust, deletes);

fn connection(name: &str, created_at: i64) -> Connection {
    Connection {
        id: ConnectionId::generate(),
        name: name.to_owned(),
        base_url: "http://127.0.0.1:11434/v1".to_owned(),
        sealed_key: Some(vec![0, 255, 1, 0]),
        models: vec!["qwen3:8b".to_owned(), "модель".to_owned()],
        trusted: false,
        created_at,
    }
}

async fn reads_back_what_was_made(store: Store) {
    let late = connection("late", 20);
    let early = Connection { sealed_key: None, models: vec![], trusted: true, ..connection("early", 10) };
    store.create_connection(&late).await.unwrap();
    store.create_connection(&early).await.unwrap();
    assert_eq!(store.create_connection(&early).await, Err(StoreError::Conflict("id")));
    assert_eq!(store.connections().await.unwrap(), [early, late]);
}

async fn changes_models(store: Store) {
    let connection = connection("one", 10);
    store.create_connection(&connection).await.unwrap();
    let models = vec!["a\0b".to_owned()];
    store.set_connection_models(connection.id, &models).await.unwrap();
    assert_eq!(store.connections().await.unwrap(), [Connection { models, ..connection }]);
    let nowhere = store.set_connection_models(ConnectionId::generate(), &[]).await;
    assert_eq!(nowhere, Err(StoreError::NotFound));
}

async fn changes_trust(store: Store) {
    let connection = connection("one", 10);
    store.create_connection(&connection).await.unwrap();
    store.set_connection_trusted(connection.id, true).await.unwrap();
    assert_eq!(store.connections().await.unwrap(), [Connection { trusted: true, ..connection }]);
    let nowhere = store.set_connection_trusted(ConnectionId::generate(), true).await;
    assert_eq!(nowhere, Err(StoreError::NotFound));
}

async fn deletes(store: Store) {
    let (one, two) = (connection("one", 10), connection("two", 20));
    store.create_connection(&one).await.unwrap();
    store.create_connection(&two).await.unwrap();
    store.delete_connection(one.id).await.unwrap();
    assert_eq!(store.delete_connection(one.id).await, Err(StoreError::NotFound));
    assert_eq!(store.connections().await.unwrap(), [two]);
}
