//! Input that is not what it should be gets a 4xx with a sentence, and the server goes on.

use futures_util::stream;
use reqwest::{Body, Method};
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    harness::{Answer, Server},
    openai::connect,
};

async fn send(server: &Server, cookie: &str, body: impl Into<Body>) -> Answer {
    Answer::of(
        server
            .request(Method::POST, "/api/v1/keys", cookie)
            .body(body),
    )
    .await
}

#[tokio::test]
async fn bodies_that_do_not_fit() {
    let (server, cookie) = Server::start_signed_in().await;
    let deep = |open: &str, close: &str| {
        format!(
            "{{\"name\":\"x\",\"more\":{}1{}}}",
            open.repeat(10_000),
            close.repeat(10_000)
        )
    };
    for (body, words) in [
        ("", "no body"),
        ("{", "not valid JSON"),
        ("null", "invalid type: null"),
        ("[]", "does not fit"),
        ("{}", "missing field `name`"),
        (
            r#"{"name": 5}"#,
            "invalid type: integer `5`, expected a string",
        ),
        (r#"{"name": {"a": 1}}"#, "invalid type: map"),
        (r#"{"name": "a\u0000b"}"#, "NUL"),
        (r#"{"name": "\ud800"}"#, "not valid JSON"),
        (&deep("[", "]"), "nested too deeply"),
        (&deep("{\"a\":", "}"), "nested too deeply"),
    ] {
        let answer = send(&server, &cookie, body.to_owned()).await;
        assert_eq!(
            answer.expect(400),
            "invalid_request",
            "{}",
            &body[..body.len().min(50)]
        );
        assert!(answer.text.contains(words), "{}", answer.text);
    }
    assert_eq!(
        send(&server, &cookie, b"{\"name\": \"\xff\"}".to_vec())
            .await
            .expect(400),
        "invalid_request"
    );
    send(
        &server,
        &cookie,
        r#"{"name": "x", "unknown": [1, {"a": null}]}"#,
    )
    .await
    .expect(200);
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
    assert_eq!(
        send(&server, &cookie, large.clone()).await.expect(413),
        "too_large"
    );
    // The same without saying how long it is beforehand.
    let chunks = large
        .into_bytes()
        .chunks(1_000_000)
        .map(|c| Ok::<_, std::io::Error>(c.to_vec()))
        .collect::<Vec<_>>();
    let answer = send(&server, &cookie, Body::wrap_stream(stream::iter(chunks))).await;
    assert_eq!(answer.expect(413), "too_large");
    let answer = send(
        &server,
        &cookie,
        json!({ "name": "x".repeat(9_000_000) }).to_string(),
    )
    .await;
    assert_eq!(answer.expect(400), "invalid_request");
}

/// What the server answers to these bytes.
async fn raw(server: &Server, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    // Where it is refused before it has all come, the rest of it is lost, and perhaps the end of the connection.
    _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_client_that_asks_first_need_not_send() {
    let (server, cookie) = Server::start_signed_in().await;
    let head = format!(
        "POST /api/v1/keys HTTP/1.1\r\nhost: localhost\r\ncookie: {cookie}\r\ncontent-length: 100000000\r\n\
         expect: 100-continue\r\n\r\n"
    );
    assert!(
        raw(&server, head.as_bytes())
            .await
            .starts_with("HTTP/1.1 413")
    );
}

#[tokio::test]
async fn what_is_not_http_is_refused() {
    let server = Server::start().await;
    assert!(
        raw(&server, b"\x16\x03\x01\x02\x00 hello")
            .await
            .starts_with("HTTP/1.1 400")
    );
    let long = format!(
        "GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n",
        "y".repeat(200_000)
    );
    assert!(
        raw(&server, long.as_bytes())
            .await
            .starts_with("HTTP/1.1 431")
    );
    assert!(
        raw(&server, b"GET / HTTP/1.0\r\n\r\n")
            .await
            .starts_with("HTTP/1.0 403")
    );
    assert_eq!(server.get("/healthz", "").await.text, "ok\n");
}

/// A model server has written where it should not when it was asked for fewer tokens than none (CVE-2026-21869).
#[tokio::test]
async fn numbers_beyond_all_bounds_reach_no_model_server() {
    let upstream = ScriptedServer::start(Behaviour::always(Reply::text("Well.")))
        .await
        .unwrap();
    let (server, cookie) = Server::start_signed_in().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let ask = async |more: &str| {
        let body = format!(
            r#"{{"model":"scripted","messages":[{{"role":"user","content":"Hi"}}]{more}}}"#
        );
        Answer::of(
            server
                .request(Method::POST, "/v1/chat/completions", &cookie)
                .body(body),
        )
        .await
    };
    for more in [
        r#","n_keep":-2"#,
        r#","n_discard":-1"#,
        r#","max_tokens":-2147483649"#,
        r#","max_tokens":9223372036854775808"#,
        r#","max_completion_tokens":1e999"#,
        r#","n":-1"#,
        r#","top_k":4294967296"#,
        r#","n_probs":-0.5"#,
        r#","n_predict":1,"n_predict":-5"#,
    ] {
        let answer = ask(more).await;
        assert_eq!(answer.status, 400, "{more}: {}", answer.text);
    }
    assert_eq!(upstream.requests().len(), 0);
    ask(r#","max_tokens":5"#).await.expect(200);
    assert_eq!(upstream.requests().len(), 1);
}

#[tokio::test]
async fn headers_of_a_megabyte_and_by_the_thousand() {
    let server = Server::start().await;
    for name in ["authorization", "cookie", "x-request-id"] {
        let head = format!(
            "GET /api/v1/me HTTP/1.1\r\nhost: localhost\r\n{name}: {}\r\n\r\n",
            "y".repeat(1_000_000)
        );
        let answer = raw(&server, head.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 431"), "{name}: {answer}");
    }
    let many: String = (0..5_000).map(|n| format!("x-{n}: y\r\n")).collect();
    let head = format!("GET /api/v1/me HTTP/1.1\r\nhost: localhost\r\n{many}\r\n");
    assert!(
        raw(&server, head.as_bytes())
            .await
            .starts_with("HTTP/1.1 431")
    );
    assert_eq!(server.get("/healthz", "").await.text, "ok\n");
}
