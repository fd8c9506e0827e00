//! Other web sites cannot use a visitor's browser against us.

use reqwest::{Method, RequestBuilder};
use serde_json::json;

use crate::harness::{Answer, Server};

async fn status(request: RequestBuilder) -> u16 {
    Answer::of(request).await.status.as_u16()
}

#[tokio::test]
async fn another_sites_page_cannot_change_anything() {
    let (server, cookie) = Server::start_signed_in().await;
    let key = server.key_of_plain_user("bob@example.org").await;
    let own = format!("http://{}", server.address);
    let post = |credential: &str| {
        server.request(Method::POST, "/api/v1/keys", credential).json(&json!({ "name": "x" }))
    };
    assert_eq!(status(post(&cookie).header("origin", "https://evil.example")).await, 403);
    assert_eq!(status(post(&cookie).header("origin", "null")).await, 403);
    assert_eq!(status(post(&cookie).header("sec-fetch-site", "cross-site")).await, 403);
    assert_eq!(status(post(&cookie).header("sec-fetch-site", "same-site")).await, 403);
    assert_eq!(status(post(&cookie).header("origin", &own)).await, 200);
    assert_eq!(status(post(&cookie).header("sec-fetch-site", "same-origin")).await, 200);
    assert_eq!(status(post(&cookie)).await, 200);
    assert_eq!(status(post(&key).header("origin", "https://app.example")).await, 200);
    let read = server.request(Method::GET, "/api/v1/keys", &cookie).header("origin", "https://evil.example");
    let answer = Answer::of(read).await;
    assert_eq!(answer.status, 200);
    assert!(!answer.headers.contains_key("access-control-allow-origin"));
    let socket = server.request(Method::GET, "/api/v1/keys", &cookie).header("upgrade", "websocket");
    assert_eq!(status(socket.header("origin", "https://evil.example")).await, 403);
    // Signing a visitor in to somebody else's account is an attack, too.
    let login =
        server.request(Method::POST, "/api/v1/login", "").json(&json!({ "email": "", "password": "" }));
    assert_eq!(status(login.header("origin", "https://evil.example")).await, 403);
}

#[tokio::test]
async fn without_passwords_even_a_bearer_key_is_checked() {
    let server = Server::start_with(&[("GLASSHOUSE_AUTH", "none")]).await;
    let post = server.request(Method::POST, "/api/v1/keys", "gh_x").json(&json!({ "name": "x" }));
    assert_eq!(status(post.header("origin", "https://evil.example")).await, 403);
}

#[tokio::test]
async fn foreign_host_names_are_not_answered() {
    let server = Server::start_with(&[("GLASSHOUSE_PUBLIC_URL", "https://ai.example.org")]).await;
    let get = |host: &str| server.request(Method::GET, "/api/v1/me", "").header("host", host);
    for (host, expected) in [
        ("evil.example", 403),
        ("127.0.0.1.evil.example:8000", 403),
        ("localhost:8000", 200),
        ("[::1]:8000", 200),
        ("ai.example.org", 200),
    ] {
        assert_eq!(status(get(host)).await, expected, "{host}");
    }
    let page = server.request(Method::GET, "/", "").header("host", "evil.example");
    assert_eq!(status(page).await, 403);
}
