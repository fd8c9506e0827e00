//! Addresses that are told of background runs: whose they are, of what they are told, and by whom.

use domain::{RunId, UserId, WebhookId};
use store::{Store, StoreError, Webhook};

use crate::fixtures::{add_chat, add_user, new_turn, summary};

on_every_database!(
    an_address_belongs_to_one_person,
    only_runs_of_schedules_are_announced,
    one_server_delivers_and_retries,
    the_latest_deliveries_are_kept,
);

async fn add(store: &Store, owner: UserId) -> WebhookId {
    let new = Webhook {
        id: WebhookId::generate(),
        owner,
        sealed: vec![1, 2],
        created_at: 5,
        last: None,
    };
    store.create_webhook(&new, 100).await.unwrap();
    new.id
}

/// A run that ends at `at`, perhaps of a schedule.
async fn ended(store: &Store, owner: UserId, schedule: Option<&str>, at: i64) -> RunId {
    let chat = add_chat(store, owner, "Title", 1).await;
    let mut turn = new_turn(&chat, None, "q", 5);
    turn.user.as_mut().unwrap().schedule = schedule.map(str::to_owned);
    store.begin_turn(&turn).await.unwrap();
    store
        .finish_run(turn.run.id, at, &summary("The answer"))
        .await
        .unwrap();
    turn.run.id
}

/// Other tests' notices stand in the same database.
async fn claim(store: &Store, id: WebhookId, now: i64) -> Vec<store::Notice> {
    let mut claimed = store.claim_notices(now, now + 60, 10_000).await.unwrap();
    claimed.retain(|notice| notice.webhook.id == id);
    claimed
}

async fn an_address_belongs_to_one_person(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let id = add(&store, ann).await;
    let more = Webhook {
        id: WebhookId::generate(),
        owner: ann,
        sealed: vec![],
        created_at: 6,
        last: None,
    };
    assert_eq!(
        store.create_webhook(&more, 1).await,
        Err(StoreError::Conflict("webhooks"))
    );
    let all = store.webhooks(ann).await.unwrap();
    assert_eq!(
        all,
        [Webhook {
            id,
            owner: ann,
            sealed: vec![1, 2],
            created_at: 5,
            last: None
        }]
    );
    assert_eq!(store.webhooks(bob).await, Ok(vec![]));
    assert_eq!(
        store.delete_webhook(bob, id).await,
        Err(StoreError::NotFound)
    );
    store.delete_webhook(ann, id).await.unwrap();
    assert_eq!(store.webhooks(ann).await, Ok(vec![]));
}

async fn only_runs_of_schedules_are_announced(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let id = add(&store, ann).await;
    let bobs = add(&store, bob).await;
    ended(&store, ann, None, 100).await;
    let run = ended(&store, ann, Some("Report"), 200).await;
    let all = store.claim_notices(200, 260, 10_000).await.unwrap();
    assert!(all.iter().all(|notice| notice.webhook.id != bobs));
    let [notice] = &all
        .iter()
        .filter(|notice| notice.webhook.id == id)
        .collect::<Vec<_>>()[..]
    else {
        panic!("{all:?}")
    };
    assert_eq!(
        (notice.run, notice.attempts, notice.finished_at),
        (run, 0, Some(200))
    );
    assert_eq!(notice.title.as_deref(), Some("Title"));
    assert_eq!(notice.summary.as_ref().unwrap().answer, "The answer");
}

async fn one_server_delivers_and_retries(store: Store) {
    let ann = add_user(&store).await;
    let id = add(&store, ann).await;
    let run = ended(&store, ann, Some("Report"), 1_000).await;
    assert_eq!(claim(&store, id, 999).await, []);
    let (one, two) = tokio::join!(claim(&store, id, 1_000), claim(&store, id, 1_000));
    assert_eq!(one.len() + two.len(), 1, "one of two");
    assert_eq!(claim(&store, id, 1_059).await, []);
    let claimed = claim(&store, id, 1_060).await;
    assert_eq!(claimed.len(), 1, "a claim runs out");
    store
        .settle_notice(&claimed[0], Some("No."), 1_061, Some(1_100))
        .await
        .unwrap();
    let last = store.webhooks(ann).await.unwrap()[0].last.clone().unwrap();
    assert_eq!(
        (last.run, last.attempts, last.due_at),
        (run, 1, Some(1_100))
    );
    assert_eq!(
        (last.tried_at, last.problem.as_deref()),
        (Some(1_061), Some("No."))
    );
    assert_eq!(claim(&store, id, 1_099).await, []);
    let claimed = claim(&store, id, 1_100).await;
    assert_eq!(claimed[0].attempts, 1);
    store
        .settle_notice(&claimed[0], None, 1_101, None)
        .await
        .unwrap();
    let last = store.webhooks(ann).await.unwrap()[0].last.clone().unwrap();
    assert_eq!((last.attempts, last.due_at, last.problem), (2, None, None));
    assert_eq!(claim(&store, id, 9_000).await, []);
}

async fn the_latest_deliveries_are_kept(store: Store) {
    let ann = add_user(&store).await;
    let id = add(&store, ann).await;
    for at in 2_000..2_025 {
        ended(&store, ann, Some("Report"), at).await;
    }
    let claimed = claim(&store, id, 2_100).await;
    assert_eq!(claimed.len(), 25);
    for notice in &claimed {
        store
            .settle_notice(notice, Some("No."), 2_101, None)
            .await
            .unwrap();
    }
    let last = store.webhooks(ann).await.unwrap()[0].last.clone().unwrap();
    assert_eq!(last.run, claimed[24].run, "the newest");
    // A run that is gone takes along what was to be told of it; so does its chat.
    store.delete_webhook(ann, id).await.unwrap();
    assert_eq!(claim(&store, id, 9_000).await, []);
}
