//! Temporary chats: in no list, no search and no export, and gone once they have expired.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    chat_search::fill,
    harness::{Answer, Server},
    openai::connect,
    runs::events,
};
use scripted::{Behaviour, Reply, ScriptedServer};

const DAY_SECONDS: i64 = 24 * 3600;

async fn patch(server: &Server, who: &str, chat: &str, body: &Value) -> Answer {
    let path = format!("/api/v1/chats/{chat}");
    Answer::of(server.request(Method::PATCH, &path, who).json(body)).await
}

/// A chat in which a message about kangaroos was sent and answered.
async fn chat_about_kangaroos(server: &Server, who: &str, new: &Value) -> String {
    let chat = server.post("/api/v1/chats", who, new).await.json();
    let chat = chat["id"].as_str().unwrap().to_owned();
    let body = json!({"content": "Kangaroos?", "model": "scripted", "parent": null});
    let path = format!("/api/v1/chats/{chat}/messages");
    let run = server.post(&path, who, &body).await.json()["run"].clone();
    let path = format!("/runs/{}/events", run.as_str().unwrap());
    events(server, who, &path).await.rest().await;
    chat
}

async fn started() -> (Server, String, ScriptedServer) {
    let behaviour = Behaviour::answer(|_| Reply::text("They jump."));
    let upstream = ScriptedServer::start(behaviour).await.unwrap();
    let (server, ada) = Server::start_signed_in().await;
    connect(&server, &ada, "Up", &upstream.base_url()).await;
    (server, ada, upstream)
}

#[tokio::test]
async fn a_temporary_chat_is_in_no_list_and_ends() {
    let (server, ada, _upstream) = started().await;
    let new = json!({"expires_in_seconds": DAY_SECONDS});
    let chat = chat_about_kangaroos(&server, &ada, &new).await;
    let path = format!("/api/v1/chats/{chat}");
    let view = server.get(&path, &ada).await.json();
    let expected = server.clock.now_ms() + DAY_SECONDS * 1000;
    assert_eq!(view["expires_at"], expected);
    assert_eq!(view["messages"][1]["content"][0]["text"], "They jump.");
    // Nothing shows it.
    fill(&server).await;
    for path in [
        "/api/v1/chats",
        "/api/v1/chats?archived=true",
        "/api/v1/chats?query=kangaroos",
        "/api/v1/chats/search?query=kangaroos",
        "/api/v1/me/export",
    ] {
        let answer = server.get(path, &ada).await;
        answer.expect(200);
        assert!(!answer.text.contains(&chat), "{path}: {}", answer.text);
    }
    // It lives longer where that is asked for.
    server.clock.advance_ms(DAY_SECONDS * 1000 - 1);
    let removal = &server.app.removal;
    removal.clone().delete_expired().await.unwrap();
    let longer = json!({"expires_in_seconds": 300});
    patch(&server, &ada, &chat, &longer).await.expect(200);
    server.clock.advance_ms(299_999);
    removal.clone().delete_expired().await.unwrap();
    let store = &server.app.store;
    let run = view["messages"][1]["run"].as_str().unwrap();
    assert!(store.run(run.parse().unwrap()).await.is_ok());
    server.clock.advance_ms(1);
    removal.clone().delete_expired().await.unwrap();
    assert!(store.run(run.parse().unwrap()).await.is_err());
    let found = store.messages(chat.parse().unwrap()).await.unwrap();
    assert_eq!(found, []);
}

#[tokio::test]
async fn a_temporary_chat_can_be_kept_but_not_shared() {
    let (server, ada, _upstream) = started().await;
    let new = json!({"expires_in_seconds": 60});
    let chat = chat_about_kangaroos(&server, &ada, &new).await;
    server.key_of_plain_user("bob@example.org").await;
    let readers = format!("/api/v1/chats/{chat}/readers");
    let bob = json!({"email": "bob@example.org"});
    let sharing = format!("/api/v1/chats/{chat}/sharing");
    let open = json!({"open": true});
    assert_eq!(
        server.post(&readers, &ada, &bob).await.expect(409),
        "conflict"
    );
    assert_eq!(
        server.put(&sharing, &ada, &open).await.expect(409),
        "conflict"
    );
    let keep = json!({"expires_in_seconds": null});
    let kept = patch(&server, &ada, &chat, &keep).await;
    assert_eq!(kept.json()["expires_at"], Value::Null);
    server.post(&readers, &ada, &bob).await.expect(200);
    server.put(&sharing, &ada, &open).await.expect(204);
    server.clock.advance_ms(60_000);
    server.app.removal.clone().delete_expired().await.unwrap();
    let list = server.get("/api/v1/chats?query=kangaroos", &ada).await;
    assert_eq!(list.json()["chats"][0]["id"], chat.as_str());
    // What people rely on does not expire, and what expires does so in reasonable time.
    let expire = json!({"expires_in_seconds": 60});
    assert_eq!(
        patch(&server, &ada, &chat, &expire).await.expect(409),
        "conflict"
    );
    for seconds in [0, 59, 30 * DAY_SECONDS + 1] {
        let new = json!({"expires_in_seconds": seconds});
        server.post("/api/v1/chats", &ada, &new).await.expect(400);
        patch(&server, &ada, &chat, &new).await.expect(400);
    }
}

#[tokio::test]
async fn a_run_of_an_expired_chat_is_stopped() {
    let asks = Behaviour::answer(|_| Reply::calls(&[("ask_user", json!({"question": "Which?"}))]));
    let upstream = ScriptedServer::start(asks).await.unwrap();
    let (server, ada) = Server::start_signed_in().await;
    connect(&server, &ada, "Up", &upstream.base_url()).await;
    let new = json!({"expires_in_seconds": 60});
    let chat = server.post("/api/v1/chats", &ada, &new).await.json();
    let chat = chat["id"].as_str().unwrap();
    let body = json!({"content": "Go.", "model": "scripted", "parent": null});
    let path = format!("/api/v1/chats/{chat}/messages");
    let run = server.post(&path, &ada, &body).await.json()["run"].clone();
    let path = format!("/runs/{}/events", run.as_str().unwrap());
    let mut reader = events(&server, &ada, &path).await;
    reader
        .until(|it| it["body"]["type"] == "question_asked")
        .await;
    server.clock.advance_ms(60_000);
    server.app.removal.clone().delete_expired().await.unwrap();
    let path = format!("/api/v1/chats/{chat}");
    assert_eq!(server.get(&path, &ada).await.expect(404), "not_found");
    assert!(server.app.runs.live_in(chat.parse().unwrap()).is_empty());
}
