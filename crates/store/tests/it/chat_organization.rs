//! Folders, tags, what stands above and what is put away.

use domain::FolderId;
use store::{ChatOrganization, ChatOrganizationChange, ChatPage, Store, StoreError};

use crate::fixtures::{add_chat, add_user};

on_every_database!(
    folders_are_a_persons_own,
    many_chats_move_at_once,
    lists_what_is_asked_for,
    tags_of_a_person_stay,
);

fn names(tags: &[&str]) -> Vec<String> {
    tags.iter().map(|tag| (*tag).to_owned()).collect()
}

async fn folders_are_a_persons_own(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let work = FolderId::generate();
    let home = FolderId::generate();
    store.create_folder(ann, work, "Работа", 2).await.unwrap();
    let same = store.create_folder(ann, home, "РАБОТА", 2).await;
    assert_eq!(same, Err(StoreError::Conflict("name")));
    store.create_folder(ann, home, "Home", 2).await.unwrap();
    let third = store
        .create_folder(ann, FolderId::generate(), "Third", 2)
        .await;
    assert_eq!(third, Err(StoreError::Conflict("folders")));
    assert_eq!(
        store.rename_folder(ann, home, "работа").await,
        Err(StoreError::Conflict("name"))
    );
    assert_eq!(
        store.rename_folder(bob, home, "Mine").await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store.delete_folder(bob, home).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(store.folder_named(ann, "работа", 2).await, Ok(Some(work)));
    assert_eq!(store.folder_named(ann, "Fourth", 2).await, Ok(None));
    assert!(
        store
            .folder_named(bob, "Работа", 2)
            .await
            .unwrap()
            .is_some_and(|id| id != work)
    );

    let chat = add_chat(&store, ann, "a", 1).await;
    let into = |folder| ChatOrganizationChange {
        folder: Some(folder),
        ..ChatOrganizationChange::default()
    };
    assert_eq!(
        store
            .organize_chats(ann, &[chat.id], &into(Some(work)))
            .await,
        Ok(1)
    );
    let counts: Vec<(String, u64)> = store
        .folders(ann)
        .await
        .unwrap()
        .into_iter()
        .map(|folder| (folder.name, folder.chats))
        .collect();
    assert_eq!(counts, [("Home".to_owned(), 0), ("Работа".to_owned(), 1)]);
    store.delete_folder(ann, work).await.unwrap();
    assert_eq!(
        store
            .chat(&store::Principal::of_account(ann), chat.id)
            .await
            .unwrap()
            .order,
        ChatOrganization::default()
    );
}

async fn many_chats_move_at_once(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let one = add_chat(&store, ann, "1", 1).await;
    let two = add_chat(&store, ann, "2", 2).await;
    let foreign = add_chat(&store, bob, "3", 3).await;
    let folder = FolderId::generate();
    store.create_folder(ann, folder, "F", 5).await.unwrap();
    let change = ChatOrganizationChange {
        pinned: Some(true),
        archived: None,
        folder: Some(Some(folder)),
    };
    assert_eq!(
        store
            .organize_chats(ann, &[one.id, foreign.id, two.id], &change)
            .await,
        Ok(2)
    );
    let order = ChatOrganization {
        pinned: true,
        folder: Some(folder),
        ..ChatOrganization::default()
    };
    let moved = store
        .chat(&store::Principal::of_account(ann), two.id)
        .await
        .unwrap();
    assert_eq!(
        (&moved.order, moved.updated_at),
        (&order, 2),
        "moving a chat is no change in it"
    );
    assert_eq!(
        store
            .chat(&store::Principal::of_account(bob), foreign.id)
            .await
            .unwrap()
            .order,
        ChatOrganization::default()
    );
    assert_eq!(
        store.organize_chats(bob, &[foreign.id], &change).await,
        Err(StoreError::NotFound)
    );
    let away = ChatOrganizationChange {
        archived: Some(true),
        ..ChatOrganizationChange::default()
    };
    store.organize_chats(ann, &[one.id], &away).await.unwrap();
    let both = ChatOrganization {
        archived: true,
        ..order
    };
    assert_eq!(
        store
            .chat(&store::Principal::of_account(ann), one.id)
            .await
            .unwrap()
            .order,
        both
    );
    assert_eq!(store.folders(ann).await.unwrap()[0].chats, 1);
}

async fn lists_what_is_asked_for(store: Store) {
    let ann = add_user(&store).await;
    let folder = FolderId::generate();
    store.create_folder(ann, folder, "F", 5).await.unwrap();
    let a = add_chat(&store, ann, "a", 1).await;
    let b = add_chat(&store, ann, "b", 2).await;
    let c = add_chat(&store, ann, "c", 3).await;
    let away = ChatOrganizationChange {
        archived: Some(true),
        ..ChatOrganizationChange::default()
    };
    store.organize_chats(ann, &[a.id], &away).await.unwrap();
    let pinned = ChatOrganizationChange {
        pinned: Some(true),
        folder: Some(Some(folder)),
        ..ChatOrganizationChange::default()
    };
    store.organize_chats(ann, &[b.id], &pinned).await.unwrap();
    store.set_tags(ann, c.id, &names(&["rust"])).await.unwrap();
    let titles = async |page: ChatPage| -> String {
        let page = ChatPage { limit: 10, ..page };
        store
            .chats(ann, &page)
            .await
            .unwrap()
            .into_iter()
            .map(|chat| chat.title)
            .collect()
    };
    let all = ChatPage::default;
    assert_eq!(titles(all()).await, "cba");
    assert_eq!(
        titles(ChatPage {
            archived: Some(false),
            ..all()
        })
        .await,
        "cb"
    );
    assert_eq!(
        titles(ChatPage {
            archived: Some(true),
            ..all()
        })
        .await,
        "a"
    );
    assert_eq!(
        titles(ChatPage {
            pinned: true,
            ..all()
        })
        .await,
        "b"
    );
    assert_eq!(
        titles(ChatPage {
            folder: Some(folder),
            ..all()
        })
        .await,
        "b"
    );
    assert_eq!(
        titles(ChatPage {
            tag: Some("rust".to_owned()),
            ..all()
        })
        .await,
        "c"
    );
    assert_eq!(
        titles(ChatPage {
            tag: Some("go".to_owned()),
            ..all()
        })
        .await,
        ""
    );
}

async fn tags_of_a_person_stay(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let chat = add_chat(&store, ann, "a", 1).await;
    let tags = async || {
        store
            .chat(&store::Principal::of_account(ann), chat.id)
            .await
            .unwrap()
            .order
            .tags
    };
    assert_eq!(
        store
            .set_generated_tags(chat.id, &names(&["sea", "море"]))
            .await,
        Ok(true)
    );
    assert_eq!(tags().await, ["sea", "море"]);
    assert_eq!(
        store.set_generated_tags(chat.id, &names(&["moon"])).await,
        Ok(true)
    );
    assert_eq!(tags().await, ["moon"]);
    assert_eq!(
        store.set_tags(bob, chat.id, &names(&["x"])).await,
        Err(StoreError::NotFound)
    );
    store
        .set_tags(ann, chat.id, &names(&["tides", "aa"]))
        .await
        .unwrap();
    assert_eq!(
        store.set_generated_tags(chat.id, &names(&["moon"])).await,
        Ok(false)
    );
    assert_eq!(
        tags().await,
        ["tides", "aa"],
        "in the order they were given"
    );
    let other = add_chat(&store, ann, "b", 2).await;
    store
        .set_tags(ann, other.id, &names(&["aa"]))
        .await
        .unwrap();
    let counts = store.tags(ann).await.unwrap();
    let counts: Vec<(&str, u64)> = counts
        .iter()
        .map(|count| (count.tag.as_str(), count.chats))
        .collect();
    assert_eq!(counts, [("aa", 2), ("tides", 1)]);
    assert!(store.tags(bob).await.unwrap().is_empty());
    store.set_tags(ann, chat.id, &[]).await.unwrap();
    assert_eq!(
        store.set_generated_tags(chat.id, &names(&["moon"])).await,
        Ok(false),
        "none is a choice, too"
    );
    store.delete_chat(ann, other.id).await.unwrap();
    assert!(store.tags(ann).await.unwrap().is_empty());
}
