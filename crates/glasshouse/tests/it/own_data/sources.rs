//! Sources of collections are taken along without their secrets, with which documents are theirs and who may read them.

use domain::SourceId;

use super::*;

const SECRET: &str = "hunter2hunter2";

async fn synchronize(server: &Server, who: &str, at: &str) -> Value {
    let documents = json!([
        {"id": "1", "name": "deep/page.md", "version": "7", "url": "https://wiki.example.org/1",
            "readers": {"people": ["eve@example.org"], "groups": ["Board"]}},
        {"id": "2", "name": "other/page.md", "version": "1"},
    ]);
    let body = json!({"source": "Wiki", "documents": documents});
    let begun = server.post(&format!("{at}/sync"), who, &body).await;
    begun.expect(201);
    let begun = begun.json();
    let sync = format!("{at}/sync/{}", begun["id"].as_str().unwrap());
    for id in begun["documents"].as_array().unwrap() {
        let place = format!("{sync}/document?id={}", id.as_str().unwrap());
        let sent = server.request(Method::PUT, &place, who).body("A kumquat.");
        Answer::of(sent).await.expect(202);
    }
    let done = server
        .post(&format!("{sync}/complete"), who, &json!({}))
        .await;
    done.json()
}

#[tokio::test]
async fn sources_come_along_without_their_secrets() {
    let here = Server::start_with(&[("GLASSHOUSE_OUTBOUND_ALLOW", "127.0.0.0/8")]).await;
    let ada = here.set_up().await;
    let made = json!({"name": "Handbook"});
    let made = here.post("/api/v1/knowledge", &ada, &made).await.json();
    let at = format!("/api/v1/knowledge/{}", made["id"].as_str().unwrap());
    synchronize(&here, &ada, &at).await;
    let feed = json!({"kind": "feed", "url": "http://127.0.0.1:8099/feed", "user": "ada"});
    let body = json!({"name": "News", "settings": {"from": feed, "exclude": ["drafts/**"]},
        "secret": SECRET, "every_minutes": 60});
    here.post(&format!("{at}/sources"), &ada, &body)
        .await
        .expect(201);
    let export = here.get(EXPORT, &ada).await.text;
    assert!(!export.contains(SECRET));

    let (there, _) = Server::start_signed_in().await;
    let bob = there.key_of_plain_user("bob@example.org").await;
    let report = there.import(&bob, &export).await.json();
    assert_eq!(
        (&report["made"]["sources"], &report["made"]["documents"]),
        (&json!(2), &json!(2)),
        "{report}"
    );
    let collections = there.list(&bob, "/api/v1/knowledge", "collections").await;
    let theirs = collections[0]["id"].as_str().unwrap();
    let theirs = format!("/api/v1/knowledge/{theirs}");
    let place = format!("{theirs}/sources");
    let sources = there.list(&bob, &place, "sources").await;
    let [news, wiki] = [&sources[0], &sources[1]];
    assert_eq!(
        (&news["name"], &news["has_secret"], &news["every_minutes"]),
        (&json!("News"), &json!(false), &json!(60))
    );
    assert_eq!(news["settings"]["exclude"], json!(["drafts/**"]));
    assert_eq!(news["settings"]["from"]["kind"], "feed");
    assert_eq!(
        (&news["next_at"], &news["latest"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(
        (&wiki["name"], &wiki["documents"]),
        (&json!("Wiki"), &json!(2))
    );
    let place = format!("{theirs}/documents");
    let documents = there.list(&bob, &place, "documents").await;
    let names = documents.iter().map(|one| one["name"].as_str().unwrap());
    let names: Vec<_> = names.collect();
    assert_eq!(names, ["deep/page.md", "other/page.md"]);

    // They are those of the source: nothing is sent again.
    let done = synchronize(&there, &bob, &theirs).await;
    assert_eq!(done["state"], "done");
    for count in ["added", "updated", "deleted", "failed"] {
        assert_eq!(done[count], 0, "{done}");
    }
    // When Bob shares the collection, those who may not read a document there do not read it here.
    let eve = there.key_of_plain_user("eve@example.org").await;
    let max = there.key_of_plain_user("max@example.org").await;
    let open = json!({"open": true, "groups": [], "people": []});
    there
        .put(&format!("{theirs}/sharing"), &bob, &open)
        .await
        .expect(204);
    for (who, count) in [(&eve, 2), (&max, 1)] {
        let listed = there.list(who, &place, "documents").await;
        assert_eq!(listed.len(), count);
    }
    // A second time makes nothing.
    let report = there.import(&bob, &export).await.json();
    assert_eq!(
        (&report["made"]["sources"], &report["here"]["sources"]),
        (&json!(0), &json!(2)),
        "{report}"
    );
}

#[tokio::test]
async fn hostile_sources_are_left_out() {
    let (server, _) = Server::start_signed_in().await;
    let bob = server.key_of_plain_user("bob@example.org").await;
    let collection = CollectionId::generate();
    let source = |name: &str, settings: Value, every: u64| {
        json!({"source": {"id": SourceId::generate(), "collection": collection, "name": name,
            "settings": settings, "every_minutes": every}})
    };
    let feed = json!({"from": {"kind": "feed", "url": "https://example.org/feed"}});
    let lines = [
        json!({"glasshouse_export": {"format": 1, "version": "0.1.0", "made_at": 1}}),
        json!({"collection": {"id": collection, "name": "C"}}),
        // Folders of the server are for administrators.
        source("Root", json!({"from": {"kind": "folder", "path": "/"}}), 60),
        source("Odd", json!({"from": {"kind": "telepathy"}}), 60),
        source("Fast", feed.clone(), 1),
        source(" ", feed.clone(), 60),
        source("Fine", feed, 60),
        json!({"end": {"lines": 7}}),
    ];
    let file = lines.map(|line| line.to_string() + "\n").concat();
    let report = server.import(&bob, &file).await.json();
    assert_eq!(report["made"]["sources"], 1, "{report}");
    let left = report["left"].as_array().unwrap();
    let names: Vec<_> = left
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Root", "Odd", "Fast", " "], "{report}");
    assert!(left.iter().all(|one| one["what"] == "source"));
    assert_eq!(left[0]["sentence"]["code"], "folders_of_administrators");
}
