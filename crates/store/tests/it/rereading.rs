//! Documents that an earlier version of the reader has read are read again.

use store::{Collection, DocumentState, ReadingResult, ReadingTask, Store};

use crate::{
    fixtures::add_user,
    knowledge::{LIMITS, add, document, text},
};

on_every_database!(
    earlier_texts_are_read_again,
    a_text_stays_if_its_file_cannot_be_read_again,
    files_that_are_replaced_meanwhile_stay
);

/// A document that version 1 of the reader has read.
async fn read(store: &Store) -> (Collection, ReadingTask) {
    let collection = add(store, add_user(store).await, "Mine").await;
    put(store, &collection).await;
    let unread = store.claim_document(10, 20).await.unwrap().unwrap();
    store
        .settle_document(&unread, &text("hello"), Some(1), 11)
        .await
        .unwrap();
    (collection, unread)
}

async fn put(store: &Store, of: &Collection) {
    store
        .put_document(of.owner, &document(of, "a.txt"), b"hello", LIMITS)
        .await
        .unwrap();
}

async fn outdated(store: &Store, reader: u64, now: i64) -> Option<ReadingTask> {
    store
        .claim_outdated_document(reader, now, now + 10)
        .await
        .unwrap()
}

async fn content(store: &Store, of: &ReadingTask) -> String {
    store.document_text(of.id).await.unwrap().0
}

async fn earlier_texts_are_read_again(store: Store) {
    let (collection, of) = read(&store).await;
    assert_eq!(outdated(&store, 1, 100).await, None);
    let again = outdated(&store, 2, 100).await.unwrap();
    assert_eq!((again.id, again.is_reread), (of.id, true));
    assert_eq!(outdated(&store, 2, 109).await, None, "it is claimed");
    assert!(store.is_wanted(&again).await.unwrap());

    // The same text is no change, so nothing is embedded again.
    store
        .settle_document(&again, &text("hello"), Some(2), 101)
        .await
        .unwrap();
    assert_eq!(outdated(&store, 2, 200).await, None);
    let kept = store.document(collection.id, of.id).await.unwrap();
    assert_eq!((kept.state, kept.version), (DocumentState::Ready, 1));

    let again = outdated(&store, 3, 200).await.unwrap();
    store
        .settle_document(&again, &text("better"), Some(3), 201)
        .await
        .unwrap();
    let changed = store.document(collection.id, of.id).await.unwrap();
    assert_eq!((changed.state, changed.version), (DocumentState::Ready, 2));
    assert_eq!(content(&store, &of).await, "better");
    assert_eq!(outdated(&store, 3, 300).await, None);
}

async fn a_text_stays_if_its_file_cannot_be_read_again(store: Store) {
    let (collection, of) = read(&store).await;
    let again = outdated(&store, 2, 100).await.unwrap();
    store
        .settle_document(&again, &ReadingResult::Problem("{}".into()), Some(2), 101)
        .await
        .unwrap();
    let kept = store.document(collection.id, of.id).await.unwrap();
    assert_eq!(
        (kept.state, kept.problem, kept.version),
        (DocumentState::Ready, None, 1)
    );
    assert_eq!(content(&store, &of).await, "hello");
    assert_eq!(outdated(&store, 2, 200).await, None, "once is enough");
}

async fn files_that_are_replaced_meanwhile_stay(store: Store) {
    let (collection, of) = read(&store).await;
    let again = outdated(&store, 2, 100).await.unwrap();
    put(&store, &collection).await;
    assert!(!store.is_wanted(&again).await.unwrap());
    store
        .settle_document(&again, &text("too late"), Some(2), 101)
        .await
        .unwrap();
    assert_eq!(content(&store, &of).await, "hello");
    let next = store.claim_document(102, 110).await.unwrap().unwrap();
    assert_eq!((next.id, next.upload), (of.id, 2));
}
