//! Our agent as a tool of MCP clients: `rmcp`'s client, and requests that no client should send.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use rmcp::{
    ClientHandler, RoleClient, ServiceExt,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
        ElicitationAction, ElicitationCapability, ErrorData, FormElicitationCapability,
        Implementation, ProgressNotificationParam, ReadResourceRequestParams,
    },
    service::{NotificationContext, PeerRequestOptions, RequestContext, RunningService},
    transport::streamable_http_client::{
        StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
    },
};
use scripted::{Behaviour, Call, Finish, Reply, ScriptedServer, Step};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::{
    harness::{Answer, Server},
    openai,
    runs::events,
};

/// A client that allows whatever it is asked, and keeps what it hears.
struct Client {
    forms: mpsc::UnboundedSender<String>,
    lines: mpsc::UnboundedSender<String>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let forms = ElicitationCapability::new().with_form(FormElicitationCapability::default());
        capabilities.elicitation = Some(forms);
        ClientConfig::new(capabilities, Implementation::new("tests", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            panic!("no form")
        };
        self.forms.send(message).unwrap();
        let yes = json!({"decision": "allow"});
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(yes))
    }

    async fn on_progress(
        &self,
        news: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        // Whoever does not listen any more misses nothing.
        let _ = self.lines.send(news.message.unwrap());
    }
}

struct Connected {
    client: RunningService<RoleClient, Client>,
    forms: mpsc::UnboundedReceiver<String>,
    lines: mpsc::UnboundedReceiver<String>,
}

async fn connect(server: &Server, key: &str) -> Connected {
    let (forms_, forms) = mpsc::unbounded_channel();
    let (lines_, lines) = mpsc::unbounded_channel();
    let config = StreamableHttpClientTransportConfig::with_uri(server.url("/mcp"))
        .auth_header(key.to_owned());
    let transport = StreamableHttpClientTransport::with_client(server.client.clone(), config);
    let client = Client {
        forms: forms_,
        lines: lines_,
    }
    .serve(transport)
    .await
    .unwrap();
    Connected {
        client,
        forms,
        lines,
    }
}

pub(crate) async fn key_of(server: &Server, cookie: &str) -> String {
    let made = server
        .post("/api/v1/keys", cookie, &json!({"name": "mcp"}))
        .await;
    made.json()["secret"].as_str().unwrap().to_owned()
}

fn tour() -> CallToolRequestParams {
    let arguments = json!({"message": "Show me around", "model": "tour"});
    CallToolRequestParams::new("ask").with_arguments(arguments.as_object().unwrap().clone())
}

#[tokio::test]
async fn a_call_is_a_run_of_the_keys_user() {
    let (server, cookie) = Server::start_signed_in().await;
    let key = key_of(&server, &cookie).await;
    let mut ada = connect(&server, &key).await;
    let tools = ada.client.list_all_tools().await.unwrap();
    assert_eq!(
        tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(),
        ["ask", "fetch_page"]
    );
    let result = ada.client.call_tool(tour()).await.unwrap();
    let result = result.structured_content.unwrap();
    assert_eq!(result["outcome"], "completed", "{result}");
    assert!(
        ada.forms
            .try_recv()
            .unwrap()
            .starts_with("The agent wants to run edit_file with {")
    );
    assert!(ada.lines.try_recv().unwrap().ends_with("has begun."));
    let chat = result["chat"].as_str().unwrap();
    let seen = server
        .get(&format!("/api/v1/chats/{chat}"), &cookie)
        .await
        .json();
    assert_eq!(seen["title"], "Show me around");
    let uri = result["files"][0]["uri"].as_str().unwrap().to_owned();
    ada.client
        .read_resource(ReadResourceRequestParams::new(uri.clone()))
        .await
        .unwrap();

    let bob = connect(&server, &server.key_of_plain_user("bob@example.org").await).await;
    bob.client
        .read_resource(ReadResourceRequestParams::new(uri))
        .await
        .unwrap_err();
    assert!(bob.client.list_all_resources().await.unwrap().is_empty());
    let mut into = tour();
    into.arguments
        .as_mut()
        .unwrap()
        .insert("chat".into(), json!(chat));
    let refused = bob.client.call_tool(into).await.unwrap();
    assert_eq!(refused.is_error, Some(true));
    assert!(
        serde_json::to_string(&refused)
            .unwrap()
            .contains("not yours"),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_cancelled_request_stops_its_run() {
    let (server, cookie) = Server::start_signed_in().await;
    let mut ada = connect(&server, &key_of(&server, &cookie).await).await;
    let request = rmcp::model::CallToolRequest::new(tour());
    let request = rmcp::model::ClientRequest::CallToolRequest(request);
    let sent = ada
        .client
        .send_request_with_option(request, PeerRequestOptions::no_options())
        .await
        .unwrap();
    let line = ada.lines.recv().await.unwrap();
    sent.cancel(None).await.unwrap();
    let run = line.split(' ').next().unwrap();
    let log = events(&server, &cookie, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    assert_eq!(log.last().unwrap().json()["body"]["outcome"], "cancelled");
}

/// Asked again in a chat whose run is going, the message is added to that run, and both calls get its answer.
#[tokio::test]
async fn a_message_for_a_busy_chat_steers_its_run() {
    let upstream = ScriptedServer::start(Behaviour::answer(|request| match request.number {
        1 => Reply::stream(&[
            Step::Pause { ms: 1500 },
            Step::Calls {
                calls: vec![Call {
                    name: "ls".into(),
                    arguments: json!({}),
                }],
            },
            Step::Finish {
                reason: Finish::ToolCalls,
            },
        ]),
        _ => Reply::text("In French then."),
    }))
    .await
    .unwrap();
    let (server, cookie) = Server::start_signed_in().await;
    openai::connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let mut ada = connect(&server, &key_of(&server, &cookie).await).await;
    let ask = |message: &str| {
        let arguments = json!({"message": message, "model": "scripted", "chat": "work"});
        CallToolRequestParams::new("ask").with_arguments(arguments.as_object().unwrap().clone())
    };
    let second = async {
        assert!(ada.lines.recv().await.unwrap().ends_with("has begun."));
        ada.client.call_tool(ask("In French!")).await.unwrap()
    };
    let (first, second) = tokio::join!(ada.client.call_tool(ask("Do it.")), second);
    let first = first.unwrap().structured_content.unwrap();
    let second = second.structured_content.unwrap();
    assert_eq!(first["answer"], "In French then.");
    assert_eq!(
        (&first["run"], &first["answer"]),
        (&second["run"], &second["answer"])
    );
    let last = upstream.requests().pop().unwrap();
    let said = last["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(said["content"], "In French!");
}

#[tokio::test]
async fn a_call_ends_with_its_session_and_not_with_its_stream() {
    let (server, cookie) = Server::start_signed_in().await;
    let key = key_of(&server, &cookie).await;
    let (begun, session) = begin(&server, &key).await;
    begun.expect(200);
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "ask", "arguments": {"message": "Show me around", "model": "tour"},
    }});
    let response = message(&server, &key, &call)
        .header("mcp-session-id", &session)
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 200);
    drop(response);
    let waiting = loop {
        let inbox = server.get("/api/v1/inbox", &cookie).await.json();
        if let Some(item) = inbox["items"].as_array().unwrap().first() {
            break item.clone();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let ended = server
        .request(Method::DELETE, "/mcp", &key)
        .header("mcp-session-id", &session);
    assert!(ended.send().await.unwrap().status().is_success());
    let run = waiting["run"].as_str().unwrap();
    let log = events(&server, &cookie, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    assert_eq!(
        log.last().unwrap().json()["body"]["outcome"],
        "cancelled",
        "ending the session ends its calls"
    );
}

pub(crate) fn message(server: &Server, key: &str, body: &Value) -> RequestBuilder {
    server
        .request(Method::POST, "/mcp", key)
        .header("accept", "application/json, text/event-stream")
        .json(body)
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"},
    }})
}

/// Begins a session by hand; returns the answer and the session's id.
pub(crate) async fn begin(server: &Server, key: &str) -> (Answer, String) {
    let answer = Answer::of(message(server, key, &initialize())).await;
    let session = answer
        .headers
        .get("mcp-session-id")
        .map(|id| id.to_str().unwrap().to_owned());
    let session = session.unwrap_or_default();
    if !session.is_empty() {
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let ready = message(server, key, &ready).header("mcp-session-id", &session);
        assert_eq!(Answer::of(ready).await.status, 202);
    }
    (answer, session)
}

#[tokio::test]
async fn only_a_valid_key_gets_in_and_a_session_is_its_owners() {
    let (server, cookie) = Server::start_signed_in().await;
    let key = key_of(&server, &cookie).await;
    for credential in ["", "gh_wrong"] {
        let answer = Answer::of(message(&server, credential, &initialize())).await;
        assert_eq!(answer.expect(401), "unauthenticated");
        assert_eq!(answer.headers["www-authenticate"], "Bearer");
    }
    let (_, session) = begin(&server, &key).await;
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let in_session = |key: &str| message(&server, key, &list).header("mcp-session-id", &session);
    assert!(Answer::of(in_session(&key)).await.text.contains("\"ask\""));
    let bob = server.key_of_plain_user("bob@example.org").await;
    assert_eq!(Answer::of(in_session(&bob)).await.expect(404), "not_found");
    for method in [Method::GET, Method::DELETE] {
        let request = server
            .request(method, "/mcp", &bob)
            .header("accept", "text/event-stream");
        Answer::of(request.header("mcp-session-id", &session))
            .await
            .expect(404);
    }
    assert_eq!(
        Answer::of(in_session(&key)).await.status,
        200,
        "it is still there"
    );
    let end = server
        .request(Method::DELETE, "/mcp", &key)
        .header("mcp-session-id", &session);
    assert!(Answer::of(end).await.status.is_success());
    Answer::of(in_session(&key)).await.expect(404);
}

#[tokio::test]
async fn other_sites_are_refused_even_with_a_key() {
    let server =
        Server::start_with(&[("GLASSHOUSE_CORS_ALLOW_ORIGINS", "https://named.example")]).await;
    let cookie = server.set_up().await;
    let key = key_of(&server, &cookie).await;
    for (origin, status) in [
        ("https://evil.example", 403),
        ("null", 403),
        ("https://named.example", 200),
        (&*format!("http://{}", server.address), 200),
    ] {
        let request = message(&server, &key, &initialize()).header("origin", origin);
        assert_eq!(Answer::of(request).await.status, status, "{origin}");
    }
    let foreign_host = message(&server, &key, &initialize()).header("host", "evil.example");
    assert_eq!(Answer::of(foreign_host).await.status, 403);
}

#[tokio::test]
async fn bodies_that_are_no_messages() {
    let (server, cookie) = Server::start_signed_in().await;
    let key = key_of(&server, &cookie).await;
    let (_, session) = begin(&server, &key).await;
    let send = |body: String| {
        server
            .request(Method::POST, "/mcp", &key)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .header("mcp-session-id", &session)
            .body(body)
    };
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"a\":{}1{}}}",
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let limit = server.app.config.now().body_limit_bytes;
    for (body, status) in [
        (String::new(), 415),
        ("{".into(), 415),
        // With an error of the protocol's.
        ("[]".into(), 200),
        (r#"{"jsonrpc": "1.0"}"#.into(), 415),
        (deep, 400),
        (
            r#"{"jsonrpc": "2.0", "id": 1, "method": "a\u0000"}"#.into(),
            400,
        ),
        (format!("\"{}\"", "x".repeat(limit)), 413),
    ] {
        let answer = Answer::of(send(body.clone())).await;
        assert_eq!(
            answer.status,
            status,
            "{}: {}",
            &body[..body.len().min(60)],
            answer.text
        );
    }
    for params in [
        json!(null),
        json!({"name": "ask", "arguments": {"message": 5}}),
        json!({"name": 5}),
    ] {
        let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params});
        let answer = Answer::of(send(call.to_string())).await;
        assert!(answer.status.as_u16() < 500, "{params}: {}", answer.text);
        assert!(answer.text.contains("rror"), "{params}: {}", answer.text);
    }
    let unknown = json!({"jsonrpc": "2.0", "id": 4, "method": "tools/eat"}).to_string();
    assert!(Answer::of(send(unknown)).await.text.contains("-32601"));
    let ping = json!({"jsonrpc": "2.0", "id": 5, "method": "ping"}).to_string();
    assert!(
        Answer::of(send(ping)).await.text.contains("\"result\":{}"),
        "the session goes on"
    );
}

#[tokio::test]
async fn streams_end_when_the_server_stops() {
    let (server, cookie) = Server::start_signed_in().await;
    let key = key_of(&server, &cookie).await;
    let (_, session) = begin(&server, &key).await;
    let stream = server
        .request(Method::GET, "/mcp", &key)
        .header("accept", "text/event-stream");
    let stream = stream
        .header("mcp-session-id", &session)
        .send()
        .await
        .unwrap();
    assert_eq!(stream.status(), 200);
    server.app.stopping.cancel();
    let rest = tokio::time::timeout(Duration::from_secs(5), stream.bytes()).await;
    assert!(rest.is_ok(), "it does not end");
}

/// One transport that two clients shared has given one the other's answers (CVE-2026-25536).
#[tokio::test]
async fn equal_request_ids_of_many_clients_do_not_meet() {
    let upstream = ScriptedServer::start(Behaviour::answer(|request| {
        let messages = request.body["messages"].as_array().unwrap();
        let said = messages
            .iter()
            .rfind(|message| message["role"] == "user")
            .unwrap();
        Reply::text(&format!("You said {}", said["content"]))
    }));
    let upstream = upstream.await.unwrap();
    let (server, cookie) = Server::start_signed_in().await;
    crate::openai::connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let (ada, bob) = (
        key_of(&server, &cookie).await,
        server.key_of_plain_user("bob@example.org").await,
    );
    let clients = (0..50).map(|n| {
        let (server, key) = (&server, if n % 2 == 0 { &ada } else { &bob });
        async move {
            let (begun, session) = begin(server, key).await;
            begun.expect(200);
            let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
                "name": "ask", "arguments": {"message": format!("canary-{n}."), "model": "scripted"},
            }});
            let answer = Answer::of(message(server, key, &call).header("mcp-session-id", &session)).await;
            assert_eq!(answer.status, 200, "{}", answer.text);
            (n, answer.text)
        }
    });
    for (n, text) in futures_util::future::join_all(clients).await {
        assert!(text.contains(&format!("canary-{n}.")), "{n}: {text}");
        let others =
            (0..50).filter(|other| *other != n && text.contains(&format!("canary-{other}.")));
        assert_eq!(others.collect::<Vec<_>>(), Vec::<i32>::new(), "{text}");
    }
}

#[tokio::test]
async fn programs_of_others_search_documents() {
    let (server, cookie) = Server::start_signed_in().await;
    let ada = connect(&server, &key_of(&server, &cookie).await).await;
    let call = |arguments: Value| {
        let arguments = arguments.as_object().unwrap().clone();
        ada.client
            .call_tool(CallToolRequestParams::new("search_knowledge").with_arguments(arguments))
    };
    assert!(
        call(json!({"query": "walrus"})).await.is_err(),
        "there is nothing to search"
    );
    let work = server.collection(&cookie, "Work").await;
    server
        .read_file(
            &cookie,
            &work,
            "plan.md",
            b"# Budget\n\nThe walrus costs 400 euros.",
        )
        .await;
    let tools = ada.client.list_all_tools().await.unwrap();
    assert_eq!(
        tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(),
        ["ask", "search_knowledge", "fetch_page"]
    );
    assert!(tools[1].description.as_ref().unwrap().contains("- Work"));
    let result = call(json!({"query": "walrus", "collection": "Work"}))
        .await
        .unwrap();
    let found = result.structured_content.unwrap()["passages"][0].clone();
    assert_eq!(
        (&found["name"], &found["headings"]),
        (&json!("plan.md"), &json!(["Budget"])),
        "{found}"
    );
    for (types, count) in [("md", 1), ("pdf", 0)] {
        let result = call(json!({"query": "walrus", "types": types}))
            .await
            .unwrap();
        assert_eq!(
            result.structured_content.unwrap()["passages"]
                .as_array()
                .unwrap()
                .len(),
            count
        );
    }
    for bad in [
        json!({}),
        json!({"query": " "}),
        json!({"query": "x".repeat(2000)}),
        json!({"query": "x", "types": "../"}),
        json!({"query": "x", "until": "soon"}),
        json!({"query": "x", "collection": "No"}),
    ] {
        assert_eq!(call(bad).await.unwrap().is_error, Some(true));
    }
    // Those of others are not there.
    let bob = server.key_of_plain_user("bob@example.org").await;
    let bob = connect(&server, &bob).await;
    let names: Vec<_> = bob
        .client
        .list_all_tools()
        .await
        .unwrap()
        .into_iter()
        .map(|tool| tool.name)
        .collect();
    assert_eq!(names, ["ask", "fetch_page"]);
}

/// Whoever calls names the addresses: there is no conversation here that could. The guard and the groups hold as ever.
#[tokio::test]
async fn the_web_is_searched_and_read() {
    let web = scripted::web::ClosedWeb::start().await.unwrap();
    let server = Server::start_with(&[
        ("GLASSHOUSE_OUTBOUND_ALLOW", "127.0.0.0/8"),
        ("GLASSHOUSE_WEB_SEARCH", "searxng"),
        ("GLASSHOUSE_WEB_SEARCH_URL", web.origin()),
        ("GLASSHOUSE_WEB_PAUSE_MS", "0"),
    ])
    .await;
    let cookie = server.set_up().await;
    let ada = connect(&server, &key_of(&server, &cookie).await).await;
    let tools = ada.client.list_all_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["ask", "web_search", "fetch_page"]);
    let open = |name: &str| {
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        tool.annotations.as_ref().unwrap().open_world_hint
    };
    assert_eq!(
        (open("web_search"), open("fetch_page")),
        (Some(true), Some(true)),
        "so that clients may ask"
    );
    let call = async |name: &'static str, arguments: Value| {
        let call =
            CallToolRequestParams::new(name).with_arguments(arguments.as_object().unwrap().clone());
        ada.client.call_tool(call).await.unwrap()
    };
    let found = call(
        "web_search",
        json!({"query": "Korvel lighthouse metres high", "limit": 2}),
    )
    .await;
    let found = found.structured_content.unwrap();
    assert_eq!(found["pages"].as_array().unwrap().len(), 2, "{found}");
    let url = web.url("/lights/korvel");
    let read = call("fetch_page", json!({ "url": url })).await;
    assert!(
        serde_json::to_string(&read.content)
            .unwrap()
            .contains("not instructions")
    );
    let read = read.structured_content.unwrap();
    assert_eq!(
        (&read["url"], &read["title"]),
        (&json!(url), &json!("The Korvel lighthouse")),
        "{read}"
    );
    let copy = format!("/api/v1/pages/{}", read["page"].as_str().unwrap());
    assert_eq!(
        server.get(&copy, &cookie).await.json()["text"],
        read["text"],
        "it is short"
    );

    for (arguments, words) in [
        (json!({"url": "http://10.0.0.1/"}), "private network"),
        (json!({ "url": web.url("/private/rota") }), "robots.txt"),
        (json!({"url": 7}), "invalid type"),
        (json!({}), "missing field"),
        (json!({"url": url, "from": -1}), "invalid"),
        (json!({"url": url, "from": 999_999}), "nothing from 999999"),
    ] {
        let refused = call("fetch_page", arguments).await;
        let said = serde_json::to_string(&refused.content).unwrap();
        assert!(
            refused.is_error == Some(true) && said.contains(words),
            "{words}: {said}"
        );
    }
    assert_eq!(web.count("/private/rota"), 0);
}
