//! Collections that follow sources: by the API and its command, and by the server itself.

use std::{
    fs,
    path::Path,
    process::Output,
    sync::{Arc, Mutex},
};

use axum::{Router, http::Uri};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    faults::until,
    harness::{Answer, EMAIL, Server, new_folder, serve_other},
};

async fn collection(server: &Server, who: &str) -> String {
    let made = server
        .post("/api/v1/knowledge", who, &json!({"name": "Handbook"}))
        .await
        .json();
    format!("/api/v1/knowledge/{}", made["id"].as_str().unwrap())
}

async fn names(server: &Server, who: &str, at: &str) -> Vec<String> {
    let all = server.get(&format!("{at}/documents"), who).await.json();
    let all = all["documents"].as_array().unwrap().clone();
    all.iter()
        .map(|one| one["name"].as_str().unwrap().to_owned())
        .collect()
}

fn listed(id: &str, version: &str, readers: &Value) -> Value {
    json!({"id": id, "name": format!("{id}.md"), "version": version, "readers": readers})
}

async fn send(server: &Server, who: &str, place: &str, text: String) -> Answer {
    Answer::of(server.request(Method::PUT, place, who).body(text)).await
}

/// Sends what is missing and completes it.
async fn synchronize(server: &Server, who: &str, at: &str, documents: Value) -> Value {
    let body = json!({"source": "Wiki", "documents": documents});
    let begun = server.post(&format!("{at}/sync"), who, &body).await;
    begun.expect(201);
    let begun = begun.json();
    let sync = format!("{at}/sync/{}", begun["id"].as_str().unwrap());
    for id in begun["documents"].as_array().unwrap() {
        let id = id.as_str().unwrap();
        let place = format!("{sync}/document?id={id}");
        let text = format!("The {id} is a kumquat.");
        send(server, who, &place, text).await.expect(202);
    }
    let done = server
        .post(&format!("{sync}/complete"), who, &json!({}))
        .await;
    done.expect(200);
    done.json()
}

async fn found(server: &Server, who: &str) -> Vec<String> {
    let query = json!({"query": "kumquat"});
    let found = server.post("/api/v1/knowledge/search", who, &query).await;
    let mut names: Vec<String> = found.json()["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

async fn all_read(server: &Server, who: &str, at: &str) {
    until("the documents are read", async || {
        let all = server.get(&format!("{at}/documents"), who).await.json();
        let all = all["documents"].as_array().unwrap().clone();
        all.iter().all(|one| one["state"] == "ready")
    })
    .await;
}

#[tokio::test]
async fn a_client_sends_what_changed() {
    let (server, ada) = Server::start_signed_in().await;
    let at = collection(&server, &ada).await;
    let all = Value::Null;
    let first = json!([listed("a", "1", &all), listed("b", "1", &all)]);
    let done = synchronize(&server, &ada, &at, first).await;
    assert_eq!(
        (&done["state"], &done["added"]),
        (&json!("done"), &json!(2))
    );
    all_read(&server, &ada, &at).await;
    assert_eq!(found(&server, &ada).await, ["a.md", "b.md"]);
    let second = json!([listed("b", "1", &all), listed("c", "1", &all)]);
    let done = synchronize(&server, &ada, &at, second).await;
    assert_eq!((&done["added"], &done["deleted"]), (&json!(1), &json!(1)));
    assert_eq!(names(&server, &ada, &at).await, ["b.md", "c.md"]);

    // All of them are gone: somebody has to confirm it.
    let waiting = synchronize(&server, &ada, &at, json!([])).await;
    assert_eq!(
        (&waiting["state"], &waiting["unlisted"]),
        (&json!("waiting"), &json!(2))
    );
    let sync = format!("{at}/sync/{}", waiting["id"].as_str().unwrap());
    let log = server.get(&sync, &ada).await.json();
    let states: Vec<_> = log["documents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| &d["state"])
        .collect();
    assert_eq!(states, ["unlisted", "unlisted"]);
    let body = json!({"confirmed": 2});
    let confirmed = server.post(&format!("{sync}/complete"), &ada, &body).await;
    assert_eq!(confirmed.json()["deleted"], 2);
    assert_eq!(names(&server, &ada, &at).await, [""; 0]);
    let again = server
        .post(&format!("{sync}/complete"), &ada, &json!({}))
        .await;
    again.expect(404);
    let sources = server.get(&format!("{at}/sources"), &ada).await.json();
    assert_eq!(sources["sources"][0]["name"], "Wiki");
    assert_eq!(sources["sources"][0]["settings"], Value::Null);
    assert_eq!(sources["sources"][0]["latest"]["state"], "done");
    let own = sources["sources"][0]["id"].as_str().unwrap();
    let now = server
        .post(&format!("{at}/sources/{own}/sync"), &ada, &json!({}))
        .await;
    now.expect(409);
}

#[tokio::test]
async fn hostile_documents_are_refused() {
    let (server, ada) = Server::start_signed_in().await;
    let at = collection(&server, &ada).await;
    for documents in [
        json!([listed("", "1", &Value::Null)]),
        json!([listed("a", "", &Value::Null)]),
        json!([
            listed("a", "1", &Value::Null),
            listed("a", "2", &Value::Null)
        ]),
        json!([{"id": "a", "name": "../a.md", "version": "1"}]),
        json!([{"id": "a", "name": "a\nb.md", "version": "1"}]),
        json!([listed("a", "1", &json!({"domains": ["%"]}))]),
        json!([listed("a", "1", &json!({"people": [""]}))]),
        json!([{"id": "a", "name": "a", "version": "1", "size_bytes": -1}]),
        json!({"id": "a"}),
    ] {
        let body = json!({"source": "Wiki", "documents": documents});
        server
            .post(&format!("{at}/sync"), &ada, &body)
            .await
            .expect(400);
    }
    let body = json!({"source": "Wiki", "documents": [listed("a", "1", &Value::Null)]});
    let begun = server.post(&format!("{at}/sync"), &ada, &body).await.json();
    let sync = format!("{at}/sync/{}", begun["id"].as_str().unwrap());
    let empty = send(
        &server,
        &ada,
        &format!("{sync}/document?id=a"),
        String::new(),
    )
    .await;
    empty.expect(400);
    let other = send(
        &server,
        &ada,
        &format!("{sync}/document?id=b"),
        "text".to_owned(),
    )
    .await;
    other.expect(404);
    assert_eq!(names(&server, &ada, &at).await, [""; 0]);
    // What was not sent is reported.
    let done = server
        .post(&format!("{sync}/complete"), &ada, &json!({}))
        .await
        .json();
    assert_eq!(
        (&done["state"], &done["failed"]),
        (&json!("done"), &json!(1))
    );
    let log = server.get(&sync, &ada).await.json();
    assert_eq!(
        log["documents"][0]["problem"]["sentence"]["code"],
        "not_received"
    );
}

#[tokio::test]
async fn the_server_follows_a_folder() {
    let folder = new_folder();
    fs::create_dir(folder.join("deep")).unwrap();
    fs::write(folder.join("a.md"), "The a is a kumquat.").unwrap();
    fs::write(folder.join("deep/b.md"), "The b is a kumquat.").unwrap();
    fs::write(folder.join("c.tmp"), "The c is a kumquat.").unwrap();
    let path = folder.to_str().unwrap();
    let server = Server::start_with(&[("GLASSHOUSE_KNOWLEDGE_SOURCE_FOLDERS", path)]).await;
    let ada = server.set_up().await;
    let at = collection(&server, &ada).await;
    let body = json!({
        "name": "Share",
        "settings": {"from": {"kind": "folder", "path": path}, "exclude": ["*.tmp"]},
        "every_minutes": 60,
    });
    let created = server.post(&format!("{at}/sources"), &ada, &body).await;
    created.expect(201);
    let source = created.json();
    let place = format!("{at}/sources/{}", source["id"].as_str().unwrap());
    assert_eq!(ended(&server, &ada, &place).await["added"], 2);
    all_read(&server, &ada, &at).await;
    assert_eq!(names(&server, &ada, &at).await, ["a.md", "deep/b.md"]);
    assert_eq!(found(&server, &ada).await, ["a.md", "deep/b.md"]);

    fs::remove_file(folder.join("deep/b.md")).unwrap();
    fs::write(folder.join("a.md"), "The new a is a kumquat.").unwrap();
    server
        .post(&format!("{place}/sync"), &ada, &json!({}))
        .await
        .expect(202);
    let done = ended(&server, &ada, &place).await;
    assert_eq!((&done["updated"], &done["deleted"]), (&json!(1), &json!(1)));

    // The share is not mounted: nothing is deleted before somebody confirms it.
    fs::remove_file(folder.join("a.md")).unwrap();
    server
        .post(&format!("{place}/sync"), &ada, &json!({}))
        .await
        .expect(202);
    let waiting = ended(&server, &ada, &place).await;
    assert_eq!(
        (&waiting["state"], &waiting["unlisted"]),
        (&json!("waiting"), &json!(1))
    );
    assert_eq!(names(&server, &ada, &at).await, ["a.md"]);
    let sync = format!("{at}/sync/{}", waiting["id"].as_str().unwrap());
    server
        .post(&format!("{sync}/cancel"), &ada, &json!({}))
        .await
        .expect(204);
    let kept = ended(&server, &ada, &place).await;
    assert_eq!(
        (&kept["state"], &kept["unlisted"]),
        (&json!("kept"), &json!(1))
    );

    // A folder that is not offered, and one that is gone.
    let mut elsewhere = body.clone();
    elsewhere["name"] = json!("Root");
    elsewhere["settings"]["from"]["path"] = json!("/");
    let created = server
        .post(&format!("{at}/sources"), &ada, &elsewhere)
        .await
        .json();
    let other = format!("{at}/sources/{}", created["id"].as_str().unwrap());
    let failed = ended(&server, &ada, &other).await;
    assert_eq!(failed["state"], "failed");
    assert_eq!(failed["problem"]["sentence"]["code"], "source_not_found");
    let key = server.key_of_plain_user("bob@example.org").await;
    let theirs = collection(&server, &key).await;
    server
        .post(&format!("{theirs}/sources"), &key, &body)
        .await
        .expect(403);
    server
        .delete(&format!("{place}?documents=true"), &ada)
        .await
        .expect(204);
    assert_eq!(names(&server, &ada, &at).await, [""; 0]);

    let audit = server.get("/api/v1/audit?action=source.", &ada).await;
    let entries = audit.json()["entries"].as_array().unwrap().clone();
    let of_share = |entry: &&Value| entry["subject_name"] == "Share";
    let mut noted: Vec<_> = entries.iter().filter(of_share).collect();
    noted.reverse();
    let actions: Vec<_> = noted.iter().map(|entry| &entry["action"]).collect();
    assert_eq!(
        actions,
        [
            "source.create",
            "source.sync",
            "source.sync",
            "source.keep",
            "source.delete"
        ]
    );
    assert_eq!(noted[0]["details"], json!({"from": "folder"}));
    assert_eq!(noted[3]["details"], json!({"kept": 1}));
    assert_eq!(noted[4]["details"], json!({"with_documents": true}));
}

#[tokio::test]
async fn secrets_are_kept_replaced_and_removed() {
    let server = Server::start_with(&[("GLASSHOUSE_OUTBOUND_ALLOW", "127.0.0.0/8")]).await;
    let ada = server.set_up().await;
    let at = collection(&server, &ada).await;
    let from = json!({"kind": "feed", "url": "http://127.0.0.1:8099/feed", "user": "ada"});
    let mut body = json!({"name": "News", "settings": {"from": from}, "secret": "hunter2hunter2"});
    let created = server.post(&format!("{at}/sources"), &ada, &body).await;
    created.expect(201);
    assert!(!created.text.contains("hunter2"));
    let place = format!("{at}/sources/{}", created.json()["id"].as_str().unwrap());
    // Without a secret, the stored one is kept; with an empty one, it is removed.
    for (secret, is_stored) in [
        (None, true),
        (Some("other"), true),
        (Some(""), false),
        (None, false),
    ] {
        let body = body.as_object_mut().unwrap();
        match secret {
            Some(secret) => _ = body.insert("secret".to_owned(), json!(secret)),
            None => _ = body.remove("secret"),
        }
        let changed = server.put(&place, &ada, &json!(body)).await;
        changed.expect(200);
        assert_eq!(changed.json()["has_secret"], is_stored, "{secret:?}");
    }
    let audit = server.get("/api/v1/audit?action=source.change", &ada).await;
    assert!(!audit.text.contains("hunter2"));
    let entries = audit.json()["entries"].as_array().unwrap().clone();
    let secrets: Vec<_> = entries
        .iter()
        .map(|entry| &entry["details"]["secret"])
        .collect();
    assert_eq!(
        secrets,
        [
            &Value::Null,
            &json!("removed"),
            &json!("changed"),
            &Value::Null
        ]
    );
}

#[tokio::test]
async fn invalid_settings_have_a_reason_with_a_code() {
    let (server, ada) = Server::start_signed_in().await;
    let at = collection(&server, &ada).await;
    for (from, field, code) in [
        (
            json!({"kind": "feed", "url": "ftp://example.org"}),
            "url",
            "no_address",
        ),
        (
            json!({"kind": "feed", "url": "http://10.0.0.1/"}),
            "url",
            "address_not_allowed",
        ),
        (
            json!({"kind": "s3", "bucket": "a"}),
            "region",
            "setting_no_region",
        ),
        (
            json!({"kind": "site", "url": "https://example.org", "depth": 99}),
            "depth",
            "setting_out_of_range",
        ),
    ] {
        let body = json!({"name": "A", "settings": {"from": from}});
        let refused = server.post(&format!("{at}/sources"), &ada, &body).await;
        refused.expect(400);
        let sentence = &refused.json()["error"]["sentence"];
        assert_eq!(
            sentence["code"], "source_setting_invalid",
            "{}",
            refused.text
        );
        assert_eq!(sentence["params"]["field"], field);
        assert_eq!(
            sentence["params"]["reason"]["sentence"]["code"], code,
            "{}",
            refused.text
        );
    }
}

/// The latest synchronization of a source, when it is no longer running.
async fn ended(server: &Server, who: &str, source: &str) -> Value {
    let place = format!("{source}/syncs");
    until("the synchronization has ended", async || {
        server.get(&place, who).await.json()["syncs"][0]["state"] != "running"
    })
    .await;
    server.get(&place, who).await.json()["syncs"][0].clone()
}

async fn run(server: &Server, key: &str, folder: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_glasshouse"))
        .args(["sync", folder.to_str().unwrap(), "--collection", "Handbook"])
        .args(more)
        .env("GLASSHOUSE_URL", server.url(""))
        .env("GLASSHOUSE_KEY", key)
        .stdin(std::process::Stdio::null())
        .output()
        .await
        .unwrap()
}

fn printed(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(text).unwrap()
}

#[tokio::test]
async fn the_command_sends_a_folder() {
    let (server, _) = Server::start_signed_in().await;
    let key = server.key_of_plain_user("bob@example.org").await;
    let at = collection(&server, &key).await;
    let folder = new_folder();
    fs::write(folder.join("a.md"), "The a is a kumquat.").unwrap();
    fs::write(folder.join("b.md"), "The b is a kumquat.").unwrap();
    let first = run(&server, &key, &folder, &[]).await;
    assert_eq!(
        printed(&first).trim(),
        "2 added, 0 updated, 0 deleted, 0 unchanged"
    );
    let second = run(&server, &key, &folder, &[]).await;
    assert_eq!(
        printed(&second).trim(),
        "0 added, 0 updated, 0 deleted, 2 unchanged"
    );

    // Some of its files under other names, for some people.
    let lines = format!(
        "{{\"file\": \"a.md\", \"name\": \"Wiki/a.md\", \"readers\": {{\"people\": [\"{EMAIL}\"]}}}}\n\n"
    );
    let manifest = new_folder().join("manifest.jsonl");
    fs::write(&manifest, lines).unwrap();
    let named = ["--manifest", manifest.to_str().unwrap()];
    let third = run(&server, &key, &folder, &named).await;
    assert_eq!(
        printed(&third).trim(),
        "0 added, 0 updated, 1 deleted, 1 unchanged"
    );
    assert_eq!(names(&server, &key, &at).await, ["Wiki/a.md"]);

    fs::remove_file(folder.join("a.md")).unwrap();
    fs::remove_file(folder.join("b.md")).unwrap();
    let many = run(&server, &key, &folder, &[]).await;
    assert!(!many.status.success());
    assert!(
        printed(&many).contains("no longer has 1 documents:\n  Wiki/a.md"),
        "{}",
        printed(&many)
    );
    let confirmed = run(&server, &key, &folder, &["--confirm-deletions"]).await;
    assert_eq!(
        printed(&confirmed).trim(),
        "0 added, 0 updated, 1 deleted, 0 unchanged"
    );
    let wrong = run(&server, "gh_wrong", &folder, &[]).await;
    assert!(
        !wrong.status.success() && printed(&wrong).contains("401"),
        "{}",
        printed(&wrong)
    );
}

#[tokio::test]
async fn the_server_follows_a_site() {
    let web = scripted::web::ClosedWeb::start().await.unwrap();
    let server = Server::start_with(&[
        ("GLASSHOUSE_OUTBOUND_ALLOW", "127.0.0.0/8"),
        ("GLASSHOUSE_WEB_PAUSE_MS", "0"),
    ])
    .await;
    let ada = server.set_up().await;
    let at = collection(&server, &ada).await;
    let from = json!({"kind": "site", "url": web.url("/traps"), "depth": 1, "pages": 5});
    let body = json!({"name": "Site", "settings": {"from": from}});
    let created = server.post(&format!("{at}/sources"), &ada, &body).await;
    created.expect(201);
    let created = created.json();
    let place = format!("{at}/sources/{}", created["id"].as_str().unwrap());
    let first = ended(&server, &ada, &place).await;
    assert_eq!(
        (&first["state"], &first["added"]),
        (&json!("done"), &json!(5)),
        "{first}"
    );
    // Nothing has changed there.
    server
        .post(&format!("{place}/sync"), &ada, &json!({}))
        .await
        .expect(202);
    let second = ended(&server, &ada, &place).await;
    assert_eq!(
        (&second["added"], &second["updated"]),
        (&json!(0), &json!(0)),
        "{second}"
    );
}

#[tokio::test]
async fn readers_of_the_source_are_those_here() {
    let (server, ada) = Server::start_signed_in().await;
    let bob = server.key_of_plain_user("Bob@Example.org").await;
    let at = collection(&server, &ada).await;
    let open = json!({"open": true, "groups": [], "people": []});
    server
        .put(&format!("{at}/sharing"), &ada, &open)
        .await
        .expect(204);
    let documents = json!([
        listed("all", "1", &Value::Null),
        listed("bob", "1", &json!({"people": ["bob@example.org"]})),
        listed("domain", "1", &json!({"domains": ["Example.org"]})),
        listed(
            "eve",
            "1",
            &json!({"people": ["eve@example.org"], "groups": ["Board"]})
        ),
        listed("nobody", "1", &json!({})),
    ]);
    synchronize(&server, &ada, &at, documents).await;
    all_read(&server, &ada, &at).await;
    let theirs = ["all.md", "bob.md", "domain.md"];
    assert_eq!(names(&server, &bob, &at).await, theirs);
    assert_eq!(found(&server, &bob).await, theirs);
    assert_eq!(found(&server, &ada).await.len(), 5);
    // A right that is taken away at the source is gone with the next list, before anything is completed.
    let body = json!({"source": "Wiki", "documents": [
        listed("all", "1", &Value::Null),
        listed("bob", "2", &json!({"people": ["ada@example.org"]})),
    ]});
    server
        .post(&format!("{at}/sync"), &ada, &body)
        .await
        .expect(201);
    assert_eq!(found(&server, &bob).await, ["all.md", "domain.md"]);
    assert_eq!(names(&server, &bob, &at).await, ["all.md", "domain.md"]);
    server.get(&format!("{at}/sources"), &bob).await.expect(404);
}

/// What Google Drive answers, and which paths were requested.
struct Drive {
    asked: Mutex<Vec<String>>,
}

impl Drive {
    /// Answers as the reference of version 3 says: a folder with `f1` and `f2`, of which `f2` is deleted and `f3` added.
    fn answer(&self, uri: &Uri) -> Value {
        let query = uri.query().unwrap_or_default();
        self.asked.lock().unwrap().push(uri.path().to_owned());
        let file = |id: &str| {
            json!({"id": id, "name": format!("{id}.md"), "mimeType": "text/markdown", "size": "9",
            "md5Checksum": format!("md5-{id}"), "parents": ["root"]})
        };
        let change = |id: &str| json!({"changeType": "file", "removed": false, "fileId": id, "file": file(id)});
        match uri.path() {
            "/token" => json!({"access_token": "t", "expires_in": 3599}),
            "/drive/v3/files" => json!({"files": [file("f1"), file("f2")]}),
            "/drive/v3/files/root" => {
                json!({"id": "root", "mimeType": "application/vnd.google-apps.folder"})
            }
            "/drive/v3/changes/startPageToken" => json!({"startPageToken": "100"}),
            "/drive/v3/changes" if query.contains("pageToken=100") => {
                json!({"newStartPageToken": "200", "changes": [
                {"changeType": "file", "removed": true, "fileId": "f2"}, change("f3")]})
            }
            "/drive/v3/changes" => json!({"newStartPageToken": "200", "changes": []}),
            _ => json!({"id": "f", "mimeType": "text/markdown"}),
        }
    }

    /// Whether all files were listed, and whether changes were, since the last call.
    fn listed(&self) -> (bool, bool) {
        let asked = std::mem::take(&mut *self.asked.lock().unwrap());
        let has = |path: &str| asked.iter().any(|one| one == path);
        (has("/drive/v3/files"), has("/drive/v3/changes"))
    }
}

#[tokio::test]
async fn scheduled_synchronizations_ask_for_changes_only() {
    let drive = Arc::new(Drive {
        asked: Mutex::default(),
    });
    let answering = Arc::clone(&drive);
    let routes = Router::new().fallback(move |uri: Uri| {
        let is_file = uri.query().unwrap_or_default().contains("alt=media");
        let answer = match is_file {
            true => "A kumquat".to_owned(),
            false => answering.answer(&uri).to_string(),
        };
        async move { answer }
    });
    let (google, _running) = serve_other(routes).await;
    let server = Server::start_with(&[("GLASSHOUSE_OUTBOUND_ALLOW", "127.0.0.0/8")]).await;
    let ada = server.set_up().await;
    let at = collection(&server, &ada).await;
    let from = json!({"kind": "google_drive", "folder": "root", "rights": false,
        "api_url": format!("http://{google}"), "token_url": format!("http://{google}/token")});
    let secret = json!({"client_id": "c", "client_secret": "s", "refresh_token": "r"}).to_string();
    let body =
        json!({"name": "Drive", "settings": {"from": from}, "secret": secret, "every_minutes": 5});
    let created = server.post(&format!("{at}/sources"), &ada, &body).await;
    created.expect(201);
    let place = format!("{at}/sources/{}", created.json()["id"].as_str().unwrap());
    let first = ended(&server, &ada, &place).await;
    assert_eq!(
        (&first["state"], &first["added"]),
        (&json!("done"), &json!(2)),
        "{first}"
    );
    assert_eq!(drive.listed(), (true, false));

    // Another source wakes the job, which starts what is due.
    let web = json!({"kind": "feed", "url": format!("http://{google}/token")});
    let waker = json!({"name": "Waker", "settings": {"from": web}});
    let waker = server.post(&format!("{at}/sources"), &ada, &waker).await;
    let waker = format!("{at}/sources/{}", waker.json()["id"].as_str().unwrap());
    let next = async |time_ms: i64, before: &Value| {
        server.clock.advance_ms(time_ms);
        ended(&server, &ada, &waker).await;
        let now = server
            .post(&format!("{waker}/sync"), &ada, &json!({}))
            .await;
        now.expect(202);
        until("the source is due", async || {
            let syncs = server.get(&format!("{place}/syncs"), &ada).await.json();
            syncs["syncs"][0]["id"] != before["id"]
        })
        .await;
        ended(&server, &ada, &place).await
    };
    let minutes = 60_000;
    let second = next(6 * minutes, &first).await;
    for (name, count) in [("added", 1), ("deleted", 1), ("updated", 0), ("failed", 0)] {
        assert_eq!(second[name], count, "{second}");
    }
    assert_eq!(second["state"], "done");
    assert_eq!(names(&server, &ada, &at).await, ["f1.md", "f3.md"]);
    assert_eq!(drive.listed(), (false, true));
    let third = next(6 * minutes, &second).await;
    assert_eq!(third["state"], "done", "{third}");
    assert_eq!(drive.listed(), (false, true));

    // After a day, or with a document less, all are listed.
    let fourth = next(24 * 60 * minutes, &third).await;
    assert_eq!((drive.listed().0, &fourth["state"]), (true, &json!("done")));
    let documents = server.get(&format!("{at}/documents"), &ada).await.json();
    let one = documents["documents"][0]["id"].as_str().unwrap();
    server
        .delete(&format!("{at}/documents/{one}"), &ada)
        .await
        .expect(204);
    let fifth = next(6 * minutes, &fourth).await;
    assert_eq!((drive.listed().0, &fifth["added"]), (true, &json!(1)));
    // So it is on request.
    let now = server
        .post(&format!("{place}/sync"), &ada, &json!({}))
        .await;
    now.expect(202);
    ended(&server, &ada, &place).await;
    assert!(drive.listed().0);
}
