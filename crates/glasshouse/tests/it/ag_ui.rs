//! AG-UI: runs, interrupts, the caller's own tools, threads shown again, and what is refused.

use reqwest::Method;
use scripted::{Behaviour, Reply};
use serde_json::{Value, json};

use crate::{
    harness::Server,
    openai::Door,
    sse::{Event, Events},
};

fn input(thread: &str, run: &str, messages: Value) -> Value {
    json!({"threadId": thread, "runId": run, "protocolVersion": "1.0", "messages": messages, "tools": [],
        "context": [], "state": {}, "forwardedProps": {}, "unknown": null})
}

fn user(id: &str, text: &str) -> Value {
    json!({"id": id, "role": "user", "content": text})
}

async fn open(server: &Server, key: &str, path: &str, body: &Value) -> Events {
    Events::of(
        server
            .request(Method::POST, path, key)
            .json(body)
            .send()
            .await
            .unwrap(),
    )
}

async fn events(server: &Server, key: &str, path: &str, body: &Value) -> Vec<Value> {
    open(server, key, path, body)
        .await
        .rest()
        .await
        .iter()
        .map(Event::json)
        .collect()
}

fn of<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events
        .iter()
        .filter(|event| event["type"] == kind)
        .collect()
}

fn interrupt(events: &[Value]) -> Value {
    let outcome = &events.last().unwrap()["outcome"];
    assert_eq!(outcome["type"], "interrupt", "{events:?}");
    outcome["interrupts"][0].clone()
}

fn resume(id: &Value, answer: Value) -> Value {
    let mut entry = json!({"interruptId": id, "status": "resolved", "payload": answer});
    if entry["payload"].is_null() {
        entry = json!({"interruptId": id, "status": "cancelled"});
    }
    json!([entry])
}

#[tokio::test]
async fn an_approval_interrupts_and_goes_on_with_edited_arguments() {
    let (server, key) = Server::start_signed_in().await;
    let mut body = input("t", "r1", json!([user("u1", "Show me")]));
    let first = events(&server, &key, "/ag-ui/tour", &body).await;
    let asked = interrupt(&first);
    assert_eq!(asked["metadata"]["name"], "edit_file");
    assert_eq!(of(&first, "SUBAGENT_STARTED").len(), 2);
    assert!(
        of(&first, "STATE_DELTA")
            .iter()
            .any(|event| event["delta"][0]["path"] == "/todos")
    );
    let asked_of = asked["toolCallId"].clone();
    assert!(
        !of(&first, "TOOL_CALL_RESULT")
            .iter()
            .any(|event| event["toolCallId"] == asked_of)
    );

    // Who does not answer is asked again; nothing is done.
    body["runId"] = json!("r2");
    let again = events(&server, &key, "/ag-ui/tour", &body).await;
    assert_eq!(interrupt(&again)["toolCallId"], asked_of);
    body["resume"] = resume(
        &asked["id"],
        json!({"approved": true, "editedArgs": {"path": 5}}),
    );
    server.post("/ag-ui/tour", &key, &body).await.expect(422);

    let mut edited = asked["metadata"]["arguments"].clone();
    edited["new_text"] = json!("Edited by hand.");
    body["resume"] = resume(
        &asked["id"],
        json!({"approved": true, "editedArgs": edited}),
    );
    body["resume"]
        .as_array_mut()
        .unwrap()
        .push(json!({"interruptId": "someone-elses", "status": "cancelled"}));
    let rest = events(&server, &key, "/ag-ui/tour", &body).await;
    let results = of(&rest, "TOOL_CALL_RESULT");
    assert_eq!(
        results[0]["toolCallId"], asked_of,
        "the result goes out against the old call"
    );
    assert!(
        of(&rest, "TOOL_CALL_START")
            .iter()
            .all(|event| event["toolCallId"] != asked_of)
    );
    assert_eq!(rest.last().unwrap()["type"], "RUN_FINISHED");
    assert!(rest.last().unwrap().get("outcome").is_none());
    let chats = server.get("/api/v1/chats", &key).await.json();
    assert_eq!(
        chats["chats"].as_array().unwrap().len(),
        1,
        "a thread is a chat"
    );
    let chat = chats["chats"][0]["id"].as_str().unwrap();
    let path = format!("/api/v1/chats/{chat}/files/content?path=/report.md");
    assert!(
        server
            .get(&path, &key)
            .await
            .text
            .contains("Edited by hand.")
    );
}

#[tokio::test]
async fn a_result_of_the_waiting_call_is_an_answer_too() {
    let (server, key) = Server::start_signed_in().await;
    let mut body = input("t", "r1", json!([user("u1", "Show me")]));
    body.as_object_mut().unwrap().remove("protocolVersion");
    let asked = interrupt(&events(&server, &key, "/ag-ui/tour", &body).await);
    let answer = json!({"id": "a1", "role": "tool", "toolCallId": asked["toolCallId"], "content": "Not today."});
    body["messages"].as_array_mut().unwrap().push(answer);
    let rest = events(&server, &key, "/ag-ui/tour", &body).await;
    let refused = of(&rest, "TOOL_CALL_RESULT")[0]["content"]
        .as_str()
        .unwrap();
    assert!(
        refused.contains("did not allow") && refused.contains("Not today."),
        "{refused}"
    );
    assert_eq!(rest.last().unwrap()["type"], "RUN_FINISHED");
}

#[tokio::test]
async fn the_callers_tools_are_handed_over_and_the_next_input_goes_on() {
    let behaviour = Behaviour::sequence(vec![
        Reply::calls(&[("paint", json!({"colour": "red"}))]),
        Reply::text("Painted."),
    ]);
    let Door {
        server,
        upstream,
        key,
        ..
    } = Door::open(behaviour).await;
    let mut body = input("t", "r1", json!([user("u1", "Paint it red")]));
    body["tools"] =
        json!([{"name": "paint", "description": "Paints.", "parameters": {"type": "object"}}]);
    body["context"] = json!([{"description": "the page", "value": "a canvas"}]);
    body["state"] = json!({"canvas": "blue"});
    let first = events(&server, &key, "/ag-ui/scripted", &body).await;
    let start = of(&first, "TOOL_CALL_START")[0].clone();
    let pending = &first.last().unwrap()["outcome"]["pendingToolCallIds"];
    assert_eq!(*pending, json!([start["toolCallId"]]));
    assert_eq!(
        of(&first, "STATE_SNAPSHOT")[0]["snapshot"]["canvas"],
        "blue"
    );

    let call = json!({"id": start["toolCallId"], "type": "function",
        "function": {"name": "paint", "arguments": "{\"colour\":\"red\"}"}});
    let more = [
        json!({"id": start["parentMessageId"], "role": "assistant", "toolCalls": [call]}),
        json!({"id": "res1", "role": "tool", "toolCallId": start["toolCallId"], "content": "done"}),
    ];
    body["messages"].as_array_mut().unwrap().extend(more);
    body["runId"] = json!("r2");
    let second = events(&server, &key, "/ag-ui/scripted", &body).await;
    assert_eq!(of(&second, "TEXT_MESSAGE_CONTENT")[0]["delta"], "Painted.");
    let sent = upstream.requests().last().unwrap().clone();
    let last = sent["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        (&last["role"], &last["content"]),
        (&json!("tool"), &json!("done"))
    );
    assert!(
        sent["messages"][1]["content"]
            .to_string()
            .contains("a canvas"),
        "{}",
        sent["messages"][1]
    );
    assert!(sent["messages"][1]["content"].to_string().contains("blue"));

    // Whoever comes back sees both runs, under the same ids.
    let shown = events(&server, &key, "/copilotkit/agent/default/connect", &body).await;
    let messages = of(&shown, "MESSAGES_SNAPSHOT")[0]["messages"]
        .as_array()
        .unwrap()
        .clone();
    let roles: Vec<&str> = messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    let ids: Vec<&Value> = messages.iter().map(|message| &message["id"]).collect();
    let answer = &of(&second, "TEXT_MESSAGE_START")[0]["messageId"];
    assert_eq!(
        ids,
        [
            &json!("u1"),
            &start["parentMessageId"],
            &json!("res1"),
            answer
        ]
    );
    assert_eq!(
        of(&shown, "STATE_SNAPSHOT")[0]["snapshot"]["canvas"],
        "blue"
    );
}

#[tokio::test]
async fn sub_agents_are_hidden_from_clients_that_cannot_tell_them_apart() {
    let (server, key) = Server::start_signed_in().await;
    let body = input("t", "r1", json!([user("u1", "Show me")]));
    let shown = events(&server, &key, "/ag-ui/tour", &body).await;
    assert!(
        shown
            .iter()
            .any(|event| event.get("subagentRunId").is_some())
    );
    let body = input("t2", "r1", json!([user("u1", "Show me")]));
    let hidden = events(&server, &key, "/ag-ui/tour?subagents=hidden", &body).await;
    assert_eq!(interrupt(&hidden)["reason"], "tool_call");
    assert!(
        hidden
            .iter()
            .all(|event| event.get("subagentRunId").is_none())
    );
    let calls = of(&hidden, "TOOL_CALL_START");
    assert_eq!(
        calls
            .iter()
            .filter(|call| call["toolCallName"] == "task")
            .count(),
        2
    );
    let path = "/copilotkit/agent/tour/connect?subagents=hidden";
    let again = events(&server, &key, path, &input("t2", "c1", json!([]))).await;
    assert!(
        again
            .iter()
            .all(|event| event.get("subagentRunId").is_none())
    );
}

#[tokio::test]
async fn a_client_that_comes_back_finds_the_open_interrupt() {
    let (server, key) = Server::start_signed_in().await;
    let body = input("t", "r1", json!([user("u1", "Show me")]));
    let path = "/copilotkit/agent/tour/run";
    let asked = interrupt(&events(&server, &key, path, &body).await);
    let shown = events(
        &server,
        &key,
        "/copilotkit/agent/tour/connect",
        &input("t", "c1", json!([])),
    )
    .await;
    assert_eq!(
        of(&shown, "MESSAGES_SNAPSHOT")[0]["messages"],
        json!([user("u1", "Show me")])
    );
    assert_eq!(interrupt(&shown)["toolCallId"], asked["toolCallId"]);
    let begun = of(&shown, "RUN_STARTED");
    assert_eq!(
        (&begun[0]["runId"], &begun[1]["runId"]),
        (&json!("c1"), &json!("r1"))
    );

    let stopped = server
        .post(
            "/copilotkit/agent/tour/stop/t",
            &key,
            &json!({"runId": "r1"}),
        )
        .await;
    assert_eq!(stopped.json(), json!({"stopped": true}));
    let mut body = input("t", "r2", json!([user("u1", "Show me")]));
    body["resume"] = resume(&asked["id"], Value::Null);
    let rest = events(&server, &key, path, &body).await;
    assert_eq!(
        rest.last().unwrap()["outcome"],
        json!({"type": "cancelled"})
    );
    let nothing = events(
        &server,
        &key,
        "/copilotkit/agent/tour/connect",
        &input("new", "c1", json!([])),
    )
    .await;
    let kinds: Vec<&Value> = nothing.iter().map(|event| &event["type"]).collect();
    assert_eq!(kinds, ["RUN_STARTED", "RUN_FINISHED"]);
}

#[tokio::test]
async fn closing_the_connection_is_a_stop_unless_asked_otherwise() {
    let (server, key) = Server::start_signed_in().await;
    for (path, outcome) in [
        ("/ag-ui/tour", Some("cancelled")),
        ("/ag-ui/tour?on_disconnect=continue", None),
    ] {
        let body = input(path, "r1", json!([user("u1", "Show me")]));
        let response = server
            .request(Method::POST, path, &key)
            .json(&body)
            .send()
            .await
            .unwrap();
        let run = response.headers()["x-run-id"].to_str().unwrap().to_owned();
        let mut stream = Events::of(response);
        stream.next().await.unwrap();
        drop(stream);
        let mut log = crate::runs::events(&server, &key, &format!("/runs/{run}/events")).await;
        let end = log.until(|event| {
            ["run_finished", "approval_asked"].contains(&event["body"]["type"].as_str().unwrap())
        });
        assert_eq!(end.await["body"]["outcome"].as_str(), outcome, "{path}");
    }
}

#[tokio::test]
async fn the_agents_are_listed() {
    let (server, key) = Server::start_signed_in().await;
    let info = server.get("/copilotkit/info", &key).await.json();
    assert_eq!(info["mode"], "sse");
    assert!(
        info["agents"]["default"].is_object() && info["agents"]["tour"].is_object(),
        "{info}"
    );
}

#[tokio::test]
async fn what_is_refused_says_why_and_starts_nothing() {
    let (server, key) = Server::start_signed_in().await;
    let default = json!({"model": "tour"});
    server
        .put("/api/v1/settings/default-model", &key, &default)
        .await
        .expect(204);
    let good = || input("t", "r", json!([user("u", "x")]));
    let with = |field: &str, value: Value| {
        let mut body = good();
        body[field] = value;
        body
    };
    for (body, status) in [
        (json!([]), 400),
        (json!({}), 400),
        (with("threadId", json!("")), 400),
        (with("messages", json!("hello")), 400),
        (with("messages", json!([])), 400),
        (
            with(
                "messages",
                json!([{"id": "u", "role": "boss", "content": "x"}]),
            ),
            400,
        ),
        (
            with(
                "messages",
                json!([{"id": "u", "role": "user", "content": " "}]),
            ),
            400,
        ),
        (with("tools", json!([{"name": "no spaces please"}])), 400),
        (
            with("resume", json!([{"interruptId": "x", "status": "maybe"}])),
            400,
        ),
        (with("forwardedProps", json!({"model": "none-such"})), 404),
        (
            with("threadId", json!("chat_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d")),
            404,
        ),
    ] {
        server.post("/ag-ui", &key, &body).await.expect(status);
    }
    server
        .post("/ag-ui/none-such", &key, &good())
        .await
        .expect(404);
    server.post("/ag-ui", "", &good()).await.expect(401);
    let mut body = with(
        "messages",
        json!([{"id": "a", "role": "assistant", "content": "x"}]),
    );
    body["resume"] = json!([{"interruptId": "x", "status": "cancelled"}]);
    assert_eq!(
        server.post("/ag-ui", &key, &body).await.expect(409),
        "conflict"
    );
    let chats = server.get("/api/v1/chats", &key).await.json();
    let chats = chats["chats"].as_array().unwrap();
    assert!(
        chats.iter().all(|chat| chat["state"] == "idle"),
        "{chats:?}"
    );
}
