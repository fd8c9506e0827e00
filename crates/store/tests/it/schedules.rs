//! What is done at set times: whose it is, who sees to it, what came of it.

use domain::{ScheduleId, UserId};
use store::{NewSchedule, ScheduleContent, Settled, Store, StoreError, Turn, TurnKind};

use crate::fixtures::{add_chat, add_user, new_turn, summary};

on_every_database!(
    belongs_to_one_person,
    one_server_at_a_time_sees_to_it,
    continues_after_a_turn,
    keeps_what_a_person_changed_meanwhile,
    is_busy_while_its_run_is_running,
);

fn new(owner: UserId, next_at: Option<i64>) -> NewSchedule {
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
    NewSchedule {
        id: ScheduleId::generate(),
        owner,
        content,
        next_at,
        changed_at: 1,
    }
}

fn turn(kind: TurnKind) -> Turn {
    Turn {
        due_at: 100,
        noted_at: 101,
        kind,
        note: None,
        run: None,
        chat: None,
        outcome: None,
    }
}

async fn belongs_to_one_person(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let new = new(ann, Some(100));
    store.create_schedule(&new, 1).await.unwrap();
    let more = NewSchedule {
        id: ScheduleId::generate(),
        ..new.clone()
    };
    assert_eq!(
        store.create_schedule(&more, 1).await,
        Err(StoreError::Conflict("schedules"))
    );
    assert_eq!(
        store.schedule(ann, new.id).await.unwrap().content,
        new.content
    );
    assert_eq!(store.schedule(bob, new.id).await, Err(StoreError::NotFound));
    assert_eq!(store.schedules(bob).await, Ok(vec![]));
    let stolen = NewSchedule {
        owner: bob,
        ..new.clone()
    };
    assert_eq!(
        store.replace_schedule(&stolen).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store.delete_schedule(bob, new.id).await,
        Err(StoreError::NotFound)
    );
    store.delete_schedule(ann, new.id).await.unwrap();
    assert_eq!(store.schedules(ann).await, Ok(vec![]));
}

async fn one_server_at_a_time_sees_to_it(store: Store) {
    let ann = add_user(&store).await;
    let new = new(ann, Some(100));
    store.create_schedule(&new, 5).await.unwrap();
    assert!(!store.due_schedules(99, 50).await.unwrap().contains(&new.id));
    assert!(
        store
            .due_schedules(100, 50)
            .await
            .unwrap()
            .contains(&new.id)
    );
    let claims = tokio::join!(
        store.claim_schedule(new.id, 100, 160),
        store.claim_schedule(new.id, 100, 160),
        store.claim_schedule(new.id, 100, 160)
    );
    let claimed = [claims.0, claims.1, claims.2]
        .into_iter()
        .filter(|claim| matches!(claim, Ok(Some(_))))
        .count();
    assert_eq!(claimed, 1);
    assert!(
        !store
            .due_schedules(159, 50)
            .await
            .unwrap()
            .contains(&new.id)
    );
    assert!(
        store
            .claim_schedule(new.id, 160, 220)
            .await
            .unwrap()
            .is_some(),
        "that server is gone"
    );
    store.release_schedule(new.id).await.unwrap();
    assert!(
        store
            .due_schedules(160, 50)
            .await
            .unwrap()
            .contains(&new.id)
    );
}

async fn continues_after_a_turn(store: Store) {
    let ann = add_user(&store).await;
    let new = new(ann, Some(100));
    store.create_schedule(&new, 5).await.unwrap();
    for round in 0..30 {
        let seen = store
            .claim_schedule(new.id, 1000, 2000)
            .await
            .unwrap()
            .unwrap();
        let then = Settled {
            was_due: seen.next_at,
            next_at: Some(200 + round),
            problem: None,
        };
        store
            .settle_schedule(&seen, &turn(TurnKind::Missed), &then)
            .await
            .unwrap();
    }
    let now = store.schedule(ann, new.id).await.unwrap();
    assert_eq!((now.next_at, now.content.enabled), (Some(229), true));
    assert_eq!(
        store.schedule_turns(new.id).await.unwrap(),
        vec![turn(TurnKind::Missed); 20]
    );
    let seen = store
        .claim_schedule(new.id, 1000, 2000)
        .await
        .unwrap()
        .unwrap();
    let then = Settled {
        was_due: Some(229),
        next_at: None,
        problem: Some("failed_often"),
    };
    store
        .settle_schedule(&seen, &turn(TurnKind::Failed), &then)
        .await
        .unwrap();
    let now = store.schedule(ann, new.id).await.unwrap();
    assert_eq!(
        (now.content.enabled, now.problem.as_deref()),
        (false, Some("failed_often"))
    );
    store.delete_schedule(ann, new.id).await.unwrap();
    store
        .settle_schedule(&seen, &turn(TurnKind::Failed), &then)
        .await
        .unwrap();
    assert_eq!(store.schedule(ann, new.id).await, Err(StoreError::NotFound));
}

async fn keeps_what_a_person_changed_meanwhile(store: Store) {
    let ann = add_user(&store).await;
    let new = new(ann, Some(100));
    store.create_schedule(&new, 5).await.unwrap();
    let seen = store
        .claim_schedule(new.id, 100, 160)
        .await
        .unwrap()
        .unwrap();
    let changed = NewSchedule {
        next_at: Some(500),
        changed_at: 120,
        ..new.clone()
    };
    store.replace_schedule(&changed).await.unwrap();
    let then = Settled {
        was_due: Some(100),
        next_at: Some(200),
        problem: None,
    };
    store
        .settle_schedule(&seen, &turn(TurnKind::Missed), &then)
        .await
        .unwrap();
    assert_eq!(
        store.schedule(ann, new.id).await.unwrap().next_at,
        Some(500)
    );
    assert_eq!(store.schedule_turns(new.id).await.unwrap().len(), 1);
}

async fn is_busy_while_its_run_is_running(store: Store) {
    let ann = add_user(&store).await;
    let new = new(ann, Some(100));
    store.create_schedule(&new, 5).await.unwrap();
    let chat = add_chat(&store, ann, "c", 1).await;
    let begun = new_turn(&chat, None, "q", 5);
    store.begin_turn(&begun).await.unwrap();
    let seen = store
        .claim_schedule(new.id, 100, 160)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(store.is_schedule_busy(&seen).await, Ok(false));
    let started = Turn {
        run: Some(begun.run.id),
        chat: Some(chat.id),
        ..turn(TurnKind::Started)
    };
    let then = Settled {
        was_due: Some(100),
        next_at: Some(200),
        problem: None,
    };
    store.settle_schedule(&seen, &started, &then).await.unwrap();
    let seen = store.schedule(ann, new.id).await.unwrap();
    assert_eq!(
        (seen.chat, seen.last_run),
        (Some(chat.id), Some(begun.run.id))
    );
    assert_eq!(store.is_schedule_busy(&seen).await, Ok(true));
    store
        .finish_run(begun.run.id, 50, &summary("done"))
        .await
        .unwrap();
    assert_eq!(store.is_schedule_busy(&seen).await, Ok(false));
    assert!(
        store
            .chat(&store::Principal::of_account(ann), chat.id)
            .await
            .unwrap()
            .unread
    );
    assert_eq!(store.mark_chat_read(ann, chat.id).await, Ok(true));
    assert_eq!(store.mark_chat_read(ann, chat.id).await, Ok(false));
    store.delete_chat(ann, chat.id).await.unwrap();
    let turns = store.schedule_turns(new.id).await.unwrap();
    assert_eq!((turns[0].run, turns[0].chat), (None, None));
    assert_eq!(store.schedule(ann, new.id).await.unwrap().chat, None);
}
