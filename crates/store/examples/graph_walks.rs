//! Measures graph traversals: `cargo run --release -p store --example graph_walks`. With `GLASSHOUSE_TEST_POSTGRES_URL`
//! set it measures that database too, and removes what it wrote.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::time::Instant;

use domain::{CollectionId, DocumentId, EntityId, UserId};
use store::{
    Collection, CollectionLimits, Document, DocumentState, GraphPiece, GraphScope, NewUser,
    ReadingResult, Store, StoreError, UserRole, Words,
};

/// Even ones are related to even ones, and odd ones to odd ones: no path connects the halves.
const THINGS: usize = 20_000;
/// The number of outgoing relations of each; it has about as many incoming ones.
const EACH: usize = 3;
const THINGS_IN_PIECE: usize = 100;
const WALKS: usize = 50;
const MAX_STEPS: u32 = 6;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("graph_walks_{}", EntityId::generate()));
    std::fs::create_dir(&folder)?;
    let measured = measure("SQLite", &format!("sqlite://{}/walks.db", folder.display())).await;
    std::fs::remove_dir_all(&folder)?;
    measured?;
    #[expect(
        clippy::disallowed_methods,
        reason = "a measuring tool without a configuration"
    )]
    if let Ok(url) = std::env::var("GLASSHOUSE_TEST_POSTGRES_URL") {
        measure("PostgreSQL", &url).await?;
    }
    Ok(())
}

async fn measure(name: &str, url: &str) -> Result<(), StoreError> {
    let store = Store::open(url).await?;
    let (owner, collection) = graph(&store).await?;
    let graph = GraphScope::whole(collection);
    let id = async |thing: usize| {
        store
            .entity_named(&graph, &named(thing))
            .await
            .map(|it| it.id)
    };
    for (what, from, to) in [
        ("within a half", 1, 9_001),
        ("between the halves", 1, 9_002),
    ] {
        let mut times = Vec::new();
        let mut found = 0;
        for walk in 0..WALKS {
            let from = id(from + walk * 18).await?;
            let to = id(to + walk * 14).await?;
            let start = Instant::now();
            let way = store.path(&graph, from, to, MAX_STEPS).await?;
            times.push(start.elapsed());
            found += usize::from(!way.entities.is_empty());
        }
        times.sort_unstable();
        let [median, p99] = [50, 99].map(|percent| times[times.len() * percent / 100]);
        println!(
            "{name}, {THINGS} things, {what}: {found} of {WALKS} ways, median {median:.0?}, p99 {p99:.0?}"
        );
    }
    store.delete_collection(owner, collection).await?;
    store.close().await;
    Ok(())
}

fn named(thing: usize) -> String {
    format!("thing {thing}")
}

/// A collection with a graph of all entities, and its owner.
async fn graph(store: &Store) -> Result<(UserId, CollectionId), StoreError> {
    let user = NewUser {
        id: UserId::generate(),
        email: UserId::generate().to_string(),
        name: String::new(),
        role: UserRole::User,
        password_hash: String::new(),
        created_at: 0,
    };
    let owner = store.create_user(&user).await?.id;
    let collection = CollectionId::generate();
    let new = Collection {
        id: collection,
        owner,
        name: "Things".into(),
        description: String::new(),
        open: false,
        attached: false,
        version: 0,
        created_at: 1,
        updated_at: 1,
    };
    store.create_collection(&new, 1).await?;
    let document = Document {
        id: DocumentId::generate(),
        collection,
        name: "things.txt".into(),
        size_bytes: 1,
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
    };
    store
        .put_document(
            owner,
            &document,
            b"x",
            CollectionLimits {
                documents: 1,
                bytes: 1,
            },
        )
        .await?;
    let unread = store
        .claim_document(10, i64::MAX)
        .await?
        .ok_or(StoreError::NotFound)?;
    let text = ReadingResult::Text {
        content: "x".into(),
        structure: "{}".into(),
        chunks: 1,
        characters: 1,
        metadata: store::DocumentMetadata::default(),
    };
    store.settle_document(&unread, &text, Some(1), 11).await?;
    store.set_graph(owner, collection, true).await?;
    let mut of = store
        .claim_graph(100, 200)
        .await?
        .ok_or(StoreError::NotFound)?;
    let pieces = THINGS.div_ceil(THINGS_IN_PIECE) as u64;
    let mut random = Random(1);
    for first in (0..THINGS).step_by(THINGS_IN_PIECE) {
        let piece = piece(first, &mut random);
        if !store.keep_graph(&of, of.done, pieces, &piece, 200).await? {
            return Err(StoreError::NotFound);
        }
        of.done += 1;
    }
    Ok((owner, collection))
}

fn piece(first: usize, random: &mut Random) -> GraphPiece {
    let mut piece = GraphPiece::default();
    let words = |thing: usize| -> Words { (thing as u64, thing as u64 + 1, "It is said.".into()) };
    for thing in first..first + THINGS_IN_PIECE {
        let source = piece.entities.len();
        piece
            .entities
            .push((named(thing), named(thing), "thing".into(), words(thing)));
        for _ in 0..EACH {
            let other = random.below(THINGS / 2) * 2 + thing % 2;
            piece
                .relations
                .push((source, piece.entities.len(), "knows".into(), words(thing)));
            piece
                .entities
                .push((named(other), named(other), "thing".into(), words(thing)));
        }
    }
    piece
}

/// The same numbers each time.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}
