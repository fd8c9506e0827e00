//! What documents speak of: kept document by document, walked along, and gone with them.

use domain::{CollectionId, EntityId, UserId};
use store::{Document, GraphPiece, GraphScope, GraphTask, Store, StoreError, Subgraph, WholeShare};

use crate::{
    fixtures::add_user,
    knowledge::{LIMITS, add, document, text},
};

on_every_database!(
    relations_are_traversed,
    names_that_mean_the_same_are_one,
    deleting_a_document_removes_its_relations,
    one_server_processes_a_document,
    unwanted_results_are_discarded
);

const MISSING: StoreError = StoreError::NotFound;

/// A document that was read.
async fn read(
    store: &Store,
    owner: UserId,
    of: &store::Collection,
    name: &str,
    said: &str,
) -> Document {
    let kept = store
        .put_document(owner, &document(of, name), b"hello", LIMITS)
        .await
        .unwrap();
    let unread = store.claim_document(10, 20).await.unwrap().unwrap();
    store
        .settle_document(&unread, &text(said), Some(1), 11)
        .await
        .unwrap();
    kept
}

/// A piece in which each word is an entity, and `a-b` says that they belong together.
fn piece(said: &str) -> GraphPiece {
    let mut piece = GraphPiece::default();
    let words = |at: usize| (at as u64, at as u64 + 1, format!("quote {at}"));
    let place = |piece: &mut GraphPiece, name: &str| {
        let known = piece
            .entities
            .iter()
            .position(|entity| entity.0 == name.to_lowercase());
        known.unwrap_or_else(|| {
            let at = piece.entities.len();
            piece
                .entities
                .push((name.to_lowercase(), name.into(), "person".into(), words(at)));
            at
        })
    };
    for word in said.split(' ') {
        let ends: Vec<usize> = word
            .split('-')
            .map(|name| place(&mut piece, name))
            .collect();
        if let [source, target] = ends.as_slice() {
            piece
                .relations
                .push((*source, *target, "knows".into(), words(*source)));
        }
    }
    piece
}

pub(crate) async fn look(store: &Store, said: &str) -> GraphTask {
    let of = store.claim_graph(100, 200).await.unwrap().unwrap();
    assert!(
        store
            .keep_graph(&of, of.done, 1, &piece(said), 300)
            .await
            .unwrap()
    );
    of
}

async fn named(store: &Store, of: CollectionId, name: &str) -> EntityId {
    store
        .entity_named(&GraphScope::whole(of), name)
        .await
        .unwrap()
        .id
}

fn names(graph: &Subgraph) -> Vec<&str> {
    graph
        .entities
        .iter()
        .map(|entity| entity.name.as_str())
        .collect()
}

async fn relations_are_traversed(store: Store) {
    let owner = add_user(&store).await;
    let mine = add(&store, owner, "Mine").await;
    store.set_graph(owner, mine.id, true).await.unwrap();
    read(&store, owner, &mine, "one", "x").await;
    read(&store, owner, &mine, "two", "x").await;
    look(&store, "Ada-Bob Bob-Cid Cid-Dee Ада").await;
    look(&store, "Ada-Bob ada-Eve Fay").await;
    assert!(
        store.claim_graph(1_000, 2_000).await.unwrap().is_none(),
        "all was looked at"
    );
    let found = store
        .entities(&GraphScope::whole(mine.id), "a", 10)
        .await
        .unwrap();
    let shown: Vec<_> = found
        .iter()
        .map(|it| (it.name.as_str(), it.mentions, it.relations))
        .collect();
    assert_eq!(shown[0], ("Ada", 2, 3), "{shown:?}");
    assert_eq!(
        store
            .entities(&GraphScope::whole(mine.id), "%", 10)
            .await
            .unwrap(),
        []
    );
    assert_eq!(
        store
            .entities(&GraphScope::whole(mine.id), "ад", 10)
            .await
            .unwrap()[0]
            .name,
        "Ада"
    );
    let ada = named(&store, mine.id, "ada").await;
    let near = store
        .neighbours(&GraphScope::whole(mine.id), ada, 1, 10)
        .await
        .unwrap();
    assert_eq!(
        names(&near),
        ["Ada", "Bob", "Eve"],
        "those first of which most is said"
    );
    assert_eq!(near.relations.len(), 3, "{near:?}");
    assert_eq!(near.relations[0].quote.quote, "quote 0");
    assert_eq!(
        names(
            &store
                .neighbours(&GraphScope::whole(mine.id), ada, 3, 10)
                .await
                .unwrap()
        ),
        ["Ada", "Bob", "Eve", "Cid", "Dee"]
    );
    assert_eq!(
        names(
            &store
                .neighbours(&GraphScope::whole(mine.id), ada, 3, 2)
                .await
                .unwrap()
        ),
        ["Ada", "Bob"]
    );
    let eve = named(&store, mine.id, "eve").await;
    let dee = named(&store, mine.id, "dee").await;
    let way = store
        .path(&GraphScope::whole(mine.id), eve, dee, 6)
        .await
        .unwrap();
    assert_eq!(names(&way), ["Eve", "Ada", "Bob", "Cid", "Dee"]);
    assert_eq!(
        names(
            &store
                .path(&GraphScope::whole(mine.id), ada, ada, 6)
                .await
                .unwrap()
        ),
        ["Ada"]
    );
    assert_eq!(
        store
            .path(&GraphScope::whole(mine.id), eve, dee, 3)
            .await
            .unwrap(),
        Subgraph::default(),
        "it is longer"
    );
    let fay = named(&store, mine.id, "fay").await;
    assert_eq!(
        store
            .path(&GraphScope::whole(mine.id), eve, fay, 6)
            .await
            .unwrap(),
        Subgraph::default()
    );
    let (entity, quotes) = store
        .entity(&GraphScope::whole(mine.id), ada, 10)
        .await
        .unwrap();
    assert_eq!(
        (entity.name.as_str(), quotes.len(), quotes[0].name.as_str()),
        ("Ada", 2, "one")
    );
    assert_eq!(
        names(
            &store
                .subgraph(&GraphScope::whole(mine.id), 2)
                .await
                .unwrap()
        )
        .len(),
        2
    );
    // Another collection has none of it.
    let other = add(&store, owner, "Other").await;
    assert_eq!(
        store
            .entity(&GraphScope::whole(other.id), ada, 10)
            .await
            .map(drop),
        Err(MISSING)
    );
    assert_eq!(
        store
            .neighbours(&GraphScope::whole(other.id), ada, 1, 10)
            .await,
        Err(MISSING)
    );
    assert_eq!(
        store.path(&GraphScope::whole(other.id), ada, eve, 6).await,
        Err(MISSING)
    );
    assert_eq!(
        store
            .subgraph(&GraphScope::whole(other.id), 10)
            .await
            .unwrap(),
        Subgraph::default()
    );
}

async fn names_that_mean_the_same_are_one(store: Store) {
    let owner = add_user(&store).await;
    let mine = add(&store, owner, "Mine").await;
    read(&store, owner, &mine, "one", "x").await;
    store.set_graph(owner, mine.id, true).await.unwrap();
    look(&store, "Ada-Bob Lovelace-Cid Lovelace-Ada Eve-Dan").await;
    let id = async |name: &str| named(&store, mine.id, name).await;
    let ada = id("ada").await;
    let lovelace = id("lovelace").await;
    let eve = id("eve").await;
    let bob = id("bob").await;
    let cid = id("cid").await;
    let before = store
        .subgraph(&GraphScope::whole(mine.id), 30)
        .await
        .unwrap();
    assert!(
        store
            .path(&GraphScope::whole(mine.id), bob, cid, 6)
            .await
            .unwrap()
            .entities
            .len()
            == 4,
        "over both"
    );

    // Only its owner says so, and only of what is there.
    let other = add_user(&store).await;
    assert_eq!(
        store.merge_entities(other, mine.id, ada, lovelace).await,
        Err(MISSING)
    );
    assert_eq!(
        store
            .merge_entities(owner, mine.id, ada, EntityId::generate())
            .await,
        Err(MISSING)
    );
    assert!(
        store
            .merge_entities(owner, mine.id, ada, lovelace)
            .await
            .unwrap()
    );
    let all = store
        .graph_aliases(&GraphScope::whole(mine.id))
        .await
        .unwrap();
    assert_eq!(
        (all.len(), all[0].entity, all[0].alias, &*all[0].alias_name),
        (1, ada, lovelace, "Lovelace")
    );
    assert_eq!(id("lovelace").await, ada, "its other name finds it");
    let near = store
        .neighbours(&GraphScope::whole(mine.id), lovelace, 1, 30)
        .await
        .unwrap();
    let mut near_names = names(&near);
    near_names.sort_unstable();
    assert_eq!(near_names, ["Ada", "Bob", "Cid"]);
    assert_eq!(
        near.relations.len(),
        2,
        "what it says of itself is nothing: {near:?}"
    );
    assert!(near.relations.iter().all(|said| said.source == ada));
    assert_eq!(
        names(
            &store
                .path(&GraphScope::whole(mine.id), bob, cid, 6)
                .await
                .unwrap()
        ),
        ["Bob", "Ada", "Cid"]
    );
    let (entity, quotes) = store
        .entity(&GraphScope::whole(mine.id), lovelace, 10)
        .await
        .unwrap();
    assert_eq!(
        (entity.name.as_str(), entity.mentions, quotes.len()),
        ("Ada", 2, 2)
    );
    let found = store
        .entities(&GraphScope::whole(mine.id), "love", 10)
        .await
        .unwrap();
    assert_eq!(found.iter().map(|it| it.id).collect::<Vec<_>>(), [ada]);
    assert_eq!(
        store
            .subgraph(&GraphScope::whole(mine.id), 30)
            .await
            .unwrap()
            .entities
            .len(),
        before.entities.len() - 1
    );

    // What is merged takes its other names along, and nothing is its own other name.
    assert!(
        store
            .merge_entities(owner, mine.id, eve, ada)
            .await
            .unwrap()
    );
    assert!(
        store
            .merge_entities(owner, mine.id, ada, eve)
            .await
            .unwrap()
    );
    let all = store
        .graph_aliases(&GraphScope::whole(mine.id))
        .await
        .unwrap();
    assert!(
        all.len() == 2 && all.iter().all(|one| one.entity == eve),
        "{all:?}"
    );
    // Each is taken back alone.
    store.part_entity(owner, mine.id, ada).await.unwrap();
    assert_eq!(store.part_entity(owner, mine.id, ada).await, Err(MISSING));
    assert_eq!(
        store.part_entity(other, mine.id, lovelace).await,
        Err(MISSING)
    );
    store.part_entity(owner, mine.id, lovelace).await.unwrap();
    assert_eq!(
        store
            .subgraph(&GraphScope::whole(mine.id), 30)
            .await
            .unwrap(),
        before,
        "as it was"
    );
    assert!(
        store
            .merge_entities(owner, mine.id, ada, lovelace)
            .await
            .unwrap()
    );
    store.set_graph(owner, mine.id, false).await.unwrap();
    assert!(
        store
            .graph_aliases(&GraphScope::whole(mine.id))
            .await
            .unwrap()
            .is_empty()
    );
}

async fn deleting_a_document_removes_its_relations(store: Store) {
    let owner = add_user(&store).await;
    let mine = add(&store, owner, "Mine").await;
    store.set_graph(owner, mine.id, true).await.unwrap();
    let one = read(&store, owner, &mine, "one", "x").await;
    read(&store, owner, &mine, "two", "x").await;
    look(&store, "Ada-Bob Cid").await;
    look(&store, "Ada-Dee").await;
    // Whoever keeps a copy sees what each has said.
    let shares = store.graph_shares().await.unwrap();
    let of_one = shares
        .iter()
        .find(|share| share.document == one.id)
        .unwrap();
    assert_eq!(
        (shares.len(), of_one.collection, of_one.version),
        (2, mine.id, 1)
    );
    assert_eq!((of_one.done, of_one.pieces), (1, 1));
    let share = store.graph_share(one.id).await.unwrap();
    let mut keys: Vec<&str> = share.entities.iter().map(|it| it.key.as_str()).collect();
    keys.sort_unstable();
    assert_eq!(
        (keys, share.relations.len()),
        (vec!["ada", "bob", "cid"], 1)
    );
    let ada = named(&store, mine.id, "ada").await;
    let said = &share.relations[0];
    assert_eq!(
        (said.source, said.kind.as_str(), said.quote.as_str()),
        (ada, "knows", "quote 0")
    );
    // Replaced: what the earlier text said is gone when the new one is looked at.
    read(&store, owner, &mine, "one", "y").await;
    let of = store.claim_graph(400, 500).await.unwrap().unwrap();
    assert_eq!((of.document, of.version, of.done), (one.id, 3, 0));
    let left = |graph: Subgraph| {
        graph
            .entities
            .into_iter()
            .map(|it| it.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        left(
            store
                .subgraph(&GraphScope::whole(mine.id), 10)
                .await
                .unwrap()
        ),
        ["Ada", "Dee"]
    );
    assert!(
        store
            .keep_graph(&of, 0, 1, &piece("Eve-Ada"), 600)
            .await
            .unwrap()
    );
    store
        .delete_document(owner, mine.id, one.id, store::CitedTexts::Delete, 12)
        .await
        .unwrap();
    assert_eq!(
        store.graph_share(one.id).await.unwrap(),
        WholeShare::default()
    );
    assert_eq!(store.graph_shares().await.unwrap().len(), 1);
    let graph = store
        .subgraph(&GraphScope::whole(mine.id), 10)
        .await
        .unwrap();
    assert_eq!(
        (graph.entities.len(), graph.relations.len()),
        (2, 1),
        "{graph:?}"
    );
    // Off, nothing is left; on again, it begins anew.
    store.set_graph(owner, mine.id, false).await.unwrap();
    assert_eq!(
        store
            .subgraph(&GraphScope::whole(mine.id), 10)
            .await
            .unwrap(),
        Subgraph::default()
    );
    assert!(store.claim_graph(700, 800).await.unwrap().is_none());
    store.set_graph(owner, mine.id, true).await.unwrap();
    assert!(store.claim_graph(700, 800).await.unwrap().is_some());
}

async fn one_server_processes_a_document(store: Store) {
    let owner = add_user(&store).await;
    let mine = add(&store, owner, "Mine").await;
    read(&store, owner, &mine, "one", "x").await;
    assert!(
        store.claim_graph(100, 200).await.unwrap().is_none(),
        "nobody wants a graph"
    );
    store.set_graph(owner, mine.id, true).await.unwrap();
    let of = store.claim_graph(100, 200).await.unwrap().unwrap();
    assert!(store.claim_graph(150, 250).await.unwrap().is_none());
    assert!(
        store
            .keep_graph(&of, 0, 2, &piece("Ada"), 300)
            .await
            .unwrap()
    );
    // Whoever has not gone on with it by then is gone.
    let again = store.claim_graph(301, 400).await.unwrap().unwrap();
    assert_eq!((again.done, again.failures), (1, 0));
    store.note_graph_failure(&again, "{}", 500).await.unwrap();
    assert!(store.claim_graph(450, 550).await.unwrap().is_none());
    let later = store.claim_graph(501, 600).await.unwrap().unwrap();
    assert_eq!((later.done, later.failures), (1, 1));
    let (on, documents) = store
        .graph_state(&GraphScope::whole(mine.id))
        .await
        .unwrap();
    assert_eq!((on, documents[0].done, documents[0].pieces), (true, 1, 2));
    assert_eq!(documents[0].problem.as_deref(), Some("{}"));
    assert!(
        !store
            .keep_graph(&of, 0, 2, &piece("Bob"), 700)
            .await
            .unwrap(),
        "it was kept before"
    );
}

async fn unwanted_results_are_discarded(store: Store) {
    let owner = add_user(&store).await;
    let other = add_user(&store).await;
    let mine = add(&store, owner, "Mine").await;
    assert_eq!(store.set_graph(other, mine.id, true).await, Err(MISSING));
    store.set_graph(owner, mine.id, true).await.unwrap();
    let one = read(&store, owner, &mine, "one", "x").await;
    let of = store.claim_graph(100, 200).await.unwrap().unwrap();
    store.set_graph(owner, mine.id, false).await.unwrap();
    assert!(
        !store
            .keep_graph(&of, 0, 1, &piece("Ada"), 300)
            .await
            .unwrap()
    );
    store.set_graph(owner, mine.id, true).await.unwrap();
    let of = store.claim_graph(100, 200).await.unwrap().unwrap();
    store
        .delete_document(owner, mine.id, one.id, store::CitedTexts::Delete, 12)
        .await
        .unwrap();
    assert!(
        !store
            .keep_graph(&of, 0, 1, &piece("Ada"), 300)
            .await
            .unwrap()
    );
    assert_eq!(
        store
            .subgraph(&GraphScope::whole(mine.id), 10)
            .await
            .unwrap(),
        Subgraph::default()
    );
}
