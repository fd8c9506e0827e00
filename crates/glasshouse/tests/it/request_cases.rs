//! Requests from public bug reports, byte for byte, which other servers answer.

use reqwest::{Method, RequestBuilder};
use scripted::{Behaviour, Reply};
use serde_json::{Value, json};

use crate::openai::Door;

const CASES: [(&str, &str); 12] = [
    ("cc-lone", include_str!("request_cases/cc-lone.http")),
    ("cs-lone", include_str!("request_cases/cs-lone.http")),
    (
        "models-trailing",
        include_str!("request_cases/models-trailing.http"),
    ),
    ("models-dbl", include_str!("request_cases/models-dbl.http")),
    (
        "chat-trailing",
        include_str!("request_cases/chat-trailing.http"),
    ),
    (
        "cc-role-function",
        include_str!("request_cases/cc-role-function.http"),
    ),
    (
        "cc-tool-nullcontent",
        include_str!("request_cases/cc-tool-nullcontent.http"),
    ),
    (
        "cc-tool-argobj",
        include_str!("request_cases/cc-tool-argobj.http"),
    ),
    (
        "cc-only-system",
        include_str!("request_cases/cc-only-system.http"),
    ),
    ("cc-bom", include_str!("request_cases/cc-bom.http")),
    ("cc-dupkeys", include_str!("request_cases/cc-dupkeys.http")),
    (
        "rs-out-null",
        include_str!("request_cases/rs-out-null.http"),
    ),
];

#[tokio::test]
async fn requests_are_read_as_they_are_meant() {
    let door = Door::open(Behaviour::always(Reply::text("Hello."))).await;
    let aliases = json!({"aliases": {"ok": "scripted"}});
    door.server
        .put("/api/v1/settings/model-aliases", &door.cookie, &aliases)
        .await
        .expect(200);
    for (name, case) in CASES {
        let (head, body) = case.split_once("\n\n").unwrap();
        let (method, path) = head.split_once(' ').unwrap();
        let request = door
            .server
            .request(method.parse().unwrap(), path, &door.key);
        let answer = request.body(body.to_owned()).send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert_eq!(status, 200, "{name}: {text}");
        assert!(
            text.contains(if path.contains("models") {
                "scripted"
            } else {
                "Hello."
            }),
            "{name}: {text}"
        );
    }
    let sent = door.upstream.requests();
    let lone = sent
        .iter()
        .filter(|body| body.to_string().contains("hello \u{FFFD} there"));
    assert_eq!(lone.count(), 2, "half a pair costs one character");
    let results: Vec<&Value> = sent
        .iter()
        .filter_map(|body| {
            body["messages"]
                .as_array()?
                .iter()
                .find(|message| message["role"] == "tool")
        })
        .map(|message| &message["content"])
        .collect();
    assert_eq!(results, ["r", "", "r", ""]);
}

/// A message of a client that names no session.
fn mcp(door: &Door, accept: &str, version: Option<&str>, message: &Value) -> RequestBuilder {
    let request = door
        .server
        .request(Method::POST, "/mcp", &door.key)
        .header("accept", accept);
    let request = match version {
        Some(version) => request.header("mcp-protocol-version", version),
        None => request,
    };
    request
        .header("content-type", "application/json")
        .body(message.to_string())
}

fn initialize(version: &str) -> Value {
    let info = json!({"name": "c", "version": "1"});
    let params = json!({"protocolVersion": version, "clientInfo": info, "capabilities": {}});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

#[tokio::test]
async fn streams_of_mcp_begin_with_an_empty_event_only_where_the_version_has_it() {
    let door = Door::open(Behaviour::always(Reply::text("Hello."))).await;
    for (version, is_primed) in [
        ("2024-11-05", false),
        ("2025-06-18", false),
        ("2025-11-25", true),
    ] {
        let answer = mcp(&door, "*/*", None, &initialize(version))
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 200, "{version}");
        let session = answer.headers()["mcp-session-id"]
            .to_str()
            .unwrap()
            .to_owned();
        let began = answer.text().await.unwrap();
        assert_eq!(
            began.starts_with("data: \n"),
            is_primed,
            "{version}: {began}"
        );
        assert!(began.contains("\"serverInfo\""), "{version}: {began}");
        let list = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": null});
        let request = mcp(
            &door,
            "application/json, text/event-stream",
            Some(version),
            &list,
        );
        let listed = request
            .header("mcp-session-id", &session)
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap();
        assert_eq!(
            listed.starts_with("data: \n"),
            is_primed,
            "{version}: {listed}"
        );
        assert!(listed.contains("\"ask\""), "{version}: {listed}");
    }
}

#[tokio::test]
async fn simple_clients_of_mcp_are_served() {
    let door = Door::open(Behaviour::always(Reply::text("Hello."))).await;
    let begun = mcp(&door, "application/json", None, &initialize("2025-06-18"))
        .send()
        .await
        .unwrap();
    let session = begun.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned();
    let begun: Value = begun.json().await.unwrap();
    assert_eq!(begun["result"]["protocolVersion"], "2025-06-18");
    let arguments = json!({"message": "hi", "mode": null, "model": null});
    let params = json!({"name": "ask", "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let request = mcp(&door, "application/json", Some("2025-06-18"), &call);
    let answer = request
        .header("mcp-session-id", &session)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.headers()["content-type"], "application/json");
    let answer: Value = answer.json().await.unwrap();
    assert!(answer.to_string().contains("Hello."), "{answer}");
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    for (message, code, words) in [
        (json!([call, call]), -32600, "Batches"),
        (
            json!({"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}),
            -32602,
            "clientInfo",
        ),
    ] {
        let refused: Value = mcp(&door, "*/*", None, &message)
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap();
        assert_eq!(refused["error"]["code"], code, "{refused}");
        assert!(
            refused["error"]["message"]
                .as_str()
                .unwrap()
                .contains(words),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn clients_of_mcp_are_answered_in_the_form_that_they_take() {
    let door = Door::open(Behaviour::always(Reply::text("Hello."))).await;
    let (events, json) = ("text/event-stream", "application/json");
    let mut begin = initialize("2025-06-18");
    begin["params"]
        .as_object_mut()
        .unwrap()
        .remove("capabilities");
    begin["params"]["clientInfo"] = json!({"name": "c"});
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    for (accept, form, refusal) in [
        ("", events, json),
        ("*/*", events, json),
        ("application/json", json, json),
        ("application/*;q=0.9", json, json),
        (events, events, events),
        ("application/json, text/event-stream", events, json),
    ] {
        let begun = mcp(&door, accept, None, &begin).send().await.unwrap();
        assert_eq!(begun.status(), 200, "{accept}");
        assert_eq!(begun.headers()["content-type"], form, "{accept}");
        let session = begun.headers()["mcp-session-id"]
            .to_str()
            .unwrap()
            .to_owned();
        assert!(
            begun.text().await.unwrap().contains("\"serverInfo\""),
            "{accept}"
        );
        let said = |message: &Value| {
            mcp(&door, accept, Some("2025-06-18"), message)
                .header("mcp-session-id", &session)
                .send()
        };
        assert_eq!(said(&ready).await.unwrap().status(), 202, "{accept}");
        let listed = said(&list).await.unwrap();
        assert_eq!(listed.headers()["content-type"], form, "{accept}");
        assert!(listed.text().await.unwrap().contains("\"ask\""), "{accept}");
        let refused = said(&json!([list])).await.unwrap();
        assert_eq!(refused.headers()["content-type"], refusal, "{accept}");
        let refused = refused.text().await.unwrap();
        assert!(refused.contains("Batches"), "{accept}: {refused}");
        assert_eq!(
            refused.starts_with("data: {"),
            refusal == events,
            "{accept}: {refused}"
        );
        // The stream for what answers no message is nothing but a stream.
        let stream = door
            .server
            .request(Method::GET, "/mcp", &door.key)
            .header("accept", accept);
        let stream = stream
            .header("mcp-session-id", &session)
            .send()
            .await
            .unwrap();
        assert_eq!(
            stream.status(),
            if form == json { 406 } else { 200 },
            "{accept}"
        );
    }
    let page = mcp(&door, "text/html", None, &begin).send().await.unwrap();
    assert_eq!(page.status(), 406);
    assert!(page.text().await.unwrap().contains("must accept"));
}
