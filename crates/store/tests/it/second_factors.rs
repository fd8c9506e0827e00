//! What people are asked for beside the password: each code is used once, whatever all do at once.

use domain::{SessionId, UserId};
use store::{NewSession, Store, StoreError};
use tokio::task::JoinSet;

use crate::fixtures::{LONG, add_user};

on_every_database!(
    a_second_factor_is_confirmed_and_then_stays,
    a_code_is_used_by_one,
    a_recovery_code_is_used_by_one,
    recovery_codes_are_replaced_together,
    turning_it_off_leaves_nothing,
);

async fn add_session(store: &Store, user: UserId, token: u8) -> SessionId {
    let id = SessionId::generate();
    let session = NewSession {
        id,
        user,
        token_hash: [token; 32],
        user_agent: None,
        address: None,
        created_at: 1,
        expires_at: 1_000,
    };
    store.create_session(&session).await.unwrap();
    id
}

/// Turned on at 5 with the code of step 7 and the recovery codes 1 and 2.
async fn turn_on(store: &Store, user: UserId) -> SessionId {
    let kept = add_session(store, user, 1).await;
    store.begin_second_factor(user, b"sealed").await.unwrap();
    store
        .confirm_second_factor(user, b"sealed", 7, &[[1; 32], [2; 32]], kept, 5)
        .await
        .unwrap();
    kept
}

async fn a_second_factor_is_confirmed_and_then_stays(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let own = add_session(&store, ann, 1).await;
    let other = add_session(&store, ann, 2).await;
    add_session(&store, bob, 3).await;
    store.begin_second_factor(ann, b"first").await.unwrap();
    store.begin_second_factor(ann, b"sealed").await.unwrap();
    assert_eq!(
        store.begun_second_factor(ann).await.unwrap().as_deref(),
        Some(&b"sealed"[..])
    );
    assert_eq!(
        store.second_factor(ann).await,
        Ok(None),
        "nothing is asked for yet"
    );
    assert_eq!(store.use_code(ann, 7).await, Err(StoreError::NotFound));
    let early = store
        .confirm_second_factor(ann, b"first", 7, &[], own, 5)
        .await;
    assert_eq!(
        early,
        Err(StoreError::NotFound),
        "another secret has taken its place"
    );
    store
        .confirm_second_factor(ann, b"sealed", 7, &[[1; 32], [2; 32]], own, 5)
        .await
        .unwrap();

    let factor = store.second_factor(ann).await.unwrap().unwrap();
    assert_eq!((factor.owner.user.id, factor.owner.suspended), (ann, false));
    assert_eq!(
        (factor.sealed_secret.as_slice(), factor.confirmed_at),
        (&b"sealed"[..], 5)
    );
    assert_eq!(factor.recovery_codes, 2);
    assert_eq!(store.begun_second_factor(ann).await, Ok(None));
    assert_eq!(
        store.begin_second_factor(ann, b"x").await,
        Err(StoreError::Conflict("second factor"))
    );
    let again = store
        .confirm_second_factor(ann, b"sealed", 9, &[], own, 6)
        .await;
    assert_eq!(again, Err(StoreError::NotFound));
    assert!(
        store
            .session_user(&[1; 32], 6, LONG)
            .await
            .unwrap()
            .is_some()
    );
    assert_eq!(
        store.session_user(&[2; 32], 6, LONG).await,
        Ok(None),
        "{other} has shown the password only"
    );
    assert!(
        store
            .session_user(&[3; 32], 6, LONG)
            .await
            .unwrap()
            .is_some()
    );

    assert_eq!(
        store.begin_second_factor(UserId::generate(), b"x").await,
        Err(StoreError::NotFound)
    );
    assert_eq!(store.second_factor(bob).await, Ok(None));
    let with: Vec<_> = store
        .accounts()
        .await
        .unwrap()
        .into_iter()
        .filter(|it| it.has_second_factor)
        .collect();
    assert_eq!(with.iter().map(|it| it.user.id).collect::<Vec<_>>(), [ann]);
}

async fn a_code_is_used_by_one(store: Store) {
    let ann = add_user(&store).await;
    turn_on(&store, ann).await;
    assert_eq!(
        store.use_code(ann, 7).await,
        Err(StoreError::NotFound),
        "it has turned this on"
    );
    assert_eq!(store.use_code(ann, 6).await, Err(StoreError::NotFound));
    let mut callers = JoinSet::new();
    for _ in 0..10 {
        let store = store.clone();
        callers.spawn(async move { store.use_code(ann, 8).await });
    }
    assert_eq!(
        callers
            .join_all()
            .await
            .into_iter()
            .filter(Result::is_ok)
            .count(),
        1
    );
    store.use_code(ann, 10).await.unwrap();
    assert_eq!(
        store.use_code(ann, 9).await,
        Err(StoreError::NotFound),
        "a later one was used"
    );
}

async fn a_recovery_code_is_used_by_one(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    turn_on(&store, ann).await;
    assert_eq!(
        store.use_recovery_code(bob, &[1; 32]).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store.use_recovery_code(ann, &[9; 32]).await,
        Err(StoreError::NotFound)
    );
    let mut callers = JoinSet::new();
    for _ in 0..10 {
        let store = store.clone();
        callers.spawn(async move { store.use_recovery_code(ann, &[1; 32]).await });
    }
    assert_eq!(
        callers
            .join_all()
            .await
            .into_iter()
            .filter(Result::is_ok)
            .count(),
        1
    );
    assert_eq!(
        store
            .second_factor(ann)
            .await
            .unwrap()
            .unwrap()
            .recovery_codes,
        1
    );
}

async fn recovery_codes_are_replaced_together(store: Store) {
    let ann = add_user(&store).await;
    assert_eq!(
        store.replace_recovery_codes(ann, &[[3; 32]]).await,
        Err(StoreError::NotFound)
    );
    turn_on(&store, ann).await;
    store.replace_recovery_codes(ann, &[[3; 32]]).await.unwrap();
    assert_eq!(
        store.use_recovery_code(ann, &[1; 32]).await,
        Err(StoreError::NotFound)
    );
    store.use_recovery_code(ann, &[3; 32]).await.unwrap();
}

async fn turning_it_off_leaves_nothing(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    assert_eq!(
        store.remove_second_factor(ann).await,
        Err(StoreError::NotFound)
    );
    turn_on(&store, ann).await;
    store.remove_second_factor(ann).await.unwrap();
    assert_eq!(store.second_factor(ann).await, Ok(None));
    assert_eq!(
        store.use_recovery_code(ann, &[1; 32]).await,
        Err(StoreError::NotFound)
    );
    assert!(
        store
            .session_user(&[1; 32], 6, LONG)
            .await
            .unwrap()
            .is_some(),
        "the person goes on"
    );

    assert_eq!(
        store.reset_second_factor(bob, 6).await,
        Err(StoreError::NotFound)
    );
    store.begin_second_factor(bob, b"sealed").await.unwrap();
    let kept = add_session(&store, bob, 2).await;
    store
        .confirm_second_factor(bob, b"sealed", 7, &[], kept, 5)
        .await
        .unwrap();
    store.reset_second_factor(bob, 6).await.unwrap();
    assert_eq!(store.second_factor(bob).await, Ok(None));
    assert_eq!(
        store.session_user(&[2; 32], 6, LONG).await,
        Ok(None),
        "what was lost may be in use"
    );
}
