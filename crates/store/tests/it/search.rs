//! Finding chats by what was said in them.

use domain::UserId;
use proptest::{prelude::*, test_runner::TestRunner};
use store::{ChatPage, Store};
use tokio::runtime::Runtime;

use crate::fixtures::{add_chat, add_user, new_turn, summary};

on_every_database!(
    finds_in_titles_and_messages,
    takes_wildcards_as_they_are,
    pages_what_it_finds
);

async fn find(store: &Store, owner: UserId, query: &str) -> Vec<String> {
    let page = ChatPage {
        query: Some(query.to_owned()),
        before: None,
        limit: 100,
        ..ChatPage::default()
    };
    store
        .chats(owner, &page)
        .await
        .unwrap()
        .into_iter()
        .map(|chat| chat.title)
        .collect()
}

async fn finds_in_titles_and_messages(store: Store) {
    let ann = add_user(&store).await;
    let trip = add_chat(&store, ann, "Поездка в ЁЛКИНО", 1).await;
    let work = add_chat(&store, ann, "Straße", 2).await;
    let turn = new_turn(&work, None, "Где МОЙ отчёт?", 3);
    store.begin_turn(&turn).await.unwrap();
    store
        .finish_run(turn.run.id, 4, &summary("На ПОЛКЕ, nul \0 here"))
        .await
        .unwrap();

    for query in ["ёлкино", "ПОЕЗДКА", "в ёлк"] {
        assert_eq!(
            find(&store, ann, query).await,
            [trip.title.as_str()],
            "{query}"
        );
    }
    for query in ["STRA", "мой ОТЧЁТ", "полке", "nul \0 HERE"] {
        assert_eq!(
            find(&store, ann, query).await,
            [work.title.as_str()],
            "{query}"
        );
    }
    assert_eq!(find(&store, ann, "").await.len(), 2);
    assert!(find(&store, ann, "полка").await.is_empty());
    store.rename_chat(ann, trip.id, "Other", 5).await.unwrap();
    assert!(find(&store, ann, "поездка").await.is_empty());
}

async fn takes_wildcards_as_they_are(store: Store) {
    let ann = add_user(&store).await;
    for title in [
        "100% sure",
        "1000 sure",
        r"C:\temp",
        "C:/temp",
        "snake_case",
        "snakeXcase",
    ] {
        add_chat(&store, ann, title, 1).await;
    }
    for (query, title) in [
        ("100%", "100% sure"),
        (r":\t", r"C:\temp"),
        ("e_c", "snake_case"),
    ] {
        assert_eq!(find(&store, ann, query).await, [title], "{query}");
    }
    for query in ["%%", "__", r"\\", "'", "%sure"] {
        assert!(find(&store, ann, query).await.is_empty(), "{query}");
    }
}

async fn pages_what_it_finds(store: Store) {
    let ann = add_user(&store).await;
    for (title, updated_at) in [("Да 1", 1), ("нет", 2), ("да 2", 3), ("ДА 3", 4)] {
        add_chat(&store, ann, title, updated_at).await;
    }
    let page = ChatPage {
        query: Some("да".into()),
        before: Some(4),
        limit: 1,
        ..ChatPage::default()
    };
    assert_eq!(store.chats(ann, &page).await.unwrap()[0].title, "да 2");
}

/// Whatever a title holds, every piece of it finds it, in capitals too where those fold back.
#[test]
fn every_piece_of_a_title_finds_it() {
    let runtime = Runtime::new().unwrap();
    let store = runtime.block_on(Store::open("sqlite::memory:")).unwrap();
    let cases = ProptestConfig {
        cases: 100,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let title_and_cut = (
        ".{1,30}",
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
    );
    let check = |(title, from, to): (String, prop::sample::Index, prop::sample::Index)| {
        let characters: Vec<char> = title.chars().collect();
        let from = from.index(characters.len());
        let to = from + to.index(characters.len() - from);
        let piece: String = characters[from..=to].iter().collect();
        let found = runtime.block_on(async {
            let owner = add_user(&store).await;
            let chat = add_chat(&store, owner, &title, 1).await;
            let found = find(&store, owner, &piece).await;
            store.delete_chat(owner, chat.id).await.unwrap();
            found
        });
        prop_assert_eq!(found, [title.replace('\0', "\u{fffd}")]);
        Ok(())
    };
    TestRunner::new(cases).run(&title_and_cut, check).unwrap();
}
