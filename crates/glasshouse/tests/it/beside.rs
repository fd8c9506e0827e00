//! Answers side by side in chats: others are asked, and what they say is merged.

use std::time::Duration;

use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer, Step};
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server},
    openai::{connect, finish, text},
    runs::events,
};

/// A chat with one answer, of a model that says what its number is and, where it merges, that it did. The number of the first
/// answer is 0.
struct World {
    server: Server,
    ada: String,
    upstream: ScriptedServer,
    chat: String,
    first: String,
}

fn merges(request: &Value) -> bool {
    prompt(request).contains("### Answers:")
}

fn prompt(request: &Value) -> String {
    let last = request["messages"].as_array().unwrap().last().unwrap();
    match &last["content"] {
        Value::String(text) => text.clone(),
        parts => parts[0]["text"].as_str().unwrap_or_default().to_owned(),
    }
}

impl World {
    /// `reply` answers the call of this number that does not merge.
    async fn new(reply: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Self {
        let number = std::sync::atomic::AtomicUsize::new(0);
        let behaviour = Behaviour::answer(move |request| match merges(&request.body) {
            true => Reply::stream(&[
                text("Merged."),
                Step::Usage {
                    input_tokens: 50,
                    output_tokens: 2,
                },
                finish(),
            ]),
            false => reply(number.fetch_add(1, std::sync::atomic::Ordering::SeqCst)),
        });
        Self::with(ScriptedServer::start(behaviour).await.unwrap()).await
    }

    async fn with(upstream: ScriptedServer) -> Self {
        let (server, ada) = Server::start_signed_in().await;
        connect(&server, &ada, "Up", &upstream.base_url()).await;
        let chat = server.post("/api/v1/chats", &ada, &json!({})).await.json()["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let mut world = Self {
            server,
            ada,
            upstream,
            chat,
            first: String::new(),
        };
        let said = json!({"content": "Why? {{USER_EMAIL}}", "model": "scripted"});
        let sent = world.post("messages", &said).await.json();
        world.rest(&sent["run"]).await;
        world.first = sent["assistant"]["id"].as_str().unwrap().to_owned();
        world
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        self.server
            .post(
                &format!("/api/v1/chats/{}/{path}", self.chat),
                &self.ada,
                body,
            )
            .await
    }

    async fn others(&self, of: &str, body: &Value) -> Vec<Value> {
        let asked = self.post(&format!("messages/{of}/others"), body).await;
        asked.expect(200);
        asked.json()["answers"].as_array().unwrap().clone()
    }

    async fn merge(&self, of: &str, body: &Value) -> Answer {
        self.post(&format!("messages/{of}/merge"), body).await
    }

    /// Waits until a run is over.
    async fn rest(&self, run: &Value) {
        let path = format!("/runs/{}/events", run.as_str().unwrap());
        events(&self.server, &self.ada, &path).await.rest().await;
    }

    async fn rest_of(&self, answers: &[Value]) {
        for answer in answers {
            self.rest(&answer["run"]).await;
        }
    }

    async fn view(&self) -> Value {
        self.server
            .get(&format!("/api/v1/chats/{}", self.chat), &self.ada)
            .await
            .json()
    }

    async fn message(&self, id: &Value) -> Value {
        let view = self.view().await;
        view["messages"]
            .as_array()
            .unwrap()
            .iter()
            .find(|message| message["id"] == *id)
            .unwrap()
            .clone()
    }
}

fn numbered(number: usize) -> Reply {
    Reply::text(&format!("Answer {number} {{{{prompt}}}}."))
}

#[tokio::test]
async fn others_answer_side_by_side_and_are_merged() {
    let world = World::new(numbered).await;
    let others = world
        .others(&world.first, &json!({"models": ["scripted"]}))
        .await;
    assert_eq!(others.len(), 3);
    for other in &others {
        assert_eq!(other["assistant"]["beside"], json!(world.first));
        assert!(
            other.get("user").is_none() && other["assistant"].get("made_of").is_none(),
            "{other}"
        );
    }
    world.rest_of(&others).await;
    // One that is asked for beside another stands in the same row.
    let second = others[0]["assistant"]["id"].as_str().unwrap();
    let more = world
        .others(second, &json!({"models": ["scripted", "scripted"]}))
        .await;
    assert_eq!(
        (more.len(), &more[1]["assistant"]["beside"]),
        (2, &json!(world.first))
    );
    world.rest_of(&more).await;
    let chosen = [&others[0], &more[1]].map(|answer| answer["assistant"]["id"].clone());
    let merged = world.merge(&world.first, &json!({"answers": chosen})).await;
    merged.expect(200);
    let merged = merged.json();
    assert_eq!(
        (
            &merged["assistant"]["made_of"],
            &merged["assistant"]["beside"]
        ),
        (&json!(chosen), &json!(world.first))
    );
    world.rest(&merged["run"]).await;
    let kept = world.message(&merged["assistant"]["id"]).await;
    assert_eq!(
        (&kept["content"][0]["text"], &kept["made_of"]),
        (&json!("Merged."), &json!(chosen))
    );
    assert_eq!(
        (
            &kept["summary"]["usage"]["input_tokens"],
            &kept["summary"]["tools"]
        ),
        (&json!(50), &json!(0))
    );
    let view = world.view().await;
    assert_eq!(view["current"], merged["assistant"]["id"]);
    // It is told both, without tools, and reads nothing in them for variables.
    let asked = world.upstream.requests().into_iter().find(merges).unwrap();
    let told = prompt(&asked);
    let said = |answer: &Value| answer["content"][0]["text"].as_str().unwrap().to_owned();
    for id in &chosen {
        assert!(told.contains(&said(&world.message(id).await)), "{told}");
    }
    assert!(
        told.contains("Why? {{USER_EMAIL}}") && !told.contains("Answer 0"),
        "{told}"
    );
    assert!(asked.get("tools").is_none(), "{asked}");
    // The chat goes on from it, and all of them are there.
    let parent = &merged["assistant"]["id"];
    let next = world
        .post(
            "messages",
            &json!({"content": "And?", "parent": parent, "model": "scripted"}),
        )
        .await
        .json();
    world.rest(&next["run"]).await;
    let asked = world.upstream.requests().pop().unwrap().to_string();
    assert!(
        asked.contains("Merged.") && !asked.contains("Answer 1"),
        "{asked}"
    );
    // All, where none are named.
    let all = world.merge(second, &json!({})).await.json();
    assert_eq!(all["assistant"]["made_of"].as_array().unwrap().len(), 6);
    world.rest(&all["run"]).await;
}

#[tokio::test]
async fn one_that_fails_or_does_not_end_is_left_out() {
    let world = World::new(|number| match number {
        1 => Reply::error(400, "not today"),
        2 => Reply::stream(&[text("On and "), Step::Silence]),
        _ => numbered(number),
    })
    .await;
    let mut others = Vec::new();
    for _ in 0..3 {
        let asked = world
            .others(&world.first, &json!({"samples": 1, "models": ["scripted"]}))
            .await;
        others.extend(asked);
        let calls = others.len() + 1;
        while world.upstream.requests().len() < calls {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    world.rest(&others[0]["run"]).await;
    world.rest(&others[2]["run"]).await;
    let failed = world.message(&others[0]["assistant"]["id"]).await;
    assert_eq!(failed["summary"]["outcome"], "failed");
    let merged = world.merge(&world.first, &json!({})).await.json();
    let expected = json!([world.first, others[2]["assistant"]["id"]]);
    assert_eq!(merged["assistant"]["made_of"], expected);
    world.rest(&merged["run"]).await;
    // Stopped by itself; what it had is not merged.
    let run = others[1]["run"].as_str().unwrap();
    world
        .server
        .post(&format!("/runs/{run}/cancel"), &world.ada, &json!({}))
        .await
        .expect(204);
    world.rest(&others[1]["run"]).await;
    let again = world.merge(&world.first, &json!({})).await.json();
    assert_eq!(again["assistant"]["made_of"], expected);
    let alone = json!({"answers": [others[1]["assistant"]["id"]]});
    world.merge(&world.first, &alone).await.expect(409);
}

#[tokio::test]
async fn all_that_fail_cannot_be_merged() {
    let world = World::new(|_| Reply::error(400, "not today")).await;
    let others = world
        .others(&world.first, &json!({"models": ["scripted"], "samples": 2}))
        .await;
    world.rest_of(&others).await;
    let refused = world.merge(&world.first, &json!({})).await;
    refused.expect(409);
    assert!(
        refused.text.contains("None of these answers"),
        "{}",
        refused.text
    );
}

#[tokio::test]
async fn what_makes_no_sense_or_is_too_much_is_refused() {
    let world = World::new(numbered).await;
    let others = format!("messages/{}/others", world.first);
    let view = world.view().await;
    let question = view["messages"][0]["id"].as_str().unwrap().to_owned();
    for (path, body, status) in [
        (others.as_str(), json!({"samples": 0}), 400),
        (&others, json!({"samples": 9}), 400),
        (
            &others,
            json!({"samples": u64::MAX, "models": ["scripted", "scripted"]}),
            400,
        ),
        (&others, json!({"models": vec!["scripted"; 9]}), 400),
        (&others, json!({"models": ["nobody"]}), 404),
        (&others, json!({"models": ["scripted", "nobody"]}), 404),
        (
            &format!("messages/{question}/others"),
            json!({"models": ["scripted"]}),
            404,
        ),
        (&format!("messages/{question}/merge"), json!({}), 404),
        (
            &format!("messages/{}/merge", world.first),
            json!({"answers": [question]}),
            404,
        ),
        (
            &format!("messages/{}/merge", world.first),
            json!({"answers": []}),
            409,
        ),
        (
            &format!("messages/{}/merge", world.first),
            json!({"model": "nobody"}),
            404,
        ),
        (
            &format!("messages/{}/merge", world.first),
            json!({"model": "tour"}),
            400,
        ),
    ] {
        let refused = world.post(path, &body).await;
        assert_eq!(refused.status, status, "{path} {body}: {}", refused.text);
    }
    assert_eq!(world.upstream.requests().len(), 1, "nothing has begun");
    for _ in 0..1 {
        let asked = world
            .others(&world.first, &json!({"models": ["scripted"], "samples": 8}))
            .await;
        world.rest_of(&asked).await;
    }
    world
        .post(&others, &json!({"models": ["scripted"], "samples": 8}))
        .await
        .expect(409);
    // Several at once are held to the limits together.
    let limits = json!({"of": "default", "limits": {"day": {"requests": 11}}});
    world
        .server
        .put("/api/v1/limits", &world.ada, &limits)
        .await
        .expect(204);
    world
        .post(&others, &json!({"models": ["scripted"], "samples": 3}))
        .await
        .expect(429);
    let two = world
        .others(&world.first, &json!({"models": ["scripted"], "samples": 2}))
        .await;
    world.rest_of(&two).await;
    world.merge(&world.first, &json!({})).await.expect(429);
    // Whose chat it is not cannot.
    let key = world.server.key_of_plain_user("bob@example.org").await;
    for what in ["others", "merge"] {
        let path = format!(
            "/api/v1/chats/{}/messages/{}/{what}",
            world.chat, world.first
        );
        world.server.post(&path, &key, &json!({})).await.expect(404);
    }
}

#[tokio::test]
async fn a_request_that_is_sent_twice_begins_once() {
    let world = World::new(numbered).await;
    let send = async |what: &str, body: Value| {
        let path = format!(
            "/api/v1/chats/{}/messages/{}/{what}",
            world.chat, world.first
        );
        let request = world
            .server
            .request(Method::POST, &path, &world.ada)
            .json(&body);
        let sent = Answer::of(request.header("Idempotency-Key", what)).await;
        sent.expect(200);
        sent.json()
    };
    let once = send("others", json!({"models": ["scripted"]})).await;
    let twice = send("others", json!({"models": ["scripted"]})).await;
    let runs = |answers: &Value| -> Vec<Value> {
        answers["answers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|answer| answer["run"].clone())
            .collect()
    };
    assert_eq!((runs(&once).len(), runs(&once)), (3, runs(&twice)));
    world.rest_of(once["answers"].as_array().unwrap()).await;
    let (merged, again) = (
        send("merge", json!({})).await,
        send("merge", json!({})).await,
    );
    assert_eq!(
        (&merged["run"], &merged["assistant"]["made_of"]),
        (&again["run"], &again["assistant"]["made_of"])
    );
    world.rest(&merged["run"]).await;
    assert_eq!(world.view().await["messages"].as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn further_layers_answer_again_with_all_in_view() {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let upstream = ScriptedServer::start(Behaviour::answer(move |request| {
        let number = calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        match (merges(&request.body), number) {
            // One of the second layer fails.
            (true, 3) => Reply::error(400, "not today"),
            _ => {
                let usage = Step::Usage {
                    input_tokens: 10,
                    output_tokens: 1,
                };
                Reply::stream(&[text(&format!("Said {number}.")), usage, finish()])
            }
        }
    }));
    let world = World::with(upstream.await.unwrap()).await;
    let others = world
        .others(&world.first, &json!({"models": ["scripted"], "samples": 2}))
        .await;
    world.rest_of(&others).await;
    for layers in [0, 4] {
        world
            .merge(&world.first, &json!({"layers": layers}))
            .await
            .expect(400);
    }
    let merged = world
        .merge(&world.first, &json!({"layers": 3}))
        .await
        .json();
    world.rest(&merged["run"]).await;
    let asked: Vec<String> = world
        .upstream
        .requests()
        .iter()
        .filter(|body| merges(body))
        .map(prompt)
        .collect();
    // Three answer again twice, one of them only the second time, and the last call writes.
    assert_eq!(asked.len(), 7);
    let tells = |told: &str, which: std::ops::Range<usize>| {
        (0..10).all(|one| told.contains(&format!("Said {one}.")) == which.contains(&one))
    };
    assert!(asked[..3].iter().all(|told| tells(told, 0..3)), "{asked:?}");
    assert!(
        asked[3..6].iter().all(|told| tells(told, 4..6)),
        "{asked:?}"
    );
    assert!(tells(&asked[6], 6..9), "{}", asked[6]);
    let kept = world.message(&merged["assistant"]["id"]).await;
    assert_eq!(kept["content"][0]["text"], "Said 9.");
    // What all of it cost, without the one that failed.
    assert_eq!(kept["summary"]["usage"]["input_tokens"], 60);
    assert_eq!(kept["made_of"].as_array().unwrap().len(), 3);
}

/// What an administrator sets in the page wins over the configuration, and a request over both.
#[tokio::test]
async fn samples_and_layers_are_set_by_an_administrator() {
    let upstream = ScriptedServer::start(Behaviour::answer(|_| Reply::text("So it is.")));
    let world = World::with(upstream.await.unwrap()).await;
    let update = "/api/v1/tasks/config/update";
    for (name, wrong) in [
        ("MOA_SAMPLES", json!(0)),
        ("MOA_SAMPLES", json!(9)),
        ("MOA_SAMPLES", json!("two")),
        ("MOA_LAYERS", json!(4)),
        ("MOA_LAYERS", json!(-1)),
    ] {
        let refused = world
            .server
            .post(update, &world.ada, &json!({ name: wrong }))
            .await;
        refused.expect(400);
        assert_eq!(refused.json()["error"]["field"], name, "{wrong}");
    }
    let both = json!({"MOA_SAMPLES": 2, "MOA_LAYERS": 2});
    let set = world.server.post(update, &world.ada, &both).await;
    set.expect(200);
    assert_eq!(
        (&set.json()["MOA_SAMPLES"], &set.json()["MOA_LAYERS"]),
        (&json!(2), &json!(2))
    );
    let list = world
        .server
        .get("/api/v1/pipelines", &world.ada)
        .await
        .json();
    assert_eq!(
        (&list["moa_samples"], &list["moa_layers"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(
        world.server.get("/api/v1/me", &world.ada).await.json()["moa_samples"],
        2
    );
    let others = world
        .others(&world.first, &json!({"models": ["scripted"]}))
        .await;
    assert_eq!(others.len(), 2);
    world.rest_of(&others).await;
    let merges = || {
        world
            .upstream
            .requests()
            .iter()
            .filter(|body| merges(body))
            .count()
    };
    let merged = world.merge(&world.first, &json!({})).await.json();
    world.rest(&merged["run"]).await;
    assert_eq!(merges(), 4, "three answer again, and one call writes");
    let merged = world
        .merge(&world.first, &json!({"layers": 1}))
        .await
        .json();
    world.rest(&merged["run"]).await;
    assert_eq!(merges(), 5);
}

#[tokio::test]
async fn a_layer_in_which_all_fail_leaves_the_one_before() {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let upstream = ScriptedServer::start(Behaviour::answer(move |_| {
        match calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            1 => Reply::error(400, "not today"),
            number => Reply::text(&format!("Said {number}.")),
        }
    }));
    let world = World::with(upstream.await.unwrap()).await;
    let merged = world
        .merge(&world.first, &json!({"layers": 2}))
        .await
        .json();
    world.rest(&merged["run"]).await;
    let requests = world.upstream.requests();
    assert_eq!(requests.len(), 3);
    assert!(prompt(&requests[2]).contains("Said 0."));
    let kept = world.message(&merged["assistant"]["id"]).await;
    assert_eq!(
        (&kept["content"][0]["text"], &kept["summary"]["outcome"]),
        (&json!("Said 2."), &json!("completed"))
    );
}

#[tokio::test]
async fn a_chat_that_is_taken_along_keeps_what_stands_side_by_side() {
    let world = World::new(numbered).await;
    let others = world
        .others(&world.first, &json!({"models": ["scripted"], "samples": 2}))
        .await;
    world.rest_of(&others).await;
    let merged = world.merge(&world.first, &json!({})).await.json();
    world.rest(&merged["run"]).await;
    let export = world
        .server
        .get(&format!("/api/v1/chats/{}/export", world.chat), &world.ada)
        .await
        .text;
    // What stands behind an answer, or is no answer, is nothing that it was made of.
    let question = world.view().await["messages"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let strange = export.replace(
        "\"made_of\":[",
        &format!("\"made_of\":[{},", merged["assistant"]["id"]),
    );
    let strange = strange.replacen(
        "\"role\":\"user\"",
        &format!("\"role\":\"user\",\"beside\":\"{question}\""),
        1,
    );
    for file in [export, strange] {
        let (there, bob) = Server::start_signed_in().await;
        let import = there
            .request(Method::POST, "/api/v1/me/import", &bob)
            .body(file);
        let report = Answer::of(import).await.json();
        assert_eq!(
            (&report["made"]["chats"], &report["left"]),
            (&json!(1), &json!([])),
            "{report}"
        );
        let chats = there.get("/api/v1/chats", &bob).await.json();
        let chat = chats["chats"][0]["id"].as_str().unwrap();
        let view = there
            .get(&format!("/api/v1/chats/{chat}"), &bob)
            .await
            .json();
        let [question, first, second, third, merged] =
            view["messages"].as_array().unwrap().as_slice()
        else {
            panic!("{view}")
        };
        assert_eq!((question.get("beside"), first.get("beside")), (None, None));
        for other in [second, third, merged] {
            assert_eq!(other["beside"], first["id"]);
        }
        assert_eq!(
            merged["made_of"],
            json!([first["id"], second["id"], third["id"]])
        );
    }
}
