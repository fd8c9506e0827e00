//! Groups: what is only for some of them is not there for others, at any door, and from the moment that changes.

mod hostile;
mod limits;
mod runs;

use reqwest::Method;
use scripted::{Behaviour, Reply};
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server},
    openai::{CHAT, Door, ask},
};

pub(crate) const BOB: &str = "bob@example.org";

impl Door {
    /// Makes a group; returns its id.
    async fn group(&self, name: &str) -> String {
        let made = self
            .server
            .post("/api/v1/groups", &self.cookie, &json!({"name": name}))
            .await;
        made.expect(200);
        made.json()["id"].as_str().unwrap().to_owned()
    }

    async fn join(&self, group: &str, email: &str) {
        let path = format!("/api/v1/groups/{group}/members");
        self.server
            .post(&path, &self.cookie, &json!({"users": [email]}))
            .await
            .expect(204);
    }

    async fn leave(&self, group: &str, email: &str) {
        let path = format!("/api/v1/groups/{group}/members");
        let members = self.server.get(&path, &self.cookie).await.json();
        let members = members["members"].as_array().unwrap();
        let member = members
            .iter()
            .find(|member| member["email"] == email)
            .unwrap();
        let path = format!("{path}/{}", member["id"].as_str().unwrap());
        self.server.delete(&path, &self.cookie).await.expect(204);
    }

    /// Says that a thing is for these groups only.
    async fn only_for(&self, kind: &str, name: &str, groups: &[&str]) {
        let body = json!({"kind": kind, "name": name, "everybody": false, "groups": groups});
        self.server
            .put("/api/v1/permissions", &self.cookie, &body)
            .await
            .expect(204);
    }

    /// What each door says to bob's wish for this model.
    async fn at_each_door(&self, model: &str) -> Vec<(String, Answer)> {
        let messages = json!([{"role": "user", "content": "Hi"}]);
        let mut answers = Vec::new();
        for (path, body) in [
            (CHAT, ask(model, "Hi")),
            ("/v1/embeddings", json!({"model": model, "input": "Hi"})),
            ("/v1/responses", json!({"model": model, "input": "Hi"})),
            (
                "/chat/stream",
                json!({"model": model, "messages": messages, "stream": false}),
            ),
            ("/api/chat", json!({"model": model, "message": "Hi"})),
            (
                "/api/ui-message-stream",
                json!({"model": model, "messages": [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]}),
            ),
            (
                "/api/v1/schedules",
                json!({"name": "S", "prompt": "Do.", "model": model, "cron": "0 0 1 1 *", "time_zone": "UTC", "enabled": false}),
            ),
        ] {
            answers.push((
                path.to_owned(),
                self.server.post(path, &self.key, &body).await,
            ));
        }
        let chat = self
            .server
            .post("/api/v1/chats", &self.key, &json!({}))
            .await
            .json()["id"]
            .clone();
        let path = format!("/api/v1/chats/{}/messages", chat.as_str().unwrap());
        answers.push((
            path.clone(),
            self.server
                .post(&path, &self.key, &json!({"content": "Hi", "model": model}))
                .await,
        ));
        let thread = domain::RunId::generate();
        let input = json!({
            "threadId": format!("t-{thread}"), "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
            "messages": [{"id": "1", "role": "user", "content": "Hi"}],
        });
        for path in [
            format!("/ag-ui/{model}"),
            format!("/copilotkit/agent/{model}/run"),
        ] {
            answers.push((
                path.clone(),
                self.server.post(&path, &self.key, &input).await,
            ));
        }
        answers
    }

    async fn listed(&self, path: &str, credential: &str) -> String {
        let answer = self.server.get(path, credential).await;
        answer.expect(200);
        answer.text
    }
}

pub(crate) async fn door() -> Door {
    Door::open(Behaviour::always(Reply::text("Hello."))).await
}

/// Whether it was let through; the model server itself knows no embeddings.
fn is_let_through(answer: &Answer) -> bool {
    answer.status.is_success() || answer.text.contains("There is nothing here.")
}

/// The words of a refusal, without the name that was asked for.
fn words(answer: &Answer, name: &str) -> String {
    answer.json()["error"]["message"]
        .as_str()
        .unwrap()
        .replace(name, "X")
}

#[tokio::test]
async fn a_model_for_a_group_is_not_there_for_others_at_any_door() {
    let door = door().await;
    let group = door.group("Research").await;
    for (path, answer) in door.at_each_door("scripted").await {
        assert!(is_let_through(&answer), "{path}: {answer:?}");
    }
    door.only_for("model", "scripted", &[&group]).await;
    let unknown = door.at_each_door("no-such-model").await;
    for ((path, answer), (_, unknown)) in
        door.at_each_door("scripted").await.into_iter().zip(unknown)
    {
        assert_eq!(answer.expect(404), "model_not_found", "{path}");
        assert_eq!(
            words(&answer, "scripted"),
            words(&unknown, "no-such-model"),
            "{path}"
        );
    }
    for path in ["/v1/models", "/api/v1/models", "/copilotkit/info"] {
        assert!(
            !door.listed(path, &door.key).await.contains("scripted"),
            "{path}"
        );
        assert!(
            door.listed(path, &door.cookie).await.contains("scripted"),
            "{path}: an administrator sees all"
        );
    }
    door.server
        .get("/v1/models/scripted", &door.key)
        .await
        .expect(404);
    let models: Value =
        serde_json::from_str(&door.listed("/api/v1/models", &door.key).await).unwrap();
    assert_eq!(
        models["default_model"],
        Value::Null,
        "there is none that they may use"
    );
    let before = door.upstream.requests().len();
    assert_eq!(
        door.post(&ask("glasshouse/agent", "Hi")).await.expect(503),
        "model_unavailable"
    );
    assert_eq!(door.upstream.requests().len(), before);
    door.server
        .post(CHAT, &door.cookie, &ask("scripted", "Hi"))
        .await
        .expect(200);

    door.join(&group, BOB).await;
    for (path, answer) in door.at_each_door("scripted").await {
        assert!(is_let_through(&answer), "{path}: {answer:?}");
    }
    assert!(
        door.listed("/v1/models", &door.key)
            .await
            .contains("scripted")
    );
    door.leave(&group, BOB).await;
    for (path, answer) in door.at_each_door("scripted").await {
        assert_eq!(
            answer.expect(404),
            "model_not_found",
            "{path}, after they have left"
        );
    }
    door.join(&group, BOB).await;
    door.server
        .delete(&format!("/api/v1/groups/{group}"), &door.cookie)
        .await
        .expect(204);
    door.post(&ask("scripted", "Hi")).await.expect(404);
    let body = json!({"kind": "model", "name": "scripted"});
    door.server
        .put("/api/v1/permissions", &door.cookie, &body)
        .await
        .expect(204);
    door.post(&ask("scripted", "Hi")).await.expect(200);
}

#[tokio::test]
async fn an_agent_for_a_group_is_not_there_for_others() {
    let door = door().await;
    let group = door.group("Writers").await;
    let agent = json!({"name": "writer", "description": "Writes.", "instructions": "Write.", "model": "scripted"});
    door.server
        .post("/api/v1/agents", &door.cookie, &agent)
        .await
        .expect(200);
    door.post(&ask("glasshouse/writer", "Hi")).await.expect(200);
    let offered = |door: &Door| door.upstream.requests().last().unwrap()["tools"].to_string();
    door.post(&ask("glasshouse/agent", "Hi")).await.expect(200);
    assert!(
        offered(&door).contains("writer"),
        "work can be handed to it"
    );
    door.only_for("agent", "writer", &[&group]).await;
    let answers = door.at_each_door("glasshouse/writer").await;
    for (path, answer) in answers {
        assert_eq!(answer.status.as_u16(), 404, "{path}: {answer:?}");
    }
    door.server
        .post(
            "/ag-ui/writer",
            &door.key,
            &json!({
                "threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
                "messages": [{"id": "1", "role": "user", "content": "Hi"}],
            }),
        )
        .await
        .expect(404);
    for path in ["/v1/models", "/api/v1/models", "/copilotkit/info"] {
        assert!(
            !door.listed(path, &door.key).await.contains("writer"),
            "{path}"
        );
    }
    door.post(&ask("glasshouse/agent", "Hi")).await.expect(200);
    assert!(
        !offered(&door).contains("writer"),
        "nor is work handed to it"
    );
    door.join(&group, BOB).await;
    door.post(&ask("glasshouse/writer", "Hi")).await.expect(200);
    // An agent brings no model that its user may not use.
    door.only_for("model", "scripted", &[]).await;
    door.post(&ask("glasshouse/writer", "Hi")).await.expect(404);
    assert!(
        !door
            .listed("/v1/models", &door.key)
            .await
            .contains("writer")
    );
    door.server
        .post(CHAT, &door.cookie, &ask("glasshouse/writer", "Hi"))
        .await
        .expect(200);
}

#[tokio::test]
async fn a_tool_for_a_group_is_not_offered_to_others() {
    let door = door().await;
    let group = door.group("Editors").await;
    let tools = async |door: &Door| {
        door.post(&ask("glasshouse/agent", "Hi")).await.expect(200);
        door.upstream.requests().last().unwrap()["tools"].to_string()
    };
    assert!(tools(&door).await.contains("\"write_file\""));
    door.only_for("tool", "write_file", &[&group]).await;
    let offered = tools(&door).await;
    assert!(
        !offered.contains("\"write_file\"") && offered.contains("\"read_file\""),
        "{offered}"
    );
    door.join(&group, BOB).await;
    assert!(tools(&door).await.contains("\"write_file\""));
    door.only_for("tool", "*", &[]).await;
    let offered = tools(&door).await;
    assert!(
        offered.contains("\"write_file\"") && !offered.contains("\"read_file\""),
        "{offered}"
    );
}

#[tokio::test]
async fn rights_are_for_groups_too() {
    let door = door().await;
    let group = door.group("Staff").await;
    let server = &door.server;
    let chat = server
        .post("/api/v1/chats", &door.key, &json!({}))
        .await
        .json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let sharing = format!("/api/v1/chats/{chat}/sharing");
    let readers = format!("/api/v1/chats/{chat}/readers");
    let reader = json!({"email": crate::harness::EMAIL});
    server
        .put(&sharing, &door.key, &json!({"open": true}))
        .await
        .expect(204);
    door.only_for("right", "sharing", &[&group]).await;
    server
        .put(&sharing, &door.key, &json!({"open": true}))
        .await
        .expect(403);
    server
        .put(&sharing, &door.key, &json!({"open": false}))
        .await
        .expect(204);
    server.post(&readers, &door.key, &reader).await.expect(403);
    let schedule = json!({"name": "S", "prompt": "Do.", "cron": "0 0 1 1 *", "time_zone": "UTC"});
    let made = server.post("/api/v1/schedules", &door.key, &schedule).await;
    let now = format!(
        "/api/v1/schedules/{}/run",
        made.json()["id"].as_str().unwrap()
    );
    door.only_for("right", "schedules", &[&group]).await;
    server
        .post("/api/v1/schedules", &door.key, &schedule)
        .await
        .expect(403);
    server.post(&now, &door.key, &json!({})).await.expect(403);
    door.only_for("right", "programs", &[&group]).await;
    let programs = server.get("/api/v1/programs", &door.key).await.json();
    assert_eq!(programs["available"], false);
    assert!(
        programs["problem"]["message"]
            .as_str()
            .unwrap()
            .contains("administrator"),
        "{programs}"
    );
    door.join(&group, BOB).await;
    server
        .put(&sharing, &door.key, &json!({"open": true}))
        .await
        .expect(204);
    server.post(&readers, &door.key, &reader).await.expect(200);
    server.post(&now, &door.key, &json!({})).await.expect(200);
    let key = server
        .post("/api/v1/keys", &door.key, &json!({"name": "more"}))
        .await;
    key.expect(200);
    let more = key.json()["secret"].as_str().unwrap().to_owned();
    door.only_for("right", "api_keys", &[&group]).await;
    server.get("/v1/models", &more).await.expect(200);
    door.leave(&group, BOB).await;
    for key in [&door.key, &more] {
        assert_eq!(
            server.get("/v1/models", key).await.expect(401),
            "unauthenticated",
            "their owner has left"
        );
    }
    server
        .post("/api/v1/keys", &door.cookie, &json!({"name": "mine"}))
        .await
        .expect(200);
}

#[tokio::test]
async fn what_another_server_has_changed_holds_soon() {
    let door = door().await;
    let group = door.group("Research").await;
    door.only_for("model", "scripted", &[&group]).await;
    door.post(&ask("scripted", "Hi")).await.expect(404);
    let bob = door
        .server
        .app
        .store
        .user_by_email(BOB)
        .await
        .unwrap()
        .user
        .id;
    door.server
        .app
        .store
        .add_group_members(group.parse().unwrap(), &[bob])
        .await
        .unwrap();
    crate::faults::until("the other server's change to be seen", async || {
        door.post(&ask("scripted", "Hi")).await.status.is_success()
    })
    .await;
}

#[tokio::test]
async fn people_of_a_front_end_have_nothing_that_only_administrators_have() {
    let door = door().await;
    door.only_for("model", "scripted", &[]).await;
    let body = json!({"name": "front", "front_end": true});
    let made = door.server.post("/api/v1/keys", &door.cookie, &body).await;
    made.expect(200);
    let key = made.json()["secret"].as_str().unwrap().to_owned();
    door.server
        .post(CHAT, &key, &ask("scripted", "Hi"))
        .await
        .expect(200);
    let of_person = door
        .server
        .request(Method::POST, CHAT, &key)
        .json(&ask("scripted", "Hi"));
    Answer::of(of_person.header("x-openwebui-user-id", "7"))
        .await
        .expect(404);
    let group = door.group("Front").await;
    door.only_for("model", "scripted", &[&group]).await;
    door.join(&group, crate::harness::EMAIL).await;
    let of_person = door
        .server
        .request(Method::POST, CHAT, &key)
        .json(&ask("scripted", "Hi"));
    Answer::of(of_person.header("x-openwebui-user-id", "7"))
        .await
        .expect(200);
}

#[tokio::test]
async fn administrators_see_who_is_where() {
    let door = door().await;
    let (a, b) = (door.group("A").await, door.group("B").await);
    door.join(&b, BOB).await;
    let groups = door.server.get("/api/v1/groups", &door.cookie).await.json();
    let rows: Vec<_> = groups["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["name"].clone(), it["members"].clone()))
        .collect();
    assert_eq!(rows, [(json!("A"), json!(0)), (json!("B"), json!(1))]);
    let people = door.server.get("/api/v1/users", &door.cookie).await.json();
    let bob = people["users"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["email"] == BOB)
        .unwrap();
    assert_eq!(bob["groups"], json!([b]));
    door.only_for("workspace", "site", &[&a]).await;
    let all = door
        .server
        .get("/api/v1/permissions", &door.cookie)
        .await
        .json();
    let rule = json!({"kind": "workspace", "name": "site", "everybody": false, "groups": [a]});
    assert_eq!(all["permissions"], json!([rule]));
    assert_eq!(all["things"]["model"], json!(["scripted"]));
    assert!(
        all["things"]["tool"]
            .as_array()
            .unwrap()
            .contains(&json!("write_file")),
        "{all}"
    );
    let taken = door.server.get("/api/v1/me/export", &door.key).await.text;
    assert!(taken.contains(r#""groups":["B"]"#), "{taken}");
    let lines = door.server.get("/api/v1/audit", &door.cookie).await.text;
    for action in ["group.create", "group.add_members", "permission.set"] {
        assert!(lines.contains(action), "{action}");
    }
}

/// A server that knows nothing else, for an administrator.
pub(crate) async fn plain() -> (Server, String) {
    Server::start_signed_in().await
}
