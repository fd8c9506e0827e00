//! Fixtures of the writer's tests.

use domain::{RunId, UserId};

use crate::{NewRun, NewUser, Principal, Store, UserRole};

/// An owner of runs.
pub(super) async fn add_user(store: &Store) -> UserId {
    let user = NewUser {
        id: UserId::generate(),
        email: "a@x".to_owned(),
        name: String::new(),
        role: UserRole::User,
        password_hash: String::new(),
        created_at: 0,
    };
    store.create_user(&user).await.unwrap().id
}

/// A run of that owner, not stored yet.
pub(super) fn new_run(id: RunId, owner: UserId) -> NewRun {
    NewRun {
        id,
        principal: Principal::of_account(owner),
        key_models: None,
        chat: None,
        message: None,
        model: String::new(),
        started_at: 0,
        request: None,
        idempotency: None,
        origin: None,
        research: None,
        workspace: None,
    }
}
