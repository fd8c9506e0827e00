//! Vectors that a Qdrant compares: meanings are found there, nothing of anybody else's is, what goes leaves nothing, and words
//! answer while it is away.

use scripted::vectors;
use serde_json::{Value, json};

use crate::{
    fake_qdrant::{FakeQdrant, KEY},
    faults::until,
    harness::{EMAIL, PASSWORD, Server},
    knowledge::KNOWLEDGE,
    meanings::{EMBEDDING, Helper, begin, names},
    openai::connect,
    restart::{Kept, stop},
};

async fn begin_with(qdrant: &FakeQdrant) -> (Helper, Server, String, String) {
    begin(&settings(qdrant)).await
}

fn settings(qdrant: &FakeQdrant) -> [(&str, &str); 2] {
    [
        ("GLASSHOUSE_KNOWLEDGE_QDRANT_URL", &qdrant.url),
        ("GLASSHOUSE_KNOWLEDGE_QDRANT_KEY", KEY),
    ]
}

impl FakeQdrant {
    async fn has(&self, points: &[usize]) {
        until(&format!("there are {points:?} points"), async || {
            self.points() == points
        })
        .await;
    }
}

impl Server {
    /// Waits until the best of what is found is so for what it means.
    pub(crate) async fn finds(&self, who: &str, query: &str, name: &str) {
        until("it is found by its meaning", async || {
            let answer = self.answer(who, query).await;
            answer["notes"] == json!([])
                && names(&answer).first() == Some(&name)
                && answer["results"][0]["scores"]["meaning"].is_number()
        })
        .await;
    }
}

#[tokio::test]
async fn meanings_are_found_in_a_qdrant_and_leave_it_with_their_documents() {
    let qdrant = FakeQdrant::start().await;
    let (_helper, server, ada, work) = begin_with(&qdrant).await;
    server
        .read_file(&ada, &work, "a.txt", b"The walrus swims far.")
        .await;
    server
        .read_file(&ada, &work, "b.txt", b"Bread needs flour and time.")
        .await;
    qdrant.has(&[2]).await;
    server.finds(&ada, "sea elephant", "a.txt").await;
    let answer = server.answer(&ada, "sea elephant").await;
    let scores = &answer["results"][0]["scores"];
    assert!(
        scores["meaning"].as_f64().unwrap() > 0.3 && scores["words"] == 0.0,
        "{scores}"
    );
    // It is told where passages are, and nothing of what they say or are called.
    let told: String = qdrant
        .kept()
        .asked
        .iter()
        .map(|(_, sent)| sent.to_string())
        .collect();
    for secret in ["walrus", "flour", "elephant", "a.txt", "Work"] {
        assert!(!told.contains(secret), "{secret}");
    }
    // Another text under the name takes the place of the one before.
    server.read_file(&ada, &work, "a.txt", b"Ships sail.").await;
    server.finds(&ada, "ships", "a.txt").await;
    qdrant.has(&[2]).await;
    let documents = server.documents(&ada, &work).await;
    let bread = documents.iter().find(|one| one["name"] == "b.txt").unwrap();
    let path = format!(
        "{KNOWLEDGE}/{work}/documents/{}",
        bread["id"].as_str().unwrap()
    );
    server.delete(&path, &ada).await.expect(204);
    qdrant.has(&[1]).await;
    server
        .delete(&format!("{KNOWLEDGE}/{work}"), &ada)
        .await
        .expect(204);
    qdrant.has(&[0]).await;
}

#[tokio::test]
async fn a_qdrant_is_asked_for_documents_that_the_reader_may_read() {
    let qdrant = FakeQdrant::start().await;
    let (_helper, server, ada, work) = begin_with(&qdrant).await;
    let bob = server.key_of_plain_user("bob@example.org").await;
    let mut ids = Vec::new();
    for (name, text) in [
        ("a.txt", "The walrus swims far."),
        ("b.txt", "Bread needs flour and time."),
    ] {
        let read = server.read_file(&ada, &work, name, text.as_bytes()).await;
        ids.push(read["id"].as_str().unwrap().to_owned());
    }
    let sharing = json!({"open": true, "groups": [], "people": []});
    let path = format!("{KNOWLEDGE}/{work}/sharing");
    server.put(&path, &ada, &sharing).await.expect(204);
    qdrant.has(&[2]).await;
    server.finds(&bob, "sea elephant", "a.txt").await;

    let readers = store::DocumentReaders::default();
    let hidden = ids[0].parse().unwrap();
    let restricted = server.app.store.restrict_document(hidden, Some(&readers));
    restricted.await.unwrap();
    let before = qdrant.kept().asked.len();
    let answer = server.answer(&bob, "sea elephant").await;
    assert!(!names(&answer).contains(&"a.txt"), "{answer}");
    let asked: String = qdrant.kept().asked[before..]
        .iter()
        .map(|(_, sent)| sent.to_string())
        .collect();
    assert!(
        asked.contains(&ids[1]) && !asked.contains(&ids[0]),
        "{asked}"
    );
    assert!(
        !asked.contains(&work),
        "not in the whole collection: {asked}"
    );
    server.finds(&ada, "sea elephant", "a.txt").await;
}

#[tokio::test]
async fn nobody_finds_what_is_anothers_in_a_qdrant() {
    let qdrant = FakeQdrant::start().await;
    let (_helper, server, ada, work) = begin_with(&qdrant).await;
    let bob = server.key_of_plain_user("bob@example.org").await;
    server
        .read_file(&ada, &work, "a.txt", b"The walrus swims far.")
        .await;
    let own = server.collection(&bob, "Own").await;
    server
        .read_file(&bob, &own, "b.txt", b"Bread needs flour and time.")
        .await;
    qdrant.has(&[2]).await;
    server.finds(&ada, "sea elephant", "a.txt").await;
    server.finds(&bob, "flour", "b.txt").await;
    assert_eq!(names(&server.answer(&bob, "sea elephant").await), ["b.txt"]);
    // Even one that gives more than it was asked for, or makes something up, brings in nothing.
    for collection in qdrant.kept().collections.values_mut() {
        let stranger = collection.points.values().next().unwrap().clone();
        for (_, payload) in collection.points.values_mut() {
            payload["collection"] = json!(own);
        }
        for (number, text) in ["", "x", "x:1", "00000000-0000-0000-0000-000000000000:1"]
            .iter()
            .enumerate()
        {
            let (vector, mut payload) = stranger.clone();
            payload["collection"] = json!(own);
            payload["text"] = json!(text);
            collection.points.insert(
                format!("00000000-0000-0000-0000-00000000000{number}"),
                (vector, payload),
            );
        }
    }
    let answer = server.answer(&bob, "sea elephant").await;
    assert_eq!(
        (names(&answer), &answer["notes"]),
        (vec!["b.txt"], &json!([]))
    );
}

#[tokio::test]
async fn words_answer_while_a_qdrant_is_away() {
    let qdrant = FakeQdrant::start().await;
    qdrant.kept().is_away = true;
    let (_helper, server, ada, work) = begin_with(&qdrant).await;
    server
        .read_file(&ada, &work, "a.txt", b"The walrus swims far.")
        .await;
    server.embedded(&ada, &work).await;
    let answer = server.answer(&ada, "walrus").await;
    assert_eq!(names(&answer), ["a.txt"]);
    assert_eq!(answer["notes"][0]["code"], "no_vectors");
    let said = answer["notes"][0]["message"].as_str().unwrap();
    assert_eq!(
        said,
        "Only keywords were compared, not meanings: Qdrant does not help: it answered with HTTP 503."
    );
    qdrant.kept().is_away = false;
    server.finds(&ada, "sea elephant", "a.txt").await;
    // What it has lost comes back.
    qdrant.kept().collections.clear();
    assert_eq!(names(&server.answer(&ada, "walrus").await), ["a.txt"]);
    qdrant.has(&[1]).await;
    server.finds(&ada, "sea elephant", "a.txt").await;
}

#[tokio::test]
async fn a_key_that_does_not_fit_is_told_of() {
    let qdrant = FakeQdrant::start().await;
    let wrong = [("GLASSHOUSE_KNOWLEDGE_QDRANT_URL", qdrant.url.as_str())];
    let (_helper, server, ada, work) = begin(&wrong).await;
    server
        .read_file(&ada, &work, "a.txt", b"The walrus swims far.")
        .await;
    server.embedded(&ada, &work).await;
    let answer = server.answer(&ada, "walrus").await;
    assert!(
        answer["notes"][0]["message"]
            .as_str()
            .unwrap()
            .contains("knowledge.qdrant_key"),
        "{answer}"
    );
}

#[tokio::test]
async fn another_model_takes_over_once_its_vectors_are_there() {
    let qdrant = FakeQdrant::start().await;
    let helper = Helper::start().await;
    let kept = Kept::new();
    let with = |model: &'static str| {
        let mut all = EMBEDDING.to_vec();
        all[0].1 = model;
        all.extend(settings(&qdrant));
        all
    };
    let work = {
        let server = kept.start_with(&with("embedder")).await;
        let ada = server.set_up().await;
        connect(&server, &ada, "Up", &helper.server.base_url()).await;
        let work = server.collection(&ada, "Work").await;
        server
            .read_file(&ada, &work, "a.txt", b"The walrus swims far.")
            .await;
        server.finds(&ada, "sea elephant", "a.txt").await;
        stop(&server).await;
        work
    };
    // The other one cannot embed yet: the first one's vectors serve.
    helper.embed_with(|request| match request.body["model"].as_str() {
        Some("other") => scripted::Reply::error(503, "Loading."),
        _ => crate::meanings::with_synonyms(request),
    });
    let server = kept.start_with(&with("other")).await;
    let ada = server
        .post(
            "/api/v1/login",
            "",
            &json!({"email": EMAIL, "password": PASSWORD}),
        )
        .await
        .cookie();
    server.finds(&ada, "sea elephant", "a.txt").await;
    // Vectors of another length are another collection there.
    helper.embed_with(|request| {
        vectors::embeddings_with(request, |text| vectors::vector(text)[..32].to_vec())
    });
    server.clock.advance_ms(3_600_001);
    server.embedded(&ada, &work).await;
    let asked_other = || {
        let all = helper.server.requests();
        all.iter()
            .any(|body: &Value| body["model"] == "other" && body["input"][0] == "query:walrus")
    };
    until("the new one serves", async || {
        let answer = server.answer(&ada, "walrus").await;
        asked_other() && answer["results"][0]["scores"]["meaning"].is_number()
    })
    .await;
    until("what the first one made is gone", async || {
        let kept = qdrant.kept();
        let left: Vec<_> = kept
            .collections
            .values()
            .map(|one| (one.size, one.points.len()))
            .collect();
        left == [(32, 1)]
    })
    .await;
    stop(&server).await;
}
