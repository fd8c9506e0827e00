//! How runs begin, end and are forgotten.

use domain::{ChatId, Origin, RunId, UserId};
use store::{NewRun, Store, StoreError};

use crate::fixtures::{add_chat, add_run, add_user, new_turn, segment, summary, text};

on_every_database!(
    finishes_with_its_message,
    finishes_once,
    lists_the_unfinished,
    forgets_the_request_of_a_run_that_has_ended,
    purges_the_chatless,
    deletes_one,
    keeps_where_it_comes_from,
    keeps_research_options,
    needs_an_owner
);

async fn finishes_with_its_message(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "t", 1).await;
    let turn = new_turn(&chat, None, "q", 5);
    store.begin_turn(&turn).await.unwrap();
    store.append(segment(turn.run.id, 1, 7)).await.unwrap();
    store
        .finish_run(turn.run.id, 9, &summary("ответ \0"))
        .await
        .unwrap();

    let run = store.run(turn.run.id).await.unwrap();
    assert_eq!(
        (run.finished_at, run.last_seq, run.summary),
        (Some(9), 7, Some(summary("ответ \0")))
    );
    let messages = store.messages(chat.id).await.unwrap();
    assert_eq!(messages[0], turn.user.unwrap());
    assert_eq!(messages[1].content, text("ответ \0"));
    assert_eq!(messages[1].summary, Some(summary("ответ \0")));
    assert_eq!(
        store
            .chat(&store::Principal::of_account(ann), chat.id)
            .await
            .unwrap()
            .updated_at,
        9
    );
}

async fn finishes_once(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "t", 1).await;
    let turn = new_turn(&chat, None, "q", 5);
    store.begin_turn(&turn).await.unwrap();
    store
        .finish_run(turn.run.id, 9, &summary("first"))
        .await
        .unwrap();
    let again = store.finish_run(turn.run.id, 10, &summary("second")).await;
    assert_eq!(again, Err(StoreError::Conflict("finished")));
    assert_eq!(
        store.finish_run(RunId::generate(), 10, &summary("")).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store.messages(chat.id).await.unwrap()[1].content,
        text("first")
    );
    assert_eq!(
        store
            .chat(&store::Principal::of_account(ann), chat.id)
            .await
            .unwrap()
            .updated_at,
        9
    );
}

async fn forgets_the_request_of_a_run_that_has_ended(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "t", 1).await;
    let turn = new_turn(&chat, None, "q", 5);
    store.begin_turn(&turn).await.unwrap();
    let free = NewRun {
        id: RunId::generate(),
        principal: store::Principal::of_account(ann),
        chat: None,
        message: None,
        ..turn.run.clone()
    };
    store.create_run(&free).await.unwrap();
    for run in [turn.run.id, free.id] {
        assert_eq!(store.run_request(run).await.unwrap(), turn.run.request);
        store.finish_run(run, 9, &summary("")).await.unwrap();
        assert_eq!(store.run_request(run).await.unwrap(), None);
    }
    assert_eq!(
        store.run_request(RunId::generate()).await,
        Err(StoreError::NotFound)
    );
}

async fn lists_the_unfinished(store: Store) {
    let ann = add_user(&store).await;
    let first = add_run(&store, ann).await;
    let second = add_run(&store, ann).await;
    let third = add_run(&store, ann).await;
    store.append(segment(third, 1, 2)).await.unwrap();
    store.finish_run(second, 9, &summary("")).await.unwrap();
    let unfinished = store.unfinished_runs().await.unwrap();
    let found: Vec<(RunId, u64)> = unfinished
        .iter()
        .map(|run| (run.id, run.last_seq))
        .collect();
    assert_eq!(found, [(first, 0), (third, 2)]);
    assert_eq!(unfinished[1], store.run(third).await.unwrap());
}

async fn purges_the_chatless(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "t", 1).await;
    let turn = new_turn(&chat, None, "q", 5);
    store.begin_turn(&turn).await.unwrap();
    let old = add_run(&store, ann).await;
    let new = add_run(&store, ann).await;
    let going = add_run(&store, ann).await;
    for (run, finished_at) in [(turn.run.id, 10), (old, 10), (new, 20)] {
        store.append(segment(run, 1, 1)).await.unwrap();
        store
            .write_file(&run.to_string(), "/a", b"x", None, 1)
            .await
            .unwrap();
        store
            .finish_run(run, finished_at, &summary(""))
            .await
            .unwrap();
    }
    assert_eq!(store.purge_runs(20).await, Ok(1));
    assert_eq!(store.purge_runs(20).await, Ok(0));
    assert_eq!(store.run(old).await, Err(StoreError::NotFound));
    assert_eq!(store.events_after(old, 0, 100).await, Ok(vec![]));
    assert_eq!(store.files(&old.to_string()).await, Ok(vec![]));
    assert_eq!(store.files(&new.to_string()).await.unwrap().len(), 1);
    for kept in [turn.run.id, new, going] {
        assert!(store.run(kept).await.is_ok());
    }
}

async fn deletes_one(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "t", 1).await;
    let turn = new_turn(&chat, None, "q", 5);
    store.begin_turn(&turn).await.unwrap();
    let gone = add_run(&store, ann).await;
    let kept = add_run(&store, ann).await;
    for run in [gone, kept] {
        store.append(segment(run, 1, 1)).await.unwrap();
        store
            .write_file(&run.to_string(), "/a", b"x", None, 1)
            .await
            .unwrap();
    }
    assert_eq!(store.delete_run(gone).await, Ok(()));
    assert_eq!(store.delete_run(gone).await, Err(StoreError::NotFound));
    assert_eq!(
        store.delete_run(turn.run.id).await,
        Err(StoreError::NotFound),
        "it goes with its chat"
    );
    assert_eq!(store.events_after(gone, 0, 100).await, Ok(vec![]));
    assert_eq!(store.files(&gone.to_string()).await, Ok(vec![]));
    assert!(store.run(kept).await.is_ok() && store.run(turn.run.id).await.is_ok());
    assert_eq!(store.files(&kept.to_string()).await.unwrap().len(), 1);
}

/// Unlike what is needed to continue with it, also after its end: its trace is sent then.
async fn keeps_where_it_comes_from(store: Store) {
    let owner = add_user(&store).await;
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let origin = Origin {
        request: Some("r".into()),
        parent: parent.parse().ok(),
        state: Some("vendor=1".into()),
        ..Origin::default()
    };
    let row = |origin| NewRun {
        id: RunId::generate(),
        principal: store::Principal::of_account(owner),
        key_models: None,
        chat: None,
        message: None,
        model: "tour".into(),
        started_at: 1,
        request: None,
        idempotency: None,
        origin,
        research: None,
        workspace: None,
    };
    let asked_for = row(Some(serde_json::to_string(&origin).unwrap()));
    let nobodys = row(None);
    store.create_run(&asked_for).await.unwrap();
    store
        .create_run_with_input(&nobodys, &serde_json::json!({}))
        .await
        .unwrap();
    store
        .finish_run(asked_for.id, 2, &summary("done"))
        .await
        .unwrap();
    assert_eq!(store.run(asked_for.id).await.unwrap().origin, Some(origin));
    assert_eq!(store.run(nobodys.id).await.unwrap().origin, None);
}

/// Also after its end, when it may be forked; that its report is wanted only as long as it goes on.
async fn keeps_research_options(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "t", 1).await;
    let mut turn = new_turn(&chat, None, "q", 5);
    turn.run.research = Some(r#"{"deep":true}"#.to_owned());
    store.begin_turn(&turn).await.unwrap();
    let none = add_run(&store, ann).await;
    assert!(!store.run(turn.run.id).await.unwrap().report_wanted);
    store.want_report(turn.run.id).await.unwrap();
    assert!(store.run(turn.run.id).await.unwrap().report_wanted);
    store
        .finish_run(turn.run.id, 9, &summary("done"))
        .await
        .unwrap();
    assert_eq!(
        store.run_research(turn.run.id).await.unwrap(),
        turn.run.research
    );
    assert_eq!(store.run_research(none).await.unwrap(), None);
    store.finish_run(none, 9, &summary("done")).await.unwrap();
    store.want_report(none).await.unwrap();
    assert!(!store.run(none).await.unwrap().report_wanted);
    assert!(matches!(
        store.run_research(RunId::generate()).await,
        Err(StoreError::NotFound)
    ));
}

async fn needs_an_owner(store: Store) {
    let owner = add_user(&store).await;
    let id = add_run(&store, owner).await;
    let run = NewRun {
        id,
        principal: store::Principal::of_account(owner),
        key_models: None,
        chat: None,
        message: None,
        model: "tour".into(),
        started_at: 1,
        request: None,
        idempotency: None,
        origin: None,
        research: None,
        workspace: None,
    };
    assert_eq!(
        store.create_run(&run).await,
        Err(StoreError::Conflict("id"))
    );
    let nobodys = NewRun {
        id: RunId::generate(),
        principal: store::Principal::of_account(UserId::generate()),
        ..run.clone()
    };
    assert_eq!(store.create_run(&nobodys).await, Err(StoreError::NotFound));
    let nowhere = NewRun {
        id: RunId::generate(),
        chat: Some(ChatId::generate()),
        ..run
    };
    assert_eq!(store.create_run(&nowhere).await, Err(StoreError::NotFound));
}
