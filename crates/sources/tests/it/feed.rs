//! A feed.

use serde_json::json;

use crate::{server, source, text};

#[tokio::test]
async fn entries_are_listed_and_read() {
    let Some(server) = server("feed") else { return };
    let list = async |query: &str| {
        let url = format!("{}/{query}", text(&server["url"]));
        let source = source(json!({ "kind": "feed", "url": url }), "").unwrap();
        let listing = source.list().await.unwrap();
        assert!(listing.is_window);
        (source, listing.items)
    };
    let (before, entries) = list("").await;
    let ids: Vec<_> = entries.iter().map(|item| &*item.id).collect();
    assert_eq!(ids, ["0", "1", "2"]);
    let content = before.read(&entries[0]).await.unwrap();
    let content = std::str::from_utf8(&content).unwrap();
    assert!(content.contains("<h1>Entry 0</h1>"), "{content}");
    let (after, left) = list("?later").await;
    assert_eq!(left, entries[1..]);
    // It is no longer there, but that does not mean that it was deleted.
    let problem = after.read(&entries[0]).await.unwrap_err();
    assert!(
        matches!(problem, sources::SourceProblem::Malformed(_)),
        "{problem}"
    );
}
