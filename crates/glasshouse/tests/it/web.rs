//! The web app's files and the headers on every answer.

use std::io::Read;

use flate2::read::GzDecoder;

use crate::harness::Server;

#[tokio::test]
async fn every_answer_is_hardened() {
    let server = Server::start().await;
    for path in [
        "/",
        "/some/page",
        "/api/v1/me",
        "/api/v1/keys",
        "/api/nothing",
        "/healthz",
        "/assets/gone.js",
    ] {
        let answer = server.get(path, "").await;
        let policy = answer.headers["content-security-policy"].to_str().unwrap();
        let directives: Vec<&str> = policy.split(';').map(str::trim).collect();
        for wanted in [
            "default-src 'self'",
            "script-src 'self'",
            "connect-src 'self'",
            "object-src 'none'",
            "img-src 'self' data: blob:",
            "media-src 'self' data:",
            "frame-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'self'",
        ] {
            assert!(directives.contains(&wanted), "{path}: {wanted}: {policy}");
        }
        let scripts = directives
            .iter()
            .filter(|it| it.contains("unsafe"))
            .collect::<Vec<_>>();
        assert_eq!(scripts, [&"style-src 'self' 'unsafe-inline'"], "{path}");
        assert_eq!(
            answer.headers["x-content-type-options"], "nosniff",
            "{path}"
        );
        assert_eq!(answer.headers["referrer-policy"], "no-referrer", "{path}");
        assert_eq!(answer.headers["x-dns-prefetch-control"], "off", "{path}");
        assert_eq!(
            answer.headers["cross-origin-opener-policy"], "same-origin",
            "{path}"
        );
        let permissions = answer.headers["permissions-policy"].to_str().unwrap();
        for device in [
            "camera=()",
            "microphone=()",
            "geolocation=()",
            "display-capture=()",
        ] {
            assert!(permissions.contains(device), "{path}: {permissions}");
        }
    }
}

/// What is drawn there has neither our origin nor a network, and one script: the one whose hash the document names.
#[tokio::test]
async fn untrusted_markup_is_drawn_in_a_document_of_its_own() {
    let server = Server::start().await;
    let frame = server.get("/render-frame.html", "").await;
    let policy = frame.headers["content-security-policy"].to_str().unwrap();
    if frame.text.contains("npm --prefix web") {
        assert!(
            policy.contains("frame-ancestors 'none'"),
            "without the web app there is no frame: {policy}"
        );
        return;
    }
    let directives: Vec<&str> = policy.split(';').map(str::trim).collect();
    assert_eq!(
        directives,
        [
            "sandbox allow-scripts",
            "default-src 'none'",
            "script-src 'unsafe-inline'",
            "style-src 'unsafe-inline'",
            "frame-ancestors 'self'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    );
    let head = frame.text.split("<script>").next().unwrap();
    assert!(
        head.contains("default-src 'none'; script-src 'sha256-"),
        "{head}"
    );
    assert_eq!(frame.text.matches("<script").count(), 1);
    assert_eq!(frame.headers["x-dns-prefetch-control"], "off");
}

/// The policy forbids scripts and handlers in the page itself; a page that had one would not work.
#[tokio::test]
async fn the_page_has_no_script_of_its_own() {
    let page = Server::start().await.get("/", "").await.text;
    for script in page.split("<script").skip(1) {
        let (tag, rest) = script.split_once('>').unwrap();
        assert!(
            tag.contains("src=\"/") && rest.starts_with("</script>"),
            "<script{tag}>"
        );
    }
    let lower = page.to_lowercase();
    for word in [
        "javascript:",
        "<base",
        "<iframe",
        "<object",
        "<embed",
        " style=",
        "http://",
        "https://",
    ] {
        assert!(!lower.contains(word), "{word}");
    }
    let is_handler = |word: &str| {
        word.strip_prefix("on")
            .and_then(|rest| rest.split_once('='))
            .is_some_and(|(name, _)| !name.is_empty())
    };
    assert!(!lower.split_whitespace().any(is_handler), "{page}");
}

#[tokio::test]
async fn every_other_address_is_the_apps_page() {
    let server = Server::start().await;
    let page = server.get("/", "").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    assert_eq!(page.headers["cache-control"], "no-cache");
    assert!(page.text.to_lowercase().starts_with("<!doctype html>"));
    let other = server.get("/some/page?x=1", "").await;
    assert_eq!((other.status, &other.text), (page.status, &page.text));
    for path in [
        "/../Cargo.toml",
        "/%2e%2e/Cargo.toml",
        "/..%2fCargo.toml",
        "/assets/../../Cargo.toml",
    ] {
        assert!(
            !server.get(path, "").await.text.contains("[workspace]"),
            "{path}"
        );
    }
    server.get("/assets/gone.js", "").await.expect(404);
    if let Some(tag) = page.headers.get("etag") {
        let again = server
            .request(reqwest::Method::GET, "/", "")
            .header("if-none-match", tag);
        assert_eq!(again.send().await.unwrap().status(), 304);
    }
}

#[tokio::test]
async fn files_come_compressed_and_stay_in_the_cache() {
    let server = Server::start().await;
    let page = server.get("/", "").await.text;
    let Some(script) = page
        .split('"')
        .find(|text| text.starts_with("/assets/") && text.ends_with(".js"))
    else {
        assert!(
            page.contains("npm --prefix web"),
            "without the web app, the page says how to get it: {page}"
        );
        return;
    };
    let get = |encoding: &'static str| {
        let request = server
            .request(reqwest::Method::GET, script, "")
            .header("accept-encoding", encoding);
        async move { request.send().await.unwrap() }
    };
    let plain = get("identity").await;
    assert_eq!(
        plain.headers()["content-type"],
        "text/javascript; charset=utf-8"
    );
    assert_eq!(
        plain.headers()["cache-control"],
        "public, max-age=31536000, immutable"
    );
    assert!(!plain.headers().contains_key("content-encoding"));
    let compressed = get("gzip, deflate, br").await;
    assert_eq!(compressed.headers()["content-encoding"], "br");
    assert_eq!(
        compressed.headers()["content-type"],
        plain.headers()["content-type"]
    );
    assert_ne!(compressed.headers()["etag"], plain.headers()["etag"]);
    // Browsers do not ask for brotli over plain HTTP.
    let gzip = get("gzip, deflate").await;
    assert_eq!(gzip.headers()["content-encoding"], "gzip");
    let gzip = gzip.bytes().await.unwrap();
    let plain = plain.bytes().await.unwrap();
    let mut content = Vec::new();
    GzDecoder::new(&*gzip).read_to_end(&mut content).unwrap();
    assert!(content == plain, "decompressed, it is another file");
    assert!(compressed.bytes().await.unwrap().len() < gzip.len() && gzip.len() < plain.len());
    assert!(
        server
            .get(&format!("{script}.br"), "")
            .await
            .status
            .is_client_error()
    );
}
