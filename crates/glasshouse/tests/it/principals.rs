//! Who acts for whom: an account, its API keys and the people of its front ends are kept apart wherever one of them can
//! see, hear, change or begin something.

use std::time::Duration;

use futures_util::StreamExt;
use reqwest::{Method, RequestBuilder};
use scripted::{Behaviour, Reply, ScriptedServer, ServerOptions};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Message, client::IntoClientRequest};

use crate::{
    harness::{Answer, Server},
    openai::connect,
    runs::events,
};

/// Whoever asks: a credential and, with the key of a front end, the person it speaks for.
#[derive(Clone, Copy)]
struct Who<'a>(&'a str, Option<&'a str>);

struct House {
    server: Server,
    /// The administrator's session. They own all keys.
    owner: String,
    front: String,
    upstream: ScriptedServer,
}

/// The model writes a file where it is told to, which needs approval, and delegates where it is told to.
fn model() -> Behaviour {
    Behaviour::answer(|request| {
        let messages = request.body["messages"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let said = messages.iter().rfind(|message| message["role"] == "user");
        let said = said
            .map(|message| message["content"].to_string())
            .unwrap_or_default();
        match said {
            _ if messages.last().is_some_and(|last| last["role"] == "tool") => Reply::text("Done."),
            said if said.contains("Write") => Reply::calls(&[(
                "write_file",
                json!({"path": "/secret.md", "content": "kumquat"}),
            )]),
            said if said.contains("Delegate") => {
                let task = json!({"description": "x", "prompt": "Write a poem.", "subagent_type": "writer"});
                Reply::calls(&[("task", task)])
            }
            _ => Reply::text("Well."),
        }
    })
}

impl House {
    async fn open() -> Self {
        let models = vec!["m".to_owned(), "m2".to_owned()];
        let options = ServerOptions {
            models,
            ..ServerOptions::default()
        };
        let upstream = ScriptedServer::start_with(model(), options).await.unwrap();
        let server = Server::start_with(&[(
            "GLASSHOUSE_APPROVALS",
            r#"[{tool="write_file", then="ask"}]"#,
        )])
        .await;
        let owner = server.set_up().await;
        connect(&server, &owner, "Up", &upstream.base_url()).await;
        let front = make_key(&server, &owner, json!({"front_end": true})).await;
        Self {
            server,
            owner,
            front,
            upstream,
        }
    }

    fn person<'a>(&'a self, id: &'a str) -> Who<'a> {
        Who(&self.front, Some(id))
    }

    async fn key(&self, rights: Value) -> String {
        make_key(&self.server, &self.owner, rights).await
    }

    fn request(&self, method: Method, path: &str, who: Who<'_>) -> RequestBuilder {
        let request = self.server.request(method, path, who.0);
        match who.1 {
            Some(person) => request.header("x-openwebui-user-id", person),
            None => request,
        }
    }

    async fn get(&self, path: &str, who: Who<'_>) -> Answer {
        Answer::of(self.request(Method::GET, path, who)).await
    }

    async fn post(&self, path: &str, who: Who<'_>, body: &Value) -> Answer {
        Answer::of(self.request(Method::POST, path, who).json(body)).await
    }

    /// Begins a run that waits for approval to write a file, in a thread. Its id, once it waits.
    async fn waiting_run(&self, thread: &str, who: Who<'_>) -> (String, String) {
        let body = json!({"threadId": thread, "runId": "r", "messages": [
            {"id": "1", "role": "user", "content": "Write it."}
        ], "tools": [], "context": [], "state": {}, "forwardedProps": {}});
        let request = self.request(Method::POST, "/ag-ui/m", who).json(&body);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        let run = response.headers()["x-run-id"].to_str().unwrap().to_owned();
        drop(response.text().await.unwrap());
        (run.clone(), self.approval_of(&run, who).await)
    }

    async fn approval_of(&self, run: &str, who: Who<'_>) -> String {
        let request = self.request(Method::GET, &format!("/runs/{run}/events"), who);
        let mut log = crate::sse::Events::of(request.send().await.unwrap());
        loop {
            let event = log.next().await.unwrap().json();
            if event["body"]["type"] == "approval_asked" {
                return event["body"]["approval"].as_str().unwrap().to_owned();
            }
        }
    }

    async fn socket(
        &self,
        path: &str,
        who: Who<'_>,
    ) -> Result<impl futures_util::Stream<Item = Value> + Unpin + use<>, u16> {
        let mut request = self
            .server
            .url(path)
            .replace("http", "ws")
            .into_client_request()
            .unwrap();
        let headers = request.headers_mut();
        match who.0.starts_with("gh_") {
            true => headers.insert(
                "authorization",
                format!("Bearer {}", who.0).parse().unwrap(),
            ),
            false => headers.insert("cookie", who.0.parse().unwrap()),
        };
        if let Some(person) = who.1 {
            headers.insert("x-openwebui-user-id", person.parse().unwrap());
        }
        let tcp = tokio::net::TcpStream::connect(self.server.address)
            .await
            .unwrap();
        match tokio_tungstenite::client_async(request, tcp).await {
            Ok((socket, _)) => Ok(Box::pin(socket.filter_map(async |message| match message {
                Ok(Message::Text(text)) => serde_json::from_str(text.as_str()).ok(),
                _ => None,
            }))),
            Err(tokio_tungstenite::tungstenite::Error::Http(answer)) => {
                Err(answer.status().as_u16())
            }
            Err(error) => panic!("{error}"),
        }
    }
}

async fn make_key(server: &Server, owner: &str, rights: Value) -> String {
    let mut body = json!({"name": "k"});
    body.as_object_mut()
        .unwrap()
        .extend(rights.as_object().unwrap().clone());
    let made = server.post("/api/v1/keys", owner, &body).await;
    made.expect(200);
    made.json()["secret"].as_str().unwrap().to_owned()
}

fn ask(text: &str) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": text}]})
}

#[tokio::test]
async fn a_socket_needs_the_scope_of_its_route_at_the_root_too() {
    let house = House::open().await;
    for path in ["/ws", "/"] {
        for scope in ["read", "write"] {
            let key = house.key(json!({"scopes": [scope]})).await;
            assert_eq!(
                house.socket(path, Who(&key, None)).await.err(),
                Some(403),
                "{path} {scope}"
            );
        }
        let key = house.key(json!({"scopes": ["chat"]})).await;
        assert!(house.socket(path, Who(&key, None)).await.is_ok(), "{path}");
        assert_eq!(
            house.socket(path, Who("gh_none", None)).await.err(),
            Some(401),
            "{path}"
        );
    }
}

#[tokio::test]
async fn sockets_tell_of_what_the_listener_may_hear() {
    let house = House::open().await;
    let limited = house
        .key(json!({"scopes": ["chat", "read"], "models": ["m2"]}))
        .await;
    let chat_only = house.key(json!({"scopes": ["chat"]})).await;
    for path in ["/ws", "/"] {
        let strangers = [
            house.person("p2"),
            Who(&limited, None),
            Who(&chat_only, None),
            Who(&house.owner, None),
        ];
        let mut quiet = Vec::new();
        for who in strangers {
            quiet.push(
                house
                    .socket(path, who)
                    .await
                    .unwrap_or_else(|status| panic!("{status}")),
            );
        }
        let mut own = house
            .socket(path, house.person("p1"))
            .await
            .unwrap_or_else(|status| panic!("{status}"));
        house
            .post("/chat/stream", house.person("p1"), &ask("Hi"))
            .await
            .expect(200);
        assert_eq!(own.next().await.unwrap()["type"], "debug_events", "{path}");
        for (number, socket) in quiet.iter_mut().enumerate() {
            let heard = tokio::time::timeout(Duration::from_millis(200), socket.next()).await;
            assert!(heard.is_err(), "{path} {number}: {heard:?}");
        }
        // Of what the account does in its browser a key hears that is good for reading, and for all models.
        house
            .post("/chat/stream", Who(&house.owner, None), &ask("Hi"))
            .await
            .expect(200);
        assert_eq!(
            quiet[3].next().await.unwrap()["type"],
            "debug_events",
            "{path}"
        );
        for (number, socket) in quiet[..3].iter_mut().enumerate() {
            let heard = tokio::time::timeout(Duration::from_millis(200), socket.next()).await;
            assert!(heard.is_err(), "{path} {number}: {heard:?}");
        }
    }
}

#[tokio::test]
async fn standing_approvals_are_their_principals_to_give() {
    let house = House::open().await;
    let (run, approval) = house.waiting_run("t", house.person("p1")).await;
    let path = format!("/runs/{run}/approvals/{approval}");
    let always = json!({"decision": "allow", "remember": "always"});
    assert_eq!(
        house
            .post(&path, house.person("p1"), &always)
            .await
            .expect(403),
        "forbidden"
    );
    assert_eq!(
        house
            .post(&path, house.person("p2"), &always)
            .await
            .expect(404),
        "not_found"
    );
    let allowed = house
        .server
        .get("/api/v1/allowed-calls", &house.owner)
        .await
        .json();
    assert_eq!(
        allowed["allowed"].as_array().map(Vec::len),
        Some(0),
        "{allowed}"
    );

    // A key that is only good for chats.
    let chat_only = house.key(json!({"scopes": ["chat"]})).await;
    let (own_run, own_approval) = house.waiting_run("u", Who(&chat_only, None)).await;
    let own = format!("/runs/{own_run}/approvals/{own_approval}");
    for remember in ["always", "chat"] {
        let body = json!({"decision": "allow", "remember": remember});
        let refused = house.post(&own, Who(&chat_only, None), &body).await;
        assert_eq!(refused.expect(403), "forbidden");
        assert!(refused.text.contains("write"), "{}", refused.text);
    }
    house
        .post(&own, Who(&chat_only, None), &json!({"decision": "allow"}))
        .await
        .expect(204);

    // What the account allows for good holds for itself, not for the people of its front ends.
    let (of_owner, its_approval) = house.waiting_run("v", Who(&house.owner, None)).await;
    let its = format!("/runs/{of_owner}/approvals/{its_approval}");
    house
        .post(&its, Who(&house.owner, None), &always)
        .await
        .expect(204);
    events(
        &house.server,
        &house.owner,
        &format!("/runs/{of_owner}/events"),
    )
    .await
    .rest()
    .await;
    let (third, _) = house.waiting_run("w", house.person("p3")).await;
    let state = house
        .get(&format!("/runs/{third}"), house.person("p3"))
        .await
        .json();
    assert_eq!(state["state"], "waiting");
    let still = house
        .get(&format!("/runs/{run}"), house.person("p1"))
        .await
        .json();
    assert_eq!(still["state"], "waiting");
}

#[tokio::test]
async fn a_chat_only_key_neither_sees_nor_changes_what_others_began() {
    let house = House::open().await;
    let owner = Who(&house.owner, None);
    let chat_only = house.key(json!({"scopes": ["chat"]})).await;
    let reading = house.key(json!({"scopes": ["chat", "read"]})).await;
    let (run, approval) = house.waiting_run("t", owner).await;
    let approve = format!("/runs/{run}/approvals/{approval}");
    let allow = json!({"decision": "allow"});
    for (key, seen, changed) in [(&chat_only, 404, 404), (&reading, 200, 403)] {
        let who = Who(key, None);
        assert_eq!(house.get(&format!("/runs/{run}"), who).await.status, seen);
        assert_eq!(house.post(&approve, who, &allow).await.status, changed);
        assert_eq!(
            house
                .post(&format!("/runs/{run}/cancel"), who, &json!({}))
                .await
                .status,
            changed
        );
    }
    let chat = house.get(&format!("/runs/{run}"), owner).await.json()["chat"]
        .as_str()
        .unwrap()
        .to_owned();
    let go_on = json!({"model": "m", "chat_id": chat, "messages": [{"role": "user", "content": "What was said?"}]});
    for key in [&chat_only, &reading] {
        assert_eq!(
            house
                .post("/chat/stream", Who(key, None), &go_on)
                .await
                .expect(403),
            "forbidden"
        );
    }
    house.post(&approve, owner, &allow).await.expect(204);
    events(&house.server, &house.owner, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    for (key, status) in [(&chat_only, false), (&reading, true)] {
        let read = mcp_read(&house, Who(key, None), &chat, "/secret.md").await;
        assert_eq!(read.contains("kumquat"), status, "{read}");
    }
}

#[tokio::test]
async fn the_name_of_a_request_means_something_for_its_principal_alone() {
    let house = House::open().await;
    let ask_as = async |path: &str, who: Who<'_>, body: &Value| {
        let request = house
            .request(Method::POST, path, who)
            .header("idempotency-key", path)
            .json(body);
        let answer = Answer::of(request).await;
        answer.expect(200);
        answer.headers["x-run-id"].to_str().unwrap().to_owned()
    };
    let agent =
        json!({"model": "glasshouse/agent", "messages": [{"role": "user", "content": "Hi"}]});
    let response = json!({"model": "glasshouse/agent", "input": "Hi"});
    for (path, body) in [
        ("/chat/stream", &ask("Hi")),
        ("/v1/chat/completions", &agent),
        ("/v1/responses", &response),
    ] {
        let house_of = [
            house.person("p1"),
            house.person("p2"),
            Who(&house.front, None),
            Who(&house.owner, None),
        ];
        let mut runs = Vec::new();
        for who in house_of {
            let run = ask_as(path, who, body).await;
            assert_eq!(ask_as(path, who, body).await, run, "{path}: sent again");
            assert!(!runs.contains(&run), "{path}: somebody else's run");
            runs.push(run);
        }
    }
}

async fn mcp(house: &House, who: Who<'_>, session: Option<&str>, body: &Value) -> Answer {
    let request = house
        .request(Method::POST, "/mcp", who)
        .header("accept", "application/json, text/event-stream")
        .json(body);
    Answer::of(match session {
        Some(session) => request.header("mcp-session-id", session),
        None => request,
    })
    .await
}

async fn mcp_begin(house: &House, who: Who<'_>) -> String {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"},
    }});
    let begun = mcp(house, who, None, &body).await;
    let session = begun.headers["mcp-session-id"].to_str().unwrap().to_owned();
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(mcp(house, who, Some(&session), &ready).await.status, 202);
    session
}

async fn mcp_read(house: &House, who: Who<'_>, chat: &str, path: &str) -> String {
    let session = mcp_begin(house, who).await;
    let uri = format!("glasshouse://chats/{chat}/files{path}");
    let read =
        json!({"jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": {"uri": uri}});
    mcp(house, who, Some(&session), &read).await.text
}

#[tokio::test]
async fn mcp_sessions_and_files_are_their_principals() {
    let house = House::open().await;
    let (p1, p2) = (house.person("p1"), house.person("p2"));
    let session = mcp_begin(&house, p1).await;
    let list = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"});
    assert_eq!(mcp(&house, p1, Some(&session), &list).await.status, 200);
    for other in [p2, Who(&house.front, None), Who(&house.owner, None)] {
        assert_eq!(
            mcp(&house, other, Some(&session), &list).await.expect(404),
            "not_found"
        );
    }
    let (run, approval) = house.waiting_run("notes", p1).await;
    house
        .post(
            &format!("/runs/{run}/approvals/{approval}"),
            p1,
            &json!({"decision": "allow"}),
        )
        .await
        .expect(204);
    let log = house
        .request(Method::GET, &format!("/runs/{run}/events"), p1)
        .send()
        .await
        .unwrap();
    crate::sse::Events::of(log).rest().await;
    let chat = house.get(&format!("/runs/{run}"), p1).await.json()["chat"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        mcp_read(&house, p1, &chat, "/secret.md")
            .await
            .contains("kumquat")
    );
    for other in [p2, Who(&house.front, None), Who(&house.owner, None)] {
        let read = mcp_read(&house, other, &chat, "/secret.md").await;
        assert!(!read.contains("kumquat"), "{read}");
    }
}

/// What people of a front end began is not among what the account itself lists, searches, takes along or learns from.
#[tokio::test]
async fn the_account_and_the_people_of_its_front_ends_are_kept_apart() {
    let house = House::open().await;
    let (run, _) = house.waiting_run("notes", house.person("p1")).await;
    let chat = house
        .get(&format!("/runs/{run}"), house.person("p1"))
        .await
        .json()["chat"]
        .clone();
    let chat = chat.as_str().unwrap();
    let owner = &house.owner;
    for path in [
        "/api/v1/chats",
        "/api/v1/inbox",
        "/api/v1/chats/search?query=Write",
        "/api/v1/me/export",
    ] {
        let answer = house.server.get(path, owner).await;
        answer.expect(200);
        assert!(!answer.text.contains(chat), "{path}: {}", answer.text);
    }
    for path in [
        format!("/api/v1/chats/{chat}"),
        format!("/api/v1/chats/{chat}/files"),
        format!("/runs/{run}"),
    ] {
        assert_eq!(
            house.server.get(&path, owner).await.expect(404),
            "not_found",
            "{path}"
        );
    }
    house
        .server
        .delete(&format!("/api/v1/chats/{chat}"), owner)
        .await
        .expect(404);
    // Once nobody can speak for these people any more, it is the account's to keep or delete.
    let keys = house.server.get("/api/v1/keys", owner).await.json();
    let front = keys["keys"]
        .as_array()
        .unwrap()
        .iter()
        .find(|key| key["front_end"] == true)
        .unwrap();
    let key = front["id"].as_str().unwrap();
    house
        .server
        .delete(&format!("/api/v1/keys/{key}"), owner)
        .await
        .expect(204);
    house
        .server
        .get(&format!("/api/v1/chats/{chat}"), owner)
        .await
        .expect(200);
}

#[tokio::test]
async fn tool_results_come_back_to_their_principal_alone() {
    let house = House::open().await;
    let (p1, p2) = (house.person("p1"), house.person("p2"));
    let tool = json!({"type": "function", "function": {"name": "ask_client", "parameters": {"type": "object"}}});
    let begin = json!({"model": "glasshouse/agent", "tools": [tool], "messages": [{"role": "user", "content": "Hand over"}]});
    let handed = house.post("/v1/chat/completions", p1, &begin).await;
    handed.expect(200);
    let calls = handed.json()["choices"][0]["message"]["tool_calls"].clone();
    // The scripted model answers in words here; what is asserted is that a foreign id brings nothing along.
    let id = calls[0]["id"].as_str().map_or_else(
        || {
            format!(
                "c1_{}",
                handed.headers["x-run-id"]
                    .to_str()
                    .unwrap()
                    .trim_start_matches("run_")
            )
        },
        str::to_owned,
    );
    let before = house.upstream.requests().len();
    let call = json!({"id": id, "type": "function", "function": {"name": "ask_client", "arguments": "{}"}});
    let go_on = json!({"model": "glasshouse/agent", "messages": [
        {"role": "user", "content": "Hand over"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": "mine"},
        {"role": "user", "content": "And?"},
    ]});
    house
        .post("/v1/chat/completions", p2, &go_on)
        .await
        .expect(200);
    let told = house.upstream.requests()[before..]
        .iter()
        .map(Value::to_string)
        .collect::<String>();
    assert!(!told.contains("kumquat"), "{told}");
}

#[tokio::test]
async fn a_keys_models_bind_sub_agents_fallbacks_and_pipelines() {
    let house = House::open().await;
    let writer = json!({"name": "writer", "description": "Writes poems.", "instructions": "You write.", "model": "m2"});
    house
        .server
        .post("/api/v1/agents", &house.owner, &writer)
        .await
        .expect(200);
    house
        .server
        .put(
            "/api/v1/models/m",
            &house.owner,
            &json!({"fallbacks": ["m2"]}),
        )
        .await
        .expect(200);
    let models = || -> Vec<String> {
        let named = |request: &Value| request["model"].as_str().unwrap_or_default().to_owned();
        house.upstream.requests().iter().map(named).collect()
    };
    let run = async |key: &str, model: &str| {
        let before = models().len();
        let body = json!({"model": model, "messages": [{"role": "user", "content": "Delegate"}]});
        house
            .server
            .post("/chat/stream", key, &body)
            .await
            .expect(200);
        models()[before..].to_vec()
    };
    let only_m = house
        .key(json!({"scopes": ["chat"], "models": ["m"]}))
        .await;
    let asked = run(&only_m, "m").await;
    assert!(
        !asked.is_empty() && asked.iter().all(|model| model == "m"),
        "{asked:?}"
    );
    // An agent that the key names brings its own model, and nothing else.
    let with_writer = house
        .key(json!({"scopes": ["chat"], "models": ["m", "glasshouse/writer"]}))
        .await;
    assert!(run(&with_writer, "m").await.contains(&"m2".to_owned()));
    let all = house.key(json!({"scopes": ["chat"]})).await;
    assert!(
        run(&all, "m").await.contains(&"m2".to_owned()),
        "without a limit the agent is there"
    );
}

/// Where the model's server fails, one that the key is not for is not asked instead.
#[tokio::test]
async fn a_keys_models_bind_what_is_asked_instead() {
    let failing = Behaviour::answer(|request| match request.body["model"] == "m" {
        true => Reply::error(401, "I fail."),
        false => Reply::text("Instead."),
    });
    let models = vec!["m".to_owned(), "m2".to_owned()];
    let options = ServerOptions {
        models,
        ..ServerOptions::default()
    };
    let upstream = ScriptedServer::start_with(failing, options).await.unwrap();
    let (server, owner) = Server::start_signed_in().await;
    connect(&server, &owner, "Up", &upstream.base_url()).await;
    server
        .put("/api/v1/models/m", &owner, &json!({"fallbacks": ["m2"]}))
        .await
        .expect(200);
    for (rights, is_asked) in [
        (json!({"scopes": ["chat"], "models": ["m"]}), false),
        (json!({"scopes": ["chat"]}), true),
    ] {
        let key = make_key(&server, &owner, rights).await;
        let before = upstream.requests().len();
        server.post("/chat/stream", &key, &ask("Hi")).await;
        let asked = upstream.requests()[before..]
            .iter()
            .any(|request| request["model"] == "m2");
        assert_eq!(asked, is_asked);
    }
}
