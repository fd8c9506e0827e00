//! Runs through the front door: the log as it grows, from any place, over any carrier; stop and answers.

use std::{task::Poll, time::Duration};

use domain::{ChatId, EventBody, Part, RunEvent, UserId, laws};
use futures_util::StreamExt;
use reqwest::{Method, header};
use serde_json::{Value, json};
use server::chat::turns::NewMessage;
use tokio_tungstenite::tungstenite::{Message, client::IntoClientRequest};

use crate::{
    harness::Server,
    sse::{Event, Events},
};

/// Starts the tour in a new chat. Returns the chat's and the run's id.
pub(crate) async fn start_tour(server: &Server, cookie: &str) -> (String, String) {
    let chat = server
        .post("/api/v1/chats", cookie, &json!({}))
        .await
        .json();
    let chat = chat["id"].as_str().unwrap().to_owned();
    let body = json!({"parent": null, "content": "Show me around", "model": "tour"});
    let begun = server
        .post(&format!("/api/v1/chats/{chat}/messages"), cookie, &body)
        .await;
    begun.expect(200);
    (chat, begun.json()["run"].as_str().unwrap().to_owned())
}

pub(crate) async fn events(server: &Server, cookie: &str, path: &str) -> Events {
    Events::of(
        server
            .request(Method::GET, path, cookie)
            .send()
            .await
            .unwrap(),
    )
}

/// Allows the tour's one approval; returns everything the stream had, to its end.
pub(crate) async fn play(server: &Server, cookie: &str, run: &str) -> Vec<Event> {
    let mut stream = events(server, cookie, &format!("/runs/{run}/events")).await;
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        let body = &event.json()["body"];
        if body["type"] == "approval_asked" {
            let approval = body["approval"].as_str().unwrap();
            let path = format!("/runs/{run}/approvals/{approval}");
            server
                .post(&path, cookie, &json!({"decision": "allow"}))
                .await
                .expect(204);
        }
        all.push(event);
    }
    all
}

fn parsed(events: &[Event]) -> Vec<RunEvent> {
    events
        .iter()
        .map(|event| serde_json::from_str(&event.data).unwrap())
        .collect()
}

#[tokio::test]
async fn the_log_is_the_same_from_any_place() {
    let (server, cookie) = Server::start_signed_in().await;
    let (_, run) = start_tour(&server, &cookie).await;
    let live = play(&server, &cookie, &run).await;
    assert_eq!(laws::check(&parsed(&live)), Ok(()));
    let path = format!("/runs/{run}/events");
    let replay = events(&server, &cookie, &path).await.rest().await;
    assert_eq!(
        replay, live,
        "what is stored is what was shown, byte for byte"
    );
    for after in [1, 2, live.len() / 3, live.len() / 2, live.len() - 1] {
        let request = server
            .request(Method::GET, &path, &cookie)
            .header("last-event-id", after.to_string());
        let rest = Events::of(request.send().await.unwrap()).rest().await;
        assert_eq!(rest, live[after..], "after {after}");
    }
    let gathered = events(&server, &cookie, &format!("{path}?batch_ms=20"))
        .await
        .rest()
        .await;
    assert_eq!(gathered, live, "in fewer pieces, but the same");
    let past_the_end = events(&server, &cookie, &format!("{path}?after=999999"))
        .await
        .rest()
        .await;
    assert_eq!(past_the_end, []);
    let request = server
        .request(Method::GET, &path, &cookie)
        .header("last-event-id", "x");
    crate::harness::Answer::of(request).await.expect(400);
}

#[tokio::test]
async fn a_reader_that_leaves_in_the_middle_loses_nothing() {
    let (server, cookie) = Server::start_signed_in().await;
    let (_, run) = start_tour(&server, &cookie).await;
    let path = format!("/runs/{run}/events");
    let mut seen = Vec::new();
    // Comes and goes, each time for a few events, until the run waits for consent.
    'waiting: loop {
        let after = seen.len();
        let mut stream = events(&server, &cookie, &format!("{path}?after={after}")).await;
        for _ in 0..7 {
            let event = stream.next().await.unwrap();
            let waits = event.json()["body"]["type"] == "approval_asked";
            seen.push(event);
            if waits {
                break 'waiting;
            }
        }
    }
    let state = server.get(&format!("/runs/{run}"), &cookie).await.json();
    assert_eq!(
        (state["state"].as_str(), state["last_seq"].as_u64()),
        (Some("waiting"), Some(seen.len() as u64))
    );
    server
        .post(&format!("/runs/{run}/cancel"), &cookie, &json!({}))
        .await
        .expect(204);
    let after = seen.len();
    seen.extend(
        events(&server, &cookie, &format!("{path}?after={after}"))
            .await
            .rest()
            .await,
    );
    let log = parsed(&seen);
    assert_eq!(laws::check(&log), Ok(()));
    assert_eq!(events(&server, &cookie, &path).await.rest().await, seen);
    // Regression: the call that waited was stopped with the run; only the one before it had failed.
    let failed = |log: &[RunEvent]| {
        log.iter()
            .filter(|event| matches!(event.body, EventBody::ToolFinished { error: true, .. }))
            .count()
    };
    assert_eq!((failed(&log[..after]), failed(&log)), (1, 2));
    let ended = server.get(&format!("/runs/{run}"), &cookie).await.json();
    assert_eq!(ended["summary"]["failed_tools"], 1, "{ended}");
}

#[tokio::test]
async fn a_web_socket_carries_the_same_log() {
    let (server, cookie) = Server::start_signed_in().await;
    let (_, run) = start_tour(&server, &cookie).await;
    let live = play(&server, &cookie, &run).await;
    let mut request = server
        .url(&format!("/runs/{run}/events"))
        .replace("http", "ws")
        .into_client_request()
        .unwrap();
    request
        .headers_mut()
        .insert(header::COOKIE, cookie.parse().unwrap());
    let (socket, _) = tokio_tungstenite::client_async(
        request,
        tokio::net::TcpStream::connect(server.address)
            .await
            .unwrap(),
    )
    .await
    .unwrap();
    let texts: Vec<String> = socket
        .filter_map(async |message| match message {
            Ok(Message::Text(text)) => Some(text.to_string()),
            _ => None,
        })
        .collect()
        .await;
    assert_eq!(
        texts,
        live.iter()
            .map(|event| event.data.clone())
            .collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn long_results_can_be_had_short_and_whole() {
    let (server, cookie) = Server::start_signed_in().await;
    let (_, run) = start_tour(&server, &cookie).await;
    let live = play(&server, &cookie, &run).await;
    let short = events(&server, &cookie, &format!("/runs/{run}/events?preview=100"))
        .await
        .rest()
        .await;
    assert_eq!(short.len(), live.len());
    let cut = short
        .iter()
        .map(Event::json)
        .find(|event| event["preview"] == true)
        .unwrap();
    assert!(cut["body"]["result"].as_str().unwrap().len() <= 100);
    let call = cut["body"]["call"].as_str().unwrap();
    let whole = server
        .get(&format!("/runs/{run}/calls/{call}"), &cookie)
        .await
        .json();
    assert!(whole["result"].as_str().unwrap().len() > 5_000);
    assert_eq!(
        server
            .get(&format!("/runs/{run}/calls/c999"), &cookie)
            .await
            .expect(404),
        "not_found"
    );
}

#[tokio::test]
async fn stop_keeps_what_was_written() {
    let (server, cookie) = Server::start_signed_in().await;
    let (chat, run) = start_tour(&server, &cookie).await;
    let mut stream = events(&server, &cookie, &format!("/runs/{run}/events")).await;
    stream
        .until(|event| event["body"]["type"] == "approval_asked")
        .await;
    let began = std::time::Instant::now();
    server
        .post(&format!("/runs/{run}/cancel"), &cookie, &json!({}))
        .await
        .expect(204);
    let rest = stream.rest().await;
    assert!(began.elapsed().as_secs() < 1);
    assert_eq!(rest.last().unwrap().json()["body"]["outcome"], "cancelled");
    server
        .post(&format!("/runs/{run}/cancel"), &cookie, &json!({}))
        .await
        .expect(204);
    let chat = server
        .get(&format!("/api/v1/chats/{chat}"), &cookie)
        .await
        .json();
    let summary = &chat["messages"][1]["summary"];
    assert_eq!(
        (&summary["outcome"], &summary["agents"]),
        (&json!("cancelled"), &json!(2))
    );
    assert_eq!(chat["state"], "idle");
}

#[tokio::test]
async fn an_approval_is_answered_once_and_checked() {
    let (server, cookie) = Server::start_signed_in().await;
    let (_, run) = start_tour(&server, &cookie).await;
    let mut stream = events(&server, &cookie, &format!("/runs/{run}/events")).await;
    let asked = stream
        .until(|event| event["body"]["type"] == "approval_asked")
        .await;
    let path = format!(
        "/runs/{run}/approvals/{}",
        asked["body"]["approval"].as_str().unwrap()
    );
    let bad = json!({"decision": "allow", "arguments": {"path": 7}});
    assert_eq!(
        server.post(&path, &cookie, &bad).await.expect(422),
        "invalid_request"
    );
    server
        .post(&path, &cookie, &json!({"decision": "perhaps"}))
        .await
        .expect(400);
    let edited =
        json!({"path": "/report.md", "old_text": "Status: draft", "new_text": "Status: edited"});
    server
        .post(
            &path,
            &cookie,
            &json!({"decision": "allow", "arguments": edited}),
        )
        .await
        .expect(204);
    assert_eq!(
        server
            .post(&path, &cookie, &json!({"decision": "allow"}))
            .await
            .expect(409),
        "conflict"
    );
    let question = format!("/runs/{run}/questions/q1");
    assert_eq!(
        server
            .post(&question, &cookie, &json!({"answer": "x"}))
            .await
            .expect(409),
        "conflict"
    );
    let rest = stream.rest().await;
    let started = rest
        .iter()
        .map(Event::json)
        .find(|event| event["body"]["type"] == "tool_started")
        .unwrap();
    assert_eq!(started["body"]["arguments"], edited);
    server
        .post(&path, &cookie, &json!({"decision": "allow"}))
        .await
        .expect(409);
}

#[tokio::test]
async fn other_people_see_nothing() {
    let (server, cookie) = Server::start_signed_in().await;
    let (chat, run) = start_tour(&server, &cookie).await;
    let other = server.key_of_plain_user("bob@example.org").await;
    for path in [
        format!("/runs/{run}"),
        format!("/runs/{run}/events"),
        format!("/runs/{run}/calls/c1"),
        format!("/api/v1/chats/{chat}"),
        format!("/api/v1/chats/{chat}/files"),
        format!("/api/v1/chats/{chat}/files/content?path=/report.md"),
    ] {
        assert_eq!(
            server.get(&path, &other).await.expect(404),
            "not_found",
            "{path}"
        );
    }
    // Not even whether there is such a run.
    let refusal = async |run: &str| {
        let mut error = server
            .get(&format!("/runs/{run}/events"), &other)
            .await
            .json()["error"]
            .clone();
        // Each request has one of its own.
        error["request_id"].take();
        error
    };
    assert_eq!(
        refusal(&run).await,
        refusal("run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d").await
    );
    for (path, body) in [
        (format!("/runs/{run}/cancel"), json!({})),
        (
            format!("/runs/{run}/approvals/p1"),
            json!({"decision": "allow"}),
        ),
        (format!("/runs/{run}/questions/q1"), json!({"answer": "x"})),
        (
            format!("/api/v1/chats/{chat}/messages"),
            json!({"parent": null, "content": "x", "model": "tour"}),
        ),
        (
            "/chat/stream".to_owned(),
            json!({"model": "tour", "chat_id": chat, "messages": [{"role": "user", "content": "x"}]}),
        ),
    ] {
        assert_eq!(
            server.post(&path, &other, &body).await.expect(404),
            "not_found",
            "{path}"
        );
    }
    server
        .delete(&format!("/api/v1/chats/{chat}"), &other)
        .await
        .expect(404);
    let live = play(&server, &cookie, &run).await;
    assert_eq!(
        live.last().unwrap().json()["body"]["outcome"],
        "completed",
        "nobody stopped it"
    );
}

#[tokio::test]
async fn the_activity_of_all_chats_is_one_stream() {
    let (server, cookie) = Server::start_signed_in().await;
    let mut activity = events(&server, &cookie, "/api/v1/activity").await;
    let (chat, run) = start_tour(&server, &cookie).await;
    let mut states: Vec<String> = Vec::new();
    let note = |event: Value, states: &mut Vec<String>| {
        assert_eq!((&event["chat"], &event["run"]), (&json!(chat), &json!(run)));
        states.push(event["state"].as_str().unwrap().to_owned());
    };
    while states.last().map(String::as_str) != Some("waiting") {
        note(activity.next().await.unwrap().json(), &mut states);
    }
    let mut late = events(&server, &cookie, "/api/v1/activity").await;
    assert_eq!(
        late.next().await.unwrap().json()["state"],
        "waiting",
        "a late watcher is told what is going on"
    );
    server
        .post(&format!("/runs/{run}/cancel"), &cookie, &json!({}))
        .await
        .expect(204);
    while states.last().map(String::as_str) != Some("finished") {
        note(activity.next().await.unwrap().json(), &mut states);
    }
    assert_eq!(states, ["running", "waiting", "running", "finished"]);
}

#[tokio::test]
async fn figures_of_runs_are_counted() {
    let (server, cookie) = Server::start_signed_in().await;
    let (_, run) = start_tour(&server, &cookie).await;
    play(&server, &cookie, &run).await;
    let (_, waiting) = start_tour(&server, &cookie).await;
    let mut stream = events(&server, &cookie, &format!("/runs/{waiting}/events")).await;
    stream
        .until(|event| event["body"]["type"] == "approval_asked")
        .await;
    let answer = server.get("/metrics", &cookie).await;
    assert_eq!(
        answer.headers["content-type"],
        "text/plain; version=0.0.4; charset=utf-8"
    );
    let figure = |name: &str| {
        let line = answer
            .text
            .lines()
            .find_map(|line| line.strip_prefix(&format!("glasshouse_{name} ")));
        line.unwrap_or_else(|| panic!("no {name} in {}", answer.text))
            .parse::<f64>()
            .unwrap()
    };
    assert_eq!(figure("runs_started_total"), 2.0);
    assert_eq!(figure("runs_finished_total{outcome=\"completed\"}"), 1.0);
    assert_eq!((figure("runs_live"), figure("runs_waiting")), (1.0, 1.0));
    assert_eq!(figure("approvals_total{decision=\"allow\"}"), 1.0);
    assert!(
        figure("tool_calls_total{end=\"error\"}") >= 1.0,
        "the tour shows a failing tool"
    );
    assert!(figure("tokens_total{kind=\"output\"}") > 100.0);
    assert!(figure("model_call_seconds_count") > 5.0);
}

/// Whoever asks for a run may hang up at any moment; a run that is stored is worked on all the same.
#[tokio::test]
async fn a_run_is_never_stored_and_not_started() {
    let (server, cookie) = Server::start_signed_in().await;
    let me = server.get("/api/v1/me", &cookie).await.json();
    let owner: UserId = me["user"]["id"].as_str().unwrap().parse().unwrap();
    let mut stored = 0;
    for polls in 0..200 {
        let chat = server
            .post("/api/v1/chats", &cookie, &json!({}))
            .await
            .json();
        let chat: ChatId = chat["id"].as_str().unwrap().parse().unwrap();
        let chat = server
            .app
            .store
            .chat(&store::Principal::of_account(owner), chat)
            .await
            .unwrap();
        let content = vec![Part::Text {
            text: "Show me around".to_owned(),
        }];
        let metadata = serde_json::Map::new();
        let new = NewMessage {
            parent: None,
            content,
            schedule: None,
            author: None,
            queued: None,
            idempotency: None,
            spec: agent::RunSpec {
                metadata,
                ..agent::RunSpec::default()
            },
        };
        let permit = server
            .app
            .gateway
            .permit(server::identity::auth::Authority::of_account(owner));
        let model = server.app.models.resolve(Some("tour"), &permit).unwrap();
        let whole = hung_up_after(polls, server.app.turns.say(chat, new, model)).await;
        for run in server.app.store.unfinished_runs().await.unwrap() {
            let live = server.app.runs.live(run.id);
            live.unwrap_or_else(|| panic!("after {polls} polls nobody works on it"))
                .cancel
                .cancel();
            server.app.runs.ended(run.id).await;
            stored += 1;
        }
        if whole {
            break;
        }
        assert!(polls < 199, "it never came to its end");
    }
    assert!(stored > 0);
}

/// Polls so often and then drops it. Whether it had come to its end.
async fn hung_up_after<T>(polls: usize, asked: impl Future<Output = T>) -> bool {
    let mut asked = Box::pin(asked);
    for _ in 0..polls {
        let poll = std::future::poll_fn(|context| Poll::Ready(asked.as_mut().poll(context)));
        if poll.await.is_ready() {
            return true;
        }
        // What it waits for comes meanwhile.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(asked);
    tokio::time::sleep(Duration::from_millis(20)).await;
    false
}
