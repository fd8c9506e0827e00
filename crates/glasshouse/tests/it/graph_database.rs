//! A copy of the graphs in a graph database, which is asked about them. `GLASSHOUSE_TEST_BOLT_URL` names a real one, as
//! `cargo xtask test` starts it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use bolt::{Access, Address, Client, Value};
use scripted::Behaviour;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

use crate::{
    faults::until,
    graph::{MORE, TEXT, begin_with, model, names},
    harness::Server,
    knowledge::KNOWLEDGE,
};

/// As `cargo xtask test` starts it.
const ACCESS: [&str; 3] = ["root", "only-for-tests", "graphs"];

/// The address of the real one.
fn real() -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "tests have no configuration")]
    let (url, required) = (
        std::env::var("GLASSHOUSE_TEST_BOLT_URL").ok(),
        std::env::var_os("GLASSHOUSE_TEST_REQUIRE"),
    );
    assert!(
        url.is_some() || required.is_none(),
        "GLASSHOUSE_TEST_BOLT_URL must name a server that speaks Bolt"
    );
    url
}

fn settings(url: &str) -> [(&str, &str); 4] {
    let [user, password, database] = ACCESS;
    [
        ("GLASSHOUSE_KNOWLEDGE_GRAPH_URL", url),
        ("GLASSHOUSE_KNOWLEDGE_GRAPH_USER", user),
        ("GLASSHOUSE_KNOWLEDGE_GRAPH_PASSWORD", password),
        ("GLASSHOUSE_KNOWLEDGE_GRAPH_DATABASE", database),
    ]
}

/// What else looks into the graph database.
struct Beside {
    client: Client,
    collection: String,
}

impl Beside {
    fn new(url: &str, collection: &str) -> Self {
        let [user, password, database] = ACCESS.map(str::to_owned);
        let client = Client::new(
            Address::parse(url).unwrap(),
            Access {
                user,
                password,
                database,
            },
        );
        Self {
            client,
            collection: collection.to_owned(),
        }
    }

    async fn run(&self, query: &str, more: &[(&str, Value)]) -> Vec<bolt::Row> {
        self.try_run(query, more).await.unwrap()
    }

    async fn try_run(
        &self,
        query: &str,
        more: &[(&str, Value)],
    ) -> Result<Vec<bolt::Row>, bolt::Fault> {
        let collection = [("collection", Value::from(self.collection.as_str()))];
        self.client
            .run(
                query,
                &[&collection[..], more].concat(),
                Duration::from_secs(20),
            )
            .await
    }

    /// How many things, documents and statements of the collection are there. Nothing where it cannot be said just now: ArcadeDB
    /// refuses to count what goes meanwhile.
    async fn counts(&self) -> Option<[u64; 3]> {
        let mut counts = [0; 3];
        let queries = [
            "MATCH (e:GlasshouseEntity {collection: $collection}) RETURN count(e)",
            "MATCH (d:GlasshouseDocument {collection: $collection}) RETURN count(d)",
            "MATCH (e:GlasshouseEntity {collection: $collection})-[r:SAYS]->() RETURN count(r)",
        ];
        for (count, query) in counts.iter_mut().zip(queries) {
            *count = match self.try_run(query, &[]).await {
                Err(bolt::Fault::Refused { code, .. }) if code.ends_with(".EntityNotFound") => {
                    return None;
                }
                rows => rows.unwrap()[0][0].as_number().unwrap(),
            };
        }
        Some(counts)
    }

    async fn has(&self, counts: [u64; 3]) {
        until(&format!("the copy has {counts:?}"), async || {
            self.counts().await == Some(counts)
        })
        .await;
    }
}

impl Server {
    /// Waits until the graph database has all of a collection's graph.
    async fn copied(&self, who: &str, collection: &str) {
        until("the graph is copied", async || {
            self.graph(who, collection, "").await["database"]["whole"] == true
        })
        .await;
    }

    async fn id_of(&self, who: &str, collection: &str, name: &str) -> String {
        let found = self
            .graph(who, collection, &format!("/entities?query={name}"))
            .await;
        found["entities"][0]["id"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn a_graph_database_is_asked_about_its_copy() {
    let Some(url) = real() else { return };
    let (_upstream, server, ada, work) =
        begin_with(Behaviour::answer(model), &settings(&url)).await;
    let beside = Beside::new(&url, &work);
    server
        .read_file(&ada, &work, "notes.md", TEXT.as_bytes())
        .await;
    server
        .read_file(&ada, &work, "more.txt", MORE.as_bytes())
        .await;
    server.switch_graph(&ada, &work, true).await.expect(204);
    server.graphed(&ada, &work).await;
    beside.has([4, 2, 3]).await;
    server.copied(&ada, &work).await;
    // It answers as the rows do.
    let babbage = server.id_of(&ada, &work, "babbage").await;
    let london = server.id_of(&ada, &work, "LONDON").await;
    let way = server
        .graph(&ada, &work, &format!("/path?from={babbage}&to={london}"))
        .await;
    assert_eq!(
        names(&way),
        [
            "Charles Babbage",
            "Analytical Engine",
            "Ada Lovelace",
            "London"
        ]
    );
    assert_eq!(way["relations"].as_array().unwrap().len(), 3);
    let near = |depth| format!("/neighbours?entity={babbage}&depth={depth}");
    assert_eq!(
        names(&server.graph(&ada, &work, &near(1)).await),
        ["Charles Babbage", "Analytical Engine"]
    );
    assert_eq!(names(&server.graph(&ada, &work, &near(3)).await).len(), 4);
    let most = server.graph(&ada, &work, "/subgraph?limit=2").await;
    assert_eq!(names(&most)[0], "Ada Lovelace", "most is said of her");
    let alone = server
        .graph(&ada, &work, &format!("/path?from={london}&to={london}"))
        .await;
    assert_eq!(names(&alone), ["London"]);
    // It is truly asked: a way that somebody else puts in is taken. But nothing is shown that the rows do not have.
    let ends = [
        ("from", Value::from(babbage.as_str())),
        ("to", Value::from(london.as_str())),
    ];
    beside
        .run(
            "MATCH (a:GlasshouseEntity {id: $from}) MATCH (b:GlasshouseEntity {id: $to}) \
             CREATE (a)-[:SAYS {kind: 'made up', document: 'x', first: 0, quote: 'made up'}]->(b) \
             CREATE (b)-[:SAYS]->(:GlasshouseEntity {id: 'stranger', collection: $collection, key: 'stranger', name: 'S'})",
            &ends,
        )
        .await;
    let way = server
        .graph(&ada, &work, &format!("/path?from={babbage}&to={london}"))
        .await;
    assert_eq!(
        (names(&way), way["relations"].as_array().unwrap().len()),
        (vec!["Charles Babbage", "London"], 0)
    );
    assert_eq!(
        names(&server.graph(&ada, &work, "/entities?query=stranger").await),
        [""; 0]
    );
    assert!(
        !server
            .graph(&ada, &work, "/subgraph")
            .await
            .to_string()
            .contains("made up")
    );
    beside
        .run(
            "MATCH (e:GlasshouseEntity {id: 'stranger', collection: $collection}) DETACH DELETE e",
            &[],
        )
        .await;
    // Whoever may not read the collection gets nothing through it.
    let bob = server.key_of_plain_user("bob@example.org").await;
    for path in ["/subgraph", "/entities?query=a", &near(1)] {
        server
            .get(&format!("{KNOWLEDGE}/{work}/graph{path}"), &bob)
            .await
            .expect(404);
    }
    let other = server.collection(&ada, "Other").await;
    server
        .get(&format!("{KNOWLEDGE}/{other}/graph{}", near(1)), &ada)
        .await
        .expect(404);
}

#[tokio::test]
async fn what_goes_leaves_no_trace_in_the_graph_database() {
    let Some(url) = real() else { return };
    let (_upstream, server, ada, work) =
        begin_with(Behaviour::answer(model), &settings(&url)).await;
    let beside = Beside::new(&url, &work);
    server
        .read_file(&ada, &work, "notes.md", TEXT.as_bytes())
        .await;
    server
        .read_file(&ada, &work, "more.txt", MORE.as_bytes())
        .await;
    server.switch_graph(&ada, &work, true).await.expect(204);
    beside.has([4, 2, 3]).await;
    let documents = server
        .get(&format!("{KNOWLEDGE}/{work}/documents"), &ada)
        .await
        .json();
    let more = documents["documents"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["name"] == "more.txt")
        .unwrap();
    let more = more["id"].as_str().unwrap().to_owned();
    server
        .delete(&format!("{KNOWLEDGE}/{work}/documents/{more}"), &ada)
        .await
        .expect(204);
    beside.has([3, 1, 2]).await;
    let left = "MATCH (:GlasshouseEntity)-[r:SAYS {document: $document}]->() RETURN count(r)";
    assert_eq!(
        beside.run(left, &[("document", Value::from(more))]).await[0][0],
        Value::Int(0)
    );
    // A file of the same name takes the place of what was said by the one before.
    server
        .read_file(&ada, &work, "notes.md", MORE.as_bytes())
        .await;
    beside.has([2, 1, 1]).await;
    server.switch_graph(&ada, &work, false).await.expect(204);
    beside.has([0, 0, 0]).await;
    server.switch_graph(&ada, &work, true).await.expect(204);
    beside.has([2, 1, 1]).await;
    server
        .delete(&format!("{KNOWLEDGE}/{work}"), &ada)
        .await
        .expect(204);
    beside.has([0, 0, 0]).await;
}

#[tokio::test]
async fn without_the_graph_database_the_rows_answer() {
    // Nothing listens there.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("bolt://{}", listener.local_addr().unwrap());
    drop(listener);
    let (_upstream, server, ada, work) =
        begin_with(Behaviour::answer(model), &settings(&url)).await;
    server
        .read_file(&ada, &work, "notes.md", TEXT.as_bytes())
        .await;
    server.switch_graph(&ada, &work, true).await.expect(204);
    server.graphed(&ada, &work).await;
    assert_eq!(
        names(&server.graph(&ada, &work, "/subgraph").await).len(),
        3
    );
    let mut state = server.graph(&ada, &work, "").await;
    until("it is said that it is away", async || {
        state = server.graph(&ada, &work, "").await;
        state["database"]["problem"] != serde_json::Value::Null
    })
    .await;
    let said = state["database"]["problem"].as_str().unwrap();
    assert_eq!(
        (said, &state["database"]["whole"]),
        (
            "The graph database cannot be used: it cannot be reached.",
            &false.into()
        )
    );
    assert_eq!(server.find(&ada, "engine").await.len(), 1);
}

/// Stands before the real one, and lets nobody through while it is shut.
async fn door(url: &str, open: Arc<AtomicBool>) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let here = format!("bolt://{}", listener.local_addr().unwrap());
    let there = url.trim_start_matches("bolt://").to_owned();
    #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
    let serving = tokio::spawn(async move {
        loop {
            let (mut from, _) = listener.accept().await.unwrap();
            if open.load(SeqCst) {
                let mut to = TcpStream::connect(&there).await.unwrap();
                let open = Arc::clone(&open);
                #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
                tokio::spawn(async move {
                    let shut = async {
                        while open.load(SeqCst) {
                            tokio::time::sleep(Duration::from_millis(20)).await;
                        }
                    };
                    tokio::select! {
                        _ = copy_bidirectional(&mut from, &mut to) => {}
                        () = shut => {}
                    }
                });
            }
        }
    });
    (here, serving)
}

#[tokio::test]
async fn a_graph_database_that_comes_back_catches_up() {
    let Some(url) = real() else { return };
    let open = Arc::new(AtomicBool::new(true));
    let (through, serving) = door(&url, Arc::clone(&open)).await;
    let (_upstream, server, ada, work) =
        begin_with(Behaviour::answer(model), &settings(&through)).await;
    let beside = Beside::new(&url, &work);
    server
        .read_file(&ada, &work, "notes.md", TEXT.as_bytes())
        .await;
    server.switch_graph(&ada, &work, true).await.expect(204);
    beside.has([3, 1, 2]).await;
    server.copied(&ada, &work).await;
    open.store(false, SeqCst);
    server
        .read_file(&ada, &work, "more.txt", MORE.as_bytes())
        .await;
    server.graphed(&ada, &work).await;
    assert_eq!(
        names(&server.graph(&ada, &work, "/subgraph").await).len(),
        4,
        "the rows answer"
    );
    until("it is said that it is away", async || {
        server.graph(&ada, &work, "").await["database"]["problem"] != serde_json::Value::Null
    })
    .await;
    open.store(true, SeqCst);
    beside.has([4, 2, 3]).await;
    server.copied(&ada, &work).await;
    assert_eq!(
        server.graph(&ada, &work, "").await["database"]["problem"],
        serde_json::Value::Null
    );
    serving.abort();
}
