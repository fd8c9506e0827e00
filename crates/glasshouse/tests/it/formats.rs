//! `?format=`: the same run as flat tool-call frames, as markup and as elements, streamed, resumed and collected.

use serde_json::{Value, json};

use crate::{
    harness::Server,
    runs::events,
    sse::{Event, Events},
};

fn request() -> Value {
    json!({"messages": [{"role": "user", "content": "Show me"}], "model": "tour"})
}

/// Plays the tour in a format to its end, denying what it asks for. Returns the run and all frames.
async fn frames(server: &Server, key: &str, format: &str) -> (String, Vec<Event>) {
    let path = format!("/chat/stream?format={format}");
    let request = server
        .request(reqwest::Method::POST, &path, key)
        .json(&request());
    let response = request.send().await.unwrap();
    let run = response.headers()["x-run-id"].to_str().unwrap().to_owned();
    let mut stream = Events::of(response);
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        let json = event.json();
        if json["type"] == "approval" {
            let approval = json["approval_id"]
                .as_str()
                .or(json["data"]["approval_id"].as_str())
                .unwrap();
            let path = format!("/runs/{run}/approvals/{approval}");
            server
                .post(&path, key, &json!({"decision": "deny"}))
                .await
                .expect(204);
        }
        all.push(event);
    }
    (run, all)
}

/// What a client that knows only texts shows in the end.
fn shown(frames: &[Event]) -> String {
    frames
        .iter()
        .map(Event::json)
        .fold(String::new(), |mut text, frame| {
            let content = frame["data"]["content"].as_str().unwrap_or_default();
            match frame["type"].as_str().unwrap() {
                "token" => text.push_str(content),
                "replace" => content.clone_into(&mut text),
                _ => {}
            }
            text
        })
}

#[tokio::test]
async fn each_format_shows_the_whole_run_and_resumes() {
    let (server, cookie) = Server::start_signed_in().await;
    for format in [
        "tool_calls",
        "markup",
        "markup&replace=true",
        "details",
        "details&replace=true",
    ] {
        let (run, frames) = frames(&server, &cookie, format).await;
        let last = frames.last().unwrap().json();
        assert_eq!(last["type"], "done", "{format}");
        match format {
            "tool_calls" => {
                let of = |kind: &str| {
                    frames
                        .iter()
                        .filter(|frame| frame.json()["type"] == kind)
                        .count()
                };
                assert!(
                    of("tool_call_start") > 8 && of("tool_call_error") == 2,
                    "{frames:?}"
                );
                assert_eq!(
                    of("tool_call_start"),
                    of("tool_call_complete") + of("tool_call_error")
                );
                assert!(
                    frames
                        .iter()
                        .all(|frame| frame.name.as_deref() == Some("message"))
                );
            }
            _ => assert!(
                shown(&frames).contains("| October |"),
                "{format}: {}",
                shown(&frames)
            ),
        }
        if format.starts_with("markup") {
            let text = shown(&frames);
            assert_eq!(
                (
                    text.matches("<details").count(),
                    text.matches("</details>").count()
                ),
                (1, 1)
            );
            let (block, answer) = text.split_once("</details>").unwrap();
            assert!(
                block.matches("**🔧").count() > 8 && !answer.contains("🔧"),
                "{text}"
            );
        }
        for after in [
            1,
            frames[frames.len() / 2].id.unwrap(),
            frames[frames.len() - 2].id.unwrap(),
        ] {
            let path = format!("/runs/{run}/events?format={format}&after={after}");
            let rest = events(&server, &cookie, &path).await.rest().await;
            let expected: Vec<Event> = frames
                .iter()
                .filter(|frame| frame.id > Some(after))
                .cloned()
                .collect();
            // Of two frames of one event the first has the id before it, so it may come once more.
            assert!(
                rest.ends_with(&expected) && rest.len() <= expected.len() + 1,
                "{format} after {after}"
            );
        }
    }
}

#[tokio::test]
async fn a_collected_text_is_the_streamed_one() {
    let (server, cookie) = Server::start_signed_in().await;
    for format in ["markup", "details"] {
        let mut body = request();
        body["stream"] = json!(false);
        let path = format!("/chat/stream?format={format}");
        let answering = server.post(&path, &cookie, &body);
        let stopping = async {
            // The run has no name yet outside; it is the only one that waits.
            let user = server
                .app
                .store
                .user_by_email(crate::harness::EMAIL)
                .await
                .unwrap()
                .user
                .id;
            loop {
                if let Some(run) = server
                    .app
                    .runs
                    .live_of(&store::Principal::of_account(user))
                    .iter()
                    .find(|run| run.is_waiting())
                {
                    run.cancel.cancel();
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        let (answer, ()) = tokio::join!(answering, stopping);
        let answer = answer.json();
        let path = format!(
            "/runs/{}/events?format={format}&replace=true",
            answer["run_id"].as_str().unwrap()
        );
        let streamed = events(&server, &cookie, &path).await.rest().await;
        assert_eq!(answer["content"], shown(&streamed));
        assert!(shown(&streamed).contains("<details"), "{format}");
    }
}

/// The debug panel shows a run as every door would send it.
#[tokio::test]
async fn a_finished_run_can_be_read_in_every_format() {
    let (server, cookie) = Server::start_signed_in().await;
    let (run, _) = frames(&server, &cookie, "markup").await;
    for format in [
        "native",
        "chat",
        "openai",
        "responses",
        "tool_calls",
        "markup",
        "details",
        "ag_ui",
        "ui_message_stream",
        "debug",
    ] {
        let all = events(
            &server,
            &cookie,
            &format!("/runs/{run}/events?format={format}"),
        )
        .await
        .rest()
        .await;
        let whole: String = all.iter().map(|frame| frame.data.as_str()).collect();
        assert!(
            whole.contains("October") && all.len() > 20,
            "{format}: {} frames",
            all.len()
        );
    }
}

#[tokio::test]
async fn an_unknown_format_starts_nothing() {
    let (server, cookie) = Server::start_signed_in().await;
    let answer = server
        .post("/chat/stream?format=morse", &cookie, &request())
        .await;
    assert_eq!(answer.expect(400), "invalid_request");
    assert!(
        answer.text.contains("morse") && answer.text.contains("tool_calls"),
        "{}",
        answer.text
    );
    let user = server
        .app
        .store
        .user_by_email(crate::harness::EMAIL)
        .await
        .unwrap()
        .user
        .id;
    assert!(
        server
            .app
            .runs
            .live_of(&store::Principal::of_account(user))
            .is_empty()
    );
}
