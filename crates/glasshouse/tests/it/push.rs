//! Push notifications: who is told what, and when a browser is told no more.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use domain::Outcome;
use run_registry::{Activity, ActivityState};
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;
use tokio_util::sync::DropGuard;

use crate::{
    faults::until,
    harness::{Answer, EMAIL, PASSWORD, Server, serve_other},
    openai::connect,
    runs::events,
};

const PUSH: &str = "/api/v1/push-subscriptions";
/// The keys of the example of RFC 8291.
const POINT: &str =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
const SECRET: &str = "BTBZMqHH6r4Tts7J_aSIgg";

/// A push service.
#[derive(Clone, Default)]
struct Service(Arc<Mutex<Taken>>);

#[derive(Default)]
struct Taken {
    messages: Vec<(HeaderMap, Bytes)>,
    /// Answers with it.
    status: u16,
}

async fn take(State(service): State<Service>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let mut taken = service.0.lock().unwrap();
    taken.messages.push((headers, body));
    StatusCode::from_u16(taken.status).unwrap()
}

impl Service {
    fn taken(&self) -> Vec<(HeaderMap, Bytes)> {
        self.0.lock().unwrap().messages.clone()
    }

    fn answers(&self, status: u16) {
        self.0.lock().unwrap().status = status;
    }
}

/// A server with a browser, and a model that asks a person before it answers.
struct Desk {
    server: Server,
    cookie: String,
    service: Service,
    endpoint: String,
    activity: Mutex<Receiver<Activity>>,
    _upstream: ScriptedServer,
    _running: DropGuard,
}

impl Desk {
    async fn new() -> Self {
        let behaviour = Behaviour::answer(|request| match request.number {
            1 => Reply::calls(&[("ask_user", json!({"question": "Which?"}))]),
            _ => Reply::text("Done."),
        });
        let upstream = ScriptedServer::start(behaviour).await.unwrap();
        let service = Service::default();
        service.answers(201);
        let routes = Router::new()
            .route("/browser/{id}", post(take))
            .with_state(service.clone());
        let (address, running) = serve_other(routes).await;
        let allow = [("GLASSHOUSE_OUTBOUND_ALLOW", "localhost")];
        let server = Server::start_with(&allow).await;
        let cookie = server.set_up().await;
        connect(&server, &cookie, "Up", &upstream.base_url()).await;
        Self {
            activity: Mutex::new(server.app.runs.subscribe_own()),
            endpoint: format!("http://localhost:{}/browser/", address.port()),
            server,
            cookie,
            service,
            _upstream: upstream,
            _running: running,
        }
    }

    /// The session of another person.
    async fn bob(&self) -> String {
        let bob = json!({"email": "bob@example.org", "name": "Bob", "password": PASSWORD, "role": "user"});
        let made = self.server.post("/api/v1/users", &self.cookie, &bob).await;
        made.expect(200);
        self.server.post("/api/v1/login", "", &bob).await.cookie()
    }

    async fn subscribe(&self, who: &str, browser: &str) -> Answer {
        let endpoint = format!("{}{browser}", self.endpoint);
        let keys = json!({"p256dh": POINT, "auth": SECRET});
        let new = json!({"endpoint": endpoint, "keys": keys, "language": "ru"});
        self.server.post(PUSH, who, &new).await
    }

    async fn count(&self, who: &str) -> usize {
        let list = self.server.get(PUSH, who).await.json();
        list["subscriptions"].as_array().unwrap().len()
    }

    /// Starts a run in a new chat and waits until it asks. Returns the chat and the run.
    async fn ask(&self) -> (String, String) {
        let chat = self
            .server
            .post("/api/v1/chats", &self.cookie, &json!({}))
            .await;
        let chat = chat.json()["id"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/chats/{chat}/messages");
        let body = json!({"content": "A report", "model": "scripted"});
        let run = self.server.post(&path, &self.cookie, &body).await.json()["run"].clone();
        let run = run.as_str().unwrap().to_owned();
        let mut reader = events(&self.server, &self.cookie, &format!("/runs/{run}/events")).await;
        reader
            .until(|it| it["body"]["type"] == "question_asked")
            .await;
        (chat, run)
    }

    async fn answer(&self, run: &str) {
        let inbox = self.server.get("/api/v1/inbox", &self.cookie).await.json();
        let question = inbox["items"][0]["event"]["body"]["question"]
            .as_str()
            .unwrap();
        let path = format!("/runs/{run}/questions/{question}");
        let body = json!({"answer": "This one."});
        self.server.post(&path, &self.cookie, &body).await;
        events(&self.server, &self.cookie, &format!("/runs/{run}/events"))
            .await
            .rest()
            .await;
        self.server.app.runs.ended(run.parse().unwrap()).await;
    }

    /// The latest activity of this state.
    async fn heard(&self, state: ActivityState) -> Activity {
        let mut found = None;
        until("the activity", async || {
            let mut activity = self.activity.lock().unwrap();
            while let Ok(heard) = activity.try_recv() {
                found = Some(heard).filter(|it| it.state == state).or(found.take());
            }
            found.is_some()
        })
        .await;
        found.unwrap()
    }

    async fn tell(&self, activity: &Activity) {
        self.server.app.push.tell(activity).await.unwrap();
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers[name].to_str().unwrap()
}

#[tokio::test]
async fn browsers_are_told_that_a_chat_waits_while_it_does() {
    let desk = Desk::new().await;
    desk.subscribe(&desk.cookie, "one").await.expect(200);
    desk.subscribe(&desk.cookie, "two").await.expect(200);
    let bob = desk.bob().await;
    desk.subscribe(&bob, "of-bob").await.expect(200);
    let (_, run) = desk.ask().await;
    let waiting = desk.heard(ActivityState::Waiting).await;
    desk.tell(&waiting).await;
    let taken = desk.service.taken();
    assert_eq!(taken.len(), 2);
    let (headers, body) = &taken[0];
    assert_eq!(header(headers, "content-encoding"), "aes128gcm");
    assert_eq!(header(headers, "urgency"), "high");
    assert_eq!(header(headers, "ttl"), "86400");
    assert_eq!(header(headers, "topic").len(), 32);
    let key = desk.server.get(PUSH, &desk.cookie).await.json()["public_key"].clone();
    let authorization = header(headers, "authorization");
    assert!(authorization.starts_with("vapid t="), "{authorization}");
    assert!(authorization.ends_with(&format!(", k={}", key.as_str().unwrap())));
    assert!(!body.windows(6).any(|bytes| bytes == b"report"));
    // Answered in the meantime.
    desk.answer(&run).await;
    desk.tell(&waiting).await;
    assert_eq!(desk.service.taken().len(), 2);
}

#[tokio::test]
async fn browsers_are_told_that_a_long_run_has_ended_unless_it_was_seen() {
    let desk = Desk::new().await;
    desk.subscribe(&desk.cookie, "one").await.expect(200);
    let (chat, run) = desk.ask().await;
    desk.server.clock.advance_ms(60_000);
    desk.answer(&run).await;
    let finished = desk.heard(ActivityState::Finished).await;
    assert_eq!(finished.outcome, Some(Outcome::Completed));
    desk.tell(&finished).await;
    assert_eq!(desk.service.taken().len(), 1);
    assert_eq!(header(&desk.service.taken()[0].0, "urgency"), "normal");
    let path = format!("/api/v1/chats/{chat}/read");
    desk.server
        .post(&path, &desk.cookie, &json!({}))
        .await
        .expect(204);
    desk.tell(&finished).await;
    assert_eq!(desk.service.taken().len(), 1);
    let path = format!("/api/v1/chats/{chat}");
    desk.server.delete(&path, &desk.cookie).await.expect(204);
    desk.tell(&finished).await;
    assert_eq!(desk.service.taken().len(), 1);
}

#[tokio::test]
async fn a_browser_is_told_no_more_once_it_has_gone() {
    let desk = Desk::new().await;
    let (_, _) = desk.ask().await;
    let waiting = desk.heard(ActivityState::Waiting).await;
    // The push service says so.
    for status in [404, 410, 403] {
        desk.subscribe(&desk.cookie, "one").await.expect(200);
        desk.service.answers(status);
        desk.tell(&waiting).await;
        assert_eq!(desk.count(&desk.cookie).await, 0, "{status}");
    }
    // A refused message is no reason.
    desk.service.answers(413);
    let id = desk.subscribe(&desk.cookie, "one").await.json()["id"].clone();
    desk.tell(&waiting).await;
    assert_eq!(desk.count(&desk.cookie).await, 1);
    // The person says so.
    let path = format!("{PUSH}/{}", id.as_str().unwrap());
    let bob = desk.bob().await;
    desk.server.delete(&path, &bob).await.expect(404);
    desk.server.delete(&path, &desk.cookie).await.expect(204);
    // Another person signs in with it.
    desk.subscribe(&desk.cookie, "one").await.expect(200);
    desk.subscribe(&bob, "one").await.expect(200);
    assert_eq!(desk.count(&desk.cookie).await, 0);
    // The person signs out.
    desk.service.answers(201);
    let entered = json!({ "email": EMAIL, "password": PASSWORD });
    let other = desk
        .server
        .post("/api/v1/login", "", &entered)
        .await
        .cookie();
    desk.subscribe(&other, "two").await.expect(200);
    desk.server
        .post("/api/v1/logout", &other, &json!({}))
        .await
        .expect(204);
    let before = desk.service.taken().len();
    desk.tell(&waiting).await;
    assert_eq!(desk.service.taken().len(), before);
}

#[tokio::test]
async fn what_is_no_subscription_is_refused() {
    let desk = Desk::new().await;
    let keys = json!({"p256dh": POINT, "auth": SECRET});
    let new = |endpoint: &str, keys: &Value| json!({"endpoint": endpoint, "keys": keys});
    let https = "https://push.example.org/1";
    for (body, field) in [
        (new("http://push.example.org/1", &keys), "endpoint"),
        (new("https://127.0.0.1/1", &keys), "endpoint"),
        (new("no address", &keys), "endpoint"),
        (
            new(&format!("https://a.example/{}", "a".repeat(2000)), &keys),
            "endpoint",
        ),
        (
            new(https, &json!({"p256dh": SECRET, "auth": SECRET})),
            "keys",
        ),
        (new(https, &json!({"p256dh": POINT, "auth": ""})), "keys"),
    ] {
        let refused = desk.server.post(PUSH, &desk.cookie, &body).await;
        refused.expect(400);
        assert_eq!(refused.json()["error"]["field"], field, "{body}");
    }
    // It would outlive the key.
    let key = desk.server.key_of_plain_user("eve@example.org").await;
    desk.subscribe(&key, "of-a-key").await.expect(403);
    for number in 0..20 {
        desk.subscribe(&desk.cookie, &number.to_string())
            .await
            .expect(200);
    }
    // The same browser again is no other one.
    desk.subscribe(&desk.cookie, "7").await.expect(200);
    assert_eq!(
        desk.subscribe(&desk.cookie, "20").await.expect(409),
        "conflict"
    );
    assert_eq!(desk.count(&desk.cookie).await, 20);
}
