//! Accounts.

use domain::UserId;
use store::{NewUser, Store, StoreError, User, UserRole};
use tokio::task::JoinSet;

use crate::fixtures::{add_chat, new_user};

on_every_database!(
    reads_back_what_was_made,
    takes_an_address_once_in_any_case,
    makes_one_first_admin_of_fifty_callers,
    refuses_a_first_admin_after_any_user,
    hands_the_local_account_to_the_first_admin,
    replaces_nul,
);

async fn reads_back_what_was_made(store: Store) {
    assert!(!store.has_users().await.unwrap());
    let new = new_user("Ann@Example.org");
    let NewUser {
        id,
        email,
        name,
        role,
        created_at,
        ..
    } = new.clone();
    let user = User {
        id,
        email,
        name,
        role,
        created_at,
    };
    assert_eq!(store.create_user(&new).await.unwrap(), user);
    assert_eq!(store.user(user.id).await.unwrap(), user);
    let found = store.user_by_email("ann@EXAMPLE.org").await.unwrap();
    assert_eq!((found.user, found.password_hash), (user, new.password_hash));
    assert!(store.has_users().await.unwrap());
    assert_eq!(
        store.user(UserId::generate()).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store.user_by_email("bob@example.org").await,
        Err(StoreError::NotFound)
    );
}

async fn takes_an_address_once_in_any_case(store: Store) {
    store.create_user(&new_user("аня@пример.рф")).await.unwrap();
    let again = store.create_user(&new_user("АНЯ@Пример.РФ")).await;
    assert_eq!(again, Err(StoreError::Conflict("email")));
    store.create_user(&new_user("оля@пример.рф")).await.unwrap();
}

async fn makes_one_first_admin_of_fifty_callers(store: Store) {
    let mut callers = JoinSet::new();
    for number in 0..50 {
        let store = store.clone();
        callers.spawn(async move {
            store
                .create_first_admin(&new_user(&format!("{number}@x")))
                .await
        });
    }
    let (admins, refusals): (Vec<_>, Vec<_>) = callers
        .join_all()
        .await
        .into_iter()
        .partition(Result::is_ok);
    let admin = admins.first().unwrap().clone().unwrap();
    assert_eq!((admins.len(), admin.role), (1, UserRole::Admin));
    assert_eq!(store.user(admin.id).await.unwrap(), admin);
    assert!(
        refusals
            .iter()
            .all(|refusal| *refusal == Err(StoreError::Conflict("admin"))),
        "{refusals:?}"
    );
}

async fn refuses_a_first_admin_after_any_user(store: Store) {
    store.create_user(&new_user("ann@x")).await.unwrap();
    assert_eq!(
        store.create_first_admin(&new_user("bob@x")).await,
        Err(StoreError::Conflict("admin"))
    );
    assert_eq!(
        store.user_by_email("bob@x").await,
        Err(StoreError::NotFound)
    );
}

/// The account of `--auth none` has no password; whoever sets up gets it with its chats.
async fn hands_the_local_account_to_the_first_admin(store: Store) {
    let local = NewUser {
        role: UserRole::Admin,
        password_hash: String::new(),
        ..new_user("local@x")
    };
    store.create_user(&local).await.unwrap();
    assert!(!store.has_users().await.unwrap());
    let chat = add_chat(&store, local.id, "kept", 1).await;

    let admin = store.create_first_admin(&new_user("ann@x")).await.unwrap();
    assert_eq!(
        (admin.id, admin.email.as_str(), admin.role),
        (local.id, "ann@x", UserRole::Admin)
    );
    assert_eq!(store.first_admin().await, Ok(Some(admin.clone())));
    assert_eq!(
        store.user_by_email("ann@x").await.unwrap().password_hash,
        new_user("").password_hash
    );
    assert_eq!(
        store.user_by_email("local@x").await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store
            .chat(&store::Principal::of_account(admin.id), chat.id)
            .await,
        Ok(chat)
    );
    assert!(store.has_users().await.unwrap());
    assert_eq!(
        store.create_first_admin(&new_user("bob@x")).await,
        Err(StoreError::Conflict("admin"))
    );
}

async fn replaces_nul(store: Store) {
    let user = store
        .create_user(&NewUser {
            name: "a\0b".into(),
            ..new_user("n\0@x")
        })
        .await
        .unwrap();
    assert_eq!(
        (user.name.as_str(), user.email.as_str()),
        ("a\u{fffd}b", "n\u{fffd}@x")
    );
    assert_eq!(store.user_by_email("N\0@x").await.unwrap().user, user);
}
