//! Input that is not what it should be gets a 4xx with a sentence, and the server goes on.

use futures_util::stream;
use reqwest::{Body, Method};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::harness::{Answer, Server};

async fn send(server: &Server, cookie: &str, body: impl Into<Body>) -> Answer {
    Answer::of(server.request(Method::POST, "/api/v1/keys", cookie).body(body)).await
}

#[tokio::test]
async fn bodies_that_do_not_fit() {
    let (server, cookie) = Server::start_signed_in().await;
    let deep = |open: &str, close: &str| {
        format!("{{\"name\":\"x\",\"more\":{}1{}}}", open.repeat(10_000), close.repeat(10_000))
    };
    for (body, words) in [
        ("", "no body"),
        ("{", "not valid JSON"),
        ("null", "invalid type: null"),
        ("[]", "does not fit"),
        ("{}", "missing field `name`"),
        (r#"{"name": 5}"#, "invalid type: integer `5`, expected a string"),
        (r#"{"name": {"a": 1}}"#, "invalid type: map"),
        (r#"{"name": "a\u0000b"}"#, "NUL"),
        (r#"{"name": "\ud800"}"#, "not valid JSON"),
        (&deep("[", "]"), "nested too deeply"),
        (&deep("{\"a\":", "}"), "nested too deeply"),
    ] {
        let answer = send(&server, &cookie, body.to_owned()).await;
        assert_eq!(answer.expect(400), "invalid_request", "{}", &body[..body.len().min(50)]);
        assert!(answer.text.contains(words), "{}", answer.text);
    }
    assert_eq!(send(&server, &cookie, b"{\"name\": \"\xff\"}".to_vec()).await.expect(400), "invalid_request");
    send(&server, &cookie, r#"{"name": "x", "unknown": [1, {"a": null}]}"#).await.expect(200);
}

#[tokio::test]
async fn addresses_that_do_not_fit() {
    let (server, cookie) = Server::start_signed_in().await;
    for (method, path, status, code) in [
        (Method::DELETE, "/api/v1/keys/key_1", 404, "not_found"),
        (Method::DELETE, "/api/v1/keys/%00", 400, "invalid_request"),
        (Method::DELETE, "/api/v1/keys/%ff", 404, "not_found"),
        (Method::GET, "/api/v1/nothing", 404, "not_found"),
        (Method::GET, "/api", 404, "not_found"),
        (Method::GET, "/runs", 404, "not_found"),
        (Method::PATCH, "/api/v1/keys", 405, "invalid_request"),
        (Method::POST, "/somewhere", 405, "invalid_request"),
    ] {
        let answer = Answer::of(server.request(method, path, &cookie)).await;
        assert_eq!(answer.expect(status), code, "{path}");
    }
}

#[tokio::test]
async fn large_bodies_are_refused_and_the_sender_hears_it() {
    let (server, cookie) = Server::start_signed_in().await;
    let large = "x".repeat(20_000_000);
    assert_eq!(send(&server, &cookie, large.clone()).await.expect(413), "too_large");
    // The same without saying how long it is beforehand.
    let chunks =
        large.into_bytes().chunks(1_000_000).map(|c| Ok::<_, std::io::Error>(c.to_vec())).collect::<Vec<_>>();
    let answer = send(&server, &cookie, Body::wrap_stream(stream::iter(chunks))).await;
    assert_eq!(answer.expect(413), "too_large");
    let answer = send(&server, &cookie, json!({ "name": "x".repeat(9_000_000) }).to_string()).await;
    assert_eq!(answer.expect(400), "invalid_request");
}

/// What the server answers to these bytes.
async fn raw(server: &Server, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_client_that_asks_first_need_not_send() {
    let (server, cookie) = Server::start_signed_in().await;
    let head = format!(
        "POST /api/v1/keys HTTP/1.1\r\nhost: localhost\r\ncookie: {cookie}\r\ncontent-length: 100000000\r\n\
         expect: 100-continue\r\n\r\n"
    );
    assert!(raw(&server, head.as_bytes()).await.starts_with("HTTP/1.1 413"));
}

#[tokio::test]
async fn what_is_not_http_is_refused() {
    let server = Server::start().await;
    assert!(raw(&server, b"\x16\x03\x01\x02\x00 hello").await.starts_with("HTTP/1.1 400"));
    let long = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "y".repeat(200_000));
    assert!(raw(&server, long.as_bytes()).await.starts_with("HTTP/1.1 431"));
    assert!(raw(&server, b"GET / HTTP/1.0\r\n\r\n").await.starts_with("HTTP/1.0 403"));
    assert_eq!(server.get("/healthz", "").await.text, "ok\n");
}
