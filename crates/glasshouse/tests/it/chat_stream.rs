//! `POST /chat/stream`: the frames, the collected answer, resuming, and what is refused.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    harness::Server,
    runs::events,
    sse::{Event, Events},
};

fn request(text: &str) -> Value {
    json!({"messages": [{"role": "user", "content": text}], "stream": true, "model": "tour", "unknown": [1]})
}

/// Plays the tour through the door to its end. Returns the run and all frames.
async fn frames(server: &Server, key: &str, body: &Value) -> (String, Vec<Event>) {
    let response = server
        .request(Method::POST, "/chat/stream", key)
        .json(body)
        .send()
        .await
        .unwrap();
    let run = response.headers()["x-run-id"].to_str().unwrap().to_owned();
    let mut stream = Events::of(response);
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        let json = event.json();
        if json["type"] == "approval" {
            let path = format!(
                "/runs/{run}/approvals/{}",
                json["data"]["approval_id"].as_str().unwrap()
            );
            server
                .post(&path, key, &json!({"decision": "deny", "reason": "later"}))
                .await
                .expect(204);
        }
        all.push(event);
    }
    (run, all)
}

#[tokio::test]
async fn a_reader_of_the_seven_types_gets_everything() {
    let (server, cookie) = Server::start_signed_in().await;
    let (run, frames) = frames(&server, &cookie, &request("Show me")).await;
    let json: Vec<Value> = frames.iter().map(Event::json).collect();
    let of = |kind: &str| {
        json.iter()
            .filter(|frame| frame["type"] == kind)
            .collect::<Vec<_>>()
    };
    let answer: String = of("token")
        .iter()
        .filter(|frame| frame["data"]["agent_depth"] == 0)
        .map(|frame| frame["data"]["content"].as_str().unwrap())
        .collect();
    assert!(
        answer.contains("| October |") && answer.contains("still a draft"),
        "{answer}"
    );
    assert_eq!(of("agent_start").len(), 2);
    assert_eq!(of("agent_end").len(), 2);
    assert_eq!(of("tool_start").len(), of("tool_end").len());
    assert_eq!(
        of("tool_end")
            .iter()
            .filter(|frame| frame["data"]["error"] == true)
            .count(),
        2
    );
    assert_eq!(json.last().unwrap()["type"], "done");
    assert_eq!(json.last().unwrap()["data"]["run_id"], run);
    assert!(
        frames.is_sorted_by_key(|frame| frame.id),
        "each frame carries the number of its event"
    );
    // The only frame of its event: the first of two is sent again to a reader who has it alone.
    let mut later = frames[frames.len() / 2..].iter();
    let alone = later.find(|frame| frame.json()["type"] == "token").unwrap();
    for after in [frames[0].id, alone.id, frames[frames.len() - 2].id] {
        let after = after.unwrap();
        let path = format!("/runs/{run}/events?format=chat&after={after}");
        let rest = events(&server, &cookie, &path).await.rest().await;
        let expected: Vec<Event> = frames
            .iter()
            .filter(|frame| frame.id > Some(after))
            .cloned()
            .collect();
        assert_eq!(rest, expected, "after {after}");
    }
}

#[tokio::test]
async fn without_streaming_it_is_the_collected_run() {
    let (server, _) = Server::start_signed_in().await;
    let key = server.key_of_plain_user("bob@example.org").await;
    let mut body = request("Show me");
    body["stream"] = json!(false);
    let answering = server.post("/chat/stream", &key, &body);
    let approving = async {
        // The run has no name yet outside; it is the only one that waits.
        loop {
            let user = server
                .app
                .store
                .user_by_email("bob@example.org")
                .await
                .unwrap()
                .user
                .id;
            let live = server.app.runs.live_of(&store::Principal::of_account(user));
            if let Some(run) = live.iter().find(|run| run.is_waiting()) {
                run.cancel.cancel();
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    let (answer, ()) = tokio::join!(answering, approving);
    let json = answer.json();
    assert_eq!(json["outcome"], "cancelled");
    assert!(
        json["tools"].as_array().unwrap().len() > 8 && json["run_id"].is_string(),
        "{json}"
    );
}

#[tokio::test]
async fn with_our_chat_id_it_becomes_part_of_the_chat() {
    let (server, cookie) = Server::start_signed_in().await;
    let chat = server
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut body = request("Hello from outside");
    body["chat_id"] = json!(chat);
    frames(&server, &cookie, &body).await;
    let shown = server
        .get(&format!("/api/v1/chats/{chat}"), &cookie)
        .await
        .json();
    assert_eq!(shown["title"], "Hello from outside");
    assert_eq!(shown["messages"].as_array().unwrap().len(), 2);
    body["chat_id"] = json!("someone-elses-thread");
    let (run, _) = frames(&server, &cookie, &body).await;
    let run = server.get(&format!("/runs/{run}"), &cookie).await.json();
    assert_eq!(run["chat"], Value::Null);
}

#[tokio::test]
async fn what_is_refused_says_why() {
    let (server, cookie) = Server::start_signed_in().await;
    let default = json!({"model": "tour"});
    server
        .put("/api/v1/settings/default-model", &cookie, &default)
        .await
        .expect(204);
    for (body, status) in [
        (json!({}), 400),
        (json!({"messages": []}), 400),
        (json!({"messages": [{"role": "user", "content": ""}]}), 400),
        (json!({"messages": [{"role": "user", "content": 5}]}), 400),
        (json!({"messages": "hello"}), 400),
        (
            json!({"messages": [{"role": "user", "content": "x"}], "stream": "yes"}),
            400,
        ),
        (
            json!({"messages": [{"role": "user", "content": "x"}], "model": "none-such"}),
            404,
        ),
        (
            json!({"messages": [{"role": "user", "content": "x"}], "mode": "deeper"}),
            400,
        ),
        (
            json!({"messages": [{"role": "user", "content": "x"}], "chat_id": "chat_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d"}),
            404,
        ),
    ] {
        server
            .post("/chat/stream", &cookie, &body)
            .await
            .expect(status);
    }
    server
        .post("/chat/stream", "", &request("x"))
        .await
        .expect(401);
}
