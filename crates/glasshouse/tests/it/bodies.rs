//! Request bodies that never come, come slowly, or are too many: none holds a place or memory for long.

use axum::http::Method;
use serde_json::json;
use server::{http::table, identity::auth::Access};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::harness::{Answer, EMAIL, Server};

/// Sends the head of a request whose body is being read once this returns.
async fn begin(server: &Server, method: &str, path: &str, headers: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\n{headers}expect: 100-continue\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 25];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

/// What comes until the server closes the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    // A reset after the answer is as good as an end.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

/// The clock runs on by itself while everybody waits, so that this takes no time.
#[tokio::test]
async fn a_body_that_does_not_come_is_given_up() {
    let (server, cookie) = Server::start_signed_in().await;
    let by_cookie = format!("cookie: {cookie}\r\n");
    for (method, path, headers) in [
        ("POST", "/api/v1/login", ""),
        ("POST", "/api/v1/keys", &*by_cookie),
        ("POST", "/v1/chat/completions", &by_cookie),
        ("POST", "/mcp", &by_cookie),
        ("POST", "/api/v1/me/import", &by_cookie),
        ("POST", "/api/v1/attachments?name=a.txt", &by_cookie),
    ] {
        for length in ["content-length: 100", "transfer-encoding: chunked"] {
            let mut stream = begin(&server, method, path, &format!("{headers}{length}\r\n")).await;
            tokio::time::pause();
            let answer = rest(&mut stream).await;
            tokio::time::resume();
            assert!(
                answer.starts_with("HTTP/1.1 408"),
                "{path} {length}: {answer}"
            );
            assert!(answer.contains("too slowly"), "{answer}");
        }
    }
}

#[tokio::test]
async fn whoever_is_not_signed_in_sends_little() {
    let (server, cookie) = Server::start_signed_in().await;
    let long = json!({ "email": EMAIL, "password": "x".repeat(64_000) }).to_string();
    let public = table()
        .into_iter()
        .filter(|route| route.access == Access::Public && route.method == Method::POST);
    let without_body = ["/api/v1/logout", "/api/v1/login/passkey/challenge"];
    let mut asked = 0;
    for route in public.filter(|route| !without_body.contains(&route.path)) {
        let answer = Answer::of(
            server
                .request(Method::POST, route.path, "")
                .body(long.clone()),
        )
        .await;
        assert_eq!(answer.expect(413), "too_large", "{}", route.path);
        assert!(answer.text.contains("64 kB"), "{}", answer.text);
        asked += 1;
    }
    assert!(asked >= 7, "{asked}");
    let chat = server
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json();
    let path = format!(
        "/api/v1/chats/{}/files/content?path=/a.txt",
        chat["id"].as_str().unwrap()
    );
    Answer::of(server.request(Method::PUT, &path, &cookie).body(long))
        .await
        .expect(200);
}

#[tokio::test]
async fn bodies_that_find_no_memory_are_refused_and_small_ones_are_not() {
    let settings = [
        ("GLASSHOUSE_BODY_MEMORY_MB", "1"),
        ("GLASSHOUSE_KNOWLEDGE_FILE_MB", "1"),
        ("GLASSHOUSE_BODY_LIMIT_MB", "1"),
    ];
    let server = Server::start_with(&settings).await;
    let cookie = server.set_up().await;
    let chat = server
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json();
    let path = format!(
        "/api/v1/chats/{}/files/content?path=/a.txt",
        chat["id"].as_str().unwrap()
    );
    // The largest file of a chat, 10 MB, is what the memory has at least.
    let large = format!("cookie: {cookie}\r\ncontent-length: 9000000\r\n");
    let held = begin(&server, "PUT", &path, &large).await;
    let put = |bytes: usize| {
        server
            .request(Method::PUT, &path, &cookie)
            .body("x".repeat(bytes))
    };
    // It waits for as long as it really does: a clock that jumps would also end the wait for the database.
    let refused = Answer::of(put(2_000_000)).await;
    assert_eq!(refused.expect(503), "unavailable");
    assert_eq!(refused.headers["retry-after"], "5");
    Answer::of(put(900_000)).await.expect(200);
    server.get("/api/v1/chats", &cookie).await.expect(200);
    drop(held);
    Answer::of(put(2_000_000)).await.expect(200);
}
