//! What administrators do with people's accounts, and how soon it holds.

use futures_util::StreamExt;
use reqwest::{Method, header};
use scripted::{Behaviour, ScriptedServer};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::{
    faults::{until, words},
    harness::{Answer, Server},
    openai::{connect, streaming},
    runs::events,
    sse::Events,
};

const BOB: &str = "bob@example.org";
const BOBS: &str = "battery staple";

impl Server {
    /// Makes Bob's account; returns its id and a session of his.
    async fn bob(&self, admin: &str, role: &str) -> (String, String) {
        let body = json!({"email": BOB, "name": "Bob", "password": BOBS, "role": role});
        let made = self.post("/api/v1/users", admin, &body).await;
        made.expect(200);
        (made.json()["id"].as_str().unwrap().to_owned(), self.log_in().await.cookie())
    }

    async fn log_in(&self) -> Answer {
        self.post("/api/v1/login", "", &json!({"email": BOB, "password": BOBS})).await
    }

    async fn change(&self, admin: &str, user: &str, change: Value) -> Answer {
        let path = format!("/api/v1/users/{user}");
        Answer::of(self.request(Method::PATCH, &path, admin).json(&change)).await
    }
}

#[tokio::test]
async fn an_administrator_makes_and_changes_accounts() {
    let (server, ada) = Server::start_signed_in().await;
    let forged = json!({
        "email": BOB, "name": " Bob ", "password": BOBS, "role": "user",
        "id": "user_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d", "created_at": 1, "suspended_at": 5, "owner_id": "x",
    });
    let made = server.post("/api/v1/users", &ada, &forged).await.json();
    assert_eq!(
        (&made["name"], &made["role"], &made["suspended_at"]),
        (&json!("Bob"), &json!("user"), &json!(null))
    );
    assert_eq!(made["created_at"], server.clock.now_ms());
    assert_ne!(made["id"], forged["id"]);
    let bob = made["id"].as_str().unwrap();
    server.post("/api/v1/users", &ada, &forged).await.expect(409);

    let change =
        json!({"name": "Robert", "id": "x", "created_at": 1, "password": "other words", "email": null});
    let changed = server.change(&ada, bob, change).await.json();
    assert_eq!(
        (&changed["name"], &changed["id"], &changed["email"]),
        (&json!("Robert"), &made["id"], &made["email"])
    );
    assert_eq!(changed["created_at"], made["created_at"]);
    server.log_in().await.expect(200);

    let listed = server.get("/api/v1/users", &ada).await;
    let names: Vec<Value> =
        listed.json()["users"].as_array().unwrap().iter().map(|user| user["name"].clone()).collect();
    assert_eq!(names, ["Ada", "Robert"]);
    assert!(!listed.text.contains("argon2"));

    for (body, status) in [
        (json!({"email": "x"}), 400),
        (json!({"name": ""}), 400),
        (json!({"role": "owner"}), 400),
        (json!({"role": ["admin"]}), 400),
        (json!({"suspended": "yes"}), 400),
        (json!({"email": "ADA@example.org"}), 409),
    ] {
        server.change(&ada, bob, body.clone()).await.expect(status);
    }
    for body in [json!({}), json!({"email": "eve@x", "name": "Eve", "password": "short", "role": "user"})] {
        server.post("/api/v1/users", &ada, &body).await.expect(400);
    }
}

#[tokio::test]
async fn the_last_administrator_stays_one() {
    let (server, ada) = Server::start_signed_in().await;
    let me = server.get("/api/v1/me", &ada).await.json()["user"]["id"].as_str().unwrap().to_owned();
    assert_eq!(server.change(&ada, &me, json!({"role": "user"})).await.expect(409), "conflict");
    server.change(&ada, &me, json!({"suspended": true})).await.expect(409);
    server.delete(&format!("/api/v1/users/{me}"), &ada).await.expect(409);
    let (bob, his) = server.bob(&ada, "admin").await;
    server.change(&ada, &me, json!({"role": "user"})).await.expect(200);
    server.change(&ada, &bob, json!({"role": "user"})).await.expect(403);
    server.change(&his, &bob, json!({"role": "user"})).await.expect(409);
}

/// A key's owner is remembered for a second; a changed role holds at once all the same.
#[tokio::test]
async fn a_role_holds_at_once_for_keys_too() {
    let (server, ada) = Server::start_signed_in().await;
    let (bob, his) = server.bob(&ada, "admin").await;
    let key = server.post("/api/v1/keys", &his, &json!({"name": "x"})).await.json();
    let key = key["secret"].as_str().unwrap();
    server.get("/api/v1/users", key).await.expect(200);
    server.change(&ada, &bob, json!({"role": "user"})).await.expect(200);
    server.get("/api/v1/users", key).await.expect(403);
    server.get("/api/v1/users", &his).await.expect(403);
}

/// Everything Bob has open: a stream of his run, one of all his runs, a WebSocket, and a model's answer passed on.
struct Open {
    server: Server,
    ada: String,
    bob: String,
    key: String,
    run: String,
    streams: Vec<Events>,
    socket: Box<dyn Future<Output = ()> + Send + Unpin>,
    _upstream: ScriptedServer,
}

async fn open() -> Open {
    let upstream = ScriptedServer::start(Behaviour::always(words(6000, 20.0))).await.unwrap();
    let (server, ada) = Server::start_signed_in().await;
    connect(&server, &ada, "Up", &upstream.base_url()).await;
    let (bob, his) = server.bob(&ada, "user").await;
    let made = server.post("/api/v1/keys", &his, &json!({"name": "x"})).await.json();
    let key = made["secret"].as_str().unwrap().to_owned();
    let chat = server.post("/api/v1/chats", &his, &json!({})).await.json();
    let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
    let begun = server.post(&path, &his, &json!({"content": "Hi", "model": "scripted"})).await.json();
    let run = begun["run"].as_str().unwrap().to_owned();
    let passed =
        server.request(Method::POST, "/v1/chat/completions", &key).json(&streaming("scripted", "Hi"));
    let mut streams = vec![
        events(&server, &his, &format!("/runs/{run}/events")).await,
        events(&server, &key, "/api/v1/activity").await,
        Events::of(passed.send().await.unwrap()),
    ];
    for stream in &mut streams {
        stream.next().await.unwrap();
    }
    let mut request = server.url("/ws").replace("http", "ws").into_client_request().unwrap();
    request.headers_mut().insert(header::COOKIE, his.parse().unwrap());
    let tcp = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let (socket, _) = tokio_tungstenite::client_async(request, tcp).await.unwrap();
    let socket = Box::new(Box::pin(socket.for_each(async |_| {})));
    Open { server, ada, bob, key, run, streams, socket, _upstream: upstream }
}

impl Open {
    /// Waits until all of it has ended.
    async fn ends(&mut self) {
        tokio::time::timeout(std::time::Duration::from_secs(5), async {
            for stream in self.streams.drain(..) {
                stream.rest().await;
            }
            (&mut self.socket).await;
        })
        .await
        .unwrap();
        let run: domain::RunId = self.run.parse().unwrap();
        until("its end", async || self.server.app.store.run(run).await.unwrap().finished_at.is_some()).await;
    }
}

#[tokio::test]
async fn suspending_ends_all_that_is_open() {
    let mut open = open().await;
    open.server.get("/api/v1/chats", &open.key).await.expect(200);
    open.server.change(&open.ada, &open.bob, json!({"suspended": true})).await.expect(200);
    open.server.get("/api/v1/chats", &open.key).await.expect(401);
    open.ends().await;
    let refused = open.server.log_in().await;
    assert_eq!(refused.expect(403), "forbidden");
    let wrong = json!({"email": BOB, "password": "not his password"});
    open.server.post("/api/v1/login", "", &wrong).await.expect(401);

    open.server.change(&open.ada, &open.bob, json!({"suspended": false})).await.expect(200);
    open.server.get("/api/v1/chats", &open.key).await.expect(200);
    open.server.log_in().await.expect(200);
    events(&open.server, &open.key, "/api/v1/activity").await;
}

/// Only the database is told, as by another server on it.
#[tokio::test]
async fn another_server_that_suspends_is_heard_of_soon() {
    let mut open = open().await;
    open.server.get("/api/v1/chats", &open.key).await.expect(200);
    let change = store::AccountChange { suspended: Some(true), ..store::AccountChange::default() };
    let user = open.bob.parse().unwrap();
    open.server.app.store.change_account(user, &change, 5).await.unwrap();
    open.ends().await;
    open.server.get("/api/v1/chats", &open.key).await.expect(401);
}

#[tokio::test]
async fn a_suspended_account_is_deleted_with_all_of_it() {
    let mut open = open().await;
    let path = format!("/api/v1/users/{}", open.bob);
    assert_eq!(open.server.delete(&path, &open.ada).await.expect(409), "conflict");
    open.server.change(&open.ada, &open.bob, json!({"suspended": true})).await.expect(200);
    open.server.delete(&path, &open.ada).await.expect(204);
    open.server.delete(&path, &open.ada).await.expect(404);
    for stream in open.streams.drain(..) {
        stream.rest().await;
    }
    let run: domain::RunId = open.run.parse().unwrap();
    assert_eq!(open.server.app.store.run(run).await, Err(store::StoreError::NotFound));
    open.server.get("/api/v1/chats", &open.key).await.expect(401);
    open.server.log_in().await.expect(401);
    open.server.bob(&open.ada, "user").await;
}
