//! Vectors of documents, and how far they are.

use domain::EmbeddingSpaceId;
use store::{
    Collection, EmbeddingProgress, EmbeddingSpace, EmbeddingTask, MAX_FAILURES, ReadingResult,
    Store, StoreError, Vectors,
};

use crate::{
    fixtures::add_user,
    knowledge::{LIMITS, add, document},
};

on_every_database!(
    documents_are_embedded_part_by_part,
    how_far_all_are_is_counted,
    one_server_embeds_a_document,
    changed_documents_restart_and_deleted_ones_leave_nothing,
    old_spaces_serve_until_unused
);

fn space(model: &str) -> EmbeddingSpace {
    EmbeddingSpace {
        id: EmbeddingSpaceId::generate(),
        model: model.into(),
        query_prefix: "query: ".into(),
        passage_prefix: "passage: ".into(),
        chunking: 1,
    }
}

/// Puts a document with a new text that is read in so many pieces.
async fn put(store: &Store, collection: &Collection, name: &str, chunks: u64) {
    let new = document(collection, name);
    store
        .put_document(collection.owner, &new, b"hello", LIMITS)
        .await
        .unwrap();
    let unread = store.claim_document(10, 20).await.unwrap().unwrap();
    let read = ReadingResult::Text {
        content: format!("hello {}", new.id),
        structure: "{}".into(),
        chunks,
        characters: 5,
        metadata: store::DocumentMetadata::default(),
    };
    store
        .settle_document(&unread, &read, Some(1), 11)
        .await
        .unwrap();
}

fn part(first: u64, pieces: u64) -> Vectors {
    Vectors {
        first,
        pieces,
        content: vec![7; usize::try_from(pieces).unwrap() * 6],
    }
}

async fn version(store: &Store, collection: &Collection) -> u64 {
    store
        .readable_collection(collection.owner, collection.id)
        .await
        .unwrap()
        .version
}

async fn claim(store: &Store, space: EmbeddingSpaceId, now: i64) -> Option<EmbeddingTask> {
    store.claim_embedding(space, now, now + 10).await.unwrap()
}

async fn documents_are_embedded_part_by_part(store: Store) {
    let collection = add(&store, add_user(&store).await, "Mine").await;
    let space = store.use_embedding_space(&space("a"), 1).await.unwrap().id;
    assert_eq!(claim(&store, space, 30).await, None, "there is nothing");
    put(&store, &collection, "a", 5).await;
    let of = claim(&store, space, 30).await.unwrap();
    assert_eq!(
        (of.owner, of.collection, of.done, of.failures),
        (collection.owner, collection.id, 0, 0)
    );
    assert!(
        store
            .keep_vectors(space, &of, &part(0, 3), 40)
            .await
            .unwrap()
    );
    assert!(
        !store
            .keep_vectors(space, &of, &part(0, 3), 40)
            .await
            .unwrap(),
        "they are there"
    );
    assert_eq!(version(&store, &collection).await, 1, "it is not whole");
    store
        .note_embedding_failure(space, &of, "{}", 50)
        .await
        .unwrap();
    let far = store.embeddings(collection.id).await.unwrap();
    assert_eq!((far[0].done, far[0].pieces, far[0].failures), (3, 5, 1));
    assert_eq!(far[0].problem.as_deref(), Some("{}"));
    assert_eq!(claim(&store, space, 49).await, None);
    let of = claim(&store, space, 50).await.unwrap();
    assert_eq!((of.done, of.failures), (3, 1), "it goes on where it was");
    assert!(
        store
            .keep_vectors(space, &of, &part(3, 2), 60)
            .await
            .unwrap()
    );
    assert_eq!(version(&store, &collection).await, 2);
    assert_eq!(claim(&store, space, 1000).await, None);
    let kept = store
        .document_vectors(of.document, space, of.version)
        .await
        .unwrap();
    assert_eq!(kept, [part(0, 3), part(3, 2)]);
    assert!(
        store
            .document_vectors(of.document, space, of.version + 1)
            .await
            .unwrap()
            .is_empty()
    );
    let far = store.embeddings(collection.id).await.unwrap();
    assert_eq!(
        (far[0].done, far[0].failures, &far[0].problem),
        (5, 0, &None)
    );
}

async fn how_far_all_are_is_counted(store: Store) {
    let collection = add(&store, add_user(&store).await, "Mine").await;
    let space = store.use_embedding_space(&space("a"), 1).await.unwrap().id;
    assert_eq!(
        store.embedding_progress(space).await.unwrap(),
        EmbeddingProgress::default()
    );
    for (name, chunks) in [("a", 2), ("b", 3), ("c", 1)] {
        put(&store, &collection, name, chunks).await;
    }
    let of = claim(&store, space, 30).await.unwrap();
    assert!(
        store
            .keep_vectors(space, &of, &part(0, 2), 40)
            .await
            .unwrap()
    );
    let of = claim(&store, space, 30).await.unwrap();
    assert!(
        store
            .keep_vectors(space, &of, &part(0, 1), 40)
            .await
            .unwrap()
    );
    let of = claim(&store, space, 30).await.unwrap();
    for _ in 0..MAX_FAILURES {
        store
            .note_embedding_failure(space, &of, "{}", 50)
            .await
            .unwrap();
    }
    let far = store.embedding_progress(space).await.unwrap();
    let dimensions = Some(2);
    assert_eq!(
        far,
        EmbeddingProgress {
            documents: 3,
            whole: 1,
            failed: 1,
            pieces: 6,
            done: 3,
            dimensions
        }
    );
    assert_eq!(store.embedded_counts().await.unwrap(), [(space, 1)]);
    // A text that was replaced is still to be done.
    put(&store, &collection, "a", 2).await;
    let far = store.embedding_progress(space).await.unwrap();
    assert_eq!((far.documents, far.whole, far.done), (3, 0, 1));
    assert_eq!(store.embedded_counts().await.unwrap(), []);
}

async fn one_server_embeds_a_document(store: Store) {
    let collection = add(&store, add_user(&store).await, "Mine").await;
    let space = store.use_embedding_space(&space("a"), 1).await.unwrap().id;
    put(&store, &collection, "a", 1).await;
    let (one, two) = tokio::join!(claim(&store, space, 30), claim(&store, space, 30));
    assert!(one.is_some() ^ two.is_some());
    assert_eq!(claim(&store, space, 39).await, None);
    assert!(
        claim(&store, space, 40).await.is_some(),
        "whoever had it is gone"
    );
}

async fn changed_documents_restart_and_deleted_ones_leave_nothing(store: Store) {
    let collection = add(&store, add_user(&store).await, "Mine").await;
    let space = store.use_embedding_space(&space("a"), 1).await.unwrap().id;
    put(&store, &collection, "a", 2).await;
    let of = claim(&store, space, 30).await.unwrap();
    assert!(
        store
            .keep_vectors(space, &of, &part(0, 1), 40)
            .await
            .unwrap()
    );
    put(&store, &collection, "a", 1).await;
    let again = claim(&store, space, 31).await.unwrap();
    assert_eq!((again.document, again.done), (of.document, 0));
    assert!(again.version > of.version);
    assert!(
        !store
            .keep_vectors(space, &of, &part(1, 1), 40)
            .await
            .unwrap(),
        "that text is gone"
    );
    assert!(
        store
            .keep_vectors(space, &again, &part(0, 1), 40)
            .await
            .unwrap()
    );
    store
        .delete_document(
            collection.owner,
            collection.id,
            of.document,
            store::CitedTexts::Delete,
            50,
        )
        .await
        .unwrap();
    assert!(
        store
            .document_vectors(of.document, space, again.version)
            .await
            .unwrap()
            .is_empty()
    );
    assert!(store.embeddings(collection.id).await.unwrap().is_empty());
    assert!(
        !store
            .keep_vectors(space, &again, &part(0, 1), 40)
            .await
            .unwrap()
    );
    assert_eq!(claim(&store, space, 1000).await, None);
}

async fn old_spaces_serve_until_unused(store: Store) {
    let collection = add(&store, add_user(&store).await, "Mine").await;
    let old = store.use_embedding_space(&space("a"), 1).await.unwrap();
    let same = store
        .use_embedding_space(
            &EmbeddingSpace {
                query_prefix: "q".into(),
                ..space("a")
            },
            2,
        )
        .await;
    assert_eq!(
        same,
        Ok(EmbeddingSpace {
            query_prefix: "q".into(),
            ..old.clone()
        })
    );
    put(&store, &collection, "a", 1).await;
    let of = claim(&store, old.id, 30).await.unwrap();
    assert!(
        store
            .keep_vectors(old.id, &of, &part(0, 1), 40)
            .await
            .unwrap()
    );
    let new = store.use_embedding_space(&space("b"), 90).await.unwrap();
    assert_eq!(store.embedding_spaces().await.unwrap().len(), 2);
    assert_eq!(store.forget_old_vectors(new.id, 100).await, Ok(false));
    assert_eq!(
        store.embeddings(collection.id).await.unwrap().len(),
        1,
        "it still serves"
    );
    let of = claim(&store, new.id, 95).await.unwrap();
    assert!(
        store
            .keep_vectors(new.id, &of, &part(0, 1), 105)
            .await
            .unwrap()
    );
    assert_eq!(
        store.forget_old_vectors(new.id, 2).await,
        Ok(false),
        "some server may use it"
    );
    assert_eq!(store.embeddings(collection.id).await.unwrap().len(), 2);
    assert_eq!(store.forget_old_vectors(new.id, 100).await, Ok(true));
    assert_eq!(store.forget_old_vectors(new.id, 100).await, Ok(false));
    assert_eq!(store.embedding_spaces().await.unwrap(), [new]);
    assert_eq!(
        store.forget_unused_vectors(90).await,
        Ok(false),
        "some server may use it"
    );
    assert_eq!(store.embeddings(collection.id).await.unwrap().len(), 1);
    assert_eq!(store.forget_unused_vectors(91).await, Ok(true));
    assert_eq!(store.forget_unused_vectors(91).await, Ok(false));
    assert!(store.embeddings(collection.id).await.unwrap().is_empty());
    assert!(store.embedding_spaces().await.unwrap().is_empty());
    let missing = StoreError::NotFound;
    assert_eq!(
        store
            .delete_collection(add_user(&store).await, collection.id)
            .await,
        Err(missing)
    );
    store
        .delete_collection(collection.owner, collection.id)
        .await
        .unwrap();
    assert!(store.embeddings(collection.id).await.unwrap().is_empty());
}
