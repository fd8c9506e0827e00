//! The files of a workspace.

use store::{FileContent, FileRow, Store, StoreError};
use tokio::task::JoinSet;

on_every_database!(
    writes_and_reads,
    checks_the_expected_version,
    lets_one_of_many_writers_win,
    keeps_workspaces_apart,
    keeps_any_bytes,
);

async fn writes_and_reads(store: Store) {
    assert_eq!(store.read_file("w", "/a.md").await, Ok(None));
    assert_eq!(
        store
            .write_file("w", "/a.md", "один".as_bytes(), None, 10)
            .await,
        Ok(1)
    );
    assert_eq!(
        store.write_file("w", "/B.md", b"", Some(0), 11).await,
        Ok(1)
    );
    assert_eq!(
        store
            .write_file("w", "/a.md", "два".as_bytes(), None, 12)
            .await,
        Ok(2)
    );
    let read = store.read_file("w", "/a.md").await.unwrap();
    assert_eq!(
        read,
        Some(FileContent {
            content: "два".into(),
            version: 2
        })
    );
    let row = |path: &str, size_bytes, version, changed_at| FileRow {
        path: path.to_owned(),
        size_bytes,
        version,
        changed_at,
    };
    assert_eq!(
        store.files("w").await.unwrap(),
        [row("/B.md", 0, 1, 11), row("/a.md", 6, 2, 12)]
    );
}

async fn checks_the_expected_version(store: Store) {
    let write = async |expected| store.write_file("w", "/a", b"x", expected, 1).await;
    assert_eq!(write(Some(1)).await, Err(StoreError::Conflict("version")));
    assert_eq!(write(Some(0)).await, Ok(1));
    assert_eq!(write(Some(0)).await, Err(StoreError::Conflict("version")));
    assert_eq!(write(Some(1)).await, Ok(2));
    assert_eq!(write(Some(1)).await, Err(StoreError::Conflict("version")));
    assert_eq!(
        write(Some(u64::MAX)).await,
        Err(StoreError::Conflict("version"))
    );
    assert_eq!(write(None).await, Ok(3));
}

/// Twenty tasks each add a line with read, change, write; nobody's line may be lost.
async fn lets_one_of_many_writers_win(store: Store) {
    let mut writers = JoinSet::new();
    for number in 0..20 {
        let store = store.clone();
        writers.spawn(async move {
            loop {
                let seen = store.read_file("w", "/log").await.unwrap();
                let FileContent {
                    mut content,
                    version,
                } = seen.unwrap_or(FileContent {
                    content: Vec::new(),
                    version: 0,
                });
                content.extend(format!("{number}\n").bytes());
                match store
                    .write_file("w", "/log", &content, Some(version), 1)
                    .await
                {
                    Ok(new) => return assert_eq!(new, version + 1),
                    Err(error) => assert_eq!(error, StoreError::Conflict("version")),
                }
            }
        });
    }
    writers.join_all().await;
    let file = store.read_file("w", "/log").await.unwrap().unwrap();
    let text = String::from_utf8(file.content).unwrap();
    let mut numbers: Vec<u32> = text.lines().map(|line| line.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>());
    assert_eq!(file.version, 20);
}

async fn keeps_workspaces_apart(store: Store) {
    store.write_file("one", "/a", b"1", None, 1).await.unwrap();
    store.write_file("two", "/a", b"2", None, 1).await.unwrap();
    store.delete_file("one", "/a", None, 2).await.unwrap();
    assert_eq!(store.files("one").await.unwrap(), []);
    assert_eq!(
        store.read_file("two", "/a").await.unwrap().unwrap().content,
        b"2"
    );
}

async fn keeps_any_bytes(store: Store) {
    let content: Vec<u8> = (0..=255).collect();
    store
        .write_file("w", "/odd\0name", &content, None, 1)
        .await
        .unwrap();
    assert_eq!(
        store
            .read_file("w", "/odd\0name")
            .await
            .unwrap()
            .unwrap()
            .content,
        content
    );
    assert_eq!(store.files("w").await.unwrap()[0].path, "/odd\u{fffd}name");
}
