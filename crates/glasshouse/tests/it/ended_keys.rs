//! What programs have open ends soon after their key is taken back, gets another secret, or is too old.

use std::time::Duration;

use futures_util::StreamExt;
use reqwest::header;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::{harness::Server, runs::events, sse::Events};

/// A person with keys, and what is open with each: a stream of events, and a WebSocket.
struct World {
    server: Server,
    ada: String,
}

struct Open {
    id: String,
    secret: String,
    stream: Events,
    socket: Box<dyn Future<Output = ()> + Send + Unpin>,
}

impl World {
    async fn new() -> Self {
        let (server, ada) = Server::start_signed_in().await;
        Self { server, ada }
    }

    async fn key(&self, more: Value) -> Open {
        let mut body = json!({"name": "x"});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let made = self.server.post("/api/v1/keys", &self.ada, &body).await;
        made.expect(200);
        self.open(made.json()).await
    }

    async fn open(&self, made: Value) -> Open {
        let secret = made["secret"].as_str().unwrap().to_owned();
        let stream = events(&self.server, &secret, "/api/v1/activity").await;
        let mut request = self
            .server
            .url("/ws")
            .replace("http", "ws")
            .into_client_request()
            .unwrap();
        request.headers_mut().insert(
            header::AUTHORIZATION,
            format!("Bearer {secret}").parse().unwrap(),
        );
        let tcp = tokio::net::TcpStream::connect(self.server.address)
            .await
            .unwrap();
        let (socket, _) = tokio_tungstenite::client_async(request, tcp).await.unwrap();
        let socket = Box::new(Box::pin(socket.for_each(async |_| {})));
        Open {
            id: made["key"]["id"].as_str().unwrap().to_owned(),
            secret,
            stream,
            socket,
        }
    }

    async fn rotate(&self, key: &Open, grace_s: u64) -> Open {
        let path = format!("/api/v1/keys/{}/rotate", key.id);
        let made = self
            .server
            .post(&path, &self.ada, &json!({"grace_s": grace_s}))
            .await;
        made.expect(200);
        self.open(made.json()).await
    }

    /// What is open with the key has ended, and it opens nothing else.
    async fn has_ended(&self, key: Open) {
        tokio::time::timeout(Duration::from_secs(5), async {
            key.stream.rest().await;
            key.socket.await;
        })
        .await
        .unwrap();
        self.server
            .get("/api/v1/keys", &key.secret)
            .await
            .expect(401);
    }

    /// The key's stream is open: it tells of a run.
    async fn is_open(&self, key: &mut Open) {
        let chat = self
            .server
            .post("/api/v1/chats", &self.ada, &json!({}))
            .await
            .json();
        let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
        self.server
            .post(&path, &self.ada, &json!({"content": "Hi", "model": "tour"}))
            .await
            .expect(200);
        key.stream.next().await.unwrap();
    }
}

#[tokio::test]
async fn what_a_deleted_key_has_open_ends() {
    let world = World::new().await;
    let (gone, mut kept) = (world.key(json!({})).await, world.key(json!({})).await);
    world
        .server
        .delete(&format!("/api/v1/keys/{}", gone.id), &world.ada)
        .await
        .expect(204);
    world.has_ended(gone).await;
    world.is_open(&mut kept).await;
}

/// Only the database is told, as by another server on it.
#[tokio::test]
async fn another_server_that_deletes_a_key_is_heard_of_soon() {
    let world = World::new().await;
    let (gone, mut kept) = (world.key(json!({})).await, world.key(json!({})).await);
    let me = world.server.get("/api/v1/me", &world.ada).await.json();
    let owner = me["user"]["id"].as_str().unwrap().parse().unwrap();
    let now = world.server.clock.now_ms();
    world
        .server
        .app
        .store
        .delete_api_key(owner, gone.id.parse().unwrap(), now)
        .await
        .unwrap();
    world.has_ended(gone).await;
    world.is_open(&mut kept).await;
}

#[tokio::test]
async fn what_was_opened_with_a_replaced_secret_ends_with_it() {
    let world = World::new().await;
    let mut first = world.key(json!({})).await;
    let mut second = world.rotate(&first, 60).await;
    world.is_open(&mut first).await;
    world.server.clock.advance_ms(60_000);
    world.has_ended(first).await;
    world.is_open(&mut second).await;
    // The one before the last has no time left, whatever it was given.
    let third = world.rotate(&second, 600).await;
    let mut fourth = world.rotate(&third, 0).await;
    world.has_ended(second).await;
    world.has_ended(third).await;
    world.is_open(&mut fourth).await;
}

#[tokio::test]
async fn what_a_key_has_open_ends_at_its_time() {
    let world = World::new().await;
    let expires = world.server.clock.now_ms() + 5_000;
    let mut short = world.key(json!({"expires_at": expires})).await;
    let mut long = world.key(json!({"expires_at": expires + 1})).await;
    world.server.clock.advance_ms(4_999);
    world.is_open(&mut short).await;
    world.server.clock.advance_ms(1);
    world.has_ended(short).await;
    world.is_open(&mut long).await;
}
