//! Meanings beside words: documents are embedded in the background, questions when they are asked, and what a model server
//! does wrong is told and costs nothing else.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use scripted::{
    Behaviour, Reply, Request, ScriptedServer, ServerOptions, Step,
    vectors::{self, vector},
};
use serde_json::{Value, json};

use crate::{
    faults::until,
    harness::{EMAIL, PASSWORD, Server},
    knowledge::KNOWLEDGE,
    openai::{ask, connect},
    restart::{Kept, stop},
};

type Choose = Arc<dyn Fn(&Request) -> Reply + Send + Sync>;

/// A model server whose ways change in the middle.
pub(crate) struct Helper {
    pub(crate) server: ScriptedServer,
    embeddings: Arc<Mutex<Choose>>,
    rerank: Arc<Mutex<Choose>>,
}

impl Helper {
    pub(crate) async fn start() -> Self {
        let changing = |choose: Choose| Arc::new(Mutex::new(choose));
        let embeddings = changing(Arc::new(with_synonyms));
        let rerank = changing(Arc::new(vectors::rerank));
        let behaviour = |choose: &Arc<Mutex<Choose>>| {
            let choose = Arc::clone(choose);
            Behaviour::answer(move |request| {
                let choose = choose.lock().unwrap().clone();
                choose(request)
            })
        };
        let options = ServerOptions {
            models: ["chat", "embedder", "other", "reranker"]
                .map(str::to_owned)
                .to_vec(),
            embeddings: Some(behaviour(&embeddings)),
            rerank: Some(behaviour(&rerank)),
            ..ServerOptions::default()
        };
        let chat = Behaviour::answer(|request| {
            let heard = request.body["messages"].to_string();
            match heard.contains("Passages") || heard.contains("tool_call") {
                true => Reply::text("Found."),
                false => Reply::calls(&[("search_knowledge", json!({"query": "sea elephant"}))]),
            }
        });
        Self {
            server: ScriptedServer::start_with(chat, options).await.unwrap(),
            embeddings,
            rerank,
        }
    }

    pub(crate) fn embed_with(&self, choose: impl Fn(&Request) -> Reply + Send + Sync + 'static) {
        *self.embeddings.lock().unwrap() = Arc::new(choose);
    }

    fn rerank_with(&self, choose: impl Fn(&Request) -> Reply + Send + Sync + 'static) {
        *self.rerank.lock().unwrap() = Arc::new(choose);
    }

    /// All texts that vectors were asked for.
    fn embedded(&self) -> Vec<String> {
        let texts = |body: &Value| body["input"].as_array().cloned().unwrap_or_default();
        let all = self.server.requests();
        all.iter()
            .flat_map(texts)
            .map(|text| text.as_str().unwrap().to_owned())
            .collect()
    }
}

/// Knows that a walrus is a sea elephant.
pub(crate) fn with_synonyms(request: &Request) -> Reply {
    vectors::embeddings_with(request, |text| {
        vector(&text.to_lowercase().replace("walrus", "sea elephant"))
    })
}

pub(crate) const EMBEDDING: [(&str, &str); 4] = [
    ("GLASSHOUSE_KNOWLEDGE_EMBEDDING_MODEL", "embedder"),
    // In the environment blanks at the ends do not count.
    ("GLASSHOUSE_KNOWLEDGE_QUERY_PREFIX", "query:"),
    ("GLASSHOUSE_KNOWLEDGE_PASSAGE_PREFIX", "passage:"),
    ("GLASSHOUSE_KNOWLEDGE_EMBEDDING_SECONDS", "1"),
];

pub(crate) async fn begin(more: &[(&str, &str)]) -> (Helper, Server, String, String) {
    let helper = Helper::start().await;
    let server = Server::start_with(&[&EMBEDDING, more].concat()).await;
    let ada = server.set_up().await;
    connect(&server, &ada, "Up", &helper.server.base_url()).await;
    let work = server.collection(&ada, "Work").await;
    (helper, server, ada, work)
}

impl Server {
    pub(crate) async fn documents(&self, who: &str, collection: &str) -> Vec<Value> {
        let all = self
            .get(&format!("{KNOWLEDGE}/{collection}/documents"), who)
            .await
            .json();
        all["documents"].as_array().unwrap().clone()
    }

    /// Waits until all its documents are embedded.
    pub(crate) async fn embedded(&self, who: &str, collection: &str) {
        until("all documents are embedded", async || {
            let all = self.documents(who, collection).await;
            all.iter()
                .all(|one| one["chunks"] == one["meaning"]["done"])
        })
        .await;
    }

    pub(crate) async fn answer(&self, who: &str, query: &str) -> Value {
        let found = self
            .post(
                &format!("{KNOWLEDGE}/search"),
                who,
                &json!({ "query": query }),
            )
            .await;
        found.expect(200);
        found.json()
    }
}

pub(crate) fn names(answer: &Value) -> Vec<&str> {
    answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn what_means_the_same_is_found_by_people_and_agents() {
    let (helper, server, ada, work) = begin(&[]).await;
    server
        .read_file(&ada, &work, "a.txt", b"The walrus swims far.")
        .await;
    server
        .read_file(&ada, &work, "b.txt", b"Bread needs flour and time.")
        .await;
    server.embedded(&ada, &work).await;
    let passages = helper.embedded();
    assert!(
        passages.contains(&"passage:a.txt\nThe walrus swims far.".to_owned()),
        "{passages:?}"
    );
    let answer = server.answer(&ada, "sea elephant").await;
    assert_eq!(answer["notes"], json!([]));
    assert_eq!(names(&answer)[0], "a.txt");
    let scores = &answer["results"][0]["scores"];
    assert!(
        scores["meaning"].as_f64().unwrap() > 0.3 && scores["words"] == 0.0,
        "{scores}"
    );
    assert!(scores["rerank"].is_null());
    assert!(helper.embedded().contains(&"query:sea elephant".to_owned()));
    // What the server counted is on the account of whose documents and whose question it is.
    server.app.usage.write_down().await.unwrap();
    let used = server.get("/api/v1/usage?by=model", &ada).await;
    assert!(used.text.contains("embedder"), "{}", used.text);

    let answered = server
        .post(
            "/v1/chat/completions",
            &ada,
            &ask("glasshouse/agent", "Which?"),
        )
        .await;
    answered.expect(200);
    let heard = helper
        .server
        .requests()
        .iter()
        .map(Value::to_string)
        .collect::<String>();
    assert!(heard.contains("[a.txt in Work"), "{heard}");

    // Another file under the name is embedded anew, and what is deleted leaves nothing.
    server.read_file(&ada, &work, "a.txt", b"Ships sail.").await;
    server.embedded(&ada, &work).await;
    let answer = server.answer(&ada, "ships sail").await;
    let best = &answer["results"][0];
    assert_eq!(best["name"], "a.txt");
    assert!(
        best["scores"]["meaning"].as_f64().unwrap() > 0.5,
        "{answer}"
    );
    for document in server.documents(&ada, &work).await {
        let path = format!(
            "{KNOWLEDGE}/{work}/documents/{}",
            document["id"].as_str().unwrap()
        );
        server.delete(&path, &ada).await.expect(204);
    }
    assert!(
        server
            .app
            .store
            .embeddings(work.parse().unwrap())
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(server.answer(&ada, "ships").await["results"], json!([]));
}

#[tokio::test]
async fn a_model_that_fails_is_told_and_words_serve() {
    let (helper, server, ada, work) = begin(&[]).await;
    let huge = Reply::stream(&[Step::Flood {
        size_bytes: 70 << 20,
    }]);
    let one = |embedding: &str| {
        Reply::status(
            200,
            &[("content-type", "application/json")],
            &format!(r#"{{"data":[{{"embedding":{embedding}}}]}}"#),
        )
    };
    let faults = [
        (Reply::error(500, "Out of memory."), "Out of memory"),
        (Reply::json(&json!({"data": []})), "0 vectors for 1 texts"),
        (one("[NaN, 1]"), "no list of vectors"),
        (one("[1e39, 1]"), "no list of vectors"),
        (one("[]"), "lengths"),
        (Reply::html(), "no list of vectors"),
        (huge, "larger than 64 MB"),
        (Reply::close(), "."),
    ];
    server.read_file(&ada, &work, "z.txt", b"Flour.").await;
    server.embedded(&ada, &work).await;
    for (number, (reply, words)) in faults.into_iter().enumerate() {
        helper.embed_with(move |_| reply.clone());
        let name = format!("{number}.txt");
        server
            .read_file(
                &ada,
                &work,
                &name,
                format!("A walrus, number {number}.").as_bytes(),
            )
            .await;
        let mut last = Value::Null;
        until("the failure is told", async || {
            let all = server.documents(&ada, &work).await;
            last = all.iter().find(|one| one["name"] == name.as_str()).unwrap()["meaning"].clone();
            last["problem"]["message"]
                .as_str()
                .is_some_and(|message| message.contains(words))
        })
        .await;
        assert_eq!(last["done"], 0, "{last}");
        let answer = server.answer(&ada, &format!("walrus {number}")).await;
        assert_eq!(names(&answer)[0], name, "{answer}");
        assert_eq!(answer["notes"][0]["code"], "no_meaning", "{answer}");
        helper.embed_with(with_synonyms);
        server.clock.advance_ms(3_600_000);
        server.embedded(&ada, &work).await;
    }
}

#[tokio::test]
async fn a_late_model_holds_no_search_up() {
    let (helper, server, ada, work) = begin(&[]).await;
    server
        .read_file(&ada, &work, "a.txt", b"The walrus swims far.")
        .await;
    server.embedded(&ada, &work).await;
    helper.embed_with(|_| Reply::stream(&[Step::Silence]));
    for _ in 0..3 {
        // The first waits a second, the others not at all.
        let answer = tokio::time::timeout(Duration::from_secs(3), server.answer(&ada, "walrus"))
            .await
            .unwrap();
        assert_eq!(names(&answer), ["a.txt"]);
        assert!(
            answer["notes"][0]["message"]
                .as_str()
                .unwrap()
                .contains("within 1 s"),
            "{answer}"
        );
        assert!(answer["results"][0]["scores"]["meaning"].is_null());
    }
    helper.embed_with(with_synonyms);
    until("meanings are back", async || {
        let answer = server.answer(&ada, "walrus").await;
        answer["results"][0]["scores"]["meaning"].is_number() && answer["notes"] == json!([])
    })
    .await;
}

#[tokio::test]
async fn passages_that_are_too_long_for_the_model_are_shortened() {
    let (helper, server, ada, work) = begin(&[("GLASSHOUSE_KNOWLEDGE_EMBEDDING_BATCH", "4")]).await;
    helper.embed_with(|request| {
        let texts = request.body["input"].as_array().unwrap();
        let is_long = texts
            .iter()
            .any(|text| text.as_str().unwrap().chars().count() > 500);
        if is_long {
            Reply::error(400, "The input is too long.")
        } else {
            with_synonyms(request)
        }
    });
    let text = "The walrus swims far and sleeps on the ice. ".repeat(120);
    let read = server
        .read_file(&ada, &work, "a.txt", text.as_bytes())
        .await;
    assert!(read["chunks"].as_u64().unwrap() > 4, "{read}");
    server.embedded(&ada, &work).await;
    let found = server.answer(&ada, "sea elephant").await;
    assert!(
        found["results"][0]["scores"]["meaning"].as_f64().unwrap() > 0.2,
        "{found}"
    );
}

#[tokio::test]
async fn embedding_goes_on_after_a_restart_and_with_another_model() {
    let helper = Helper::start().await;
    let kept = Kept::new();
    let batch = [("GLASSHOUSE_KNOWLEDGE_EMBEDDING_BATCH", "2")];
    let part = |n| {
        format!(
            "# Part {n}\n\n{}\n\n",
            format!("The walrus swims {n}. ").repeat(30)
        )
    };
    let text = (0..10).map(part).collect::<String>();
    let (work, before) = {
        let server = kept.start_with(&[&EMBEDDING[..], &batch].concat()).await;
        let ada = server.set_up().await;
        connect(&server, &ada, "Up", &helper.server.base_url()).await;
        let work = server.collection(&ada, "Work").await;
        let asked = Arc::new(Mutex::new(0));
        helper.embed_with(move |request| {
            *asked.lock().unwrap() += 1;
            if *asked.lock().unwrap() > 2 {
                Reply::stream(&[Step::Silence])
            } else {
                with_synonyms(request)
            }
        });
        server.read_file(&ada, &work, "a.md", text.as_bytes()).await;
        until("it waits in the middle", async || {
            server.documents(&ada, &work).await[0]["meaning"]["done"] == 4
        })
        .await;
        stop(&server).await;
        (work, helper.embedded().len())
    };
    helper.embed_with(with_synonyms);
    // As if the claim of the server before had run out: the clock of the tests stands still.
    kept.execute("UPDATE document_embeddings SET due_at = 0")
        .await;
    let login = json!({"email": EMAIL, "password": PASSWORD});
    {
        let server = kept.start_with(&[&EMBEDDING[..], &batch].concat()).await;
        let ada = server.post("/api/v1/login", "", &login).await.cookie();
        server.embedded(&ada, &work).await;
        let chunks = server.documents(&ada, &work).await[0]["chunks"]
            .as_u64()
            .unwrap();
        // Four were done, and two were asked for when it stopped.
        assert_eq!(helper.embedded().len() as u64, chunks + 2, "{before}");
        assert!(
            server.answer(&ada, "sea elephant").await["results"][0]["scores"]["meaning"]
                .is_number()
        );
        stop(&server).await;
    }
    // Another model: the vectors of the first serve until it has its own.
    let other = [
        ("GLASSHOUSE_KNOWLEDGE_EMBEDDING_MODEL", "other"),
        EMBEDDING[1],
        EMBEDDING[2],
        EMBEDDING[3],
    ];
    helper.embed_with(|request| match request.body["model"].as_str() {
        Some("other")
            if request.body["input"][0]
                .as_str()
                .unwrap()
                .starts_with("passage") =>
        {
            Reply::error(503, "Loading.")
        }
        Some("other") => vectors::embeddings_with(request, |text| vector(text)[..32].to_vec()),
        _ => with_synonyms(request),
    });
    let server = kept.start_with(&other).await;
    let ada = server.post("/api/v1/login", "", &login).await.cookie();
    let asked = |model: &str| {
        let all = helper.server.requests();
        let of_model = all.iter().filter(|body| body["model"] == model);
        of_model
            .filter(|body| {
                body["input"][0]
                    .as_str()
                    .is_some_and(|text| text.starts_with("query"))
            })
            .count()
    };
    let before = asked("embedder");
    assert!(
        server.answer(&ada, "sea elephant").await["results"][0]["scores"]["meaning"].is_number()
    );
    assert_eq!(
        (asked("embedder"), asked("other")),
        (before + 1, 0),
        "the old one serves"
    );
    helper.embed_with(|request| {
        vectors::embeddings_with(request, |text| vector(text)[..32].to_vec())
    });
    server.clock.advance_ms(3_600_000);
    server.embedded(&ada, &work).await;
    until("the new one serves", async || {
        let answer = server.answer(&ada, "walrus").await;
        asked("other") > 0 && answer["results"][0]["scores"]["meaning"].is_number()
    })
    .await;
    stop(&server).await;
    drop(server);
    // Without a model, an hour after the last server had one, nothing of them is kept.
    kept.execute("UPDATE embedding_spaces SET used_at = used_at - 3600001")
        .await;
    let server = kept
        .start_with(&[("GLASSHOUSE_KNOWLEDGE_EMBEDDING_MODEL", "")])
        .await;
    let store = &server.app.store;
    until("its vectors are let go of", async || {
        store.embedding_spaces().await.unwrap().is_empty()
    })
    .await;
    assert!(
        store
            .embeddings(work.parse().unwrap())
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn the_best_are_looked_at_once_more() {
    let more = [
        ("GLASSHOUSE_KNOWLEDGE_RERANK_MODEL", "reranker"),
        ("GLASSHOUSE_KNOWLEDGE_RERANK_SECONDS", "1"),
        ("GLASSHOUSE_KNOWLEDGE_EMBEDDING_MODEL", ""),
    ];
    let (helper, server, ada, work) = begin(&more).await;
    server
        .read_file(
            &ada,
            &work,
            "a.txt",
            b"walrus walrus walrus and much more of other things",
        )
        .await;
    server.read_file(&ada, &work, "b.txt", b"The walrus").await;
    assert!(server.documents(&ada, &work).await[0]["meaning"].is_null());
    let answer = server.answer(&ada, "the walrus").await;
    assert_eq!(
        (names(&answer), &answer["notes"]),
        (vec!["b.txt", "a.txt"], &json!([]))
    );
    assert_eq!(answer["results"][0]["scores"]["rerank"], 1.0);
    helper.rerank_with(|_| {
        Reply::json(
            &json!({"results": [{"index": 0, "relevance_score": 2}, {"index": 1, "relevance_score": 5}]}),
        )
    });
    let turned = server.answer(&ada, "the walrus").await;
    assert_eq!(turned["results"][0]["scores"]["rerank"], 5.0);
    for reply in [
        Reply::error(500, "No."),
        Reply::json(&json!({"results": [{"index": 7, "relevance_score": 1}]})),
        Reply::json(&json!({"results": []})),
        Reply::stream(&[Step::Silence]),
        Reply::close(),
    ] {
        helper.rerank_with(move |_| reply.clone());
        let answer = server.answer(&ada, "the walrus").await;
        assert_eq!(names(&answer).len(), 2);
        assert!(answer["results"][0]["scores"]["rerank"].is_null());
        assert_eq!(answer["notes"][0]["code"], "no_rerank", "{answer}");
    }
}

#[tokio::test]
async fn a_model_that_is_not_there_is_told() {
    let helper = Helper::start().await;
    let server = Server::start_with(&EMBEDDING).await;
    let ada = server.set_up().await;
    let work = server.collection(&ada, "Work").await;
    server
        .read_file(&ada, &work, "a.txt", b"The walrus swims far.")
        .await;
    until("it is told", async || {
        let all = server.documents(&ada, &work).await;
        all[0]["meaning"]["problem"]["message"]
            .as_str()
            .is_some_and(|said| said.contains("“embedder”"))
    })
    .await;
    assert_eq!(names(&server.answer(&ada, "walrus").await), ["a.txt"]);
    connect(&server, &ada, "Up", &helper.server.base_url()).await;
    server.clock.advance_ms(3_600_000);
    server.embedded(&ada, &work).await;
}

#[tokio::test]
async fn collections_are_searched_where_no_memory_is_left() {
    let server = Server::start_with(&[("GLASSHOUSE_KNOWLEDGE_MEMORY_MB", "0")]).await;
    let ada = server.set_up().await;
    for name in ["One", "Two"] {
        let collection = server.collection(&ada, name).await;
        server
            .read_file(&ada, &collection, "a.txt", b"The walrus swims far.")
            .await;
    }
    for _ in 0..3 {
        assert_eq!(names(&server.answer(&ada, "walrus").await).len(), 2);
    }
}
