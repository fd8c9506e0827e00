//! Telling an address that a background run has ended: signed, again where it fails, and never into private networks.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Redirect, Response},
    routing::post,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use ring::hmac;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};
use tokio_util::sync::DropGuard;

use crate::{
    faults::until,
    harness::{Server, serve_other},
    openai::connect,
};

const HOOKS: &str = "/api/v1/webhooks";
const HOUR_MS: i64 = 3_600_000;

/// Somebody who is told, and notes what.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Heard>>);

#[derive(Default)]
struct Heard {
    all: Vec<(HeaderMap, String)>,
    /// Answers in place of 200.
    status: Option<u16>,
}

impl Listener {
    async fn start() -> (Self, String, DropGuard) {
        let listener = Self::default();
        let routes = Router::new()
            .route("/hook", post(hear))
            .route("/moved", post(|| async { Redirect::temporary("/hook") }))
            .with_state(listener.clone());
        let (address, running) = serve_other(routes).await;
        (
            listener,
            format!("http://localhost:{}", address.port()),
            running,
        )
    }

    fn heard(&self) -> Vec<(HeaderMap, String)> {
        self.0.lock().unwrap().all.clone()
    }

    fn answer(&self, status: Option<u16>) {
        self.0.lock().unwrap().status = status;
    }
}

async fn hear(State(listener): State<Listener>, headers: HeaderMap, body: String) -> Response {
    let mut heard = listener.0.lock().unwrap();
    heard.all.push((headers, body));
    StatusCode::from_u16(heard.status.unwrap_or(200))
        .unwrap()
        .into_response()
}

struct Office {
    server: Server,
    key: String,
    _upstream: ScriptedServer,
}

impl Office {
    async fn open(allow: &str) -> Self {
        let upstream = ScriptedServer::start(Behaviour::always(Reply::text("All is well.")))
            .await
            .unwrap();
        let server = Server::start_with(&[("GLASSHOUSE_OUTBOUND_ALLOW", allow)]).await;
        let session = server.set_up().await;
        connect(&server, &session, "Up", &upstream.base_url()).await;
        let made = server
            .post("/api/v1/keys", &session, &json!({"name": "test"}))
            .await
            .json();
        Self {
            server,
            key: made["secret"].as_str().unwrap().to_owned(),
            _upstream: upstream,
        }
    }

    async fn name(&self, url: &str) -> Value {
        let made = self
            .server
            .post(HOOKS, &self.key, &json!({ "url": url }))
            .await;
        made.expect(200);
        made.json()
    }

    /// Runs a new schedule once.
    async fn run(&self) -> Value {
        let content = json!({"name": "Report", "prompt": "Report", "cron": "0 9 * * *", "time_zone": "UTC",
            "model": "scripted"});
        let made = self
            .server
            .post("/api/v1/schedules", &self.key, &content)
            .await
            .json();
        let path = format!("/api/v1/schedules/{}/run", made["id"].as_str().unwrap());
        let started = self.server.post(&path, &self.key, &json!({})).await;
        started.expect(200);
        started.json()
    }

    async fn last(&self) -> Value {
        self.server.get(HOOKS, &self.key).await.json()["webhooks"][0]["last"].clone()
    }

    async fn tried(&self, attempts: u32) -> Value {
        until("the next try", async || {
            self.last().await["attempts"] == attempts
        })
        .await;
        self.last().await
    }

    fn pass(&self, time_ms: i64) {
        self.server.clock.advance_ms(time_ms);
        self.server.app.webhooks.look_again();
    }
}

/// As a receiver checks it.
fn check(secret: &str, (headers, body): &(HeaderMap, String)) {
    let key = STANDARD
        .decode(secret.strip_prefix("whsec_").unwrap())
        .unwrap();
    let [id, at, signature] = ["webhook-id", "webhook-timestamp", "webhook-signature"]
        .map(|name| headers[name].to_str().unwrap());
    let tag = STANDARD
        .decode(signature.strip_prefix("v1,").unwrap())
        .unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    hmac::verify(&key, format!("{id}.{at}.{body}").as_bytes(), &tag).unwrap();
    assert!(hmac::verify(&key, format!("{id}.{at}.{body} ").as_bytes(), &tag).is_err());
}

#[tokio::test]
async fn an_address_is_told_of_a_background_run() {
    let (listener, url, _running) = Listener::start().await;
    let office = Office::open("localhost").await;
    let made = office.name(&format!("{url}/hook")).await;
    assert_eq!(made["last"], Value::Null);
    let run = office.run().await;
    let last = office.tried(1).await;
    assert_eq!(
        (&last["state"], &last["run"]),
        (&json!("delivered"), &run["run"])
    );
    let heard = listener.heard();
    assert_eq!(heard.len(), 1);
    check(made["secret"].as_str().unwrap(), &heard[0]);
    let told: Value = serde_json::from_str(&heard[0].1).unwrap();
    assert_eq!(
        (&told["type"], &told["data"]["run"]),
        (&json!("run.finished"), &run["run"])
    );
    assert_eq!(
        (&told["data"]["chat"], &told["data"]["outcome"]),
        (&run["chat"], &json!("completed"))
    );
    assert_eq!(
        (&told["data"]["answer"], &told["data"]["title"]),
        (&json!("All is well."), &json!("Report"))
    );
    // The secret is shown once, and both are sealed.
    let shown = office.server.get(HOOKS, &office.key).await.text;
    assert!(
        shown.contains("/hook") && !shown.contains("whsec_"),
        "{shown}"
    );
    let me = office.server.get("/api/v1/me", &office.key).await.json();
    let owner = me["user"]["id"]
        .as_str()
        .or(me["id"].as_str())
        .unwrap()
        .parse()
        .unwrap();
    let kept = office.server.app.store.webhooks(owner).await.unwrap()[0]
        .sealed
        .clone();
    assert!(!String::from_utf8_lossy(&kept).contains("localhost"));
}

#[tokio::test]
async fn where_it_fails_it_is_told_again_for_some_hours() {
    let (listener, url, _running) = Listener::start().await;
    let office = Office::open("localhost").await;
    office.name(&format!("{url}/hook")).await;
    listener.answer(Some(503));
    office.run().await;
    let last = office.tried(1).await;
    assert_eq!(
        (&last["state"], &last["problem"]),
        (&json!("pending"), &json!("It answered with HTTP 503."))
    );
    office.pass(10_000);
    office.tried(2).await;
    listener.answer(None);
    office.pass(60_000);
    let last = office.tried(3).await;
    assert_eq!(
        (&last["state"], &last["problem"]),
        (&json!("delivered"), &Value::Null)
    );
    let heard = listener.heard();
    assert_eq!(heard.len(), 3);
    assert!(
        heard
            .iter()
            .all(|(headers, _)| headers["webhook-id"] == heard[0].0["webhook-id"])
    );
    assert_ne!(
        heard[0].0["webhook-timestamp"],
        heard[2].0["webhook-timestamp"]
    );

    listener.answer(Some(500));
    let run = office.run().await;
    until("the second run", async || {
        office.last().await["run"] == run["run"]
    })
    .await;
    for attempts in 1..7 {
        let last = office.tried(attempts).await;
        assert_eq!(last["state"], "pending", "{last}");
        office.pass(6 * HOUR_MS);
    }
    assert_eq!(office.tried(7).await["state"], "failed");
    assert_eq!(office.last().await["next_at"], Value::Null);
}

#[tokio::test]
async fn nobody_is_told_where_nobody_is_let() {
    let (listener, url, _running) = Listener::start().await;
    let office = Office::open("").await;
    let (server, key) = (&office.server, &office.key);
    let port = url.rsplit_once(':').unwrap().1;
    for bad in [
        "",
        "nonsense",
        "ftp://example.org/",
        "http://example.org/",
        "https://user:word@example.org/",
        "https://127.0.0.1/",
        "https://2130706433/",
        "https://[::ffff:127.0.0.1]/",
        "https://169.254.169.254/",
        "https://example.org:22/",
        &format!("https://example.org/{}", "x".repeat(2_000)),
    ] {
        let refused = server.post(HOOKS, key, &json!({ "url": bad })).await;
        assert_eq!(refused.expect(400), "invalid_request", "{bad}");
    }
    // A name is looked up only when it is used.
    let made = office.name(&format!("https://localhost:{port}/hook")).await;
    let path = format!("{HOOKS}/{}/test", made["id"].as_str().unwrap());
    let tried = server.post(&path, key, &json!({})).await.json();
    let problem = tried["problem"].as_str().unwrap();
    assert!(
        problem.contains("private network") && !problem.contains("127"),
        "{problem}"
    );
    office.run().await;
    assert_eq!(office.tried(1).await["problem"], tried["problem"]);
    assert_eq!(listener.heard().len(), 0);
}

#[tokio::test]
async fn an_address_is_its_owners_and_can_be_tried_out() {
    let (listener, url, _running) = Listener::start().await;
    let office = Office::open("localhost").await;
    let (server, key) = (&office.server, &office.key);
    let made = office.name(&format!("{url}/hook")).await;
    let path = format!("{HOOKS}/{}", made["id"].as_str().unwrap());
    let try_out = format!("{path}/test");
    assert_eq!(
        server.post(&try_out, key, &json!({})).await.json(),
        json!({ "problem": null })
    );
    check(made["secret"].as_str().unwrap(), &listener.heard()[0]);
    assert!(listener.heard()[0].1.contains("\"test\""));
    let moved = office.name(&format!("{url}/moved")).await;
    let moved = format!("{HOOKS}/{}/test", moved["id"].as_str().unwrap());
    let tried = server.post(&moved, key, &json!({})).await.json();
    assert_eq!(
        tried["problem"], "It answered with HTTP 307.",
        "a redirect is not followed"
    );
    assert_eq!(listener.heard().len(), 1);

    let bob = server.key_of_plain_user("bob@example.org").await;
    assert_eq!(server.get(HOOKS, &bob).await.json()["webhooks"], json!([]));
    server.post(&try_out, &bob, &json!({})).await.expect(404);
    server.delete(&path, &bob).await.expect(404);
    for _ in 2..10 {
        office.name("https://example.org/").await;
    }
    let more = json!({ "url": "https://example.org/" });
    assert_eq!(server.post(HOOKS, key, &more).await.expect(409), "conflict");
    assert_eq!(server.delete(&path, key).await.status, 204);
    office.name("https://example.org/").await;
}
