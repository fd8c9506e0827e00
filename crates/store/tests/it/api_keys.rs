//! Bearer keys.

use domain::{ApiKeyId, UserId};
use store::{ApiKey, NewApiKey, Store, StoreError};

use crate::samples::add_user;

on_every_database!(names_its_user, remembers_its_use, is_deleted_by_its_owner_only);

async fn add_key(store: &Store, user: UserId, secret: u8, created_at: i64) -> ApiKey {
    let id = ApiKeyId::generate();
    let (name, prefix) = (format!("key {secret}"), format!("gh_{secret}"));
    let key = NewApiKey {
        id,
        user,
        name: name.clone(),
        prefix: prefix.clone(),
        secret_hash: [secret; 32],
        created_at,
    };
    store.create_api_key(&key).await.unwrap();
    ApiKey { id, name, prefix, created_at, last_used_at: None }
}

async fn names_its_user(store: Store) {
    let (ann, bob) = (add_user(&store).await, add_user(&store).await);
    let second = add_key(&store, ann, 2, 20).await;
    let first = add_key(&store, ann, 1, 10).await;
    let other = add_key(&store, bob, 3, 15).await;
    assert_eq!(store.api_keys(ann).await.unwrap(), [first.clone(), second]);
    assert_eq!(store.api_keys(bob).await.unwrap(), [other]);
    let (id, user) = store.api_key_user(&[1; 32]).await.unwrap().unwrap();
    assert_eq!((id, user), (first.id, store.user(ann).await.unwrap()));
    assert_eq!(store.api_key_user(&[9; 32]).await, Ok(None));
}

async fn remembers_its_use(store: Store) {
    let ann = add_user(&store).await;
    let (used, unused) = (add_key(&store, ann, 1, 10).await, add_key(&store, ann, 2, 20).await);
    store.touch_api_key(used.id, 55).await.unwrap();
    store.touch_api_key(ApiKeyId::generate(), 66).await.unwrap();
    let used = ApiKey { last_used_at: Some(55), ..used };
    assert_eq!(store.api_keys(ann).await.unwrap(), [used, unused]);
}

async fn is_deleted_by_its_owner_only(store: Store) {
    let (ann, bob) = (add_user(&store).await, add_user(&store).await);
    let key = add_key(&store, ann, 1, 10).await;
    assert_eq!(store.delete_api_key(bob, key.id).await, Err(StoreError::NotFound));
    assert!(store.api_key_user(&[1; 32]).await.unwrap().is_some());
    store.delete_api_key(ann, key.id).await.unwrap();
    assert_eq!(store.api_key_user(&[1; 32]).await, Ok(None));
    assert_eq!(store.delete_api_key(ann, key.id).await, Err(StoreError::NotFound));
}
