//! A server below a path of its host, behind a proxy that keeps the path or strips it.

use reqwest::{Client, Method, RequestBuilder, header, redirect::Policy};
use serde_json::json;

use crate::harness::{Answer, EMAIL, PASSWORD, Server};

/// The path in requests from a proxy that strips it, and from one that keeps it.
const PREFIXES: [&str; 2] = ["", "/ai"];

async fn start() -> Server {
    let settings = [
        ("GLASSHOUSE_PUBLIC_URL", "https://example.org/ai"),
        ("GLASSHOUSE_CORS_ALLOW_ORIGINS", "https://app.example"),
    ];
    Server::start_with(&settings).await
}

fn get(server: &Server, path: &str) -> RequestBuilder {
    server.request(Method::GET, path, "")
}

fn cookies(answer: &Answer) -> Vec<&str> {
    let lines = answer.headers.get_all(header::SET_COOKIE).iter();
    lines.map(|line| line.to_str().unwrap()).collect()
}

#[tokio::test]
async fn both_kinds_of_proxies_reach_every_route() {
    let server = start().await;
    let ada = server.set_up().await;
    for prefix in PREFIXES {
        let at = |path: &str| format!("{prefix}{path}");
        server.get(&at("/healthz"), "").await.expect(200);
        let me = server.get(&at("/api/v1/me?x=/ai/y"), &ada).await;
        assert_eq!(me.json()["user"]["email"], EMAIL, "{prefix}");
        assert_eq!(server.get(&at("/v1//models"), &ada).await.status, 200);
        let missing = server.get(&at("/api/v1/nothing"), &ada).await;
        assert_eq!(missing.expect(404), "not_found");
        let refused = server.get(&at("/v1/models"), "").await;
        assert_eq!(refused.status, 401);
        assert!(refused.json()["error"]["type"].is_string(), "OpenAI’s form");
        let page = server.get(&at("/c/1"), "").await;
        assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
        let asset = server.get(&at("/assets/gone.js"), "").await;
        asset.expect(404);
        let foreign = get(&server, &at("/v1/models")).header("origin", "https://app.example");
        let foreign = Answer::of(foreign).await;
        assert_eq!(
            foreign.headers["access-control-allow-origin"],
            "https://app.example"
        );
        let api = server.get(&at("/openapi.json"), "").await.json();
        assert_eq!(api["servers"], json!([{"url": "/ai"}]));
        assert_eq!(api["openapi"], "3.1.0");
    }
    // The path itself, and others that only look like it.
    assert_eq!(server.get("/ai", "").await.status, 200);
    assert_eq!(
        server.get("/ai/ai/healthz", "").await.headers["content-type"],
        "text/html; charset=utf-8"
    );
    let other = server.get("/ai2/healthz", "").await;
    assert_eq!(other.headers["content-type"], "text/html; charset=utf-8");
}

#[tokio::test]
async fn cookies_are_for_the_path() {
    let server = start().await;
    server.set_up().await;
    for prefix in PREFIXES {
        let body = json!({"email": EMAIL, "password": PASSWORD});
        let entered = server
            .post(&format!("{prefix}/api/v1/login"), "", &body)
            .await;
        entered.expect(200);
        let cookies = cookies(&entered);
        let of = |name: &str| cookies.iter().find(|line| line.starts_with(name)).unwrap();
        let session = of("glasshouse_session=");
        assert!(session.contains("; Path=/ai; "), "{session}");
        assert!(session.ends_with("; Secure"), "{session}");
        let device = of("glasshouse_device=");
        assert!(device.contains("; Path=/ai/api/v1/login; "), "{device}");
        let left = server
            .post(
                &format!("{prefix}/api/v1/logout"),
                &entered.cookie(),
                &json!({}),
            )
            .await;
        assert!(
            left.headers[header::SET_COOKIE]
                .to_str()
                .unwrap()
                .contains("Path=/ai; ")
        );
    }
}

#[tokio::test]
async fn redirects_stay_below_the_path() {
    let server = start().await;
    let browser = Client::builder()
        .no_proxy()
        .tls_certs_only([])
        .redirect(Policy::none())
        .build()
        .unwrap();
    for prefix in PREFIXES {
        let url = server.url(&format!("{prefix}/oauth/mcp/callback"));
        let back = Answer::of(browser.get(url)).await;
        assert_eq!(back.status, 303);
        assert_eq!(
            back.headers["location"],
            "/ai/settings/sign-ins?sign_in=signed_out"
        );
    }
}

#[tokio::test]
async fn browsers_use_https_only_if_that_is_set() {
    for (settings, expected) in [
        (
            &[("GLASSHOUSE_PUBLIC_URL", "https://example.org")][..],
            None,
        ),
        (
            &[
                ("GLASSHOUSE_PUBLIC_URL", "https://example.org"),
                ("GLASSHOUSE_STRICT_TRANSPORT_SECURITY", "max-age=300"),
            ][..],
            Some("max-age=300"),
        ),
    ] {
        let server = Server::start_with(settings).await;
        for path in ["/", "/healthz", "/api/v1/nothing"] {
            let answer = server.get(path, "").await;
            let value = answer.headers.get(header::STRICT_TRANSPORT_SECURITY);
            assert_eq!(
                value.map(|value| value.to_str().unwrap()),
                expected,
                "{path}"
            );
        }
    }
}
