//! The workspace by itself: bytes, limits, what files were before, and bringing it back.

use std::sync::Arc;

use agent::{
    Workspace,
    workspace::{BYTES_LIMIT, FileProblem, Path},
};
use store::Store;

async fn workspace() -> Workspace {
    let store = Store::open("sqlite::memory:").await.unwrap();
    Workspace::new(store, "test".into(), Arc::new(|| 7))
}

fn path(text: &str) -> Path {
    Path::parse_file(text).unwrap()
}

#[tokio::test]
async fn every_state_is_kept_and_comes_back() {
    let (files, a) = (workspace().await, path("/a.md"));
    files.write(&a, "one\n", None).await.unwrap();
    files.write(&a, "two\nlines\n", None).await.unwrap();
    let back = files.restore(&a, 1, Some(2)).await.unwrap();
    let lines = back.lines.map(|lines| (lines.added, lines.removed));
    assert_eq!(
        (back.version, back.deleted, lines),
        (3, false, Some((1, 2)))
    );
    assert_eq!(files.read(&a).await.unwrap(), ("one\n".to_owned(), 3));
    // Before it existed there was no file.
    let gone = files.restore(&a, 0, None).await.unwrap();
    assert_eq!((gone.version, gone.size_bytes, gone.deleted), (4, 0, true));
    assert!(matches!(files.read(&a).await, Err(FileProblem::Missing(_))));
    assert_eq!(files.restore(&a, 2, None).await.unwrap().version, 5);
    assert_eq!(
        files.restore(&a, 4, None).await.unwrap().version,
        6,
        "which deletes it again"
    );
    let states: Vec<(u64, u64, bool)> = files
        .versions(&a)
        .await
        .unwrap()
        .into_iter()
        .map(|it| (it.version, it.size_bytes, it.deleted))
        .collect();
    let expected = [
        (6, 0, true),
        (5, 10, false),
        (4, 0, true),
        (3, 4, false),
        (2, 10, false),
        (1, 4, false),
    ];
    assert_eq!(states, expected);
    assert_eq!(
        files.read_version(&a, 2).await.unwrap(),
        Some(b"two\nlines\n".to_vec())
    );
    assert_eq!(files.read_version(&a, 4).await.unwrap(), None);
}

#[tokio::test]
async fn missing_or_changed_earlier_agents_are_reported() {
    let (files, a) = (workspace().await, path("/a.md"));
    assert!(matches!(
        files.versions(&a).await,
        Err(FileProblem::Missing(_))
    ));
    for version in 0..60 {
        files.write(&a, &version.to_string(), None).await.unwrap();
    }
    let told = files.restore(&a, 3, None).await.unwrap_err().to_string();
    assert!(told.contains("so old that it is not kept"), "{told}");
    assert!(matches!(
        files.restore(&a, 99, None).await,
        Err(FileProblem::Missing(_))
    ));
    assert!(matches!(
        files.restore(&a, 59, Some(12)).await,
        Err(FileProblem::Conflict(_))
    ));
    assert!(matches!(
        files.delete(&a, Some(12)).await,
        Err(FileProblem::Conflict(_))
    ));
    assert_eq!(files.delete(&a, Some(60)).await.unwrap().version, 61);
}

#[tokio::test]
async fn bytes_have_limits_of_their_own() {
    let files = workspace().await;
    let large = vec![0_u8; BYTES_LIMIT];
    let told = files
        .write_bytes(&path("/x"), &[&large[..], b"1"].concat(), None)
        .await;
    assert!(
        told.unwrap_err()
            .to_string()
            .contains("10000001 bytes and the limit is 10000000")
    );
    for number in 0..20 {
        files
            .write_bytes(&path(&format!("/{number}")), &large, None)
            .await
            .unwrap();
    }
    let full = files
        .write_bytes(&path("/more"), b"1", None)
        .await
        .unwrap_err();
    assert!(
        matches!(&full, FileProblem::TooLarge(told) if told.message.contains("200000001 bytes in total")),
        "{full}"
    );
    // What takes no more room than it gives back is welcome.
    files.write_bytes(&path("/3"), &large, None).await.unwrap();
    files.delete(&path("/4"), None).await.unwrap();
    files.write_bytes(&path("/more"), b"1", None).await.unwrap();
}

#[tokio::test]
async fn a_picture_can_be_moved() {
    let files = workspace().await;
    let picture = b"\x89PNG\r\n\x1a\n\0\0";
    files
        .write_bytes(&path("/a.png"), picture, None)
        .await
        .unwrap();
    let (gone, here) = files
        .rename(&path("/a.png"), &path("/b.png"))
        .await
        .unwrap();
    assert_eq!((gone.lines, here.lines, here.size_bytes), (None, None, 10));
    assert_eq!(
        files.read_bytes(&path("/b.png")).await.unwrap(),
        (picture.to_vec(), 1)
    );
}
