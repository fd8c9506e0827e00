//! The names by which programs ask for models: those that stand for others, those that are misspelt, and those whose server is
//! away, at every address that takes one.

use futures_util::future::join_all;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::{
    harness::Answer,
    openai::{CHAT, Door},
};

/// A request for this model at every address for programs.
fn requests(model: &str) -> [(&'static str, Value); 5] {
    let messages = json!([{"role": "user", "content": "Hi"}]);
    [
        (CHAT, json!({"model": model, "messages": messages})),
        ("/v1/responses", json!({"model": model, "input": "Hi"})),
        (
            "/v1/messages",
            json!({"model": model, "max_tokens": 100, "messages": messages}),
        ),
        ("/v1/embeddings", json!({"model": model, "input": "Hi"})),
        (
            "/chat/stream",
            json!({"model": model, "stream": false, "messages": messages}),
        ),
    ]
}

#[track_caller]
fn assert_code(answer: &Answer, path: &str, status: u16, code: &str) {
    // There the run is the answer, with its end.
    if path.ends_with("/chat/stream") && answer.status == 200 {
        assert_eq!(
            answer.json()["outcome"],
            "failed",
            "{path}: {}",
            answer.text
        );
        return;
    }
    assert_eq!(answer.expect(status), code, "{path}: {}", answer.text);
    if path == "/v1/messages" {
        assert_eq!(answer.json()["type"], "error", "{}", answer.text);
    }
}

#[tokio::test]
async fn a_misspelt_name_is_answered_with_those_like_it() {
    let door = Door::open(Behaviour::always(Reply::text("Hello."))).await;
    for (path, body) in requests("Scriptd") {
        let answer = door.server.post(path, &door.key, &body).await;
        assert_code(&answer, path, 404, "model_not_found");
        assert!(
            answer.text.contains("Did you mean “scripted”?"),
            "{path}: {}",
            answer.text
        );
    }
    for (name, meant) in [
        ("glasshouse/agnt", "glasshouse/agent"),
        ("glasshouse/nobody-knows", ""),
    ] {
        let answer = door
            .server
            .post("/chat/stream", &door.key, &requests(name)[4].1)
            .await;
        assert_eq!(answer.expect(404), "model_not_found");
        assert_eq!(
            answer.text.contains("Did you mean"),
            !meant.is_empty(),
            "{}",
            answer.text
        );
        assert!(answer.text.contains(meant), "{}", answer.text);
    }
    let found = door.server.get("/v1/models/scripte", &door.key).await;
    assert_eq!(found.expect(404), "model_not_found");
    assert!(
        found.text.contains("Did you mean “scripted”?"),
        "{}",
        found.text
    );
    // A model that the key is not for is not suggested.
    let only = json!({"name": "k", "models": ["tour"], "scopes": ["chat", "read"]});
    let key = door.server.post("/api/v1/keys", &door.cookie, &only).await;
    key.expect(200);
    let key = key.json()["secret"].as_str().unwrap().to_owned();
    let refused = door
        .server
        .post(CHAT, &key, &requests("Scriptd")[0].1)
        .await;
    assert!(!refused.text.contains("scripted"), "{}", refused.text);
}

#[tokio::test]
async fn a_model_that_its_server_has_no_longer_is_not_found() {
    let gone = json!({"error": {"message": "model 'scripted' not found", "type": "not_found", "code": null}});
    let reply = Reply::status(
        404,
        &[("content-type", "application/json")],
        &gone.to_string(),
    );
    let door = Door::open(Behaviour::always(reply)).await;
    for (path, body) in requests("scripted") {
        // The scripted server has no embeddings.
        if path != "/v1/embeddings" {
            let answer = door.server.post(path, &door.key, &body).await;
            assert_code(&answer, path, 404, "model_not_found");
        }
    }
}

#[tokio::test]
async fn a_model_whose_server_is_away_is_unavailable() {
    for kind in ["openai", "openai_responses", "anthropic", "gemini"] {
        let door = Door::open(Behaviour::always(Reply::text("Hello."))).await;
        let upstream = ScriptedServer::start(Behaviour::always(Reply::text("Hello.")))
            .await
            .unwrap();
        let base_url = format!("http://{}", upstream.address());
        let body = json!({"name": "Away", "kind": kind, "base_url": base_url, "api_key": "k"});
        door.server
            .post("/api/v1/connections", &door.cookie, &body)
            .await
            .expect(200);
        upstream.shutdown().await;
        let asked = requests("Away/scripted")
            .into_iter()
            .filter(|(path, _)| *path != "/v1/embeddings" || kind != "anthropic");
        // All at once: each is retried for seconds.
        let door = &door;
        let answered = asked.map(|(path, body)| async move {
            let answer = door.server.post(path, &door.key, &body).await;
            assert_code(&answer, &format!("{kind} {path}"), 503, "model_unavailable");
        });
        join_all(answered).await;
    }
}

#[tokio::test]
async fn a_name_stands_for_a_model_or_an_agent() {
    let door = Door::open(Behaviour::always(Reply::text("Hello."))).await;
    let path = "/api/v1/settings/model-aliases";
    let aliases = json!({"claude-*": "scripted", "gpt-5": "glasshouse/agent", "gone": "nothing"});
    let set = door
        .server
        .put(path, &door.cookie, &json!({"aliases": aliases}))
        .await;
    set.expect(200);
    assert_eq!(set.json(), json!({"aliases": aliases, "configured": {}}));
    for (name, expected) in [("claude-sonnet-4-5", false), ("gpt-5", true)] {
        for (path, body) in requests(name)
            .into_iter()
            .filter(|(path, _)| *path != "/v1/embeddings")
        {
            let before = door.upstream.requests().len();
            let answer = door.server.post(path, &door.key, &body).await;
            answer.expect(200);
            assert!(
                answer.text.contains("Hello."),
                "{name} {path}: {}",
                answer.text
            );
            let sent = door.upstream.requests();
            assert_eq!(sent[before]["model"], "scripted", "{name} {path}");
            let has_tools = sent[before]["tools"].is_array();
            assert_eq!(
                has_tools,
                expected || path == "/chat/stream",
                "{name} {path}: only agents have some"
            );
        }
    }
    let usage = door
        .server
        .get("/api/v1/usage?by=model", &door.key)
        .await
        .json();
    let rows = usage["rows"].as_array().unwrap();
    let names: Vec<&str> = rows
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["scripted"], "the model that is meant is counted");
    let list = door.server.get("/v1/models", &door.key).await.json();
    let ids: Vec<&str> = list["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| model["id"].as_str().unwrap())
        .collect();
    assert!(
        ids.contains(&"gpt-5") && !ids.contains(&"claude-*") && !ids.contains(&"gone"),
        "{ids:?}"
    );
    let gone = door
        .server
        .post(CHAT, &door.key, &requests("gone")[0].1)
        .await;
    assert_eq!(gone.expect(404), "model_not_found");
    // A key for the model is one for its other names.
    let only = json!({"name": "k", "models": ["scripted"], "scopes": ["chat", "read"]});
    let key = door
        .server
        .post("/api/v1/keys", &door.cookie, &only)
        .await
        .json()["secret"]
        .clone();
    let key = key.as_str().unwrap();
    door.server
        .post(CHAT, key, &requests("claude-opus")[0].1)
        .await
        .expect(200);
    assert_eq!(
        door.server
            .post(CHAT, key, &requests("gpt-5")[0].1)
            .await
            .expect(403),
        "forbidden"
    );
    for wrong in [
        json!({"a b": "scripted"}),
        json!({"a*b": "scripted"}),
        json!({"a": ""}),
    ] {
        let refused = door
            .server
            .put(path, &door.cookie, &json!({"aliases": wrong}))
            .await;
        assert_eq!(refused.expect(400), "invalid_request");
    }
}
