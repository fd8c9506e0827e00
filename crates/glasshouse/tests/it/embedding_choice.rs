//! An administrator chooses the embedding model while the server runs: it is tried first, what there is serves meanwhile, and
//! other servers on the database follow.

use scripted::{
    Reply, Step,
    vectors::{self, vector},
};
use serde_json::{Value, json};

use crate::{
    faults::until,
    harness::{EMAIL, PASSWORD, Server},
    meanings::{EMBEDDING, Helper, begin, names, with_synonyms},
    openai::connect,
    restart::{Kept, stop},
};

const PATH: &str = "/api/v1/embedding";

impl Server {
    async fn choose_embedding(&self, who: &str, choice: Value) -> Value {
        let answer = self.put(PATH, who, &choice).await;
        answer.expect(200);
        answer.json()
    }

    async fn embedding(&self, who: &str) -> Value {
        self.get(PATH, who).await.json()
    }

    async fn is_found_by_meaning(&self, who: &str) -> bool {
        self.answer(who, "sea elephant").await["results"][0]["scores"]["meaning"].is_number()
    }
}

/// Its vectors are shorter than those of the model before.
fn shorter(request: &scripted::Request) -> Reply {
    vectors::embeddings_with(request, |text| {
        vector(&text.to_lowercase().replace("walrus", "sea elephant"))[..32].to_vec()
    })
}

#[tokio::test]
async fn another_model_embeds_anew_while_the_old_vectors_serve() {
    let (helper, server, ada, work) = begin(&[]).await;
    server
        .read_file(&ada, &work, "a.txt", b"The walrus swims far.")
        .await;
    server.embedded(&ada, &work).await;
    let state = server.embedding(&ada).await;
    assert_eq!(
        (&state["model"], &state["configured"]),
        (&json!("embedder"), &json!("embedder"))
    );
    assert_eq!(
        (&state["is_chosen"], &state["query_prefix"]),
        (&json!(false), &json!("query:"))
    );
    let progress = json!({"documents": 1, "whole": 1, "failed": 0, "pieces": 1, "done": 1});
    assert_eq!(state["progress"], progress);
    let length = vector("walrus").len();
    assert_eq!(
        (&state["dimensions"], &state["earlier"]),
        (&json!(length), &json!([]))
    );
    assert!(server.is_found_by_meaning(&ada).await);

    helper.embed_with(|request| match request.body["model"].as_str() {
        Some("other") => Reply::error(503, "Loading."),
        _ => with_synonyms(request),
    });
    let chosen = server
        .choose_embedding(&ada, json!({"model": "other", "passage_prefix": "p: "}))
        .await;
    assert_eq!(
        (&chosen["model"], &chosen["is_chosen"]),
        (&json!("other"), &json!(true))
    );
    assert_eq!(
        (&chosen["progress"]["whole"], &chosen["dimensions"]),
        (&json!(0), &Value::Null)
    );
    assert_eq!(
        chosen["earlier"],
        json!([{"model": "embedder", "documents": 1}])
    );
    until("the failure is told", async || {
        server.embedding(&ada).await["problem"]["message"]
            .as_str()
            .is_some_and(|said| said.contains("Loading"))
    })
    .await;
    assert!(server.is_found_by_meaning(&ada).await, "the old one serves");

    helper.embed_with(shorter);
    server.clock.advance_ms(3_600_000);
    // What keeps it waiting is not waited for where another model is chosen.
    let state = server
        .choose_embedding(&ada, json!({"model": "other", "passage_prefix": "q: "}))
        .await;
    assert_eq!(
        state["problem"],
        Value::Null,
        "what was known of another space is forgotten"
    );
    until("the new one serves", async || {
        server.embedding(&ada).await["progress"]["whole"] == 1
    })
    .await;
    assert_eq!(server.embedding(&ada).await["dimensions"], 32);
    until("it is asked", async || {
        let asked = helper.server.requests();
        let is_question =
            |body: &Value| body["model"] == "other" && body["input"][0] == "sea elephant";
        server.is_found_by_meaning(&ada).await && asked.iter().any(is_question)
    })
    .await;

    // None: words alone, and no document says how far it is.
    let state = server.choose_embedding(&ada, json!({"model": ""})).await;
    assert_eq!(
        (&state["model"], &state["is_chosen"]),
        (&Value::Null, &json!(true))
    );
    let answer = server.answer(&ada, "walrus").await;
    assert_eq!(
        (names(&answer), &answer["notes"]),
        (vec!["a.txt"], &json!([]))
    );
    assert!(answer["results"][0]["scores"]["meaning"].is_null());
    assert!(server.documents(&ada, &work).await[0]["meaning"].is_null());

    helper.embed_with(with_synonyms);
    // As configured again, without a passage that is asked for twice.
    let before = helper.server.requests().len();
    let state = server.choose_embedding(&ada, json!({"model": null})).await;
    assert_eq!(
        (&state["model"], &state["is_chosen"]),
        (&json!("embedder"), &json!(false))
    );
    assert_eq!(state["progress"]["whole"], 1);
    until("its vectors serve again", async || {
        server.is_found_by_meaning(&ada).await
    })
    .await;
    let asked = helper.server.requests()[before..].to_vec();
    assert!(
        asked
            .iter()
            .all(|body| body["input"] == json!(["query:sea elephant"])),
        "{asked:?}"
    );
}

#[tokio::test]
async fn a_model_is_tried_before_it_is_chosen() {
    let (helper, server, ada, _) = begin(&[]).await;
    let path = format!("{PATH}/test");
    let tried = async |choice: Value| {
        let answer = server.post(&path, &ada, &choice).await;
        answer.expect(200);
        answer.json()
    };
    let good = tried(json!({"model": "other", "passage_prefix": "p: "})).await;
    assert_eq!(
        (&good["dimensions"], &good["problem"]),
        (&json!(vector("x").len()), &Value::Null)
    );
    assert!(good["took_ms"].is_u64());
    let sent = helper.server.requests().last().unwrap()["input"][0]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(sent.starts_with("p: The walrus"), "{sent}");
    let zero = Reply::json(&json!({"data": [{"embedding": [0.0, 0.0]}]}));
    for (reply, words) in [
        (Reply::error(404, "No such endpoint."), "No such endpoint"),
        (zero, "no direction"),
        (Reply::html(), "no list of vectors"),
        (
            Reply::stream(&[Step::Flood {
                size_bytes: 70 << 20,
            }]),
            "larger than 64 MB",
        ),
    ] {
        helper.embed_with(move |_| reply.clone());
        let bad = tried(json!({"model": "other"})).await;
        let problem = bad["problem"]["message"].as_str().unwrap();
        assert!(
            bad["dimensions"].is_null() && problem.contains(words),
            "{bad}"
        );
    }
    let built_in = tried(json!({"model": "built-in"})).await;
    assert!(
        built_in["dimensions"] == 384 || built_in["problem"]["message"].is_string(),
        "{built_in}"
    );
    for bad in [
        json!({"model": "nobody"}),
        json!({"model": ""}),
        json!({"model": "other", "query_prefix": "x".repeat(1001)}),
        json!({"model": "other", "passage_prefix": "\0"}),
    ] {
        server.post(&path, &ada, &bad).await.expect(400);
        if bad["model"] != "" {
            server.put(PATH, &ada, &bad).await.expect(400);
        }
    }
    assert_eq!(
        server.embedding(&ada).await["is_chosen"],
        false,
        "nothing of it is kept"
    );
}

#[tokio::test]
async fn what_was_chosen_holds_after_a_restart() {
    let helper = Helper::start().await;
    let kept = Kept::new();
    {
        let server = kept.start().await;
        let ada = server.set_up().await;
        connect(&server, &ada, "Up", &helper.server.base_url()).await;
        let work = server.collection(&ada, "Work").await;
        server
            .read_file(&ada, &work, "a.txt", b"The walrus swims far.")
            .await;
        assert_eq!(server.embedding(&ada).await["model"], Value::Null);
        server
            .choose_embedding(&ada, json!({"model": "embedder"}))
            .await;
        until("it is embedded", async || {
            server.is_found_by_meaning(&ada).await
        })
        .await;
        stop(&server).await;
    }
    // The choice goes before the configuration.
    let server = kept.start_with(&EMBEDDING).await;
    let login = json!({"email": EMAIL, "password": PASSWORD});
    let ada = server.post("/api/v1/login", "", &login).await.cookie();
    let state = server.embedding(&ada).await;
    assert_eq!(
        (&state["is_chosen"], &state["query_prefix"]),
        (&json!(true), &json!(""))
    );
    assert_eq!(state["progress"]["whole"], 1);
    assert!(server.is_found_by_meaning(&ada).await);
}

#[tokio::test]
async fn collections_that_are_embedded_are_compared_while_others_wait() {
    let (helper, server, ada, work) = begin(&[]).await;
    server
        .read_file(&ada, &work, "a.txt", b"The walrus swims far.")
        .await;
    server.embedded(&ada, &work).await;
    server.choose_embedding(&ada, json!({"model": ""})).await;
    assert!(!server.is_found_by_meaning(&ada).await);

    // Of the documents that come next, the second waits for an answer that does not come.
    helper.embed_with(|request| match request.body["input"].to_string() {
        texts if texts.contains("never") => Reply::stream(&[Step::Silence]),
        _ => with_synonyms(request),
    });
    let more = server.collection(&ada, "More").await;
    for (name, text) in [("b.txt", "at once"), ("c.txt", "never")] {
        server.read_file(&ada, &more, name, text.as_bytes()).await;
    }
    let answer = server.answer(&ada, "sea elephant").await;
    assert_eq!(answer["notes"], json!([]), "no model is chosen");
    server.choose_embedding(&ada, json!({"model": null})).await;
    until("the embedded collection is compared", async || {
        server.is_found_by_meaning(&ada).await
    })
    .await;
    let waiting = server.documents(&ada, &more).await;
    let is_waiting = |one: &&Value| one["meaning"]["done"] != one["chunks"];
    assert_eq!(waiting.iter().filter(is_waiting).count(), 1, "{waiting:?}");
}
