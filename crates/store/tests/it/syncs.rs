//! Synchronizations of collections with their sources.

use domain::{CollectionId, SourceId, SyncId, UserId};
use store::{
    CitedTexts, Collection, CollectionChange, CollectionLimits, DocumentMetadata, DocumentReaders,
    Manifest, MetadataOrigin, MetadataValue, SourceItem, Store, StoreError, StoredSource, Sync,
    SyncItemState, SyncState,
};

use crate::{
    fixtures::add_user,
    knowledge::{add, document, text},
};

on_every_database!(
    only_what_changed_is_received,
    an_interrupted_synchronization_goes_on,
    many_deletions_wait_for_a_confirmation,
    positions_are_those_of_the_settings,
    readers_change_with_their_documents,
    names_of_others_are_not_taken,
    sources_belong_to_collections,
    one_server_works_on_a_synchronization,
    cited_texts_keep_their_readers,
    metadata_follows_the_source
);

const LIMITS: CollectionLimits = CollectionLimits {
    documents: 1000,
    bytes: 1_000_000,
};
const MISSING: StoreError = StoreError::NotFound;

/// A collection with a source of the server.
struct World {
    store: Store,
    owner: UserId,
    collection: Collection,
    source: StoredSource,
}

impl World {
    async fn new(store: Store) -> Self {
        let owner = add_user(&store).await;
        let collection = add(&store, owner, "Mirror").await;
        let source = source(collection.id, "Wiki");
        store.create_source(owner, &source, 3).await.unwrap();
        Self {
            store,
            owner,
            collection,
            source,
        }
    }

    async fn begin(&self, now: i64) -> SyncId {
        let id = SyncId::generate();
        let begun = self.store.begin_sync(self.source.id, id, true, now).await;
        begun.unwrap();
        id
    }

    /// Begins a synchronization with these documents.
    async fn list(&self, items: &[SourceItem], now: i64) -> Sync {
        let id = self.begin(now).await;
        let manifest = Manifest {
            items: items.to_vec(),
            problems: Vec::new(),
            is_whole: true,
        };
        let listed = self.store.list_sync(self.collection.id, id, &manifest, now);
        listed.await.unwrap()
    }

    async fn receive(&self, sync: &Sync, item: &str) -> Result<String, StoreError> {
        let new = document(&self.collection, "?");
        let received = self
            .store
            .receive_item(self.owner, sync.id, item, &new, b"12345", LIMITS);
        Ok(received.await?.name)
    }

    async fn complete(&self, sync: &Sync, confirmed: Option<u64>) -> Sync {
        let collection = self.collection.id;
        let done = self
            .store
            .complete_sync(self.owner, collection, sync.id, confirmed, "\"late\"", 9);
        done.await.unwrap()
    }

    /// Lists, receives all and completes.
    async fn synchronize(&self, items: &[SourceItem]) -> Sync {
        let sync = self.list(items, 5).await;
        for item in self.items(&sync, SyncItemState::Missing).await {
            self.receive(&sync, &item).await.unwrap();
        }
        self.complete(&sync, None).await
    }

    async fn items(&self, sync: &Sync, state: SyncItemState) -> Vec<String> {
        let states = [state];
        let found = self.store.sync_items(sync.id, &states, "", 100);
        found
            .await
            .unwrap()
            .into_iter()
            .map(|i| i.item.id)
            .collect()
    }

    async fn documents(&self) -> Vec<String> {
        let all = self.store.documents(self.collection.id).await.unwrap();
        all.into_iter().map(|document| document.name).collect()
    }

    /// Reads all waiting documents.
    async fn read(&self) {
        while let Some(task) = self.store.claim_document(100, 200).await.unwrap() {
            let read = text(&format!("kumquat {}", task.upload));
            let settled = self.store.settle_document(&task, &read, Some(1), 101);
            settled.await.unwrap();
        }
    }

    /// The names of the documents that a user may not read.
    async fn hidden(&self, reader: UserId) -> Vec<String> {
        let collections = [self.collection.id];
        let hidden = self.store.hidden_documents(reader, &collections);
        let hidden = hidden.await.unwrap();
        let all = self.store.documents(self.collection.id).await.unwrap();
        let names = all.into_iter().filter(|one| hidden.contains(&one.id));
        names.map(|one| one.name).collect()
    }
}

fn source(collection: CollectionId, name: &str) -> StoredSource {
    StoredSource {
        id: SourceId::generate(),
        collection,
        name: name.to_owned(),
        settings: Some(serde_json::json!({ "kind": "folder", "path": "/wiki" })),
        sealed: None,
        every_minutes: Some(60),
        next_at: Some(3),
        created_at: 2,
    }
}

fn item(id: &str, version: &str) -> SourceItem {
    SourceItem {
        id: id.to_owned(),
        name: format!("{id}.md"),
        version: version.to_owned(),
        size_bytes: Some(5),
        modified_at: Some(1),
        url: Some(format!("https://wiki.example/{id}")),
        readers: None,
        metadata: DocumentMetadata::default(),
    }
}

fn readers(people: &[&str]) -> DocumentReaders {
    DocumentReaders {
        people: people.iter().map(|&name| name.to_owned()).collect(),
        ..DocumentReaders::default()
    }
}

async fn only_what_changed_is_received(store: Store) {
    let world = World::new(store).await;
    let first = world.list(&[item("a", "1"), item("b", "1")], 5).await;
    assert_eq!((first.missing, first.unchanged, first.listed), (2, 0, true));
    assert_eq!(world.receive(&first, "a").await, Ok("a.md".to_owned()));
    assert_eq!(world.receive(&first, "a").await, Err(MISSING));
    assert_eq!(world.receive(&first, "c").await, Err(MISSING));
    world.receive(&first, "b").await.unwrap();
    let done = world.complete(&first, None).await;
    assert_eq!(
        (done.state, done.added, done.ended_at),
        (SyncState::Done, 2, Some(9))
    );
    assert_eq!(world.documents().await, ["a.md", "b.md"]);

    // One changed, one is renamed, one is new, and one is gone.
    let renamed = SourceItem {
        name: "B.md".to_owned(),
        ..item("b", "1")
    };
    let second = world
        .synchronize(&[item("a", "2"), renamed, item("c", "1")])
        .await;
    assert_eq!((second.added, second.updated, second.deleted), (1, 1, 0));
    assert_eq!(world.documents().await, ["B.md", "a.md", "c.md"]);
    let third = world.synchronize(&[item("b", "1"), item("c", "1")]).await;
    assert_eq!((third.updated, third.deleted), (0, 1));
    assert_eq!(world.documents().await, ["b.md", "c.md"]);
    assert_eq!(world.items(&third, SyncItemState::Deleted).await, ["a"]);

    // What somebody deleted here comes back: the source has it.
    let all = world.store.documents(world.collection.id).await.unwrap();
    let deleted = world.store.delete_document(
        world.owner,
        world.collection.id,
        all[0].id,
        CitedTexts::Delete,
        6,
    );
    deleted.await.unwrap();
    let fourth = world.list(&[item("b", "1"), item("c", "1")], 7).await;
    assert_eq!(world.items(&fourth, SyncItemState::Missing).await, ["b"]);
    let syncs = world
        .store
        .syncs(world.collection.id, world.source.id, 2)
        .await;
    let states: Vec<_> = syncs.unwrap().into_iter().map(|sync| sync.state).collect();
    assert_eq!(states, [SyncState::Running, SyncState::Done]);
}

async fn an_interrupted_synchronization_goes_on(store: Store) {
    let world = World::new(store).await;
    let items = [item("a", "1"), item("b", "1"), item("c", "1")];
    let first = world.list(&items, 5).await;
    world.receive(&first, "a").await.unwrap();
    world
        .store
        .fail_item(first.id, "b", "\"no\"")
        .await
        .unwrap();
    let second = world.list(&items, 6).await;
    assert_eq!((second.missing, second.unchanged), (2, 1));
    assert_eq!(world.receive(&first, "b").await, Err(MISSING));
    let before = world
        .store
        .sync(world.collection.id, first.id)
        .await
        .unwrap();
    assert_eq!(before.state, SyncState::Cancelled);
    world.receive(&second, "b").await.unwrap();
    // What was not received is reported, and nothing is deleted for it.
    let done = world.complete(&second, None).await;
    assert_eq!(
        (done.state, done.added, done.failed),
        (SyncState::Done, 1, 1)
    );
    let failed = [SyncItemState::Failed];
    let late = world.store.sync_items(second.id, &failed, "", 9).await;
    let late = late.unwrap().pop().unwrap();
    assert_eq!(late.item.id, "c");
    assert_eq!(late.problem.as_deref(), Some("\"late\""));
    assert_eq!(world.documents().await, ["a.md", "b.md"]);

    // A part that could not be listed is not taken for deleted.
    let id = world.begin(8).await;
    let manifest = Manifest {
        items: vec![item("a", "1")],
        problems: vec![("folder".to_owned(), "\"refused\"".to_owned())],
        is_whole: false,
    };
    let collection = world.collection.id;
    let listed = world
        .store
        .list_sync(collection, id, &manifest, 8)
        .await
        .unwrap();
    assert_eq!((listed.unlisted, listed.failed), (0, 1));
    assert_eq!(
        world.store.list_sync(collection, id, &manifest, 8).await,
        Err(MISSING)
    );
    world.complete(&listed, None).await;
    assert_eq!(world.documents().await, ["a.md", "b.md"]);

    // And neither is what has left a window.
    let id = world.begin(9).await;
    let window = Manifest::default();
    let listed = world
        .store
        .list_sync(collection, id, &window, 9)
        .await
        .unwrap();
    world.complete(&listed, None).await;
    assert_eq!(world.documents().await, ["a.md", "b.md"]);
}

async fn many_deletions_wait_for_a_confirmation(store: Store) {
    let world = World::new(store).await;
    let items: Vec<_> = (0..30).map(|i| item(&format!("{i:02}"), "1")).collect();
    world.synchronize(&items).await;
    // A few go at once.
    let few = world.synchronize(&items[..20]).await;
    assert_eq!((few.state, few.deleted), (SyncState::Done, 10));
    // Eleven of twenty do not.
    let many = world.synchronize(&items[..9]).await;
    assert_eq!(
        (many.state, many.unlisted, many.deleted),
        (SyncState::Waiting, 11, 0)
    );
    assert_eq!(world.documents().await.len(), 20);
    // A confirmation of another number is none.
    let wrong = world.complete(&many, Some(20)).await;
    assert_eq!(wrong.state, SyncState::Waiting);
    let done = world.complete(&many, Some(11)).await;
    assert_eq!((done.state, done.deleted), (SyncState::Done, 11));
    assert_eq!(world.documents().await.len(), 9);
    // All of them are always many: the folder may not be mounted.
    let all = world.synchronize(&[]).await;
    assert_eq!((all.state, all.unlisted), (SyncState::Waiting, 9));
    let collection = world.collection.id;
    let other = add_user(&world.store).await;
    let cancelled = world.store.cancel_sync(other, collection, all.id, 10).await;
    assert_eq!(cancelled, Err(MISSING));
    let cancelled = world
        .store
        .cancel_sync(world.owner, collection, all.id, 10)
        .await;
    let kept = cancelled.unwrap();
    // The log still says which were not deleted.
    assert_eq!((kept.state, kept.unlisted), (SyncState::Kept, 9));
    assert_eq!(world.documents().await.len(), 9);
    let again = world
        .store
        .cancel_sync(world.owner, collection, all.id, 10)
        .await;
    assert_eq!(again, Err(MISSING));
}

async fn positions_are_those_of_the_settings(store: Store) {
    let world = World::new(store).await;
    let store = &world.store;
    let source = world.source.id;
    assert_eq!(store.feed_position(source).await, Ok(None));
    let (first, second) = (item("a", "1"), item("b", "1"));
    world.synchronize(&[first.clone(), second.clone()]).await;
    // What could not be received is known, too: it is not named as a change again.
    let sync = world
        .list(&[first.clone(), item("b", "2"), item("c", "1")], 6)
        .await;
    store.fail_item(sync.id, "b", "\"why\"").await.unwrap();
    store.fail_item(sync.id, "c", "\"why\"").await.unwrap();
    assert_eq!(world.complete(&sync, None).await.failed, 2);
    let known = store.known_items(source).await.unwrap();
    let known: Vec<_> = known.iter().map(|i| (&*i.id, &*i.version)).collect();
    assert_eq!(known, [("a", "1"), ("b", "2"), ("c", "1")]);
    let here = store.documents_of_source(source).await.unwrap();
    let here: Vec<_> = here.iter().map(|i| (&*i.id, &*i.version)).collect();
    assert_eq!(here, [("a", "1"), ("b", "1")]);

    let position = serde_json::json!({ "at": "100" });
    let kept = Some(position.clone());
    let set = store.set_feed_position(&world.source, Some(&position));
    set.await.unwrap();
    assert_eq!(store.feed_position(source).await, Ok(kept));
    // It is that of the settings of then.
    let changed = StoredSource {
        settings: Some(serde_json::json!({ "kind": "folder", "path": "/other" })),
        ..world.source.clone()
    };
    store.change_source(world.owner, &changed, 7).await.unwrap();
    assert_eq!(store.feed_position(source).await, Ok(None));
    let set = store.set_feed_position(&world.source, Some(&position));
    set.await.unwrap();
    assert_eq!(store.feed_position(source).await, Ok(None));
    let unknown = store.feed_position(SourceId::generate()).await;
    assert_eq!(unknown, Err(MISSING));
}

async fn readers_change_with_their_documents(store: Store) {
    let world = World::new(store).await;
    let other = add_user(&world.store).await;
    let email = world.store.user(other).await.unwrap().email;
    let shared = |version: &str, readers: Option<DocumentReaders>| SourceItem {
        readers,
        ..item("a", version)
    };
    let named = readers(&[&email.to_uppercase()]);
    world
        .synchronize(&[shared("1", Some(readers(&["x@example.org"])))])
        .await;
    world.read().await;
    assert_eq!(world.hidden(other).await, ["a.md"]);
    assert_eq!(world.hidden(world.owner).await, [""; 0]);
    // Without a new content, new readers are in force at once.
    let sync = world.list(&[shared("1", Some(named.clone()))], 5).await;
    assert_eq!((sync.unchanged, sync.missing), (1, 0));
    assert_eq!(world.hidden(other).await, [""; 0]);
    // With a new content, rights that are lost are lost at once, and those that are won hold for the new one only.
    world
        .list(&[shared("2", Some(readers(&["x@example.org"])))], 5)
        .await;
    assert_eq!(world.hidden(other).await, ["a.md"]);
    world
        .synchronize(&[shared("2", Some(readers(&["x@example.org"])))])
        .await;
    world.read().await;
    let sync = world.list(&[shared("3", None)], 5).await;
    assert_eq!(world.hidden(other).await, ["a.md"]);
    let before = world.store.documents(world.collection.id).await.unwrap();
    assert!(before[0].version > 0);
    world.receive(&sync, "a").await.unwrap();
    assert_eq!(world.hidden(other).await, [""; 0]);
    let after = world.store.documents(world.collection.id).await.unwrap();
    assert_eq!((after[0].version, after[0].chunks), (0, 0));
    let text = world.store.document_text(after[0].id).await;
    assert_eq!(text, Err(MISSING));
    // The same readers: the earlier text can be found until the new one is read.
    world.read().await;
    world.synchronize(&[shared("4", None)]).await;
    assert!(world.store.document_text(after[0].id).await.is_ok());
}

async fn names_of_others_are_not_taken(store: Store) {
    let world = World::new(store).await;
    let mine = document(&world.collection, "a.md");
    let put = world
        .store
        .put_document(world.owner, &mine, b"mine", LIMITS);
    put.await.unwrap();
    world.synchronize(&[item("a", "1")]).await;
    assert_eq!(world.documents().await, ["a (2).md", "a.md"]);
    let file = world.store.document_file(mine.id).await.unwrap();
    assert_eq!(file, b"mine");
    world.synchronize(&[item("a", "2"), item("b", "1")]).await;
    assert_eq!(world.documents().await, ["a (2).md", "a.md", "b.md"]);
}

async fn sources_belong_to_collections(store: Store) {
    let world = World::new(store).await;
    let World { store, owner, .. } = &world;
    let other = add_user(store).await;
    let collection = world.collection.id;
    let second = source(collection, "Drive");
    assert_eq!(store.create_source(other, &second, 3).await, Err(MISSING));
    let twin = source(collection, "Wiki");
    assert_eq!(
        store.create_source(*owner, &twin, 3).await,
        Err(StoreError::Conflict("name"))
    );
    assert_eq!(
        store.create_source(*owner, &second, 1).await,
        Err(StoreError::Conflict("sources"))
    );
    store.create_source(*owner, &second, 3).await.unwrap();
    let renamed = StoredSource {
        name: "Wiki".to_owned(),
        ..second.clone()
    };
    assert_eq!(
        store.change_source(*owner, &renamed, 5).await,
        Err(StoreError::Conflict("name"))
    );
    let changed = StoredSource {
        name: "Disk".to_owned(),
        sealed: Some(vec![1, 2]),
        every_minutes: None,
        next_at: None,
        ..second.clone()
    };
    store.change_source(*owner, &changed, 5).await.unwrap();
    assert_eq!(
        store.source(*owner, collection, second.id).await,
        Ok(changed)
    );
    assert_eq!(
        store.source(other, collection, second.id).await,
        Err(MISSING)
    );
    assert_eq!(store.due_sources(2, 5).await, Ok(vec![]));
    assert_eq!(store.due_sources(3, 5).await, Ok(vec![world.source.id]));
    // A client's source has no settings; one of the server is not a client's.
    let client = StoredSource {
        settings: None,
        next_at: None,
        ..source(collection, "Client")
    };
    assert_eq!(
        store.client_source(*owner, &client, 3).await.as_ref(),
        Ok(&client)
    );
    let again = StoredSource {
        id: SourceId::generate(),
        ..client.clone()
    };
    let found = store.client_source(*owner, &again, 3).await.unwrap();
    assert_eq!(found.id, client.id);
    let taken = store.client_source(*owner, &twin, 3).await;
    assert_eq!(taken, Err(StoreError::Conflict("name")));

    // A source leaves its documents behind, or takes them along.
    world.synchronize(&[item("a", "1")]).await;
    let sources = store.sources(collection).await.unwrap();
    let counts: Vec<_> = sources
        .iter()
        .map(|(s, count)| (&*s.name, *count))
        .collect();
    assert_eq!(counts, [("Client", 0), ("Disk", 0), ("Wiki", 1)]);
    let wiki = world.source.id;
    assert_eq!(
        store.delete_source(other, collection, wiki, true, 9).await,
        Err(MISSING)
    );
    store
        .delete_source(*owner, collection, wiki, false, 9)
        .await
        .unwrap();
    assert_eq!(world.documents().await, ["a.md"]);
    let again = World {
        source: source(collection, "Wiki"),
        store: store.clone(),
        owner: *owner,
        collection: world.collection.clone(),
    };
    store.create_source(*owner, &again.source, 3).await.unwrap();
    again.synchronize(&[item("b", "1")]).await;
    let deleted = store
        .delete_source(*owner, collection, again.source.id, true, 9)
        .await;
    assert_eq!(deleted, Ok(()));
    assert_eq!(again.documents().await, ["a.md"]);
}

async fn one_server_works_on_a_synchronization(store: Store) {
    let world = World::new(store).await;
    assert_eq!(world.store.claim_sync(5, 10).await, Ok(None));
    let id = world.begin(5).await;
    let second = SyncId::generate();
    let busy = world
        .store
        .begin_sync(world.source.id, second, false, 5)
        .await;
    assert_eq!(busy, Err(StoreError::Conflict("sync")));
    let claimed = world.store.claim_sync(5, 10).await.unwrap().unwrap();
    assert_eq!((claimed.sync.id, claimed.owner), (id, world.owner));
    assert_eq!(claimed.source.next_at, Some(5 + 3_600_000));
    assert_eq!(world.store.claim_sync(9, 20).await, Ok(None));
    assert_eq!(world.store.hold_sync(id, 12).await, Ok(true));
    assert_eq!(world.store.claim_sync(11, 20).await, Ok(None));
    // Its server is dead.
    assert!(world.store.claim_sync(12, 20).await.unwrap().is_some());
    world.store.fail_sync(id, "\"refused\"", 13).await.unwrap();
    assert_eq!(world.store.hold_sync(id, 30).await, Ok(false));
    let failed = world.store.sync(world.collection.id, id).await.unwrap();
    assert_eq!(
        (failed.state, failed.ended_at),
        (SyncState::Failed, Some(13))
    );
    assert_eq!(failed.problem.as_deref(), Some("\"refused\""));
    // The log of a source does not grow for ever.
    for now in 20..45 {
        let id = world.begin(now).await;
        world.store.fail_sync(id, "\"refused\"", now).await.unwrap();
    }
    let kept = world
        .store
        .syncs(world.collection.id, world.source.id, 100)
        .await;
    let kept = kept.unwrap();
    assert_eq!((kept.len(), kept[0].started_at), (20, 44));
}

async fn cited_texts_keep_their_readers(store: Store) {
    let world = World::new(store).await;
    let other = add_user(&world.store).await;
    let email = world.store.user(other).await.unwrap().email;
    let collection = world.collection.id;
    let open = CollectionChange {
        open: Some(true),
        ..CollectionChange::default()
    };
    let opened = world
        .store
        .change_collection(world.owner, collection, &open, 3);
    opened.await.unwrap();
    let with = |version: &str, names: &[&str]| SourceItem {
        readers: Some(readers(names)),
        ..item("a", version)
    };
    // A text that only the owner may read is cited, then replaced by one for others.
    world.synchronize(&[with("1", &[]), item("b", "1")]).await;
    world.read().await;
    let [a, b] = &world.store.documents(collection).await.unwrap()[..] else {
        panic!("there are two documents");
    };
    let cited = [(a.id, a.version), (b.id, b.version)];
    assert_eq!(world.store.note_citations(&cited).await.unwrap().len(), 2);
    world
        .synchronize(&[with("2", &[&email]), item("b", "1")])
        .await;
    world.read().await;
    assert_eq!(world.hidden(other).await, [""; 0]);
    let copy = |reader, id, version| world.store.readable_copy(reader, collection, id, version);
    assert!(copy(world.owner, a.id, a.version).await.is_ok());
    assert_eq!(copy(other, a.id, a.version).await, Err(MISSING));

    // One that others could read stays for them when the source deletes its document.
    world.synchronize(&[with("2", &[&email])]).await;
    assert_eq!(world.documents().await, ["a.md"]);
    assert!(copy(other, b.id, b.version).await.is_ok());

    // But not when they may no longer read the document, or the source is removed with its documents.
    let current = world.store.documents(collection).await.unwrap()[0].clone();
    let cited = [(current.id, current.version)];
    world.store.note_citations(&cited).await.unwrap();
    world.synchronize(&[with("3", &[&email])]).await;
    assert_eq!(copy(other, a.id, current.version).await, Err(MISSING));
    world.read().await;
    let changed = world.store.documents(collection).await.unwrap()[0].version;
    assert_ne!(changed, current.version);
    assert!(copy(other, a.id, current.version).await.is_ok());
    world.synchronize(&[with("3", &[])]).await;
    assert_eq!(copy(other, a.id, current.version).await, Err(MISSING));
    let deleted = world
        .store
        .delete_source(world.owner, collection, world.source.id, true, 9);
    deleted.await.unwrap();
    assert_eq!(copy(world.owner, a.id, a.version).await, Err(MISSING));
}

async fn metadata_follows_the_source(store: Store) {
    let world = World::new(store).await;
    let of = |id: &str, version: &str, tag: &str, names: Option<&[&str]>| SourceItem {
        metadata: DocumentMetadata {
            tags: vec![tag.to_owned()],
            fields: [(
                "author".to_owned(),
                vec![MetadataValue::Text(tag.to_uppercase())],
            )]
            .into(),
        },
        readers: names.map(readers),
        ..item(id, version)
    };
    let tags = async || {
        let documents = world.store.documents(world.collection.id).await.unwrap();
        let mut found = Vec::new();
        for document in documents {
            let shown = world.store.document_metadata(document.id).await.unwrap();
            found.push((shown.effective.tags.join(","), shown.effective.fields.len()));
        }
        found
    };
    world
        .synchronize(&[of("a", "1", "draft", None), item("b", "1")])
        .await;
    world.read().await;
    assert_eq!(tags().await, [("draft".to_owned(), 1), (String::new(), 0)]);
    // Of an unchanged document, it changes at once.
    world
        .synchronize(&[of("a", "1", "final", None), of("b", "1", "new", None)])
        .await;
    assert_eq!(
        tags().await,
        [("final".to_owned(), 1), ("new".to_owned(), 1)]
    );
    // Of a changed one, with the content.
    let changed = of("a", "2", "secret", Some(&["x@example.org"]));
    let sync = world.begin(5).await;
    let manifest = Manifest {
        items: vec![changed.clone(), of("b", "1", "new", None)],
        problems: Vec::new(),
        is_whole: true,
    };
    let listed = world
        .store
        .list_sync(world.collection.id, sync, &manifest, 5)
        .await;
    listed.unwrap();
    assert_eq!(tags().await[0].0, "final");
    world
        .synchronize(&[changed, of("b", "1", "new", None)])
        .await;
    assert_eq!(tags().await[0].0, "secret");
    // Without values in the source, there are none.
    world
        .synchronize(&[of("a", "2", "secret", None), item("b", "1")])
        .await;
    assert_eq!(tags().await[1], (String::new(), 0));
    let origin = MetadataOrigin::Source;
    let all = world
        .store
        .metadata_of_origin(world.collection.id, origin)
        .await;
    assert_eq!(all.unwrap().len(), 1);
}
