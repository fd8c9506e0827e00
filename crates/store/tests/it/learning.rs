//! What agents learn about people from what these write.

use domain::{FactId, MessageId, UserId};
use store::{Chat, ChatToLearnFrom, Learned, MemoryUse, NewFact, Store, StoreError};

use crate::{
    fixtures::{add_chat, add_user, new_turn, summary},
    forks::fork_of,
};

on_every_database!(
    idle_chats_are_processed_once,
    chats_whose_run_waits_are_not_in_the_way,
    what_a_fork_copies_is_not_learned_again,
    other_peoples_chats_stay_unchanged,
    failed_turns_are_retried,
    facts_come_change_and_go,
    facts_of_the_person_stay,
    facts_deleted_meanwhile_do_not_return,
);

/// Somebody who is learned about since 100, and a chat with a message of 200.
async fn learner(store: &Store) -> (UserId, Chat) {
    let ann = add_user(store).await;
    store
        .put_memory_use(
            ann,
            MemoryUse {
                uses_memory: true,
                learns_since: Some(100),
            },
        )
        .await
        .unwrap();
    let chat = add_chat(store, ann, "a", 50).await;
    say(store, &chat, "I like tea.", 200).await;
    (ann, chat)
}

/// Something is said and answered.
async fn say(store: &Store, chat: &Chat, text: &str, now: i64) {
    let turn = new_turn(chat, None, text, now);
    store.begin_turn(&turn).await.unwrap();
    store
        .finish_run(turn.run.id, now, &summary("Well."))
        .await
        .unwrap();
}

async fn waiting(store: &Store, quiet_since: i64) -> Vec<ChatToLearnFrom> {
    store
        .chats_to_learn_from(quiet_since, 1_000, 10)
        .await
        .unwrap()
}

fn fact(text: &str) -> NewFact {
    NewFact {
        id: FactId::generate(),
        text: text.to_owned(),
        message: MessageId::generate(),
    }
}

fn new(facts: &[&NewFact]) -> Learned {
    Learned {
        new: facts.iter().map(|fact| (*fact).clone()).collect(),
        ..Learned::default()
    }
}

async fn texts(store: &Store, owner: UserId) -> Vec<String> {
    store
        .facts(owner)
        .await
        .unwrap()
        .into_iter()
        .map(|fact| fact.text)
        .collect()
}

async fn idle_chats_are_processed_once(store: Store) {
    let (ann, chat) = learner(&store).await;
    assert_eq!(waiting(&store, 199).await, []);
    let [from] = &waiting(&store, 200).await[..] else {
        panic!("one chat waits")
    };
    let expected = ChatToLearnFrom {
        chat: chat.id,
        owner: ann,
        learns_since: 100,
        after: 100,
        until: 200,
        failures: 0,
    };
    assert_eq!(*from, expected);
    assert!(
        store
            .learn(from, &Learned::default(), 9, 300)
            .await
            .unwrap()
    );
    assert_eq!(waiting(&store, 1_000).await, []);
    say(&store, &chat, "And cake.", 400).await;
    assert_eq!(
        waiting(&store, 1_000).await,
        [ChatToLearnFrom {
            after: 200,
            until: 400,
            ..expected
        }]
    );
}

async fn chats_whose_run_waits_are_not_in_the_way(store: Store) {
    let (ann, quiet) = learner(&store).await;
    for _ in 0..3 {
        let chat = add_chat(&store, ann, "waits", 60).await;
        store
            .begin_turn(&new_turn(&chat, None, "Ask me.", 150))
            .await
            .unwrap();
    }
    let found = store.chats_to_learn_from(1_000, 1_000, 1).await.unwrap();
    assert_eq!(
        found.iter().map(|chat| chat.chat).collect::<Vec<_>>(),
        [quiet.id]
    );
}

async fn what_a_fork_copies_is_not_learned_again(store: Store) {
    let (_, chat) = learner(&store).await;
    let from = waiting(&store, 1_000).await.remove(0);
    assert!(
        store
            .learn(&from, &Learned::default(), 9, 300)
            .await
            .unwrap()
    );
    let chat = Chat {
        created_at: 400,
        updated_at: 400,
        ..chat
    };
    let fork = fork_of(&chat, &[]);
    store.fork(&fork).await.unwrap();
    store
        .finish_run(fork.run.id, 400, &summary("Well."))
        .await
        .unwrap();
    assert_eq!(waiting(&store, 1_000).await, []);
    say(&store, &fork.chat, "And cake.", 500).await;
    let [again] = &waiting(&store, 1_000).await[..] else {
        panic!("what is new is looked at")
    };
    assert_eq!((again.chat, again.after), (fork.chat.id, 400));
}

async fn other_peoples_chats_stay_unchanged(store: Store) {
    let (ann, _) = learner(&store).await;
    let bob = add_user(&store).await;
    let chat = add_chat(&store, bob, "b", 500).await;
    say(&store, &chat, "Secret.", 500).await;
    let owners: Vec<UserId> = waiting(&store, 1_000)
        .await
        .iter()
        .map(|chat| chat.owner)
        .collect();
    assert_eq!(owners, [ann]);
    for off in [
        MemoryUse {
            uses_memory: true,
            learns_since: None,
        },
        MemoryUse {
            uses_memory: false,
            learns_since: Some(100),
        },
        // What was said before is not looked at.
        MemoryUse {
            uses_memory: true,
            learns_since: Some(200),
        },
    ] {
        store.put_memory_use(ann, off).await.unwrap();
        assert_eq!(waiting(&store, 1_000).await, [], "{off:?}");
    }
}

async fn failed_turns_are_retried(store: Store) {
    learner(&store).await;
    let from = waiting(&store, 1_000).await.remove(0);
    store.learn_later(&from, 1_001).await.unwrap();
    assert_eq!(waiting(&store, 1_000).await, []);
    store.learn_later(&from, 1_000).await.unwrap();
    assert_eq!(
        waiting(&store, 1_000).await,
        [ChatToLearnFrom {
            failures: 1,
            ..from
        }]
    );
}

/// The next look at the same chat.
fn later(from: &ChatToLearnFrom, by: i64) -> ChatToLearnFrom {
    ChatToLearnFrom {
        until: from.until + by,
        ..from.clone()
    }
}

async fn facts_come_change_and_go(store: Store) {
    let (ann, chat) = learner(&store).await;
    let bob = add_user(&store).await;
    let from = waiting(&store, 1_000).await.remove(0);
    let tea = fact("Likes tea");
    let cake = fact("Likes cake");
    assert!(
        store
            .learn(&from, &new(&[&tea, &cake]), 9, 300)
            .await
            .unwrap()
    );
    let [first, _] = &store.facts(ann).await.unwrap()[..] else {
        panic!("two facts")
    };
    assert_eq!((first.id, first.text.as_str()), (tea.id, "Likes tea"));
    assert_eq!(
        (first.chat, first.message),
        (Some(chat.id), Some(tea.message))
    );
    assert_eq!((first.learned_at, first.corrected), (300, false));
    assert_eq!(store.facts(bob).await.unwrap(), []);

    let changed = NewFact {
        text: "Likes green tea".to_owned(),
        ..tea.clone()
    };
    let learned = Learned {
        new: vec![fact("Has a dog")],
        changed: vec![changed],
        gone: vec![cake.id],
    };
    assert!(
        store
            .learn(&later(&from, 1), &learned, 9, 300)
            .await
            .unwrap()
    );
    // Another server has looked at the same time.
    assert!(
        !store
            .learn(&from, &new(&[&fact("Likes cats")]), 9, 300)
            .await
            .unwrap()
    );
    let mut known = texts(&store, ann).await;
    known.sort_unstable();
    assert_eq!(known, ["Has a dog", "Likes green tea"]);
    // No more than there may be.
    assert!(
        store
            .learn(&later(&from, 2), &new(&[&fact("a"), &fact("b")]), 3, 300)
            .await
            .unwrap()
    );
    assert_eq!(texts(&store, ann).await.len(), 3);
    store.delete_chat(ann, chat.id).await.unwrap();
    assert!(
        store
            .facts(ann)
            .await
            .unwrap()
            .iter()
            .all(|fact| fact.chat.is_none())
    );
    assert_eq!(
        store.learn(&from, &Learned::default(), 3, 300).await,
        Err(StoreError::NotFound)
    );
}

async fn facts_of_the_person_stay(store: Store) {
    let (ann, _) = learner(&store).await;
    let bob = add_user(&store).await;
    let from = waiting(&store, 1_000).await.remove(0);
    let tea = fact("Likes tea");
    assert!(store.learn(&from, &new(&[&tea]), 9, 300).await.unwrap());
    assert_eq!(
        store.correct_fact(bob, tea.id, "x").await,
        Err(StoreError::NotFound)
    );
    assert!(
        store
            .correct_fact(ann, tea.id, "Hates tea")
            .await
            .unwrap()
            .corrected
    );
    let again = Learned {
        changed: vec![tea.clone()],
        gone: vec![tea.id],
        new: vec![],
    };
    assert!(store.learn(&later(&from, 1), &again, 9, 300).await.unwrap());
    assert_eq!(texts(&store, ann).await, ["Hates tea"]);
    assert_eq!(
        store.forget_fact(bob, tea.id).await,
        Err(StoreError::NotFound)
    );
    store.forget_fact(ann, tea.id).await.unwrap();
    assert_eq!(texts(&store, ann).await, [""; 0]);
}

async fn facts_deleted_meanwhile_do_not_return(store: Store) {
    let (ann, _) = learner(&store).await;
    let from = waiting(&store, 1_000).await.remove(0);
    let tea = fact("Likes tea");
    assert!(store.learn(&from, &new(&[&tea]), 9, 300).await.unwrap());
    // A look that began with the fact ends after it was forgotten.
    store.forget_fact(ann, tea.id).await.unwrap();
    let again = Learned {
        changed: vec![tea.clone()],
        ..Learned::default()
    };
    assert!(store.learn(&later(&from, 1), &again, 9, 300).await.unwrap());
    assert_eq!(texts(&store, ann).await, [""; 0]);
    // All forgotten, or turned off: the look is dropped as a whole.
    store.forget_all_facts(ann, 100).await.unwrap();
    assert_eq!(store.memory_use(ann).await.unwrap().learns_since, Some(101));
    assert!(!store.learn(&from, &new(&[&tea]), 9, 300).await.unwrap());
    store.forget_all_facts(ann, 500).await.unwrap();
    assert_eq!(store.memory_use(ann).await.unwrap().learns_since, Some(500));
    store
        .put_memory_use(
            ann,
            MemoryUse {
                uses_memory: true,
                learns_since: None,
            },
        )
        .await
        .unwrap();
    assert!(!store.learn(&from, &new(&[&tea]), 9, 300).await.unwrap());
    assert_eq!(texts(&store, ann).await, [""; 0]);
    store.forget_all_facts(ann, 500).await.unwrap();
    assert_eq!(store.memory_use(ann).await.unwrap().learns_since, None);
}
