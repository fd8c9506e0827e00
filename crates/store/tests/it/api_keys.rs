//! Bearer keys.

use domain::{ApiKeyId, UserId};
use store::{ApiKey, ApiKeyRights, KeyScope, NewApiKey, NewSecret, Store, StoreError};

use crate::fixtures::add_user;

on_every_database!(
    names_its_user,
    remembers_its_use,
    is_deleted_by_its_owner_only,
    keeps_its_rights,
    gets_another_secret,
    forgets_secrets_whose_time_is_up,
    reports_invalidated_secrets
);

async fn add_key(store: &Store, user: UserId, secret: u8, created_at: i64) -> ApiKey {
    let id = ApiKeyId::generate();
    let name = format!("key {secret}");
    let prefix = format!("gh_{secret}");
    let key = NewApiKey {
        id,
        user,
        name: name.clone(),
        prefix: prefix.clone(),
        secret_hash: [secret; 32],
        created_at,
        rights: ApiKeyRights::default(),
        sealed_signing_key: None,
    };
    store.create_api_key(&key).await.unwrap();
    ApiKey {
        id,
        name,
        prefix,
        created_at,
        last_used_at: None,
        rights: ApiKeyRights::default(),
        signs: false,
        old_until: None,
    }
}

async fn names_its_user(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let second = add_key(&store, ann, 2, 20).await;
    let first = add_key(&store, ann, 1, 10).await;
    let other = add_key(&store, bob, 3, 15).await;
    assert_eq!(store.api_keys(ann).await.unwrap(), [first.clone(), second]);
    assert_eq!(store.api_keys(bob).await.unwrap(), [other]);
    let holder = store.key_holder(&[1; 32]).await.unwrap().unwrap();
    assert_eq!(
        (holder.key, holder.user),
        (first.id, store.user(ann).await.unwrap())
    );
    assert_eq!(
        (holder.rights, holder.old_until),
        (ApiKeyRights::default(), None)
    );
    assert_eq!(store.key_holder(&[9; 32]).await, Ok(None));
}

async fn remembers_its_use(store: Store) {
    let ann = add_user(&store).await;
    let used = add_key(&store, ann, 1, 10).await;
    let unused = add_key(&store, ann, 2, 20).await;
    store.touch_api_key(used.id, 55).await.unwrap();
    store.touch_api_key(ApiKeyId::generate(), 66).await.unwrap();
    let used = ApiKey {
        last_used_at: Some(55),
        ..used
    };
    assert_eq!(store.api_keys(ann).await.unwrap(), [used, unused]);
}

async fn is_deleted_by_its_owner_only(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let key = add_key(&store, ann, 1, 10).await;
    assert_eq!(
        store.delete_api_key(bob, key.id, 20).await,
        Err(StoreError::NotFound)
    );
    assert!(store.key_holder(&[1; 32]).await.unwrap().is_some());
    store.delete_api_key(ann, key.id, 20).await.unwrap();
    assert_eq!(store.key_holder(&[1; 32]).await, Ok(None));
    assert_eq!(
        store.delete_api_key(ann, key.id, 20).await,
        Err(StoreError::NotFound)
    );
}

async fn keeps_its_rights(store: Store) {
    let ann = add_user(&store).await;
    let rights = ApiKeyRights {
        scopes: Some(vec![KeyScope::Chat, KeyScope::Read]),
        models: Some(vec!["glasshouse/agent".to_owned()]),
        expires_at: Some(99),
        front_end: true,
    };
    let new = NewApiKey {
        id: ApiKeyId::generate(),
        user: ann,
        name: "x".to_owned(),
        prefix: "gh_x".to_owned(),
        secret_hash: [7; 32],
        created_at: 5,
        rights: rights.clone(),
        sealed_signing_key: Some(vec![1, 2]),
    };
    store.create_api_key(&new).await.unwrap();
    let kept = store.api_key(ann, new.id).await.unwrap();
    assert_eq!((&kept.rights, kept.signs), (&rights, true));
    let holder = store.key_holder(&[7; 32]).await.unwrap().unwrap();
    assert_eq!(
        (holder.rights, holder.sealed_signing_key),
        (rights, Some(vec![1, 2]))
    );
}

async fn gets_another_secret(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let key = add_key(&store, ann, 1, 10).await;
    let new = |secret, old_until| NewSecret {
        prefix: "gh_n".to_owned(),
        secret_hash: [secret; 32],
        old_until,
    };
    let refused = store.rotate_api_key(bob, key.id, &new(2, None), 20).await;
    assert_eq!(refused, Err(StoreError::NotFound));
    store
        .rotate_api_key(ann, key.id, &new(2, Some(50)), 20)
        .await
        .unwrap();
    let until = async |secret: u8| {
        let holder = store.key_holder(&[secret; 32]).await.unwrap();
        holder.map(|holder| holder.old_until)
    };
    assert_eq!(
        (until(1).await, until(2).await),
        (Some(Some(50)), Some(None))
    );
    // Only one before is ever good.
    store
        .rotate_api_key(ann, key.id, &new(3, Some(60)), 30)
        .await
        .unwrap();
    assert_eq!(
        (until(1).await, until(2).await, until(3).await),
        (None, Some(Some(60)), Some(None))
    );
    store
        .rotate_api_key(ann, key.id, &new(4, None), 40)
        .await
        .unwrap();
    assert_eq!((until(3).await, until(4).await), (None, Some(None)));
    assert_eq!(store.api_key(ann, key.id).await.unwrap().prefix, "gh_n");
}

async fn forgets_secrets_whose_time_is_up(store: Store) {
    let ann = add_user(&store).await;
    let key = add_key(&store, ann, 1, 10).await;
    let new = NewSecret {
        prefix: "gh_n".to_owned(),
        secret_hash: [2; 32],
        old_until: Some(50),
    };
    store.rotate_api_key(ann, key.id, &new, 20).await.unwrap();
    let is_good = async |secret: u8| store.key_holder(&[secret; 32]).await.unwrap().is_some();
    store.forget_secret(&[1; 32], &[9; 32]).await.unwrap();
    assert_eq!(
        (is_good(1).await, is_good(2).await, is_good(9).await),
        (false, true, false)
    );
    store.forget_secret(&[2; 32], &[9; 32]).await.unwrap();
    assert!(!is_good(2).await);
    assert_eq!(store.api_keys(ann).await.unwrap().len(), 1);
}

async fn reports_invalidated_secrets(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let key = add_key(&store, ann, 1, 10).await;
    let other = add_key(&store, ann, 8, 10).await;
    let over = async |now: i64| {
        let hashes = store.ended_secrets(0, now).await.unwrap();
        let mut first: Vec<u8> = hashes.iter().map(|hash| hash[0]).collect();
        first.sort_unstable();
        first
    };
    let new = |secret, old_until| NewSecret {
        prefix: "gh_n".to_owned(),
        secret_hash: [secret; 32],
        old_until,
    };
    let refused = store.rotate_api_key(bob, key.id, &new(2, None), 20).await;
    assert_eq!(
        (refused, over(99).await),
        (Err(StoreError::NotFound), vec![])
    );
    store
        .rotate_api_key(ann, key.id, &new(2, Some(50)), 20)
        .await
        .unwrap();
    assert_eq!((over(49).await, over(50).await), (vec![], vec![1]));
    // The one before the last is over at once, whatever time it was given.
    store
        .rotate_api_key(ann, key.id, &new(3, Some(60)), 30)
        .await
        .unwrap();
    assert_eq!((over(30).await, over(60).await), (vec![1], vec![1, 2]));
    store
        .rotate_api_key(ann, key.id, &new(4, None), 40)
        .await
        .unwrap();
    assert_eq!(over(40).await, [1, 2, 3]);
    store.delete_api_key(ann, other.id, 45).await.unwrap();
    store.delete_api_key(ann, key.id, 46).await.unwrap();
    assert_eq!(
        (over(45).await, over(46).await),
        (vec![1, 2, 3, 8], vec![1, 2, 3, 4, 8])
    );
    assert_eq!(store.purge_ended_secrets(60_040).await, Ok(3));
    assert_eq!(over(60_040).await, [4, 8]);
}
