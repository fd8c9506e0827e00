//! Requests that are sent again, also all at once: one run, one answer.

use std::collections::HashSet;

use futures_util::future::join_all;
use reqwest::{Method, StatusCode};
use scripted::{Behaviour, ScriptedServer};
use serde_json::{Value, json};

use super::words;
use crate::{
    harness::{Answer, Server},
    openai::connect,
};

const DAY_MS: i64 = 24 * 3600 * 1000;

async fn post(server: &Server, path: &str, cookie: &str, key: &str, body: &Value) -> Answer {
    Answer::of(
        server
            .request(Method::POST, path, cookie)
            .header("idempotency-key", key)
            .json(body),
    )
    .await
}

async fn start() -> (Server, String, ScriptedServer) {
    let upstream = ScriptedServer::start(Behaviour::always(words(20, 100.0)))
        .await
        .unwrap();
    let (server, cookie) = Server::start_signed_in().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    (server, cookie, upstream)
}

async fn new_chat(server: &Server, cookie: &str) -> String {
    server
        .post("/api/v1/chats", cookie, &json!({}))
        .await
        .json()["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn fifty_equal_posts_at_once_start_one_run() {
    let (server, cookie, upstream) = start().await;
    let chat = new_chat(&server, &cookie).await;
    let said = json!({"content": "Hi", "model": "scripted"});
    let chat_stream = json!({"messages": [{"role": "user", "content": "Hi"}], "model": "scripted"});
    let mut collected = chat_stream.clone();
    collected["stream"] = json!(false);
    let completion =
        json!({"messages": [{"role": "user", "content": "Hi"}], "model": "glasshouse/agent"});
    let response = json!({"input": "Hi", "model": "glasshouse/agent", "stream": true});
    let doors = [
        (format!("/api/v1/chats/{chat}/messages"), said),
        ("/chat/stream".to_owned(), chat_stream),
        ("/chat/stream".to_owned(), collected),
        ("/v1/chat/completions".to_owned(), completion),
        ("/v1/responses".to_owned(), response),
    ];
    for (at, (path, body)) in doors.iter().enumerate() {
        let key = format!("once-{at}");
        let answers = join_all((0..50).map(|_| post(&server, path, &cookie, &key, body))).await;
        let later = post(&server, path, &cookie, &key, body).await;
        let mut texts = HashSet::new();
        for answer in answers.iter().chain([&later]) {
            answer.expect(200);
            // The answer that is being written may have come further meanwhile.
            let is_exchange = path.ends_with("/messages");
            texts.insert(if is_exchange {
                answer.json()["run"].to_string()
            } else {
                answer.text.clone()
            });
        }
        assert_eq!(texts.len(), 1, "{path}: {texts:?}");
        assert_eq!(upstream.requests().len(), at + 1, "{path}");
    }
    let messages = server
        .get(&format!("/api/v1/chats/{chat}"), &cookie)
        .await
        .json()["messages"]
        .clone();
    assert_eq!(messages.as_array().unwrap().len(), 2, "{messages}");
}

#[tokio::test]
async fn a_key_means_one_request_of_one_person_for_a_day() {
    let (server, cookie, _upstream) = start().await;
    let chat = new_chat(&server, &cookie).await;
    let path = format!("/api/v1/chats/{chat}/messages");
    let said = json!({"content": "Hi", "model": "scripted"});
    let first = post(&server, &path, &cookie, "k", &said).await;
    first.expect(200);
    let run = |answer: &Answer| answer.json()["run"].clone();
    assert_eq!(
        run(&post(&server, &path, &cookie, "k", &said).await),
        run(&first)
    );

    let other = json!({"content": "Something else", "model": "scripted"});
    let refused = post(&server, &path, &cookie, "k", &other).await;
    assert_eq!(
        (refused.expect(422), refused.status),
        ("key_reused".to_owned(), StatusCode::UNPROCESSABLE_ENTITY)
    );
    let elsewhere = format!(
        "/api/v1/chats/{}/messages",
        new_chat(&server, &cookie).await
    );
    assert_eq!(
        post(&server, &elsewhere, &cookie, "k", &said)
            .await
            .expect(422),
        "key_reused"
    );
    for bad in ["", &"x".repeat(256)] {
        assert_eq!(
            post(&server, &path, &cookie, bad, &said).await.expect(400),
            "invalid_request"
        );
    }
    post(&server, &path, &cookie, &"x".repeat(255), &said)
        .await
        .expect(200);

    let bob = server.key_of_plain_user("bob@example.org").await;
    let body = json!({"messages": [{"role": "user", "content": "Hi"}], "model": "scripted"});
    post(&server, "/chat/stream", &bob, "k", &body)
        .await
        .expect(200);

    let assistant = first.json()["assistant"]["id"].as_str().unwrap().to_owned();
    let again = format!("{path}/{assistant}/regenerate");
    let one = post(
        &server,
        &again,
        &cookie,
        "again",
        &json!({"model": "scripted"}),
    )
    .await;
    let two = post(
        &server,
        &again,
        &cookie,
        "again",
        &json!({"model": "scripted"}),
    )
    .await;
    one.expect(200);
    assert_eq!(
        (run(&one), two.json()["user"].clone()),
        (run(&two), Value::Null)
    );

    server
        .app
        .store
        .forget_idempotency_keys(server.clock.now_ms() - DAY_MS)
        .await
        .unwrap();
    assert_eq!(
        run(&post(&server, &path, &cookie, "k", &said).await),
        run(&first),
        "not yet a day"
    );
    server
        .app
        .store
        .forget_idempotency_keys(server.clock.now_ms() + 1)
        .await
        .unwrap();
    let anew = post(&server, &path, &cookie, "k", &said).await;
    assert_ne!(run(&anew), run(&first));
}
