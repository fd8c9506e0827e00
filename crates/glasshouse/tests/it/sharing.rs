//! Chats that others may read: by name, by their address, and by administrators where the server is set so. Who gets what
//! from which route is in the matrix; here is how it begins and ends.

use std::time::Duration;

use futures_util::StreamExt;
use reqwest::{Method, header};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::{
    harness::{Answer, EMAIL, Server},
    runs::{events, start_tour},
};

const BOB: &str = "bob@example.org";

/// A chat of the administrator's with a run that waits, and Bob's key.
struct Tour {
    server: Server,
    ada: String,
    bob: String,
    chat: String,
    run: String,
}

async fn start() -> Tour {
    start_with(&[]).await
}

async fn start_with(settings: &[(&str, &str)]) -> Tour {
    let server = Server::start_with(settings).await;
    let ada = server.set_up().await;
    let bob = server.key_of_plain_user(BOB).await;
    let (chat, run) = start_tour(&server, &ada).await;
    Tour {
        server,
        ada,
        bob,
        chat,
        run,
    }
}

impl Tour {
    async fn share(&self, email: &str) -> Answer {
        let path = format!("/api/v1/chats/{}/readers", self.chat);
        self.server
            .post(&path, &self.ada, &json!({ "email": email }))
            .await
    }

    async fn open(&self, open: bool) {
        let path = format!("/api/v1/chats/{}/sharing", self.chat);
        self.server
            .put(&path, &self.ada, &json!({ "open": open }))
            .await
            .expect(204);
    }

    async fn status(&self, who: &str) -> u16 {
        self.server
            .get(&format!("/api/v1/chats/{}", self.chat), who)
            .await
            .status
            .as_u16()
    }

    async fn actions(&self, query: &str) -> Vec<String> {
        let lines = self
            .server
            .get(&format!("/api/v1/audit?{query}"), &self.ada)
            .await
            .json();
        let lines = lines["entries"].as_array().unwrap().iter().rev();
        lines
            .map(|line| line["action"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// What is open of the run, to be seen to end.
async fn watch(tour: &Tour, who: &str) -> impl Future<Output = ()> {
    let path = format!("/runs/{}/events", tour.run);
    let mut stream = events(&tour.server, who, &path).await;
    stream
        .until(|it| it["body"]["type"] == "approval_asked")
        .await;
    let mut request = tour
        .server
        .url(&path)
        .replace("http", "ws")
        .into_client_request()
        .unwrap();
    request.headers_mut().insert(
        header::AUTHORIZATION,
        format!("Bearer {who}").parse().unwrap(),
    );
    let tcp = tokio::net::TcpStream::connect(tour.server.address)
        .await
        .unwrap();
    let (socket, _) = tokio_tungstenite::client_async(request, tcp).await.unwrap();
    async {
        let both = async {
            stream.rest().await;
            socket.for_each(async |_| {}).await;
        };
        tokio::time::timeout(Duration::from_secs(5), both)
            .await
            .unwrap_or_else(|_| panic!("it is still open"));
    }
}

#[tokio::test]
async fn a_chat_is_read_by_whom_it_is_shared_with_until_it_is_not() {
    let tour = start().await;
    let Tour {
        server,
        ada,
        bob,
        chat,
        run,
    } = &tour;
    assert_eq!(tour.status(bob).await, 404);
    assert_eq!(
        tour.share("nobody@example.org").await.json()["error"]["field"],
        "email"
    );
    assert!(tour.share(EMAIL).await.expect(400) == "invalid_request");
    let shared = tour.share(" Bob@Example.org ").await;
    shared.expect(200);
    let reader = shared.json()["id"].as_str().unwrap().to_owned();
    tour.share(BOB).await.expect(200);
    let sharing = server
        .get(&format!("/api/v1/chats/{chat}/sharing"), ada)
        .await
        .json();
    assert_eq!(sharing, json!({"open": false, "readers": [shared.json()]}));

    let seen = server
        .get(&format!("/api/v1/chats/{chat}"), bob)
        .await
        .json();
    assert_eq!(seen["owner"], json!({"name": "Ada", "email": EMAIL}));
    let own = server
        .get(&format!("/api/v1/chats/{chat}"), ada)
        .await
        .json();
    assert_eq!(
        (&seen["messages"], &own["owner"]),
        (&own["messages"], &Value::Null)
    );
    let listed = server.get("/api/v1/shared-chats", bob).await.json();
    assert_eq!(listed["chats"][0]["id"], json!(chat));
    let own_list = server.get("/api/v1/chats", bob).await.json();
    assert_eq!(own_list["chats"], json!([]), "it is not among Bob's own");

    let open = watch(&tour, bob).await;
    server
        .delete(&format!("/api/v1/chats/{chat}/readers/{reader}"), ada)
        .await
        .expect(204);
    assert_eq!(tour.status(bob).await, 404);
    open.await;
    // The owner's own goes on.
    let mut own = events(server, ada, &format!("/runs/{run}/events")).await;
    own.until(|it| it["body"]["type"] == "approval_asked").await;
    server
        .delete(&format!("/api/v1/chats/{chat}/readers/{reader}"), ada)
        .await
        .expect(404);
    assert_eq!(
        tour.actions("action=chat.").await,
        ["chat.share", "chat.share", "chat.unshare"]
    );
}

#[tokio::test]
async fn an_open_chat_is_read_by_everybody_who_is_signed_in() {
    let tour = start().await;
    tour.open(true).await;
    assert_eq!(
        (tour.status(&tour.bob).await, tour.status("").await),
        (200, 401)
    );
    let listed = tour
        .server
        .get("/api/v1/shared-chats", &tour.bob)
        .await
        .json();
    assert_eq!(listed["chats"], json!([]), "who has the address knows it");
    let open = watch(&tour, &tour.bob).await;
    tour.open(false).await;
    assert_eq!(tour.status(&tour.bob).await, 404);
    open.await;
}

#[tokio::test]
async fn the_people_of_a_front_end_read_nothing_of_others() {
    let tour = start().await;
    tour.open(true).await;
    let body = json!({"name": "front", "front_end": true});
    let front = tour
        .server
        .post("/api/v1/keys", &tour.ada, &body)
        .await
        .json();
    let ask = async |path: &str| {
        let request = tour
            .server
            .request(Method::GET, path, front["secret"].as_str().unwrap());
        let person = request
            .header("x-openwebui-user-id", "u1")
            .header("x-openwebui-user-email", "u@x");
        Answer::of(person).await.status
    };
    assert_eq!(ask(&format!("/runs/{}", tour.run)).await, 404);
    assert_eq!(ask(&format!("/runs/{}/events", tour.run)).await, 404);
}

#[tokio::test]
async fn administrators_read_others_chats_only_where_the_server_is_set_so() {
    for moderation in ["false", "true"] {
        let settings = [("GLASSHOUSE_MODERATION", moderation)];
        let Tour {
            server, ada, bob, ..
        } = start_with(&settings).await;
        let told = server.get("/api/v1/me", &bob).await.json();
        assert_eq!(
            told["moderation"],
            json!(moderation == "true"),
            "people are told"
        );
        let (chat, run) = start_tour(&server, &bob).await;
        let tour = Tour {
            server,
            ada,
            bob,
            chat,
            run,
        };
        let me = tour.server.get("/api/v1/me", &tour.bob).await.json();
        let list = format!("/api/v1/users/{}/chats", me["user"]["id"].as_str().unwrap());
        let listed = tour.server.get(&list, &tour.ada).await;
        let ways = [
            format!("/runs/{}", tour.run),
            format!("/api/v1/chats/{}/files", tour.chat),
        ];
        if moderation == "false" {
            assert_eq!(listed.expect(403), "forbidden");
            assert_eq!(tour.status(&tour.ada).await, 404);
            for way in &ways {
                tour.server.get(way, &tour.ada).await.expect(404);
            }
            assert!(tour.actions("query=look").await.is_empty());
            continue;
        }
        assert_eq!(listed.json()["chats"][0]["id"], json!(tour.chat));
        assert_eq!(tour.status(&tour.ada).await, 200);
        for way in &ways {
            tour.server.get(way, &tour.ada).await.expect(200);
        }
        // Read, and no more.
        let path = format!("/api/v1/chats/{}/messages", tour.chat);
        let said = json!({"content": "Hi", "model": "glasshouse/tour"});
        tour.server.post(&path, &tour.ada, &said).await.expect(404);
        tour.server
            .post(
                &format!("/runs/{}/cancel", tour.run),
                &tour.ada,
                &Value::Null,
            )
            .await
            .expect(404);
        assert_eq!(
            tour.actions("query=look").await,
            ["user.look", "chat.look"],
            "one line for one look"
        );
        let line = tour
            .server
            .get("/api/v1/audit?action=chat.look", &tour.ada)
            .await
            .json();
        let line = &line["entries"][0];
        assert_eq!(
            (&line["subject"], &line["subject_name"]),
            (&json!(tour.chat), &json!(BOB))
        );
        // Whoever is no administrator any more reads no longer.
        let eve = tour.server.key_of_plain_user("eve@example.org").await;
        let of_eve = tour.server.get("/api/v1/me", &eve).await.json()["user"]["id"].clone();
        let path = format!("/api/v1/users/{}", of_eve.as_str().unwrap());
        let role = async |role: &str| {
            let change = tour
                .server
                .request(Method::PATCH, &path, &tour.ada)
                .json(&json!({ "role": role }));
            Answer::of(change).await.expect(200)
        };
        role("admin").await;
        let open = watch(&tour, &eve).await;
        role("user").await;
        open.await;
    }
}
