//! Several answers made one: for front ends that have them.

use std::time::Duration;

use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer, Step};
use serde_json::{Value, json};

use crate::{
    harness::Server,
    openai::{connect, finish, text},
    sse::Events,
};

const MOA: &str = "/api/v1/tasks/moa/completions";

/// A server with a model that behaves so, and its first person.
async fn world(behaviour: Behaviour) -> (Server, String, ScriptedServer) {
    let upstream = ScriptedServer::start(behaviour).await.unwrap();
    let (server, ada) = Server::start_signed_in().await;
    connect(&server, &ada, "Up", &upstream.base_url()).await;
    (server, ada, upstream)
}

fn merging() -> Value {
    json!({"model": "scripted", "prompt": "Why? {{responses}}", "responses": ["Because {{USER_EMAIL}}.", " ", "So."]})
}

fn merging_stream() -> Value {
    let mut body = merging();
    body["stream"] = json!(true);
    body
}

async fn stream(server: &Server, who: &str) -> Events {
    Events::of(
        server
            .request(Method::POST, MOA, who)
            .json(&merging_stream())
            .send()
            .await
            .unwrap(),
    )
}

/// The pipeline as administrators see it, once so many calls are noted.
async fn noted(server: &Server, ada: &str, calls: u64) -> Value {
    for _ in 0..1_000 {
        let list = server.get("/api/v1/pipelines", ada).await.json();
        let found = list["pipelines"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == "moa")
            .unwrap();
        if found["calls"] == calls {
            return found.clone();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{calls} calls do not come");
}

#[tokio::test]
async fn a_front_end_merges_at_once_or_as_it_is_written() {
    let usage = Step::Usage {
        input_tokens: 70,
        output_tokens: 3,
    };
    let reply = Reply::stream(&[text("Both of them."), usage, finish()]);
    let (server, ada, upstream) = world(Behaviour::always(reply)).await;
    let answer = server.post(MOA, &ada, &merging()).await;
    answer.expect(200);
    let answer = answer.json();
    assert_eq!(
        (&answer["object"], &answer["model"]),
        (&json!("chat.completion"), &json!("scripted"))
    );
    assert_eq!(answer["choices"][0]["message"]["content"], "Both of them.");
    assert_eq!(answer["usage"]["total_tokens"], 73);
    // What people and models wrote is no template, and what says nothing is left out.
    let asked = upstream.requests()[0].clone();
    let prompt = asked["messages"][0]["content"].as_str().unwrap();
    assert!(
        prompt.contains("<message>\nWhy? {{responses}}\n</message>"),
        "{prompt}"
    );
    assert!(prompt.ends_with(
        "<response number=\"1\">\nBecause {{USER_EMAIL}}.\n</response>\n<response number=\"2\">\nSo.\n</response>\n\n### Your answer:"
    ));
    assert_eq!(
        (&asked["max_tokens"], &asked["tools"]),
        (&json!(8_000), &Value::Null)
    );
    let chunks = stream(&server, &ada).await.rest().await;
    assert_eq!(chunks.last().unwrap().data, "[DONE]");
    let chunks: Vec<Value> = chunks[..chunks.len() - 1]
        .iter()
        .map(|chunk| chunk.json())
        .collect();
    let said: String = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(said, "Both of them.");
    assert!(
        chunks
            .iter()
            .all(|chunk| chunk["object"] == "chat.completion.chunk"),
        "{chunks:?}"
    );
    assert_eq!(chunks.last().unwrap()["usage"]["total_tokens"], 73);
    let noted = noted(&server, &ada, 2).await;
    assert_eq!(
        (&noted["usage"]["input_tokens"], &noted["failed"]),
        (&json!(140), &json!(0))
    );
}

#[tokio::test]
async fn an_administrator_sets_how_and_by_whom() {
    let (server, ada, upstream) = world(Behaviour::always(Reply::text("Yes."))).await;
    let moa = "/api/v1/pipelines/moa";
    let refused = server
        .put(moa, &ada, &json!({"template": "Merge {{prompt}}."}))
        .await;
    refused.expect(400);
    assert!(
        refused.text.contains("The template must contain responses"),
        "{}",
        refused.text
    );
    server
        .put(
            "/api/v1/pipelines/title",
            &ada,
            &json!({"template": "{{prompt}} {{responses}}"}),
        )
        .await
        .expect(400);
    let own = json!({"template": "{{USER_NAME}}: {{RESPONSES}}", "model": "scripted", "output_tokens": 9});
    server.put(moa, &ada, &own).await.expect(200);
    let mut body = merging();
    body["model"] = json!("tour");
    server.post(MOA, &ada, &body).await.expect(200);
    let asked = upstream.requests()[0].clone();
    assert!(
        asked["messages"][0]["content"]
            .as_str()
            .unwrap()
            .starts_with("Ada: <response number=\"1\">")
    );
    assert_eq!(
        (&asked["model"], &asked["max_tokens"]),
        (&json!("scripted"), &json!(9))
    );
    let preview = server
        .post(&format!("{moa}/preview"), &ada, &json!({"ask": true}))
        .await
        .json();
    assert!(
        preview["prompt"]
            .as_str()
            .unwrap()
            .contains("Another answer."),
        "{preview}"
    );
    assert_eq!(preview["answer"], json!({"text": "Yes."}));
    server
        .put(moa, &ada, &json!({"enabled": false}))
        .await
        .expect(200);
    let off = server.post(MOA, &ada, &merging()).await;
    off.expect(400);
    assert!(off.text.contains("turned off"), "{}", off.text);
}

#[tokio::test]
async fn what_cannot_be_merged_is_refused_in_words() {
    let (server, ada, upstream) = world(Behaviour::always(Reply::text("Yes."))).await;
    for (change, status, words) in [
        (json!({"responses": []}), 400, "no answer to merge"),
        (json!({"responses": ["", " \n"]}), 400, "no answer to merge"),
        (
            json!({"responses": vec!["a"; 100]}),
            400,
            "At most 32 answers can be merged",
        ),
        (json!({"responses": [1, null]}), 400, "expected a string"),
        (json!({"responses": "one"}), 400, "expected a sequence"),
        (json!({"model": "tour"}), 400, "The tour cannot do this"),
        (json!({"model": "nobody"}), 404, "Model not found"),
    ] {
        let mut body = merging();
        body.as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        let refused = server.post(MOA, &ada, &body).await;
        refused.expect(status);
        assert!(refused.text.contains(words), "{change}: {}", refused.text);
    }
    assert!(upstream.requests().is_empty());
    // What is huge is cut, and what is short is not.
    let mut body = merging();
    body["responses"] = json!(["word ".repeat(100_000), "Short.", "x".repeat(300_000)]);
    server.post(MOA, &ada, &body).await.expect(200);
    let asked = upstream.requests()[0].clone();
    let prompt = asked["messages"][0]["content"].as_str().unwrap();
    assert!(
        prompt.len() < 63_000 && prompt.contains("\nShort.\n"),
        "{}",
        prompt.len()
    );
    // Whose limits are reached cannot merge.
    let limits = json!({"of": "default", "limits": {"day": {"requests": 1}}});
    server
        .put("/api/v1/limits", &ada, &limits)
        .await
        .expect(204);
    server.post(MOA, &ada, &merging()).await.expect(429);
}

#[tokio::test]
async fn a_model_that_fails_is_told_in_the_form_that_was_asked_for() {
    let (server, ada, _upstream) =
        world(Behaviour::always(Reply::error(400, "too long for me"))).await;
    server.post(MOA, &ada, &merging()).await.expect(422);
    let chunks = stream(&server, &ada).await.rest().await;
    let told = chunks
        .iter()
        .find(|chunk| chunk.data.contains("\"error\""))
        .unwrap()
        .json();
    assert!(
        told["error"]["message"]
            .as_str()
            .unwrap()
            .contains("too long for me"),
        "{told}"
    );
    let noted = noted(&server, &ada, 2).await;
    assert_eq!(
        (&noted["failed"], &noted["latest"][0]["outcome"]),
        (&json!(2), &json!("failed"))
    );
}

#[tokio::test]
async fn it_ends_with_whoever_wanted_it_and_with_its_time() {
    let (server, ada, upstream) = world(Behaviour::always(Reply::stream(&[
        text("Well, "),
        Step::Silence,
    ])))
    .await;
    let mut events = stream(&server, &ada).await;
    events
        .until(|chunk| chunk["choices"][0]["delta"]["content"].is_string())
        .await;
    drop(events);
    assert_eq!(noted(&server, &ada, 1).await["cancelled"], 1);
    while upstream.open_requests() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    server
        .put("/api/v1/pipelines/moa", &ada, &json!({"seconds": 1}))
        .await
        .expect(200);
    let answer = server.post(MOA, &ada, &merging()).await;
    answer.expect(200);
    assert_eq!(answer.json()["choices"][0]["finish_reason"], "length");
    assert_eq!(answer.json()["choices"][0]["message"]["content"], "Well, ");
}
