//! What waits for a person, and consent given for good.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    harness::Server,
    runs::{events, play, start_tour},
};

/// Plays the tour up to its approval. Returns the event.
async fn approval_of(server: &Server, cookie: &str, run: &str) -> Value {
    let mut stream = events(server, cookie, &format!("/runs/{run}/events")).await;
    stream
        .until(|event| event["body"]["type"] == "approval_asked")
        .await
}

async fn inbox(server: &Server, cookie: &str) -> Vec<Value> {
    server.get("/api/v1/inbox", cookie).await.json()["items"]
        .as_array()
        .unwrap()
        .clone()
}

#[tokio::test]
async fn everything_that_waits_is_in_one_place() {
    let (server, cookie) = Server::start_signed_in().await;
    assert_eq!(inbox(&server, &cookie).await, Vec::<Value>::new());
    let (first_chat, first) = start_tour(&server, &cookie).await;
    let asked = approval_of(&server, &cookie, &first).await;
    let (_, second) = start_tour(&server, &cookie).await;
    approval_of(&server, &cookie, &second).await;
    let items = inbox(&server, &cookie).await;
    let runs: Vec<&str> = items
        .iter()
        .map(|item| item["run"].as_str().unwrap())
        .collect();
    assert_eq!(runs, [first.as_str(), second.as_str()]);
    assert_eq!(items[0]["chat"], json!(first_chat));
    assert_eq!(items[0]["title"], "Show me around");
    assert_eq!(items[0]["event"], asked);
    let other = server.key_of_plain_user("bob@example.org").await;
    assert_eq!(
        inbox(&server, &other).await,
        Vec::<Value>::new(),
        "of others nothing is seen"
    );
    server
        .post(&format!("/runs/{first}/cancel"), &cookie, &json!({}))
        .await
        .expect(204);
    events(&server, &cookie, &format!("/runs/{first}/events"))
        .await
        .rest()
        .await;
    let left: Vec<Value> = inbox(&server, &cookie)
        .await
        .iter()
        .map(|item| item["run"].clone())
        .collect();
    assert_eq!(left, [json!(second)]);
}

#[tokio::test]
async fn allowed_always_the_next_chat_does_not_ask() {
    let (server, cookie) = Server::start_signed_in().await;
    let (_, run) = start_tour(&server, &cookie).await;
    let asked = approval_of(&server, &cookie, &run).await;
    let waiting_too = start_tour(&server, &cookie).await.1;
    approval_of(&server, &cookie, &waiting_too).await;
    let path = format!(
        "/runs/{run}/approvals/{}",
        asked["body"]["approval"].as_str().unwrap()
    );
    let denied = json!({"decision": "deny", "remember": "always"});
    server.post(&path, &cookie, &denied).await.expect(400);
    let unknown = json!({"decision": "allow", "remember": "for ever"});
    server.post(&path, &cookie, &unknown).await.expect(400);
    let invalid =
        json!({"decision": "allow", "remember": "always", "arguments": {"nonsense": true}});
    server.post(&path, &cookie, &invalid).await.expect(422);
    assert_eq!(
        server.get("/api/v1/allowed-calls", &cookie).await.json()["allowed"],
        json!([])
    );

    let always = json!({"decision": "allow", "remember": "always"});
    server.post(&path, &cookie, &always).await.expect(204);
    server.post(&path, &cookie, &always).await.expect(409);
    for run in [&run, &waiting_too] {
        let log = events(&server, &cookie, &format!("/runs/{run}/events"))
            .await
            .rest()
            .await;
        let last = log.last().unwrap().json();
        assert_eq!(last["body"]["outcome"], "completed", "{last}");
    }
    let (_, later) = start_tour(&server, &cookie).await;
    let log = events(&server, &cookie, &format!("/runs/{later}/events"))
        .await
        .rest()
        .await;
    let types: Vec<Value> = log
        .iter()
        .map(|event| event.json()["body"]["type"].clone())
        .collect();
    assert!(!types.contains(&json!("approval_asked")));
    let why = |event: &crate::sse::Event| {
        event
            .data
            .contains("Runs without asking: you always allow such calls.")
    };
    assert_eq!(log.iter().filter(|event| why(event)).count(), 1);

    let kept = server.get("/api/v1/allowed-calls", &cookie).await.json();
    assert_eq!(kept["allowed"][0]["tool"], asked["body"]["name"]);
    let one = format!(
        "/api/v1/allowed-calls/{}",
        kept["allowed"][0]["id"].as_str().unwrap()
    );
    let other = server.key_of_plain_user("bob@example.org").await;
    server.delete(&one, &other).await.expect(404);
    server.delete(&one, &cookie).await.expect(204);
    let (_, asking) = start_tour(&server, &cookie).await;
    let asked_again = approval_of(&server, &cookie, &asking).await;
    assert_eq!(asked_again["body"]["may_remember"], true);
}

#[tokio::test]
async fn allowed_in_one_chat_others_ask() {
    let (server, cookie) = Server::start_signed_in().await;
    let (chat, run) = start_tour(&server, &cookie).await;
    let asked = approval_of(&server, &cookie, &run).await;
    let path = format!(
        "/runs/{run}/approvals/{}",
        asked["body"]["approval"].as_str().unwrap()
    );
    let patterns: Value = asked["body"]["arguments"]
        .as_object()
        .unwrap()
        .keys()
        .map(|name| (name.clone(), json!("*")))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let in_chat = json!({"decision": "allow", "remember": "chat", "remember_arguments": patterns});
    server.post(&path, &cookie, &in_chat).await.expect(204);
    events(&server, &cookie, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    let kept = server.get("/api/v1/allowed-calls", &cookie).await.json();
    assert_eq!(kept["allowed"][0]["chat"], json!(chat));
    let (_, elsewhere) = start_tour(&server, &cookie).await;
    approval_of(&server, &cookie, &elsewhere).await;
    play(&server, &cookie, &elsewhere).await;
    server
        .request(Method::DELETE, &format!("/api/v1/chats/{chat}"), &cookie)
        .send()
        .await
        .unwrap();
    let left = server.get("/api/v1/allowed-calls", &cookie).await.json();
    assert_eq!(
        left["allowed"],
        json!([]),
        "what was allowed in a chat goes with it"
    );
}
