//! Tests of an object storage in a folder.

use std::{fs, path::PathBuf};

use super::*;

struct Folder {
    folder: tempfile::TempDir,
    blobs: Blobs,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = reqwest::Url::from_directory_path(folder.path()).unwrap();
        let settings = Settings {
            url: url.into(),
            ..Settings::default()
        };
        let blobs = Blobs::new(&settings).unwrap();
        Self { folder, blobs }
    }

    fn file(&self, key: &Key) -> PathBuf {
        self.folder.path().join(key.as_str())
    }
}

#[tokio::test]
async fn contents_are_stored_read_listed_and_deleted() {
    let Folder { blobs, folder } = &Folder::new();
    blobs.probe().await.unwrap();
    let keys = [b"one".as_slice(), b"", b"one"].map(|content| (Key::of(content), content));
    for (key, content) in &keys {
        blobs.put(key, Bytes::from_static(content)).await.unwrap();
    }
    for (key, content) in &keys {
        assert_eq!(blobs.get(key).await.unwrap(), content);
    }
    assert_eq!(blobs.get_range(&keys[0].0, 1..3).await.unwrap(), "ne");
    blobs.put_label("whose", "mine").await.unwrap();
    assert_eq!(blobs.label("whose").await.unwrap().as_deref(), Some("mine"));
    assert_eq!(blobs.label("other").await.unwrap(), None);
    fs::write(folder.path().join("other.txt"), "of another program").unwrap();
    let mut listed = blobs.keys().await.unwrap();
    let mut expected: Vec<Key> = keys.iter().map(|(key, _)| key.clone()).collect();
    listed.sort();
    expected.sort();
    assert_eq!(listed, expected);
    blobs.delete(&keys[0].0).await.unwrap();
    // Once more is no error.
    blobs.delete(&keys[0].0).await.unwrap();
    assert_eq!(blobs.keys().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_missing_or_changed_object_is_an_error() {
    let folder = Folder::new();
    let key = Key::of(b"content");
    let missing = folder.blobs.get(&key).await.unwrap_err();
    assert!(matches!(missing, Problem::Missing(_)), "{missing}");
    assert!(missing.to_string().contains(key.as_str()), "{missing}");
    folder
        .blobs
        .put(&key, Bytes::from_static(b"content"))
        .await
        .unwrap();
    fs::write(folder.file(&key), "Content").unwrap();
    let damaged = folder.blobs.get(&key).await.unwrap_err();
    assert!(matches!(damaged, Problem::Damaged(_)), "{damaged}");
    fs::write(folder.file(&key), "").unwrap();
    assert!(folder.blobs.get(&key).await.is_err());
    assert!(folder.blobs.get_range(&key, 0..7).await.is_err());
}
