//! Collections of documents.

use domain::{CollectionId, DocumentId, UserId};
use store::{
    Collection, CollectionChange, CollectionLimits, Document, DocumentMetadata, DocumentState,
    ReadingResult, ReadingTask, Store, StoreError,
};

use crate::fixtures::add_user;

on_every_database!(
    collections_belong_to_their_owners,
    files_become_texts,
    another_file_takes_the_place_of_the_first,
    has_bounds,
    one_server_reads_a_document
);

pub(crate) const LIMITS: CollectionLimits = CollectionLimits {
    documents: 3,
    bytes: 100,
};
const MISSING: StoreError = StoreError::NotFound;

pub(crate) async fn add(store: &Store, owner: UserId, name: &str) -> Collection {
    let id = CollectionId::generate();
    let new = Collection {
        id,
        owner,
        name: name.into(),
        description: String::new(),
        open: false,
        attached: false,
        version: 0,
        created_at: 1,
        updated_at: 1,
    };
    store.create_collection(&new, 3).await.unwrap();
    new
}

pub(crate) fn document(collection: &Collection, name: &str) -> Document {
    Document {
        id: DocumentId::generate(),
        collection: collection.id,
        name: name.into(),
        size_bytes: 5,
        state: DocumentState::Waiting,
        picture: false,
        remote: false,
        problem: None,
        version: 0,
        chunks: 0,
        characters: 0,
        cited: false,
        created_at: 2,
        updated_at: 2,
    }
}

pub(crate) fn text(content: &str) -> ReadingResult {
    let characters = content.chars().count() as u64;
    ReadingResult::Text {
        content: content.into(),
        structure: "{}".into(),
        chunks: 1,
        characters,
        metadata: DocumentMetadata::default(),
    }
}

async fn collections_belong_to_their_owners(store: Store) {
    let owner = add_user(&store).await;
    let other = add_user(&store).await;
    let mine = add(&store, owner, "Mine").await;
    let theirs = add(&store, other, "Another").await;
    assert_eq!(
        store.readable_collection(owner, mine.id).await.as_ref(),
        Ok(&mine)
    );
    assert_eq!(
        store.readable_collection(owner, theirs.id).await,
        Err(MISSING)
    );
    let change = CollectionChange {
        open: Some(true),
        ..CollectionChange::default()
    };
    assert_eq!(
        store.change_collection(owner, theirs.id, &change, 5).await,
        Err(MISSING)
    );
    let opened = store
        .change_collection(other, theirs.id, &change, 5)
        .await
        .unwrap();
    assert_eq!(
        (opened.name.as_str(), opened.open, opened.updated_at),
        ("Another", true, 5)
    );
    let listed = store.collections(owner).await.unwrap();
    let names: Vec<_> = listed
        .iter()
        .map(|it| it.collection.name.as_str())
        .collect();
    assert_eq!(names, ["Mine", "Another"], "one's own come first");
    assert_eq!(store.searchable_collections(owner).await.unwrap().len(), 2);
    assert_eq!(store.collections(other).await.unwrap().len(), 1);
    // To read is not to change.
    let put = store
        .put_document(owner, &document(&theirs, "a"), b"hello", LIMITS)
        .await;
    assert_eq!(put, Err(MISSING));
    assert_eq!(
        store.delete_collection(owner, theirs.id).await,
        Err(MISSING)
    );
    store.delete_collection(other, theirs.id).await.unwrap();
    assert_eq!(store.searchable_collections(owner).await.unwrap(), [mine]);
}

async fn files_become_texts(store: Store) {
    let owner = add_user(&store).await;
    let other = add_user(&store).await;
    let collection = add(&store, owner, "Mine").await;
    let kept = store
        .put_document(owner, &document(&collection, "a.txt"), b"hello", LIMITS)
        .await
        .unwrap();
    assert_eq!(
        (kept.state, kept.size_bytes, kept.version),
        (DocumentState::Waiting, 5, 0)
    );
    assert_eq!(store.document_file(kept.id).await.unwrap(), b"hello");
    assert_eq!(store.document_text(kept.id).await, Err(MISSING));
    let unread = store.claim_document(10, 20).await.unwrap().unwrap();
    assert_eq!(
        unread,
        ReadingTask {
            id: kept.id,
            name: "a.txt".into(),
            upload: 1,
            is_reread: false
        }
    );
    store
        .settle_document(&unread, &text("Привет, мир"), Some(1), 11)
        .await
        .unwrap();
    let read = store.document(collection.id, kept.id).await.unwrap();
    assert_eq!(
        (read.state, read.version, read.chunks, read.characters),
        (DocumentState::Ready, 1, 1, 11)
    );
    assert_eq!(
        store.document_text(kept.id).await,
        Ok(("Привет, мир".into(), "{}".into()))
    );
    let wanted = [
        (kept.id, 8..usize::MAX),
        (DocumentId::generate(), 0..3),
        (kept.id, 8..11),
        (kept.id, 0..6),
    ];
    assert_eq!(
        store.passages(&wanted).await,
        Ok(vec![
            Some("мир".into()),
            None,
            Some("мир".into()),
            Some("Привет".into())
        ])
    );
    assert_eq!(store.passages(&[]).await, Ok(vec![]));
    assert_eq!(
        store
            .readable_collection(owner, collection.id)
            .await
            .unwrap()
            .version,
        1
    );
    assert_eq!(
        store
            .read_again(owner, collection.id, kept.id, false, 12)
            .await,
        Err(MISSING),
        "it did not fail"
    );
    assert_eq!(
        store
            .read_again(other, collection.id, kept.id, true, 12)
            .await,
        Err(MISSING)
    );
    store
        .read_again(owner, collection.id, kept.id, true, 12)
        .await
        .unwrap();
    let again = store.document(collection.id, kept.id).await.unwrap();
    assert_eq!(again.state, DocumentState::Waiting);
    assert!(
        store.document_text(kept.id).await.is_ok(),
        "found until it is read"
    );
    assert_eq!(
        store
            .delete_document(other, collection.id, kept.id, store::CitedTexts::Delete, 12)
            .await,
        Err(MISSING)
    );
    store
        .delete_document(owner, collection.id, kept.id, store::CitedTexts::Delete, 12)
        .await
        .unwrap();
    for gone in [
        store.document_file(kept.id).await.map(drop),
        store.document_text(kept.id).await.map(drop),
    ] {
        assert_eq!(gone, Err(MISSING));
    }
    assert_eq!(
        store
            .readable_collection(owner, collection.id)
            .await
            .unwrap()
            .version,
        2
    );
}

async fn another_file_takes_the_place_of_the_first(store: Store) {
    let owner = add_user(&store).await;
    let collection = add(&store, owner, "Mine").await;
    let first = store
        .put_document(owner, &document(&collection, "a"), b"one", LIMITS)
        .await
        .unwrap();
    let reading = store.claim_document(10, 20).await.unwrap().unwrap();
    let second = store
        .put_document(owner, &document(&collection, "a"), b"two", LIMITS)
        .await
        .unwrap();
    assert_eq!(
        (second.id, second.state),
        (first.id, DocumentState::Waiting)
    );
    // The one that was being read is not what is there now.
    store
        .settle_document(&reading, &text("one"), Some(1), 12)
        .await
        .unwrap();
    assert_eq!(store.document_text(first.id).await, Err(MISSING));
    let reading = store.claim_document(13, 20).await.unwrap().unwrap();
    assert_eq!(reading.upload, 2);
    store
        .settle_document(&reading, &text("two"), Some(1), 14)
        .await
        .unwrap();
    store
        .put_document(owner, &document(&collection, "a"), b"three", LIMITS)
        .await
        .unwrap();
    assert_eq!(
        store.document_text(first.id).await.unwrap().0,
        "two",
        "until the new one is read"
    );
    let reading = store.claim_document(15, 20).await.unwrap().unwrap();
    store
        .settle_document(&reading, &ReadingResult::Problem("{}".into()), Some(1), 16)
        .await
        .unwrap();
    let failed = store.document(collection.id, first.id).await.unwrap();
    assert_eq!(
        (failed.state, failed.problem.as_deref(), failed.version),
        (DocumentState::Failed, Some("{}"), 0)
    );
    assert_eq!(store.document_text(first.id).await, Err(MISSING));
    assert_eq!(store.claim_document(30, 40).await, Ok(None));
    store
        .read_again(owner, collection.id, first.id, false, 31)
        .await
        .unwrap();
    assert!(store.claim_document(32, 40).await.unwrap().is_some());
}

async fn has_bounds(store: Store) {
    let owner = add_user(&store).await;
    let collection = add(&store, owner, "Mine").await;
    for name in ["a", "b", "c"] {
        store
            .put_document(owner, &document(&collection, name), &[7; 33], LIMITS)
            .await
            .unwrap();
    }
    let one_more = store
        .put_document(owner, &document(&collection, "d"), b"x", LIMITS)
        .await;
    assert_eq!(one_more, Err(StoreError::Conflict("documents")));
    let larger = store
        .put_document(owner, &document(&collection, "c"), &[7; 35], LIMITS)
        .await;
    assert_eq!(larger, Err(StoreError::Conflict("bytes")));
    store
        .put_document(owner, &document(&collection, "c"), &[7; 34], LIMITS)
        .await
        .unwrap();
    add(&store, owner, "Second").await;
    add(&store, owner, "Third").await;
    let new = Collection {
        id: CollectionId::generate(),
        ..collection
    };
    assert_eq!(
        store.create_collection(&new, 3).await,
        Err(StoreError::Conflict("collections"))
    );
}

async fn one_server_reads_a_document(store: Store) {
    let owner = add_user(&store).await;
    let collection = add(&store, owner, "Mine").await;
    store
        .put_document(owner, &document(&collection, "a"), b"one", LIMITS)
        .await
        .unwrap();
    let (one, two) = tokio::join!(store.claim_document(10, 20), store.claim_document(10, 20));
    assert_eq!(
        u8::from(one.unwrap().is_some()) + u8::from(two.unwrap().is_some()),
        1
    );
    assert_eq!(store.claim_document(19, 29).await, Ok(None));
    assert!(
        store.claim_document(20, 30).await.unwrap().is_some(),
        "whoever had it is gone"
    );
}
