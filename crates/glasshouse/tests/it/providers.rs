//! Connections of several kinds: made by the API, named by the file and the environment, and what servers say of their models.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, Uri},
    routing::get,
};
use reqwest::Method;
use serde_json::{Value, json};
use tokio_util::sync::DropGuard;

use crate::{
    harness::{Answer, Server, new_folder, serve_other},
    restart::{Kept, stop},
};

const MODELS: &str = "/api/v1/connections";

/// A server that lists what it is told to, and what it was asked last.
struct Listing {
    url: String,
    list: Arc<Mutex<Value>>,
    asked: Arc<Mutex<Option<(String, HeaderMap)>>>,
    _guard: DropGuard,
}

type Shared = (Arc<Mutex<Value>>, Arc<Mutex<Option<(String, HeaderMap)>>>);

impl Listing {
    async fn start(list: Value) -> Self {
        let (list, asked) = (Arc::new(Mutex::new(list)), Arc::default());
        async fn answer(
            State((list, asked)): State<Shared>,
            uri: Uri,
            headers: HeaderMap,
        ) -> Json<Value> {
            *asked.lock().unwrap() = Some((uri.to_string(), headers));
            Json(list.lock().unwrap().clone())
        }
        let state: Shared = (Arc::clone(&list), Arc::clone(&asked));
        let (address, guard) = serve_other(
            Router::new()
                .route("/v1/models", get(answer))
                .with_state(state),
        )
        .await;
        Self {
            url: format!("http://{address}"),
            list,
            asked,
            _guard: guard,
        }
    }

    async fn of(models: &[&str]) -> Self {
        let data: Vec<Value> = models.iter().map(|id| json!({"id": id})).collect();
        Self::start(json!({"data": data})).await
    }

    fn asked(&self) -> (String, HeaderMap) {
        self.asked.lock().unwrap().clone().unwrap()
    }
}

async fn patch(server: &Server, cookie: &str, id: &Value, change: &Value) -> Answer {
    let path = format!("{MODELS}/{}", id.as_str().unwrap());
    Answer::of(server.request(Method::PATCH, &path, cookie).json(change)).await
}

async fn connections(server: &Server, cookie: &str) -> Vec<Value> {
    server.get(MODELS, cookie).await.json()["connections"]
        .as_array()
        .unwrap()
        .clone()
}

async fn model(server: &Server, cookie: &str, id: &str) -> Value {
    let list = server.get("/api/v1/models", cookie).await.json();
    list["models"]
        .as_array()
        .unwrap()
        .iter()
        .find(|model| model["id"] == id)
        .unwrap()
        .clone()
}

fn everything(server: &Server) -> server::identity::groups::Permissions {
    let somebody = server::identity::auth::Authority::of_account(domain::UserId::generate());
    server.app.gateway.permit(somebody).regardless_of_groups()
}

#[tokio::test]
async fn a_connection_has_a_kind_that_stays_and_can_be_changed() {
    let (server, cookie) = Server::start_signed_in().await;
    let upstream = Listing::of(&["claude-opus-4-5"]).await;
    let body =
        json!({"name": "Claude", "kind": "anthropic", "base_url": upstream.url, "api_key": "k"});
    let made = server.post(MODELS, &cookie, &body).await;
    made.expect(200);
    let made = made.json();
    assert_eq!(
        (&made["kind"], &made["source"]),
        (&json!("anthropic"), &json!("settings"))
    );
    assert_eq!(made["base_url"], format!("{}/v1", upstream.url));
    // What a kind has not, it is not given; what it needs stays until another kind is chosen.
    let no_region = patch(
        &server,
        &cookie,
        &made["id"],
        &json!({"settings": {"region": "r"}}),
    )
    .await;
    assert_eq!(no_region.expect(400), "invalid_request");
    let azure = json!({"kind": "azure", "settings": {"api_version": "2024-10-21"}});
    let changed = patch(&server, &cookie, &made["id"], &azure).await.json();
    assert_eq!(
        (&changed["kind"], &changed["settings"], &changed["base_url"]),
        (
            &json!("azure"),
            &json!({"api_version": "2024-10-21"}),
            &made["base_url"]
        )
    );
    let stored = server.app.store.connections().await.unwrap().remove(0);
    assert_eq!(
        (stored.kind.as_str(), &stored.options),
        ("azure", &changed["settings"])
    );
    let back = patch(&server, &cookie, &made["id"], &json!({"kind": "openai"}))
        .await
        .json();
    assert_eq!(
        (&back["kind"], &back["settings"]),
        (&json!("openai"), &json!({}))
    );
}

#[tokio::test]
async fn what_a_kind_needs_is_named() {
    let (server, cookie) = Server::start_signed_in().await;
    for (body, status, field, words) in [
        (
            json!({"kind": "claude"}),
            400,
            "kind",
            "openai_responses, anthropic, gemini",
        ),
        (
            json!({"kind": "bedrock"}),
            400,
            "settings.region",
            "`settings.region`",
        ),
        (
            json!({"kind": "vertex", "settings": {"project": "p"}}),
            400,
            "settings.location",
            "vertex",
        ),
        (
            json!({"kind": "vertex", "settings": {"location": "l"}}),
            400,
            "settings.project",
            "vertex",
        ),
        (
            json!({"kind": "bedrock", "settings": {"region": "a/b"}}),
            400,
            "settings.region",
            "letters",
        ),
        (
            json!({"kind": "anthropic", "settings": {"region": "r"}}),
            400,
            "settings.region",
            "has no",
        ),
        (json!({"kind": "azure"}), 422, "base_url", "`base_url`"),
        (json!({}), 422, "base_url", "`base_url`"),
        (
            json!({"kind": "gemini", "base_url": "ftp://x"}),
            422,
            "base_url",
            "ftp://x",
        ),
        (
            json!({"kind": "gemini", "api_key": "a b"}),
            400,
            "api_key",
            "without spaces",
        ),
    ] {
        let mut body = body;
        body["name"] = json!("c");
        for path in [MODELS.to_owned(), format!("{MODELS}/test")] {
            let refused = server.post(&path, &cookie, &body).await;
            refused.expect(status);
            let error = refused.json()["error"].clone();
            assert_eq!(error["field"], field, "{body} {error}");
            assert!(
                error["message"].as_str().unwrap().contains(words),
                "{body} {error}"
            );
        }
    }
    let odd = json!({"name": "c", "kind": "bedrock", "settings": {"regoin": "r"}});
    let refused = server.post(MODELS, &cookie, &odd).await;
    refused.expect(400);
    assert!(refused.text.contains("regoin"), "{}", refused.text);
    let headers = json!({"name": "c", "base_url": "http://127.0.0.1:9", "headers": {"Host": "x"}});
    assert!(
        server
            .post(MODELS, &cookie, &headers)
            .await
            .text
            .contains("“Host”")
    );
    assert_eq!(connections(&server, &cookie).await, [] as [Value; 0]);
}

#[tokio::test]
async fn headers_and_query_parameters_are_sent_and_never_shown() {
    let kept = Kept::new();
    let server = kept.start_with(&[]).await;
    let cookie = server.set_up().await;
    let upstream = Listing::of(&["m"]).await;
    let body = json!({
        "name": "Gateway", "base_url": upstream.url,
        "headers": {"X-Subscription": "hidden-header-value"}, "query": {"api-version": "hidden-query-value"},
    });
    let made = server.post(MODELS, &cookie, &body).await;
    made.expect(200);
    let known = made.json();
    assert_eq!(
        (&known["headers"], &known["query"]),
        (&json!(["x-subscription"]), &json!(["api-version"]))
    );
    let (uri, headers) = upstream.asked();
    assert_eq!(uri, "/v1/models?api-version=hidden-query-value");
    assert_eq!(headers["x-subscription"], "hidden-header-value");
    let change = json!({"headers": {"X-Team": "blue"}, "query": {"api-version": null}});
    let changed = patch(&server, &cookie, &known["id"], &change).await;
    assert_eq!(
        changed.json()["headers"],
        json!(["x-subscription", "x-team"])
    );
    let elsewhere = json!({"base_url": "http://127.0.0.1:9/v1"});
    assert_eq!(
        patch(&server, &cookie, &known["id"], &elsewhere)
            .await
            .expect(409),
        "conflict"
    );
    for answer in [
        &made.text,
        &changed.text,
        &server.get("/api/v1/audit", &cookie).await.text,
    ] {
        assert!(!answer.contains("hidden"), "{answer}");
    }
    let sealed = server.app.store.connections().await.unwrap()[0]
        .sealed_extras
        .clone()
        .unwrap();
    assert!(!String::from_utf8_lossy(&sealed).contains("hidden"));
    stop(&server).await;
    drop(server);
    // They are still there after a start.
    let server = kept.start_with(&[]).await;
    let path = format!("{MODELS}/{}/refresh", known["id"].as_str().unwrap());
    server.post(&path, &cookie, &json!({})).await.expect(200);
    let (uri, headers) = upstream.asked();
    assert_eq!(
        (uri.as_str(), &headers["x-team"]),
        ("/v1/models", &"blue".parse().unwrap())
    );
    stop(&server).await;
}

#[tokio::test]
async fn a_models_context_window_is_the_servers_unless_one_is_set() {
    let (server, cookie) = Server::start_signed_in().await;
    let list = json!({"data": [
        {"id": "m", "max_model_len": 40960},
        {"id": "seeing", "architecture": {"input_modalities": ["text", "image"]}, "supported_parameters": ["tools"]},
    ]});
    let upstream = Listing::start(list).await;
    let body = json!({"name": "Mine", "base_url": upstream.url});
    let made = server.post(MODELS, &cookie, &body).await.json();
    let context = || {
        server
            .app
            .models
            .resolve(Some("m"), &everything(&server))
            .unwrap()
            .context_tokens
    };
    assert_eq!(context(), Some(40960));
    let known = model(&server, &cookie, "m").await;
    assert_eq!(
        (&known["context_tokens"], &known["listed"]["context_tokens"]),
        (&json!(null), &json!(40960))
    );
    let abilities = model(&server, &cookie, "seeing").await["listed"]["abilities"].clone();
    assert_eq!(
        (
            &abilities["vision"],
            &abilities["audio"],
            &abilities["tools"]
        ),
        (&json!(true), &json!(false), &json!(true))
    );
    server
        .put(
            "/api/v1/models/m",
            &cookie,
            &json!({"context_tokens": 8192}),
        )
        .await
        .expect(200);
    assert_eq!(context(), Some(8192));
    server
        .put(
            "/api/v1/models/m",
            &cookie,
            &json!({"context_tokens": null}),
        )
        .await
        .expect(200);
    // The server was started anew with more.
    *upstream.list.lock().unwrap() = json!({"data": [{"id": "m", "max_model_len": 131_072}]});
    let path = format!("{MODELS}/{}/refresh", made["id"].as_str().unwrap());
    server.post(&path, &cookie, &json!({})).await.expect(200);
    assert_eq!(context(), Some(131_072));
}

#[tokio::test]
async fn the_environment_makes_several_connections() {
    let (openai, claude) = (Listing::of(&["gpt"]).await, Listing::of(&["claude"]).await);
    let environment = [
        ("OPENAI_API_BASE_URL", openai.url.as_str()),
        ("ANTHROPIC_BASE_URL", &claude.url),
        ("ANTHROPIC_API_KEY", "sk-ant-1234567890"),
    ];
    let kept = Kept::new();
    let server = kept.start_with(&environment).await;
    let cookie = server.set_up().await;
    server.app.models.ask_configured().await.unwrap();
    let known = connections(&server, &cookie).await;
    let shown: Vec<_> = known
        .iter()
        .map(|one| (&one["name"], &one["kind"], &one["models"]))
        .collect();
    assert_eq!(
        shown,
        [
            (&json!("Environment"), &json!("openai"), &json!(["gpt"])),
            (&json!("Anthropic"), &json!("anthropic"), &json!(["claude"])),
        ]
    );
    assert_eq!(
        (&known[1]["source"], &known[1]["from_environment"]),
        (&json!("environment"), &json!(true))
    );
    assert_eq!(known[1]["keys"][0]["ending"], "7890");
    // Each is trusted by itself, and nothing else of it is changed here.
    patch(&server, &cookie, &known[1]["id"], &json!({"trusted": true}))
        .await
        .expect(200);
    let named = json!({"trusted": true, "name": "Mine"});
    assert_eq!(
        patch(&server, &cookie, &known[1]["id"], &named)
            .await
            .expect(409),
        "conflict"
    );
    stop(&server).await;
    drop(server);
    let server = kept.start_with(&environment).await;
    let after = connections(&server, &cookie).await;
    let ids = |list: &[Value]| list.iter().map(|one| one["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&after), ids(&known));
    assert_eq!(
        (&after[0]["trusted"], &after[1]["trusted"]),
        (&json!(false), &json!(true))
    );
    stop(&server).await;
}

#[tokio::test]
async fn one_server_that_is_away_does_not_hide_the_models_of_another() {
    let away = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let claude = Listing::of(&["claude"]).await;
    let away = format!("http://{away}");
    let settings = [
        ("OPENAI_API_BASE_URL", away.as_str()),
        ("ANTHROPIC_BASE_URL", &claude.url),
    ];
    let server = Server::start_with(&settings).await;
    server.app.models.ask_configured().await.unwrap_err();
    let resolve = |id| server.app.models.resolve(Some(id), &everything(&server));
    assert_eq!(resolve("claude").unwrap().id, "claude");
    // It may be a model of the server that is away.
    assert_eq!(
        resolve("gpt").unwrap_err().problem().code.as_str(),
        "model_unavailable"
    );
}

#[tokio::test]
async fn a_server_that_lists_no_models_is_not_waited_for() {
    let (openai, claude) = (Listing::of(&["gpt"]).await, Listing::of(&[]).await);
    *claude.list.lock().unwrap() = json!({"error": {"message": "no list here"}});
    let settings = [
        ("OPENAI_API_BASE_URL", openai.url.as_str()),
        ("ANTHROPIC_BASE_URL", &claude.url),
    ];
    let server = Server::start_with(&settings).await;
    server.app.models.ask_configured().await.unwrap_err();
    let resolve = |id| server.app.models.resolve(Some(id), &everything(&server));
    assert_eq!(
        resolve("nothing").unwrap_err().problem().code.as_str(),
        "model_not_found"
    );
}

#[tokio::test]
async fn the_file_names_connections_that_stay() {
    let folder = new_folder();
    let file = folder.join("connections.toml");
    let upstream = Listing::of(&["listed"]).await;
    let text = format!(
        "[[connections]]\nname = \"Claude\"\nkind = \"anthropic\"\nbase_url = \"{}\"\n\
         [[connections]]\nname = \"Fixed\"\nbase_url = \"{}/gone\"\nmodels = [\"named\"]\n",
        upstream.url, upstream.url
    );
    std::fs::write(&file, text).unwrap();
    let server = Server::start_with(&[("GLASSHOUSE_CONFIG", file.to_str().unwrap())]).await;
    let cookie = server.set_up().await;
    server.app.models.ask_configured().await.unwrap();
    let known = connections(&server, &cookie).await;
    assert_eq!(
        (&known[0]["kind"], &known[0]["models"]),
        (&json!("anthropic"), &json!(["listed"]))
    );
    // It has no list, and needs none.
    assert_eq!(
        (&known[1]["models"], &known[1]["problem"]),
        (&json!(["named"]), &json!(null))
    );
    assert_eq!(
        (&known[1]["source"], &known[1]["from_environment"]),
        (&json!("file"), &json!(false))
    );
    let path = format!("{MODELS}/{}", known[1]["id"].as_str().unwrap());
    let refused = server.delete(&path, &cookie).await;
    assert_eq!(refused.expect(409), "conflict");
    assert!(
        refused.text.contains("configuration file"),
        "{}",
        refused.text
    );
    let key = json!({"api_key": "k"});
    assert_eq!(
        server
            .post(&format!("{path}/keys"), &cookie, &key)
            .await
            .expect(409),
        "conflict"
    );
    std::fs::remove_dir_all(folder).unwrap();
}
