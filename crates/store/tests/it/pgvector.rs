//! Vectors that pgvector compares.

use domain::{CollectionId, DocumentId};
use store::{Store, StoreError, VectorPoint};

on_every_database!(
    pgvector_finds_what_is_near_where_it_may_be,
    pgvector_finds_among_many_what_is_nearest
);

/// Of three dimensions, the same for a number each time.
fn vector(number: u32) -> Vec<f32> {
    let of = |by: u32| f32::from(u16::try_from(number * by % 101).unwrap()) - 50.0;
    vec![of(7), of(31), of(57) + 0.5]
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

async fn pgvector_finds_what_is_near_where_it_may_be(store: Store) {
    let made = store.create_vector_tables().await;
    if made == Err(StoreError::Conflict("database")) {
        // SQLite has nothing of the kind.
        return;
    }
    // The next server does the same.
    store.create_vector_tables().await.unwrap();
    let name = "space_1";
    assert_eq!(
        store.index_vectors(name, &[]).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(
        store.create_vector_space("it's", 3).await,
        Err(StoreError::Conflict("name"))
    );
    store.create_vector_space(name, 3).await.unwrap();
    store.create_vector_space(name, 3).await.unwrap();
    assert_eq!(store.vector_spaces("").await.unwrap(), [name]);
    assert_eq!(store.vector_spaces("other").await.unwrap(), [""; 0]);

    let ours = CollectionId::generate();
    let theirs = CollectionId::generate();
    let a = DocumentId::generate();
    let b = DocumentId::generate();
    let c = DocumentId::generate();
    let point = |collection, document, piece: u32| VectorPoint {
        collection,
        document,
        version: 1,
        piece: u64::from(piece),
        vector: Some(vector(piece)),
    };
    let mut points: Vec<VectorPoint> = (0..250).map(|piece| point(ours, a, piece)).collect();
    points.push(VectorPoint {
        vector: None,
        ..point(ours, a, 250)
    });
    points.extend((0..9).map(|piece| point(ours, b, piece)));
    points.extend((0..250).map(|piece| point(theirs, c, piece)));
    store.index_vectors(name, &points).await.unwrap();
    store.index_vectors(name, &points[..5]).await.unwrap();
    let mut texts = store.indexed_texts(name).await.unwrap();
    texts.sort_by_key(|(_, _, pieces)| *pieces);
    assert_eq!(texts, [(b, 1, 9), (c, 1, 250), (a, 1, 251)]);
    let longer = VectorPoint {
        vector: Some(vec![1.0; 4]),
        ..point(ours, b, 1)
    };
    assert_eq!(
        store.index_vectors(name, &[longer]).await,
        Err(StoreError::Conflict("dimensions"))
    );

    let question = vector(77);
    let found = store
        .nearest(name, &question, &[ours], &[], 10)
        .await
        .unwrap();
    assert_eq!(found.len(), 10);
    assert!(
        found.iter().all(|near| [a, b].contains(&near.document)),
        "nothing of others"
    );
    let mut expected: Vec<f32> = points[..250]
        .iter()
        .chain(&points[251..260])
        .map(|point| cosine(point.vector.as_ref().unwrap(), &question))
        .collect();
    expected.sort_by(|a, b| b.total_cmp(a));
    for (near, score) in found.iter().zip(expected) {
        assert!(
            (near.score - f64::from(score)).abs() < 0.002,
            "{near:?} {score}"
        );
    }
    let found = store
        .nearest(name, &question, &[], &[b], 400)
        .await
        .unwrap();
    assert_eq!(found.len(), 9, "only of the one that is named");
    assert_eq!(
        store.nearest(name, &question, &[], &[], 400).await.unwrap(),
        []
    );
    assert_eq!(
        store.nearest(name, &[1.0], &[ours], &[], 1).await,
        Err(StoreError::Conflict("dimensions"))
    );
    assert_eq!(
        store.nearest("none", &question, &[ours], &[], 1).await,
        Err(StoreError::NotFound)
    );

    store.unindex_text(name, a, 2).await.unwrap();
    store.unindex_text(name, a, 1).await.unwrap();
    assert_eq!(store.indexed_texts(name).await.unwrap().len(), 2);
    store.delete_vector_space(name).await.unwrap();
    assert_eq!(store.indexed_texts(name).await.unwrap(), []);
    assert_eq!(store.vector_spaces("").await.unwrap(), [""; 0]);
}

async fn pgvector_finds_among_many_what_is_nearest(store: Store) {
    if store.create_vector_tables().await == Err(StoreError::Conflict("database")) {
        return;
    }
    // More than are compared one by one: the index is asked, which may miss some.
    store.create_vector_space("many", 8).await.unwrap();
    let collection = CollectionId::generate();
    let document = DocumentId::generate();
    let mut state = 7_u64;
    let mut vector = || -> Vec<f32> {
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            f32::from(u16::try_from(state >> 48).unwrap()) - 32_768.0
        };
        (0..8).map(|_| next() / 32_768.0).collect()
    };
    let question = vector();
    let mut expected = Vec::new();
    let mut points = Vec::new();
    for piece in 0..20_100 {
        let vector = vector();
        expected.push((cosine(&vector, &question), piece));
        points.push(VectorPoint {
            collection,
            document,
            version: 1,
            piece,
            vector: Some(vector),
        });
    }
    store.index_vectors("many", &points).await.unwrap();
    expected.sort_by(|a, b| b.0.total_cmp(&a.0));
    let found = store
        .nearest("many", &question, &[collection], &[], 400)
        .await
        .unwrap();
    assert!(found.len() >= 350, "{}", found.len());
    let has = |(_, piece): &&(f32, u64)| found.iter().any(|near| near.piece == *piece);
    let near = expected[..20].iter().filter(has).count();
    assert!(near >= 18, "of the nearest 20 it finds {near}");
    let others = store
        .nearest("many", &question, &[CollectionId::generate()], &[], 400)
        .await
        .unwrap();
    assert_eq!(others, []);
}
