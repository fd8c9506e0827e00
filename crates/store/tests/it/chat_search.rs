//! Finding what was said by its words.

use std::collections::HashSet;

use domain::{ChatId, UserId};
use store::{ChatOrganizationChange, ChatSearch, Found, SearchPiece, SearchWord, Store};

use crate::fixtures::{add_chat, add_user, new_turn, segment, summary, text};

on_every_database!(
    finds_titles_and_messages,
    finds_tool_results,
    knows_what_changed_meanwhile,
    pages_from_the_newest,
    hides_other_peoples_chats,
    leaves_out_what_is_put_away,
    keeps_to_the_branch_that_is_shown,
    forgets_what_is_deleted,
    takes_any_word,
);

fn words(text: &str) -> HashSet<String> {
    text.split_whitespace().map(str::to_lowercase).collect()
}

/// Makes everything searchable; `answers` are what the tools of each run have said at event 2.
async fn fill(store: &Store, answers: &str) {
    loop {
        let due = store.search_due(10).await.unwrap();
        if due.is_empty() {
            return;
        }
        let pieces = due.into_iter().map(|due| {
            let said = match &due.message {
                None => words(&due.title),
                Some((_, content, _)) => words(&domain::message::plain_text(content)),
            };
            let mut pieces = vec![SearchPiece {
                seq: 0,
                words: said,
            }];
            if matches!(&due.message, Some((_, _, Some(_)))) {
                pieces.push(SearchPiece {
                    seq: 2,
                    words: words(answers),
                });
            }
            (due, pieces)
        });
        store
            .make_searchable(&pieces.collect::<Vec<_>>())
            .await
            .unwrap();
    }
}

fn asked(query: &str) -> ChatSearch {
    let (query, start) = match query.strip_suffix('*') {
        Some(query) => (query, true),
        None => (query, false),
    };
    let last = query.split_whitespace().count();
    let words = query
        .split_whitespace()
        .zip(1..)
        .map(|(word, at)| SearchWord {
            forms: vec![word.to_owned()],
            start: (start && at == last).then(|| word.to_owned()),
        });
    ChatSearch {
        words: words.collect(),
        limit: 10,
        ..ChatSearch::default()
    }
}

async fn search(store: &Store, who: UserId, search: &ChatSearch) -> Found {
    store.search_chats(who, search).await.unwrap()
}

/// The texts of the messages that were found.
async fn found(store: &Store, who: UserId, query: &str) -> Vec<String> {
    let found = search(store, who, &asked(query)).await;
    let said = found.places.into_iter().map(|place| place.message.unwrap());
    said.map(|message| domain::message::plain_text(&message.content))
        .collect()
}

async fn finds_titles_and_messages(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "Tides", 5).await;
    let turn = new_turn(&chat, None, "Когда прилив", 10);
    store.begin_turn(&turn).await.unwrap();
    store
        .finish_run(turn.run.id, 20, &summary("At noon прилив"))
        .await
        .unwrap();
    assert_eq!(
        found(&store, ann, "прилив").await,
        [""; 0],
        "nothing is known yet"
    );
    fill(&store, "").await;
    assert_eq!(found(&store, ann, "прилив").await.len(), 2);
    assert_eq!(found(&store, ann, "прилив когда").await, ["Когда прилив"]);
    assert_eq!(found(&store, ann, "прилив noo*").await, ["At noon прилив"]);
    assert_eq!(
        found(&store, ann, "tides").await,
        [""; 0],
        "that is a title"
    );
    let titles = ChatSearch {
        titles: true,
        ..asked("tid*")
    };
    let titles = search(&store, ann, &titles).await.places;
    assert_eq!(
        (titles.len(), titles[0].chat.chat.id, &titles[0].message),
        (1, chat.id, &None)
    );
    let none = ChatSearch {
        titles: true,
        ..asked("прилив")
    };
    assert_eq!(search(&store, ann, &none).await, Found::default());
    assert_eq!(search(&store, ann, &asked("")).await, Found::default());
}

async fn finds_tool_results(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "Work", 5).await;
    let turn = new_turn(&chat, None, "q", 10);
    store.begin_turn(&turn).await.unwrap();
    store.append(segment(turn.run.id, 1, 3)).await.unwrap();
    store
        .finish_run(turn.run.id, 20, &summary("done"))
        .await
        .unwrap();
    fill(&store, "sea level").await;
    let places = search(&store, ann, &asked("level")).await.places;
    let message = places[0].message.as_ref().unwrap();
    assert_eq!(
        (places.len(), message.id, message.answer),
        (1, turn.assistant.id, Some((turn.run.id, 2)))
    );
    assert_eq!(
        store.event(turn.run.id, 2).await.unwrap().as_deref(),
        Some("{\"seq\":2}")
    );
    assert_eq!(store.event(turn.run.id, 9).await.unwrap(), None);
}

async fn knows_what_changed_meanwhile(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "Old", 5).await;
    let due = store.search_due(10).await.unwrap();
    assert_eq!(due.len(), 1);
    store.rename_chat(ann, chat.id, "New", 6).await.unwrap();
    let stale = vec![SearchPiece {
        seq: 0,
        words: words("old"),
    }];
    store
        .make_searchable(&[(due[0].clone(), stale)])
        .await
        .unwrap();
    let titles = async |query| {
        let titles = ChatSearch {
            titles: true,
            ..asked(query)
        };
        search(&store, ann, &titles).await.places.len()
    };
    assert_eq!(titles("old").await, 0, "it has another name by now");
    fill(&store, "").await;
    assert_eq!((titles("old").await, titles("new").await), (0, 1));
    store.rename_chat(ann, chat.id, "Newer", 7).await.unwrap();
    fill(&store, "").await;
    assert_eq!((titles("new").await, titles("newer").await), (0, 1));
}

async fn pages_from_the_newest(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "", 5).await;
    let mut parent = None;
    // Some of them at one moment.
    for at in [10, 10, 30, 20, 40] {
        let turn = new_turn(&chat, parent, &format!("tide {at}"), at);
        store.begin_turn(&turn).await.unwrap();
        parent = Some(turn.assistant.id);
    }
    fill(&store, "").await;
    let mut said = Vec::new();
    let mut before = None;
    loop {
        let page = ChatSearch {
            before,
            limit: 2,
            ..asked("tide")
        };
        let page = search(&store, ann, &page).await;
        assert!(!page.places.is_empty() && page.places.len() <= 2);
        said.extend(
            page.places
                .iter()
                .map(|place| place.message.as_ref().unwrap().created_at),
        );
        match page.next {
            Some(next) => before = Some(next),
            None => break,
        }
    }
    assert_eq!(said, [40, 30, 20, 10, 10]);
}

async fn hides_other_peoples_chats(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let eve = add_user(&store).await;
    let chat = add_chat(&store, ann, "Secret", 5).await;
    store
        .begin_turn(&new_turn(&chat, None, "secret tide", 10))
        .await
        .unwrap();
    fill(&store, "").await;
    for who in [bob, eve] {
        assert_eq!(found(&store, who, "tide").await, [""; 0]);
    }
    store
        .add_reader(ann, chat.id, bob, false, 10, 11)
        .await
        .unwrap();
    assert_eq!(found(&store, bob, "tide").await, ["secret tide"]);
    assert_eq!(found(&store, eve, "tide").await, [""; 0]);
    store.remove_reader(ann, chat.id, bob).await.unwrap();
    assert_eq!(found(&store, bob, "tide").await, [""; 0]);
}

async fn leaves_out_what_is_put_away(store: Store) {
    let ann = add_user(&store).await;
    let kept = add_chat(&store, ann, "", 5).await;
    let away = add_chat(&store, ann, "", 5).await;
    for at in 0..30 {
        store
            .begin_turn(&new_turn(&away, None, "tide away", 100 + at))
            .await
            .unwrap();
    }
    store
        .begin_turn(&new_turn(&kept, None, "tide", 10))
        .await
        .unwrap();
    let archive = ChatOrganizationChange {
        archived: Some(true),
        ..ChatOrganizationChange::default()
    };
    store
        .organize_chats(ann, &[away.id], &archive)
        .await
        .unwrap();
    fill(&store, "").await;
    let few = ChatSearch {
        limit: 3,
        ..asked("tide")
    };
    let places = search(&store, ann, &few).await.places;
    assert_eq!(
        places
            .iter()
            .map(|place| place.chat.chat.id)
            .collect::<Vec<ChatId>>(),
        [kept.id]
    );
    let all = ChatSearch {
        archived: true,
        limit: 100,
        ..asked("tide")
    };
    assert_eq!(search(&store, ann, &all).await.places.len(), 31);
}

async fn keeps_to_the_branch_that_is_shown(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "", 5).await;
    let first = new_turn(&chat, None, "tide one", 10);
    store.begin_turn(&first).await.unwrap();
    store
        .begin_turn(&new_turn(&chat, Some(first.assistant.id), "tide below", 11))
        .await
        .unwrap();
    store
        .begin_turn(&new_turn(&chat, None, "tide beside", 12))
        .await
        .unwrap();
    fill(&store, "").await;
    let shown = ChatSearch {
        shown: true,
        ..asked("tide")
    };
    assert_eq!(search(&store, ann, &asked("tide")).await.places.len(), 3);
    let places = search(&store, ann, &shown).await.places;
    assert_eq!(
        places[0].message.as_ref().unwrap().content,
        text("tide beside")
    );
    assert_eq!(places.len(), 1);
}

async fn forgets_what_is_deleted(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "Tides", 5).await;
    store
        .begin_turn(&new_turn(&chat, None, "tide", 10))
        .await
        .unwrap();
    fill(&store, "").await;
    // Something is due again when it goes.
    store.rename_chat(ann, chat.id, "Other", 6).await.unwrap();
    store.delete_chat(ann, chat.id).await.unwrap();
    assert_eq!(store.search_due(10).await.unwrap(), []);
    assert_eq!(found(&store, ann, "tide").await, [""; 0]);
}

async fn takes_any_word(store: Store) {
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "", 5).await;
    store
        .begin_turn(&new_turn(&chat, None, "知識 ё o’neil", 10))
        .await
        .unwrap();
    fill(&store, "").await;
    for word in ["知識", "ё", "o’neil", "知*"] {
        assert_eq!(found(&store, ann, word).await.len(), 1, "{word}");
    }
    for word in ["'", "\"", "\\", "'':*", "§title", "a\0b", "NOT", "&"] {
        let search = ChatSearch {
            words: vec![SearchWord {
                forms: vec![word.to_owned()],
                start: Some(word.to_owned()),
            }],
            limit: 10,
            ..ChatSearch::default()
        };
        assert_eq!(
            store.search_chats(ann, &search).await.unwrap().places.len(),
            0,
            "{word}"
        );
    }
}
