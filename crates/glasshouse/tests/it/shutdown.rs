//! The end of streams when the server stops before their run does: each protocol says so, and none takes it for the end
//! of the run.

use std::future::ready;

use reqwest::{Method, RequestBuilder, Response};
use scripted::{Behaviour, Reply, Step};
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server},
    openai::{Door, ask, streaming},
    sse::Events,
};

/// A model that never comes to its end.
async fn door() -> Door {
    Door::open(Behaviour::always(Reply::stream(&[
        Step::Text {
            text: "Half an answer".to_owned(),
            tokens_per_second: None,
        },
        Step::Silence,
    ])))
    .await
}

/// As the program does it when the time for what is in progress is over.
async fn end(server: &Server) {
    server.app.stopping.cancel();
    server.app.runs.drain(ready(())).await;
    server.app.runs.end_readers();
    server.app.ending.cancel();
    server.stopped().await;
}

/// What the client has read at the end: the stream was begun, and then the server was stopped.
async fn cut_off(door: &Door, request: RequestBuilder) -> String {
    let mut response: Response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains("answer") {
        read.extend_from_slice(&response.chunk().await.unwrap().unwrap());
    }
    let (rest, ()) = tokio::join!(response.bytes(), end(&door.server));
    read.extend_from_slice(&rest.unwrap());
    String::from_utf8(read).unwrap()
}

fn last_data(text: &str) -> Value {
    let mut data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    serde_json::from_str(data.next_back().unwrap()).unwrap()
}

#[tokio::test]
async fn chat_completions_of_an_agent_end_with_an_error() {
    for key in [None, Some("once")] {
        let door = door().await;
        let mut request = door
            .server
            .request(Method::POST, "/v1/chat/completions", &door.key)
            .json(&streaming("glasshouse/agent", "Hi"));
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let text = cut_off(&door, request).await;
        let code = if key.is_some() {
            "unavailable"
        } else {
            "interrupted"
        };
        assert_eq!(
            last_data(text.trim_end_matches("data: [DONE]\n\n"))["error"]["code"],
            code,
            "{text}"
        );
        assert!(!text.contains("\"finish_reason\":\"stop\""), "{text}");
    }
}

#[tokio::test]
async fn forwarded_and_translated_answers_end_with_an_error() {
    for (path, model) in [
        ("/v1/chat/completions", "scripted"),
        // Translated.
        ("/v1/messages", "scripted"),
        ("/v1/messages", "glasshouse/agent"),
    ] {
        let door = door().await;
        let mut body = streaming(model, "Hi");
        body["max_tokens"] = 100.into();
        let request = door
            .server
            .request(Method::POST, path, &door.key)
            .json(&body);
        let text = cut_off(&door, request).await;
        let error = &last_data(&text)["error"];
        assert!(error["message"].is_string(), "{path}: {text}");
        if path == "/v1/messages" {
            assert!(text.contains("event: error"), "{text}");
        }
    }
}

#[tokio::test]
async fn streams_of_runs_that_go_on_say_so() {
    for (path, body, end) in [
        (
            "/api/ui-message-stream",
            json!({"messages": [{"id": "1", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}], "model": "scripted"}),
            json!("error"),
        ),
        (
            "/ag-ui?on_disconnect=continue",
            json!({"threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
                   "messages": [{"id": "1", "role": "user", "content": "Hi"}]}),
            json!("RUN_ERROR"),
        ),
        (
            "/v1/responses",
            json!({"model": "glasshouse/agent", "input": "Hi", "stream": true, "background": true}),
            json!("error"),
        ),
    ] {
        let door = door().await;
        let request = door
            .server
            .request(Method::POST, path, &door.key)
            .json(&body);
        let text = cut_off(&door, request).await;
        assert!(text.contains("The run goes on"), "{path}: {text}");
        let last = last_data(&text);
        let kind = last.get("type").unwrap_or(&Value::Null);
        assert!(
            *kind == end || text.contains("event: error"),
            "{path}: {text}"
        );
    }
}

#[tokio::test]
async fn a_native_stream_ends_cleanly_to_be_resumed() {
    let door = door().await;
    let request = door
        .server
        .request(Method::POST, "/chat/stream", &door.key)
        .json(&ask("scripted", "Hi"));
    let text = cut_off(&door, request).await;
    assert!(
        !text.contains("error") && !text.contains("completed"),
        "{text}"
    );
}

#[tokio::test]
async fn whole_answers_are_refused_for_now() {
    for (path, model) in [
        ("/v1/chat/completions", "glasshouse/agent"),
        ("/v1/messages", "scripted"),
        ("/chat/stream", "scripted"),
    ] {
        let door = door().await;
        let mut body = ask(model, "Hi");
        body["stream"] = false.into();
        body["max_tokens"] = 100.into();
        let request = door
            .server
            .request(Method::POST, path, &door.key)
            .json(&body);
        let stop = async {
            crate::faults::until("the model is asked", async || {
                door.upstream.open_requests() == 1
            })
            .await;
            end(&door.server).await;
        };
        let (answer, ()) = tokio::join!(Answer::of(request), stop);
        assert_eq!(answer.status, 503, "{path} {model}: {}", answer.text);
        if model != "glasshouse/agent" {
            assert!(
                answer.headers.contains_key("retry-after"),
                "{path}: {answer:?}"
            );
        }
    }
}

/// A server that may be cut off from the database sends its readers elsewhere.
#[tokio::test]
async fn readers_leave_a_server_that_has_lost_its_lease() {
    let door = door().await;
    let request = door
        .server
        .request(Method::POST, "/chat/stream?format=native", &door.key)
        .json(&ask("scripted", "Hi"));
    let mut reader = Events::of(request.send().await.unwrap());
    reader
        .until(|event| event["body"]["type"] == "text_delta")
        .await;
    door.server.app.runs.abandon().await;
    let rest = reader.rest().await;
    assert!(
        !rest.iter().any(|event| event.data.contains("run_finished")),
        "{rest:?}"
    );
}
