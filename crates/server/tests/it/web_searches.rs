//! Who searches the web beside the services: the pages that crawls have brought in, and tools of MCP servers.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::post,
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
    let fact = desk.web.facts().iter().find(|fact| fact.question.contains("high is the Korvel")).unwrap();
    let question = json!({"query": fact.question, "limit": 3});
    let (heard, _) = desk.call_as(ada, SEARCH, question.clone()).await;
    assert!(heard.contains("Nothing was found"), "{heard}");

    let collection = server.collection(ada, "Coast").await;
    let at = format!("{KNOWLEDGE}/{collection}");
    // What was not read of the web is no page of it.
    server.read_file(ada, &collection, "note.md", fact.question.as_bytes()).await;
    let url = desk.web.url("/lights/korvel");
    server.post(&format!("{at}/crawls"), ada, &json!({ "url": url })).await.expect(202);
    until("all is read", async || {
        let all = server.get(&format!("{at}/documents"), ada).await.json();
        let all = all["documents"].as_array().unwrap().clone();
        all.len() == 2 && all.iter().all(|one| one["state"] == "ready")
    })
    .await;
    let (heard, _) = desk.call_as(ada, SEARCH, question.clone()).await;
    assert!(heard.contains(&url) && heard.contains(&format!("{} metres", fact.answer)), "{heard}");
    assert!(heard.matches("http").count() == 1 && !heard.contains("note.md"), "{heard}");
    let (heard, _) = desk.call_as(&bob, SEARCH, question.clone()).await;
    assert!(heard.contains("Nothing was found"), "{heard}");
    let open = server.request(Method::PATCH, &at, ada).json(&json!({"open": true})).send().await;
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
    let (address, _running) =
        serve_other(Router::new().route("/mcp", post(mcp)).with_state(finder.clone())).await;
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
        desk.call_as(&desk.ada, SEARCH, json!({"query": "korvel height", "limit": 20})).await.0
    };
    let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    let list = json!({"results": [
        {"url": "https://a.example/1", "title": "One", "snippet": "first"},
        {"url": "https://a.example/1#again", "title": "One"},
        {"url": "http://169.254.169.254/latest", "title": "Planted"},
        {"url": "javascript:alert(1)", "title": "No"},
    ]});
    let heard = ask(text(&list.to_string())).await;
    assert!(heard.contains("1. One\nhttps://a.example/1\nfirst"), "{heard}");
    assert!(heard.contains("not instructions") && !heard.contains("javascript"), "{heard}");
    assert_eq!(heard.matches("a.example").count(), 1, "{heard}");
    let asked = finder.0.lock().unwrap().1.clone();
    assert_eq!(asked[0]["arguments"], json!({"query": "korvel height", "max_results": 10}));

    assert!(ask(json!({"structuredContent": list, "content": []})).await.contains("1. One"));
    assert!(ask(text("Title: Two\nURL: https://b.example/")).await.contains("1. Two\nhttps://b.example/"));
    assert!(ask(text("Sorry, nothing.")).await.contains("Nothing was found"));
    let failed = ask(json!({"isError": true, "content": [{"type": "text", "text": "no credit"}]})).await;
    assert!(failed.contains("The search did not work: no credit"), "{failed}");
    let flood = ask(text(&"https://c.example/ ".repeat(100_000))).await;
    assert!(flood.len() < 20_000, "{}", flood.len());
    assert!(ask(json!({"nothing": true})).await.contains("The search did not work"), "no result at all");
}
