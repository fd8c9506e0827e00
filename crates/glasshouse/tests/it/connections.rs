//! Model servers: testing, connecting, discovering; and the model list.

use std::net::SocketAddr;

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode},
    response::Html,
    routing::get,
};
use serde_json::{Value, json};
use server::gateway::discovery::{Candidate, ServerKind, discover};
use tokio_util::sync::DropGuard;

use crate::harness::{Server, serve_other};

const KEY: &str = "sk-test-1234567890";

fn list(owner: &str, models: &[&str]) -> Value {
    let data: Vec<_> = models
        .iter()
        .map(|id| json!({ "id": id, "object": "model", "owned_by": owner }))
        .collect();
    json!({ "object": "list", "data": data })
}

/// A model server that offers two models to whoever has the key.
async fn model_server() -> (SocketAddr, DropGuard) {
    let answer = async |headers: HeaderMap| {
        let right = headers
            .get("authorization")
            .is_some_and(|key| key == format!("Bearer {KEY}").as_str());
        if right {
            (
                StatusCode::OK,
                Json(list("me", &["small", "large/with slash"])),
            )
        } else {
            (
                StatusCode::UNAUTHORIZED,
                Json(json!({ "error": { "message": "bad key" } })),
            )
        }
    };
    serve_other(Router::new().route("/v1/models", get(answer))).await
}

/// An address where nobody listens.
async fn nobody() -> SocketAddr {
    tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
}

/// A permit of somebody who may use all models.
fn everything(server: &Server) -> server::identity::groups::Permissions {
    let somebody = server::identity::auth::Authority::of_account(domain::UserId::generate());
    server.app.gateway.permit(somebody).regardless_of_groups()
}

#[tokio::test]
async fn a_server_is_tested_and_what_is_wrong_is_said() {
    let (server, cookie) = Server::start_signed_in().await;
    let (models, _guard) = model_server().await;
    let page = async || Html("<h1>Welcome</h1>");
    let (page, _guard) = serve_other(Router::new().route("/v1/models", get(page))).await;
    let (empty, _guard) = serve_other(Router::new()).await;
    let test = async |base_url: String, key: Value| {
        let body = json!({ "base_url": base_url, "api_key": key });
        server
            .post("/api/v1/connections/test", &cookie, &body)
            .await
    };
    let answer = test(format!("http://{models}"), json!(format!(" {KEY}\n"))).await;
    answer.expect(200);
    assert_eq!(
        answer.json(),
        json!({ "models": ["small", "large/with slash"] })
    );

    assert_eq!(
        test(format!("http://{models}/v1"), json!("sk-wrong"))
            .await
            .expect(422),
        "model_unauthorized"
    );
    assert_eq!(
        test(format!("http://{models}/v1"), json!(null))
            .await
            .expect(422),
        "model_unauthorized"
    );
    assert_eq!(
        test(format!("http://{}", nobody().await), json!(""))
            .await
            .expect(422),
        "model_unreachable"
    );
    assert_eq!(
        test(format!("http://{page}"), json!(null))
            .await
            .expect(422),
        "model_protocol"
    );
    test(format!("http://{empty}"), json!(null))
        .await
        .expect(422);
    assert_eq!(
        test("ftp://x".to_owned(), json!(null)).await.expect(422),
        "invalid_request"
    );
    test(format!("http://{models}"), json!(5)).await.expect(400);
    let connections = server.get("/api/v1/connections", &cookie).await.json();
    assert_eq!(connections, json!({ "connections": [] }));
}

#[tokio::test]
async fn a_connection_brings_its_models_until_it_is_deleted() {
    let (server, cookie) = Server::start_signed_in().await;
    let (models, _guard) = model_server().await;
    let body = json!({ "name": "Mine", "base_url": format!("http://{models}"), "api_key": KEY });
    let made = server.post("/api/v1/connections", &cookie, &body).await;
    made.expect(200);
    assert!(!made.text.contains(KEY));
    let made = made.json();
    let base_url = format!("http://{models}/v1");
    let id = made["id"].as_str().unwrap();
    let expected = json!({
        "id": id, "name": "Mine", "kind": "openai", "base_url": base_url, "settings": {}, "headers": [], "query": [],
        "source": "settings", "from_environment": false, "trusted": false,
        "keys": [{
            "id": made["keys"][0]["id"], "ending": "7890", "weight": 1, "readable": true, "uses": 0,
            "rests_ms": null, "last_failure": null,
        }],
        "weight": 1, "enabled": true, "together": false,
        "models": ["small", "large/with slash"], "problem": null,
        "state": {"breaker": "closed", "open_ms": null, "failures_in_row": 0, "last_failure": null},
    });
    assert_eq!(made, expected);
    assert_eq!(
        server.get("/api/v1/connections", &cookie).await.json(),
        json!({ "connections": [expected] })
    );
    let stored = server.app.store.connections().await.unwrap();
    let sealed = stored[0].keys[0].sealed.clone();
    assert!(!String::from_utf8_lossy(&sealed).contains("test"));

    let list = server.get("/api/v1/models", &cookie).await.json();
    assert_eq!(list["default_model"], "small");
    let ids: Vec<_> = list["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| model["id"].clone())
        .collect();
    assert_eq!(ids, ["small", "large/with slash", "tour"]);
    let resolved = server
        .app
        .models
        .resolve(Some("large/with slash"), &everything(&server))
        .unwrap();
    assert_eq!(resolved.model.name(), "large/with slash");

    let path = format!("/api/v1/connections/{id}");
    server
        .post(&format!("{path}/refresh"), &cookie, &json!({}))
        .await
        .expect(200);
    server.delete(&path, &cookie).await.expect(204);
    server.delete(&path, &cookie).await.expect(404);
    server
        .post(&format!("{path}/refresh"), &cookie, &json!({}))
        .await
        .expect(404);
    assert_eq!(
        server.get("/api/v1/models", &cookie).await.json()["default_model"],
        Value::Null
    );
}

#[tokio::test]
async fn a_server_that_went_away_is_told_and_its_models_stay() {
    let (server, cookie) = Server::start_signed_in().await;
    let (models, guard) = model_server().await;
    let body = json!({ "name": "Mine", "base_url": format!("http://{models}"), "api_key": KEY });
    let made = server
        .post("/api/v1/connections", &cookie, &body)
        .await
        .json();
    drop(guard);
    let path = format!(
        "/api/v1/connections/{}/refresh",
        made["id"].as_str().unwrap()
    );
    let refreshed = server.post(&path, &cookie, &json!({})).await.json();
    assert!(
        refreshed["problem"]["message"]
            .as_str()
            .is_some_and(|problem| problem.len() > 10),
        "{refreshed}"
    );
    assert_eq!(refreshed["models"], made["models"]);
    let bad = json!({ "name": "Mine", "base_url": format!("http://{models}") });
    server
        .post("/api/v1/connections", &cookie, &bad)
        .await
        .expect(422);
    assert_eq!(
        server.get("/api/v1/connections", &cookie).await.json()["connections"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn the_environments_connection_is_there_and_stays() {
    let (models, _guard) = model_server().await;
    let base_url = format!("http://{models}/v1");
    let settings = [
        ("OPENAI_API_BASE_URL", base_url.as_str()),
        ("OPENAI_API_KEY", KEY),
    ];
    let server = Server::start_with(&settings).await;
    let cookie = server.set_up().await;
    server.app.models.ask_configured().await.unwrap();
    let known = server.get("/api/v1/connections", &cookie).await.json()["connections"][0].clone();
    assert_eq!(
        (&known["from_environment"], &known["keys"][0]["ending"]),
        (&json!(true), &json!("7890"))
    );
    assert_eq!(known["models"], json!(["small", "large/with slash"]));
    let path = format!("/api/v1/connections/{}", known["id"].as_str().unwrap());
    assert_eq!(server.delete(&path, &cookie).await.expect(409), "conflict");
    assert!(server.app.store.connections().await.unwrap().is_empty());
    assert_eq!(
        server
            .app
            .models
            .resolve(None, &everything(&server))
            .unwrap()
            .id,
        "small"
    );
}

#[tokio::test]
async fn a_models_settings_are_kept() {
    let (server, cookie) = Server::start_signed_in().await;
    let (models, _guard) = model_server().await;
    let body = json!({ "name": "Mine", "base_url": format!("http://{models}"), "api_key": KEY });
    server
        .post("/api/v1/connections", &cookie, &body)
        .await
        .expect(200);
    let path = "/api/v1/models/large%2Fwith%20slash";
    let change = json!({ "tool_mode": "schema", "temperature": 0.5, "input_usd_per_million": 2 });
    let changed = server.put(path, &cookie, &change).await;
    changed.expect(200);
    assert_eq!(changed.json()["id"], "large/with slash");
    let changed = server
        .put(
            path,
            &cookie,
            &json!({ "temperature": null, "context_tokens": 8192 }),
        )
        .await
        .json();
    assert_eq!(changed["tool_mode"], "schema");
    assert_eq!(changed["temperature"], json!(null));
    assert_eq!(changed["context_tokens"], 8192);
    let resolved = server
        .app
        .models
        .resolve(Some("large/with slash"), &everything(&server))
        .unwrap();
    assert_eq!(resolved.prices.map(|prices| prices.base.input), Some(2.0));
    assert_eq!(resolved.tool_mode, llm::ToolMode::Schema);
    for bad in [
        json!({ "temperature": 3 }),
        json!({ "temperature": "hot" }),
        json!({ "tool_mode": "magic" }),
        json!({ "context_tokens": -1 }),
        json!({ "context_tokens": 0 }),
        json!({ "output_usd_per_million": -0.5 }),
    ] {
        server.put(path, &cookie, &bad).await.expect(400);
    }
    assert_eq!(
        server
            .put("/api/v1/models/none", &cookie, &json!({}))
            .await
            .expect(404),
        "model_not_found"
    );
}

#[tokio::test]
async fn the_default_model_can_be_chosen() {
    let (server, cookie) = Server::start_signed_in().await;
    let (models, _guard) = model_server().await;
    let body = json!({ "name": "Mine", "base_url": format!("http://{models}"), "api_key": KEY });
    server
        .post("/api/v1/connections", &cookie, &body)
        .await
        .expect(200);
    let path = "/api/v1/settings/default-model";
    server
        .put(path, &cookie, &json!({ "model": "tour" }))
        .await
        .expect(204);
    assert_eq!(
        server.get("/api/v1/models", &cookie).await.json()["default_model"],
        "tour"
    );
    assert!(
        server
            .app
            .models
            .resolve(None, &everything(&server))
            .unwrap()
            .id
            == "tour"
    );
    assert_eq!(
        server
            .put(path, &cookie, &json!({ "model": "none" }))
            .await
            .expect(422),
        "model_not_found"
    );
    server
        .put(path, &cookie, &json!({ "model": null }))
        .await
        .expect(400);
    assert_eq!(
        server
            .app
            .models
            .resolve(Some("none"), &everything(&server))
            .unwrap_err()
            .problem()
            .code
            .as_str(),
        "model_not_found"
    );
}

#[tokio::test]
async fn model_servers_on_this_machine_are_found() {
    let (server, cookie) = Server::start_signed_in().await;
    let serve_list = |owner: &'static str, models: &'static [&'static str]| {
        serve_other(Router::new().route("/v1/models", get(async move || Json(list(owner, models)))))
    };
    let (ollama, _a) = serve_list("library", &["qwen:0.5b"]).await;
    let (own_ollama, _b) = serve_list("ada", &["mine"]).await;
    let (moved_llama, _c) = serve_list("llamacpp", &["a.gguf"]).await;
    let (other, _d) = serve_list("somebody", &[]).await;
    let (stranger, _e) = serve_list("somebody", &["x"]).await;
    let (page, _f) =
        serve_other(Router::new().route("/v1/models", get(async || Html("hello")))).await;
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let candidates = [
        (ollama, ServerKind::Ollama),
        (own_ollama, ServerKind::Ollama),
        (moved_llama, ServerKind::Vllm),
        (other, ServerKind::LmStudio),
        (stranger, ServerKind::LlamaCpp),
        (page, ServerKind::LlamaCpp),
        (nobody().await, ServerKind::Vllm),
        (silent.local_addr().unwrap(), ServerKind::Vllm),
    ];
    let candidates = candidates.map(|(address, usually)| Candidate { address, usually });
    let started = std::time::Instant::now();
    let found = discover(&candidates).await.unwrap();
    assert!(
        started.elapsed() < std::time::Duration::from_secs(5),
        "all are asked at once"
    );
    let kinds: Vec<_> = found
        .iter()
        .map(|found| (found.kind, found.models.len()))
        .collect();
    assert_eq!(
        kinds,
        [
            (ServerKind::Ollama, 1),
            (ServerKind::Ollama, 1),
            (ServerKind::LlamaCpp, 1),
            (ServerKind::LmStudio, 0),
            (ServerKind::Unknown, 1)
        ]
    );
    assert_eq!(found[0].base_url, format!("http://{ollama}/v1"));
    let answer = server.get("/api/v1/connections/discover", &cookie).await;
    answer.expect(200);
    assert!(answer.json()["found"].is_array());
}
