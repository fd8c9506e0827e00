//! A client that is cut off after any event and comes back gets the rest, byte for byte.

use bytes::Bytes;
use futures_util::future::join_all;
use reqwest::Method;
use scripted::{Behaviour, Call, Finish, Reply, ScriptedServer, Step};
use serde_json::json;

use crate::{harness::Server, openai::connect, runs::events};

const KEEP_ALIVE: &str = ": keep-alive\n\n";

/// What comes in `stream` behind all frames of event `after`.
fn behind(stream: &str, after: u64) -> &str {
    let mut end = 0;
    for frame in stream.split_inclusive("\n\n") {
        let id = frame
            .lines()
            .find_map(|line| line.strip_prefix("id: ")?.parse::<u64>().ok());
        if id.is_some_and(|id| id > after) {
            break;
        }
        end += frame.len();
    }
    &stream[end..]
}

/// Words, thoughts and calls, one of which asks a person; then the rest.
fn talks_and_asks() -> Behaviour {
    let text = |text: &str| Step::Text {
        text: text.to_owned(),
        tokens_per_second: Some(500.0),
    };
    let reasoning = Step::Reasoning {
        text: "Let me think it over.".to_owned(),
        tokens_per_second: Some(500.0),
    };
    let call = |name: &str, arguments| Call {
        name: name.to_owned(),
        arguments,
    };
    let calls = vec![
        call("ls", json!({"path": "/"})),
        call("ask_user", json!({"question": "Which?"})),
    ];
    let asks = [
        reasoning,
        text("A wörd or two before I ask you something."),
        Step::Calls { calls },
        Step::Finish {
            reason: Finish::ToolCalls,
        },
    ];
    let ends = [
        text("Then it is the red one, and that is all there is to it."),
        Step::Finish {
            reason: Finish::Stop,
        },
    ];
    Behaviour::sequence(vec![Reply::stream(&asks), Reply::stream(&ends)])
}

/// While the run waits in its middle for an answer, everybody who was cut off before comes back.
async fn check(format: &str) {
    let upstream = ScriptedServer::start(talks_and_asks()).await.unwrap();
    let (server, cookie) = Server::start_signed_in().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let chat = server
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json();
    let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
    let begun = server
        .post(
            &path,
            &cookie,
            &json!({"content": "Hi", "model": "scripted"}),
        )
        .await
        .json();
    let run = format!("/runs/{}", begun["run"].as_str().unwrap());
    let path = format!("{run}/events?format={format}");
    let from = |after: u64| {
        server
            .request(Method::GET, &path, &cookie)
            .header("last-event-id", after.to_string())
            .send()
    };

    let mut watching = events(&server, &cookie, &format!("{run}/events")).await;
    let asked = watching
        .until(|event| event["body"]["type"] == "question_asked")
        .await;
    let waits_at = asked["seq"].as_u64().unwrap();
    assert!(waits_at > 20, "{waits_at}");
    let mut open = Vec::new();
    for after in 0..=waits_at {
        let mut response = from(after).await.unwrap();
        // What is there already; where nothing is, it waits.
        let begun = if after < waits_at {
            response.chunk().await.unwrap().unwrap()
        } else {
            Bytes::new()
        };
        open.push((begun, response));
    }
    let question = format!(
        "{run}/questions/{}",
        asked["body"]["question"].as_str().unwrap()
    );
    server
        .post(&question, &cookie, &json!({"answer": "The red one"}))
        .await
        .expect(204);
    let live = join_all(open.into_iter().map(async |(begun, response)| {
        let rest = response.bytes().await.unwrap();
        String::from_utf8([begun, rest].concat())
            .unwrap()
            .replace(KEEP_ALIVE, "")
    }))
    .await;
    let last = watching.rest().await.last().unwrap().id.unwrap();

    let whole = from(0).await.unwrap().text().await.unwrap();
    assert_eq!(live[0], whole, "who stays sees what is stored");
    for (after, seen) in (0..).zip(&live) {
        assert_eq!(
            seen,
            behind(&whole, after),
            "{format}: live, cut after {after}"
        );
    }
    for after in 0..=last {
        let seen = from(after).await.unwrap().text().await.unwrap();
        assert_eq!(
            seen,
            behind(&whole, after),
            "{format}: over, cut after {after}"
        );
    }
}

#[tokio::test]
async fn native_events_come_back_byte_for_byte() {
    check("native").await;
}

#[tokio::test]
async fn chat_frames_come_back_byte_for_byte() {
    check("chat").await;
}
