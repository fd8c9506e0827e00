//! Pipelines that a front end asks for itself, by the paths and bodies of the source document 004, and who may.

use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};
use server::identity::auth::Access;

use crate::{harness::Server, openai::connect, runs::events};

const TASKS: [&str; 6] = ["title", "tags", "follow_up", "queries", "auto", "moa"];
const ALL: &str = r#"{"title": "🌱 Photosynthesis Explained Simply", "tags": ["science"], "follow_ups": ["Why?", "How?"],
    "queries": ["light"], "text": " light?"}"#;

struct World {
    server: Server,
    ada: String,
    upstream: ScriptedServer,
}

fn is_task(request: &Value) -> bool {
    request["messages"][0]["content"]
        .to_string()
        .contains("### Task:")
}

impl World {
    async fn new() -> Self {
        let behaviour = Behaviour::answer(|request| match is_task(&request.body) {
            true => Reply::text(ALL),
            false => Reply::text("Photosynthesis is how plants eat light."),
        });
        let upstream = ScriptedServer::start(behaviour).await.unwrap();
        let (server, ada) = Server::start_signed_in().await;
        connect(&server, &ada, "Up", &upstream.base_url()).await;
        let default = json!({"model": "scripted"});
        server
            .put("/api/v1/settings/default-model", &ada, &default)
            .await
            .expect(204);
        Self {
            server,
            ada,
            upstream,
        }
    }

    async fn turn(&self, pipelines: &[&str], on: bool) {
        for name in pipelines {
            let path = format!("/api/v1/pipelines/{name}");
            self.server
                .put(&path, &self.ada, &json!({"enabled": on}))
                .await
                .expect(200);
        }
    }

    async fn turn_titles(&self, on: bool) {
        self.turn(&["title"], on).await;
    }

    /// A chat with a question and its answer.
    async fn chat(&self, title: &str) -> String {
        let made = self
            .server
            .post("/api/v1/chats", &self.ada, &json!({"title": title}))
            .await
            .json();
        let chat = made["id"].as_str().unwrap().to_owned();
        let said = json!({"content": "How does photosynthesis work?", "model": "scripted"});
        let sent = self
            .server
            .post(&format!("/api/v1/chats/{chat}/messages"), &self.ada, &said)
            .await
            .json();
        let path = format!("/runs/{}/events", sent["run"].as_str().unwrap());
        events(&self.server, &self.ada, &path).await.rest().await;
        chat
    }

    async fn title(&self, chat: &str) -> String {
        let view = self
            .server
            .get(&format!("/api/v1/chats/{chat}"), &self.ada)
            .await
            .json();
        view["title"].as_str().unwrap().to_owned()
    }

    fn tasks(&self) -> Vec<Value> {
        self.upstream
            .requests()
            .into_iter()
            .filter(is_task)
            .collect()
    }
}

fn text_of(answer: &Value) -> Value {
    let content = answer["choices"][0]["message"]["content"].as_str().unwrap();
    serde_json::from_str(content).unwrap_or_else(|_| content.into())
}

/// The body of the document, word for word, under its path and under Open WebUI's.
#[tokio::test]
async fn document_004_title_for_chat_id_is_stored_unless_a_person_named_the_chat() {
    let world = World::new().await;
    let messages = json!([{"role": "user", "content": "How does photosynthesis work?"},
        {"role": "assistant", "content": "Photosynthesis is..."}]);
    for path in [
        "/tasks/title/completions",
        "/api/v1/tasks/title/completions",
    ] {
        let chat = world.chat("").await;
        assert_eq!(world.title(&chat).await, "How does photosynthesis work?");
        world.turn_titles(true).await;
        let body = json!({"chat_id": chat, "user_message": "How does photosynthesis work?", "messages": messages});
        let answer = world.server.post(path, &world.ada, &body).await;
        answer.expect(200);
        let title = json!("🌱 Photosynthesis Explained Simply");
        assert_eq!(text_of(&answer.json()), json!({ "title": title }));
        assert_eq!(world.title(&chat).await, title);
        let asked = world.tasks().pop().unwrap();
        assert_eq!(
            asked["model"], "scripted",
            "the chat's model, since there is no model for tasks"
        );
        let prompt = asked["messages"][0]["content"].as_str().unwrap();
        assert_eq!(
            prompt.matches("How does photosynthesis work?").count(),
            1,
            "{prompt}"
        );
        // What a person has named keeps its name.
        let path_of_chat = format!("/api/v1/chats/{chat}");
        let named = world
            .server
            .request(reqwest::Method::PATCH, &path_of_chat, &world.ada);
        crate::harness::Answer::of(named.json(&json!({"title": "Mine"})))
            .await
            .expect(200);
        world.server.post(path, &world.ada, &body).await.expect(200);
        assert_eq!(world.title(&chat).await, "Mine");
        world.turn_titles(false).await;
    }
    let begun_with_a_name = world.chat("Old title").await;
    world.turn_titles(true).await;
    let body = json!({"chat_id": begun_with_a_name});
    let answer = world
        .server
        .post("/tasks/title/completions", &world.ada, &body)
        .await;
    answer.expect(200);
    assert_eq!(world.title(&begun_with_a_name).await, "Old title");
    let prompt = world.tasks().pop().unwrap()["messages"][0]["content"].to_string();
    assert!(
        prompt.contains("plants eat light"),
        "without messages, those of the chat: {prompt}"
    );
}

#[tokio::test]
async fn document_004_each_task_takes_the_bodies_without_a_model() {
    let world = World::new().await;
    world
        .turn(&["title", "tags", "follow_ups", "autocomplete"], true)
        .await;
    let small = json!({"TASK_MODEL": "scripted"});
    world
        .server
        .post("/api/v1/tasks/config/update", &world.ada, &small)
        .await
        .expect(200);
    for prefix in ["/tasks", "/api/v1/tasks"] {
        for (task, answer) in [
            (
                "title",
                json!({"title": "🌱 Photosynthesis Explained Simply"}),
            ),
            ("tags", json!({"tags": ["science"]})),
            ("follow_up", json!({"follow_ups": ["Why?", "How?"]})),
            ("queries", json!({"queries": ["light"]})),
            ("auto", json!({"text": " light?"})),
        ] {
            let body = json!({"chat_id": "8f14e45f-ceea-467f-a8f9-2b6b1ac1a1f1", "user_message": "What is",
                "messages": [{"role": "user", "content": "How?"}, {"role": "assistant", "content": "So."}]});
            let got = world
                .server
                .post(&format!("{prefix}/{task}/completions"), &world.ada, &body)
                .await;
            got.expect(200);
            assert_eq!(text_of(&got.json()), answer, "{prefix} {task}");
            assert!(got.json()["model"].is_string(), "{}", got.text);
        }
        let body = json!({"user_message": "What is light?", "responses": ["A wave", "A particle"]});
        let got = world
            .server
            .post(&format!("{prefix}/moa/completions"), &world.ada, &body)
            .await;
        got.expect(200);
        assert!(
            got.json()["choices"][0]["message"]["content"].is_string(),
            "{}",
            got.text
        );
    }
}

#[tokio::test]
async fn a_chat_of_another_or_of_nobody_gets_no_title() {
    let world = World::new().await;
    let chat = world.chat("").await;
    let bob = world.server.key_of_plain_user("bob@example.org").await;
    for id in [chat.as_str(), "chat_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d"] {
        for task in TASKS {
            let body = json!({"chat_id": id, "user_message": "Hi there", "prompt": "Hi", "responses": ["A"]});
            let refused = world
                .server
                .post(&format!("/tasks/{task}/completions"), &bob, &body)
                .await;
            assert_eq!(refused.expect(404), "not_found", "{task}");
        }
    }
    assert_eq!(world.title(&chat).await, "How does photosynthesis work?");
    assert!(world.tasks().is_empty(), "no model is asked");
}

/// Decision 0083: a key that is only for chats sees and names what it has begun itself; its models bind it.
#[tokio::test]
async fn a_key_names_only_chats_that_it_may_change() {
    let world = World::new().await;
    world.turn_titles(true).await;
    // Nothing is said in it, so that nobody but its callers makes a title.
    let made = world
        .server
        .post("/api/v1/chats", &world.ada, &json!({}))
        .await
        .json();
    let chat = made["id"].as_str().unwrap().to_owned();
    let key = async |rights: Value| {
        let made = world.server.post("/api/v1/keys", &world.ada, &rights).await;
        made.expect(200);
        made.json()["secret"].as_str().unwrap().to_owned()
    };
    let ask = async |key: &str, body: Value| {
        world
            .server
            .post("/tasks/title/completions", key, &body)
            .await
    };
    let of_chat = json!({"chat_id": chat, "user_message": "Hi there"});
    for scopes in [json!(["chat"]), json!(["chat", "read"])] {
        let key = key(json!({"name": "k", "scopes": scopes})).await;
        assert_eq!(
            ask(&key, of_chat.clone()).await.expect(403),
            "forbidden",
            "{scopes}"
        );
        ask(&key, json!({"user_message": "Hi there"}))
            .await
            .expect(200);
    }
    assert_eq!(world.title(&chat).await, "");
    let limited = key(json!({"name": "k", "scopes": ["chat"], "models": ["tour"]})).await;
    assert_eq!(
        ask(&limited, json!({"user_message": "Hi there"}))
            .await
            .expect(403),
        "forbidden"
    );
    let writing = key(json!({"name": "k", "scopes": ["chat", "write"]})).await;
    ask(&writing, of_chat).await.expect(200);
    assert_eq!(
        world.title(&chat).await,
        "🌱 Photosynthesis Explained Simply"
    );
    // A conversation that a program names is a chat of its own, which it has begun and may name.
    let chats = key(json!({"name": "k", "scopes": ["chat"]})).await;
    let said = json!({"message": "How?", "conversationId": "8f14e45f-ceea-467f-a8f9-2b6b1ac1a1f1", "model": "scripted"});
    world
        .server
        .post("/api/chat", &chats, &said)
        .await
        .expect(200);
    let own = json!({"chat_id": said["conversationId"]});
    ask(&chats, own).await.expect(200);
    let listed = world.server.get("/api/v1/chats", &world.ada).await.json();
    let titles: Vec<&str> = listed["chats"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|chat| chat["title"].as_str())
        .collect();
    assert_eq!(
        titles, ["🌱 Photosynthesis Explained Simply"; 2],
        "{listed}"
    );
}

#[test]
fn both_paths_are_for_the_same_callers() {
    for task in TASKS {
        let access = |path: String| {
            server::http::table()
                .into_iter()
                .find(|route| route.path == path)
                .map(|route| route.access)
        };
        let (short, long) = (
            format!("/tasks/{task}/completions"),
            format!("/api/v1/tasks/{task}/completions"),
        );
        assert_eq!(
            (access(short), access(long)),
            (Some(Access::Chat), Some(Access::Chat))
        );
    }
}
