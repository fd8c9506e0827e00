//! Requests that name no model: the default model answers them, or nobody does. Nothing silently takes its place.

use std::sync::Arc;

use axum::{
    Json, Router,
    http::header,
    routing::{get, post},
};
use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::{
    harness::{Answer, Server, serve_other},
    openai::{CHAT, connect},
};

/// What each protocol adapter says to a message for no particular model.
async fn at_each_adapter(server: &Server, key: &str) -> Vec<(String, Answer)> {
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let thread = domain::RunId::generate();
    let input = json!({
        "threadId": format!("t-{thread}"), "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
        "messages": [{"id": "1", "role": "user", "content": "Hi"}],
    });
    let chat = server.post("/api/v1/chats", key, &json!({})).await.json()["id"].clone();
    let chat = format!("/api/v1/chats/{}/messages", chat.as_str().unwrap());
    let mut answers = Vec::new();
    for (path, body) in [
        ("/chat/stream", json!({"messages": messages})),
        (
            "/chat/stream",
            json!({"messages": messages, "stream": true}),
        ),
        (
            CHAT,
            json!({"model": "glasshouse/agent", "messages": messages}),
        ),
        (
            CHAT,
            json!({"model": "glasshouse/research", "messages": messages}),
        ),
        (
            "/v1/responses",
            json!({"model": "glasshouse/agent", "input": "Hi"}),
        ),
        ("/api/chat", json!({"message": "Hi"})),
        (
            "/api/ui-message-stream",
            json!({"messages": [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]}),
        ),
        ("/ag-ui", input.clone()),
        ("/copilotkit/agent/default/run", input),
        (chat.as_str(), json!({"content": "Hi"})),
    ] {
        answers.push((path.to_owned(), server.post(path, key, &body).await));
    }
    answers
}

async fn expect_unavailable(server: &Server, key: &str) {
    for (path, answer) in at_each_adapter(server, key).await {
        assert_eq!(answer.expect(503), "model_unavailable", "{path}");
    }
    let said = ask_over_mcp(server, key).await;
    assert_eq!(said["isError"], true, "{said}");
    assert!(!said.to_string().contains("run_"), "{said}");
}

/// The result of the MCP tool `ask` without a model.
async fn ask_over_mcp(server: &Server, key: &str) -> Value {
    let (begun, session) = crate::mcp::begin(server, key).await;
    begun.expect(200);
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "ask", "arguments": {"message": "Hi"},
    }});
    let answer =
        Answer::of(crate::mcp::message(server, key, &call).header("mcp-session-id", &session))
            .await;
    let json = answer
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("data:"));
    let json = json.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let json = json
        .chain(serde_json::from_str(&answer.text))
        .find(|message| message["id"] == 2);
    json.unwrap_or_else(|| panic!("no answer: {}", answer.text))["result"].clone()
}

#[tokio::test]
async fn without_any_model_the_tour_answers_only_requests_that_name_it() {
    let server = Server::start().await;
    server.set_up().await;
    let key = server.key_of_plain_user("bob@example.org").await;
    expect_unavailable(&server, &key).await;
    let models = server.get("/api/v1/models", &key).await.json();
    assert_eq!(
        (&models["default_model"], &models["models"][0]["id"]),
        (&Value::Null, &json!("tour"))
    );
    let named =
        json!({"model": "tour", "messages": [{"role": "user", "content": "Hi"}], "stream": true});
    let started = server
        .request(Method::POST, "/chat/stream", &key)
        .json(&named)
        .send()
        .await
        .unwrap();
    assert_eq!(started.status(), 200);
}

#[tokio::test]
async fn while_the_model_server_is_away_nothing_answers_for_it() {
    // An address where nobody listens.
    let away = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let server = Server::start_with(&[("OPENAI_API_BASE_URL", &format!("http://{away}/v1"))]).await;
    server.set_up().await;
    let key = server.key_of_plain_user("bob@example.org").await;
    expect_unavailable(&server, &key).await;
    // Whether it knows this model will only be known once it answers.
    let named = json!({"model": "qwen3:8b", "messages": [{"role": "user", "content": "Hi"}]});
    assert_eq!(
        server.post("/chat/stream", &key, &named).await.expect(503),
        "model_unavailable"
    );
}

#[tokio::test]
async fn a_chosen_default_that_is_gone_is_told_and_not_replaced() {
    let server = Server::start().await;
    let cookie = server.set_up().await;
    let first = ScriptedServer::start(Behaviour::always(Reply::text("From the first.")))
        .await
        .unwrap();
    let other = ScriptedServer::start(Behaviour::always(Reply::text("From the other.")))
        .await
        .unwrap();
    connect(&server, &cookie, "First", &first.base_url()).await;
    connect(&server, &cookie, "Other", &other.base_url()).await;
    let key = server.key_of_plain_user("bob@example.org").await;
    let ask = json!({"messages": [{"role": "user", "content": "Hi"}]});
    server.post("/chat/stream", &key, &ask).await.expect(200);
    let default = json!({"model": "Other/scripted"});
    server
        .put("/api/v1/settings/default-model", &cookie, &default)
        .await
        .expect(204);
    let answered = server.post("/chat/stream", &key, &ask).await;
    assert!(
        answered.text.contains("From the other."),
        "{}",
        answered.text
    );

    let known = server.get("/api/v1/connections", &cookie).await.json()["connections"][1].clone();
    let path = format!("/api/v1/connections/{}", known["id"].as_str().unwrap());
    server.delete(&path, &cookie).await.expect(204);
    let asked = first.requests().len();
    let refused = server.post("/chat/stream", &key, &ask).await;
    assert_eq!(refused.expect(503), "model_unavailable");
    assert!(refused.text.contains("Other/scripted"), "{}", refused.text);
    expect_unavailable(&server, &key).await;
    assert_eq!(
        first.requests().len(),
        asked,
        "the first model was not asked instead"
    );
}

/// A model server that lists its models only once it is let.
async fn slow_to_list(gate: Arc<Semaphore>) -> (std::net::SocketAddr, tokio_util::sync::DropGuard) {
    let list = async move || {
        let _passed = gate.acquire().await;
        Json(
            json!({"object": "list", "data": [{"id": "late", "object": "model", "owned_by": "me"}]}),
        )
    };
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "Late, but here."}, "finish_reason": "stop"}]});
    let answer = async move || {
        (
            [(header::CONTENT_TYPE, "text/event-stream")],
            format!("data: {chunk}\n\ndata: [DONE]\n\n"),
        )
    };
    let routes = Router::new()
        .route("/v1/models", get(list))
        .route("/v1/chat/completions", post(answer));
    serve_other(routes).await
}

#[tokio::test]
async fn a_request_during_the_first_look_waits_for_it() {
    let gate = Arc::new(Semaphore::new(0));
    let (address, _guard) = slow_to_list(Arc::clone(&gate)).await;
    let server =
        Server::start_with(&[("OPENAI_API_BASE_URL", &format!("http://{address}/v1"))]).await;
    server.set_up().await;
    let key = server.key_of_plain_user("bob@example.org").await;
    let ask = |model: Option<&str>| {
        let mut body = json!({"messages": [{"role": "user", "content": "Hi"}]});
        if let Some(model) = model {
            body["model"] = json!(model);
        }
        let request = server
            .request(Method::POST, "/chat/stream", &key)
            .json(&body);
        tokio_util::task::TaskTracker::new().spawn(Answer::of(request))
    };
    let unnamed = ask(None);
    let named = ask(Some("late"));
    let list = tokio_util::task::TaskTracker::new().spawn(Answer::of(server.request(
        Method::GET,
        "/api/v1/models",
        &key,
    )));
    // Whatever needs no model is answered meanwhile.
    for _ in 0..5 {
        server.get("/api/v1/me", &key).await.expect(200);
    }
    assert!(!unnamed.is_finished() && !named.is_finished() && !list.is_finished());
    gate.add_permits(100);
    for answer in [unnamed.await.unwrap(), named.await.unwrap()] {
        answer.expect(200);
        assert!(answer.text.contains("Late, but here."), "{}", answer.text);
    }
    assert_eq!(list.await.unwrap().json()["default_model"], "late");
}
