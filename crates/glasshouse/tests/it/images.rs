//! Images of other sites, fetched by the server for somebody who clicked on one.

use reqwest::Method;
use scripted::web::ClosedWeb;
use serde_json::json;

use crate::{
    harness::{Answer, Server},
    web_pages::Desk,
};

const PATH: &str = "/api/v1/images";

async fn fetch(desk: &Desk, path: &str) -> Answer {
    desk.server
        .post(PATH, &desk.ada, &json!({ "url": desk.web.url(path) }))
        .await
}

#[tokio::test]
async fn a_raster_image_is_passed_on_as_its_bytes_say() {
    let desk = Desk::open(&[]).await;
    for path in ["/picture.png", "/mislabelled/picture-as-page"] {
        let answer = fetch(&desk, path).await;
        answer.expect(200);
        for (name, value) in [
            ("content-type", "image/png"),
            ("content-security-policy", "sandbox; default-src 'none'"),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.headers[name], value, "{path}: {name}");
        }
    }
}

#[tokio::test]
async fn nothing_else_is_passed_on() {
    let desk = Desk::open(&[]).await;
    for (path, said) in [
        ("/mislabelled/page-as-picture", "not a PNG"),
        ("/mislabelled/drawing", "not a PNG"),
        ("/mislabelled/empty", "not a PNG"),
        ("/", "not a PNG"),
        ("/gone", "HTTP 410"),
        ("/broken", "HTTP 500"),
        (scripted::web::HUGE, "too large"),
        (scripted::web::SWOLLEN, "compressed"),
        (scripted::web::LOOP, "redirects too often"),
        ("/hang-up", "cannot be reached"),
    ] {
        let answer = fetch(&desk, path).await;
        assert_eq!(answer.expect(422), "invalid_request", "{path}");
        assert!(answer.text.contains(said), "{path}: {}", answer.text);
    }
}

/// Who looks at an image stays between them and the server.
#[tokio::test]
async fn its_site_learns_nothing_of_who_asked() {
    let desk = Desk::open(&[]).await;
    let request = desk.server.request(Method::POST, PATH, &desk.ada);
    let request = request
        .header("referer", "https://ai.example.org/c/chat_1")
        .header("user-agent", "Ada's browser")
        .header("accept-language", "de-CH")
        .header("x-forwarded-for", "192.0.2.7");
    let url = desk.web.url("/picture.png");
    Answer::of(request.json(&json!({ "url": url })))
        .await
        .expect(200);
    let visits = desk.web.visits();
    let [visit] = visits.as_slice() else {
        panic!("{visits:?}")
    };
    let mut names: Vec<&str> = visit
        .headers
        .keys()
        .map(reqwest::header::HeaderName::as_str)
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["accept", "accept-encoding", "host", "user-agent"]);
    assert!(
        visit.headers["user-agent"]
            .to_str()
            .unwrap()
            .starts_with("glasshouse/")
    );
}

#[tokio::test]
async fn no_address_of_a_private_network_is_asked() {
    let desk = Desk::open(&[("GLASSHOUSE_OUTBOUND_ALLOW", "")]).await;
    let port = desk.web.address().port();
    for url in [
        format!("http://127.0.0.1:{port}/picture.png"),
        format!("http://localhost:{port}/picture.png"),
        format!("http://2130706433:{port}/picture.png"),
        format!("http://[::ffff:127.0.0.1]:{port}/picture.png"),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        format!("http://ada:secret@127.0.0.1:{port}/picture.png"),
        "file:///etc/passwd".to_owned(),
        "data:image/png;base64,iVBORw0KGgo=".to_owned(),
        "//example.org/a.png".to_owned(),
        String::new(),
    ] {
        let answer = desk
            .server
            .post(PATH, &desk.ada, &json!({ "url": url }))
            .await;
        assert_eq!(answer.expect(400), "invalid_request", "{url}");
        assert_eq!(answer.json()["error"]["field"], "url", "{url}");
    }
    assert!(desk.web.visits().is_empty());
    let desk = Desk::open(&[]).await;
    fetch(&desk, "/inward").await.expect(400);
}

/// Neither a page of another site nor what only loads can have the server ask for an address.
#[tokio::test]
async fn no_page_but_ours_has_the_server_fetch() {
    let desk = Desk::open(&[]).await;
    refuses_others(&desk.server, &desk.ada, &desk.web).await;
    let allow = [
        ("GLASSHOUSE_AUTH", "none"),
        ("GLASSHOUSE_OUTBOUND_ALLOW", "127.0.0.0/8"),
    ];
    refuses_others(
        &Server::start_with(&allow).await,
        "",
        &ClosedWeb::start().await.unwrap(),
    )
    .await;
}

async fn refuses_others(server: &Server, credential: &str, web: &ClosedWeb) {
    let body = json!({ "url": web.url("/picture.png") });
    let post = || server.request(Method::POST, PATH, credential);
    for (name, value) in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
    ] {
        Answer::of(post().json(&body).header(name, value))
            .await
            .expect(403);
    }
    let get = format!("{PATH}?url={}", web.url("/picture.png"));
    server.get(&get, credential).await.expect(405);
    assert!(web.visits().is_empty());
    Answer::of(post().json(&body).header("sec-fetch-site", "same-origin"))
        .await
        .expect(200);
}

#[tokio::test]
async fn of_keys_those_for_writing_may_ask() {
    let desk = Desk::open(&[]).await;
    let body = json!({ "url": desk.web.url("/picture.png") });
    for (scope, status) in [("chat", 403), ("read", 403), ("write", 200)] {
        assert!(desk.web.visits().is_empty());
        let key = json!({ "name": scope, "scopes": [scope] });
        let key = desk
            .server
            .post("/api/v1/keys", &desk.ada, &key)
            .await
            .json();
        desk.server
            .post(PATH, key["secret"].as_str().unwrap(), &body)
            .await
            .expect(status);
    }
    desk.server.post(PATH, "", &body).await.expect(401);
}
