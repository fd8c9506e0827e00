//! Other web sites cannot use a visitor's browser against us.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

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
        server
            .request(Method::POST, "/api/v1/keys", credential)
            .json(&json!({ "name": "x" }))
    };
    assert_eq!(
        status(post(&cookie).header("origin", "https://evil.example")).await,
        403
    );
    assert_eq!(status(post(&cookie).header("origin", "null")).await, 403);
    assert_eq!(
        status(post(&cookie).header("sec-fetch-site", "cross-site")).await,
        403
    );
    assert_eq!(
        status(post(&cookie).header("sec-fetch-site", "same-site")).await,
        403
    );
    assert_eq!(status(post(&cookie).header("origin", &own)).await, 200);
    assert_eq!(
        status(post(&cookie).header("sec-fetch-site", "same-origin")).await,
        200
    );
    assert_eq!(status(post(&cookie)).await, 200);
    assert_eq!(
        status(post(&key).header("origin", "https://app.example")).await,
        200
    );
    let read = server
        .request(Method::GET, "/api/v1/keys", &cookie)
        .header("origin", "https://evil.example");
    let answer = Answer::of(read).await;
    assert_eq!(answer.status, 200);
    assert!(!answer.headers.contains_key("access-control-allow-origin"));
    let socket = server
        .request(Method::GET, "/api/v1/keys", &cookie)
        .header("upgrade", "websocket");
    assert_eq!(
        status(socket.header("origin", "https://evil.example")).await,
        403
    );
    // Signing a visitor in to somebody else's account is an attack, too.
    let login = server
        .request(Method::POST, "/api/v1/login", "")
        .json(&json!({ "email": "", "password": "" }));
    assert_eq!(
        status(login.header("origin", "https://evil.example")).await,
        403
    );
}

#[tokio::test]
async fn without_passwords_even_a_bearer_key_is_checked() {
    let server = Server::start_with(&[("GLASSHOUSE_AUTH", "none")]).await;
    let post = server
        .request(Method::POST, "/api/v1/keys", "gh_x")
        .json(&json!({ "name": "x" }));
    assert_eq!(
        status(post.header("origin", "https://evil.example")).await,
        403
    );
}

#[tokio::test]
async fn foreign_host_names_are_not_answered() {
    let server = Server::start_with(&[("GLASSHOUSE_PUBLIC_URL", "https://ai.example.org")]).await;
    let get = |host: &str| {
        server
            .request(Method::GET, "/api/v1/me", "")
            .header("host", host)
    };
    for (host, expected) in [
        ("evil.example", 403),
        ("127.0.0.1.evil.example:8000", 403),
        ("localhost:8000", 200),
        ("[::1]:8000", 200),
        ("ai.example.org", 200),
    ] {
        assert_eq!(status(get(host)).await, expected, "{host}");
    }
    let page = server
        .request(Method::GET, "/", "")
        .header("host", "evil.example");
    assert_eq!(status(page).await, 403);
}

#[tokio::test]
async fn a_request_names_one_host() {
    let server = Server::start().await;
    for (hosts, expected) in [
        ("host: localhost\r\n", 200),
        ("host: localhost\r\nhost: localhost\r\n", 400),
        ("host: localhost\r\nhost: evil.example\r\n", 400),
        ("", 400),
    ] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head = format!("GET /healthz HTTP/1.1\r\n{hosts}connection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {expected}")),
            "{hosts}: {answer}"
        );
    }
}

#[tokio::test]
async fn answers_are_not_kept_and_not_embedded() {
    let (server, cookie) = Server::start_signed_in().await;
    let made = server
        .post("/api/v1/keys", &cookie, &json!({ "name": "x" }))
        .await;
    made.expect(200);
    let key = made.json()["secret"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let chat = server
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json();
    let file = format!(
        "/api/v1/chats/{}/files/content?path=/a.txt",
        chat["id"].as_str().unwrap()
    );
    Answer::of(server.request(Method::PUT, &file, &cookie).body("a"))
        .await
        .expect(200);
    for (answer, kept) in [
        (made, "no-store"),
        (server.get("/api/v1/keys", "").await, "no-store"),
        (server.get("/api/v1/me", &cookie).await, "no-store"),
        (server.get("/v1/models", &key).await, "no-store"),
        // With an `ETag`, which asks us each time.
        (server.get(&file, &cookie).await, "private, no-cache"),
    ] {
        assert_eq!(answer.headers["cache-control"], kept, "{answer:?}");
        assert_eq!(
            answer.headers["cross-origin-resource-policy"], "same-origin",
            "{answer:?}"
        );
    }
}

/// The doors for programs, each with a call that works.
fn doors() -> Vec<(Method, &'static str, Value)> {
    let message = json!({"id": "u1", "role": "user", "content": "Hi", "parts": [{"type": "text", "text": "Hi"}]});
    let chat = json!({"model": "tour", "messages": [message], "stream": true});
    let agent = json!({"threadId": "t", "runId": "r", "messages": [message]});
    vec![
        (Method::POST, "/chat/stream", chat.clone()),
        (
            Method::POST,
            "/v1/chat/completions",
            json!({"model": "tour", "messages": [message], "stream": true}),
        ),
        (
            Method::POST,
            "/v1/responses",
            json!({"model": "tour", "input": "Hi", "stream": true}),
        ),
        (Method::GET, "/v1/models", Value::Null),
        (Method::POST, "/ag-ui/tour", agent.clone()),
        (Method::GET, "/copilotkit/info", Value::Null),
        (Method::POST, "/copilotkit/agent/tour/run", agent),
        (Method::POST, "/api/ui-message-stream", chat),
        (Method::GET, "/api/ui-message-stream/c/stream", Value::Null),
    ]
}

const APP: &str = "https://app.example";

async fn preflight(server: &Server, method: &Method, path: &str, origin: &str) -> Answer {
    let request = server
        .request(Method::OPTIONS, path, "")
        .header("origin", origin);
    let request = request.header("access-control-request-method", method.as_str());
    Answer::of(request.header(
        "access-control-request-headers",
        "authorization,x-stainless-os",
    ))
    .await
}

#[tokio::test]
async fn a_named_site_calls_the_doors_with_a_key() {
    let server = Server::start_with(&[(
        "GLASSHOUSE_CORS_ALLOW_ORIGINS",
        "https://APP.example:443,http://a.example:3000",
    )])
    .await;
    server.set_up().await;
    let key = server.key_of_plain_user("bob@example.org").await;
    for (method, path, body) in doors() {
        let asked = preflight(&server, &method, path, APP).await;
        assert_eq!(asked.status, 204, "{path}");
        assert_eq!(asked.headers["access-control-allow-origin"], APP, "{path}");
        assert_eq!(
            asked.headers["access-control-allow-headers"], "authorization,x-stainless-os",
            "{path}"
        );
        let methods = asked.headers["access-control-allow-methods"]
            .to_str()
            .unwrap();
        assert!(methods.contains(method.as_str()), "{path}: {methods}");
        let request = server
            .request(method.clone(), path, &key)
            .header("origin", APP);
        let request = request.header("sec-fetch-site", "cross-site");
        let answer = if body.is_null() {
            request
        } else {
            request.json(&body)
        }
        .send()
        .await
        .unwrap();
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
        assert_eq!(
            answer.headers()["access-control-allow-origin"],
            APP,
            "{path}"
        );
        assert!(
            answer.headers()["access-control-expose-headers"]
                .to_str()
                .unwrap()
                .contains("x-run-id")
        );
        assert!(
            answer
                .headers()
                .get_all("vary")
                .iter()
                .any(|vary| vary == "origin"),
            "{path}"
        );
        assert!(
            !answer
                .headers()
                .contains_key("access-control-allow-credentials"),
            "{path}"
        );

        // Somebody else's page, and whoever is not named to the letter.
        for other in [
            "https://evil.example",
            "http://app.example",
            "https://app.example.evil.example",
            "null",
        ] {
            let asked = preflight(&server, &method, path, other).await;
            assert!(
                !asked.headers.contains_key("access-control-allow-origin"),
                "{path} {other}"
            );
            assert!(
                asked
                    .headers
                    .get_all("vary")
                    .iter()
                    .any(|vary| vary == "origin"),
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn a_named_site_has_no_use_for_a_visitors_session() {
    let server = Server::start_with(&[("GLASSHOUSE_CORS_ALLOW_ORIGINS", APP)]).await;
    let cookie = server.set_up().await;
    for (method, path, body) in doors() {
        let request = server
            .request(method.clone(), path, &cookie)
            .header("origin", APP)
            .json(&body);
        let answer = request
            .header("sec-fetch-site", "cross-site")
            .send()
            .await
            .unwrap();
        assert!(
            !answer
                .headers()
                .contains_key("access-control-allow-credentials"),
            "{path}"
        );
        assert_eq!(
            answer.headers()["access-control-allow-origin"],
            APP,
            "{path}: a page can read the refusal"
        );
        if method == Method::POST {
            assert_eq!(answer.status(), 403, "{path}");
        }
    }
    // What the web app uses is nobody else's, and there is nothing to ask first for.
    let key = server.key_of_plain_user("bob@example.org").await;
    for path in [
        "/api/v1/keys",
        "/api/v1/me",
        "/api/config",
        "/",
        "/healthz",
        "/runsome",
    ] {
        let asked = preflight(&server, &Method::POST, path, APP).await;
        assert!(
            !asked.headers.contains_key("access-control-allow-origin"),
            "{path}"
        );
        let answer = Answer::of(
            server
                .request(Method::GET, path, &key)
                .header("origin", APP),
        )
        .await;
        assert!(
            !answer.headers.contains_key("access-control-allow-origin"),
            "{path}"
        );
    }
}

#[tokio::test]
async fn no_site_is_named_by_itself() {
    let server = Server::start_with(&[("GLASSHOUSE_CORS_ALLOW_ORIGINS", "")]).await;
    for (method, path, _) in doors() {
        let asked = preflight(&server, &method, path, APP).await;
        assert_eq!(asked.status, 405, "{path}");
        assert!(
            !asked.headers.contains_key("access-control-allow-origin"),
            "{path}"
        );
    }
}
