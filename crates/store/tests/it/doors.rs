//! Links with which people choose a new password or make an account: each is good as often as it says, and no more.

use domain::{GroupId, InvitationId, SessionId, UserId};
use store::{Group, NewInvitation, NewPasswordReset, NewSession, Store, StoreError, UserRole};
use tokio::task::JoinSet;

use crate::fixtures::{LONG, add_user, new_user};

on_every_database!(
    a_reset_is_used_once_under_concurrency,
    a_reset_ends_sessions_and_earlier_links,
    an_invitation_has_a_number_of_uses,
    an_invitation_may_be_for_one_address,
    an_invitation_is_used_up_by_an_address_that_is_taken,
    an_invitation_gives_a_role_and_groups,
    a_deleted_group_is_left_out,
    an_address_has_one_invitation,
    a_new_link_replaces_the_old_one,
    old_links_are_forgotten,
    a_hash_is_replaced_where_it_is_still_there,
);

fn reset(user: UserId, token: u8) -> NewPasswordReset {
    NewPasswordReset {
        user,
        token_hash: [token; 32],
        expires_at: 100,
    }
}

fn invitation(token: u8, email: Option<&str>, most_uses: i64) -> NewInvitation {
    NewInvitation {
        id: InvitationId::generate(),
        token_hash: [token; 32],
        email: email.map(str::to_owned),
        most_uses,
        role: UserRole::User,
        groups: Vec::new(),
        created_at: 1,
        expires_at: 100,
    }
}

async fn a_reset_is_used_once_under_concurrency(store: Store) {
    let user = add_user(&store).await;
    store.put_password_reset(&reset(user, 1)).await.unwrap();
    assert_eq!(
        store.reset_password(&[1; 32], "late", 100).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store.reset_password(&[2; 32], "foreign", 5).await,
        Err(StoreError::NotFound)
    );
    let email = store.password_reset(&[1; 32], 99).await.unwrap();
    let mut callers = JoinSet::new();
    for number in 0..10 {
        let store = store.clone();
        callers.spawn(async move {
            store
                .reset_password(&[1; 32], &format!("hash {number}"), 99)
                .await
        });
    }
    let used: Vec<_> = callers
        .join_all()
        .await
        .into_iter()
        .filter_map(Result::ok)
        .collect();
    assert_eq!(used, [user]);
    assert!(
        store
            .user_by_email(&email)
            .await
            .unwrap()
            .password_hash
            .starts_with("hash ")
    );
    assert_eq!(
        store
            .put_password_reset(&reset(UserId::generate(), 3))
            .await,
        Err(StoreError::NotFound)
    );
}

async fn a_reset_ends_sessions_and_earlier_links(store: Store) {
    let user = add_user(&store).await;
    let other = add_user(&store).await;
    for (owner, token) in [(user, 1), (other, 2)] {
        let session = NewSession {
            id: SessionId::generate(),
            user: owner,
            token_hash: [token; 32],
            user_agent: None,
            address: None,
            created_at: 1,
            expires_at: 1_000,
        };
        store.create_session(&session).await.unwrap();
    }
    store.put_password_reset(&reset(user, 1)).await.unwrap();
    store.put_password_reset(&reset(user, 2)).await.unwrap();
    assert_eq!(
        store.reset_password(&[1; 32], "new", 5).await,
        Err(StoreError::NotFound)
    );
    assert!(
        store
            .session_user(&[1; 32], 5, LONG)
            .await
            .unwrap()
            .is_some()
    );
    store.reset_password(&[2; 32], "new", 5).await.unwrap();
    assert_eq!(store.session_user(&[1; 32], 5, LONG).await, Ok(None));
    assert!(
        store
            .session_user(&[2; 32], 5, LONG)
            .await
            .unwrap()
            .is_some()
    );

    // Whoever remembers their password after all leaves no link behind.
    store.put_password_reset(&reset(user, 3)).await.unwrap();
    store
        .change_password(user, "new", "newer", SessionId::generate(), 6)
        .await
        .unwrap();
    assert_eq!(
        store.password_reset(&[3; 32], 6).await,
        Err(StoreError::NotFound)
    );
}

async fn an_invitation_has_a_number_of_uses(store: Store) {
    let new = invitation(1, None, 3);
    store.create_invitation(&new).await.unwrap();
    let mut callers = JoinSet::new();
    for number in 0..10 {
        let store = store.clone();
        let user = new_user(&format!("{number}@x"));
        callers.spawn(async move { store.create_invited_user(&user, &[1; 32], 99).await });
    }
    let made: Vec<_> = callers
        .join_all()
        .await
        .into_iter()
        .filter_map(Result::ok)
        .collect();
    assert_eq!(made.len(), 3);
    assert!(
        made.iter()
            .all(|made| made.user.role == UserRole::User && made.groups.is_empty())
    );
    assert_eq!(store.accounts().await.unwrap().len(), 3);
    let listed = store.invitations().await.unwrap();
    assert_eq!(
        (listed.len(), listed[0].uses, listed[0].most_uses),
        (1, 3, 3)
    );
    assert_eq!(store.invitee(&[1; 32], 99).await, Err(StoreError::NotFound));

    let late = invitation(2, None, 3);
    store.create_invitation(&late).await.unwrap();
    let refused = store
        .create_invited_user(&new_user("late@x"), &[2; 32], 100)
        .await;
    assert_eq!(refused, Err(StoreError::NotFound));
    store.delete_invitation(late.id).await.unwrap();
    assert_eq!(
        store.delete_invitation(late.id).await,
        Err(StoreError::NotFound)
    );
    let refused = store
        .create_invited_user(&new_user("late@x"), &[2; 32], 50)
        .await;
    assert_eq!(refused, Err(StoreError::NotFound));
}

async fn an_invitation_may_be_for_one_address(store: Store) {
    store
        .create_invitation(&invitation(1, Some("Bob@X"), 1))
        .await
        .unwrap();
    let eve = store
        .create_invited_user(&new_user("eve@x"), &[1; 32], 5)
        .await;
    assert_eq!(eve, Err(StoreError::NotFound));
    assert_eq!(
        store.invitee(&[1; 32], 5).await,
        Ok(Some("Bob@X".to_owned()))
    );
    store
        .create_invited_user(&new_user("bob@x"), &[1; 32], 5)
        .await
        .unwrap();
}

async fn an_invitation_is_used_up_by_an_address_that_is_taken(store: Store) {
    store.create_user(&new_user("bob@x")).await.unwrap();
    store
        .create_invitation(&invitation(1, None, 1))
        .await
        .unwrap();
    let taken = store
        .create_invited_user(&new_user("BOB@x"), &[1; 32], 5)
        .await;
    assert_eq!(taken, Err(StoreError::Conflict("email")));
    assert_eq!(store.invitations().await.unwrap()[0].uses, 1);
    let eve = store
        .create_invited_user(&new_user("eve@x"), &[1; 32], 5)
        .await;
    assert_eq!(eve, Err(StoreError::NotFound));
}

async fn add_group(store: &Store, name: &str) -> GroupId {
    let group = Group {
        id: GroupId::generate(),
        name: name.to_owned(),
        description: String::new(),
        provider_name: None,
        created_at: 1,
    };
    store.create_group(&group, 100).await.unwrap();
    group.id
}

async fn an_invitation_gives_a_role_and_groups(store: Store) {
    let finance = add_group(&store, "Finance").await;
    let new = NewInvitation {
        role: UserRole::Admin,
        groups: vec![finance, finance],
        ..invitation(1, None, 2)
    };
    store.create_invitation(&new).await.unwrap();
    let listed = store.invitations().await.unwrap();
    assert_eq!(
        (listed[0].role, &listed[0].groups),
        (UserRole::Admin, &vec![finance])
    );

    // An existing account is not changed.
    store.create_user(&new_user("bob@x")).await.unwrap();
    let taken = store
        .create_invited_user(&new_user("bob@x"), &[1; 32], 5)
        .await;
    assert_eq!(taken, Err(StoreError::Conflict("email")));
    let bob = store.user_by_email("bob@x").await.unwrap().user;
    assert_eq!(bob.role, UserRole::User);
    let before = store.all_groups().await.unwrap();
    assert_eq!(before.members, []);

    let eve = store
        .create_invited_user(&new_user("eve@x"), &[1; 32], 5)
        .await
        .unwrap();
    assert_eq!(
        (eve.user.role, eve.invitation, &eve.groups),
        (UserRole::Admin, new.id, &vec![finance])
    );
    let after = store.all_groups().await.unwrap();
    assert_eq!(after.members, [(eve.user.id, finance)]);
    assert!(after.number > before.number, "servers reload it");

    let unknown = NewInvitation {
        groups: vec![GroupId::generate()],
        ..invitation(2, None, 1)
    };
    assert_eq!(
        store.create_invitation(&unknown).await,
        Err(StoreError::Conflict("group"))
    );
    assert_eq!(store.invitations().await.unwrap().len(), 1);
}

async fn a_deleted_group_is_left_out(store: Store) {
    let finance = add_group(&store, "Finance").await;
    let sales = add_group(&store, "Sales").await;
    let new = NewInvitation {
        groups: vec![finance, sales],
        ..invitation(1, None, 2)
    };
    store.create_invitation(&new).await.unwrap();
    store.delete_group(sales).await.unwrap();
    assert_eq!(store.invitations().await.unwrap()[0].groups, [finance]);
    let eve = store
        .create_invited_user(&new_user("eve@x"), &[1; 32], 5)
        .await
        .unwrap();
    assert_eq!(eve.groups, [finance]);
    store.delete_group(finance).await.unwrap();
    let bob = store
        .create_invited_user(&new_user("bob@x"), &[1; 32], 5)
        .await
        .unwrap();
    assert_eq!(bob.groups, []);
}

async fn an_address_has_one_invitation(store: Store) {
    let mut callers = JoinSet::new();
    for token in 0..10 {
        let store = store.clone();
        let email = if token % 2 == 0 { "bob@x" } else { "BOB@x" };
        let new = invitation(token, Some(email), 1);
        callers.spawn(async move { store.create_invitation(&new).await.unwrap() });
    }
    let replaced: Vec<_> = callers.join_all().await.into_iter().flatten().collect();
    assert_eq!(replaced.len(), 9);
    let listed = store.invitations().await.unwrap();
    assert_eq!(listed.len(), 1);
    assert!(!replaced.contains(&listed[0].id));

    // Invitations for others, for anyone, and used ones are kept.
    for (token, email) in [(20, Some("eve@x")), (21, None)] {
        let new = invitation(token, email, 1);
        assert_eq!(store.create_invitation(&new).await, Ok(vec![]));
    }
    store
        .create_invited_user(&new_user("eve@x"), &[20; 32], 5)
        .await
        .unwrap();
    let again = invitation(22, Some("eve@x"), 1);
    assert_eq!(store.create_invitation(&again).await, Ok(vec![]));
    assert_eq!(store.invitations().await.unwrap().len(), 4);
}

async fn a_new_link_replaces_the_old_one(store: Store) {
    let finance = add_group(&store, "Finance").await;
    let new = NewInvitation {
        role: UserRole::Admin,
        groups: vec![finance],
        ..invitation(1, Some("bob@x"), 1)
    };
    store.create_invitation(&new).await.unwrap();
    let renewed = store
        .renew_invitation(new.id, &[2; 32], 1_000)
        .await
        .unwrap();
    assert_eq!(
        (renewed.created_at, renewed.expires_at),
        (1_000, 1_099),
        "valid for as long as before"
    );
    assert_eq!(store.invitations().await.unwrap(), [renewed]);
    assert_eq!(store.invitee(&[1; 32], 5).await, Err(StoreError::NotFound));
    let bob = store
        .create_invited_user(&new_user("bob@x"), &[2; 32], 1_001)
        .await
        .unwrap();
    assert_eq!(
        (bob.user.role, bob.groups),
        (UserRole::Admin, vec![finance])
    );
    assert_eq!(
        store.renew_invitation(new.id, &[3; 32], 1_002).await,
        Err(StoreError::Conflict("invitation"))
    );
    store.delete_invitation(new.id).await.unwrap();
    assert_eq!(
        store.renew_invitation(new.id, &[3; 32], 1_003).await,
        Err(StoreError::NotFound)
    );
}

async fn old_links_are_forgotten(store: Store) {
    let user = add_user(&store).await;
    store.put_password_reset(&reset(user, 1)).await.unwrap();
    store
        .create_invitation(&invitation(1, None, 1))
        .await
        .unwrap();
    for (now, gone) in [(99, 0), (100, 1), (101, 0)] {
        assert_eq!(store.purge_password_resets(now).await, Ok(gone));
        assert_eq!(store.purge_invitations(now).await, Ok(gone));
    }
}

async fn a_hash_is_replaced_where_it_is_still_there(store: Store) {
    let user = add_user(&store).await;
    let email = store.user(user).await.unwrap().email;
    let old = store.user_by_email(&email).await.unwrap().password_hash;
    store
        .replace_password_hash(user, "another", "new")
        .await
        .unwrap();
    assert_eq!(
        store.user_by_email(&email).await.unwrap().password_hash,
        old
    );
    store
        .replace_password_hash(user, &old, "new")
        .await
        .unwrap();
    assert_eq!(
        store.user_by_email(&email).await.unwrap().password_hash,
        "new"
    );
}
