//! Signed-in browsers.

use domain::{SessionId, UserId};
use store::{NewSession, Store, StoreError};

use crate::samples::add_user;

on_every_database!(
    is_valid_until_it_expires,
    ends_when_deleted,
    purges_the_expired,
    needs_a_user_and_a_token_of_its_own
);

fn new_session(user: UserId, token: u8, expires_at: i64) -> NewSession {
    NewSession { id: SessionId::generate(), user, token_hash: [token; 32], created_at: 1, expires_at }
}

async fn is_valid_until_it_expires(store: Store) {
    let user = add_user(&store).await;
    let session = new_session(user, 7, 100);
    store.create_session(&session).await.unwrap();
    let (id, found) = store.session_user(&[7; 32], 99).await.unwrap().unwrap();
    assert_eq!((id, found), (session.id, store.user(user).await.unwrap()));
    assert_eq!(store.session_user(&[7; 32], 100).await, Ok(None));
    assert_eq!(store.session_user(&[8; 32], 99).await, Ok(None));
}

async fn ends_when_deleted(store: Store) {
    let session = new_session(add_user(&store).await, 7, 100);
    store.create_session(&session).await.unwrap();
    store.delete_session(session.id).await.unwrap();
    assert_eq!(store.session_user(&[7; 32], 1).await, Ok(None));
    assert_eq!(store.delete_session(session.id).await, Ok(()));
}

async fn purges_the_expired(store: Store) {
    let user = add_user(&store).await;
    for (token, expires_at) in [(1, 10), (2, 20), (3, 30)] {
        store.create_session(&new_session(user, token, expires_at)).await.unwrap();
    }
    assert_eq!(store.purge_sessions(20).await, Ok(2));
    assert_eq!(store.purge_sessions(20).await, Ok(0));
    assert!(store.session_user(&[3; 32], 1).await.unwrap().is_some());
    assert_eq!(store.session_user(&[2; 32], 1).await, Ok(None));
}

async fn needs_a_user_and_a_token_of_its_own(store: Store) {
    let nobody = new_session(UserId::generate(), 1, 10);
    assert_eq!(store.create_session(&nobody).await, Err(StoreError::NotFound));
    let user = add_user(&store).await;
    store.create_session(&new_session(user, 1, 10)).await.unwrap();
    assert_eq!(store.create_session(&new_session(user, 1, 10)).await, Err(StoreError::Conflict("id")));
}
