//! Traces: a finished run is sent to the collector, and a collector that is down harms nobody.

use std::sync::{Arc, Mutex};

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, routing::post};
use reqwest::StatusCode;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::{
    harness::{Server, serve_other},
    openai::connect,
    runs::events,
};

/// What the collector was sent: headers and body.
type Sent = (HeaderMap, Value);

#[derive(Clone)]
struct Collector {
    sent: mpsc::UnboundedSender<Sent>,
    /// Answers still to be given before it takes something.
    refusals: Arc<Mutex<Vec<u16>>>,
}

async fn take(State(collector): State<Collector>, headers: HeaderMap, body: Bytes) -> StatusCode {
    if let Some(status) = collector.refusals.lock().unwrap().pop() {
        return StatusCode::from_u16(status).unwrap();
    }
    collector.sent.send((headers, serde_json::from_slice(&body).unwrap())).unwrap();
    StatusCode::OK
}

/// Runs one message with a server that exports to `endpoint`.
async fn run_once(server: &Server, upstream: &ScriptedServer) -> String {
    let cookie = server.set_up().await;
    connect(server, &cookie, "Up", &upstream.base_url()).await;
    let chat = server.post("/api/v1/chats", &cookie, &json!({})).await.json();
    let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
    let sent = server.post(&path, &cookie, &json!({"content": "Look.", "model": "scripted"})).await.json();
    let run = sent["run"].as_str().unwrap().to_owned();
    events(server, &cookie, &format!("/runs/{run}/events")).await.rest().await;
    cookie
}

async fn looks() -> ScriptedServer {
    let behaviour = Behaviour::answer(|request| match request.number {
        1 => Reply::calls(&[("read_file", json!({"path": "/none.md"}))]),
        _ => Reply::text("It is not there."),
    });
    ScriptedServer::start(behaviour).await.unwrap()
}

#[tokio::test]
async fn a_finished_run_is_sent_as_one_trace() {
    let upstream = looks().await;
    let (sender, mut sent) = mpsc::unbounded_channel();
    // Busy at first: it is asked again.
    let collector = Collector { sent: sender, refusals: Arc::new(Mutex::new(vec![503])) };
    let routes = Router::new().route("/v1/traces", post(take)).with_state(collector);
    let (address, _serving) = serve_other(routes).await;
    let endpoint = format!("http://{address}");
    let server = Server::start_with(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b"),
        ("OTEL_SERVICE_NAME", "glass"),
    ])
    .await;
    let cookie = run_once(&server, &upstream).await;
    let (headers, body) = sent.recv().await.unwrap();
    assert_eq!(
        (&headers["x-key"], &headers["content-type"]),
        (&"a b".parse().unwrap(), &"application/json".parse().unwrap())
    );
    let resource = &body["resourceSpans"][0];
    let named = json!({"key": "service.name", "value": {"stringValue": "glass"}});
    assert_eq!(resource["resource"]["attributes"][0], named);
    let spans = resource["scopeSpans"][0]["spans"].as_array().unwrap();
    let names: Vec<&str> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["chat scripted", "execute_tool read_file", "chat scripted", "invoke_agent glasshouse"]
    );
    let run = spans.last().unwrap();
    assert!(run.get("parentSpanId").is_none() && run.get("status").is_none(), "{run}");
    for span in &spans[..3] {
        assert_eq!((&span["parentSpanId"], &span["traceId"]), (&run["spanId"], &run["traceId"]));
    }
    assert_eq!((&spans[1]["status"]["code"], &spans[0]["kind"]), (&json!(2), &json!(3)));
    assert!(!body.to_string().contains("/none.md"), "no content unless it is wanted");
    // Counted just after the collector has answered.
    loop {
        let metrics = server.get("/metrics", &cookie).await.text;
        if metrics.lines().any(|line| line == "glasshouse_traces_sent_total 1") {
            assert!(metrics.lines().any(|line| line == "glasshouse_traces_dropped_total 0"), "{metrics}");
            break;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_collector_that_refuses_costs_the_trace_only() {
    let upstream = looks().await;
    let (sender, _sent) = mpsc::unbounded_channel();
    let collector = Collector { sent: sender, refusals: Arc::new(Mutex::new(vec![400])) };
    let routes = Router::new().route("/v1/traces", post(take)).with_state(collector);
    let (address, _serving) = serve_other(routes).await;
    let endpoint = format!("http://{address}/v1/traces");
    let server = Server::start_with(&[("GLASSHOUSE_TRACING_ENDPOINT", endpoint.as_str())]).await;
    let cookie = run_once(&server, &upstream).await;
    loop {
        let metrics = server.get("/metrics", &cookie).await.text;
        if metrics.lines().any(|line| line == "glasshouse_traces_dropped_total 1") {
            break;
        }
        tokio::task::yield_now().await;
    }
}
