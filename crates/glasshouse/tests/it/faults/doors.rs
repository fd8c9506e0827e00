//! Two servers on one PostgreSQL: what is said to one of them, through whichever door, reaches a run of the other.

use std::collections::HashSet;

use futures_util::future::join_all;
use reqwest::Method;
use scripted::{Behaviour, Reply};
use serde_json::{Value, json};

use super::{
    Program,
    several_servers::{Servers, is, start, watch},
    until, words,
};
use crate::harness::Answer;

/// Talks for half a minute, unless it is to be quick or to ask.
fn as_it_is_told() -> Behaviour {
    Behaviour::answer(|request| {
        let messages = request.body["messages"].as_array().unwrap();
        let said = messages
            .iter()
            .rfind(|message| message["role"] == "user")
            .unwrap()["content"]
            .to_string();
        let has_called = messages.last().unwrap()["role"] == "tool";
        match () {
            () if has_called || said.contains("Quick") => Reply::text("Here."),
            () if said.contains("Write") => {
                Reply::calls(&[("write_file", json!({"path": "/a.md", "content": "a"}))])
            }
            () if said.contains("Ask") => {
                Reply::calls(&[("ask_user", json!({"question": "Which?"}))])
            }
            () => words(600, 20.0),
        }
    })
}

/// A run in a new chat of this server, and the chat.
async fn begin(server: &Program, said: &str) -> (String, String) {
    let chat = server.new_chat().await;
    let said = json!({"content": said, "model": "scripted"});
    let begun = server
        .post(&format!("/api/v1/chats/{chat}/messages"), &said)
        .await;
    begun.expect(200);
    (chat, begun.json()["run"].as_str().unwrap().to_owned())
}

/// The same, waiting for a person; with the event that asks.
async fn begin_asking(server: &Program, said: &str) -> (String, String, Value) {
    let (chat, run) = begin(server, said).await;
    let asks = |event: &Value| is("approval_asked")(event) || is("question_asked")(event);
    let asked = watch(server, &run).await.until(asks).await;
    (chat, run, asked)
}

fn ag_ui_input(thread: &str) -> Value {
    json!({"threadId": thread, "runId": "r2", "state": {}, "context": [], "tools": [],
        "messages": [{"id": "u2", "role": "user", "content": "Quick"}], "forwardedProps": {"model": "scripted"}})
}

fn ui_message(role: &str, part: Value) -> Value {
    json!({"id": "m", "role": role, "parts": [part]})
}

#[tokio::test]
async fn every_door_stops_a_run_of_the_other_server() {
    let Some(Servers {
        a,
        b,
        upstream: _upstream,
        cluster: _cluster,
    }) = start(as_it_is_told()).await
    else {
        return;
    };
    let text = ui_message("user", json!({"type": "text", "text": "Quick"}));
    for door in [
        "ai-sdk stop",
        "ai-sdk",
        "copilotkit stop",
        "ag-ui",
        "debug",
        "cancel",
    ] {
        let (chat, run) = begin(&a, "Talk").await;
        let mut watching = watch(&a, &run).await;
        watching.until(is("text_delta")).await;
        let (path, body) = match door {
            "ai-sdk stop" => (format!("/api/ui-message-stream/{chat}/stop"), json!({})),
            "ai-sdk" => {
                let body = json!({"id": chat, "messages": [text], "model": "scripted"});
                ("/api/ui-message-stream".to_owned(), body)
            }
            "copilotkit stop" => (
                format!("/copilotkit/agent/default/stop/{chat}"),
                json!({"runId": "r"}),
            ),
            "ag-ui" => ("/ag-ui".to_owned(), ag_ui_input(&chat)),
            "debug" => (
                "/api/chat".to_owned(),
                json!({"message": "Quick", "conversationId": chat}),
            ),
            _ => (format!("/runs/{run}/cancel"), json!({})),
        };
        let answer = b.post(&path, &body).await;
        assert!(answer.status.is_success(), "{door}: {answer:?}");
        let end = watching.until(is("run_finished")).await;
        assert_eq!(end["body"]["outcome"], "cancelled", "{door}");
        if door == "copilotkit stop" {
            assert_eq!(answer.json(), json!({"stopped": true}));
        }
    }
}

#[tokio::test]
async fn a_response_of_the_other_server_is_stopped_and_deleted() {
    let Some(Servers {
        a,
        b,
        upstream: _upstream,
        cluster: _cluster,
    }) = start(as_it_is_told()).await
    else {
        return;
    };
    let asked = json!({"model": "scripted", "input": "Talk", "background": true});
    for deletes in [false, true] {
        let begun = a.post("/v1/responses", &asked).await;
        begun.expect(200);
        let response = format!("/v1/responses/{}", begun.json()["id"].as_str().unwrap());
        until("it talks", async || {
            a.get(&response).await.text.contains("word")
        })
        .await;
        if deletes {
            let deleted = b
                .client
                .request(Method::DELETE, format!("{}{response}", b.url));
            Answer::of(deleted).await.expect(200);
            a.get(&response).await.expect(404);
        } else {
            let stopped = b.post(&format!("{response}/cancel"), &json!({})).await;
            assert_eq!(stopped.json()["status"], "cancelled", "{stopped:?}");
        }
    }
    until("nothing is at work", async || {
        a.get("/metrics")
            .await
            .text
            .contains("glasshouse_runs_live 0")
    })
    .await;
}

#[tokio::test]
async fn a_chat_is_deleted_with_its_run_on_the_other_server() {
    let Some(Servers {
        a,
        b,
        upstream: _upstream,
        cluster: _cluster,
    }) = start(as_it_is_told()).await
    else {
        return;
    };
    let (chat, run) = begin(&a, "Talk").await;
    let mut watching = watch(&a, &run).await;
    watching.until(is("text_delta")).await;
    let delete = b
        .client
        .request(Method::DELETE, format!("{}/api/v1/chats/{chat}", b.url));
    Answer::of(delete).await.expect(204);
    let end = watching.until(is("run_finished")).await;
    assert_eq!(
        end["body"]["outcome"], "cancelled",
        "it was stopped before it was deleted"
    );
    for server in [&a, &b] {
        server
            .get(&format!("/api/v1/chats/{chat}"))
            .await
            .expect(404);
        server.get(&format!("/runs/{run}")).await.expect(404);
    }
}

#[tokio::test]
async fn every_door_answers_a_run_of_the_other_server() {
    let Some(Servers {
        a,
        b,
        upstream,
        cluster: _cluster,
    }) = start(as_it_is_told()).await
    else {
        return;
    };
    let (chat, run, asked) = begin_asking(&a, "Write").await;
    let shown = b.get("/api/v1/inbox").await.json();
    assert_eq!(
        shown["items"][0]["event"], asked,
        "the inbox has what waits on the other server"
    );
    let mut watching = watch(&a, &run).await;
    let input = json!({"threadId": chat, "runId": "r1", "state": {}, "context": [], "tools": [],
        "messages": [{"id": "u1", "role": "user", "content": "Write"}]});
    let open = b.post("/ag-ui", &input).await.text;
    let interrupt = open
        .lines()
        .find(|line| line.contains("\"interrupts\""))
        .unwrap_or_else(|| panic!("{open}"));
    let interrupt: Value = serde_json::from_str(interrupt.strip_prefix("data: ").unwrap()).unwrap();
    let id = &interrupt["outcome"]["interrupts"][0]["id"];
    let mut input = input.clone();
    input["resume"] =
        json!([{"interruptId": id, "status": "resolved", "payload": {"approved": true}}]);
    let rest = b.post("/ag-ui", &input).await.text;
    assert!(rest.contains("Here."), "{rest}");
    assert_eq!(
        watching.until(is("run_finished")).await["body"]["outcome"],
        "completed"
    );

    let (chat, run, asked) = begin_asking(&a, "Write").await;
    let mut watching = watch(&a, &run).await;
    let resumed = b
        .get(&format!("/api/ui-message-stream/{chat}/stream"))
        .await;
    assert!(resumed.text.contains("approval"), "{resumed:?}");
    let id = format!("{run}:{}", asked["body"]["approval"].as_str().unwrap());
    let part = json!({"type": "dynamic-tool", "toolName": "write_file", "toolCallId": "c1", "input": {},
        "state": "approval-responded", "approval": {"id": id, "approved": false, "reason": "Not today"}});
    let said = ui_message("user", json!({"type": "text", "text": "Write"}));
    let body = json!({"messages": [said, ui_message("assistant", part)]});
    b.post("/api/ui-message-stream", &body).await.expect(200);
    watching.until(is("run_finished")).await;
    assert!(
        upstream
            .requests()
            .last()
            .unwrap()
            .to_string()
            .contains("Not today")
    );
}

#[tokio::test]
async fn what_is_allowed_for_good_reaches_the_runs_of_the_other_server() {
    let Some(Servers {
        a,
        b,
        upstream: _upstream,
        cluster: _cluster,
    }) = start(as_it_is_told()).await
    else {
        return;
    };
    let (_, at_a, asked) = begin_asking(&a, "Write").await;
    let (_, at_b, _) = begin_asking(&b, "Write").await;
    let mut both = [watch(&a, &at_a).await, watch(&b, &at_b).await];
    let path = format!(
        "/runs/{at_a}/approvals/{}",
        asked["body"]["approval"].as_str().unwrap()
    );
    b.post(&path, &json!({"decision": "allow", "remember": "always"}))
        .await
        .expect(204);
    for watching in &mut both {
        assert_eq!(
            watching.until(is("run_finished")).await["body"]["outcome"],
            "completed"
        );
    }
}

/// The same request again and again, now to the one server and now to the other.
#[tokio::test]
async fn equal_posts_to_both_servers_start_one_run() {
    let Some(Servers {
        a,
        b,
        upstream,
        cluster: _cluster,
    }) = start(as_it_is_told()).await
    else {
        return;
    };
    let chat = a.new_chat().await;
    let said = json!({"content": "Quick", "model": "scripted"});
    let completion =
        json!({"messages": [{"role": "user", "content": "Quick"}], "model": "glasshouse/agent"});
    let doors = [
        (format!("/api/v1/chats/{chat}/messages"), said),
        ("/v1/chat/completions".to_owned(), completion),
    ];
    for (number, (path, body)) in doors.iter().enumerate() {
        let post = |at: usize| {
            let server = if at.is_multiple_of(2) { &a } else { &b };
            let request = server
                .client
                .post(format!("{}{path}", server.url))
                .json(body);
            Answer::of(request.header("idempotency-key", format!("once-{number}")))
        };
        let answers = join_all((0..50).map(post)).await;
        let runs: HashSet<String> = answers
            .iter()
            .map(|answer| {
                answer.expect(200);
                let of_header = answer
                    .headers
                    .get("x-run-id")
                    .map(|id| id.to_str().unwrap().to_owned());
                of_header.unwrap_or_else(|| answer.json()["run"].as_str().unwrap().to_owned())
            })
            .collect();
        assert_eq!(runs.len(), 1, "{path}: {runs:?}");
        let run = runs.into_iter().next().unwrap();
        watch(&b, &run).await.until(is("run_finished")).await;
        assert_eq!(upstream.requests().len(), number + 1, "{path}");
    }
}
