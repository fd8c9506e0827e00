//! Document 003, patches 1 and 2: a trusted model server is told with every request who asks, for which chat and with what
//! metadata; any other is told nothing.

use reqwest::Method;
use scripted::{Behaviour, Reply, Request, ScriptedServer, ServerOptions, vectors};
use serde_json::{Value, json};

use crate::{
    faults::until,
    harness::{Answer, EMAIL, Server},
    openai::{CHAT, ask, streaming},
    restart::{Kept, stop},
    runs::events,
};

const TOLD: &str = "x-openwebui-";
const TITLES: (&str, &str) = ("GLASSHOUSE_PIPELINES_ENABLE_TITLE_GENERATION", "true");

/// Delegates, asks a person or answers, as the last message wants it. A title is asked for in one message of its own.
fn model(request: &Request) -> Reply {
    let messages = request.body["messages"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let last = messages
        .last()
        .map(|message| message["content"].to_string())
        .unwrap_or_default();
    match last {
        _ if messages.last().is_some_and(|last| last["role"] == "tool") => Reply::text("Done."),
        last if last.contains("one fitting emoji") => {
            Reply::text(r#"{"title": "🌱 How Plants Grow"}"#)
        }
        last if last.contains("Delegate") => {
            let task =
                json!({"description": "x", "prompt": "Say hello.", "subagent_type": "general"});
            Reply::calls(&[("task", task)])
        }
        last if last.contains("Ask me") => {
            Reply::calls(&[("ask_user", json!({"question": "Which?"}))])
        }
        _ => Reply::text("Hello."),
    }
}

/// What a model server was told about who asks.
#[derive(Debug, Clone, Default, PartialEq)]
struct Heard {
    headers: Value,
    metadata: Value,
    prompt: String,
    request_id: Option<String>,
}

impl Heard {
    fn of(request: &Request) -> Self {
        let told = request
            .headers
            .iter()
            .filter(|(name, _)| name.as_str().starts_with(TOLD));
        let told = told.map(|(name, value)| {
            (
                name.as_str()[TOLD.len()..].to_owned(),
                json!(value.to_str().unwrap()),
            )
        });
        Self {
            headers: Value::Object(told.collect()),
            metadata: request.body["metadata"].clone(),
            prompt: request.body["messages"].to_string(),
            request_id: request.header("x-request-id").map(str::to_owned),
        }
    }

    fn is_nothing(&self) -> bool {
        self.headers == json!({}) && self.metadata.is_null()
    }
}

struct Upstream(ScriptedServer);

impl Upstream {
    async fn start() -> Self {
        Self::start_with(Behaviour::answer(model)).await
    }

    async fn start_with(behaviour: Behaviour) -> Self {
        let options = ServerOptions {
            models: vec!["scripted".to_owned(), "embedder".to_owned()],
            embeddings: Some(Behaviour::answer(vectors::embeddings)),
            completions: Some(Behaviour::always(Reply::error(404, "No such address."))),
            ..ServerOptions::default()
        };
        Self(
            ScriptedServer::start_with(behaviour, options)
                .await
                .unwrap(),
        )
    }

    fn heard(&self) -> Vec<Heard> {
        self.0.received().iter().map(Heard::of).collect()
    }

    fn last(&self) -> Heard {
        self.heard().pop().unwrap()
    }
}

async fn connect(server: &Server, cookie: &str, upstream: &Upstream, trusted: bool) -> String {
    let body = json!({"name": "Up", "base_url": upstream.0.base_url(), "trusted": trusted});
    let made = server.post("/api/v1/connections", cookie, &body).await;
    made.expect(200);
    made.json()["id"].as_str().unwrap().to_owned()
}

/// Says something in a new chat as the page does, and waits for the answer. The chat, and the answer's message.
async fn say(server: &Server, cookie: &str, text: &str) -> (String, String) {
    let chat = server
        .post("/api/v1/chats", cookie, &json!({}))
        .await
        .json();
    let chat = chat["id"].as_str().unwrap().to_owned();
    let metadata = json!({"session_id": "tab-1", "variables": {"{{USER_LANGUAGE}}": "de"}, "user_id": "somebody"});
    let body = json!({"content": text, "model": "scripted", "metadata": metadata});
    let sent = server
        .post(&format!("/api/v1/chats/{chat}/messages"), cookie, &body)
        .await;
    sent.expect(200);
    let sent = sent.json();
    events(
        server,
        cookie,
        &format!("/runs/{}/events", sent["run"].as_str().unwrap()),
    )
    .await
    .rest()
    .await;
    (chat, sent["assistant"]["id"].as_str().unwrap().to_owned())
}

/// What is beside chats, and vectors of documents.
const BESIDE: [(&str, &str); 3] = [
    TITLES,
    (
        "GLASSHOUSE_PIPELINES_ENABLE_AUTOCOMPLETE_GENERATION",
        "true",
    ),
    ("GLASSHOUSE_KNOWLEDGE_EMBEDDING_MODEL", "embedder"),
];

/// One request by every way that leads to a model, each answered.
async fn ask_everywhere(server: &Server, cookie: &str) {
    let work = server.collection(cookie, "Work").await;
    server
        .read_file(cookie, &work, "a.txt", b"The walrus swims far.")
        .await;
    server.embedded(cookie, &work).await;
    say(server, cookie, "Delegate it.").await;
    until("the chat has its title", async || {
        server
            .get("/api/v1/chats", cookie)
            .await
            .text
            .contains("How Plants Grow")
    })
    .await;
    let user = json!([{"role": "user", "content": "Hello"}]);
    let parts = json!([{"id": "1", "role": "user", "parts": [{"type": "text", "text": "Hello"}]}]);
    let ag_ui = json!({"threadId": "t", "runId": "r", "messages": [{"id": "1", "role": "user", "content": "Hello"}],
        "tools": [], "context": [], "state": {}, "forwardedProps": {}});
    for (path, body) in [
        (
            "/chat/stream",
            json!({"messages": user, "model": "scripted"}),
        ),
        (
            "/chat/stream",
            json!({"messages": user, "model": "scripted", "mode": "research", "stream": false}),
        ),
        (
            "/api/v1/tasks/auto/completions",
            json!({"model": "scripted", "prompt": "Once upon"}),
        ),
        (CHAT, streaming("glasshouse/agent", "Hello")),
        (CHAT, streaming("scripted", "Hello")),
        (
            "/v1/responses",
            json!({"model": "scripted", "input": "Hello"}),
        ),
        ("/ag-ui/scripted", ag_ui),
        (
            "/api/ui-message-stream",
            json!({"messages": parts, "model": "scripted"}),
        ),
        (
            "/api/chat",
            json!({"message": "Hello", "model": "scripted"}),
        ),
        (
            "/api/v1/tasks/title/completions",
            json!({"model": "scripted", "messages": user}),
        ),
        (
            "/api/v1/tasks/moa/completions",
            json!({"model": "scripted", "prompt": "Hello", "responses": ["a", "b"]}),
        ),
    ] {
        let answer = server.post(path, cookie, &body).await;
        assert!(answer.status.is_success(), "{path}: {answer:?}");
    }
}

#[tokio::test]
async fn document_003_patch_1_a_trusted_server_is_told_who_asks_on_every_request() {
    let upstream = Upstream::start().await;
    let server = Server::start_with(&BESIDE).await;
    let cookie = server.set_up().await;
    let me = server.get("/api/v1/me", &cookie).await.json()["user"].clone();
    connect(&server, &cookie, &upstream, true).await;
    ask_everywhere(&server, &cookie).await;
    let heard = upstream.heard();
    assert!(heard.len() >= 16, "{}", heard.len());
    for one in &heard {
        let headers = &one.headers;
        for (name, value) in [
            ("user-name", "Ada"),
            ("user-id", me["id"].as_str().unwrap()),
            ("user-email", EMAIL),
            ("user-role", "admin"),
        ] {
            assert_eq!(headers[name], value, "{one:?}");
        }
    }
    let of_chat = heard
        .iter()
        .filter(|one| one.headers.get("chat-id").is_some())
        .count();
    assert!(
        of_chat >= 4,
        "the page's chat, its sub-agent and its title: {heard:#?}"
    );
}

#[tokio::test]
async fn document_003_patch_2_the_metadata_of_a_chat_reaches_a_trusted_server() {
    let upstream = Upstream::start().await;
    let server = Server::start_with(&[TITLES]).await;
    let cookie = server.set_up().await;
    let me = server.get("/api/v1/me", &cookie).await.json()["user"]["id"].clone();
    connect(&server, &cookie, &upstream, true).await;
    let (chat, message) = say(&server, &cookie, "Delegate it.").await;
    let expected = json!({
        "user_id": me, "chat_id": chat, "session_id": "tab-1", "message_id": message, "filter_ids": [], "tool_ids": [],
        "files": [], "features": {"web_search": false, "code_interpreter": false, "memory": true},
        "variables": {"{{USER_LANGUAGE}}": "de"},
    });
    until("a title is asked for", async || upstream.heard().len() > 3).await;
    let heard = upstream.heard();
    for one in &heard[..3] {
        assert_eq!(
            one.metadata, expected,
            "the agent, its sub-agent, and the agent again"
        );
        assert_eq!(one.headers["chat-id"], json!(chat));
    }
    let title = &heard[3].metadata;
    assert_eq!(
        (&title["task"], &title["chat_id"]),
        (&json!("title_generation"), &json!(chat))
    );
    assert_eq!(title["message_id"], json!(message));
    assert_eq!(heard[3].headers["task"], "title_generation");
    assert!(
        heard[..3]
            .iter()
            .all(|one| one.headers.get("task").is_none()),
        "{heard:#?}"
    );
    assert!(heard[0].request_id.is_some());
    assert!(
        heard
            .iter()
            .all(|one| one.request_id == heard[0].request_id),
        "all for one request"
    );

    // What a program sends of its own.
    let metadata = json!({
        "chat_id": "theirs", "files": [{"type": "file", "id": "7", "name": "a.md", "content": "# A"}],
        "tool_ids": ["none"], "features": {"web_search": false}, "variables": {"x": "y"}, "filter_ids": ["f"],
        "user_id": "somebody",
    });
    let body = json!({"messages": [{"role": "user", "content": "Hello"}], "model": "scripted", "metadata": metadata});
    server
        .post("/chat/stream", &cookie, &body)
        .await
        .expect(200);
    let last = upstream.last();
    let mut expected = metadata.clone();
    expected["user_id"] = me.clone();
    assert_eq!(last.metadata, expected);
    assert_eq!(
        last.headers.get("chat-id"),
        None,
        "anybody could name anybody's chat"
    );
    let mut body = ask("scripted", "Hello");
    body["metadata"] = json!({"user_id": "somebody", "own": [1.0, null]});
    server.post(CHAT, &cookie, &body).await.expect(200);
    assert_eq!(
        upstream.last().metadata,
        json!({"user_id": me, "own": [1.0, null]})
    );
}

#[tokio::test]
async fn a_server_that_is_not_trusted_is_told_nothing() {
    let upstream = Upstream::start().await;
    let forward = [("ENABLE_FORWARD_USER_INFO_HEADERS", "true")];
    let server = Server::start_with(&[&BESIDE[..], &forward].concat()).await;
    let cookie = server.set_up().await;
    // Another one is trusted, and asked nothing.
    let trusted = Upstream::start().await;
    connect(&server, &cookie, &upstream, false).await;
    connect(&server, &cookie, &trusted, true).await;
    ask_everywhere(&server, &cookie).await;
    let heard = upstream.heard();
    assert!(heard.len() >= 16, "{}", heard.len());
    assert!(trusted.heard().is_empty());
    for one in &heard {
        assert!(one.is_nothing() && !one.prompt.contains(EMAIL), "{one:?}");
    }
    // What a front end says of its people in the body is of them, too.
    let key = json!({"name": "Front", "front_end": true});
    let key = server.post("/api/v1/keys", &cookie, &key).await.json();
    let mut body = ask("scripted", "Hello");
    body["metadata"] = json!({"user_id": "7", "chat_id": "c"});
    let send = async |key: &str| {
        let request = server
            .request(Method::POST, CHAT, key)
            .header("x-openwebui-user-id", "7");
        Answer::of(request.json(&body)).await.expect(200);
        upstream.last()
    };
    let told = send(key["secret"].as_str().unwrap()).await;
    assert_eq!((told.headers, told.metadata), (json!({}), json!({})));
    // A program speaks for itself there.
    assert_eq!(send(&cookie).await.metadata, body["metadata"]);
}

#[tokio::test]
async fn document_003_the_environments_server_is_told_where_the_variable_says_so() {
    let upstream = Upstream::start().await;
    let base_url = upstream.0.base_url();
    let settings = |forward: &'static str| {
        [
            ("OPENAI_API_BASE_URL", base_url.clone()),
            ("ENABLE_FORWARD_USER_INFO_HEADERS", forward.to_owned()),
        ]
    };
    for (forward, expected) in [
        ("true", true),
        ("True", true),
        ("false", false),
        ("", false),
    ] {
        let settings = settings(forward);
        let settings: Vec<_> = settings
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let server = Server::start_with(&settings).await;
        let cookie = server.set_up().await;
        server.app.models.ask_configured().await.unwrap();
        say(&server, &cookie, "Hello").await;
        assert_eq!(upstream.last().is_nothing(), !expected, "{forward}");
    }
    // An administrator can set it too, and nothing else; it holds for that server.
    let kept = Kept::new();
    let environment = [("OPENAI_API_BASE_URL", base_url.as_str())];
    let server = kept.start_with(&environment).await;
    let cookie = server.set_up().await;
    server.app.models.ask_configured().await.unwrap();
    let list = server.get("/api/v1/connections", &cookie).await.json();
    let path = format!(
        "/api/v1/connections/{}",
        list["connections"][0]["id"].as_str().unwrap()
    );
    for (change, status) in [
        (json!({"trusted": true, "name": "Mine"}), 409),
        (json!({"name": "Mine"}), 409),
        (json!({"trusted": true}), 200),
    ] {
        Answer::of(server.request(Method::PATCH, &path, &cookie).json(&change))
            .await
            .expect(status);
    }
    say(&server, &cookie, "Hello").await;
    assert_eq!(upstream.last().headers["user-name"], "Ada");
    stop(&server).await;
    drop(server);
    let trusted = async |settings: &[(&str, &str)]| {
        let server = kept.start_with(settings).await;
        let list = server.get("/api/v1/connections", &cookie).await.json();
        let trusted = list["connections"][0]["trusted"].clone();
        stop(&server).await;
        trusted
    };
    assert_eq!(trusted(&environment).await, true);
    assert_eq!(
        trusted(&[("OPENAI_API_BASE_URL", "http://127.0.0.1:9/v1")]).await,
        false,
        "another server"
    );
}

#[tokio::test]
async fn each_server_of_a_model_is_judged_by_itself() {
    // The one that fails is trusted; the one that is asked in its place is not.
    let first = Upstream::start_with(Behaviour::always(Reply::error(500, "Broken."))).await;
    let second = Upstream::start().await;
    let server = Server::start().await;
    let cookie = server.set_up().await;
    for (upstream, trusted, weight) in [(&first, true, 1), (&second, false, 0)] {
        let id = connect(&server, &cookie, upstream, trusted).await;
        let change = json!({"together": true, "weight": weight});
        let request = server.request(Method::PATCH, &format!("/api/v1/connections/{id}"), &cookie);
        Answer::of(request.json(&change)).await.expect(200);
    }
    let key = json!({"name": "Front", "front_end": true});
    let key = server.post("/api/v1/keys", &cookie, &key).await.json();
    say(&server, &cookie, "Hello").await;
    assert_eq!(first.last().metadata["session_id"], "tab-1");
    assert!(second.last().is_nothing(), "{:?}", second.last());
    let mut body = ask("scripted", "Hello");
    body["metadata"] = json!({"user_id": "7", "chat_id": "c"});
    let request = server.request(Method::POST, CHAT, key["secret"].as_str().unwrap());
    Answer::of(request.header("x-openwebui-user-id", "7").json(&body))
        .await
        .expect(200);
    assert_eq!(
        (
            first.last().headers["user-id"].clone(),
            first.last().metadata
        ),
        (json!("7"), body["metadata"].clone())
    );
    assert_eq!(
        (second.last().headers, second.last().metadata),
        (json!({}), json!({}))
    );
}

/// A run keeps who asked, also of a front end's people, of whom nothing else is known here.
#[tokio::test]
async fn a_run_that_goes_on_after_a_restart_still_says_who_asks() {
    let upstream = Upstream::start().await;
    let kept = Kept::new();
    let server = kept.start().await;
    let cookie = server.set_up().await;
    connect(&server, &cookie, &upstream, true).await;
    let key = json!({"name": "Front", "front_end": true});
    let key = server.post("/api/v1/keys", &cookie, &key).await.json();
    let key = key["secret"].as_str().unwrap().to_owned();
    let as_anna = |server: &Server, method: Method, path: &str| {
        server
            .request(method, path, &key)
            .header("x-openwebui-user-id", "7")
            .header("x-openwebui-user-name", "%D0%90%D0%BD%D0%BD%D0%B0%2FLab")
            .header("x-openwebui-user-email", "anna@example.org")
    };
    let body = json!({"messages": [{"role": "user", "content": "Ask me."}], "model": "scripted",
        "metadata": {"chat_id": "c 1", "own": "x"}});
    let mut response = as_anna(&server, Method::POST, "/chat/stream")
        .json(&body)
        .send()
        .await
        .unwrap();
    let run = response.headers()["x-run-id"].to_str().unwrap().to_owned();
    while !String::from_utf8_lossy(&response.chunk().await.unwrap().unwrap()).contains("Which?") {}
    stop(&server).await;
    drop((response, server));

    let server = kept.start().await;
    let log = as_anna(&server, Method::GET, &format!("/runs/{run}/events"));
    let mut log = crate::sse::Events::of(log.send().await.unwrap());
    let asked = log
        .until(|event| event["body"]["type"] == "question_asked")
        .await;
    let question = asked["body"]["question"].as_str().unwrap();
    let answer = as_anna(
        &server,
        Method::POST,
        &format!("/runs/{run}/questions/{question}"),
    );
    Answer::of(answer.json(&json!({"answer": "This"})))
        .await
        .expect(204);
    log.rest().await;
    let heard = upstream.heard();
    assert_eq!(heard.len(), 2);
    let headers = json!({"user-id": "7", "user-name": "%D0%90%D0%BD%D0%BD%D0%B0%2FLab",
        "user-email": "anna@example.org", "chat-id": "c 1"});
    for one in &heard {
        assert_eq!(one.headers, headers);
        assert_eq!(
            (&one.metadata["user_id"], &one.metadata["own"]),
            (&json!("7"), &json!("x"))
        );
    }
}
