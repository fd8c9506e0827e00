//! Signed-in browsers.

use domain::{SessionId, UserId};
use store::{NewSession, Session, SessionLifetime, Store, StoreError};

use crate::fixtures::{LONG, add_user};

on_every_database!(
    is_valid_until_it_expires,
    ends_when_it_is_ended,
    ends_all_but_one,
    ended_sessions_are_reported_and_purged,
    notes_its_use_once_a_minute,
    lasts_as_long_as_it_is_used,
    is_shown_to_its_person,
    needs_a_user_and_a_token_of_its_own
);

fn new_session(user: UserId, token: u8, expires_at: i64) -> NewSession {
    NewSession {
        id: SessionId::generate(),
        user,
        token_hash: [token; 32],
        user_agent: None,
        address: None,
        created_at: 1,
        expires_at,
    }
}

async fn is_valid_until_it_expires(store: Store) {
    let user = add_user(&store).await;
    let session = new_session(user, 7, 100);
    store.create_session(&session).await.unwrap();
    let (id, found) = store
        .session_user(&[7; 32], 99, LONG)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((id, found), (session.id, store.user(user).await.unwrap()));
    assert_eq!(store.session_user(&[7; 32], 100, LONG).await, Ok(None));
    assert_eq!(store.session_user(&[8; 32], 99, LONG).await, Ok(None));
    // It stays over if the clock goes back, even if only the server has noticed.
    assert_eq!(store.session_user(&[7; 32], 99, LONG).await, Ok(None));
    let other = new_session(user, 9, 100);
    store.create_session(&other).await.unwrap();
    assert_eq!(store.sessions_over(0, 100).await.unwrap().len(), 2);
    assert_eq!(store.session_user(&[9; 32], 99, LONG).await, Ok(None));
}

async fn ends_when_it_is_ended(store: Store) {
    let user = add_user(&store).await;
    let other = add_user(&store).await;
    let session = new_session(user, 7, 100);
    store.create_session(&session).await.unwrap();
    assert_eq!(
        store.end_session(other, session.id, 5).await,
        Err(StoreError::NotFound)
    );
    assert!(
        store
            .session_user(&[7; 32], 6, LONG)
            .await
            .unwrap()
            .is_some()
    );
    store.end_session(user, session.id, 5).await.unwrap();
    assert_eq!(store.session_user(&[7; 32], 1, LONG).await, Ok(None));
    assert_eq!(store.sessions(user, 1).await, Ok(vec![]));
    assert_eq!(
        store.end_session(user, session.id, 6).await,
        Err(StoreError::NotFound)
    );
}

async fn ends_all_but_one(store: Store) {
    let user = add_user(&store).await;
    let other = add_user(&store).await;
    let sessions = [
        new_session(user, 1, 100),
        new_session(user, 2, 100),
        new_session(other, 3, 100),
    ];
    for session in &sessions {
        store.create_session(session).await.unwrap();
    }
    store
        .end_sessions(user, Some(sessions[0].id), 5)
        .await
        .unwrap();
    assert_eq!(store.sessions_over(0, 5).await, Ok(vec![sessions[1].id]));
    store.end_sessions(user, None, 5).await.unwrap();
    assert_eq!(store.sessions(user, 5).await, Ok(vec![]));
    assert_eq!(store.sessions(other, 5).await.unwrap().len(), 1);
}

/// Another server looks a moment later, and must still find them.
async fn ended_sessions_are_reported_and_purged(store: Store) {
    let user = add_user(&store).await;
    let sessions =
        [(1, 10_000), (2, 500_000), (3, 500_000)].map(|(token, end)| new_session(user, token, end));
    for session in &sessions {
        store.create_session(session).await.unwrap();
    }
    let over = async |now| {
        let mut over = store.sessions_over(0, now).await.unwrap();
        over.sort_unstable();
        over
    };
    assert_eq!(over(9_999).await, []);
    assert_eq!(over(10_000).await, [sessions[0].id]);
    store
        .end_session(user, sessions[1].id, 20_000)
        .await
        .unwrap();
    assert_eq!(over(20_000).await, [sessions[0].id, sessions[1].id]);
    assert_eq!(store.purge_sessions(69_999).await, Ok(0));
    assert_eq!(store.purge_sessions(70_000).await, Ok(1));
    assert_eq!(store.purge_sessions(80_000).await, Ok(1));
    assert!(
        store
            .session_user(&[3; 32], 80_000, LONG)
            .await
            .unwrap()
            .is_some()
    );
}

async fn notes_its_use_once_a_minute(store: Store) {
    let user = add_user(&store).await;
    store
        .create_session(&new_session(user, 7, 500_000))
        .await
        .unwrap();
    for (now, last_used_at) in [
        (60_000, 1),
        (60_001, 60_001),
        (120_000, 60_001),
        (130_000, 130_000),
    ] {
        store
            .session_user(&[7; 32], now, LONG)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            store.sessions(user, now).await.unwrap()[0].last_used_at,
            last_used_at
        );
    }
}

async fn lasts_as_long_as_it_is_used(store: Store) {
    let user = add_user(&store).await;
    let lifetime = |unused_ms, max_ms| SessionLifetime { unused_ms, max_ms };
    let usual = lifetime(200_000, 500_000);
    let session = new_session(user, 7, usual.end(1, 1));
    store.create_session(&session).await.unwrap();
    let used = async |now, lifetime| {
        let found = store.session_user(&[7; 32], now, lifetime).await;
        found.unwrap().is_some()
    };
    // Each use extends it, but not for ever.
    for (now, end) in [(150_000, 350_000), (340_000, 500_001), (500_000, 500_001)] {
        assert!(used(now, usual).await);
        let sessions = store.sessions(user, now).await.unwrap();
        assert_eq!(sessions[0].expires_at, end);
    }
    // A shorter lifetime holds for it too, and what has ended stays so.
    store.shorten_sessions(usual).await.unwrap();
    assert!(used(500_000, usual).await);
    store
        .shorten_sessions(lifetime(200_000, 400_000))
        .await
        .unwrap();
    assert!(!used(500_000, usual).await);
    let ended = store.sessions_over(0, 500_000).await.unwrap();
    assert_eq!(ended, [session.id]);
    // Also for one without requests.
    let other = new_session(user, 8, 900_000);
    store.create_session(&other).await.unwrap();
    store
        .shorten_sessions(lifetime(100, 400_000))
        .await
        .unwrap();
    let sessions = store.sessions(user, 50).await.unwrap();
    assert_eq!(sessions[0].expires_at, 101);
}

async fn is_shown_to_its_person(store: Store) {
    let user = add_user(&store).await;
    let session = NewSession {
        user_agent: Some("Mozilla/5.0".to_owned()),
        address: Some("2001:db8::1".to_owned()),
        ..new_session(user, 7, 100)
    };
    store.create_session(&session).await.unwrap();
    let NewSession {
        id,
        user_agent,
        address,
        created_at,
        expires_at,
        ..
    } = session;
    let shown = Session {
        id,
        user_agent,
        address,
        created_at,
        last_used_at: created_at,
        expires_at,
    };
    assert_eq!(store.sessions(user, 99).await, Ok(vec![shown]));
    assert_eq!(store.sessions(user, 100).await, Ok(vec![]));
}

async fn needs_a_user_and_a_token_of_its_own(store: Store) {
    let nobody = new_session(UserId::generate(), 1, 10);
    assert_eq!(
        store.create_session(&nobody).await,
        Err(StoreError::NotFound)
    );
    let user = add_user(&store).await;
    store
        .create_session(&new_session(user, 1, 10))
        .await
        .unwrap();
    assert_eq!(
        store.create_session(&new_session(user, 1, 10)).await,
        Err(StoreError::Conflict("id"))
    );
}
