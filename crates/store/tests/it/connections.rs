//! Configured model servers.

use domain::{Capabilities, ConnectionId, ConnectionKeyId, ListedModel};
use serde_json::json;
use store::{Connection, ConnectionKey, Store, StoreError};

on_every_database!(
    reads_back_what_was_made,
    changes_models,
    changes_settings,
    deletes,
    keeps_keys
);

fn key(created_at: i64) -> ConnectionKey {
    ConnectionKey {
        id: ConnectionKeyId::generate(),
        sealed: vec![0, 255, 1, 0],
        weight: 3,
        created_at,
    }
}

fn connection(name: &str, created_at: i64) -> Connection {
    Connection {
        id: ConnectionId::generate(),
        name: name.to_owned(),
        kind: "openai".to_owned(),
        options: json!({}),
        base_url: "http://127.0.0.1:11434/v1".to_owned(),
        sealed_extras: None,
        keys: vec![key(1), key(2)],
        models: vec![ListedModel::named("qwen3:8b"), ListedModel::named("модель")],
        trusted: false,
        weight: 1,
        enabled: true,
        together: false,
        created_at,
    }
}

async fn reads_back_what_was_made(store: Store) {
    let late = connection("late", 20);
    let early = Connection {
        kind: "bedrock".to_owned(),
        options: json!({"region": "eu-central-1"}),
        sealed_extras: Some(vec![0, 255, 7]),
        keys: vec![],
        models: vec![],
        trusted: true,
        ..connection("early", 10)
    };
    store.create_connection(&late).await.unwrap();
    store.create_connection(&early).await.unwrap();
    assert_eq!(
        store.create_connection(&early).await,
        Err(StoreError::Conflict("id"))
    );
    assert_eq!(store.connections().await.unwrap(), [early, late]);
}

async fn changes_models(store: Store) {
    let connection = connection("one", 10);
    store.create_connection(&connection).await.unwrap();
    let abilities = Capabilities {
        vision: Some(true),
        tools: Some(false),
        ..Capabilities::default()
    };
    let models = vec![ListedModel {
        context_tokens: Some(8192),
        abilities,
        ..ListedModel::named("a\0b")
    }];
    store
        .set_connection_models(connection.id, &models)
        .await
        .unwrap();
    assert_eq!(
        store.connections().await.unwrap(),
        [Connection {
            models,
            ..connection
        }]
    );
    let nowhere = store
        .set_connection_models(ConnectionId::generate(), &[])
        .await;
    assert_eq!(nowhere, Err(StoreError::NotFound));
}

async fn changes_settings(store: Store) {
    let before = connection("one", 10);
    store.create_connection(&before).await.unwrap();
    let after = Connection {
        name: "two".to_owned(),
        kind: "azure".to_owned(),
        options: json!({"api_version": "2024-10-21"}),
        sealed_extras: Some(vec![1, 0]),
        base_url: "http://127.0.0.1:1/v1".to_owned(),
        trusted: true,
        weight: 0,
        enabled: false,
        together: true,
        ..before
    };
    store.set_connection(&after).await.unwrap();
    assert_eq!(store.connections().await.unwrap(), [after]);
    assert_eq!(
        store.set_connection(&connection("none", 1)).await,
        Err(StoreError::NotFound)
    );
}

async fn deletes(store: Store) {
    let one = connection("one", 10);
    let two = connection("two", 20);
    store.create_connection(&one).await.unwrap();
    store.create_connection(&two).await.unwrap();
    store.delete_connection(one.id).await.unwrap();
    assert_eq!(
        store.delete_connection(one.id).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(store.connections().await.unwrap(), [two]);
    let gone = store.delete_connection_key(one.id, one.keys[0].id).await;
    assert_eq!(gone, Err(StoreError::NotFound), "its keys went with it");
}

async fn keeps_keys(store: Store) {
    let one = connection("one", 10);
    let other = connection("other", 20);
    store.create_connection(&one).await.unwrap();
    store.create_connection(&other).await.unwrap();
    let third = key(3);
    store
        .create_connection_key(one.id, &third, 3)
        .await
        .unwrap();
    assert_eq!(
        store.create_connection_key(one.id, &key(4), 3).await,
        Err(StoreError::Conflict("keys"))
    );
    let nowhere = store
        .create_connection_key(ConnectionId::generate(), &key(4), 3)
        .await;
    assert_eq!(nowhere, Err(StoreError::NotFound));
    store
        .set_connection_key_weight(one.id, third.id, 7)
        .await
        .unwrap();
    store
        .delete_connection_key(one.id, one.keys[0].id)
        .await
        .unwrap();
    let keys = vec![
        one.keys[1].clone(),
        ConnectionKey {
            weight: 7,
            ..third.clone()
        },
    ];
    assert_eq!(
        store.connections().await.unwrap(),
        [Connection { keys, ..one }, other.clone()]
    );
    for foreign in [
        store.set_connection_key_weight(other.id, third.id, 1).await,
        store.delete_connection_key(other.id, third.id).await,
    ] {
        assert_eq!(foreign, Err(StoreError::NotFound));
    }
}
