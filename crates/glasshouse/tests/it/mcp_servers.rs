//! MCP servers of the settings: added, changed, tested and removed while the server runs, also on another server of the
//! same database. The MCP server is a second Glasshouse.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    faults::postgres::Cluster,
    harness::{Answer, EMAIL, PASSWORD, Server, new_folder},
    openai::connect,
    runs::events,
};

const SERVERS: &str = "/api/v1/mcp-servers";

/// A Glasshouse whose MCP server is used, with the header that it accepts.
struct Other {
    server: Server,
    header: String,
}

impl Other {
    async fn start() -> Self {
        let (server, cookie) = Server::start_signed_in().await;
        let made = server
            .post("/api/v1/keys", &cookie, &json!({"name": "mcp"}))
            .await;
        let key = made.json()["secret"].as_str().unwrap().to_owned();
        let header = format!("Bearer {key}");
        Self { server, header }
    }

    fn settings(&self, name: &str) -> Value {
        json!({
            "name": name,
            "url": self.server.url("/mcp"),
            "headers": {"Authorization": self.header},
            "tools": ["fetch_page"],
        })
    }
}

async fn patch(server: &Server, cookie: &str, name: &str, body: &Value) -> Answer {
    let path = format!("{SERVERS}/{name}");
    Answer::of(server.request(Method::PATCH, &path, cookie).json(body)).await
}

/// The server of this name as the list has it.
async fn listed(server: &Server, cookie: &str, name: &str) -> Value {
    let list = server.get(SERVERS, cookie).await.json();
    let mut servers = list["servers"].as_array().unwrap().iter();
    let found = servers.find(|server| server["name"] == name);
    found.cloned().unwrap_or_default()
}

fn code(answer: &Answer) -> Value {
    answer.json()["error"]["sentence"]["code"].clone()
}

#[tokio::test]
async fn one_is_added_changed_and_deleted_while_the_server_runs() {
    let other = Other::start().await;
    let (server, ada) = Server::start_signed_in().await;
    let mut without_key = other.settings("far");
    without_key["headers"] = json!({});
    for (path, body) in [
        (format!("{SERVERS}/test"), &without_key),
        (SERVERS.to_owned(), &without_key),
    ] {
        let refused = server.post(&path, &ada, body).await;
        refused.expect(422);
        assert_eq!(code(&refused), "mcp_unusable", "{}", refused.text);
    }
    let tested = server
        .post(&format!("{SERVERS}/test"), &ada, &other.settings("far"))
        .await;
    tested.expect(200);
    assert_eq!(tested.json()["tools"][0]["name"], "test__fetch_page");
    assert_eq!(listed(&server, &ada, "far").await, Value::Null);

    let added = server.post(SERVERS, &ada, &other.settings("far")).await;
    added.expect(200);
    assert!(!added.text.contains("Bearer"), "{}", added.text);
    let twice = server.post(SERVERS, &ada, &other.settings("far")).await;
    twice.expect(409);
    assert_eq!(code(&twice), "mcp_name_taken");
    let far = until_state(&server, &ada, "far", "connected").await;
    assert_eq!(far["tools"][0]["name"], "far__fetch_page");
    assert_eq!(far["tools"][0]["needs_approval"], false);
    assert_eq!(far["headers"], json!(["authorization"]));
    assert_eq!(far["source"], "settings");

    let always = json!({"approval": "always", "timeout_seconds": 7});
    patch(&server, &ada, "far", &always).await.expect(200);
    let far = until_state(&server, &ada, "far", "connected").await;
    assert_eq!(far["tools"][0]["needs_approval"], true);
    assert_eq!(far["timeout_seconds"], 7);

    patch(&server, &ada, "far", &json!({"enabled": false}))
        .await
        .expect(200);
    assert_eq!(listed(&server, &ada, "far").await["state"], "off");
    assert_eq!(reads_through(&server, &ada, "far").await, None);
    patch(&server, &ada, "far", &json!({"enabled": true}))
        .await
        .expect(200);

    server
        .delete(&format!("{SERVERS}/far"), &ada)
        .await
        .expect(204);
    assert_eq!(listed(&server, &ada, "far").await, Value::Null);
    let audit = server.get("/api/v1/audit", &ada).await;
    for action in [
        "mcp_server.create",
        "mcp_server.change",
        "mcp_server.delete",
        "mcp_server.test",
    ] {
        assert!(audit.text.contains(action), "{action}");
    }
    assert!(!audit.text.contains(&other.header), "{}", audit.text);
}

/// The next run has the tools of a server that was just added, without a restart.
#[tokio::test]
async fn the_next_run_has_its_tools() {
    let other = Other::start().await;
    let (server, ada) = Server::start_signed_in().await;
    assert_eq!(reads_through(&server, &ada, "far").await, None);
    server
        .post(SERVERS, &ada, &other.settings("far"))
        .await
        .expect(200);
    let read = reads_through(&server, &ada, "far").await;
    assert_eq!(read.as_deref(), Some("tool_finished"));
}

#[tokio::test]
async fn secrets_go_to_no_other_host() {
    let other = Other::start().await;
    let (server, ada) = Server::start_signed_in().await;
    server
        .post(SERVERS, &ada, &other.settings("far"))
        .await
        .expect(200);
    let elsewhere = "http://localhost:9/mcp";
    for change in [
        json!({"url": elsewhere}),
        json!({"url": elsewhere, "headers": {"X-Other": "a"}}),
    ] {
        let refused = patch(&server, &ada, "far", &change).await;
        refused.expect(409);
        assert_eq!(code(&refused), "mcp_secrets_of_other_host");
        let path = format!("{SERVERS}/far/test");
        server.post(&path, &ada, &change).await.expect(409);
    }
    let path = format!("{}?x=1", other.server.url("/mcp"));
    patch(&server, &ada, "far", &json!({"url": path}))
        .await
        .expect(200);
    for headers in [
        json!({"AUTHORIZATION": null}),
        json!({"authorization": "Bearer new"}),
    ] {
        let change = json!({"url": elsewhere, "headers": headers, "enabled": false});
        patch(&server, &ada, "far", &change).await.expect(200);
        let back =
            json!({"url": other.server.url("/mcp"), "headers": {"authorization": other.header}});
        patch(&server, &ada, "far", &back).await.expect(200);
    }
}

#[tokio::test]
async fn what_cannot_be_used_is_refused_at_its_field() {
    let (server, ada) = Server::start_signed_in().await;
    for (body, field) in [
        (json!({"name": "a b"}), "name"),
        (json!({"name": "a__b"}), "name"),
        (json!({"name": "_a"}), "name"),
        (json!({"name": ""}), "name"),
        (json!({"name": "a".repeat(33)}), "name"),
        (json!({"url": ""}), "url"),
        (json!({"url": "notes.example.org"}), "url"),
        (json!({"url": "file:///etc/passwd"}), "url"),
        (json!({"url": "https://a:b@example.org"}), "url"),
        (json!({"url": "x".repeat(5000)}), "url"),
        (json!({"headers": {"a b": "x"}}), "headers"),
        (json!({"headers": {"Mcp-Session-Id": "x"}}), "headers"),
        (json!({"headers": {"X": "a\nb"}}), "headers"),
        (
            json!({"headers": {"Authorization": "x"}, "sign_in": "oauth"}),
            "headers",
        ),
        (
            json!({"headers": {"X-Key": "x"}, "sign_in": "user_token", "token_header": "x-key"}),
            "headers",
        ),
        (json!({"token_header": "X-Key"}), "token_header"),
        (
            json!({"sign_in": "user_token", "token_header": "a b"}),
            "token_header",
        ),
        (
            json!({"sign_in": "oauth", "oauth": {"client_secret": "s"}}),
            "oauth.client_id",
        ),
        (
            json!({"sign_in": "oauth", "oauth": {"scopes": "read \u{1}"}}),
            "oauth.scopes",
        ),
        (json!({"timeout_seconds": 0}), "timeout_seconds"),
        (json!({"timeout_seconds": 86_401}), "timeout_seconds"),
        (json!({"tools": [""]}), "tools"),
        (json!({"tools": vec!["a"; 201]}), "tools"),
    ] {
        let mut new = json!({"name": "far", "url": "http://127.0.0.1:9/mcp"});
        let fields = body.as_object().unwrap().clone();
        new.as_object_mut().unwrap().extend(fields);
        let refused = server.post(SERVERS, &ada, &new).await;
        refused.expect(400);
        assert_eq!(refused.json()["error"]["field"], field, "{body}");
    }
    for (body, status) in [
        (json!({"name": "a", "command": "/bin/sh"}), 400),
        (json!({"name": "a", "url": 5}), 400),
        (json!({"name": "a", "url": "http://127.0.0.1:9/mcp"}), 422),
    ] {
        server.post(SERVERS, &ada, &body).await.expect(status);
    }
    let unknown = patch(&server, &ada, "nobody", &json!({"enabled": true})).await;
    unknown.expect(404);
}

/// One of the file can only be read, and wins over one of the same name.
#[tokio::test]
async fn one_of_the_file_stays_as_it_is() {
    let other = Other::start().await;
    let folder = new_folder();
    let started = start(&folder, "", "").await;
    let ada = started.set_up().await;
    for name in ["far", "near"] {
        started
            .post(SERVERS, &ada, &other.settings(name))
            .await
            .expect(200);
    }
    let file = format!(
        "[[mcp_servers]]\nname = \"far\"\nurl = \"{}\"\nheaders = {{ X-Key = \"a secret of the file\" }}\n",
        other.server.url("/mcp")
    );
    stop(started).await;
    let server = start(&folder, &file, "").await;
    let list = server.get(SERVERS, &ada).await;
    assert!(!list.text.contains("a secret"), "{}", list.text);
    let list = list.json();
    let states = list["servers"].as_array().unwrap().iter();
    let states: Vec<_> = states
        .map(|server| {
            (
                server["name"].clone(),
                server["source"].clone(),
                server["state"] == "off",
            )
        })
        .collect();
    assert_eq!(
        json!(states),
        json!([
            ["far", "file", false],
            ["far", "settings", true],
            ["near", "settings", false]
        ])
    );
    let problem = &list["servers"][1]["problems"][0]["sentence"]["code"];
    assert_eq!(problem, "mcp_name_in_file");
    // The one of the settings can still be removed; then only the file's is left, which cannot.
    let path = format!("{SERVERS}/far");
    server.delete(&path, &ada).await.expect(204);
    server.delete(&path, &ada).await.expect(409);
    patch(&server, &ada, "far", &json!({"enabled": false}))
        .await
        .expect(409);
    server
        .post(SERVERS, &ada, &other.settings("far"))
        .await
        .expect(409);
    until_state(&server, &ada, "near", "connected").await;
    stop(server).await;

    // With another key the secrets are unreadable, and no request is sent without them.
    let data = folder.join("data");
    std::fs::remove_file(data.join("secret.key")).unwrap();
    let accepted = std::process::Command::new(env!("CARGO_BIN_EXE_glasshouse"))
        .args(["secret-key", "accept", "--data-dir"])
        .arg(&data)
        .env_clear()
        .env(
            "GLASSHOUSE_DATABASE_URL",
            format!("sqlite://{}", folder.join("test.db").display()),
        )
        .output()
        .unwrap();
    assert!(accepted.status.success(), "{accepted:?}");
    let server = start(&folder, "", "").await;
    let login = json!({"email": EMAIL, "password": PASSWORD});
    let ada = server.post("/api/v1/login", "", &login).await.cookie();
    let near = listed(&server, &ada, "near").await;
    assert_eq!(near["state"], "off");
    assert_eq!(
        near["problems"][0]["sentence"]["code"],
        "mcp_secrets_unreadable"
    );
    let again = json!({"headers": {"authorization": other.header}});
    patch(&server, &ada, "near", &again).await.expect(200);
    until_state(&server, &ada, "near", "connected").await;
}

/// A search with a tool of a server comes and goes with it, also if the server was off at the start.
#[tokio::test]
async fn a_search_tool_comes_and_goes_with_its_server() {
    let other = Other::start().await;
    let folder = new_folder();
    let server = start(&folder, "", "").await;
    let ada = server.set_up().await;
    server
        .post(SERVERS, &ada, &other.settings("far"))
        .await
        .expect(200);
    let providers = json!({"providers": [{"kind": "mcp", "tool": "far__fetch_page"}]});
    server
        .put("/api/v1/web-search", &ada, &providers)
        .await
        .expect(200);
    let problem = async |server: &Server, ada: &str| {
        let search = server.get("/api/v1/web-search", ada).await.json();
        search["providers"][0]["problem"]["sentence"]["code"].clone()
    };
    assert_eq!(problem(&server, &ada).await, Value::Null);
    patch(&server, &ada, "far", &json!({"enabled": false}))
        .await
        .expect(200);
    assert_eq!(problem(&server, &ada).await, "bad_search_tool");
    stop(server).await;

    let server = start(&folder, "", "").await;
    assert_eq!(problem(&server, &ada).await, "bad_search_tool");
    patch(&server, &ada, "far", &json!({"enabled": true}))
        .await
        .expect(200);
    assert_eq!(problem(&server, &ada).await, Value::Null);
    until_state(&server, &ada, "far", "connected").await;
    let me = server.get("/api/v1/me", &ada).await.json();
    assert_eq!(me["web_search"], true);
}

/// What one server of a database changes, the others have without a restart: MCP servers, connections and agents.
#[tokio::test(flavor = "multi_thread")]
async fn another_server_of_the_database_follows() {
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    let other = Other::start().await;
    let (folder, folder_of_second) = (new_folder(), new_folder());
    let first = start(&folder, "", &cluster.url()).await;
    let key = |folder: &Path| folder.join("data").join("secret.key");
    std::fs::create_dir(folder_of_second.join("data")).unwrap();
    std::fs::copy(key(&folder), key(&folder_of_second)).unwrap();
    let second = start(&folder_of_second, "", &cluster.url()).await;
    let ada = first.set_up().await;
    first
        .post(SERVERS, &ada, &other.settings("far"))
        .await
        .expect(200);
    until_state(&second, &ada, "far", "connected").await;
    let away = json!({"enabled": false});
    patch(&second, &ada, "far", &away).await.expect(200);
    until_state(&first, &ada, "far", "off").await;

    let upstream = ScriptedServer::start(Behaviour::sequence(vec![]))
        .await
        .unwrap();
    connect(&first, &ada, "Up", &upstream.base_url()).await;
    until(async || {
        let models = second.get("/api/v1/models", &ada).await;
        models.text.contains("scripted").then_some(())
    })
    .await;
    let agent = json!({"name": "helper", "description": "Helps.", "instructions": "Help.", "model": "scripted"});
    first.post("/api/v1/agents", &ada, &agent).await.expect(200);
    until(async || {
        let agents = second.get("/api/v1/agents", &ada).await;
        agents.text.contains("helper").then_some(())
    })
    .await;
}

async fn start(folder: &Path, file: &str, database: &str) -> Server {
    let config = folder.join("settings.toml");
    std::fs::write(&config, file).unwrap();
    let data: PathBuf = folder.join("data");
    let database = match database {
        "" => format!("sqlite://{}", folder.join("test.db").display()),
        url => url.to_owned(),
    };
    Server::start_with(&[
        ("GLASSHOUSE_CONFIG", config.to_str().unwrap()),
        ("GLASSHOUSE_DATA_DIR", data.to_str().unwrap()),
        ("GLASSHOUSE_DATABASE_URL", &database),
    ])
    .await
}

async fn stop(server: Server) {
    server.app.stopping.cancel();
    server.stopped().await;
    server.app.close().await;
}

async fn until<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..400 {
        if let Some(found) = look().await {
            return found;
        }
        sleep(Duration::from_millis(50)).await;
    }
    panic!("it did not happen within 20 seconds");
}

async fn until_state(server: &Server, cookie: &str, name: &str, state: &str) -> Value {
    until(async || {
        let found = listed(server, cookie, name).await;
        (found["state"] == state).then_some(found)
    })
    .await
}

/// How a call of the server's `fetch_page` in a run ends; `None` if the model is not offered the tool.
async fn reads_through(server: &Server, cookie: &str, name: &str) -> Option<String> {
    let tool = format!("{name}__fetch_page");
    let called = tool.clone();
    let upstream = ScriptedServer::start(Behaviour::answer(move |request| {
        let messages = request.body["messages"].as_array().unwrap();
        let offered = request.body["tools"].to_string().contains(&called);
        match messages.last().unwrap()["role"] == "tool" || !offered {
            true => Reply::text("Done."),
            false => Reply::calls(&[(&called, json!({"url": "http://127.0.0.1:9/"}))]),
        }
    }));
    let upstream = upstream.await.unwrap();
    let up = json!({"name": "Up", "base_url": upstream.base_url(), "api_key": "sk-upstream"});
    let up = server.post("/api/v1/connections", cookie, &up).await.json();
    let chat = server
        .post("/api/v1/chats", cookie, &json!({}))
        .await
        .json();
    let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
    let said = json!({"content": "Read it.", "model": "scripted"});
    let begun = server.post(&path, cookie, &said).await;
    begun.expect(200);
    let path = format!("/runs/{}/events", begun.json()["run"].as_str().unwrap());
    let log = events(server, cookie, &path).await.rest().await;
    let path = format!("/api/v1/connections/{}", up["id"].as_str().unwrap());
    server.delete(&path, cookie).await.expect(204);
    let bodies = log.iter().map(|event| event.json()["body"].clone());
    let mut finished = bodies.filter(|body| body["type"] == "tool_finished");
    finished
        .next()
        .map(|body| body["type"].as_str().unwrap().to_owned())
}
