//! What two servers of a database have in common: attempts to sign in, limits per minute, the set-up link, the sessions of MCP
//! clients, exports, and model servers that do not answer.

use futures_util::future::join_all;
use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};

use super::postgres::Cluster;
use crate::{
    harness::{Answer, EMAIL, PASSWORD, SECRET_KEY, Server},
    mcp,
    openai::{CHAT, ask, connect, finish, text},
};

/// Two servers of one database, each with a clock that stands still.
struct Two {
    a: Server,
    b: Server,
    _cluster: Cluster,
}

impl Two {
    async fn start(settings: &[(&str, &str)]) -> Option<Self> {
        let cluster = Cluster::start().await?;
        let url = cluster.url();
        let shared = [
            ("GLASSHOUSE_DATABASE_URL", url.as_str()),
            ("GLASSHOUSE_SECRET_KEY", SECRET_KEY),
        ];
        let settings = [&shared, settings].concat();
        let a = Server::start_with(&settings).await;
        let b = Server::start_with(&settings).await;
        Some(Self {
            a,
            b,
            _cluster: cluster,
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_of_a_password_count_at_both() {
    let Some(Two { a, b, _cluster }) = Two::start(&[]).await else {
        return;
    };
    a.set_up().await;
    let sign_in = async |server: &Server, password: &str| {
        let body = json!({"email": EMAIL, "password": password});
        server.post("/api/v1/login", "", &body).await
    };
    for server in [&a, &b, &a, &b, &a] {
        sign_in(server, "wrong horse").await.expect(401);
    }
    sign_in(&b, PASSWORD).await.expect(429);
    sign_in(&a, PASSWORD).await.expect(429);
    for server in [&a, &b] {
        server.clock.advance_ms(1_000);
    }
    // A success at one is known to the other.
    sign_in(&b, PASSWORD).await.expect(200);
    for server in [&a, &b, &a, &b, &a] {
        sign_in(server, "wrong horse").await.expect(401);
    }
    sign_in(&b, "wrong horse").await.expect(429);
}

#[tokio::test(flavor = "multi_thread")]
async fn both_print_the_same_set_up_link() {
    let public = [("GLASSHOUSE_PUBLIC_URL", "https://ai.example.org")];
    let Some(Two { a, b, _cluster }) = Two::start(&public).await else {
        return;
    };
    let link = |server: &Server| server::start::link(&server.app, server.address);
    assert_eq!(link(&a), link(&b));
    let token = a.app.identity.setup_token.as_ref().unwrap().reveal();
    let body = json!({"email": EMAIL, "name": "Ada", "password": PASSWORD, "token": token});
    b.post("/api/v1/setup", "", &body).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_per_minute_holds_for_both() {
    let Some(Two { a, b, _cluster }) = Two::start(&[]).await else {
        return;
    };
    let answer = Behaviour::always(Reply::stream(&[text("Hello"), finish()]));
    let upstream = ScriptedServer::start(answer).await.unwrap();
    let ada = a.set_up().await;
    connect(&a, &ada, "test", &upstream.base_url()).await;
    let knows = async |server: &Server, path: &str, is_so: &dyn Fn(&Value) -> bool| {
        super::until(path, async || is_so(&server.get(path, &ada).await.json())).await;
    };
    knows(&b, "/api/v1/models", &|models| {
        models.to_string().contains("scripted")
    })
    .await;
    let limits = json!({"of": "default", "limits": {"minute": {"requests": 3}}});
    a.put("/api/v1/limits", &ada, &limits).await.expect(204);
    knows(&b, "/api/v1/limits", &|limits| {
        limits["default"]["minute"]["requests"] == 3
    })
    .await;
    let request = ask("scripted", "Hi");
    let calls = (0..12).map(|number| {
        let server = if number % 2 == 0 { &a } else { &b };
        server.post(CHAT, &ada, &request)
    });
    let mut statuses: Vec<u16> = join_all(calls)
        .await
        .iter()
        .map(|answer| answer.status.as_u16())
        .collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [&[200; 3][..], &[429; 9]].concat());
    assert_eq!(upstream.requests().len(), 3);
    // Refused calls are taken back, which the other server learns within a second.
    for server in [&a, &b] {
        knows(server, "/api/v1/limits/own", &|own| {
            own["limits"][0]["used"]["requests"] == 3
        })
        .await;
    }
    // The next minute is another one.
    for server in [&a, &b] {
        server.clock.advance_ms(60_000);
    }
    b.post(CHAT, &ada, &request).await.expect(200);
}

/// As behind a balancer that sends each request to another server.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_of_an_mcp_client_goes_on_at_either() {
    let Some(Two { a, b, _cluster }) = Two::start(&[]).await else {
        return;
    };
    let ada = a.set_up().await;
    let key = mcp::key_of(&a, &ada).await;
    let bob = a.key_of_plain_user("bob@example.org").await;
    let (begun, session) = mcp::begin(&a, &key).await;
    assert!(begun.status.is_success() && !session.is_empty());
    let send = async |server: &Server, key: &str, message: &Value| {
        let request = mcp::message(server, key, message).header("mcp-session-id", &session);
        Answer::of(request).await
    };
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    send(&b, &bob, &list).await.expect(404);
    for server in [&b, &a, &b] {
        let tools = send(server, &key, &list).await;
        assert!(tools.text.contains("\"ask\""), "{}", tools.text);
    }
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "ask", "arguments": {"message": "Show me around", "model": "tour"},
    }});
    // Its step that needs consent is allowed by the person in the inbox, at the other server.
    let allow = async {
        let waiting = async || {
            let inbox = b.get("/api/v1/inbox", &ada).await.json();
            inbox["items"]
                .as_array()
                .into_iter()
                .flatten()
                .next()
                .cloned()
        };
        super::until("it asks", async || waiting().await.is_some()).await;
        let item = waiting().await.unwrap();
        let path = format!(
            "/runs/{}/approvals/{}",
            item["run"].as_str().unwrap(),
            item["event"]["body"]["approval"].as_str().unwrap()
        );
        b.post(&path, &ada, &json!({"decision": "allow"})).await
    };
    let (called, allowed) = tokio::join!(send(&a, &key, &call), allow);
    assert!(allowed.status.is_success(), "{}", allowed.text);
    assert!(called.text.contains("completed"), "{}", called.text);
    // The files of the chat that it used at one are listed at the other.
    let files = json!({"jsonrpc": "2.0", "id": 4, "method": "resources/list"});
    super::until("the files are listed", async || {
        send(&b, &key, &files).await.text.contains("\"uri\"")
    })
    .await;
    // What one has ended, another one that does not have it yet refuses.
    let end = b.request(Method::DELETE, "/mcp", &key);
    let ended = Answer::of(end.header("mcp-session-id", &session)).await;
    assert!(ended.status.is_success());
    send(&b, &key, &list).await.expect(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_server_that_fails_at_one_is_left_alone_by_both() {
    let Some(Two { a, b, _cluster }) = Two::start(&[]).await else {
        return;
    };
    let failing = Behaviour::always(Reply::error(500, "out of order"));
    let upstream = ScriptedServer::start(failing).await.unwrap();
    let ada = a.set_up().await;
    connect(&a, &ada, "test", &upstream.base_url()).await;
    let state = async |server: &Server| {
        let connections = server.get("/api/v1/connections", &ada).await.json();
        connections["connections"][0]["state"].clone()
    };
    super::until("both know it", async || state(&b).await.is_object()).await;
    for _ in 0..5 {
        a.post(CHAT, &ada, &ask("scripted", "Hi")).await.expect(502);
    }
    super::until("the other one knows", async || {
        state(&b).await["breaker"] == "open"
    })
    .await;
    let refused = b.post(CHAT, &ada, &ask("scripted", "Hi")).await;
    assert_eq!(refused.expect(503), "model_unavailable");
    assert!(refused.text.contains("out of order"), "{}", refused.text);
    assert_eq!(upstream.requests().len(), 5);
    // It answers again, which one of them finds out.
    a.app.models.check_idle(std::time::Duration::ZERO).await;
    super::until("the other one knows", async || {
        state(&b).await["breaker"] == "half_open"
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_at_one_and_an_export_at_the_other_take_turns() {
    let Some(Two { a, b, _cluster }) = Two::start(&[]).await else {
        return;
    };
    let ada = a.set_up().await;
    let (body, sent) = tokio::sync::mpsc::channel::<Result<String, std::io::Error>>(1);
    let body_of =
        futures_util::stream::unfold(sent, async |mut sent| Some((sent.recv().await?, sent)));
    let import = a
        .request(Method::POST, "/api/v1/me/import", &ada)
        .body(reqwest::Body::wrap_stream(body_of));
    let export = "/api/v1/me/export";
    let holds = async {
        body.send(Ok("{".to_owned())).await.unwrap();
        super::until("the other one is refused", async || {
            b.get(export, &ada).await.status.as_u16() == 409
        })
        .await;
        drop(body);
    };
    let (imported, ()) = tokio::join!(Answer::of(import), holds);
    imported.expect(400);
    super::until("it is over", async || {
        b.get(export, &ada).await.status.as_u16() == 200
    })
    .await;
}
