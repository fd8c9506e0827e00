//! The change log against a server that answers as the reference of version 3 says (`changes`).

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::super::tests::{file, of_kind, settings, source, usual};
use crate::{
    Item, Listing, Readers, Source, SourceProblem,
    test_server::{Asked, Reply, Server, json as reply, status},
};

/// A drive with the files `f1`, and `f2` in the folder `d1`, and its change log.
struct World {
    server: Server,
    log: Arc<Mutex<Log>>,
}

#[derive(Default)]
struct Log {
    /// Pages of changes; the last has the new token.
    pages: Vec<Value>,
    /// The status instead.
    status: Option<u16>,
    /// The readers of the followed folder.
    root_readers: Vec<&'static str>,
    drive: Option<&'static str>,
}

impl World {
    fn start() -> Self {
        let log = Arc::new(Mutex::new(Log {
            root_readers: vec!["ann@example.com"],
            ..Log::default()
        }));
        let seen = Arc::clone(&log);
        let server = Server::start(move |asked| answer(asked, &seen.lock().unwrap()));
        Self { server, log }
    }

    fn source(&self, rights: bool) -> Source {
        let mut settings = settings(&self.server);
        settings.rights = rights;
        source(settings)
    }

    /// What is known after these changes, by ID; `None` if the folder has to be listed anew.
    async fn after(
        &self,
        source: &Source,
        before: &Listing,
        changes: &[Value],
    ) -> Option<Vec<(String, String)>> {
        self.log.lock().unwrap().pages =
            vec![json!({ "newStartPageToken": "200", "changes": changes })];
        let position = before.position.clone().unwrap();
        let known = before.items.clone();
        let listing = source.list_changes(&position, known).await.unwrap()?;
        assert_eq!(listing.problems, []);
        assert!(listing.position.unwrap().contains("\"200\""));
        let items = listing.items.into_iter();
        Some(items.map(|item| (item.id, item.name)).collect())
    }
}

fn answer(asked: &Asked, log: &Log) -> Reply {
    let target = asked.target();
    match asked.path() {
        "/drive/v3/files" if target.contains("root-1") => reply(&json!({ "files": [
            file("f1", "a.txt", "root-1"), of_kind("d1", "Sub", "root-1", "folder")] })),
        "/drive/v3/files" => reply(&json!({ "files": [file("f2", "b.txt", "d1")] })),
        "/drive/v3/files/root-1" => reply(
            &json!({ "id": "root-1", "mimeType": super::FOLDER, "trashed": false, "driveId": log.drive }),
        ),
        "/drive/v3/files/root-1/permissions" => {
            let readers = log.root_readers.iter();
            let readers: Vec<_> = readers
                .map(|address| json!({ "type": "user", "role": "reader", "emailAddress": address }))
                .collect();
            reply(&json!({ "permissions": readers }))
        }
        "/drive/v3/changes/startPageToken" => {
            reply(&json!({ "kind": "drive#startPageToken", "startPageToken": "100" }))
        }
        "/drive/v3/changes" => match (log.status, log.pages.first(), log.pages.get(1)) {
            (Some(code), _, _) => status(code),
            (None, Some(page), _) if target.contains("pageToken=100") => reply(page),
            (None, _, Some(page)) if target.contains("pageToken=150") => reply(page),
            _ => status(400),
        },
        _ => usual(asked),
    }
}

fn change(file: &Value) -> Value {
    json!({ "kind": "drive#change", "changeType": "file", "removed": false, "fileId": file["id"], "file": file,
        "time": "2026-11-30T10:00:00.000Z" })
}

fn removed(id: &str) -> Value {
    json!({ "kind": "drive#change", "changeType": "file", "removed": true, "fileId": id })
}

fn pairs(expected: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
    let owned = expected.iter();
    Some(
        owned
            .map(|(id, name)| ((*id).to_owned(), (*name).to_owned()))
            .collect(),
    )
}

#[tokio::test]
async fn changes_of_files_are_changes_of_documents() {
    let world = World::start();
    let source = world.source(false);
    let before = source.list().await.unwrap();
    let requests = world.server.requests().len();
    let unchanged = pairs(&[("f1", "a.txt"), ("f2", "Sub/b.txt")]);
    assert_eq!(world.after(&source, &before, &[]).await, unchanged);
    // The folder, and the changes.
    assert_eq!(world.server.requests().len(), requests + 2);

    let mut trashed = file("f1", "a.txt", "root-1");
    trashed["trashed"] = json!(true);
    let elsewhere = file("f1", "a.txt", "other");
    let form = of_kind("f1", "a.txt", "root-1", "form");
    for (changes, expected) in [
        (
            vec![change(&file("f1", "new.txt", "root-1"))],
            pairs(&[("f1", "new.txt"), ("f2", "Sub/b.txt")]),
        ),
        (
            vec![change(&file("f3", "b.txt", "d1"))],
            pairs(&[
                ("f1", "a.txt"),
                ("f2", "Sub/b.txt"),
                ("f3", "Sub/b (2).txt"),
            ]),
        ),
        (vec![removed("f1")], pairs(&[("f2", "Sub/b.txt")])),
        (vec![change(&trashed)], pairs(&[("f2", "Sub/b.txt")])),
        (vec![change(&elsewhere)], pairs(&[("f2", "Sub/b.txt")])),
        (vec![change(&form)], pairs(&[("f2", "Sub/b.txt")])),
        // The last one counts.
        (
            vec![removed("f1"), change(&file("f1", "a.txt", "d1"))],
            pairs(&[("f1", "Sub/a.txt"), ("f2", "Sub/b.txt")]),
        ),
        // What is not in the folder is of no interest.
        (
            vec![
                change(&file("x", "x", "other")),
                removed("y"),
                change(&of_kind("z", "z", "other", "folder")),
                json!({ "changeType": "drive", "driveId": "0A" }),
            ],
            unchanged.clone(),
        ),
        (
            vec![change(&of_kind("d1", "Sub", "root-1", "folder"))],
            unchanged.clone(),
        ),
        // What is in these folders is not known.
        (
            vec![change(&of_kind("d1", "Renamed", "root-1", "folder"))],
            None,
        ),
        (vec![change(&of_kind("d1", "Sub", "other", "folder"))], None),
        (vec![removed("d1")], None),
        (
            vec![change(&of_kind("d2", "New", "root-1", "folder"))],
            None,
        ),
    ] {
        let found = world.after(&source, &before, &changes).await;
        assert_eq!(found, expected, "{changes:?}");
    }
}

#[tokio::test]
async fn rights_are_those_of_now() {
    let world = World::start();
    let source = world.source(true);
    let before = source.list().await.unwrap();
    let with_reader = |address: &str| {
        let mut file = file("f1", "a.txt", "root-1");
        file["permissions"][0]["emailAddress"] = json!(address);
        file
    };
    world.log.lock().unwrap().pages = vec![json!({ "newStartPageToken": "200",
        "changes": [change(&with_reader("bob@example.com"))] })];
    let position = before.position.clone().unwrap();
    let listing = source.list_changes(&position, before.items.clone()).await;
    let items = listing.unwrap().unwrap().items;
    let of = |id: &str| items.iter().find(|item| item.id == id).unwrap();
    let bob = Readers::Only {
        people: vec!["bob@example.com".to_owned()],
        groups: Vec::new(),
        domains: Vec::new(),
    };
    assert_eq!(of("f1").readers, bob);
    assert_eq!(of("f2").readers, before.items[1].readers);

    // Those of a folder, of a shared drive or of what is above it concern everything in it.
    let same = of_kind("d1", "Sub", "root-1", "folder");
    for change in [
        change(&same),
        json!({ "changeType": "drive", "driveId": "0A" }),
    ] {
        assert_eq!(world.after(&source, &before, &[change]).await, None);
    }
    assert!(world.after(&source, &before, &[]).await.is_some());
    world.log.lock().unwrap().root_readers.clear();
    assert_eq!(world.after(&source, &before, &[]).await, None);
}

#[tokio::test]
async fn unknown_positions_are_listed_anew() {
    let world = World::start();
    let source = world.source(false);
    let before = source.list().await.unwrap();
    let position = before.position.clone().unwrap();
    let after = async |position: &str| {
        let known: Vec<Item> = before.items.clone();
        source.list_changes(position, known).await
    };
    for (code, expected) in [
        (400, Ok(None)),
        (404, Ok(None)),
        (410, Ok(None)),
        (500, Err(SourceProblem::Status { status: 500 })),
    ] {
        world.log.lock().unwrap().status = Some(code);
        assert_eq!(after(&position).await, expected, "{code}");
    }
    world.log.lock().unwrap().status = None;
    for damaged in ["", "{}", "[", &position.replace("100", "99")] {
        assert_eq!(after(damaged).await, Ok(None), "{damaged}");
    }
    // Another page follows.
    world.log.lock().unwrap().pages = vec![
        json!({ "nextPageToken": "150", "changes": [removed("f1")] }),
        json!({ "newStartPageToken": "200", "changes": [removed("f2")] }),
    ];
    assert_eq!(after(&position).await.unwrap().unwrap().items, []);
    // It was moved to a shared drive.
    world.log.lock().unwrap().drive = Some("0A");
    assert_eq!(after(&position).await, Ok(None));
}
