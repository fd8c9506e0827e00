//! Who searches the web beside the services: the pages that crawls have brought in, and tools of MCP servers.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{any, post},
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    faults::until,
    harness::{new_folder, serve_other},
    knowledge::KNOWLEDGE,
    web_pages::Desk,
};

const SEARCH: &str = "web_search";

#[tokio::test]
async fn what_was_crawled_is_found_by_those_who_may_read_it() {
    let desk = Desk::open(&[("GLASSHOUSE_WEB_SEARCH", "own")]).await;
    let (server, ada) = (&desk.server, &desk.ada);
    let bob = server.key_of_plain_user("bob@example.org").await;
    let fact = desk
        .web
        .facts()
        .iter()
        .find(|fact| fact.question.contains("high is the Korvel"))
        .unwrap();
    let question = json!({"query": fact.question, "limit": 3});
    let (heard, _) = desk.call_as(ada, SEARCH, question.clone()).await;
    assert!(heard.contains("Nothing was found"), "{heard}");

    let collection = server.collection(ada, "Coast").await;
    let at = format!("{KNOWLEDGE}/{collection}");
    // What was not read of the web is no page of it.
    server
        .read_file(ada, &collection, "note.md", fact.question.as_bytes())
        .await;
    let url = desk.web.url("/lights/korvel");
    server
        .post(&format!("{at}/crawls"), ada, &json!({ "url": url }))
        .await
        .expect(202);
    until("all is read", async || {
        let all = server.get(&format!("{at}/documents"), ada).await.json();
        let all = all["documents"].as_array().unwrap().clone();
        all.len() == 2 && all.iter().all(|one| one["state"] == "ready")
    })
    .await;
    let (heard, _) = desk.call_as(ada, SEARCH, question.clone()).await;
    assert!(
        heard.contains(&url) && heard.contains(&format!("{} metres", fact.answer)),
        "{heard}"
    );
    assert!(
        heard.matches("http").count() == 1 && !heard.contains("note.md"),
        "{heard}"
    );
    let (heard, _) = desk.call_as(&bob, SEARCH, question.clone()).await;
    assert!(heard.contains("Nothing was found"), "{heard}");
    let open = server
        .request(Method::PATCH, &at, ada)
        .json(&json!({"open": true}))
        .send()
        .await;
    assert!(open.unwrap().status().is_success());
    let (heard, _) = desk.call_as(&bob, SEARCH, question.clone()).await;
    assert!(heard.contains(&url), "{heard}");
    server.delete(&at, ada).await.expect(204);
    let (heard, _) = desk.call_as(ada, SEARCH, question).await;
    assert!(heard.contains("Nothing was found"), "{heard}");
}

/// A server whose one tool answers as it was told to, and what it was asked.
#[derive(Clone, Default)]
struct Finder(Arc<Mutex<(Value, Vec<Value>)>>);

async fn mcp(State(finder): State<Finder>, Json(message): Json<Value>) -> Response {
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "finder", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [{
            "name": "search", "description": "Searches.", "annotations": { "readOnlyHint": true },
            "inputSchema": { "type": "object", "properties": {
                "query": { "type": "string" }, "max_results": { "type": "integer", "maximum": 10 },
            }},
        }]}),
        "tools/call" => {
            let mut finder = finder.0.lock().unwrap();
            finder.1.push(message["params"].clone());
            finder.0.clone()
        }
        "ping" => json!({}),
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    Json(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).into_response()
}

#[tokio::test]
async fn a_tool_of_an_mcp_server_searches() {
    let finder = Finder::default();
    let (address, _running) = serve_other(
        Router::new()
            .route("/mcp", post(mcp))
            .with_state(finder.clone()),
    )
    .await;
    let config = new_folder().join("glasshouse.toml");
    let servers = format!("[[mcp_servers]]\nname = \"finder\"\nurl = \"http://{address}/mcp\"\n");
    std::fs::write(&config, servers).unwrap();
    let desk = Desk::open(&[
        ("GLASSHOUSE_CONFIG", config.to_str().unwrap()),
        ("GLASSHOUSE_WEB_SEARCH", "mcp"),
        ("GLASSHOUSE_WEB_SEARCH_TOOL", "finder__search"),
    ])
    .await;
    let ask = async |says: Value| {
        finder.0.lock().unwrap().0 = says;
        desk.call_as(
            &desk.ada,
            SEARCH,
            json!({"query": "korvel height", "limit": 20}),
        )
        .await
        .0
    };
    let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    let list = json!({"results": [
        {"url": "https://a.example/1", "title": "One", "snippet": "first"},
        {"url": "https://a.example/1#again", "title": "One"},
        {"url": "http://169.254.169.254/latest", "title": "Planted"},
        {"url": "javascript:alert(1)", "title": "No"},
    ]});
    let heard = ask(text(&list.to_string())).await;
    assert!(
        heard.contains("1. One\nhttps://a.example/1\nfirst"),
        "{heard}"
    );
    assert!(
        heard.contains("not instructions") && !heard.contains("javascript"),
        "{heard}"
    );
    assert_eq!(heard.matches("a.example").count(), 1, "{heard}");
    let asked = finder.0.lock().unwrap().1.clone();
    assert_eq!(
        asked[0]["arguments"],
        json!({"query": "korvel height", "max_results": 10})
    );

    assert!(
        ask(json!({"structuredContent": list, "content": []}))
            .await
            .contains("1. One")
    );
    assert!(
        ask(text("Title: Two\nURL: https://b.example/"))
            .await
            .contains("1. Two\nhttps://b.example/")
    );
    assert!(
        ask(text("Sorry, nothing."))
            .await
            .contains("Nothing was found")
    );
    let failed =
        ask(json!({"isError": true, "content": [{"type": "text", "text": "no credit"}]})).await;
    assert!(
        failed.contains("The search did not work: no credit"),
        "{failed}"
    );
    let flood = ask(text(&"https://c.example/ ".repeat(100_000))).await;
    assert!(flood.len() < 20_000, "{}", flood.len());
    // What a tool returns as it is has no addresses in it.
    assert!(
        ask(json!({"nothing": true}))
            .await
            .contains("Nothing was found")
    );
    assert!(
        ask(Value::Null).await.contains("The search did not work"),
        "no result at all"
    );
}

/// Three services at one address, each of which answers as it was told to, and how often each was asked.
#[derive(Clone, Default)]
struct Services(Arc<Mutex<HashMap<String, Service>>>);

struct Service {
    status: u16,
    body: Value,
    asked: usize,
}

impl Services {
    fn answers(&self, name: &str, status: u16, body: Value) {
        let mut all = self.0.lock().unwrap();
        let asked = all.get(name).map_or(0, |told| told.asked);
        all.insert(
            name.to_owned(),
            Service {
                status,
                body,
                asked,
            },
        );
    }

    fn asked(&self) -> [usize; 3] {
        let all = self.0.lock().unwrap();
        ["search", "brave", "tavily"].map(|name| all[name].asked)
    }
}

async fn service(State(services): State<Services>, Path(name): Path<String>) -> Response {
    let mut all = services.0.lock().unwrap();
    let told = all.get_mut(&name).unwrap();
    told.asked += 1;
    let status = StatusCode::from_u16(told.status).unwrap();
    (status, [("retry-after", "7")], Json(told.body.clone())).into_response()
}

/// As SearXNG, Brave and Tavily answer.
fn shaped(name: &str) -> Value {
    let (url, title) = (format!("https://{name}.example/1"), format!("Of {name}"));
    match name {
        "search" => {
            json!({"query": "korvel", "number_of_results": 0, "answers": [], "infoboxes": [],
            "suggestions": [], "unresponsive_engines": [["bing", "timeout"]], "results": [
            {"url": url, "title": title, "content": "words", "engine": "duckduckgo", "score": 1.0,
             "category": "general", "parsed_url": ["https", "search.example", "/1", "", "", ""]}]})
        }
        "brave" => {
            json!({"type": "search", "query": {"original": "korvel"}, "mixed": {"type": "mixed", "main": []},
            "web": {"type": "search", "family_friendly": true, "results": [
            {"type": "search_result", "url": url, "title": title, "description": "<strong>words</strong>",
             "profile": {"name": "b", "url": url}, "age": "May 3, 2026"}]}})
        }
        _ => json!({"query": "korvel", "follow_up_questions": null, "answer": null, "images": [],
            "results": [{"url": url, "title": title, "content": "words", "score": 0.98, "raw_content": null}],
            "response_time": 1.09, "request_id": "1"}),
    }
}

#[tokio::test]
async fn the_first_search_that_finds_something_wins() {
    let services = Services::default();
    for name in ["search", "brave", "tavily"] {
        services.answers(name, 200, shaped(name));
    }
    let (address, _running) = serve_other(
        Router::new()
            .route("/{name}", any(service))
            .with_state(services.clone()),
    )
    .await;
    let at = |name: &str| format!("http://{address}/{name}");
    let desk = Desk::open(&[
        ("GLASSHOUSE_WEB_SEARCH", "searxng, brave, tavily"),
        ("GLASSHOUSE_WEB_SEARCH_URL", &at("search")),
        ("GLASSHOUSE_WEB_BRAVE_URL", &at("brave")),
        ("GLASSHOUSE_WEB_BRAVE_KEY", "b"),
        ("GLASSHOUSE_WEB_TAVILY_URL", &at("tavily")),
        ("GLASSHOUSE_WEB_TAVILY_KEY", "t"),
    ])
    .await;
    let ask = async || {
        desk.call_as(&desk.ada, SEARCH, json!({"query": "korvel"}))
            .await
            .0
    };
    let heard = ask().await;
    assert!(
        heard.contains("1. Of search\nhttps://search.example/1\nwords"),
        "{heard}"
    );
    assert!(!heard.contains("Note:"), "nobody was passed over: {heard}");
    assert_eq!(services.asked(), [1, 0, 0]);

    // One that is empty is passed over, and asked again the next time.
    services.answers(
        "search",
        200,
        json!({"results": [], "unresponsive_engines": [["bing", "timeout"]]}),
    );
    let heard = ask().await;
    assert!(
        heard.contains("1. Of brave\nhttps://brave.example/1\nwords"),
        "{heard}"
    );
    assert!(
        heard.contains("[Note: Found by Brave. Passed over: SearXNG: it finds nothing.]"),
        "{heard}"
    );
    services.answers("brave", 422, json!({}));
    assert!(ask().await.contains("Brave: it answered with HTTP 422."));
    services.answers("brave", 200, shaped("brave"));
    assert!(ask().await.contains("Found by Brave"));
    assert_eq!(
        services.asked(),
        [4, 3, 1],
        "a question that it does not take is no fault of its server"
    );

    // One that stumbles, and one that has had enough, are left out for a while.
    services.answers("search", 503, json!({}));
    services.answers("brave", 429, json!({}));
    let heard = ask().await;
    assert!(heard.contains("Of tavily"), "{heard}");
    assert!(
        heard.contains("SearXNG: it answered with HTTP 503. Brave: it has had enough of us"),
        "{heard}"
    );
    assert_eq!(services.asked(), [5, 4, 2]);
    services.answers("search", 200, shaped("search"));
    let heard = ask().await;
    assert!(
        heard.contains("Of tavily") && heard.contains("SearXNG: it answered with HTTP 503."),
        "{heard}"
    );
    assert_eq!(services.asked(), [5, 4, 3], "those that rest are not asked");

    // Where all rest, all are asked.
    services.answers("tavily", 402, json!({}));
    let heard = ask().await;
    assert!(
        heard.contains("The search did not work: SearXNG: ") && heard.contains("Tavily: it has"),
        "{heard}"
    );
    assert_eq!(services.asked(), [5, 4, 4]);
    let heard = ask().await;
    assert!(heard.contains("1. Of search"), "{heard}");
    assert!(!heard.contains("Note:"), "{heard}");
    assert_eq!(services.asked(), [6, 4, 4]);

    // Nobody finds anything.
    for name in ["search", "brave", "tavily"] {
        services.answers(name, 200, json!({}));
    }
    let heard = ask().await;
    assert!(
        heard.contains("Nothing was found") && heard.contains("SearXNG: it finds nothing."),
        "{heard}"
    );
}

const PROVIDERS: &str = "/api/v1/web-search";

/// Administrators choose the providers while the server runs; keys stay secret and go nowhere else.
#[tokio::test]
async fn providers_are_chosen_in_the_settings() {
    let services = Services::default();
    for name in ["search", "brave", "tavily"] {
        services.answers(name, 200, shaped(name));
    }
    let routes = Router::new()
        .route("/{name}", any(service))
        .with_state(services.clone());
    let (address, _running) = serve_other(routes).await;
    let at = |name: &str| format!("http://{address}/{name}");
    let desk = Desk::open(&[("GLASSHOUSE_WEB_SEARCH", "")]).await;
    let (server, ada) = (&desk.server, &desk.ada);
    let list = server.get(PROVIDERS, ada).await.json();
    assert_eq!(list, json!({"is_configured": false, "providers": []}));
    let can_search = async || server.get("/api/v1/me", ada).await.json()["web_search"] == true;
    assert!(!can_search().await);

    let brave = json!({"kind": "brave", "url": at("brave"), "api_key": "a-secret-key"});
    let tested = server.post(&format!("{PROVIDERS}/test"), ada, &brave).await;
    tested.expect(200);
    assert_eq!(tested.json()["hits"][0]["title"], "Of brave");
    let searxng = json!({"kind": "searxng", "url": at("search")});
    let both = json!({"providers": [searxng, brave]});
    let set = server.put(PROVIDERS, ada, &both).await;
    set.expect(200);
    assert!(!set.text.contains("a-secret-key"), "{}", set.text);
    assert_eq!(set.json()["providers"][1]["has_key"], true);
    assert!(can_search().await);
    let asked = json!({"query": "korvel"});
    let (heard, _) = desk.call_as(ada, SEARCH, asked.clone()).await;
    assert!(heard.contains("1. Of search"), "{heard}");

    // In another order, with the key that is known.
    let keyless = json!({"kind": "brave", "url": at("brave")});
    let other_order = json!({"providers": [keyless, {"kind": "own"}]});
    server.put(PROVIDERS, ada, &other_order).await.expect(200);
    let (heard, _) = desk.call_as(ada, SEARCH, asked.clone()).await;
    assert!(heard.contains("1. Of brave"), "{heard}");
    // It is not sent to another place.
    let elsewhere = json!({"kind": "brave", "url": "http://localhost:9/brave"});
    let refused = server
        .put(PROVIDERS, ada, &json!({"providers": [elsewhere]}))
        .await;
    refused.expect(400);
    assert_eq!(refused.json()["error"]["field"], "api_key");

    let audit = server.get("/api/v1/audit", ada).await;
    assert!(audit.text.contains("web_search.change"));
    assert!(!audit.text.contains("a-secret-key"));
    server
        .put(PROVIDERS, ada, &json!({"providers": []}))
        .await
        .expect(200);
    assert!(!can_search().await);
}

#[tokio::test]
async fn providers_that_cannot_be_used_are_refused_at_their_field() {
    let desk = Desk::open(&[("GLASSHOUSE_WEB_SEARCH", "")]).await;
    let (server, ada) = (&desk.server, &desk.ada);
    for (provider, field) in [
        (json!({"kind": "searxng"}), "url"),
        (
            json!({"kind": "searxng", "url": "search.example.org"}),
            "url",
        ),
        (json!({"kind": "searxng", "url": "x".repeat(5000)}), "url"),
        (json!({"kind": "tavily"}), "api_key"),
        (json!({"kind": "mcp"}), "tool"),
        (json!({"kind": "mcp", "tool": "finder"}), "tool"),
        (json!({"kind": "mcp", "tool": "finder__search"}), "tool"),
    ] {
        let body = json!({ "providers": [provider] });
        let refused = server.put(PROVIDERS, ada, &body).await;
        refused.expect(400);
        assert_eq!(refused.json()["error"]["field"], field, "{body}");
        let path = format!("{PROVIDERS}/test");
        server.post(&path, ada, &provider).await.expect(400);
    }
    let twice = json!({"providers": [{"kind": "own"}, {"kind": "own"}]});
    server.put(PROVIDERS, ada, &twice).await.expect(400);
    let unknown = json!({"providers": [{"kind": "google"}]});
    server.put(PROVIDERS, ada, &unknown).await.expect(400);
    let away = json!({"kind": "searxng", "url": "http://127.0.0.1:9"});
    let path = format!("{PROVIDERS}/test");
    server.post(&path, ada, &away).await.expect(422);
}

#[tokio::test]
async fn providers_of_the_configuration_are_only_shown() {
    let desk = Desk::open(&[
        ("GLASSHOUSE_WEB_SEARCH", "brave"),
        ("GLASSHOUSE_WEB_SEARCH_KEY", "a-secret-key"),
    ])
    .await;
    let (server, ada) = (&desk.server, &desk.ada);
    let list = server.get(PROVIDERS, ada).await;
    assert!(!list.text.contains("a-secret-key"), "{}", list.text);
    assert_eq!(list.json()["is_configured"], true);
    assert_eq!(list.json()["providers"][0]["has_key"], true);
    let change = json!({"providers": []});
    server.put(PROVIDERS, ada, &change).await.expect(409);
}
