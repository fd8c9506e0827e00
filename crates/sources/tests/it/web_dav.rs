//! WebDAV, as WsgiDAV serves it.

use std::{fs, path::Path};

use serde_json::{Value, json};
use sources::SourceProblem;

use crate::{server, source, text};

fn settings(server: &Value) -> Value {
    json!({ "kind": "web_dav", "url": server["url"], "user": server["user"] })
}

#[tokio::test]
async fn files_of_all_folders_are_listed_and_read() {
    let Some(server) = server("web_dav") else {
        return;
    };
    let source = source(settings(&server), text(&server["secret"])).unwrap();
    let listing = source.list().await.unwrap();
    assert_eq!(listing.problems, []);
    let names: Vec<_> = listing.items.iter().map(|item| &*item.name).collect();
    let expected = ["Sub folder/deep #1?.md", "a+b&c;d.txt", "Übersicht 100%.md"];
    assert_eq!(names, expected);
    for item in &listing.items {
        let content = source.read(item).await.unwrap();
        assert_eq!(content, format!("content of {}", item.name));
        assert_eq!(item.size_bytes, Some(content.len() as u64));
    }
    let url = listing.items[0].url.as_deref().unwrap();
    let expected = format!("{}/Sub%20folder/deep%20%231%3F.md", text(&server["url"]));
    assert_eq!(url, expected);
}

#[tokio::test]
async fn changes_are_seen() {
    let Some(server) = server("web_dav") else {
        return;
    };
    let folder = Path::new(text(&server["folder"])).join("Sub folder/.changes");
    // A hidden folder is no part of the other test, but may be a root.
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("1.md");
    fs::write(&file, "old").unwrap();
    let mut settings = settings(&server);
    settings["url"] = format!("{}/Sub folder/.changes/", text(&server["url"])).into();
    let source = source(settings, text(&server["secret"])).unwrap();
    let before = source.list().await.unwrap().items;
    fs::write(&file, "newer").unwrap();
    let after = source.list().await.unwrap().items;
    assert_eq!((&*before[0].id, &*after[0].id), ("1.md", "1.md"));
    assert_ne!(before[0].version, after[0].version);
    assert_eq!(source.read(&after[0]).await.unwrap(), "newer");
    fs::write(&file, "x".repeat(10_001)).unwrap();
    let large = source.read(&after[0]).await;
    assert_eq!(large, Err(SourceProblem::TooLarge));
    fs::remove_file(&file).unwrap();
    assert_eq!(source.read(&after[0]).await, Err(SourceProblem::Gone));
    assert_eq!(source.list().await.unwrap().items, []);
    fs::remove_dir(&folder).unwrap();
    assert_eq!(source.list().await, Err(SourceProblem::NotFound));
}

#[tokio::test]
async fn what_is_refused_or_no_folder_is_an_error() {
    let Some(server) = server("web_dav") else {
        return;
    };
    let refused = source(settings(&server), "wrong").unwrap().list().await;
    assert_eq!(refused, Err(SourceProblem::Refused));
    let mut settings = settings(&server);
    settings["url"] = format!("{}/a+b&c;d.txt", text(&server["url"])).into();
    let file = source(settings, text(&server["secret"])).unwrap();
    let file = file.list().await.unwrap_err();
    assert!(matches!(file, SourceProblem::Malformed(_)), "{file}");
}
