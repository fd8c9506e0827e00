//! Document 003, "Architecture" of robaiwebui: a gateway with research, accounts and a web app.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Json, Router,
    response::IntoResponse,
    routing::{get, post},
};
use reqwest::Method;
use scripted::{Behaviour, Reply};
use serde_json::{Value, json};
use server::platform::{
    listen::{ConnectionLimits, ListenOptions, serve},
    proxies::Proxies,
};
use tokio::{net::TcpListener, sync::Barrier};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::say;
use crate::{
    harness::{Answer, EMAIL, PASSWORD, Server, new_folder, plain_client},
    openai::{CHAT, Door, ask, assert_error, connect},
    sse::{Event, Events},
};

/// The page has a call of its own; programs have OpenAI's.
#[tokio::test]
async fn document_003_the_front_ends_own_route_is_another_here() {
    let door = Door::open(Behaviour::always(Reply::text("Hello."))).await;
    let theirs = door
        .server
        .post(
            "/api/openai/chat/completions",
            &door.cookie,
            &ask("scripted", "Hi"),
        )
        .await;
    assert_eq!(theirs.expect(404), "not_found");
    let chat = door
        .server
        .post("/api/v1/chats", &door.cookie, &json!({}))
        .await
        .json();
    let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
    let said = json!({"content": "Hi", "model": "scripted"});
    door.server
        .post(&path, &door.cookie, &said)
        .await
        .expect(200);
    door.post(&ask("scripted", "Hi")).await.expect(200);
}

#[tokio::test]
async fn document_003_a_session_is_good_at_the_chat_route_for_our_own_page_only() {
    let door = Door::open(Behaviour::always(Reply::text("Hello."))).await;
    let from = async |origin: &str| {
        let request = door
            .server
            .request(Method::POST, CHAT, &door.cookie)
            .header("origin", origin);
        Answer::of(request.json(&ask("scripted", "Hi"))).await
    };
    from(&door.server.url("")).await.expect(200);
    let refused = from("https://elsewhere.example").await;
    assert_error(&refused, 403, "forbidden", None);
    let wrong = door
        .server
        .request(Method::PUT, CHAT, &door.key)
        .json(&ask("scripted", "Hi"));
    assert_error(&Answer::of(wrong).await, 405, "invalid_request", None);
    assert_eq!(door.upstream.requests().len(), 1);
}

#[tokio::test]
async fn document_003_a_session_lasts_a_day_where_that_is_set() {
    for (hours, seconds) in [("24", 86_400), ("2", 7_200)] {
        let settings = [
            ("GLASSHOUSE_SESSION_HOURS", hours),
            ("GLASSHOUSE_SESSION_MAX_HOURS", hours),
        ];
        let server = Server::start_with(&settings).await;
        server.set_up().await;
        let body = json!({ "email": EMAIL, "password": PASSWORD });
        let answer = server.post("/api/v1/login", "", &body).await;
        let cookies = answer
            .headers
            .get_all("set-cookie")
            .iter()
            .map(|line| line.to_str().unwrap());
        let line = cookies
            .into_iter()
            .find(|line| line.starts_with("glasshouse_session="))
            .unwrap();
        assert!(line.contains(&format!("Max-Age={seconds}")), "{line}");
        server.clock.advance_ms(seconds * 1000 - 1);
        server
            .get("/api/v1/keys", &answer.cookie())
            .await
            .expect(200);
        server.clock.advance_ms(2);
        server
            .get("/api/v1/keys", &answer.cookie())
            .await
            .expect(401);
    }
}

/// The program with everybody its administrator, and its address.
fn start(dir: &Path) -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_glasshouse"));
    command
        .env_clear()
        .args(["--listen", "127.0.0.1:0", "--auth", "none", "--data-dir"])
        .arg(dir);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    drop(llm::HttpClient::new().unwrap());
    (
        child,
        line.strip_prefix("Glasshouse is ready: ")
            .unwrap()
            .trim()
            .to_owned(),
    )
}

/// Stops it as a service manager does, and waits for its end.
fn stop(mut child: Child) {
    assert!(
        Command::new("kill")
            .args(["-TERM", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    assert!(child.wait().unwrap().success());
}

/// What people upload, what was read and what is logged is in the database or goes to standard error.
#[cfg(unix)]
#[tokio::test]
async fn document_003_the_data_folder_holds_a_database_and_a_key() {
    let dir = new_folder();
    let (child, url) = start(&dir);
    let client = plain_client();
    let chat = Answer::of(client.post(format!("{url}/api/v1/chats")).json(&json!({})))
        .await
        .json();
    let file = format!(
        "{url}/api/v1/chats/{}/files/content?path=/a.md",
        chat["id"].as_str().unwrap()
    );
    Answer::of(client.put(&file).body("uploaded"))
        .await
        .expect(200);
    stop(child);
    let entries = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<String> = entries
        .map(|entry| {
            assert!(entry.file_type().unwrap().is_file(), "{entry:?} is no file");
            entry.file_name().into_string().unwrap()
        })
        .collect();
    names.sort();
    let others: Vec<&String> = names
        .iter()
        .filter(|name| !name.starts_with("glasshouse.db"))
        .collect();
    assert_eq!(others, ["glasshouse.lock", "secret.key"]);
    assert!(names.contains(&"glasshouse.db".to_owned()), "{names:?}");
    std::fs::remove_dir_all(dir).unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn document_003_a_server_needs_less_than_300_mb() {
    let dir = new_folder();
    let (child, url) = start(&dir);
    let client = plain_client();
    let mut body = say("Show me around");
    body["model"] = json!("tour");
    let streams = (0..10).map(|_| client.post(format!("{url}/chat/stream")).json(&body).send());
    let open: Vec<_> = futures_util::future::join_all(streams).await;
    assert!(
        open.iter()
            .all(|stream| stream.as_ref().unwrap().status() == 200)
    );
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let peak_kb: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    drop(open);
    stop(child);
    assert!(peak_kb < 300_000, "{peak_kb} kB");
    std::fs::remove_dir_all(dir).unwrap();
}

/// A model that always has another question, and documents in which each is answered.
async fn curious() -> Door {
    let words = ["walrus", "lighthouse", "ferry", "bakery", "school", "mill"];
    let asked = AtomicUsize::new(0);
    let model = Behaviour::answer(move |request| {
        let messages = request.body["messages"].as_array().unwrap();
        let (first, last) = (
            messages[0]["content"].to_string(),
            messages.last().unwrap()["content"].to_string(),
        );
        if first.contains("You write a research report") {
            return Reply::text("There is a lot of it.");
        }
        if first.contains("You take notes") {
            return Reply::text(r#"{"notes": []}"#);
        }
        if last.contains("Plan the research") {
            return Reply::text(r#"{"plan": ["What there is"], "question": ""}"#);
        }
        let next = words[asked.fetch_add(1, Ordering::Relaxed) % words.len()];
        Reply::text(&json!({"done": false, "queries": [next]}).to_string())
    });
    // One for each turn, as all of them have something to do with each question.
    let door = Door::open_with(model, &[("GLASSHOUSE_RESEARCH_SOURCES", "1")]).await;
    let town = door.server.collection(&door.cookie, "Town").await;
    for word in words {
        let text = format!("# The {word}\n\nThe {word} of the town is open on Monday.\n");
        door.server
            .read_file(&door.cookie, &town, &format!("{word}.md"), text.as_bytes())
            .await;
    }
    door
}

#[tokio::test]
async fn document_003_research_takes_two_turns_and_deep_research_four() {
    for (mode, turns) in [("research", 2), ("deep", 4)] {
        let door = curious().await;
        let mut body = say("What is there in the town?");
        body["mode"] = json!(mode);
        let request = door
            .server
            .request(Method::POST, "/chat/stream", &door.cookie)
            .json(&body);
        let frames = Events::of(request.send().await.unwrap()).rest().await;
        let statuses: Vec<String> = frames
            .iter()
            .map(Event::json)
            .filter(|frame| frame["type"] == "status")
            .map(|frame| {
                frame["data"]["description"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect();
        let is_told = |words: String| statuses.iter().any(|status| status.starts_with(&words));
        for turn in 1..=turns {
            assert!(
                is_told(format!("Turn {turn} - Searching")),
                "{mode}: {statuses:?}"
            );
            assert!(
                is_told(format!("Turn {turn} - Reading 1 source")),
                "{mode}: {statuses:?}"
            );
        }
        assert!(
            !is_told(format!("Turn {}", turns + 1)),
            "{mode}: {statuses:?}"
        );
        assert_eq!(
            frames.last().unwrap().json()["data"]["outcome"],
            "completed",
            "{mode}"
        );
    }
}

const PEOPLE: usize = 100;

/// A model server that answers nobody before all are there.
async fn waits_for_all() -> (String, tokio_util::sync::DropGuard) {
    let all = Arc::new(Barrier::new(PEOPLE));
    let answer = async move |Json(_): Json<Value>| {
        all.wait().await;
        let chunk = json!({"choices": [{"index": 0, "delta": {"content": "Hello."}, "finish_reason": "stop"}]});
        (
            [("content-type", "text/event-stream")],
            format!("data: {chunk}\n\ndata: [DONE]\n\n"),
        )
            .into_response()
    };
    let models = async || Json(json!({"data": [{"id": "scripted"}]}));
    let routes = Router::new()
        .route("/v1/chat/completions", post(answer))
        .route("/v1/models", get(models));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let stopping = CancellationToken::new();
    let options = ListenOptions {
        connections: ConnectionLimits {
            total: 300,
            per_address: 300,
            proxies: Proxies::default(),
        },
        header_timeout: std::time::Duration::from_secs(10),
        drain: std::time::Duration::ZERO,
    };
    TaskTracker::new().spawn(serve(vec![listener], routes, options, stopping.clone()));
    (url, stopping.drop_guard())
}

#[tokio::test]
async fn document_003_a_hundred_people_are_answered_at_once() {
    let (url, _serving) = waits_for_all().await;
    let (server, cookie) = Server::start_signed_in().await;
    connect(&server, &cookie, "Up", &url).await;
    let each = (0..PEOPLE).map(async |number| {
        let key = server
            .key_of_plain_user(&format!("{number}@example.org"))
            .await;
        let request = server
            .request(Method::POST, "/chat/stream", &key)
            .json(&say("Hi"));
        let frames = Events::of(request.send().await.unwrap()).rest().await;
        let done = frames.last().unwrap().json();
        assert_eq!(
            (&done["type"], &done["data"]["outcome"]),
            (&json!("done"), &json!("completed")),
            "{done}"
        );
        frames
            .iter()
            .any(|frame| frame.json()["data"]["content"] == "Hello.")
    });
    assert!(
        futures_util::future::join_all(each)
            .await
            .into_iter()
            .all(|is_answered| is_answered)
    );
}
