//! Documents that answers cite: their texts are kept for the citations when they change or are deleted.

use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server},
    knowledge::KNOWLEDGE,
    openai::{ask, connect},
    runs::events,
};

const FIRST: &[u8] = b"# Prices\n\nThe walrus costs 400 euros.";
const SECOND: &[u8] = b"# Prices\n\nThe walrus costs 500 euros.";

/// A server with a cited document.
struct Cited {
    _upstream: ScriptedServer,
    server: Server,
    ada: String,
    collection: String,
    /// The document's address in the API.
    document: String,
    /// The address of the source.
    url: String,
    version: String,
}

impl Cited {
    async fn new() -> Self {
        let look = json!({"query": "walrus"});
        let replies = vec![
            Reply::calls(&[("search_knowledge", look)]),
            Reply::text("400 euros."),
        ];
        let upstream = ScriptedServer::start(Behaviour::sequence(replies))
            .await
            .unwrap();
        let (server, ada) = Server::start_signed_in().await;
        connect(&server, &ada, "Up", &upstream.base_url()).await;
        let collection = server.collection(&ada, "Work").await;
        let read = server
            .read_file(&ada, &collection, "prices.md", FIRST)
            .await;
        assert_eq!(read["cited"], false);
        let question = ask("glasshouse/agent", "What does the walrus cost?");
        let answer = server.post("/v1/chat/completions", &ada, &question).await;
        answer.expect(200);
        let run = answer.headers["x-run-id"].to_str().unwrap().to_owned();
        let log = events(&server, &ada, &format!("/runs/{run}/events"))
            .await
            .rest()
            .await;
        let found = log
            .iter()
            .map(|event| event.json())
            .find(|event| event["body"]["type"] == "sources_found")
            .unwrap();
        let url = found["body"]["sources"][0]["url"].as_str().unwrap();
        let id = read["id"].as_str().unwrap();
        Self {
            document: format!("{KNOWLEDGE}/{collection}/documents/{id}"),
            version: url.split_once("&version=").unwrap().1.to_owned(),
            url: url.to_owned(),
            _upstream: upstream,
            server,
            ada,
            collection,
        }
    }

    async fn current(&self) -> Value {
        self.server.get(&self.document, &self.ada).await.json()
    }

    async fn copy(&self, who: &str) -> Answer {
        let path = format!("{}/copy?version={}", self.document, self.version);
        self.server.get(&path, who).await
    }

    async fn replace(&self, content: &[u8]) {
        self.server
            .read_file(&self.ada, &self.collection, "prices.md", content)
            .await;
    }
}

#[tokio::test]
async fn a_cited_text_stays_after_its_document_was_replaced_or_deleted() {
    let cited = Cited::new().await;
    let (server, ada) = (&cited.server, &cited.ada);
    let document = cited.current().await;
    assert_eq!(
        (&document["cited"], &document["copies"]),
        (&json!(true), &json!(0))
    );
    assert_eq!(document["version"].to_string(), cited.version);
    let id = document["id"].as_str().unwrap();
    let place = format!("/knowledge/{}/{id}?from=", cited.collection);
    assert!(cited.url.starts_with(&place), "{}", cited.url);
    cited.copy(ada).await.expect(404);

    // The same text again is no change.
    cited.replace(FIRST).await;
    assert_eq!(cited.current().await["version"].to_string(), cited.version);
    assert_eq!(server.find(ada, "walrus").await.len(), 1);

    cited.replace(SECOND).await;
    let document = cited.current().await;
    assert_ne!(document["version"].to_string(), cited.version);
    assert_eq!(document["copies"], 1);
    let kept = cited.copy(ada).await;
    kept.expect(200);
    let kept = kept.json();
    assert_eq!(
        (&kept["name"], &kept["structure"]["headings"][0]["title"]),
        (&json!("prices.md"), &json!("Prices"))
    );
    assert!(kept["text"].as_str().unwrap().contains("400 euros"));
    assert!(kept["replaced_at"].as_i64().unwrap() > 0);
    let found = server.find(ada, "walrus").await;
    assert_eq!(found.len(), 1, "copies are not searched: {found:?}");

    let bad = format!("{}/copy?version=x", cited.document);
    server.get(&bad, ada).await.expect(400);
    let path = format!("{}?keep_cited=true", cited.document);
    server.delete(&path, ada).await.expect(204);
    server.get(&cited.document, ada).await.expect(404);
    cited.copy(ada).await.expect(200);
    let copies = format!("{}/copy", cited.document);
    server.delete(&copies, ada).await.expect(204);
    cited.copy(ada).await.expect(404);
    server.delete(&copies, ada).await.expect(404);
}

#[tokio::test]
async fn without_a_wish_to_keep_it_a_cited_text_is_deleted() {
    let cited = Cited::new().await;
    cited.replace(SECOND).await;
    cited
        .server
        .delete(&cited.document, &cited.ada)
        .await
        .expect(204);
    cited.copy(&cited.ada).await.expect(404);
}

#[tokio::test]
async fn who_may_read_the_collection_may_read_what_is_kept_of_it() {
    let cited = Cited::new().await;
    let (server, ada) = (&cited.server, &cited.ada);
    let bob = server.key_of_plain_user("bob@example.org").await;
    let path = format!("{}?keep_cited=true", cited.document);
    server.delete(&path, ada).await.expect(204);
    let open = async |open: bool| {
        let path = format!("{KNOWLEDGE}/{}", cited.collection);
        let change = server
            .request(Method::PATCH, &path, ada)
            .json(&json!({ "open": open }));
        Answer::of(change).await.expect(200);
    };
    cited.copy(&bob).await.expect(404);
    open(true).await;
    cited.copy(&bob).await.expect(200);
    let copies = format!("{}/copy", cited.document);
    server.delete(&copies, &bob).await.expect(404);
    open(false).await;
    cited.copy(&bob).await.expect(404);
    let collection = format!("{KNOWLEDGE}/{}", cited.collection);
    server.delete(&collection, ada).await.expect(204);
    cited.copy(ada).await.expect(404);
}
