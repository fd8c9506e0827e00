//! What administrators change of accounts, and that one of them is always left.

use domain::{ScheduleId, SessionId, UserId};
use store::{
    AccountChange, NewApiKey, NewSchedule, NewSession, NewUser, ScheduleContent, Store, StoreError,
    UserRole,
};
use tokio::task::JoinSet;

use crate::fixtures::{LONG, add_chat, add_user, new_turn, new_user, summary};

on_every_database!(
    changes_what_is_named_and_nothing_else,
    keeps_an_administrator_under_concurrency,
    counts_who_can_sign_in,
    suspends_sessions_keys_and_schedules,
    deletes_suspended_accounts_completely,
);

async fn admin(store: &Store, email: &str) -> UserId {
    store
        .create_user(&NewUser {
            role: UserRole::Admin,
            ..new_user(email)
        })
        .await
        .unwrap()
        .id
}

fn suspended(suspended: bool) -> AccountChange {
    AccountChange {
        suspended: Some(suspended),
        ..AccountChange::default()
    }
}

fn role(role: UserRole) -> AccountChange {
    AccountChange {
        role: Some(role),
        ..AccountChange::default()
    }
}

async fn changes_what_is_named_and_nothing_else(store: Store) {
    let ann = admin(&store, "ann@x").await;
    let bob = add_user(&store).await;
    let before = store
        .change_account(bob, &AccountChange::default(), 5)
        .await
        .unwrap();
    let change = AccountChange {
        email: Some("Bob@X".into()),
        ..AccountChange::default()
    };
    let after = store.change_account(bob, &change, 5).await.unwrap();
    assert_eq!(
        (
            after.user.email.as_str(),
            &after.user.name,
            after.suspended_at
        ),
        ("Bob@X", &before.user.name, None)
    );
    assert_eq!(store.user_by_email("bob@x").await.unwrap().user, after.user);
    let taken = AccountChange {
        email: Some("ANN@x".into()),
        ..AccountChange::default()
    };
    assert_eq!(
        store.change_account(bob, &taken, 5).await,
        Err(StoreError::Conflict("email"))
    );
    assert_eq!(
        store.change_account(UserId::generate(), &change, 5).await,
        Err(StoreError::NotFound)
    );
    let ids: Vec<UserId> = store
        .accounts()
        .await
        .unwrap()
        .iter()
        .map(|account| account.user.id)
        .collect();
    assert!(ids.len() == 2 && ids.contains(&ann) && ids.contains(&bob));
}

async fn keeps_an_administrator_under_concurrency(store: Store) {
    let mut callers = JoinSet::new();
    for number in 0..20 {
        let id = admin(&store, &format!("{number}@x")).await;
        let change = if number % 2 == 0 {
            role(UserRole::User)
        } else {
            suspended(true)
        };
        let store = store.clone();
        callers.spawn(async move { store.change_account(id, &change, 5).await });
    }
    let refused: Vec<_> = callers
        .join_all()
        .await
        .into_iter()
        .filter_map(Result::err)
        .collect();
    assert_eq!(refused, [StoreError::Conflict("last administrator")]);
    let accounts = store.accounts().await.unwrap();
    let left = accounts
        .iter()
        .filter(|account| account.user.role == UserRole::Admin && account.suspended_at.is_none());
    assert_eq!(left.count(), 1);
}

async fn counts_who_can_sign_in(store: Store) {
    let local = NewUser {
        role: UserRole::Admin,
        password_hash: String::new(),
        ..new_user("local@x")
    };
    let local = store.create_user(&local).await.unwrap().id;
    let refused = Err(StoreError::Conflict("last administrator"));
    assert_eq!(
        store.change_account(local, &role(UserRole::User), 5).await,
        refused
    );
    let ann = admin(&store, "ann@x").await;
    assert_eq!(
        store.change_account(ann, &role(UserRole::User), 5).await,
        refused
    );
    store
        .change_account(local, &role(UserRole::User), 5)
        .await
        .unwrap();
}

async fn suspends_sessions_keys_and_schedules(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    for (user, byte) in [(ann, 1), (bob, 2)] {
        let session = NewSession {
            id: SessionId::generate(),
            user,
            token_hash: [byte; 32],
            user_agent: None,
            address: None,
            created_at: 1,
            expires_at: 1_000,
        };
        store.create_session(&session).await.unwrap();
        let name = "k".to_owned();
        let prefix = "gh_".to_owned();
        let id = domain::ApiKeyId::generate();
        let key = NewApiKey {
            id,
            user,
            name,
            prefix,
            secret_hash: [byte; 32],
            created_at: 1,
            rights: store::ApiKeyRights::default(),
            sealed_signing_key: None,
        };
        store.create_api_key(&key).await.unwrap();
    }
    let content = ScheduleContent {
        name: "Report".into(),
        prompt: "Do it".into(),
        model: None,
        cron: Some("0 8 * * *".into()),
        once_at: None,
        time_zone: "UTC".into(),
        new_chat: false,
        enabled: true,
    };
    let schedule = NewSchedule {
        id: ScheduleId::generate(),
        owner: ann,
        content,
        next_at: Some(100),
        changed_at: 1,
    };
    store.create_schedule(&schedule, 5).await.unwrap();

    store
        .change_account(ann, &suspended(true), 50)
        .await
        .unwrap();
    assert_eq!(store.suspended_users(0).await, Ok(vec![ann]));
    assert!(
        store
            .session_user(&[1; 32], 60, LONG)
            .await
            .unwrap()
            .is_none()
    );
    assert!(store.key_holder(&[1; 32]).await.unwrap().is_none());
    assert!(
        store
            .session_user(&[2; 32], 60, LONG)
            .await
            .unwrap()
            .is_some()
    );
    assert!(store.key_holder(&[2; 32]).await.unwrap().is_some());
    assert_eq!(store.due_schedules(200, 10).await, Ok(vec![]));
    assert_eq!(store.next_schedule_at().await, Ok(None));
    assert_eq!(store.claim_schedule(schedule.id, 200, 300).await, Ok(None));
    let again = store
        .change_account(ann, &suspended(true), 70)
        .await
        .unwrap();
    assert_eq!(again.suspended_at, Some(50), "since the first time");

    store
        .change_account(ann, &suspended(false), 80)
        .await
        .unwrap();
    assert!(
        store
            .session_user(&[1; 32], 60, LONG)
            .await
            .unwrap()
            .is_none(),
        "sessions do not come back"
    );
    assert!(store.key_holder(&[1; 32]).await.unwrap().is_some());
    assert_eq!(store.due_schedules(200, 10).await, Ok(vec![schedule.id]));
}

async fn deletes_suspended_accounts_completely(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let chat = add_chat(&store, ann, "mine", 1).await;
    let other = add_chat(&store, bob, "theirs", 1).await;
    let turn = new_turn(&chat, None, "q", 5);
    store.begin_turn(&turn).await.unwrap();
    store
        .finish_run(turn.run.id, 50, &summary("done"))
        .await
        .unwrap();
    assert_eq!(
        store.delete_account(ann).await,
        Err(StoreError::Conflict("account"))
    );
    store
        .change_account(ann, &suspended(true), 60)
        .await
        .unwrap();
    assert_eq!(store.delete_account(ann).await, Ok(vec![chat.id]));
    assert_eq!(store.user(ann).await, Err(StoreError::NotFound));
    assert_eq!(
        store
            .chat(&store::Principal::of_account(ann), chat.id)
            .await,
        Err(StoreError::NotFound)
    );
    assert_eq!(store.run(turn.run.id).await, Err(StoreError::NotFound));
    assert_eq!(store.delete_account(ann).await, Err(StoreError::NotFound));
    store
        .chat(&store::Principal::of_account(bob), other.id)
        .await
        .unwrap();
}
