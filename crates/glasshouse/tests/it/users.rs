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
    pub(crate) async fn bob(&self, admin: &str, role: &str) -> (String, String) {
        let body = json!({"email": BOB, "name": "Bob", "password": BOBS, "role": role});
        let made = self.post("/api/v1/users", admin, &body).await;
        made.expect(200);
        (
            made.json()["id"].as_str().unwrap().to_owned(),
            self.log_in().await.cookie(),
        )
    }

    async fn log_in(&self) -> Answer {
        self.post(
            "/api/v1/login",
            "",
            &json!({"email": BOB, "password": BOBS}),
        )
        .await
    }

    pub(crate) async fn change(&self, admin: &str, user: &str, change: Value) -> Answer {
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
    server
        .post("/api/v1/users", &ada, &forged)
        .await
        .expect(409);

    let change = json!({"name": "Robert", "id": "x", "created_at": 1, "password": "other words", "email": null});
    let changed = server.change(&ada, bob, change).await.json();
    assert_eq!(
        (&changed["name"], &changed["id"], &changed["email"]),
        (&json!("Robert"), &made["id"], &made["email"])
    );
    assert_eq!(changed["created_at"], made["created_at"]);
    server.log_in().await.expect(200);

    let listed = server.get("/api/v1/users", &ada).await;
    let names: Vec<Value> = listed.json()["users"]
        .as_array()
        .unwrap()
        .iter()
        .map(|user| user["name"].clone())
        .collect();
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
    for body in [
        json!({}),
        json!({"email": "eve@x", "name": "Eve", "password": "short", "role": "user"}),
    ] {
        server.post("/api/v1/users", &ada, &body).await.expect(400);
    }
}

#[tokio::test]
async fn the_last_administrator_stays_one() {
    let (server, ada) = Server::start_signed_in().await;
    let me = server.get("/api/v1/me", &ada).await.json()["user"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        server
            .change(&ada, &me, json!({"role": "user"}))
            .await
            .expect(409),
        "conflict"
    );
    server
        .change(&ada, &me, json!({"suspended": true}))
        .await
        .expect(409);
    server
        .delete(&format!("/api/v1/users/{me}"), &ada)
        .await
        .expect(409);
    let (bob, his) = server.bob(&ada, "admin").await;
    server
        .change(&ada, &me, json!({"role": "user"}))
        .await
        .expect(200);
    server
        .change(&ada, &bob, json!({"role": "user"}))
        .await
        .expect(403);
    server
        .change(&his, &bob, json!({"role": "user"}))
        .await
        .expect(409);
}

/// A key's owner is remembered for a second; a changed role holds at once all the same.
#[tokio::test]
async fn a_role_holds_at_once_for_keys_too() {
    let (server, ada) = Server::start_signed_in().await;
    let (bob, his) = server.bob(&ada, "admin").await;
    let key = server
        .post("/api/v1/keys", &his, &json!({"name": "x"}))
        .await
        .json();
    let key = key["secret"].as_str().unwrap();
    server.get("/api/v1/users", key).await.expect(200);
    server
        .change(&ada, &bob, json!({"role": "user"}))
        .await
        .expect(200);
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
    let upstream = ScriptedServer::start(Behaviour::always(words(6000, 20.0)))
        .await
        .unwrap();
    let (server, ada) = Server::start_signed_in().await;
    connect(&server, &ada, "Up", &upstream.base_url()).await;
    let (bob, his) = server.bob(&ada, "user").await;
    let made = server
        .post("/api/v1/keys", &his, &json!({"name": "x"}))
        .await
        .json();
    let key = made["secret"].as_str().unwrap().to_owned();
    let chat = server.post("/api/v1/chats", &his, &json!({})).await.json();
    let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
    let begun = server
        .post(&path, &his, &json!({"content": "Hi", "model": "scripted"}))
        .await
        .json();
    let run = begun["run"].as_str().unwrap().to_owned();
    let passed = server
        .request(Method::POST, "/v1/chat/completions", &key)
        .json(&streaming("scripted", "Hi"));
    let mut streams = vec![
        events(&server, &his, &format!("/runs/{run}/events")).await,
        events(&server, &key, "/api/v1/activity").await,
        Events::of(passed.send().await.unwrap()),
    ];
    for stream in &mut streams {
        stream.next().await.unwrap();
    }
    let mut request = server
        .url("/ws")
        .replace("http", "ws")
        .into_client_request()
        .unwrap();
    request
        .headers_mut()
        .insert(header::COOKIE, his.parse().unwrap());
    let tcp = tokio::net::TcpStream::connect(server.address)
        .await
        .unwrap();
    let (socket, _) = tokio_tungstenite::client_async(request, tcp).await.unwrap();
    let socket = Box::new(Box::pin(socket.for_each(async |_| {})));
    Open {
        server,
        ada,
        bob,
        key,
        run,
        streams,
        socket,
        _upstream: upstream,
    }
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
        until("its end", async || {
            self.server
                .app
                .store
                .run(run)
                .await
                .unwrap()
                .finished_at
                .is_some()
        })
        .await;
    }
}

#[tokio::test]
async fn suspending_ends_all_that_is_open() {
    let mut open = open().await;
    open.server
        .get("/api/v1/chats", &open.key)
        .await
        .expect(200);
    open.server
        .change(&open.ada, &open.bob, json!({"suspended": true}))
        .await
        .expect(200);
    open.server
        .get("/api/v1/chats", &open.key)
        .await
        .expect(401);
    open.ends().await;
    let refused = open.server.log_in().await;
    assert_eq!(refused.expect(403), "forbidden");
    let wrong = json!({"email": BOB, "password": "not his password"});
    open.server
        .post("/api/v1/login", "", &wrong)
        .await
        .expect(401);

    open.server
        .change(&open.ada, &open.bob, json!({"suspended": false}))
        .await
        .expect(200);
    open.server
        .get("/api/v1/chats", &open.key)
        .await
        .expect(200);
    open.server.log_in().await.expect(200);
    events(&open.server, &open.key, "/api/v1/activity").await;
}

/// Only the database is told, as by another server on it.
#[tokio::test]
async fn another_server_that_suspends_is_heard_of_soon() {
    let mut open = open().await;
    open.server
        .get("/api/v1/chats", &open.key)
        .await
        .expect(200);
    let change = store::AccountChange {
        suspended: Some(true),
        ..store::AccountChange::default()
    };
    let user = open.bob.parse().unwrap();
    let now = open.server.clock.now_ms();
    open.server
        .app
        .store
        .change_account(user, &change, now)
        .await
        .unwrap();
    open.ends().await;
    open.server
        .get("/api/v1/chats", &open.key)
        .await
        .expect(401);
}

#[tokio::test]
async fn a_suspended_account_is_deleted_with_all_of_it() {
    let mut open = open().await;
    let path = format!("/api/v1/users/{}", open.bob);
    assert_eq!(
        open.server.delete(&path, &open.ada).await.expect(409),
        "conflict"
    );
    open.server
        .change(&open.ada, &open.bob, json!({"suspended": true}))
        .await
        .expect(200);
    open.server.delete(&path, &open.ada).await.expect(204);
    open.server.delete(&path, &open.ada).await.expect(404);
    for stream in open.streams.drain(..) {
        stream.rest().await;
    }
    let run: domain::RunId = open.run.parse().unwrap();
    assert_eq!(
        open.server.app.store.run(run).await,
        Err(store::StoreError::NotFound)
    );
    open.server
        .get("/api/v1/chats", &open.key)
        .await
        .expect(401);
    open.server.log_in().await.expect(401);
    open.server.bob(&open.ada, "user").await;
}

#[tokio::test]
async fn a_person_deletes_their_own_account_with_all_of_it() {
    let mut open = open().await;
    let his = open.server.log_in().await.cookie();
    let close = async |credential: &str, password: Value| {
        let request = open
            .server
            .request(Method::DELETE, "/api/v1/me", credential);
        Answer::of(request.json(&json!({"password": password, "user": "x"}))).await
    };
    for (credential, password) in [(&his, "wrong words"), (&his, ""), (&open.key, BOBS)] {
        close(credential, json!(password)).await.expect(400);
    }
    close(&his, json!(null)).await.expect(400);
    assert_eq!(
        close(&open.ada, json!(crate::harness::PASSWORD))
            .await
            .expect(409),
        "conflict",
        "nobody is left"
    );
    open.server.get("/api/v1/chats", &his).await.expect(200);
    close(&his, json!(BOBS)).await.expect(204);
    for stream in open.streams.drain(..) {
        stream.rest().await;
    }
    let run: domain::RunId = open.run.parse().unwrap();
    assert_eq!(
        open.server.app.store.run(run).await,
        Err(store::StoreError::NotFound)
    );
    for credential in [&his, &open.key] {
        open.server
            .get("/api/v1/chats", credential)
            .await
            .expect(401);
    }
    open.server.log_in().await.expect(401);
    open.server
        .get("/api/v1/chats", &open.ada)
        .await
        .expect(200);
    open.server.bob(&open.ada, "user").await;
}

/// What a browser has open ends with its session, however that ends; what other browsers and keys have open goes on.
#[tokio::test]
async fn open_streams_end_with_their_session() {
    let (server, here) = Server::start_signed_in().await;
    let log_in = async || {
        let body = json!({"email": crate::harness::EMAIL, "password": crate::harness::PASSWORD});
        server.post("/api/v1/login", "", &body).await.cookie()
    };
    let key = server
        .post("/api/v1/keys", &here, &json!({"name": "k"}))
        .await
        .json()["secret"]
        .clone();
    let mut going_on = vec![
        events(&server, &here, "/api/v1/activity").await,
        events(&server, key.as_str().unwrap(), "/api/v1/activity").await,
    ];
    let sessions =
        async || server.get("/api/v1/me/sessions", &here).await.json()["sessions"].clone();
    let change = json!({"current": crate::harness::PASSWORD, "new": crate::harness::PASSWORD});
    for way in ["a new password", "one by one", "all others", "log out"] {
        let elsewhere = log_in().await;
        let stream = events(&server, &elsewhere, "/api/v1/activity").await;
        let mut request = server
            .url("/ws")
            .replace("http", "ws")
            .into_client_request()
            .unwrap();
        request
            .headers_mut()
            .insert(header::COOKIE, elsewhere.parse().unwrap());
        let tcp = tokio::net::TcpStream::connect(server.address)
            .await
            .unwrap();
        let (socket, _) = tokio_tungstenite::client_async(request, tcp).await.unwrap();
        match way {
            "a new password" => server
                .put("/api/v1/me/password", &here, &change)
                .await
                .expect(204),
            "one by one" => {
                let all = sessions().await;
                let other = all
                    .as_array()
                    .unwrap()
                    .iter()
                    .find(|it| it["current"] == false)
                    .unwrap();
                let path = format!("/api/v1/me/sessions/{}", other["id"].as_str().unwrap());
                server.delete(&path, &here).await.expect(204)
            }
            "all others" => server
                .delete("/api/v1/me/sessions", &here)
                .await
                .expect(204),
            _ => server
                .post("/api/v1/logout", &elsewhere, &Value::Null)
                .await
                .expect(204),
        };
        server.get("/api/v1/chats", &elsewhere).await.expect(401);
        tokio::time::timeout(std::time::Duration::from_secs(5), async {
            stream.rest().await;
            socket.for_each(async |_| {}).await;
        })
        .await
        .unwrap_or_else(|_| panic!("still open after: {way}"));
        assert_eq!(sessions().await.as_array().unwrap().len(), 1, "{way}");
    }
    crate::runs::start_tour(&server, &here).await;
    for stream in &mut going_on {
        stream.next().await.unwrap();
    }

    // The time of a session is up for its streams too.
    server.clock.advance_ms(30 * 24 * 3_600_000);
    going_on.remove(0).rest().await;
    server
        .get("/api/v1/chats", key.as_str().unwrap())
        .await
        .expect(200);
}

#[tokio::test]
async fn people_see_their_sessions_and_end_all_of_them() {
    let (server, ada) = Server::start_signed_in().await;
    let body = json!({"email": crate::harness::EMAIL, "password": crate::harness::PASSWORD});
    let request = server
        .request(Method::POST, "/api/v1/login", "")
        .json(&body);
    let firefox = format!(
        "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0{}",
        "x".repeat(5000)
    );
    server.clock.advance_ms(60_000);
    let phone = Answer::of(request.header("user-agent", firefox))
        .await
        .cookie();
    let (_, bobs) = server.bob(&ada, "user").await;

    let listed = server.get("/api/v1/me/sessions", &ada).await;
    let mut sessions = listed.json()["sessions"].as_array().unwrap().clone();
    assert_eq!(sessions.len(), 2, "{}", listed.text);
    sessions.sort_by_key(|session| session["created_at"].as_i64());
    let (mine, other) = (&sessions[0], &sessions[1]);
    assert_eq!(
        (&mine["current"], &other["current"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(
        (&other["browser"], &other["system"]),
        (&json!("Firefox"), &json!("Linux"))
    );
    assert_eq!(other["address"], "127.0.0.1");
    let now = server.clock.now_ms();
    assert_eq!(
        (&other["created_at"], &other["expires_at"]),
        (&json!(now), &json!(now + 30 * 24 * 3_600_000))
    );
    assert_eq!(
        mine["last_used_at"], now,
        "a minute after it began it was used again"
    );
    assert!(
        !listed.text.contains("Mozilla") && !listed.text.contains(&phone[20..]),
        "{}",
        listed.text
    );

    let theirs = format!("/api/v1/me/sessions/{}", mine["id"].as_str().unwrap());
    server.delete(&theirs, &bobs).await.expect(404);
    server
        .delete("/api/v1/me/sessions/session_1", &ada)
        .await
        .expect(404);
    let out = server.delete("/api/v1/me/sessions?all=true", &ada).await;
    out.expect(204);
    assert_eq!(out.cookie(), "glasshouse_session=");
    for (who, status) in [(&ada, 401), (&phone, 401), (&bobs, 200)] {
        server.get("/api/v1/chats", who).await.expect(status);
    }
}

#[tokio::test]
async fn people_change_their_own_name_and_nothing_else() {
    let (server, ada) = Server::start_signed_in().await;
    let (_, bob) = server.bob(&ada, "user").await;
    let rename = async |who: &str, body: Value| {
        Answer::of(server.request(Method::PATCH, "/api/v1/me", who).json(&body)).await
    };
    let wish =
        json!({"name": " Robert ", "email": "ada@example.org", "role": "admin", "id": "user_1"});
    rename(&bob, wish).await.expect(200);
    let me = server.get("/api/v1/me", &bob).await.json()["user"].clone();
    assert_eq!(
        (&me["name"], &me["email"], &me["role"]),
        (&json!("Robert"), &json!(BOB), &json!("user"))
    );
    for bad in [
        json!({}),
        json!({"name": ""}),
        json!({"name": "a\u{0}b"}),
        json!({"name": "x".repeat(500)}),
    ] {
        rename(&bob, bad).await.expect(400);
    }
    let audit = server
        .get("/api/v1/audit?action=user.change", &ada)
        .await
        .json();
    assert_eq!(audit["entries"][0]["actor_email"], BOB);
    assert_eq!(audit["entries"][0]["details"]["name"], "Robert");
}
