//! What people wrote to a run and no agent has read.

use domain::{
    RunSummary, UserId,
    event::{Author, InputMode, ReceivedInput},
};
use store::{Chat, NewTurn, QueuedTurn, Store, StoreError};

use crate::fixtures::{add_chat, add_run, add_user, new_turn, summary};

on_every_database!(
    begin_with_the_end_of_the_run,
    gain_what_comes_late,
    are_only_of_chats,
    name_guests
);

fn input(id: &str) -> ReceivedInput {
    ReceivedInput {
        input_id: id.to_owned(),
        mode: InputMode::Queue,
        agent: None,
        by: Author {
            id: UserId::generate(),
            name: "Ann".to_owned(),
            is_owner: true,
        },
        content: "And then?".to_owned(),
    }
}

/// The turn that begins with what was queued after `turn`.
fn next_turn(chat: &Chat, turn: &NewTurn, queued: &QueuedTurn) -> NewTurn {
    NewTurn {
        queued: Some(queued.clone()),
        ..new_turn(chat, Some(turn.assistant.id), "And then?", 11)
    }
}

fn ends_with(unread: &ReceivedInput) -> RunSummary {
    let mut end = summary("Hello");
    end.unread = vec![unread.clone()];
    end
}

async fn begin_with_the_end_of_the_run(store: Store) {
    let owner = add_user(&store).await;
    let chat = add_chat(&store, owner, "Plans", 5).await;
    let turn = new_turn(&chat, None, "Hi", 6);
    store.begin_turn(&turn).await.unwrap();
    let first = input("i1");
    let end = ends_with(&first);
    store.finish_run(turn.run.id, 7, &end).await.unwrap();
    let queued = QueuedTurn {
        run: turn.run.id,
        request: Some("{}".to_owned()),
        inputs: vec![first],
        queued_at: 7,
    };
    let another = add_chat(&store, owner, "Notes", 5).await;
    assert_eq!(store.queued_in_chat(another.id).await.unwrap(), []);
    let in_chat = store.queued_in_chat(chat.id).await.unwrap();
    assert_eq!(in_chat, std::slice::from_ref(&queued));
    assert_eq!(store.queued_turns(6, 10).await.unwrap(), [queued.run]);
    assert_eq!(store.queued_turns(7, 10).await.unwrap(), []);
    assert_eq!(
        store.queued_turn(queued.run).await,
        Ok(Some(queued.clone()))
    );
    assert_eq!(
        store.finish_run(turn.run.id, 8, &end).await,
        Err(StoreError::Conflict("finished"))
    );
    let next = next_turn(&chat, &turn, &queued);
    store.begin_turn(&next).await.unwrap();
    assert_eq!(store.queued_turns(0, 10).await.unwrap(), []);
    let second = next_turn(&chat, &turn, &queued);
    assert_eq!(
        store.begin_turn(&second).await.map(drop),
        Err(StoreError::Conflict("queued"))
    );
    let in_chat = store.messages(chat.id).await.unwrap();
    assert!(in_chat.iter().all(|it| it.id != second.assistant.id));
}

async fn gain_what_comes_late(store: Store) {
    let owner = add_user(&store).await;
    let chat = add_chat(&store, owner, "Plans", 5).await;
    let turn = new_turn(&chat, None, "Hi", 6);
    store.begin_turn(&turn).await.unwrap();
    store
        .finish_run(turn.run.id, 7, &summary("Hello"))
        .await
        .unwrap();
    assert_eq!(store.queued_turns(0, 10).await.unwrap(), []);
    let (first, second) = (input("i1"), input("i2"));
    for late in [&first, &first, &second] {
        store
            .queue_turn(turn.run.id, std::slice::from_ref(late), 9)
            .await
            .unwrap();
    }
    let queued = store.queued_in_chat(chat.id).await.unwrap();
    assert_eq!(queued[0].inputs, [first.clone(), second.clone()]);
    assert_eq!(queued[0].request, None);
    let run = turn.run.id;
    let others = Some(UserId::generate());
    assert_eq!(store.unqueue_input(run, "i1", others).await, Ok(false));
    let own = Some(first.by.id);
    assert_eq!(store.unqueue_input(run, "i1", own).await, Ok(true));
    assert_eq!(store.unqueue_input(run, "i1", None).await, Ok(false));
    let queued = store.queued_in_chat(chat.id).await.unwrap();
    assert_eq!(queued[0].inputs, std::slice::from_ref(&second));
    // A turn with an input that its author has withdrawn meanwhile.
    let both = QueuedTurn {
        inputs: vec![first, second.clone()],
        ..queued[0].clone()
    };
    assert_eq!(
        store
            .begin_turn(&next_turn(&chat, &turn, &both))
            .await
            .map(drop),
        Err(StoreError::Conflict("queued"))
    );
    assert_eq!(store.queued_in_chat(chat.id).await.unwrap(), queued);
    // A turn that knows nothing of an input that came since.
    let third = input("i3");
    store
        .queue_turn(run, std::slice::from_ref(&third), 10)
        .await
        .unwrap();
    store
        .begin_turn(&next_turn(&chat, &turn, &queued[0]))
        .await
        .unwrap();
    let left = store.queued_in_chat(chat.id).await.unwrap();
    assert_eq!(left[0].inputs, [third]);
    assert_eq!(store.unqueue_input(run, "i3", None).await, Ok(true));
    assert_eq!(store.queued_turns(0, 10).await.unwrap(), []);
}

async fn are_only_of_chats(store: Store) {
    let owner = add_user(&store).await;
    let run = add_run(&store, owner).await;
    let end = ends_with(&input("i1"));
    store.finish_run(run, 7, &end).await.unwrap();
    assert_eq!(store.queued_turns(0, 10).await.unwrap(), []);
    assert_eq!(
        store.queue_turn(run, &[input("i2")], 8).await,
        Err(StoreError::NotFound)
    );
}

async fn name_guests(store: Store) {
    let owner = add_user(&store).await;
    let guest = add_user(&store).await;
    let chat = add_chat(&store, owner, "Plans", 5).await;
    store
        .add_reader(owner, chat.id, guest, false, 10, 1)
        .await
        .unwrap();
    assert!(!store.shared_chat(guest, chat.id).await.unwrap().may_reply);
    store
        .add_reader(owner, chat.id, guest, true, 10, 2)
        .await
        .unwrap();
    assert!(store.shared_chat(guest, chat.id).await.unwrap().may_reply);
    assert!(store.sharing(owner, chat.id).await.unwrap().readers[0].may_reply);
    let mut turn = new_turn(&chat, None, "Hi", 6);
    let author = input("i1").by;
    if let Some(user) = &mut turn.user {
        user.author = Some(author.clone());
    }
    store.begin_turn(&turn).await.unwrap();
    let messages = store.messages(chat.id).await.unwrap();
    assert_eq!(messages[0].author, Some(author));
    assert_eq!(messages[1].author, None);
}
