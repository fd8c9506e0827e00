//! Large contents in an object storage: written before their rows, verified when read, removed after their rows.

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use blobs::{Blobs, Key, Settings};
use store::{
    AccountChange, CollectionLimits, Document, Moved, MovedTo, OBJECT_BYTES, OBJECT_GRACE_MS, Part,
    Store, StoreError, dump, restore,
};

use crate::{
    fixtures::{add_chat, add_user},
    forks::fork_of,
    knowledge::{add, document},
};

on_every_database!(
    only_large_contents_are_objects,
    an_object_stays_while_any_row_refers_to_it,
    objects_of_replaced_documents_go_after_a_day,
    nothing_is_left_of_what_is_refused,
    objects_of_deleted_accounts_go,
    a_missing_or_damaged_object_is_an_error,
    a_storage_that_fails_changes_nothing,
    contents_are_moved_there_and_back,
    moving_keeps_versions,
    objects_are_not_removed_while_rows_are_written,
    without_its_storage_rows_are_not_empty,
);
on_lasting_databases!(backups_have_the_objects);

/// A time long after any that rows have.
const START: i64 = 1_000_000_000;

/// An object storage in a folder, used by a store.
pub(crate) struct Storage {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) blobs: Blobs,
    now: Arc<AtomicI64>,
}

impl Storage {
    pub(crate) fn of(store: &Store) -> Self {
        let storage = Self::new();
        let now = storage.now.clone();
        store.use_objects(storage.blobs.clone(), move || now.load(Ordering::Relaxed));
        storage
    }

    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            url: format!("file://{}", folder.path().display()),
            ..Settings::default()
        };
        Self {
            blobs: Blobs::new(&settings).unwrap(),
            folder,
            now: Arc::new(AtomicI64::new(START)),
        }
    }

    pub(crate) async fn keys(&self) -> Vec<Key> {
        self.blobs.keys().await.unwrap()
    }

    /// The file of the only object.
    pub(crate) async fn file(&self) -> PathBuf {
        let keys = self.keys().await;
        assert_eq!(keys.len(), 1, "{keys:?}");
        self.folder.path().join(keys[0].as_str())
    }

    fn pass(&self, ms: i64) {
        self.now.fetch_add(ms, Ordering::Relaxed);
    }

    /// Lets a day pass and removes what no row refers to.
    async fn remove(&self, store: &Store) {
        while store.remove_objects().await.unwrap() {}
        self.pass(OBJECT_GRACE_MS);
        while store.remove_objects().await.unwrap() {}
    }
}

/// A large content, different for each `seed`.
fn large(seed: u8) -> Vec<u8> {
    (0..OBJECT_BYTES + 1000)
        .map(|at| seed.wrapping_add((at % 251) as u8))
        .collect()
}

async fn write(store: &Store, path: &str, content: &[u8]) -> u64 {
    store.write_file("w", path, content, None, 1).await.unwrap()
}

async fn read(store: &Store, path: &str) -> Vec<u8> {
    let file = store.read_file("w", path).await.unwrap();
    file.unwrap().content
}

async fn only_large_contents_are_objects(store: Store) {
    let storage = Storage::of(&store);
    let limit = usize::try_from(OBJECT_BYTES).unwrap();
    let small = &large(1)[..limit - 1];
    write(&store, "/small", small).await;
    assert_eq!(storage.keys().await, []);
    assert!(!store.refers_to_objects().await.unwrap());
    write(&store, "/large", &large(2)[..limit]).await;
    assert_eq!(storage.keys().await.len(), 1);
    assert_eq!(read(&store, "/small").await, small);
    assert_eq!(read(&store, "/large").await, &large(2)[..limit]);
    assert_eq!(store.files("w").await.unwrap()[0].size_bytes, OBJECT_BYTES);
    store.find_objects().await.unwrap();
    // The other ways to write.
    assert_eq!(
        store.write_file("w", "/new", &large(3), Some(0), 1).await,
        Ok(1)
    );
    assert_eq!(
        store.write_file("w", "/new", &large(4), Some(1), 1).await,
        Ok(2)
    );
    assert_eq!(
        store.write_file("w", "/new", b"small", Some(2), 1).await,
        Ok(3)
    );
    assert_eq!(read(&store, "/new").await, b"small");
    let past = store
        .read_file_version("w", "/new", 2)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(past.content, large(4));
}

async fn an_object_stays_while_any_row_refers_to_it(store: Store) {
    let storage = Storage::of(&store);
    let owner = add_user(&store).await;
    let chat = add_chat(&store, owner, "First", 1).await;
    let workspace = chat.id.to_string();
    let put = async |content: &[u8]| {
        let written = store.write_file(&workspace, "/a", content, None, 1).await;
        written.unwrap()
    };
    put(&large(1)).await;
    put(b"small").await;
    let (_, here) = store.move_file(&workspace, "/a", "/b", 2).await.unwrap();
    assert_eq!(here, 1);
    store.delete_file(&workspace, "/b", None, 3).await.unwrap();
    storage.remove(&store).await;
    // It is the first version of what was there.
    let first = store.read_file_version(&workspace, "/a", 1).await.unwrap();
    assert_eq!(first.unwrap().content, large(1));
    let fork = fork_of(&chat, &[("/a", 1)]);
    store.fork(&fork).await.unwrap();
    store.delete_chat(owner, chat.id).await.unwrap();
    storage.remove(&store).await;
    let copy = fork.chat.id.to_string();
    let copied = store.read_file(&copy, "/a").await.unwrap().unwrap();
    assert_eq!(copied.content, large(1));
    store.delete_chat(owner, fork.chat.id).await.unwrap();
    assert_eq!(storage.keys().await.len(), 1, "a reader may still be there");
    storage.remove(&store).await;
    assert_eq!(storage.keys().await, []);
    assert!(!store.refers_to_objects().await.unwrap());
}

const LIMITS: CollectionLimits = CollectionLimits {
    documents: 2,
    bytes: 300_000,
};

async fn objects_of_replaced_documents_go_after_a_day(store: Store) {
    let storage = Storage::of(&store);
    let owner = add_user(&store).await;
    let collection = add(&store, owner, "Mine").await;
    let put = async |content: &[u8]| -> Document {
        let new = document(&collection, "a");
        store
            .put_document(owner, &new, content, LIMITS)
            .await
            .unwrap()
    };
    let kept = put(&large(1)).await;
    put(&large(2)).await;
    assert_eq!(store.document_file(kept.id).await.unwrap(), large(2));
    assert!(!store.remove_objects().await.unwrap());
    storage.pass(OBJECT_GRACE_MS - 1);
    assert!(!store.remove_objects().await.unwrap());
    assert_eq!(storage.keys().await.len(), 2);
    storage.pass(1);
    assert!(!store.remove_objects().await.unwrap());
    assert_eq!(storage.keys().await.len(), 1);
    assert_eq!(store.document_file(kept.id).await.unwrap(), large(2));
    put(b"small").await;
    storage.remove(&store).await;
    assert_eq!(storage.keys().await, []);
    assert_eq!(store.document_file(kept.id).await.unwrap(), b"small");
}

async fn nothing_is_left_of_what_is_refused(store: Store) {
    let storage = Storage::of(&store);
    let owner = add_user(&store).await;
    let collection = add(&store, owner, "Mine").await;
    let refused = store.write_file("w", "/a", &large(1), Some(7), 1).await;
    assert_eq!(refused, Err(StoreError::Conflict("version")));
    let small = CollectionLimits { bytes: 1, ..LIMITS };
    let new = document(&collection, "a");
    let refused = store.put_document(owner, &new, &large(2), small).await;
    assert_eq!(refused, Err(StoreError::Conflict("bytes")));
    assert_eq!(storage.keys().await.len(), 2);
    // These need not wait for a day.
    assert!(!store.remove_objects().await.unwrap());
    assert_eq!(storage.keys().await, []);
}

async fn objects_of_deleted_accounts_go(store: Store) {
    let storage = Storage::of(&store);
    let owner = add_user(&store).await;
    let collection = add(&store, owner, "Mine").await;
    let new = document(&collection, "a");
    let put = store.put_document(owner, &new, &large(1), LIMITS).await;
    put.unwrap();
    let chat = add_chat(&store, owner, "First", 1).await;
    let workspace = chat.id.to_string();
    for seed in 2..5 {
        let content = large(seed);
        let written = store.write_file(&workspace, "/a", &content, None, 1);
        written.await.unwrap();
    }
    assert_eq!(storage.keys().await.len(), 4);
    let suspend = AccountChange {
        suspended: Some(true),
        ..AccountChange::default()
    };
    store.change_account(owner, &suspend, 9).await.unwrap();
    store.delete_account(owner).await.unwrap();
    storage.remove(&store).await;
    assert_eq!(storage.keys().await, []);
}

async fn a_missing_or_damaged_object_is_an_error(store: Store) {
    let storage = Storage::of(&store);
    write(&store, "/a", &large(1)).await;
    let file = storage.file().await;
    let check = async |expected: &str| {
        for error in [
            store.read_file("w", "/a").await.unwrap_err(),
            store.read_file_version("w", "/a", 1).await.unwrap_err(),
        ] {
            let text = error.to_string();
            assert!(
                matches!(error, StoreError::Corrupt(_)) && text.contains(expected),
                "{text}"
            );
        }
    };
    for damage in [&large(2)[..], &large(1)[1..], b""] {
        fs::write(&file, damage).unwrap();
        check("damaged").await;
    }
    fs::remove_file(&file).unwrap();
    check("missing").await;
    assert!(matches!(
        store.find_objects().await,
        Err(StoreError::Corrupt(_))
    ));
    // It can be written again.
    write(&store, "/a", &large(1)).await;
    assert_eq!(read(&store, "/a").await, large(1));
}

async fn a_storage_that_fails_changes_nothing(store: Store) {
    let storage = Storage::of(&store);
    write(&store, "/a", b"before").await;
    let content = large(9);
    let key = Key::of(&content).to_string();
    // In the place of its folder is a file.
    let place = storage.folder.path().join(&key[..2]);
    fs::write(&place, "").unwrap();
    for expected in [None, Some(1)] {
        let refused = store.write_file("w", "/a", &content, expected, 1).await;
        let error = refused.unwrap_err();
        assert!(
            matches!(error, StoreError::ObjectStorage(_)) && error.may_pass(),
            "{error}"
        );
    }
    let file = store.read_file("w", "/a").await.unwrap().unwrap();
    assert_eq!((&*file.content, file.version), (&b"before"[..], 1));
    fs::remove_file(&place).unwrap();
    assert_eq!(write(&store, "/a", &content).await, 2);
    assert_eq!(read(&store, "/a").await, content);
}

/// Moves everything.
async fn move_all(store: &Store, to: MovedTo) -> Moved {
    let mut all = Moved::default();
    loop {
        let moved = store.move_contents(to).await.unwrap();
        all.contents += moved.contents;
        all.bytes += moved.bytes;
        all.failed = moved.failed;
        if moved.contents == 0 {
            return all;
        }
    }
}

async fn contents_are_moved_there_and_back(store: Store) {
    let owner = add_user(&store).await;
    let collection = add(&store, owner, "Mine").await;
    for seed in 0..30 {
        write(&store, &format!("/{seed}"), &large(seed)).await;
    }
    write(&store, "/0", b"small").await;
    let new = document(&collection, "a");
    let put = store.put_document(owner, &new, &large(99), LIMITS).await;
    let kept = put.unwrap();
    let storage = Storage::of(&store);
    let moved = move_all(&store, MovedTo::Objects).await;
    assert_eq!((moved.contents, moved.failed), (31, 0));
    assert_eq!(moved.bytes, 31 * large(0).len() as u64);
    assert_eq!(storage.keys().await.len(), 31);
    let check = async || {
        for seed in 1..30 {
            assert_eq!(read(&store, &format!("/{seed}")).await, large(seed));
        }
        let first = store.read_file_version("w", "/0", 1).await.unwrap();
        assert_eq!(first.unwrap().content, large(0));
        assert_eq!(store.document_file(kept.id).await.unwrap(), large(99));
    };
    check().await;
    // One is lost: it stays, and the others go on.
    let lost = storage.folder.path().join(storage.keys().await[0].as_str());
    let content = fs::read(&lost).unwrap();
    fs::remove_file(&lost).unwrap();
    let moved = move_all(&store, MovedTo::Database).await;
    assert_eq!((moved.contents, moved.failed), (30, 1));
    assert!(store.refers_to_objects().await.unwrap());
    fs::write(&lost, content).unwrap();
    let moved = move_all(&store, MovedTo::Database).await;
    assert_eq!((moved.contents, moved.failed), (1, 0));
    check().await;
    assert!(!store.refers_to_objects().await.unwrap());
    assert_eq!(store.remove_all_objects().await, Ok(31));
    assert_eq!(storage.keys().await, []);
    check().await;
}

async fn moving_keeps_versions(store: Store) {
    write(&store, "/a", &large(1)).await;
    let _storage = Storage::of(&store);
    move_all(&store, MovedTo::Objects).await;
    assert_eq!(store.file_versions("w", "/a").await.unwrap().len(), 1);
    assert_eq!(write(&store, "/a", &large(2)).await, 2);
    move_all(&store, MovedTo::Database).await;
    let versions = store.file_versions("w", "/a").await.unwrap();
    assert_eq!(versions.len(), 2);
    let first = store.read_file_version("w", "/a", 1).await.unwrap();
    assert_eq!(first.unwrap().content, large(1));
}

async fn objects_are_not_removed_while_rows_are_written(store: Store) {
    let storage = Storage::of(&store);
    let owner = add_user(&store).await;
    for _ in 0..10 {
        let chat = add_chat(&store, owner, "First", 1).await;
        let workspace = chat.id.to_string();
        let written = store.write_file(&workspace, "/a", &large(1), None, 1).await;
        written.unwrap();
        let fork = fork_of(&chat, &[("/a", 1)]);
        // The last row that refers to it goes while another one comes.
        let (forked, deleted, removed) = tokio::join!(
            store.fork(&fork),
            store.delete_chat(owner, chat.id),
            async {
                storage.pass(OBJECT_GRACE_MS);
                store.remove_all_objects().await
            }
        );
        deleted.unwrap();
        removed.unwrap();
        storage.remove(&store).await;
        match forked {
            Ok(()) => {
                let copy = fork.chat.id.to_string();
                let file = store.read_file(&copy, "/a").await.unwrap();
                assert_eq!(file.unwrap().content, large(1));
            }
            Err(error) => assert!(
                matches!(
                    error,
                    StoreError::Conflict("file") | StoreError::NotFound | StoreError::Deadlock(_)
                ),
                "{error}"
            ),
        }
    }
}

async fn without_its_storage_rows_are_not_empty(store: Store) {
    let other = store.clone();
    let storage = Storage::of(&store);
    write(&store, "/a", &large(1)).await;
    drop(storage);
    // The folder is gone.
    assert!(other.read_file("w", "/a").await.is_err());
    assert!(other.refers_to_objects().await.unwrap());
}

async fn backups_have_the_objects(url: String) {
    let store = Store::open(&url).await.unwrap();
    let storage = Storage::of(&store);
    write(&store, "/a", &large(1)).await;
    write(&store, "/a", &large(2)).await;
    write(&store, "/b", &large(3)).await;
    store.close().await;
    let parts_of = async |objects: Option<&Blobs>| {
        let mut parts = Vec::new();
        let take = |part| {
            parts.push(part);
            Ok(())
        };
        dump(&url, objects, take).await.unwrap();
        parts
    };
    let lost = storage
        .keys()
        .await
        .into_iter()
        .find(|key| key.is_of(&large(3)));
    let whole = parts_of(Some(&storage.blobs)).await;
    let referring = parts_of(None).await;
    storage.blobs.delete(&lost.unwrap()).await.unwrap();
    let damaged = parts_of(Some(&storage.blobs)).await;
    let is_damage = |part: &&Part| matches!(part, Part::Damaged(_));
    assert_eq!(whole.iter().filter(is_damage).count(), 0);
    let damage: Vec<_> = damaged.iter().filter(is_damage).collect();
    assert!(
        matches!(damage[..], [Part::Damaged(it)] if it.table == "files" && it.found.contains("missing")),
        "{damage:?}"
    );
    for (parts, has_objects) in [(whole, false), (referring, true)] {
        let folder = tempfile::tempdir().unwrap();
        let target = format!("sqlite://{}/copy.db", folder.path().display());
        let parts = parts.into_iter().map(Ok::<_, StoreError>);
        restore(&target, parts).await.unwrap();
        let copy = Store::open(&target).await.unwrap();
        assert_eq!(copy.refers_to_objects().await.unwrap(), has_objects);
        let now = storage.now.clone();
        copy.use_objects(storage.blobs.clone(), move || now.load(Ordering::Relaxed));
        assert_eq!(read(&copy, "/a").await, large(2));
        let first = copy.read_file_version("w", "/a", 1).await.unwrap();
        assert_eq!(first.unwrap().content, large(1));
        assert_eq!(copy.read_file("w", "/b").await.is_ok(), !has_objects);
        copy.close().await;
    }
}
