//! Model servers that fall silent, break off, refuse or send rubbish: the run tries again or ends in words, keeps what
//! it had, and holds nothing open.

use domain::{EventBody, RunEvent, event::NoticeLevel};
use scripted::{Behaviour, Finish, Reply, ScriptedServer, Step};
use serde_json::json;
use tokio::{io::AsyncReadExt, net::TcpListener, sync::mpsc, time::timeout};
use tokio_util::task::TaskTracker;

use super::{PATIENCE, whole_log};
use crate::{harness::Server, openai::connect};

/// The text and the problem of a run's end, and how often the model was asked again.
async fn run(server: &Server, cookie: &str) -> (String, String, usize) {
    let chat = server
        .post("/api/v1/chats", cookie, &json!({}))
        .await
        .json();
    let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
    let begun = server
        .post(
            &path,
            cookie,
            &json!({"content": "Hi", "model": "scripted"}),
        )
        .await
        .json();
    let events = format!("/runs/{}/events", begun["run"].as_str().unwrap());
    let log = timeout(PATIENCE, server.get(&events, cookie))
        .await
        .unwrap();
    let log: Vec<RunEvent> = whole_log(&log.text);
    let retries = log
        .iter()
        .filter(|event| {
            matches!(
                event.body,
                EventBody::Notice {
                    level: NoticeLevel::Warning,
                    ..
                }
            )
        })
        .count();
    let text = log.iter().filter_map(|event| match &event.body {
        EventBody::TextDelta { delta, .. } => Some(delta.as_str()),
        _ => None,
    });
    let problem = match &log[log.len() - 1].body {
        EventBody::RunFinished {
            problem: Some(problem),
            ..
        } => {
            assert!(problem.message.len() > 20, "{problem:?}");
            problem.code.as_str()
        }
        _ => "",
    };
    (text.collect(), problem.to_owned(), retries)
}

async fn start() -> (Server, String) {
    let quick = [
        ("GLASSHOUSE_MODEL_TIMEOUTS_FIRST_TOKEN_SECONDS", "1"),
        ("GLASSHOUSE_MODEL_TIMEOUTS_IDLE_SECONDS", "1"),
    ];
    let server = Server::start_with(&quick).await;
    let cookie = server.set_up().await;
    (server, cookie)
}

fn text(text: &str) -> Step {
    Step::Text {
        text: text.to_owned(),
        tokens_per_second: None,
    }
}

#[tokio::test]
async fn each_fault_ends_in_words_or_passes() {
    let busy = |status| Reply::status(status, &[("retry-after", "0.1")], "busy");
    let good = || Reply::text("Fine.");
    let raw = |text: &str| Step::Raw {
        text: text.to_owned(),
    };
    let cases = [
        (
            "silence",
            vec![Reply::stream(&[Step::Silence])],
            ("", "model_timeout"),
            None,
        ),
        (
            "silence in the middle",
            vec![Reply::stream(&[text("Half "), Step::Silence])],
            ("Half ", "model_timeout"),
            Some(0),
        ),
        (
            "429, then good",
            vec![busy(429), good()],
            ("Fine.", ""),
            Some(1),
        ),
        (
            "503, then good",
            vec![busy(503), busy(500), good()],
            ("Fine.", ""),
            Some(2),
        ),
        (
            "429 for ever",
            vec![busy(429)],
            ("", "model_rate_limited"),
            None,
        ),
        ("500 for ever", vec![busy(500)], ("", "model_failed"), None),
        (
            "cut in the middle of a chunk",
            vec![Reply::stream(&[
                text("Half "),
                raw("data: {\"choices\":[{\"del"),
                Step::Pause { ms: 100 },
                Step::Cut,
            ])],
            ("Half ", "model_protocol"),
            Some(0),
        ),
        (
            "rubbish",
            vec![Reply::stream(&[
                raw("data: <html>\u{1}\n\n"),
                Step::Pause { ms: 100 },
                Step::Cut,
            ])],
            ("", "model_protocol"),
            None,
        ),
        ("a page", vec![Reply::html()], ("", "model_protocol"), None),
        (
            "rubbish between words",
            vec![Reply::stream(&[
                text("Well "),
                raw(": a comment\n\nfoo: bar\n\n"),
                text("said."),
                Step::Finish {
                    reason: Finish::Stop,
                },
            ])],
            ("Well said.", ""),
            Some(0),
        ),
    ];
    for (what, replies, (text, problem), retries) in cases {
        let upstream = ScriptedServer::start(Behaviour::sequence(replies))
            .await
            .unwrap();
        let (server, cookie) = start().await;
        connect(&server, &cookie, "Up", &upstream.base_url()).await;
        let seen = run(&server, &cookie).await;
        assert_eq!(
            (seen.0.as_str(), seen.1.as_str()),
            (text, problem),
            "{what}"
        );
        assert!(
            retries.is_none_or(|retries| seen.2 == retries),
            "{what}: {} retries",
            seen.2
        );
        timeout(PATIENCE, upstream.until_open_requests(0))
            .await
            .unwrap();
        assert_eq!(
            server.app.runs.live_counts().live,
            0,
            "{what}: the run is gone"
        );
    }
}

/// Connections that are taken, and no byte ever comes back.
#[tokio::test]
async fn a_server_that_never_answers_is_left() {
    let upstream = ScriptedServer::start(Behaviour::always(Reply::text("")))
        .await
        .unwrap();
    let (server, cookie) = start().await;
    // Known from a time when it answered.
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let address = upstream.address();
    upstream.shutdown().await;
    let listener = TcpListener::bind(address).await.unwrap();
    let (closed, mut left) = mpsc::unbounded_channel();
    let connections = TaskTracker::new();
    let half_open = async {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let closed = closed.clone();
            connections.spawn(async move {
                let mut asked = Vec::new();
                // Ends when the other side closes.
                stream.read_to_end(&mut asked).await.unwrap();
                closed.send(asked.starts_with(b"POST ")).unwrap();
            });
        }
    };
    let (text, problem, retries) = tokio::select! {
        seen = run(&server, &cookie) => seen,
        () = half_open => unreachable!(),
    };
    assert_eq!((text.as_str(), problem.as_str()), ("", "model_timeout"));
    for _ in 0..=retries {
        assert_eq!(
            timeout(PATIENCE, left.recv()).await.unwrap(),
            Some(true),
            "closed from our side"
        );
    }
}
