//! The chat with debug events: configuring, asking, branching, and the WebSocket of one person.

use std::time::Duration;

use futures_util::StreamExt;
use reqwest::header;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Message, client::IntoClientRequest};

use crate::harness::Server;

const KEY: &str = "sk-very-secret-0123456789";

/// A server whose default model answers from a script.
async fn start() -> (Server, String, ScriptedServer) {
    let (server, cookie) = Server::start_signed_in().await;
    let model = ScriptedServer::start(Behaviour::sequence(vec![
        Reply::calls(&[(
            "write_file",
            json!({"path": "/a.txt", "content": format!("the key is {KEY}")}),
        )]),
        Reply::text("Written."),
        Reply::text("Later."),
    ]))
    .await
    .unwrap();
    let config = json!({"apiEndpoint": model.base_url(), "apiKey": KEY, "model": "scripted"});
    let answer = server.post("/api/config", &cookie, &config).await;
    answer.expect(200);
    assert_eq!(answer.json()["success"], true);
    assert!(!answer.text.contains(KEY), "{}", answer.text);
    (server, cookie, model)
}

#[tokio::test]
async fn an_answer_comes_with_what_went_on() {
    let (server, cookie, model) = start().await;
    let answer = server
        .post("/api/chat", &cookie, &json!({"message": "Write it"}))
        .await;
    answer.expect(200);
    let json = answer.json();
    assert_eq!(
        (&json["message"]["role"], &json["message"]["content"]),
        (&json!("assistant"), &json!("Written."))
    );
    assert!(json["message"]["timestamp"].as_i64().unwrap() > 1_000_000_000_000);
    let events = json["debugEvents"].as_array().unwrap();
    for kind in ["request", "response", "tool_call"] {
        assert!(
            events.iter().any(|event| event["type"] == kind),
            "{kind}: {events:#?}"
        );
    }
    for field in ["id", "timestamp", "type", "source", "data", "description"] {
        assert!(
            events.iter().all(|event| !event[field].is_null()),
            "{field}"
        );
    }
    assert!(
        !answer.text.contains(KEY) && answer.text.contains("[redacted]"),
        "{}",
        answer.text
    );
    let next = json!({"message": "And?", "conversationId": json["conversationId"]});
    let next = server.post("/api/chat", &cookie, &next).await.json();
    assert_eq!(next["conversationId"], json["conversationId"]);
    let sent = model.requests().pop().unwrap()["messages"].to_string();
    assert!(
        sent.contains("Write it") && sent.contains("Written.") && sent.contains("And?"),
        "{sent}"
    );
    let branch = json!({"message": "Or?", "conversationId": json["conversationId"],
        "parentMessageId": json["message"]["id"]});
    server.post("/api/chat", &cookie, &branch).await.expect(200);
    let sent = model.requests().pop().unwrap()["messages"].to_string();
    assert!(sent.contains("Or?") && !sent.contains("And?"), "{sent}");
}

fn described<'a>(events: &'a Value, description: &str) -> Vec<&'a Value> {
    let events = events.as_array().unwrap().iter();
    events
        .filter(|event| event["description"] == description)
        .collect()
}

#[tokio::test]
async fn document_002_each_exchange_is_received_sent_and_responded() {
    let (server, cookie, _model) = start().await;
    let said = format!("Write it. My password: swordfish99, key {KEY}");
    let answer = server
        .post("/api/chat", &cookie, &json!({"message": said}))
        .await
        .json();
    let events = &answer["debugEvents"];
    let first = &events[0];
    assert_eq!(
        [&first["description"], &first["type"], &first["source"]],
        ["User message received", "request", "frontend"]
    );
    assert_eq!(
        first["data"]["message"],
        "Write it. My password: [redacted], key [redacted]"
    );
    let (sent, responded) = (
        described(events, "Sending request to LLM"),
        described(events, "LLM responded"),
    );
    assert_eq!((sent.len(), responded.len()), (2, 2), "{events:#}");
    for (event, place) in sent.iter().zip([2, 4]) {
        assert_eq!([&event["type"], &event["source"]], ["request", "backend"]);
        let data = &event["data"];
        assert_eq!(
            (&data["model"], &data["messageCount"]),
            (&json!("scripted"), &json!(place))
        );
        let request = &data["request"];
        assert_eq!(
            request["messages"].as_array().unwrap().len(),
            place,
            "{request}"
        );
        assert!(
            request["messages"][0]["content"]
                .as_str()
                .unwrap()
                .starts_with("[instructions, "),
            "{request}"
        );
        assert_eq!(request["messages"][1]["content"], first["data"]["message"]);
        assert!(
            request["tools"]
                .as_array()
                .unwrap()
                .contains(&json!("write_file")),
            "{request}"
        );
        assert!(request.to_string().len() < 20_000);
    }
    let call = &sent[1]["data"]["request"]["messages"][2]["tool_calls"][0];
    assert!(
        call["name"] == "write_file" && call["arguments"].to_string().contains("[redacted]"),
        "{call}"
    );
    for event in responded {
        assert_eq!([&event["type"], &event["source"]], ["response", "llm"]);
        assert!(
            event["data"]["usage"]["output_tokens"].is_u64()
                && event["data"]["durationMs"].is_u64()
        );
    }
}

/// The document has the caller's own UUID both ways.
#[tokio::test]
async fn document_002_the_conversation_keeps_the_name_of_its_caller() {
    let (server, cookie, model) = start().await;
    let id = "8f14e45f-ceea-467f-a8f9-2b6b1ac1a1f1";
    for said in ["Write it", "And?"] {
        let body = json!({"message": said, "conversationId": id});
        let answer = server.post("/api/chat", &cookie, &body).await.json();
        assert_eq!(answer["conversationId"], id, "{answer}");
    }
    let sent = model.requests().pop().unwrap()["messages"].to_string();
    assert!(
        sent.contains("Write it") && sent.contains("And?"),
        "one conversation: {sent}"
    );
    let new = server
        .post("/api/chat", &cookie, &json!({"message": "Hi"}))
        .await
        .json();
    assert!(
        new["conversationId"].as_str().unwrap().starts_with("chat_"),
        "{new}"
    );
}

#[tokio::test]
async fn document_002_a_failed_try_is_an_error_of_the_llm() {
    let (server, cookie) = Server::start_signed_in().await;
    let replies = vec![
        Reply::error(429, "slow down"),
        Reply::text("Hello."),
        Reply::error(400, "no"),
    ];
    let model = ScriptedServer::start(Behaviour::sequence(replies))
        .await
        .unwrap();
    let config = json!({"apiEndpoint": model.base_url(), "apiKey": KEY, "model": "scripted"});
    server
        .post("/api/config", &cookie, &config)
        .await
        .expect(200);
    for content in ["Hello.", ""] {
        let answer = server
            .post("/api/chat", &cookie, &json!({"message": "Hi"}))
            .await
            .json();
        assert_eq!(answer["message"]["content"], content);
        let events = answer["debugEvents"].as_array().unwrap();
        let errors: Vec<&Value> = events
            .iter()
            .filter(|event| event["type"] == "error")
            .collect();
        assert_eq!(errors.len(), 1, "{events:#?}");
        assert_eq!(errors[0]["source"], "llm");
        assert!(errors[0]["description"].as_str().unwrap().len() > 10);
    }
}

/// What the debug panel saves comes from this address.
#[tokio::test]
async fn document_002_named_secrets_are_in_no_export_of_debug_events() {
    let (server, cookie) = Server::start_signed_in().await;
    let cases = include_str!("../../../redact/src/cases.txt");
    let written: Vec<&str> = cases
        .lines()
        .map(|case| case.split_once('\t').unwrap().0)
        .collect();
    let arguments = json!({"path": "/a.txt", "content": written.join("\n")});
    let model = ScriptedServer::start(Behaviour::sequence(vec![
        Reply::calls(&[
            ("write_file", arguments),
            ("read_file", json!({"path": "/a.txt"})),
        ]),
        Reply::text(&written.join(" and ")),
    ]))
    .await
    .unwrap();
    let config = json!({"apiEndpoint": model.base_url(), "apiKey": KEY, "model": "scripted"});
    server
        .post("/api/config", &cookie, &config)
        .await
        .expect(200);
    let answer = server
        .post(
            "/api/chat",
            &cookie,
            &json!({"message": written.join("\n")}),
        )
        .await;
    let run = answer.json()["debugEvents"][0]["id"]
        .as_str()
        .unwrap()
        .split(':')
        .next()
        .unwrap()
        .to_owned();
    let export = server
        .get(&format!("/runs/{run}/events?format=debug"), &cookie)
        .await;
    let events = answer.json()["debugEvents"].to_string();
    for text in [&events, &export.text] {
        assert!(
            text.contains("User message received") && text.contains("[redacted]"),
            "{text}"
        );
        for case in cases.lines() {
            let secret = case.split_once('\t').unwrap().1;
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
}

#[tokio::test]
async fn with_messages_nothing_is_kept() {
    let (server, cookie, model) = start().await;
    let body = json!({"message": [{"type": "text", "text": "Now?"}],
        "messages": [{"role": "user", "content": "Before"}, {"role": "assistant", "content": "Yes."}]});
    let answer = server.post("/api/chat", &cookie, &body).await;
    answer.expect(200);
    assert!(
        model.requests()[0]["messages"]
            .to_string()
            .contains("Before")
    );
    let chats = server.get("/api/v1/chats", &cookie).await.json();
    assert_eq!(chats["chats"], json!([]));
}

#[tokio::test]
async fn what_is_refused_says_why() {
    let (server, cookie) = Server::start_signed_in().await;
    let plain = server.key_of_plain_user("bob@example.org").await;
    let config = json!({"apiEndpoint": "http://127.0.0.1:9/v1", "apiKey": KEY});
    let answer = server.post("/api/config", &cookie, &config).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["success"]),
        (422, &json!(false))
    );
    assert!(answer.json()["message"].as_str().unwrap().len() > 20 && !answer.text.contains(KEY));
    server
        .post("/api/config", &plain, &config)
        .await
        .expect(403);
    for body in [
        json!({}),
        json!({"message": ""}),
        json!({"message": 5}),
        json!({"message": "x", "messages": "y"}),
        json!({"message": "x", "conversationId": 7}),
        json!({"message": "x", "parentMessageId": "msg_1"}),
        // Regression: an empty message went to the model where others came along.
        json!({"message": " ", "messages": [{"role": "user", "content": "Hi"}]}),
        json!([]),
    ] {
        server.post("/api/chat", &cookie, &body).await.expect(400);
    }
}

async fn connect(
    server: &Server,
    path: &str,
    credential: &str,
) -> impl futures_util::Stream<Item = Value> + Unpin + use<> {
    let mut request = server
        .url(path)
        .replace("http", "ws")
        .into_client_request()
        .unwrap();
    if credential.starts_with("gh_") {
        request.headers_mut().insert(
            header::AUTHORIZATION,
            format!("Bearer {credential}").parse().unwrap(),
        );
    } else {
        request
            .headers_mut()
            .insert(header::COOKIE, credential.parse().unwrap());
    }
    let tcp = tokio::net::TcpStream::connect(server.address)
        .await
        .unwrap();
    let (socket, _) = tokio_tungstenite::client_async(request, tcp).await.unwrap();
    Box::pin(socket.filter_map(async |message| match message {
        Ok(Message::Text(text)) => serde_json::from_str(text.as_str()).ok(),
        _ => None,
    }))
}

#[tokio::test]
async fn a_socket_has_the_events_of_its_person_only() {
    let (server, cookie, _model) = start().await;
    let other = server.key_of_plain_user("bob@example.org").await;
    let (mut mine, mut root) = (
        connect(&server, "/ws", &cookie).await,
        connect(&server, "/", &cookie).await,
    );
    let mut theirs = connect(&server, "/ws", &other).await;
    let answer = server
        .post("/api/chat", &cookie, &json!({"message": "Write it"}))
        .await
        .json();
    for socket in [&mut mine, &mut root] {
        let mut seen = Vec::new();
        while seen.len() < answer["debugEvents"].as_array().unwrap().len() {
            let batch = socket.next().await.unwrap();
            assert_eq!(batch["type"], "debug_events");
            seen.extend(batch["events"].as_array().unwrap().clone());
        }
        assert_eq!(
            json!(seen),
            answer["debugEvents"],
            "the same events, in order"
        );
    }
    let nothing = tokio::time::timeout(Duration::from_millis(300), theirs.next()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    assert_eq!(
        server.get("/", "").await.status,
        200,
        "without a WebSocket it is the web app"
    );
}
