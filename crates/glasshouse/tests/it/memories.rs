//! What agents remember of people, over HTTP: the texts, what runs are told of them, and the switch.

use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server},
    openai::connect,
    runs::events,
};

const MEMORIES: &str = "/api/v1/memories";

async fn put(
    server: &Server,
    credential: &str,
    id: &str,
    version: Option<u64>,
    body: &Value,
) -> Answer {
    let request = server
        .request(Method::PUT, &format!("{MEMORIES}/{id}"), credential)
        .json(body);
    let request = match version {
        Some(version) => request.header("if-match", format!("\"{version}\"")),
        None => request,
    };
    Answer::of(request).await
}

#[tokio::test]
async fn are_kept_for_their_owner_alone() {
    let (server, ada) = Server::start_signed_in().await;
    let bob = server.key_of_plain_user("bob@example.org").await;
    let body =
        json!({"name": " likes ", "text": "Tea\n", "description": "What I like", "pinned": true});
    let made = server.post(MEMORIES, &ada, &body).await;
    made.expect(201);
    let made = made.json();
    let id = made["id"].as_str().unwrap();
    let expected = json!({
        "id": id, "agent": "", "name": "likes", "description": "What I like", "text": "Tea", "pinned": true,
        "version": 1, "changed_at": server.clock.now_ms(), "author": null,
    });
    assert_eq!(made, expected);
    assert_eq!(
        server.get(MEMORIES, &ada).await.json(),
        json!({"memories": [expected]})
    );
    assert_eq!(
        server.get(MEMORIES, &bob).await.json(),
        json!({"memories": []})
    );

    let changed = json!({"name": "likes", "text": "Coffee", "agent": "main"});
    assert_eq!(
        put(&server, &bob, id, Some(1), &changed).await.expect(404),
        "not_found"
    );
    assert_eq!(
        put(&server, &ada, id, None, &changed).await.expect(400),
        "invalid_request"
    );
    assert_eq!(
        put(&server, &ada, id, Some(2), &changed).await.expect(409),
        "conflict"
    );
    let now = put(&server, &ada, id, Some(1), &changed).await.json();
    assert_eq!(
        (&now["version"], &now["text"], &now["agent"]),
        (&json!(2), &json!("Coffee"), &json!("main"))
    );

    assert_eq!(
        server.post(MEMORIES, &ada, &changed).await.expect(409),
        "conflict"
    );
    for refused in [
        json!({"name": " ", "text": ""}),
        json!({"name": "a\nb", "text": ""}),
        json!({"name": "a".repeat(81), "text": ""}),
        json!({"name": "a", "text": "é".repeat(8_001)}),
        json!({"name": "a", "text": "", "description": "a".repeat(301)}),
    ] {
        assert_eq!(
            server.post(MEMORIES, &ada, &refused).await.expect(400),
            "invalid_request",
            "{refused}"
        );
    }
    let path = format!("{MEMORIES}/{id}");
    assert_eq!(server.delete(&path, &bob).await.expect(404), "not_found");
    let stale = server
        .request(Method::DELETE, &path, &ada)
        .header("if-match", "\"1\"");
    assert_eq!(Answer::of(stale).await.expect(409), "conflict");
    server.delete(&path, &ada).await.expect(204);
    assert_eq!(
        server.get(MEMORIES, &ada).await.json(),
        json!({"memories": []})
    );
}

/// A model that appends to a memory when told to remember, and otherwise answers.
async fn remembering() -> ScriptedServer {
    ScriptedServer::start(Behaviour::answer(|request| {
        let messages = request.body["messages"].as_array().unwrap();
        let last = messages.last().unwrap();
        match last["role"] == "user" && last["content"].to_string().contains("Please remember") {
            true => Reply::calls(&[("memory_append", json!({"name": "likes", "text": "Tea"}))]),
            false => Reply::text("Done."),
        }
    }))
    .await
    .unwrap()
}

/// Says it in a new chat and waits for the end; gives the chat's id.
async fn say(server: &Server, cookie: &str, text: &str) -> String {
    let chat = server
        .post("/api/v1/chats", cookie, &json!({}))
        .await
        .json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let said = json!({"content": text, "model": "scripted"});
    let sent = server
        .post(&format!("/api/v1/chats/{chat}/messages"), cookie, &said)
        .await
        .json();
    let path = format!("/runs/{}/events", sent["run"].as_str().unwrap());
    events(server, cookie, &path).await.rest().await;
    chat
}

fn tools(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().unwrap().iter();
    tools
        .filter_map(|tool| tool["function"]["name"].as_str())
        .filter(|name| name.starts_with("memory"))
        .collect()
}

/// The first user message of a request, with the memories in it.
fn asked(request: &Value) -> String {
    request["messages"][1]["content"].to_string()
}

#[tokio::test]
async fn what_one_chat_remembers_the_next_one_is_told() {
    let upstream = remembering().await;
    let (server, ada) = Server::start_signed_in().await;
    connect(&server, &ada, "Up", &upstream.base_url()).await;
    let chat = say(&server, &ada, "Please remember that I like tea.").await;
    let kept = server.get(MEMORIES, &ada).await.json()["memories"][0].clone();
    assert_eq!(
        (&kept["text"], &kept["version"]),
        (&json!("Tea"), &json!(1))
    );
    assert_eq!(kept["author"], json!({"agent": "main", "chat": chat}));

    say(&server, &ada, "Hello").await;
    let request = upstream.requests().pop().unwrap();
    assert_eq!(tools(&request).len(), 5);
    let told = asked(&request);
    assert!(told.contains("- likes") && !told.contains("Tea"), "{told}");
    let pinned = json!({"name": "likes", "text": "Tea", "pinned": true});
    put(
        &server,
        &ada,
        kept["id"].as_str().unwrap(),
        Some(1),
        &pinned,
    )
    .await
    .expect(200);
    say(&server, &ada, "Hello").await;
    let told = asked(&upstream.requests().pop().unwrap());
    assert!(
        told.contains("<memory name=\\\"likes\\\">\\nTea\\n</memory>"),
        "{told}"
    );

    // Another person's agents know nothing of it.
    let bob = server.key_of_plain_user("bob@example.org").await;
    say(&server, &bob, "Hello").await;
    let told = asked(&upstream.requests().pop().unwrap());
    assert!(!told.contains("likes") && !told.contains("Tea"), "{told}");
}

/// The stream of activities tells of every change: an agent's with its run and chat, and a person's own.
#[tokio::test]
async fn document_001_memory_updates_are_told_to_whoever_watches() {
    let upstream = remembering().await;
    let (server, ada) = Server::start_signed_in().await;
    connect(&server, &ada, "Up", &upstream.base_url()).await;
    let mut changes = server.app.runs.subscribe();
    let mut told = || {
        let mut told = Vec::new();
        while let Ok(change) = changes.try_recv() {
            let change = serde_json::to_value(&change).unwrap();
            if change["state"].as_str().unwrap().starts_with("memory") {
                told.push((
                    change["state"].as_str().unwrap().to_owned(),
                    change["chat"].clone(),
                ));
            }
        }
        told
    };
    let around = |chat: Value| {
        [
            ("memory_update_started".to_owned(), chat.clone()),
            ("memory_update_completed".to_owned(), chat),
        ]
    };
    let chat = say(&server, &ada, "Please remember that I like tea.").await;
    assert_eq!(told(), around(json!(chat)));
    let id = server.get(MEMORIES, &ada).await.json()["memories"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    put(
        &server,
        &ada,
        &id,
        Some(1),
        &json!({"name": "likes", "text": "Cake"}),
    )
    .await
    .expect(200);
    assert_eq!(told(), around(Value::Null));
    put(
        &server,
        &ada,
        &id,
        Some(1),
        &json!({"name": "likes", "text": "Tea"}),
    )
    .await
    .expect(409);
    assert_eq!(told(), around(Value::Null), "one that fails is over, too");
    server.delete("/api/v1/facts", &ada).await.expect(204);
    assert_eq!(told(), around(Value::Null));
}

#[tokio::test]
async fn turned_off_nothing_is_told_and_no_tool_is_there() {
    let upstream = remembering().await;
    let (server, ada) = Server::start_signed_in().await;
    connect(&server, &ada, "Up", &upstream.base_url()).await;
    let new = server.get("/api/v1/memory-use", &ada).await.json();
    assert_eq!(new, json!({"uses_memory": true, "learns": false}));
    server
        .post(
            MEMORIES,
            &ada,
            &json!({"name": "likes", "text": "Tea", "pinned": true}),
        )
        .await
        .expect(201);
    let off = json!({"uses_memory": false, "learns": false});
    assert_eq!(
        server.put("/api/v1/memory-use", &ada, &off).await.json(),
        off
    );
    say(&server, &ada, "Please remember that I like cake.").await;
    let requests = upstream.requests();
    assert_eq!(tools(&requests[0]), [""; 0]);
    assert!(
        !requests[0]["messages"].to_string().contains("Tea"),
        "{}",
        requests[0]
    );
    assert!(
        requests[1]
            .to_string()
            .contains("There is no tool memory_append"),
        "{}",
        requests[1]
    );
    assert_eq!(
        server.get(MEMORIES, &ada).await.json()["memories"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}
