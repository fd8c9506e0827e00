//! Runs and chats that are longer than the model's window: the real server with a model server that refuses what is too
//! long.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use domain::{EventBody, RunEvent, laws};
use scripted::{Behaviour, Finish, Reply, Request, ScriptedServer, Step};
use serde_json::{Value, json};

use crate::{
    harness::Server,
    openai::connect,
    restart::{Kept, parsed, stop},
    runs::events,
};

const WINDOW: usize = 16_000;
const REQUEST: &str = "Write all the files. The colour is marzipan.";

/// The size of what a model reads, four bytes to a token.
fn tokens(body: &Value) -> usize {
    (body["messages"].to_string().len() + body["tools"].to_string().len()) / 4
}

fn is_summing_up(body: &Value) -> bool {
    body["messages"][0]["content"]
        .as_str()
        .is_some_and(|text| text.starts_with("You sum up the older part"))
}

/// A model that writes a file in each of `steps` steps, then answers; the request number `stalled` it never answers.
async fn model(steps: usize, stalled: usize) -> ScriptedServer {
    let (done, summaries) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let answer = move |request: &Request| {
        if request.number == stalled {
            return Reply::stream(&[Step::Silence]);
        }
        if tokens(&request.body) > WINDOW {
            let body =
                json!({"error": {"message": "Too long.", "code": "context_length_exceeded"}});
            return Reply::status(400, &[], &body.to_string());
        }
        if is_summing_up(&request.body) {
            let number = summaries.fetch_add(1, Ordering::Relaxed) + 1;
            return Reply::text(&format!("Summary {number}: files were written."));
        }
        let number = done.fetch_add(1, Ordering::Relaxed);
        if number >= steps {
            return Reply::text("All written.");
        }
        let content = format!("{number} {}", "word ".repeat(150));
        Reply::calls(&[(
            "write_file",
            json!({"path": format!("/{number}.md"), "content": content}),
        )])
    };
    ScriptedServer::start(Behaviour::answer(answer))
        .await
        .unwrap()
}

const LIMITS: [(&str, &str); 2] = [
    ("GLASSHOUSE_LIMITS_STEPS", "400"),
    ("GLASSHOUSE_LIMITS_TOKENS", "0"),
];

async fn new_chat(server: &Server, cookie: &str, upstream: &ScriptedServer) -> String {
    connect(server, cookie, "Up", &upstream.base_url()).await;
    let window = json!({ "context_tokens": WINDOW });
    server
        .put("/api/v1/models/scripted", cookie, &window)
        .await
        .expect(200);
    server
        .post("/api/v1/chats", cookie, &json!({}))
        .await
        .json()["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Says something in the chat; returns the address of its run's events.
async fn say(
    server: &Server,
    cookie: &str,
    chat: &str,
    parent: &Value,
    text: &str,
) -> (String, Value) {
    let said = json!({"content": text, "model": "scripted", "parent": parent});
    let sent = server
        .post(&format!("/api/v1/chats/{chat}/messages"), cookie, &said)
        .await
        .json();
    (
        format!("/runs/{}/events", sent["run"].as_str().unwrap()),
        sent["assistant"]["id"].clone(),
    )
}

async fn log(server: &Server, cookie: &str, path: &str) -> Vec<RunEvent> {
    let log = parsed(&events(server, cookie, path).await.rest().await);
    assert_eq!(laws::check(&log), Ok(()));
    log
}

fn compactions(log: &[RunEvent]) -> usize {
    log.iter()
        .filter(|event| matches!(event.body, EventBody::ContextCompacted { .. }))
        .count()
}

fn answer_of(log: &[RunEvent]) -> &str {
    let mut answers = log.iter().filter_map(|event| match &event.body {
        EventBody::TextFinished {
            text, answer: true, ..
        } => Some(text.as_str()),
        _ => None,
    });
    answers.next_back().unwrap_or_default()
}

/// The messages without the ids of calls, which a restart cannot know.
fn conversation(body: &Value) -> Vec<Value> {
    let mut messages = body["messages"].as_array().unwrap().clone();
    for message in &mut messages {
        message.as_object_mut().unwrap().remove("tool_call_id");
        for call in message["tool_calls"].as_array_mut().into_iter().flatten() {
            call["id"] = Value::Null;
        }
    }
    messages
}

#[tokio::test]
async fn a_run_of_three_hundred_steps_and_the_turn_after_it() {
    let upstream = model(300, 0).await;
    let server = Server::start_with(&LIMITS).await;
    let cookie = server.set_up().await;
    let chat = new_chat(&server, &cookie, &upstream).await;
    let (path, answered) = say(&server, &cookie, &chat, &Value::Null, REQUEST).await;
    let log_of_run = log(&server, &cookie, &path).await;
    assert_eq!(answer_of(&log_of_run), "All written.");
    let count = compactions(&log_of_run);
    assert!((4..60).contains(&count), "{count} compactions");
    let requests = upstream.requests();
    assert_eq!(
        requests.len(),
        301 + count,
        "nothing was refused or asked twice"
    );
    assert!(requests.iter().all(|body| tokens(body) <= WINDOW));
    for body in requests.iter().filter(|body| !is_summing_up(body)) {
        assert!(
            body["messages"].to_string().contains("marzipan"),
            "the request stays"
        );
    }
    let metrics = server.get("/metrics", &cookie).await.text;
    assert!(
        metrics.contains(&format!("compactions_total {count}\n")),
        "{metrics}"
    );

    let (path, _) = say(&server, &cookie, &chat, &answered, "And now?").await;
    assert_eq!(
        compactions(&log(&server, &cookie, &path).await),
        0,
        "the next turn goes on from the summary"
    );
    let last = upstream.requests().pop().unwrap();
    let said: Vec<&str> = last["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|message| message["content"].as_str())
        .collect();
    assert!(said[2].starts_with(&format!("Summary {count}")), "{said:?}");
    assert_eq!((said[3], *said.last().unwrap()), (REQUEST, "And now?"));
}

#[tokio::test]
async fn a_restart_changes_nothing_of_what_is_sent() {
    // The first compaction comes at the same place in each run.
    let probe = model(60, 0).await;
    let server = Server::start_with(&LIMITS).await;
    let cookie = server.set_up().await;
    let chat = new_chat(&server, &cookie, &probe).await;
    let (path, _) = say(&server, &cookie, &chat, &Value::Null, REQUEST).await;
    log(&server, &cookie, &path).await;
    let whole: Vec<Vec<Value>> = probe.requests().iter().map(conversation).collect();
    let first = probe.requests().iter().position(is_summing_up).unwrap() + 1;
    // The summary itself, the step that it is for, and one later on.
    for stalled in [first, first + 1, first + 4] {
        let upstream = Arc::new(model(60, stalled).await);
        let kept = Kept::new();
        let before = kept.start_with(&LIMITS).await;
        let cookie = before.set_up().await;
        let chat = new_chat(&before, &cookie, &upstream).await;
        let (path, _) = say(&before, &cookie, &chat, &Value::Null, REQUEST).await;
        while upstream.requests().len() < stalled {
            tokio::task::yield_now().await;
        }
        stop(&before).await;
        drop(before);
        let after = kept.start_with(&LIMITS).await;
        let log = log(&after, &cookie, &path).await;
        assert_eq!(answer_of(&log), "All written.");
        let sent: Vec<Vec<Value>> = upstream.requests().iter().map(conversation).collect();
        assert_eq!(
            sent[stalled],
            sent[stalled - 1],
            "what was not answered is asked again"
        );
        let once: Vec<Vec<Value>> = [&sent[..stalled], &sent[stalled + 1..]].concat();
        assert_eq!(once, whole, "stalled at {stalled}");
        stop(&after).await;
    }
}

/// A long chat of short turns.
#[tokio::test]
async fn a_long_chat_pays_once_for_its_summary() {
    let upstream = ScriptedServer::start(Behaviour::answer(|request| {
        if is_summing_up(&request.body) {
            return Reply::text("They counted.");
        }
        let long = Step::Text {
            text: "long ".repeat(800),
            tokens_per_second: None,
        };
        Reply::stream(&[
            long,
            Step::Finish {
                reason: Finish::Stop,
            },
        ])
    }))
    .await
    .unwrap();
    let server = Server::start_with(&LIMITS).await;
    let cookie = server.set_up().await;
    let chat = new_chat(&server, &cookie, &upstream).await;
    let (mut parent, mut summaries) = (Value::Null, 0);
    for number in 0..30 {
        let (path, answered) =
            say(&server, &cookie, &chat, &parent, &format!("Turn {number}")).await;
        summaries += compactions(&log(&server, &cookie, &path).await);
        parent = answered;
    }
    assert!(
        (1..=8).contains(&summaries),
        "{summaries} summaries in 30 turns"
    );
    let requests = upstream.requests();
    assert!(requests.iter().all(|body| tokens(body) <= WINDOW));
    let said = conversation(requests.last().unwrap());
    assert_eq!(said.last().unwrap()["content"], "Turn 29");
    assert_eq!(
        said[said.len() - 3]["content"],
        "Turn 28",
        "the latest exchanges stay word for word"
    );
    assert_eq!(said[2]["content"], "They counted.");
}
