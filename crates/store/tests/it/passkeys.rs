//! Passkeys: each challenge is used once, and two of one passkey are noticed, whatever all do at once.

use domain::{PasskeyId, UserId};
use store::{NewPasskey, Store, StoreError, UsedChallenge};
use tokio::task::JoinSet;

use crate::fixtures::add_user;

on_every_database!(
    a_passkey_is_kept_once,
    a_challenge_is_used_by_one,
    a_count_that_goes_back_shuts_it,
    they_are_removed_by_their_owner_only,
    there_is_an_end_to_them,
);

fn challenge(number: u8) -> UsedChallenge {
    UsedChallenge {
        hash: [number; 32],
        expires_at: 100,
    }
}

fn new(owner: UserId, credential: u8) -> NewPasskey {
    NewPasskey {
        id: PasskeyId::generate(),
        owner,
        credential_id: vec![credential],
        public_key: vec![1, 2, 3],
        count: 0,
        name: "Phone".to_owned(),
        host: "localhost".to_owned(),
        created_at: 5,
    }
}

async fn a_passkey_is_kept_once(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    assert_eq!(store.has_passkeys().await, Ok(false));
    store
        .add_passkey(&new(ann, 1), challenge(1), 20)
        .await
        .unwrap();
    assert_eq!(store.has_passkeys().await, Ok(true));
    let again = store.add_passkey(&new(bob, 1), challenge(2), 20).await;
    assert_eq!(again, Err(StoreError::Conflict("passkey")));
    // What was refused has used nothing up.
    let used = store.add_passkey(&new(bob, 2), challenge(1), 20).await;
    assert_eq!(used, Err(StoreError::Conflict("challenge")));
    store
        .add_passkey(&new(bob, 2), challenge(2), 20)
        .await
        .unwrap();
    let nobody = store
        .add_passkey(&new(UserId::generate(), 3), challenge(3), 20)
        .await;
    assert_eq!(nobody, Err(StoreError::NotFound));
    let holder = store.passkey_holder(&[2]).await.unwrap().unwrap();
    assert_eq!(
        (
            holder.owner.user.id,
            holder.public_key,
            holder.owner.suspended
        ),
        (bob, vec![1, 2, 3], false)
    );
    assert_eq!(store.passkey_holder(&[3]).await, Ok(None));
    assert_eq!(store.passkeys(ann).await.unwrap().len(), 1);
}

async fn a_challenge_is_used_by_one(store: Store) {
    let ann = add_user(&store).await;
    let key = new(ann, 1);
    store.add_passkey(&key, challenge(1), 20).await.unwrap();
    let mut all = JoinSet::new();
    for _ in 0..8 {
        let store = store.clone();
        let id = key.id;
        all.spawn(async move { store.use_passkey(id, 1, challenge(2), 10).await });
    }
    let all = all.join_all().await;
    assert_eq!(all.iter().filter(|one| one.is_ok()).count(), 1, "{all:?}");
    let passkey = &store.passkeys(ann).await.unwrap()[0];
    assert_eq!((passkey.last_used_at, passkey.copied_at), (Some(10), None));
    assert_eq!(store.purge_used_challenges(99).await, Ok(0));
    assert_eq!(store.purge_used_challenges(100).await, Ok(2));
}

async fn a_count_that_goes_back_shuts_it(store: Store) {
    let ann = add_user(&store).await;
    let counted = new(ann, 1);
    let uncounted = new(ann, 2);
    store.add_passkey(&counted, challenge(1), 20).await.unwrap();
    store
        .add_passkey(&uncounted, challenge(2), 20)
        .await
        .unwrap();
    for number in 3..6 {
        store
            .use_passkey(uncounted.id, 0, challenge(number), 10)
            .await
            .unwrap();
    }
    store
        .use_passkey(counted.id, u32::MAX - 1, challenge(6), 10)
        .await
        .unwrap();
    let copied = Err(StoreError::Conflict("copied"));
    assert_eq!(
        store
            .use_passkey(counted.id, u32::MAX - 1, challenge(7), 11)
            .await,
        copied
    );
    // Also the one that goes on counting.
    assert_eq!(
        store
            .use_passkey(counted.id, u32::MAX, challenge(8), 12)
            .await,
        copied
    );
    assert_eq!(
        store
            .use_passkey(counted.id, u32::MAX, challenge(8), 13)
            .await,
        Err(StoreError::Conflict("challenge"))
    );
    assert_eq!(store.passkeys(ann).await.unwrap()[0].copied_at, Some(11));
    assert_eq!(
        store
            .use_passkey(PasskeyId::generate(), 1, challenge(9), 13)
            .await,
        Err(StoreError::NotFound)
    );
}

async fn they_are_removed_by_their_owner_only(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let one = new(ann, 1);
    let other = new(ann, 2);
    store.add_passkey(&one, challenge(1), 20).await.unwrap();
    store.add_passkey(&other, challenge(2), 20).await.unwrap();
    assert_eq!(
        store.remove_passkey(bob, one.id).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store.remove_passkey(ann, one.id).await,
        Ok("Phone".to_owned())
    );
    assert_eq!(
        store.remove_passkeys(bob, 5).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(store.remove_passkeys(ann, 5).await, Ok(1));
    assert_eq!(store.passkeys(ann).await, Ok(vec![]));
}

async fn there_is_an_end_to_them(store: Store) {
    let ann = add_user(&store).await;
    let mut all = JoinSet::new();
    for number in 0..6 {
        let store = store.clone();
        all.spawn(async move {
            store
                .add_passkey(&new(ann, number), challenge(number), 3)
                .await
        });
    }
    let all = all.join_all().await;
    assert_eq!(all.iter().filter(|one| one.is_ok()).count(), 3, "{all:?}");
    assert!(all.contains(&Err(StoreError::Conflict("too many"))));
}
