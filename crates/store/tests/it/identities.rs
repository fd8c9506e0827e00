//! Whom providers know as whom.

use domain::UserId;
use store::{AddressProof, NewUser, Store, StoreError, UserRole};

use crate::fixtures::add_user;

on_every_database!(
    a_name_at_a_provider_has_one_account,
    an_account_and_its_name_are_made_together,
    names_go_with_the_account,
);

const ISSUER: &str = "https://id.example";

fn new_user(email: &str) -> NewUser {
    NewUser {
        id: UserId::generate(),
        email: email.to_owned(),
        name: "Bob".to_owned(),
        role: UserRole::User,
        password_hash: "!".to_owned(),
        created_at: 1,
    }
}

async fn a_name_at_a_provider_has_one_account(store: Store) {
    let ann = add_user(&store).await;
    assert_eq!(store.identity(ISSUER, "7").await, Ok(None));
    assert_eq!(
        store
            .add_identity(ISSUER, "7", ann, 1)
            .await
            .unwrap()
            .user
            .id,
        ann
    );
    let bob = store
        .create_user_with_identity(
            &new_user("bob@example.org"),
            AddressProof::Proven,
            ISSUER,
            "8",
        )
        .await
        .unwrap();
    assert_eq!(
        store.identity(ISSUER, "7").await.unwrap().unwrap().user.id,
        ann
    );
    assert_eq!(store.identity(ISSUER, "8").await, Ok(Some(bob.clone())));
    assert_eq!(
        store.identity("https://other.example", "7").await,
        Ok(None),
        "another provider's seventh"
    );
    assert!(matches!(
        store.add_identity(ISSUER, "7", bob.user.id, 2).await,
        Err(StoreError::Conflict(_))
    ));
    assert_eq!(
        store.identity(ISSUER, "7").await.unwrap().unwrap().user.id,
        ann
    );
    // One person may have a name at several.
    store
        .add_identity("https://other.example", "7", ann, 3)
        .await
        .unwrap();
    assert_eq!(
        store.add_identity(ISSUER, "9", UserId::generate(), 4).await,
        Err(StoreError::NotFound)
    );
}

async fn an_account_and_its_name_are_made_together(store: Store) {
    let bob = new_user("bob@example.org");
    store
        .create_user_with_identity(&bob, AddressProof::Proven, ISSUER, "7")
        .await
        .unwrap();
    let other = new_user("carl@example.org");
    let taken = store
        .create_user_with_identity(&other, AddressProof::Proven, ISSUER, "7")
        .await;
    assert!(matches!(taken, Err(StoreError::Conflict(_))), "{taken:?}");
    assert!(
        store.user_by_email("carl@example.org").await.is_err(),
        "half of it is not left"
    );
    let taken = store
        .create_user_with_identity(
            &new_user("BOB@example.org"),
            AddressProof::Proven,
            ISSUER,
            "8",
        )
        .await;
    assert_eq!(taken, Err(StoreError::Conflict("email")));
    assert_eq!(store.identity(ISSUER, "8").await, Ok(None));
}

async fn names_go_with_the_account(store: Store) {
    let bob = new_user("bob@example.org");
    store
        .create_user_with_identity(&bob, AddressProof::Proven, ISSUER, "7")
        .await
        .unwrap();
    let suspend = store::AccountChange {
        suspended: Some(true),
        ..Default::default()
    };
    store
        .create_user(&NewUser {
            role: UserRole::Admin,
            ..new_user("ada@example.org")
        })
        .await
        .unwrap();
    store.change_account(bob.id, &suspend, 5).await.unwrap();
    assert_eq!(
        store
            .identity(ISSUER, "7")
            .await
            .unwrap()
            .unwrap()
            .suspended_at,
        Some(5)
    );
    store.delete_account(bob.id).await.unwrap();
    assert_eq!(store.identity(ISSUER, "7").await, Ok(None));
}
