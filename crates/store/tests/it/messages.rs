//! Turns and the tree of messages.

use domain::{ChatId, MessageId, Part};
use store::{Chat, ChatMessage, NewTurn, Store, StoreError};

use crate::fixtures::{add_chat, add_user, new_turn, text};

on_every_database!(
    adds_a_turn,
    makes_siblings,
    writes_nothing_of_a_bad_turn,
    keeps_any_content,
    needs_the_chat,
    takes_many_turns_at_once,
);

async fn adds_a_turn(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "t", 1).await;
    let turn = new_turn(&chat, None, "Привет", 5);
    store.begin_turn(&turn).await.unwrap();
    assert_eq!(
        store.messages(chat.id).await.unwrap(),
        [turn.user.clone().unwrap(), turn.assistant.clone()]
    );
    let run = store.run(turn.run.id).await.unwrap();
    assert_eq!(
        (run.principal.account, run.chat, run.message),
        (ann, Some(chat.id), Some(turn.assistant.id))
    );
    assert_eq!(
        (
            run.model.as_str(),
            run.started_at,
            run.finished_at,
            run.last_seq
        ),
        ("tour", 5, None, 0)
    );
    let expected = Chat {
        current: Some(turn.assistant.id),
        updated_at: 5,
        ..chat
    };
    assert_eq!(
        store
            .chat(&store::Principal::of_account(ann), expected.id)
            .await,
        Ok(expected)
    );
}

async fn makes_siblings(store: Store) {
    let chat = add_chat(&store, add_user(&store).await, "t", 1).await;
    let first = new_turn(&chat, None, "first", 5);
    store.begin_turn(&first).await.unwrap();
    let edited = new_turn(&chat, None, "edited", 6);
    store.begin_turn(&edited).await.unwrap();
    let mut again = new_turn(&chat, None, "", 7);
    again.assistant.parent = first.user.as_ref().map(|message| message.id);
    again.user = None;
    store.begin_turn(&again).await.unwrap();
    let deeper = new_turn(&chat, Some(again.assistant.id), "deeper", 8);
    store.begin_turn(&deeper).await.unwrap();

    let expected: Vec<ChatMessage> = [&first, &edited, &again, &deeper]
        .into_iter()
        .flat_map(|turn| turn.user.iter().cloned().chain([turn.assistant.clone()]))
        .collect();
    assert_eq!(store.messages(chat.id).await.unwrap(), expected);
}

async fn writes_nothing_of_a_bad_turn(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "t", 1).await;
    let other = add_chat(&store, ann, "o", 1).await;
    let elsewhere = new_turn(&other, None, "elsewhere", 5);
    store.begin_turn(&elsewhere).await.unwrap();

    let unknown = new_turn(&chat, Some(MessageId::generate()), "q", 6);
    let foreign = new_turn(&chat, Some(elsewhere.assistant.id), "q", 6);
    let mut foreign_answer = new_turn(&chat, None, "q", 6);
    foreign_answer.assistant.parent = Some(elsewhere.assistant.id);
    for bad in [unknown, foreign, foreign_answer] {
        assert_eq!(
            store.begin_turn(&bad).await,
            Err(StoreError::Conflict("parent"))
        );
        assert_eq!(store.run(bad.run.id).await, Err(StoreError::NotFound));
    }
    let mut taken = new_turn(&chat, None, "q", 6);
    taken.run.id = elsewhere.run.id;
    assert_eq!(
        store.begin_turn(&taken).await,
        Err(StoreError::Conflict("id"))
    );
    assert_eq!(store.messages(chat.id).await, Ok(vec![]));
    assert_eq!(
        store
            .chat(&store::Principal::of_account(ann), chat.id)
            .await,
        Ok(chat)
    );
}

async fn keeps_any_content(store: Store) {
    let chat = add_chat(&store, add_user(&store).await, "t", 1).await;
    let mut turn = new_turn(&chat, None, "nul \0 and 🔧 and \u{10ffff}", 5);
    if let Some(user) = &mut turn.user {
        user.content.push(Part::Image {
            url: "data:image/png;base64,AA==".into(),
        });
        user.content.extend(text("больше"));
    }
    store.begin_turn(&turn).await.unwrap();
    assert_eq!(
        store.messages(chat.id).await.unwrap()[0],
        turn.user.unwrap()
    );
}

async fn needs_the_chat(store: Store) {
    let chat = add_chat(&store, add_user(&store).await, "t", 1).await;
    let turn = new_turn(
        &Chat {
            id: ChatId::generate(),
            ..chat
        },
        None,
        "q",
        5,
    );
    assert_eq!(store.begin_turn(&turn).await, Err(StoreError::NotFound));
    assert_eq!(store.messages(turn.assistant.chat).await, Ok(vec![]));
}

async fn takes_many_turns_at_once(store: Store) {
    let chat = add_chat(&store, add_user(&store).await, "t", 1).await;
    let turns: Vec<NewTurn> = (0..20)
        .map(|number| new_turn(&chat, None, "q", number))
        .collect();
    let mut tasks = tokio::task::JoinSet::new();
    for turn in turns.clone() {
        let store = store.clone();
        tasks.spawn(async move { store.begin_turn(&turn).await });
    }
    tasks
        .join_all()
        .await
        .into_iter()
        .for_each(|outcome| assert_eq!(outcome, Ok(())));
    assert_eq!(store.messages(chat.id).await.unwrap().len(), 40);
    let current = store
        .chat(
            &store::Principal::of_account(chat.principal.account),
            chat.id,
        )
        .await
        .unwrap()
        .current
        .unwrap();
    assert!(turns.iter().any(|turn| turn.assistant.id == current));
}
