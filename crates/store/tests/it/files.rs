//! The files of a workspace.

use store::{FileRow, FileText, Store, StoreError};
use tokio::task::JoinSet;

on_every_database!(
    writes_and_reads,
    checks_the_expected_version,
    lets_one_of_many_writers_win,
    keeps_workspaces_apart,
    keeps_any_text,
);

async fn writes_and_reads(store: Store) {
    assert_eq!(store.read_file("w", "/a.md").await, Ok(None));
    assert_eq!(store.write_file("w", "/a.md", "один", None, 10).await, Ok(1));
    assert_eq!(store.write_file("w", "/B.md", "", Some(0), 11).await, Ok(1));
    assert_eq!(store.write_file("w", "/a.md", "два", None, 12).await, Ok(2));
    let read = store.read_file("w", "/a.md").await.unwrap();
    assert_eq!(read, Some(FileText { content: "два".into(), version: 2 }));
    let row = |path: &str, size_bytes, version, changed_at| FileRow {
        path: path.to_owned(),
        size_bytes,
        version,
        changed_at,
    };
    assert_eq!(store.files("w").await.unwrap(), [row("/B.md", 0, 1, 11), row("/a.md", 6, 2, 12)]);
}

async fn checks_the_expected_version(store: Store) {
    let write = async |expected| store.write_file("w", "/a", "x", expected, 1).await;
    assert_eq!(write(Some(1)).await, Err(StoreError::Conflict("version")));
    assert_eq!(write(Some(0)).await, Ok(1));
    assert_eq!(write(Some(0)).await, Err(StoreError::Conflict("version")));
    assert_eq!(write(Some(1)).await, Ok(2));
    assert_eq!(write(Some(1)).await, Err(StoreError::Conflict("version")));
    assert_eq!(write(Some(u64::MAX)).await, Err(StoreError::Conflict("version")));
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
                let FileText { content, version } =
                    seen.unwrap_or(FileText { content: String::new(), version: 0 });
                let content = format!("{content}{number}\n");
                match store.write_file("w", "/log", &content, Some(version), 1).await {
                    Ok(new) => return assert_eq!(new, version + 1),
                    Err(error) => assert_eq!(error, StoreError::Conflict("version")),
                }
            }
        });
    }
    writers.join_all().await;
    let file = store.read_file("w", "/log").await.unwrap().unwrap();
    let mut numbers: Vec<u32> = file.content.lines().map(|line| line.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>());
    assert_eq!(file.version, 20);
}

async fn keeps_workspaces_apart(store: Store) {
    store.write_file("one", "/a", "1", None, 1).await.unwrap();
    store.write_file("two", "/a", "2", None, 1).await.unwrap();
    store.delete_files("one").await.unwrap();
    assert_eq!(store.files("one").await.unwrap(), []);
    assert_eq!(store.read_file("two", "/a").await.unwrap().unwrap().content, "2");
}

async fn keeps_any_text(store: Store) {
    let content = "nul \0, line\r\n, 🔧, \u{10ffff}";
    store.write_file("w", "/odd\0name", content, None, 1).await.unwrap();
    assert_eq!(store.read_file("w", "/odd\0name").await.unwrap().unwrap().content, content);
    assert_eq!(store.files("w").await.unwrap()[0].path, "/odd\u{fffd}name");
}
