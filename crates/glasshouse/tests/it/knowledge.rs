//! Collections of documents: files that come, what is found of them, by whom, and what agents get.

use std::time::Duration;

use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::{
    faults::until,
    harness::{Answer, EMAIL, PASSWORD, Server},
    openai::{ask, connect},
    restart::{Kept, stop},
    runs::events,
};

pub(crate) const KNOWLEDGE: &str = "/api/v1/knowledge";

impl Server {
    pub(crate) async fn collection(&self, who: &str, name: &str) -> String {
        let made = self.post(KNOWLEDGE, who, &json!({ "name": name })).await;
        made.expect(201);
        made.json()["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn put_file(
        &self,
        who: &str,
        collection: &str,
        name: &str,
        content: &[u8],
    ) -> Answer {
        let path = format!("{KNOWLEDGE}/{collection}/documents?name={name}");
        Answer::of(
            self.request(Method::POST, &path, who)
                .body(content.to_vec()),
        )
        .await
    }

    /// Puts a file and waits until it is read, or cannot be.
    pub(crate) async fn read_file(
        &self,
        who: &str,
        collection: &str,
        name: &str,
        content: &[u8],
    ) -> Value {
        let put = self.put_file(who, collection, name, content).await;
        put.expect(202);
        let id = put.json()["id"].clone();
        self.settled(who, collection, &id).await
    }

    pub(crate) async fn settled(&self, who: &str, collection: &str, id: &Value) -> Value {
        let mut last = Value::Null;
        until("the document is read", async || {
            let all = self
                .get(&format!("{KNOWLEDGE}/{collection}/documents"), who)
                .await
                .json();
            let all = all["documents"].as_array().unwrap().clone();
            last = all.into_iter().find(|one| one["id"] == *id).unwrap();
            last["state"] != "waiting"
        })
        .await;
        last
    }

    pub(crate) async fn find(&self, who: &str, query: &str) -> Vec<Value> {
        let found = self
            .post(
                &format!("{KNOWLEDGE}/search"),
                who,
                &json!({ "query": query }),
            )
            .await;
        found.expect(200);
        found.json()["results"].as_array().unwrap().clone()
    }
}

const PLAN: &str =
    "# Plan\n\nWe meet in May.\n\n## Budget\n\nThe walrus costs 400 euros — моржи дороги.\n";

#[tokio::test]
async fn files_are_read_found_and_shown_where_they_stand() {
    let (server, ada) = Server::start_signed_in().await;
    let work = server.collection(&ada, "Work").await;
    let plan = server
        .read_file(&ada, &work, "plan.md", PLAN.as_bytes())
        .await;
    assert_eq!(
        (&plan["state"], &plan["problem"]),
        (&json!("ready"), &Value::Null),
        "{plan}"
    );
    server
        .read_file(&ada, &work, "notes.txt", b"Nothing of interest.")
        .await;
    let found = server.find(&ada, "what does a walrus cost").await;
    let best = &found[0];
    assert_eq!(
        (&best["name"], &best["collection_name"]),
        (&json!("plan.md"), &json!("Work")),
        "{found:?}"
    );
    assert!(best["text"].as_str().unwrap().contains("400 euros"));
    assert!(best["scores"]["words"].as_f64().unwrap() > 0.0 && best["scores"]["meaning"].is_null());
    // In the words of another language, and in another form of them.
    assert!(
        server.find(&ada, "дорогой морж").await[0]["text"]
            .as_str()
            .unwrap()
            .contains("400 euros")
    );
    // The piece is exactly what stands there.
    let path = format!(
        "{KNOWLEDGE}/{work}/documents/{}",
        plan["id"].as_str().unwrap()
    );
    let stored = server.get(&path, &ada).await.json();
    let text: Vec<char> = stored["text"].as_str().unwrap().chars().collect();
    let place = |name: &str| usize::try_from(best[name].as_u64().unwrap()).unwrap();
    assert_eq!(
        text[place("start")..place("end")]
            .iter()
            .collect::<String>(),
        best["text"].as_str().unwrap()
    );
    assert_eq!(stored["structure"]["headings"][1]["title"], "Budget");
    let file = server.get(&format!("{path}/file"), &ada).await;
    assert_eq!(file.text, PLAN);
    assert!(
        file.headers["content-disposition"]
            .to_str()
            .unwrap()
            .starts_with("attachment")
    );
    assert_eq!(file.headers["x-content-type-options"], "nosniff");

    // Another of its name takes its place; what is deleted leaves nothing.
    let again = server
        .read_file(&ada, &work, "plan.md", b"The seal costs nothing.")
        .await;
    assert_eq!(again["id"], plan["id"]);
    assert!(server.find(&ada, "walrus").await.is_empty());
    assert_eq!(server.find(&ada, "seal").await[0]["name"], "plan.md");
    server.delete(&path, &ada).await.expect(204);
    assert!(server.find(&ada, "seal").await.is_empty());
    server.get(&path, &ada).await.expect(404);
}

#[tokio::test]
async fn what_cannot_be_read_says_why_and_harms_nothing_else() {
    let (server, ada) = Server::start_signed_in().await;
    let work = server.collection(&ada, "Work").await;
    for (name, content, code) in [
        ("broken.pdf", &b"%PDF-1.7 nothing follows"[..], "damaged"),
        ("broken.docx", b"PK\x03\x04\x00\x00", "damaged"),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "damaged"),
        ("sound.mp3", b"ID3\x04\0\0\0\0\0\x23TSSE", "recording"),
        ("blank.txt", b" \n ", "no_text"),
    ] {
        let read = server.read_file(&ada, &work, name, content).await;
        assert_eq!(
            (&read["state"], &read["problem"]["code"]),
            (&json!("failed"), &json!(code)),
            "{name}: {read}"
        );
        assert!(read["problem"]["message"].as_str().unwrap().ends_with('.'));
        let path = format!(
            "{KNOWLEDGE}/{work}/documents/{}",
            read["id"].as_str().unwrap()
        );
        server
            .post(&format!("{path}/retry"), &ada, &json!({}))
            .await
            .expect(204);
        assert_eq!(
            server.settled(&ada, &work, &read["id"]).await["state"],
            "failed"
        );
        assert_eq!(server.get(&path, &ada).await.json()["text"], "");
    }
    let nul = server.read_file(&ada, &work, "nul.txt", b"a\0walrus").await;
    assert_eq!(nul["problem"]["code"], "unknown_format", "that is no text");
    let page =
        "<!doctype html><title>T</title><p>One \u{0} walrus swims here, and it swims all day long.";
    server
        .read_file(&ada, &work, "page.html", page.as_bytes())
        .await;
    assert!(
        server.find(&ada, "walrus").await[0]["text"]
            .as_str()
            .unwrap()
            .contains("walrus")
    );
    for name in ["", "..", "%00", &"x".repeat(300), "a%2F.."] {
        server.put_file(&ada, &work, name, b"x").await.expect(400);
    }
    server
        .put_file(&ada, &work, "empty.txt", b"")
        .await
        .expect(400);
    server
        .put_file(&ada, "coll_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d", "a.txt", b"x")
        .await
        .expect(404);
    for bad in [
        json!({}),
        json!({"query": " "}),
        json!({"query": "x".repeat(5000)}),
        json!({"query": "x", "limit": 0}),
    ] {
        server
            .post(&format!("{KNOWLEDGE}/search"), &ada, &bad)
            .await
            .expect(400);
    }
}

#[tokio::test]
async fn sizes_are_bounded() {
    let settings = [
        ("GLASSHOUSE_KNOWLEDGE_FILE_MB", "1"),
        ("GLASSHOUSE_KNOWLEDGE_PERSON_MB", "2"),
    ];
    let server = Server::start_with(&settings).await;
    let ada = server.set_up().await;
    let work = server.collection(&ada, "Work").await;
    server
        .put_file(&ada, &work, "large.txt", &vec![b'a'; 1_000_001])
        .await
        .expect(413);
    for name in ["a.txt", "b.txt"] {
        server
            .put_file(&ada, &work, name, &vec![b'a'; 1_000_000])
            .await
            .expect(202);
    }
    server
        .put_file(&ada, &work, "c.txt", b"x")
        .await
        .expect(409);
    server
        .put_file(&ada, &work, "a.txt", b"smaller")
        .await
        .expect(202);
}

#[tokio::test]
async fn others_find_only_what_is_open_to_them() {
    let (server, ada) = Server::start_signed_in().await;
    let bob = server.key_of_plain_user("bob@example.org").await;
    let work = server.collection(&ada, "Work").await;
    server
        .read_file(&ada, &work, "plan.md", PLAN.as_bytes())
        .await;
    let bobs = server.collection(&bob, "Bob's").await;
    server
        .read_file(&bob, &bobs, "a.txt", b"A walrus of Bob.")
        .await;
    assert_eq!(server.find(&bob, "walrus").await.len(), 1);
    let named = json!({"query": "walrus", "collections": [work]});
    server
        .post(&format!("{KNOWLEDGE}/search"), &bob, &named)
        .await
        .expect(404);

    let open = async |open: bool| {
        let path = format!("{KNOWLEDGE}/{work}");
        let change = server
            .request(Method::PATCH, &path, &ada)
            .json(&json!({ "open": open }));
        Answer::of(change).await.expect(200);
    };
    open(true).await;
    assert_eq!(server.find(&bob, "walrus").await.len(), 2);
    assert_eq!(
        server.find(&ada, "walrus").await.len(),
        1,
        "it is not the other way round"
    );
    let documents = server
        .get(&format!("{KNOWLEDGE}/{work}/documents"), &bob)
        .await
        .json();
    let document = documents["documents"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("{KNOWLEDGE}/{work}/documents/{document}");
    server.get(&path, &bob).await.expect(200);
    // To read is not to change.
    server.delete(&path, &bob).await.expect(404);
    server
        .put_file(&bob, &work, "b.txt", b"x")
        .await
        .expect(404);
    server
        .delete(&format!("{KNOWLEDGE}/{work}"), &bob)
        .await
        .expect(404);
    open(false).await;
    assert_eq!(server.find(&bob, "walrus").await.len(), 1);
    server.get(&path, &bob).await.expect(404);
    server
        .delete(&format!("{KNOWLEDGE}/{work}"), &ada)
        .await
        .expect(204);
    assert!(server.find(&ada, "walrus").await.is_empty());
}

#[tokio::test]
async fn a_search_is_narrowed_to_kinds_of_files_and_to_a_time() {
    let (server, ada) = Server::start_signed_in().await;
    let bob = server.key_of_plain_user("bob@example.org").await;
    let work = server.collection(&ada, "Work").await;
    server
        .read_file(&ada, &work, "old.md", b"# Walrus\n\nThe old walrus.")
        .await;
    let empty = server.collection(&ada, "Beside").await;
    server
        .read_file(&ada, &empty, "seal.txt", b"A seal beside a walrus.")
        .await;
    server.clock.advance_ms(1_000);
    let new = server
        .read_file(&ada, &work, "new.TXT", b"The new walrus.")
        .await;
    let (since, before) = (
        new["updated_at"].as_i64().unwrap(),
        new["updated_at"].as_i64().unwrap() - 1,
    );
    let narrowed = async |with: Value| {
        let mut asked = json!({"query": "walrus"});
        asked
            .as_object_mut()
            .unwrap()
            .extend(with.as_object().unwrap().clone());
        let found = server
            .post(&format!("{KNOWLEDGE}/search"), &ada, &asked)
            .await;
        found.expect(200);
        let found = found.json()["results"].as_array().unwrap().clone();
        let mut names: Vec<String> = found
            .iter()
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    assert_eq!(narrowed(json!({})).await, ["new.TXT", "old.md", "seal.txt"]);
    assert_eq!(
        narrowed(json!({"types": ["txt"]})).await,
        ["new.TXT", "seal.txt"]
    );
    assert_eq!(
        narrowed(json!({"types": ["TXT", "md"], "since": since})).await,
        ["new.TXT"]
    );
    assert_eq!(
        narrowed(json!({"until": since})).await,
        ["old.md", "seal.txt"]
    );
    assert_eq!(
        narrowed(json!({"since": before, "until": since})).await,
        [""; 0]
    );
    assert_eq!(
        narrowed(json!({"types": ["pdf"]})).await,
        [""; 0],
        "nothing, not everything"
    );
    assert_eq!(narrowed(json!({"name": "NEW"})).await, ["new.TXT"]);
    assert_eq!(
        narrowed(json!({"name": "seal", "types": ["md"]})).await,
        [""; 0]
    );
    assert_eq!(
        narrowed(json!({"types": ["txt"], "collections": [work]})).await,
        ["new.TXT"]
    );
    // It narrows what one may read, and opens nothing.
    let named = json!({"query": "walrus", "types": ["pdf"], "collections": [work]});
    server
        .post(&format!("{KNOWLEDGE}/search"), &bob, &named)
        .await
        .expect(404);
    for bad in [
        json!([""]),
        json!([".pdf"]),
        json!(vec!["pdf"; 31]),
        json!(["x".repeat(17)]),
    ] {
        let asked = json!({"query": "walrus", "types": bad});
        server
            .post(&format!("{KNOWLEDGE}/search"), &ada, &asked)
            .await
            .expect(400);
    }
    let asked = json!({"query": "walrus", "name": "x".repeat(201)});
    server
        .post(&format!("{KNOWLEDGE}/search"), &ada, &asked)
        .await
        .expect(400);
}

#[tokio::test]
async fn agents_narrow_their_searches() {
    let look = |with: Value| {
        let mut asked = json!({"query": "walrus"});
        asked
            .as_object_mut()
            .unwrap()
            .extend(with.as_object().unwrap().clone());
        Reply::calls(&[("search_knowledge", asked)])
    };
    let replies = vec![
        look(json!({"types": "Word, .TXT"})),
        look(json!({"types": ["md"], "document": "OLD", "since": "", "until": null})),
        look(json!({"types": "pdf"})),
        look(json!({"since": "last week"})),
        look(json!({"since": 1970, "until": "1970"})),
        Reply::text("Done."),
    ];
    let upstream = ScriptedServer::start(Behaviour::sequence(replies))
        .await
        .unwrap();
    let (server, ada) = Server::start_signed_in().await;
    connect(&server, &ada, "Up", &upstream.base_url()).await;
    let work = server.collection(&ada, "Work").await;
    server
        .read_file(&ada, &work, "old.md", b"The old walrus.")
        .await;
    server
        .read_file(&ada, &work, "new.txt", b"The new walrus.")
        .await;
    server
        .post(
            "/v1/chat/completions",
            &ada,
            &ask("glasshouse/agent", "Walrus?"),
        )
        .await
        .expect(200);
    let requests = upstream.requests();
    let heard = |call: usize| {
        let messages = requests[call + 1]["messages"].as_array().unwrap();
        messages.last().unwrap()["content"].to_string()
    };
    assert!(
        heard(0).contains("[new.txt in Work]") && !heard(0).contains("old.md"),
        "{}",
        heard(0)
    );
    assert!(
        heard(1).contains("[old.md in Work]") && !heard(1).contains("new.txt"),
        "{}",
        heard(1)
    );
    assert!(
        heard(2).contains("There are: new.txt, old.md."),
        "{}",
        heard(2)
    );
    assert!(heard(3).contains("`since` must be a day"), "{}", heard(3));
    assert!(heard(4).contains("No document fits"), "{}", heard(4));
}

#[tokio::test]
async fn agents_search_what_their_person_may() {
    let look = || {
        Reply::calls(&[(
            "search_knowledge",
            json!({"query": "walrus", "collection": "Work"}),
        )])
    };
    let replies = vec![Reply::text("Hi."), look(), Reply::text("400 euros.")];
    let upstream = ScriptedServer::start(Behaviour::sequence(replies))
        .await
        .unwrap();
    let (server, ada) = Server::start_signed_in().await;
    connect(&server, &ada, "Up", &upstream.base_url()).await;
    let tools =
        |upstream: &ScriptedServer| upstream.requests().last().unwrap()["tools"].to_string();
    server
        .post("/v1/chat/completions", &ada, &ask("glasshouse/agent", "Hi"))
        .await
        .expect(200);
    assert!(
        !tools(&upstream).contains("search_knowledge"),
        "there is nothing to search"
    );
    let work = server.collection(&ada, "Work").await;
    server
        .read_file(&ada, &work, "plan.md", PLAN.as_bytes())
        .await;
    let answer = server
        .post(
            "/v1/chat/completions",
            &ada,
            &ask("glasshouse/agent", "What does it cost?"),
        )
        .await;
    answer.expect(200);
    assert!(tools(&upstream).contains("search_knowledge"));
    let heard = upstream.requests().last().unwrap()["messages"].to_string();
    assert!(
        heard.contains("[plan.md in Work") && heard.contains("400 euros"),
        "{heard}"
    );
    let run = answer.headers["x-run-id"].to_str().unwrap().to_owned();
    let log = events(&server, &ada, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    let sources = log
        .iter()
        .map(crate::sse::Event::json)
        .find(|event| event["body"]["type"] == "sources_found");
    let source = sources.unwrap()["body"]["sources"][0].clone();
    assert_eq!(source["title"], "plan.md");
    assert!(
        source["url"]
            .as_str()
            .unwrap()
            .starts_with(&format!("/knowledge/{work}/doc_")),
        "{source}"
    );
}

#[tokio::test]
async fn what_was_to_be_read_is_read_after_a_restart() {
    let kept = Kept::new();
    let (work, left) = {
        let server = kept.start().await;
        let ada = server.set_up().await;
        let work = server.collection(&ada, "Work").await;
        server
            .read_file(&ada, &work, "plan.md", PLAN.as_bytes())
            .await;
        // As a server leaves it that is killed while it reads.
        let left = server.read_file(&ada, &work, "more.txt", b"A seal.").await["id"].clone();
        stop(&server).await;
        (work, left)
    };
    kept.execute(
        "UPDATE documents SET state = 'waiting', version = 0, claimed_until = 4000000000000 WHERE name = 'more.txt'",
    )
    .await;
    let server = kept.start().await;
    let login = server
        .post(
            "/api/v1/login",
            "",
            &json!({"email": EMAIL, "password": PASSWORD}),
        )
        .await;
    let ada = login.cookie();
    assert_eq!(
        server.find(&ada, "walrus").await.len(),
        1,
        "what was read is there"
    );
    let read = tokio::time::timeout(Duration::from_secs(30), server.settled(&ada, &work, &left))
        .await
        .unwrap();
    assert_eq!(read["state"], "ready");
    assert_eq!(server.find(&ada, "seal").await.len(), 1);
}
