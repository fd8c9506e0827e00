//! Texts of documents as answers cite them.

use std::collections::HashSet;

use domain::DocumentId;
use store::{
    CitedTexts, Collection, CollectionChange, DocumentCopy, DocumentState, ReadingResult,
    ReadingTask, Store, StoreError,
};

use crate::{
    fixtures::add_user,
    knowledge::{LIMITS, add, document, text},
};

on_every_database!(
    a_cited_text_is_kept_when_it_changes,
    the_same_text_is_no_change,
    a_cited_text_is_kept_when_its_document_is_deleted,
    a_cited_text_is_deleted_on_request,
    readers_of_the_collection_may_read_copies,
    copies_end_with_their_collection,
    old_copies_are_deleted
);

/// Reads a new file under that name.
async fn read(store: &Store, of: &Collection, content: &str, now: i64) -> ReadingTask {
    put(store, of).await;
    let task = store.claim_document(now, now + 10).await.unwrap().unwrap();
    store
        .settle_document(&task, &text(content), Some(1), now + 1)
        .await
        .unwrap();
    task
}

async fn put(store: &Store, of: &Collection) {
    store
        .put_document(of.owner, &document(of, "a.txt"), b"file", LIMITS)
        .await
        .unwrap();
}

/// Records that the current text is cited, and returns its version.
async fn cite(store: &Store, of: &Collection, id: DocumentId) -> u64 {
    let version = store.document(of.id, id).await.unwrap().version;
    let current = store.note_citations(&[(id, version)]).await.unwrap();
    assert_eq!(current, HashSet::from([(id, version)]));
    version
}

async fn copy(
    store: &Store,
    of: &Collection,
    id: DocumentId,
    version: u64,
) -> Result<DocumentCopy, StoreError> {
    store.readable_copy(of.owner, of.id, id, version).await
}

async fn is_cited(store: &Store, of: &Collection, id: DocumentId) -> bool {
    store.document(of.id, id).await.unwrap().cited
}

const MISSING: StoreError = StoreError::NotFound;

async fn a_cited_text_is_kept_when_it_changes(store: Store) {
    let mine = add(&store, add_user(&store).await, "Mine").await;
    let id = read(&store, &mine, "first", 10).await.id;
    assert!(!is_cited(&store, &mine, id).await);
    let version = cite(&store, &mine, id).await;
    assert_eq!(cite(&store, &mine, id).await, version, "again");
    assert!(is_cited(&store, &mine, id).await);
    let current = copy(&store, &mine, id, version).await;
    assert_eq!(current, Err(MISSING), "it is still the current text");

    read(&store, &mine, "second", 30).await;
    let expected = DocumentCopy {
        name: "a.txt".into(),
        text: "first".into(),
        structure: "{}".into(),
        replaced_at: 31,
    };
    assert_eq!(copy(&store, &mine, id, version).await, Ok(expected));
    assert_eq!(store.count_copies(id).await, Ok(1));
    assert!(is_cited(&store, &mine, id).await);
    let current = store.note_citations(&[(id, version)]).await;
    assert_eq!(current, Ok(HashSet::new()), "it is another text now");
    let other = add(&store, mine.owner, "Other").await;
    assert_eq!(copy(&store, &other, id, version).await, Err(MISSING));

    // Nobody cites the second text.
    let uncited = store.document(mine.id, id).await.unwrap().version;
    read(&store, &mine, "third", 50).await;
    assert_eq!(copy(&store, &mine, id, uncited).await, Err(MISSING));

    // The third cannot be read any more.
    let version = cite(&store, &mine, id).await;
    put(&store, &mine).await;
    let task = store.claim_document(70, 80).await.unwrap().unwrap();
    store
        .settle_document(&task, &ReadingResult::Problem("{}".into()), Some(1), 71)
        .await
        .unwrap();
    let kept = copy(&store, &mine, id, version).await.unwrap();
    assert_eq!((kept.text.as_str(), kept.replaced_at), ("third", 71));
    let nothing = store.note_citations(&[(id, 0)]).await;
    assert_eq!(nothing, Ok(HashSet::new()), "there is no text");
}

async fn the_same_text_is_no_change(store: Store) {
    let mine = add(&store, add_user(&store).await, "Mine").await;
    let id = read(&store, &mine, "first", 10).await.id;
    let version = cite(&store, &mine, id).await;
    read(&store, &mine, "first", 30).await;
    let document = store.document(mine.id, id).await.unwrap();
    assert_eq!(
        (document.state, document.version),
        (DocumentState::Ready, version)
    );
    assert_eq!(store.count_copies(id).await, Ok(0));
    // It is still cited.
    read(&store, &mine, "second", 50).await;
    assert!(copy(&store, &mine, id, version).await.is_ok());
}

async fn a_cited_text_is_kept_when_its_document_is_deleted(store: Store) {
    let mine = add(&store, add_user(&store).await, "Mine").await;
    let id = read(&store, &mine, "first", 10).await.id;
    let version = cite(&store, &mine, id).await;
    let other = add_user(&store).await;
    let refused = store
        .delete_document(other, mine.id, id, CitedTexts::Keep, 20)
        .await;
    assert_eq!(refused, Err(MISSING));
    assert_eq!(store.count_copies(id).await, Ok(0));
    store
        .delete_document(mine.owner, mine.id, id, CitedTexts::Keep, 20)
        .await
        .unwrap();
    let kept = copy(&store, &mine, id, version).await.unwrap();
    assert_eq!((kept.text.as_str(), kept.replaced_at), ("first", 20));
    let current = store.note_citations(&[(id, version)]).await;
    assert_eq!(current, Ok(HashSet::new()));
}

async fn a_cited_text_is_deleted_on_request(store: Store) {
    let mine = add(&store, add_user(&store).await, "Mine").await;
    let id = read(&store, &mine, "first", 10).await.id;
    cite(&store, &mine, id).await;
    read(&store, &mine, "second", 30).await;
    let other = add_user(&store).await;
    let refused = store.delete_copies(other, mine.id, id).await;
    assert_eq!(refused, Err(MISSING));
    store.delete_copies(mine.owner, mine.id, id).await.unwrap();
    assert!(!is_cited(&store, &mine, id).await);
    let none = store.delete_copies(mine.owner, mine.id, id).await;
    assert_eq!(none, Err(MISSING));

    // With the document, the current text as well as earlier ones.
    cite(&store, &mine, id).await;
    read(&store, &mine, "third", 50).await;
    cite(&store, &mine, id).await;
    store
        .delete_document(mine.owner, mine.id, id, CitedTexts::Delete, 60)
        .await
        .unwrap();
    assert_eq!(store.count_copies(id).await, Ok(0));
}

async fn readers_of_the_collection_may_read_copies(store: Store) {
    let mine = add(&store, add_user(&store).await, "Mine").await;
    let id = read(&store, &mine, "first", 10).await.id;
    let version = cite(&store, &mine, id).await;
    read(&store, &mine, "second", 30).await;
    let reader = add_user(&store).await;
    let open = async |open| {
        let change = CollectionChange {
            open: Some(open),
            ..CollectionChange::default()
        };
        store
            .change_collection(mine.owner, mine.id, &change, 40)
            .await
            .unwrap();
        store.readable_copy(reader, mine.id, id, version).await
    };
    assert_eq!(open(false).await, Err(MISSING));
    assert_eq!(open(true).await.unwrap().text, "first");
    assert_eq!(open(false).await, Err(MISSING));
}

async fn copies_end_with_their_collection(store: Store) {
    let mine = add(&store, add_user(&store).await, "Mine").await;
    let id = read(&store, &mine, "first", 10).await.id;
    cite(&store, &mine, id).await;
    read(&store, &mine, "second", 30).await;
    store.delete_collection(mine.owner, mine.id).await.unwrap();
    assert_eq!(store.count_copies(id).await, Ok(0));
}

async fn old_copies_are_deleted(store: Store) {
    let mine = add(&store, add_user(&store).await, "Mine").await;
    let mut cited = Vec::new();
    for change in 0..22 {
        let id = read(&store, &mine, &format!("text {change}"), 100 * change)
            .await
            .id;
        cited.push((id, cite(&store, &mine, id).await));
    }
    // The last is no copy, and of the others only twenty are kept.
    let mut kept = Vec::new();
    for (change, (id, version)) in cited.into_iter().enumerate() {
        if let Ok(copy) = copy(&store, &mine, id, version).await {
            assert_eq!(copy.text, format!("text {change}"));
            kept.push(change);
        }
    }
    assert_eq!(kept, (1..21).collect::<Vec<_>>());

    // A long text displaces all others of the collection.
    let long = "a".repeat(100_000_000 - 2);
    let id = read(&store, &mine, &long, 5000).await.id;
    let version = cite(&store, &mine, id).await;
    read(&store, &mine, "short", 6000).await;
    assert!(copy(&store, &mine, id, version).await.is_ok());
    assert_eq!(store.count_copies(id).await, Ok(1));
}
