//! Source document 003, patch 3: what a model's server says that it is doing is shown wherever its answer is.

use reqwest::{Method, RequestBuilder};
use scripted::{Behaviour, Reply, Step};
use serde_json::{Value, json};

use crate::{
    harness::Server,
    openai::{CHAT, Door, finish, streaming, text},
    sse::{Event, Events},
};

const SEARCHING: &str = "Turn 1 - Searching knowledge base…";
const CRAWLING: &str = "Turn 1 - Crawling 2 sources…";

/// The gateway of the document: bare statuses and those in Open WebUI's envelope, the line cleared, and then the answer.
fn gateway() -> Reply {
    let status = |data: Value| json!({"type": "status", "data": data});
    let event = |data: Value| Step::Event {
        data: data.to_string(),
    };
    let pause = || Step::Pause { ms: 200 };
    Reply::stream(&[
        event(status(
            json!({"description": SEARCHING, "done": false, "hidden": false}),
        )),
        pause(),
        event(json!({"event": status(json!({"description": CRAWLING, "done": false}))})),
        pause(),
        event(status(json!({"done": true, "hidden": true}))),
        pause(),
        text("It is known."),
        finish(),
    ])
}

async fn sent(request: RequestBuilder) -> Vec<Value> {
    let events = Events::of(request.send().await.unwrap()).rest().await;
    events
        .iter()
        .filter(|event| event.data != "[DONE]")
        .map(Event::json)
        .collect()
}

impl Door {
    async fn events(&self, path: &str, body: &Value) -> Vec<Value> {
        sent(
            self.server
                .request(Method::POST, path, &self.key)
                .json(body),
        )
        .await
    }
}

/// What a reader is told at `at`: `-` before a line that is hidden.
fn told(events: &[Value], at: &str) -> Vec<String> {
    let data = events
        .iter()
        .filter_map(|event| event.pointer(at))
        .filter(|data| data["description"].is_string());
    let line = |data: &Value| {
        let description = data["description"].as_str().unwrap();
        assert!(
            !description.trim().is_empty(),
            "the document's own pipe shows an empty line for {data}"
        );
        let hidden = data["hidden"] == true;
        assert_eq!(data["done"] == true, hidden, "{data}");
        format!("{}{description}", if hidden { "-" } else { "" })
    };
    data.map(line).collect()
}

fn shown() -> Vec<String> {
    [
        "Thinking…".to_owned(),
        SEARCHING.to_owned(),
        CRAWLING.to_owned(),
        format!("-{CRAWLING}"),
    ]
    .to_vec()
}

fn texts(events: &[Value], at: &str) -> String {
    events
        .iter()
        .filter_map(|event| event.pointer(at)?.as_str())
        .collect()
}

#[tokio::test]
async fn document_003_status_of_an_upstream_in_chat_stream() {
    let door = Door::open(Behaviour::always(gateway())).await;
    let body = json!({"model": "scripted", "messages": [{"role": "user", "content": "Hi"}]});
    for format in [
        "",
        "?format=markup",
        "?format=markup&replace=true",
        "?format=details",
    ] {
        let events = door.events(&format!("/chat/stream{format}"), &body).await;
        assert_eq!(told(&events, "/data"), shown(), "{format}");
        if !format.contains("replace") {
            assert_eq!(texts(&events, "/data/content"), "It is known.", "{format}");
        }
    }
    let events = door.events("/chat/stream?format=tool_calls", &body).await;
    let of = |kind: &str| -> Vec<&str> {
        let of = events.iter().filter(|event| event["type"] == kind);
        of.map(|event| event["content"].as_str().unwrap()).collect()
    };
    assert_eq!(of("status"), ["Thinking…", SEARCHING, CRAWLING]);
    assert_eq!(of("message").concat(), "It is known.");
    let collected = door
        .server
        .post(
            "/chat/stream",
            &door.key,
            &json!({"stream": false, "model": "scripted",
        "messages": body["messages"]}),
        )
        .await;
    assert_eq!(collected.json()["content"], "It is known.", "never content");
}

#[tokio::test]
async fn document_003_status_of_an_upstream_through_an_agent_under_v1() {
    let door = Door::open(Behaviour::always(gateway())).await;
    let body = streaming("glasshouse/agent", "Hi");
    let ask = |body: &Value| {
        door.server
            .request(Method::POST, CHAT, &door.key)
            .json(body)
    };
    let mut asking = body.clone();
    asking["stream_options"] = json!({"include_status": true});
    for request in [
        ask(&asking),
        ask(&body).header("x-include-status", "true"),
        ask(&body).header("x-openwebui-user-name", "Ada"),
    ] {
        let events = sent(request).await;
        for at in ["/data", "/event/data"] {
            assert_eq!(told(&events, at), shown(), "{at}");
        }
        assert_eq!(texts(&events, "/choices/0/delta/content"), "It is known.");
    }
    let plain = sent(ask(&body)).await;
    assert_eq!(
        told(&plain, "/data"),
        [""; 0],
        "only who asks sees the work"
    );
    assert_eq!(texts(&plain, "/choices/0/delta/content"), "It is known.");
    assert!(
        door.upstream
            .received()
            .iter()
            .all(|request| request.header("x-include-status") == Some("true"))
    );
}

#[tokio::test]
async fn document_003_status_of_an_upstream_in_ag_ui_and_the_ai_sdk() {
    let door = Door::open(Behaviour::always(gateway())).await;
    let input = json!({"threadId": "t", "runId": "r", "protocolVersion": "1.0", "tools": [], "context": [],
        "messages": [{"id": "u", "role": "user", "content": "Hi"}], "state": {}, "forwardedProps": {}});
    let events = door.events("/ag-ui", &input).await;
    let custom: Vec<Value> = events
        .iter()
        .filter(|event| event["name"] == "status")
        .cloned()
        .collect();
    assert_eq!(told(&custom, "/value"), shown());
    assert_eq!(texts(&events, "/delta"), "It is known.");
    let message = json!([{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]);
    let body = json!({"messages": message, "model": "scripted"});
    let events = door.events("/api/ui-message-stream", &body).await;
    let parts: Vec<Value> = events
        .iter()
        .filter(|event| event["type"] == "data-status")
        .cloned()
        .collect();
    assert_eq!(told(&parts, "/data"), shown());
    assert_eq!(texts(&events, "/delta"), "It is known.");
}

#[tokio::test]
async fn document_003_status_of_an_upstream_is_in_the_log_and_not_in_the_message() {
    let door = Door::open(Behaviour::always(gateway())).await;
    let (server, key) = (&door.server, &door.key);
    let chat = server.post("/api/v1/chats", key, &json!({})).await.json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let body = json!({"parent": null, "content": "Hi", "model": "scripted"});
    let begun = server
        .post(&format!("/api/v1/chats/{chat}/messages"), key, &body)
        .await
        .json();
    let path = format!("/runs/{}/events", begun["run"].as_str().unwrap());
    let live = sent(server.request(Method::GET, &path, key)).await;
    assert_eq!(told(&live, "/body"), shown());
    let replay = sent(server.request(Method::GET, &path, key)).await;
    assert_eq!(replay, live, "a reader that comes later gets the same");
    let chat = server
        .get(&format!("/api/v1/chats/{chat}"), key)
        .await
        .json();
    let answer = chat["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(
        answer["content"],
        json!([{"type": "text", "text": "It is known."}]),
        "{answer}"
    );
}

#[tokio::test]
async fn a_pipeline_passes_over_statuses() {
    let status = json!({"type": "status", "data": {"description": SEARCHING}}).to_string();
    let title = text(r#"{"title": "🌱 Plants"}"#);
    let reply = Reply::stream(&[Step::Event { data: status }, title, finish()]);
    let on = [("GLASSHOUSE_PIPELINES_ENABLE_TITLE_GENERATION", "true")];
    let door = Door::open_with(Behaviour::always(reply), &on).await;
    let body = json!({"model": "scripted", "messages": [{"role": "user", "content": "Plants"}]});
    let answer = door
        .server
        .post("/api/v1/tasks/title/completions", &door.key, &body)
        .await;
    answer.expect(200);
    assert!(
        answer.text.contains("Plants") && !answer.text.contains(SEARCHING),
        "{}",
        answer.text
    );
}

/// Connects `outer` to the agents of `inner`.
async fn connect_to(outer: &Server, cookie: &str, inner: &Door) {
    let body = json!({"name": "Inner", "base_url": inner.server.url("/v1"), "api_key": inner.key});
    outer
        .post("/api/v1/connections", cookie, &body)
        .await
        .expect(200);
}

/// Two real servers in a row: the inner one's agent is the model of the outer one, which nobody has called trusted.
#[tokio::test]
async fn document_003_two_servers_in_a_row_show_the_work_of_the_inner_one() {
    let replies = [
        Reply::calls(&[("write_todos", json!({"todos": []}))]),
        gateway(),
    ];
    let inner = Door::open(Behaviour::answer(move |request| {
        replies[(request.number - 1) % 2].clone()
    }))
    .await;
    let (outer, cookie) = Server::start_signed_in().await;
    connect_to(&outer, &cookie, &inner).await;
    let models = outer.get("/v1/models", &cookie).await.json();
    let ids: Vec<&str> = models["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|model| model["id"].as_str())
        .collect();
    assert!(
        ids.contains(&"Inner/glasshouse/agent") && ids.contains(&"glasshouse/agent"),
        "{ids:?}"
    );

    // With tools of the outer one's own the inner one would hand their calls back.
    let model = "/api/v1/models/Inner%2Fglasshouse%2Fagent";
    outer
        .put(model, &cookie, &json!({"tool_mode": "off"}))
        .await
        .expect(200);

    let body =
        json!({"model": "Inner/glasshouse/agent", "messages": [{"role": "user", "content": "Hi"}]});
    let events = sent(
        outer
            .request(Method::POST, "/chat/stream", &cookie)
            .json(&body),
    )
    .await;
    let told = told(&events, "/data");
    let at = |line: &str| {
        told.iter()
            .position(|shown| shown == line)
            .unwrap_or_else(|| panic!("{line} in {told:?}"))
    };
    assert!(at(SEARCHING) < at(CRAWLING), "{told:?}");
    assert_eq!(told.last(), Some(&format!("-{CRAWLING}")));
    assert_eq!(texts(&events, "/data/content"), "It is known.");
    let tools = events
        .iter()
        .filter(|event| event["type"] == "tool_start")
        .count();
    assert_eq!(
        (tools, inner.upstream.requests().len()),
        (0, 2),
        "the inner one has run its tool itself"
    );
}

/// Where the model of an agent is passed on, so is the wish to see its work.
#[tokio::test]
async fn the_wish_for_statuses_is_passed_on() {
    let inner = Door::open(Behaviour::always(gateway())).await;
    let (outer, cookie) = Server::start_signed_in().await;
    connect_to(&outer, &cookie, &inner).await;
    let body = streaming("Inner/glasshouse/agent", "Hi");
    let ask = || outer.request(Method::POST, CHAT, &cookie).json(&body);
    assert_eq!(
        told(
            &sent(ask().header("x-include-status", "true")).await,
            "/data"
        ),
        shown()
    );
    assert_eq!(told(&sent(ask()).await, "/data"), [""; 0]);
}

/// A hostile server: a flood of long lines becomes a few short ones in the log, and the answer is still read.
#[tokio::test]
async fn document_003_a_flood_of_statuses_is_bounded() {
    let line = |number: usize| {
        let description = format!("{number} sk-upstream \u{1b}[2J\n{}", "long ".repeat(2_000));
        Step::Event {
            data: json!({"type": "status", "data": {"description": description}}).to_string(),
        }
    };
    let flood: Vec<Step> = (0..2_000)
        .map(line)
        .chain([text("It is known."), finish()])
        .collect();
    let door = Door::open(Behaviour::always(Reply::stream(&flood))).await;
    let body = json!({"model": "scripted", "messages": [{"role": "user", "content": "Hi"}]});
    let request = door
        .server
        .request(Method::POST, "/chat/stream", &door.key)
        .json(&body);
    let events = sent(request).await;
    let told = told(&events, "/data");
    assert!(told.len() < 200, "{} lines", told.len());
    assert!(
        told.iter()
            .all(|line| line.chars().count() <= 302 && !line.contains('\n')),
        "{told:?}"
    );
    assert!(
        told.iter()
            .all(|line| !line.contains("sk-upstream") && !line.contains('\u{1b}')),
        "{told:?}"
    );
    assert_eq!(texts(&events, "/data/content"), "It is known.");
}
