//! Traces: a finished run is sent to the collector, and a collector that is down harms nobody.

use std::sync::{Arc, Mutex};

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, routing::post};
use reqwest::{Method, StatusCode};
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::{
    harness::{Answer, Server, serve_other},
    openai::connect,
    restart::{Kept, stop},
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
    collector
        .sent
        .send((headers, serde_json::from_slice(&body).unwrap()))
        .unwrap();
    StatusCode::OK
}

/// Runs one message with a server that exports to `endpoint`.
async fn run_once(server: &Server, upstream: &ScriptedServer) -> String {
    let cookie = server.set_up().await;
    connect(server, &cookie, "Up", &upstream.base_url()).await;
    let chat = server
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json();
    let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
    let sent = server
        .post(
            &path,
            &cookie,
            &json!({"content": "Look.", "model": "scripted"}),
        )
        .await
        .json();
    let run = sent["run"].as_str().unwrap().to_owned();
    events(server, &cookie, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
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
    let collector = Collector {
        sent: sender,
        refusals: Arc::new(Mutex::new(vec![503])),
    };
    let routes = Router::new()
        .route("/v1/traces", post(take))
        .with_state(collector);
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
        (
            &"a b".parse().unwrap(),
            &"application/json".parse().unwrap()
        )
    );
    let resource = &body["resourceSpans"][0];
    let named = json!({"key": "service.name", "value": {"stringValue": "glass"}});
    assert_eq!(resource["resource"]["attributes"][0], named);
    let spans = resource["scopeSpans"][0]["spans"].as_array().unwrap();
    let names: Vec<&str> = spans
        .iter()
        .map(|span| span["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "chat scripted",
            "execute_tool read_file",
            "chat scripted",
            "invoke_agent glasshouse"
        ]
    );
    let run = spans.last().unwrap();
    assert!(
        run.get("parentSpanId").is_none() && run.get("status").is_none(),
        "{run}"
    );
    for span in &spans[..3] {
        assert_eq!(
            (&span["parentSpanId"], &span["traceId"]),
            (&run["spanId"], &run["traceId"])
        );
    }
    assert_eq!(
        (&spans[1]["status"]["code"], &spans[0]["kind"]),
        (&json!(2), &json!(3))
    );
    assert!(
        !body.to_string().contains("/none.md"),
        "no content unless it is wanted"
    );
    // Counted just after the collector has answered.
    loop {
        let metrics = server.get("/metrics", &cookie).await.text;
        if metrics
            .lines()
            .any(|line| line == "glasshouse_traces_sent_total 1")
        {
            assert!(
                metrics
                    .lines()
                    .any(|line| line == "glasshouse_traces_dropped_total 0"),
                "{metrics}"
            );
            break;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_collector_that_refuses_costs_the_trace_only() {
    let upstream = looks().await;
    let (sender, _sent) = mpsc::unbounded_channel();
    let collector = Collector {
        sent: sender,
        refusals: Arc::new(Mutex::new(vec![400])),
    };
    let routes = Router::new()
        .route("/v1/traces", post(take))
        .with_state(collector);
    let (address, _serving) = serve_other(routes).await;
    let endpoint = format!("http://{address}/v1/traces");
    let server = Server::start_with(&[("GLASSHOUSE_TRACING_ENDPOINT", endpoint.as_str())]).await;
    let cookie = run_once(&server, &upstream).await;
    loop {
        let metrics = server.get("/metrics", &cookie).await.text;
        if metrics
            .lines()
            .any(|line| line == "glasshouse_traces_dropped_total 1")
        {
            break;
        }
        tokio::task::yield_now().await;
    }
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// A server that exports to a collector, and what that is sent.
async fn exporting(kept: &Kept) -> (Server, String, mpsc::UnboundedReceiver<Sent>, impl Drop) {
    let (sender, sent) = mpsc::unbounded_channel();
    let routes = Router::new().route("/v1/traces", post(take));
    let collector = Collector {
        sent: sender,
        refusals: Arc::default(),
    };
    let (address, serving) = serve_other(routes.with_state(collector)).await;
    let endpoint = format!("http://{address}/v1/traces");
    let server = kept
        .start_with(&[("GLASSHOUSE_TRACING_ENDPOINT", endpoint.as_str())])
        .await;
    (server, endpoint, sent, serving)
}

/// Says something in a new chat, as a caller that has a trace; gives the run.
async fn say_traced(server: &Server, cookie: &str, flags: &str) -> String {
    let chat = server
        .post("/api/v1/chats", cookie, &json!({}))
        .await
        .json();
    let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
    let request = server
        .request(Method::POST, &path, cookie)
        .header("traceparent", format!("00-{TRACE}-{CALLER}-{flags}"))
        .header("tracestate", "vendor=1")
        .header("x-request-id", "mine-7")
        .json(&json!({"content": "Look.", "model": "scripted"}));
    let answer = Answer::of(request).await;
    assert_eq!(answer.headers["x-request-id"], "mine-7");
    answer.json()["run"].as_str().unwrap().to_owned()
}

/// A request that the model server got: the trace's id, the span's id, and the state and the request's id.
fn told(request: &scripted::Request) -> (String, String, [String; 2]) {
    let header = |name| request.header(name).unwrap_or_default().to_owned();
    let parent = header("traceparent");
    let parts: Vec<&str> = parent.split('-').collect();
    let [_, trace, span, _] = parts[..] else {
        panic!("no traceparent in {request:?}")
    };
    (
        trace.to_owned(),
        span.to_owned(),
        [header("tracestate"), header("x-request-id")],
    )
}

#[tokio::test]
async fn a_run_stands_in_its_callers_trace_whichever_server_works_on_it() {
    let upstream = ScriptedServer::start(Behaviour::answer(|request| match request.number {
        1 => Reply::calls(&[("read_file", json!({"path": "/none.md"}))]),
        2 => Reply::calls(&[("ask_user", json!({"question": "Which?"}))]),
        _ => Reply::text("This one then."),
    }))
    .await
    .unwrap();
    let kept = Kept::new();
    let (first, endpoint, mut sent, _serving) = exporting(&kept).await;
    let cookie = first.set_up().await;
    connect(&first, &cookie, "Up", &upstream.base_url()).await;
    let run = say_traced(&first, &cookie, "01").await;
    let mut reader = events(&first, &cookie, &format!("/runs/{run}/events")).await;
    let asked = reader
        .until(|event| event["body"]["type"] == "question_asked")
        .await;
    let question = asked["body"]["question"].as_str().unwrap().to_owned();
    stop(&first).await;
    drop(first);

    let second = kept
        .start_with(&[("GLASSHOUSE_TRACING_ENDPOINT", endpoint.as_str())])
        .await;
    let answer = json!({"answer": "This one"});
    second
        .post(
            &format!("/runs/{run}/questions/{question}"),
            &cookie,
            &answer,
        )
        .await
        .expect(204);
    events(&second, &cookie, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    let (_, body) = sent.recv().await.unwrap();
    let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"]
        .as_array()
        .unwrap()
        .clone();
    assert!(
        spans.iter().all(|span| span["traceId"] == TRACE),
        "{spans:?}"
    );
    let root = spans.last().unwrap();
    assert_eq!(
        (&root["name"], &root["parentSpanId"]),
        (&json!("invoke_agent glasshouse"), &json!(CALLER))
    );
    let request = json!({"key": "glasshouse.request_id", "value": {"stringValue": "mine-7"}});
    assert!(
        root["attributes"].as_array().unwrap().contains(&request),
        "{root}"
    );

    let chats = spans
        .iter()
        .filter(|span| span["name"] == "chat scripted")
        .map(|span| span["spanId"].clone());
    let received: Vec<_> = upstream.received().iter().map(told).collect();
    assert_eq!(received.len(), 3);
    let called: Vec<Value> = received.iter().map(|(_, span, _)| json!(span)).collect();
    assert_eq!(
        chats.collect::<Vec<_>>(),
        called,
        "the model server's work stands under the call's span"
    );
    for (trace, _, more) in received {
        assert_eq!(
            (trace.as_str(), more),
            (TRACE, ["vendor=1".to_owned(), "mine-7".to_owned()])
        );
    }
}

#[tokio::test]
async fn what_the_caller_does_not_keep_is_not_sent() {
    let kept = Kept::new();
    let upstream = looks().await;
    let (server, _, mut sent, _serving) = exporting(&kept).await;
    let cookie = server.set_up().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let run = say_traced(&server, &cookie, "00").await;
    events(&server, &cookie, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    assert!(
        upstream.received()[0]
            .header("traceparent")
            .unwrap()
            .ends_with("-00")
    );
    // Traces are sent one after the other, so the next one tells that this was passed over.
    let run = say_traced(&server, &cookie, "01").await;
    events(&server, &cookie, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    let (_, body) = sent.recv().await.unwrap();
    assert!(body.to_string().contains(&run), "{body}");
}

#[tokio::test]
async fn without_a_collector_the_callers_trace_is_passed_on_as_it_came() {
    let upstream = looks().await;
    let server = Server::start().await;
    let cookie = server.set_up().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let run = say_traced(&server, &cookie, "01").await;
    events(&server, &cookie, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    for request in upstream.received() {
        let (trace, span, _) = told(&request);
        assert_eq!((trace.as_str(), span.as_str()), (TRACE, CALLER));
    }
}

#[tokio::test]
async fn a_passed_request_is_known_by_its_id_on_both_sides() {
    let reply = Reply::status(
        200,
        &[
            ("x-request-id", "theirs"),
            ("content-type", "application/json"),
        ],
        "{}",
    );
    let upstream = ScriptedServer::start(Behaviour::always(reply))
        .await
        .unwrap();
    let server = Server::start().await;
    let cookie = server.set_up().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let ask = json!({"model": "scripted", "messages": [{"role": "user", "content": "Hi"}]});
    let key = server.key_of_plain_user("eve@example.org").await;
    let answer = server.post("/v1/chat/completions", &key, &ask).await;
    let id = answer.headers["x-request-id"].to_str().unwrap().to_owned();
    assert_eq!(answer.headers["x-upstream-request-id"], "theirs");
    let (trace, _, [state, request]) = told(&upstream.received()[0]);
    // There by its digits, which are a UUID's.
    let known = (
        format!("req_{trace}"),
        state.as_str(),
        format!("req_{request}"),
    );
    assert_eq!(known, (id.clone(), "", id));
}

#[tokio::test]
async fn errors_name_their_request() {
    let server = Server::start().await;
    for (path, status) in [
        ("/api/v1/chats", 401),
        ("/v1/models", 401),
        ("/v1/none", 404),
        ("/runs/x", 401),
    ] {
        let request = server
            .request(Method::GET, path, "")
            .header("x-request-id", "mine 8");
        let answer = Answer::of(request).await;
        assert_eq!(answer.status.as_u16(), status, "{path}");
        let id = answer.headers["x-request-id"].to_str().unwrap();
        assert!(id.starts_with("req_"), "one with a space is no id: {id}");
        assert_eq!(answer.json()["error"]["request_id"], id, "{path}");
    }
}
