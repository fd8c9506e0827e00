//! Tags and metadata of documents: from files, clients and people, and filters by them, for each way to search.

use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::{
    fake_qdrant::{FakeQdrant, KEY},
    faults::until,
    harness::{Answer, Server},
    knowledge::KNOWLEDGE,
    meanings::begin,
    openai::{ask, connect},
};

const PLAN: &[u8] = b"---\ntitle: Plan\nauthor: Ann\ndate: 2026-05-01\ntags: [HR, draft]\nlayout: {a: 1}\n---\nThe walrus plan.\n";

impl Server {
    async fn put_tagged(&self, who: &str, work: &str, query: &str, content: &[u8]) -> Answer {
        let path = format!("{KNOWLEDGE}/{work}/documents?{query}");
        let request = self.request(Method::POST, &path, who);
        Answer::of(request.body(content.to_vec())).await
    }

    /// Puts a file with tags and metadata, and waits until it is read.
    async fn read_tagged(&self, who: &str, work: &str, query: &str, content: &[u8]) -> String {
        let put = self.put_tagged(who, work, query, content).await;
        put.expect(202);
        let id = put.json()["id"].clone();
        let read = self.settled(who, work, &id).await;
        assert_eq!(read["state"], "ready", "{read}");
        id.as_str().unwrap().to_owned()
    }

    async fn tag(&self, who: &str, work: &str, change: &Value) -> Answer {
        let path = format!("{KNOWLEDGE}/{work}/documents");
        Answer::of(self.request(Method::PATCH, &path, who).json(change)).await
    }

    async fn tagged_document(&self, who: &str, work: &str, id: &str) -> Value {
        let found = self
            .get(&format!("{KNOWLEDGE}/{work}/documents/{id}"), who)
            .await;
        found.expect(200);
        found.json()
    }

    /// The names of the documents that a search with these filters finds.
    async fn narrowed(&self, who: &str, filters: &Value) -> Vec<String> {
        let mut body = json!({"query": "walrus"});
        let filters = filters.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(filters);
        let found = self.post(&format!("{KNOWLEDGE}/search"), who, &body).await;
        found.expect(200);
        let mut names = names(&found.json()["results"]);
        names.dedup();
        names
    }

    async fn listed(&self, who: &str, work: &str, query: &str) -> Vec<String> {
        let path = format!("{KNOWLEDGE}/{work}/documents?{query}");
        let found = self.get(&path, who).await;
        found.expect(200);
        names(&found.json()["documents"])
    }
}

fn names(all: &Value) -> Vec<String> {
    let all = all.as_array().unwrap().iter();
    let mut names: Vec<String> = all
        .map(|one| one["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn people_win_over_files() {
    let (server, ada) = Server::start_signed_in().await;
    let work = server.collection(&ada, "Work").await;
    let query = "name=plan.md&tags=Urgent&metadata=%7B%22department%22%3A%22Legal%22%7D";
    let id = server.read_tagged(&ada, &work, query, PLAN).await;
    let shown = server.tagged_document(&ada, &work, &id).await;
    assert_eq!(shown["tags"], json!(["HR", "draft", "Urgent"]));
    let expected =
        json!({"author": "Ann", "date": "2026-05-01", "department": "Legal", "title": "Plan"});
    assert_eq!(shown["metadata"], expected);
    assert_eq!(shown["changed_keys"], json!(["department"]));

    let change = json!({
        "documents": [id], "add_tags": ["final"], "remove_tags": ["DRAFT"],
        "metadata": {"Author": "Bob", "date": null, "pages": 3, "reviewed by": ["Cem", "Dan"]},
    });
    server.tag(&ada, &work, &change).await.expect(204);
    // It stays so when the file is read again, with other values.
    let again = String::from_utf8_lossy(PLAN).replace("Ann", "Eve");
    let id_again = server
        .read_tagged(&ada, &work, "name=plan.md", again.as_bytes())
        .await;
    assert_eq!(id_again, id);
    let shown = server.tagged_document(&ada, &work, &id).await;
    assert_eq!(shown["tags"], json!(["HR", "Urgent", "final"]));
    let expected = json!({
        "author": "Bob", "department": "Legal", "pages": 3, "reviewed by": ["Cem", "Dan"], "title": "Plan",
    });
    assert_eq!(shown["metadata"], expected);
    let reset = json!({"documents": [id], "reset": ["author", "date"]});
    server.tag(&ada, &work, &reset).await.expect(204);
    let shown = server.tagged_document(&ada, &work, &id).await;
    assert_eq!(shown["metadata"]["author"], "Eve");
    assert_eq!(shown["metadata"]["date"], "2026-05-01");
    let entries = server.get("/api/v1/audit?limit=50", &ada).await;
    assert!(entries.text.contains("collection.tag"), "{}", entries.text);
}

#[tokio::test]
async fn changes_are_checked() {
    let (server, ada) = Server::start_signed_in().await;
    let bob = server.key_of_plain_user("bob@example.org").await;
    let work = server.collection(&ada, "Work").await;
    let id = server.read_tagged(&ada, &work, "name=a.md", PLAN).await;
    for wrong in [
        json!({"documents": [id]}),
        json!({"documents": [], "add_tags": ["x"]}),
        json!({"documents": [id], "add_tags": ["a,b"]}),
        json!({"documents": [id], "add_tags": ["x".repeat(61)]}),
        json!({"documents": [id], "metadata": {"a/b": 1}}),
        json!({"documents": [id], "metadata": {"tags": "x"}}),
        json!({"documents": [id], "metadata": {"a": {"b": 1}}}),
        json!({"documents": [id], "metadata": {"a": "x".repeat(301)}}),
        json!({"documents": [id], "reset": ["$"]}),
    ] {
        server.tag(&ada, &work, &wrong).await.expect(400);
    }
    let many: Vec<String> = (0..50).map(|number| format!("tag {number}")).collect();
    let many = json!({"documents": [id], "add_tags": many});
    server.tag(&ada, &work, &many).await.expect(204);
    let more = json!({"documents": [id], "add_tags": ["one more"]});
    server.tag(&ada, &work, &more).await.expect(400);
    let put = server
        .put_tagged(&ada, &work, "name=b.md&metadata=%7B", b"x")
        .await;
    put.expect(400);
    // Others cannot change it, also if they may read it.
    let sharing = json!({"open": true, "groups": [], "people": []});
    let path = format!("{KNOWLEDGE}/{work}/sharing");
    server.put(&path, &ada, &sharing).await.expect(204);
    let change = json!({"documents": [id], "add_tags": ["theirs"]});
    server.tag(&bob, &work, &change).await.expect(404);
    let unknown = json!({"documents": [domain::DocumentId::generate()], "add_tags": ["x"]});
    server.tag(&ada, &work, &unknown).await.expect(404);
    assert!(
        !server.tagged_document(&bob, &work, &id).await["tags"]
            .to_string()
            .contains("theirs")
    );
}

#[tokio::test]
async fn searches_and_lists_are_filtered() {
    let (server, ada) = Server::start_signed_in().await;
    let work = server.collection(&ada, "Work").await;
    server.read_tagged(&ada, &work, "name=plan.md", PLAN).await;
    let query = "name=deal.txt&tags=legal,HR&metadata=%7B%22author%22%3A%5B%22Bob%22%2C%22Ann%20Lee%22%5D%2C%22year%22%3A2024%7D";
    server
        .read_tagged(&ada, &work, query, b"The walrus deal.")
        .await;
    server
        .read_tagged(&ada, &work, "name=other.txt", b"Another walrus.")
        .await;
    for (filters, expected) in [
        (json!({"tags": ["hr"]}), &["deal.txt", "plan.md"][..]),
        (json!({"tags": ["hr", "legal"]}), &["deal.txt"]),
        (
            json!({"any_tags": ["legal", "DRAFT"]}),
            &["deal.txt", "plan.md"],
        ),
        (json!({"without_tags": ["hr"]}), &["other.txt"]),
        (json!({"tags": ["nothing"]}), &[]),
        (json!({"metadata": {"author": "ann"}}), &["plan.md"]),
        (
            json!({"metadata": {"author": ["ANN LEE", "Ann"]}}),
            &["deal.txt", "plan.md"],
        ),
        (
            json!({"metadata": {"author": {"contains": "an"}}}),
            &["deal.txt", "plan.md"],
        ),
        (
            json!({"metadata": {"author": {"not": ["Bob"]}}}),
            &["other.txt", "plan.md"],
        ),
        (
            json!({"metadata": {"year": {"from": 2020, "to": 2024}}}),
            &["deal.txt"],
        ),
        (json!({"metadata": {"year": {"from": 2025}}}), &[]),
        (json!({"metadata": {"date": "2026-05"}}), &["plan.md"]),
        (
            json!({"metadata": {"date": {"from": "2026-05-01", "to": "2026-05-01"}}}),
            &["plan.md"],
        ),
        (
            json!({"metadata": {"date": {"exists": false}}}),
            &["deal.txt", "other.txt"],
        ),
        (
            json!({"metadata": {"type": "gte", "key": "year", "value": 2024}}),
            &["deal.txt"],
        ),
        (
            json!({"tags": ["hr"], "metadata": {"year": 2024}, "types": ["md"]}),
            &[],
        ),
    ] {
        assert_eq!(server.narrowed(&ada, &filters).await, expected, "{filters}");
    }
    for wrong in [
        json!({"metadata": {"author": {"near": "Ann"}}}),
        json!({"metadata": {"author": {"from": "Ann"}}}),
        json!({"metadata": "everything"}),
        json!({"tags": ["x".repeat(61)]}),
    ] {
        let mut body = wrong.clone();
        body["query"] = json!("walrus");
        let answer = server
            .post(&format!("{KNOWLEDGE}/search"), &ada, &body)
            .await;
        answer.expect(400);
    }
    assert_eq!(
        server.listed(&ada, &work, "tags=hr,legal").await,
        ["deal.txt"]
    );
    assert_eq!(
        server.listed(&ada, &work, "without_tags=hr").await,
        ["other.txt"]
    );
    assert_eq!(
        server.listed(&ada, &work, "name=PLAN&any_tags=hr").await,
        ["plan.md"]
    );
    let metadata = "metadata=%7B%22year%22%3A%7B%22from%22%3A2024%7D%7D";
    assert_eq!(server.listed(&ada, &work, metadata).await, ["deal.txt"]);
    let known = server
        .get(&format!("{KNOWLEDGE}/metadata?key=author"), &ada)
        .await;
    known.expect(200);
    let known = known.json();
    assert_eq!(known["tags"][0], json!({"value": "HR", "documents": 2}));
    let year = known["keys"]
        .as_array()
        .unwrap()
        .iter()
        .find(|key| key["key"] == "year");
    assert_eq!(year.unwrap()["from"], 2024.0);
    assert_eq!(known["values"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn agents_filter_by_tags_and_metadata() {
    let look = |with: Value| {
        let mut asked = json!({"query": "walrus"});
        let with = with.as_object().unwrap().clone();
        asked.as_object_mut().unwrap().extend(with);
        Reply::calls(&[("search_knowledge", asked)])
    };
    let replies = vec![
        look(json!({"tags": "hr"})),
        look(json!({"tags": {"none": ["HR"]}})),
        look(json!({"metadata": {"author": {"$eq": "ann"}}, "tags": []})),
        look(json!({"metadata": "date >= 2026-05"})),
        look(json!({"metadata": {"writer": "Ann"}})),
        look(json!({"tags": "finance"})),
        look(json!({"metadata": {"date": {"from": "last week"}}})),
        look(json!({"metadata": {"author": "Zoe"}})),
        Reply::text("Done."),
    ];
    let upstream = ScriptedServer::start(Behaviour::sequence(replies))
        .await
        .unwrap();
    let (server, ada) = Server::start_signed_in().await;
    connect(&server, &ada, "Up", &upstream.base_url()).await;
    let work = server.collection(&ada, "Work").await;
    server.read_tagged(&ada, &work, "name=plan.md", PLAN).await;
    server
        .read_tagged(&ada, &work, "name=other.txt", b"Another walrus.")
        .await;
    let asked = ask("glasshouse/agent", "Walrus?");
    server
        .post("/v1/chat/completions", &ada, &asked)
        .await
        .expect(200);
    let requests = upstream.requests();
    let tools = requests[0]["tools"].to_string();
    for part in [
        "Tags: draft, HR",
        "author (text)",
        "date (date, 2026-05-01 to 2026-05-01)",
    ] {
        assert!(tools.contains(part), "{part}: {tools}");
    }
    let heard = |call: usize| {
        let messages = requests[call + 1]["messages"].as_array().unwrap();
        messages.last().unwrap()["content"].to_string()
    };
    for (call, expected, unexpected) in [
        (0, "[Plan", "other.txt"),
        (1, "other.txt", "plan.md"),
        (2, "plan.md", "other.txt"),
        (3, "plan.md", "other.txt"),
        (
            4,
            "No document has the metadata “writer”. There are:",
            "[plan.md",
        ),
        (
            5,
            "No document has the tag “finance”. There are:",
            "[plan.md",
        ),
        (6, "The filter on “date” cannot be read", "[plan.md"),
        (7, "No document fits the filters", "[plan.md"),
    ] {
        let heard = heard(call);
        let expected = expected.replace("[Plan", "[plan.md");
        assert!(
            heard.contains(&expected) && !heard.contains(unexpected),
            "{call}: {heard}"
        );
    }
}

#[tokio::test]
async fn a_qdrant_finds_the_same_with_filters() {
    let qdrant = FakeQdrant::start().await;
    let settings = [
        ("GLASSHOUSE_KNOWLEDGE_QDRANT_URL", qdrant.url.as_str()),
        ("GLASSHOUSE_KNOWLEDGE_QDRANT_KEY", KEY),
    ];
    let (_helper, with, ada, there) = begin(&settings).await;
    let (_helper, without, eve, here) = begin(&[]).await;
    for (server, who, work) in [(&with, &ada, &there), (&without, &eve, &here)] {
        for (query, text) in [
            ("name=a.txt&tags=sea", "The walrus swims far."),
            ("name=b.txt&tags=land", "The walrus rests on a rock."),
            ("name=c.txt&tags=sea", "Bread needs flour and time."),
        ] {
            server.read_tagged(who, work, query, text.as_bytes()).await;
        }
    }
    until("there are all points", async || qdrant.points() == [3]).await;
    with.finds(&ada, "sea elephant", "a.txt").await;
    without.finds(&eve, "sea elephant", "a.txt").await;
    for filters in [
        json!({"tags": ["sea"]}),
        json!({"without_tags": ["sea"]}),
        json!({"any_tags": ["sea", "land"]}),
        json!({}),
    ] {
        let mut body = json!({"query": "sea elephant"});
        let more = filters.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(more);
        let found = async |server: &Server, who: &str| {
            let found = server
                .post(&format!("{KNOWLEDGE}/search"), who, &body)
                .await;
            found.expect(200);
            let found = found.json();
            let results = found["results"].as_array().unwrap().iter();
            let meaning = |one: &Value| {
                let score = one["scores"]["meaning"].as_f64().unwrap();
                (one["name"].to_string(), score)
            };
            results.map(meaning).collect::<Vec<_>>()
        };
        let expected = found(&without, &eve).await;
        let there = found(&with, &ada).await;
        assert_eq!(there.len(), expected.len(), "{filters}");
        // Vectors in memory are rounded.
        for ((name, score), (expected, expected_score)) in there.iter().zip(&expected) {
            assert_eq!(name, expected, "{filters}");
            assert!((score - expected_score).abs() < 0.01, "{filters}");
        }
        assert!(!expected.is_empty(), "{filters}");
    }
}

#[tokio::test]
async fn clients_send_tags_and_metadata() {
    let (server, ada) = Server::start_signed_in().await;
    let work = server.collection(&ada, "Wiki").await;
    let at = format!("{KNOWLEDGE}/{work}/sync");
    let page = |tags: Value, metadata: Value| {
        json!({"source": "Wiki", "documents": [{
            "id": "1", "name": "Start.md", "version": "7", "tags": tags, "metadata": metadata,
        }]})
    };
    let body = page(json!(["wiki"]), json!({"owner": "Ann", "reviewed": true}));
    let begun = server.post(&at, &ada, &body).await;
    begun.expect(201);
    let sync = format!("{at}/{}", begun.json()["id"].as_str().unwrap());
    let path = format!("{sync}/document?id=1");
    let sent = server.request(Method::PUT, &path, &ada).body(PLAN.to_vec());
    let sent = Answer::of(sent).await;
    sent.expect(202);
    let id = sent.json()["document"].as_str().unwrap().to_owned();
    let done = server
        .post(&format!("{sync}/complete"), &ada, &json!({}))
        .await;
    done.expect(200);
    server.settled(&ada, &work, &json!(id)).await;
    let shown = server.tagged_document(&ada, &work, &id).await;
    assert_eq!(shown["tags"], json!(["HR", "draft", "wiki"]));
    assert_eq!(shown["metadata"]["owner"], "Ann");
    assert_eq!(shown["metadata"]["author"], "Ann");
    // They change without the content.
    let body = page(json!([]), json!({"author": "Wiki", "owner": "Bob"}));
    let begun = server.post(&at, &ada, &body).await;
    begun.expect(201);
    assert_eq!(begun.json()["documents"], json!([]));
    let shown = server.tagged_document(&ada, &work, &id).await;
    assert_eq!(shown["tags"], json!(["HR", "draft"]));
    assert_eq!(shown["metadata"]["owner"], "Bob");
    assert_eq!(shown["metadata"]["author"], "Wiki");
    assert_eq!(shown["metadata"]["reviewed"], Value::Null);
    let wrong = page(json!(["a,b"]), json!({}));
    server.post(&at, &ada, &wrong).await.expect(400);
}
