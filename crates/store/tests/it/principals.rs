//! Accounts, their keys and the people of their front ends are kept apart.

use domain::{ApiKeyId, ChatId, RunId, UserId};
use store::{
    Chat, ChatPage, IdempotencyKey, NewApiKey, NewRun, Principal, StartedBefore, Store, StoreError,
};

use crate::fixtures::{add_chat, add_user, new_turn};

on_every_database!(
    a_request_is_known_to_its_principal,
    a_chat_is_its_individuals,
    a_deleted_key_leaves_its_peoples_chats_to_the_account
);

async fn add_key(store: &Store, user: UserId, secret: u8) -> ApiKeyId {
    let id = ApiKeyId::generate();
    let key = NewApiKey {
        id,
        user,
        name: "front".to_owned(),
        prefix: "gh_".to_owned(),
        secret_hash: [secret; 32],
        rights: store::ApiKeyRights {
            front_end: true,
            ..store::ApiKeyRights::default()
        },
        sealed_signing_key: None,
        created_at: 1,
    };
    store.create_api_key(&key).await.unwrap();
    id
}

fn person(account: UserId, key: ApiKeyId, person: &str) -> Principal {
    Principal {
        account,
        key: Some(key),
        person: Some(person.to_owned()),
    }
}

async fn add_chat_of(store: &Store, principal: &Principal) -> Chat {
    let of_account = add_chat(store, principal.account, "t", 1).await;
    let chat = Chat {
        id: ChatId::generate(),
        principal: principal.clone(),
        ..of_account
    };
    store.create_chat(&chat).await.unwrap();
    chat
}

async fn a_request_is_known_to_its_principal(store: Store) {
    let ann = add_user(&store).await;
    let one = add_key(&store, ann, 1).await;
    let two = add_key(&store, ann, 2).await;
    let principals = [
        Principal::of_account(ann),
        Principal {
            key: Some(one),
            ..Principal::of_account(ann)
        },
        Principal {
            key: Some(two),
            ..Principal::of_account(ann)
        },
        person(ann, one, "p1"),
        person(ann, one, "p2"),
        person(ann, two, "p1"),
    ];
    let key = IdempotencyKey {
        key: "1".to_owned(),
        request_hash: [7; 32],
    };
    for principal in &principals {
        assert_eq!(
            store.started_before(principal, &key).await,
            Ok(None),
            "{principal:?}"
        );
        let run = NewRun {
            id: RunId::generate(),
            principal: principal.clone(),
            key_models: Some(vec!["m".to_owned()]),
            chat: None,
            message: None,
            model: "m".to_owned(),
            started_at: 1,
            request: None,
            idempotency: Some(key.clone()),
            origin: None,
            research: None,
            workspace: None,
        };
        store.create_run(&run).await.unwrap();
        let known = StartedBefore {
            run: run.id,
            same_request: true,
        };
        assert_eq!(store.started_before(principal, &key).await, Ok(Some(known)));
        let stored = store.run(run.id).await.unwrap();
        assert_eq!(
            (stored.principal, stored.key_models),
            (principal.clone(), run.key_models.clone())
        );
        let twice = NewRun {
            id: RunId::generate(),
            ..run
        };
        assert!(
            matches!(store.create_run(&twice).await, Err(StoreError::Conflict(_))),
            "{principal:?}"
        );
    }
}

async fn a_chat_is_its_individuals(store: Store) {
    let ann = add_user(&store).await;
    let one = add_key(&store, ann, 1).await;
    let two = add_key(&store, ann, 2).await;
    let p1 = person(ann, one, "p1");
    let p2 = person(ann, one, "p2");
    let account = Principal::of_account(ann);
    let by_key = Principal {
        key: Some(one),
        ..account.clone()
    };
    let of_person = add_chat_of(&store, &p1).await;
    let of_key = add_chat_of(&store, &by_key).await;
    assert_eq!(store.chat(&p1, of_person.id).await.as_ref(), Ok(&of_person));
    for other in [&p2, &account, &by_key, &person(ann, two, "p1")] {
        assert_eq!(
            store.chat(other, of_person.id).await,
            Err(StoreError::NotFound),
            "{other:?}"
        );
    }
    assert_eq!(
        store.chat(&account, of_key.id).await,
        Ok(of_key.clone()),
        "whatever key it was"
    );
    let page = ChatPage {
        limit: 100,
        ..ChatPage::default()
    };
    let listed: Vec<ChatId> = store
        .chats(ann, &page)
        .await
        .unwrap()
        .iter()
        .map(|chat| chat.id)
        .collect();
    let exported = store.chats_made_after(ann, None, 100).await.unwrap();
    let exported: Vec<ChatId> = exported.iter().map(|chat| chat.id).collect();
    for ids in [listed, exported] {
        assert!(
            ids.contains(&of_key.id) && !ids.contains(&of_person.id),
            "{ids:?}"
        );
    }
    assert_eq!(
        store.rename_chat(ann, of_person.id, "x", 2).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store.open_chat(ann, of_person.id, true).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store.set_tags(ann, of_person.id, &[]).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store.delete_chat(ann, of_person.id).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(store.chat(&p1, of_person.id).await, Ok(of_person));
}

async fn a_deleted_key_leaves_its_peoples_chats_to_the_account(store: Store) {
    let ann = add_user(&store).await;
    let key = add_key(&store, ann, 1).await;
    let account = Principal::of_account(ann);
    let mut runs = Vec::new();
    let mut chats = Vec::new();
    for name in ["p1", "p2"] {
        let chat = add_chat_of(&store, &person(ann, key, name)).await;
        let mut turn = new_turn(&chat, None, "Hi", 5);
        // Both people have named their requests alike.
        turn.run.idempotency = Some(IdempotencyKey {
            key: "1".to_owned(),
            request_hash: [7; 32],
        });
        store.begin_turn(&turn).await.unwrap();
        runs.push(turn.run.id);
        chats.push(chat.id);
    }
    store.delete_api_key(ann, key, 9).await.unwrap();
    for (chat, run) in chats.into_iter().zip(runs) {
        assert!(store.chat(&account, chat).await.is_ok());
        assert!(
            store
                .run(run)
                .await
                .unwrap()
                .principal
                .is_same_individual(&account)
        );
    }
}
