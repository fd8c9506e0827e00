//! What a document's owner ends and has gone on with, and pictures, which wait for a model.

use domain::{EmbeddingSpaceId, UserId};
use store::{
    Collection, DocumentState, EmbeddingSpace, GraphPiece, GraphScope, OwnedDocument,
    ReadingFailure, ReadingTask, SlowReading, Store, StoreError, Vectors,
};

use crate::{
    fixtures::add_user,
    knowledge::{LIMITS, add, document, text},
};

on_every_database!(
    reading_is_ended_for_good,
    embedding_is_cancelled_and_resumed,
    a_graph_is_cancelled_and_resumed,
    pictures_wait_for_a_vision_model,
    the_queues_of_slow_readings_are_apart
);

const MISSING: Result<(), StoreError> = Err(StoreError::NotFound);
const STOPPED: &str = r#"{"code":"cancelled"}"#;

async fn put(store: &Store, of: &Collection, name: &str) -> OwnedDocument {
    let kept = store
        .put_document(of.owner, &document(of, name), b"hello", LIMITS)
        .await
        .unwrap();
    OwnedDocument {
        owner: of.owner,
        collection: of.id,
        document: kept.id,
    }
}

async fn read(store: &Store, of: &Collection, name: &str) -> OwnedDocument {
    let their = put(store, of, name).await;
    let unread = store.claim_document(10, 20).await.unwrap().unwrap();
    store
        .settle_document(&unread, &text("hello"), Some(1), 11)
        .await
        .unwrap();
    their
}

async fn state(store: &Store, of: OwnedDocument) -> (DocumentState, Option<String>, u64) {
    let document = store.document(of.collection, of.document).await.unwrap();
    (document.state, document.problem, document.version)
}

async fn of_another(store: &Store, of: OwnedDocument) -> OwnedDocument {
    OwnedDocument {
        owner: add_user(store).await,
        ..of
    }
}

async fn reading_is_ended_for_good(store: Store) {
    let mine = add(&store, add_user(&store).await, "Mine").await;
    let of = read(&store, &mine, "a.txt").await;
    assert_eq!(
        store.cancel_reading(of, STOPPED, 30).await,
        MISSING,
        "it is read"
    );
    // Another file of the name comes, and a reader has begun with it.
    put(&store, &mine, "a.txt").await;
    let unread = store.claim_document(40, 100).await.unwrap().unwrap();
    assert_eq!(store.is_wanted(&unread).await, Ok(true));
    assert_eq!(
        store
            .cancel_reading(of_another(&store, of).await, STOPPED, 41)
            .await,
        MISSING
    );
    store.cancel_reading(of, STOPPED, 41).await.unwrap();
    assert_eq!(store.is_wanted(&unread).await, Ok(false));
    store
        .settle_document(&unread, &text("too late"), Some(1), 42)
        .await
        .unwrap();
    assert_eq!(
        state(&store, of).await,
        (DocumentState::Failed, Some(STOPPED.into()), 0)
    );
    let gone = store.document_text(of.document).await;
    assert_eq!(
        gone,
        Err(StoreError::NotFound),
        "nor is the text of the file before it there"
    );
    assert_eq!(store.claim_document(200, 300).await, Ok(None));
    assert_eq!(
        store.document_file(of.document).await.unwrap(),
        b"hello",
        "the file is"
    );
    store
        .read_again(of.owner, of.collection, of.document, false, 50)
        .await
        .unwrap();
    let unread = store.claim_document(200, 300).await.unwrap().unwrap();
    store
        .settle_document(&unread, &text("read"), Some(1), 210)
        .await
        .unwrap();
    assert_eq!(state(&store, of).await.0, DocumentState::Ready);
}

async fn space(store: &Store) -> EmbeddingSpaceId {
    let space = EmbeddingSpace {
        id: EmbeddingSpaceId::generate(),
        model: "a".into(),
        query_prefix: String::new(),
        passage_prefix: String::new(),
        chunking: 1,
    };
    store.use_embedding_space(&space, 1).await.unwrap().id
}

async fn embedding_is_cancelled_and_resumed(store: Store) {
    let mine = add(&store, add_user(&store).await, "Mine").await;
    let space = space(&store).await;
    let of = read(&store, &mine, "a.txt").await;
    // Before anybody has begun, and while somebody is at it.
    for begun in [false, true] {
        let at_it = if begun {
            store.claim_embedding(space, 30, 40).await.unwrap()
        } else {
            None
        };
        assert_eq!(
            store
                .cancel_embedding(of_another(&store, of).await, space, STOPPED)
                .await,
            MISSING
        );
        store.cancel_embedding(of, space, STOPPED).await.unwrap();
        let far = store.embeddings(mine.id).await.unwrap();
        assert_eq!((far[0].done, far[0].problem.as_deref()), (0, Some(STOPPED)));
        if let Some(at_it) = at_it {
            let vectors = Vectors {
                first: 0,
                pieces: 1,
                content: vec![7; 6],
            };
            assert_eq!(
                store.keep_vectors(space, &at_it, &vectors, 50).await,
                Ok(false)
            );
            store
                .note_embedding_failure(space, &at_it, "{}", 60)
                .await
                .unwrap();
        }
        assert_eq!(
            store.claim_embedding(space, i64::MAX - 1, i64::MAX).await,
            Ok(None),
            "it stays so"
        );
        assert_eq!(
            store
                .resume_embedding(of_another(&store, of).await, space)
                .await,
            MISSING
        );
        store.resume_embedding(of, space).await.unwrap();
        assert_eq!(
            store.resume_embedding(of, space).await,
            MISSING,
            "it goes on"
        );
    }
    let at_it = store.claim_embedding(space, 30, 40).await.unwrap().unwrap();
    let vectors = Vectors {
        first: 0,
        pieces: 1,
        content: vec![7; 6],
    };
    assert_eq!(
        store.keep_vectors(space, &at_it, &vectors, 50).await,
        Ok(true)
    );
    assert_eq!(
        store.cancel_embedding(of, space, STOPPED).await,
        MISSING,
        "there is nothing left to do"
    );
}

async fn a_graph_is_cancelled_and_resumed(store: Store) {
    let mine = add(&store, add_user(&store).await, "Mine").await;
    let of = read(&store, &mine, "a.txt").await;
    assert_eq!(
        store.cancel_graph(of, STOPPED).await,
        MISSING,
        "there is no graph"
    );
    store
        .set_graph(of.owner, of.collection, true)
        .await
        .unwrap();
    for begun in [false, true] {
        let at_it = if begun {
            store.claim_graph(30, 40).await.unwrap()
        } else {
            None
        };
        assert_eq!(
            store
                .cancel_graph(of_another(&store, of).await, STOPPED)
                .await,
            MISSING
        );
        store.cancel_graph(of, STOPPED).await.unwrap();
        let (_, documents) = store
            .graph_state(&GraphScope::whole(mine.id))
            .await
            .unwrap();
        assert_eq!(documents[0].problem.as_deref(), Some(STOPPED));
        if let Some(at_it) = at_it {
            assert_eq!(
                store
                    .keep_graph(&at_it, 0, 1, &GraphPiece::default(), 50)
                    .await,
                Ok(false)
            );
            store.note_graph_failure(&at_it, "{}", 60).await.unwrap();
        }
        assert_eq!(
            store.claim_graph(i64::MAX - 1, i64::MAX).await,
            Ok(None),
            "it stays so"
        );
        assert_eq!(
            store.resume_graph(of_another(&store, of).await).await,
            MISSING
        );
        store.resume_graph(of).await.unwrap();
    }
    let at_it = store.claim_graph(30, 40).await.unwrap().unwrap();
    assert_eq!(
        store
            .keep_graph(&at_it, 0, 1, &GraphPiece::default(), 50)
            .await,
        Ok(true)
    );
    assert_eq!(
        store.cancel_graph(of, STOPPED).await,
        MISSING,
        "there is nothing left to do"
    );
}

async fn unread(store: &Store) -> ReadingTask {
    store.claim_document(30, 40).await.unwrap().unwrap()
}

async fn pictures_wait_for_a_vision_model(store: Store) {
    let owner: UserId = add_user(&store).await;
    let mine = add(&store, owner, "Mine").await;
    let of = put(&store, &mine, "a.png").await;
    assert_eq!(
        store
            .claim_slow_reading(SlowReading::Pictures, 30, 40)
            .await,
        Ok(None),
        "nobody has told that it is one"
    );
    store
        .queue_slow_reading(&unread(&store).await, SlowReading::Pictures)
        .await
        .unwrap();
    assert_eq!(
        store.claim_document(50, 60).await,
        Ok(None),
        "it is not read once more"
    );
    let unseen = store
        .claim_slow_reading(SlowReading::Pictures, 50, 60)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (unseen.unread.id, unseen.owner, unseen.failures),
        (of.document, owner, 0)
    );
    assert_eq!(
        store
            .claim_slow_reading(SlowReading::Pictures, 59, 70)
            .await,
        Ok(None),
        "one server looks at it"
    );
    store.extend_claim(&unseen.unread, 80).await.unwrap();
    assert_eq!(
        store
            .claim_slow_reading(SlowReading::Pictures, 79, 90)
            .await,
        Ok(None),
        "it takes longer"
    );
    let again = ReadingFailure {
        failures: 1,
        problem: "{}".into(),
        due_at: 90,
    };
    store
        .record_reading_failure(&unseen.unread, &again)
        .await
        .unwrap();
    assert_eq!(
        state(&store, of).await,
        (DocumentState::Waiting, Some("{}".into()), 0)
    );
    assert_eq!(
        store
            .claim_slow_reading(SlowReading::Pictures, 89, 99)
            .await,
        Ok(None)
    );
    let unseen = store
        .claim_slow_reading(SlowReading::Pictures, 90, 99)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(unseen.failures, 1);
    store
        .settle_document(&unseen.unread, &text("A walrus."), None, 91)
        .await
        .unwrap();
    let kept = store.document(mine.id, of.document).await.unwrap();
    assert_eq!(
        (kept.state, kept.picture, kept.problem),
        (DocumentState::Ready, false, None)
    );

    // Another file of the name is read before it is looked at; and so is one where no model looks any more.
    put(&store, &mine, "a.png").await;
    store
        .queue_slow_reading(&unread(&store).await, SlowReading::Pictures)
        .await
        .unwrap();
    let unseen = store
        .claim_slow_reading(SlowReading::Pictures, 100, 110)
        .await
        .unwrap()
        .unwrap();
    put(&store, &mine, "a.png").await;
    store
        .record_reading_failure(&unseen.unread, &again)
        .await
        .unwrap();
    assert_eq!(
        state(&store, of).await.1,
        None,
        "that is of the file before"
    );
    let next = unread(&store).await;
    store
        .queue_slow_reading(&next, SlowReading::Pictures)
        .await
        .unwrap();
    store.requeue_pictures().await.unwrap();
    assert_eq!(
        store
            .claim_slow_reading(SlowReading::Pictures, 200, 210)
            .await,
        Ok(None)
    );
    assert_eq!(unread(&store).await, next);
}

async fn the_queues_of_slow_readings_are_apart(store: Store) {
    let owner: UserId = add_user(&store).await;
    let mine = add(&store, owner, "Mine").await;
    let of = put(&store, &mine, "talk.mp3").await;
    let claim = async |queue, now| {
        let claimed = store.claim_slow_reading(queue, now, now + 10).await;
        claimed.unwrap().map(|it| it.unread)
    };
    let next = unread(&store).await;
    store
        .queue_slow_reading(&next, SlowReading::Remote)
        .await
        .unwrap();
    assert_eq!(store.claim_document(50, 60).await, Ok(None));
    assert_eq!(claim(SlowReading::Pictures, 50).await, None);
    let claimed = claim(SlowReading::Remote, 50).await.unwrap();
    assert_eq!(claimed, next);
    let waiting = store.document(mine.id, of.document).await.unwrap();
    assert_eq!((waiting.remote, waiting.picture), (true, false));
    let again = ReadingFailure {
        failures: 2,
        problem: "{}".into(),
        due_at: 70,
    };
    store
        .record_reading_failure(&claimed, &again)
        .await
        .unwrap();
    assert_eq!(claim(SlowReading::Remote, 69).await, None);
    // It may turn out that the other queue is the one for it.
    store
        .queue_slow_reading(&claimed, SlowReading::Pictures)
        .await
        .unwrap();
    assert_eq!(
        state(&store, of).await,
        (DocumentState::Waiting, None, 0),
        "it begins anew"
    );
    assert_eq!(claim(SlowReading::Remote, 80).await, None);
    let claimed = claim(SlowReading::Pictures, 80).await.unwrap();
    store
        .queue_slow_reading(&claimed, SlowReading::Remote)
        .await
        .unwrap();
    store.requeue_slow_reading(&claimed).await.unwrap();
    assert_eq!(unread(&store).await, next);
    // Its end frees it of the queue.
    store
        .queue_slow_reading(&next, SlowReading::Remote)
        .await
        .unwrap();
    store
        .settle_document(&next, &text("A walrus."), None, 91)
        .await
        .unwrap();
    let read = store.document(mine.id, of.document).await.unwrap();
    assert_eq!((read.state, read.remote), (DocumentState::Ready, false));
    // Files that replace it are read before they wait for anything.
    put(&store, &mine, "talk.mp3").await;
    let next = unread(&store).await;
    store
        .queue_slow_reading(&next, SlowReading::Remote)
        .await
        .unwrap();
    put(&store, &mine, "talk.mp3").await;
    assert_eq!(claim(SlowReading::Remote, 100).await, None);
    let next = unread(&store).await;
    store
        .queue_slow_reading(&next, SlowReading::Remote)
        .await
        .unwrap();
    store.cancel_reading(of, STOPPED, 101).await.unwrap();
    assert_eq!(claim(SlowReading::Remote, 110).await, None);
}
