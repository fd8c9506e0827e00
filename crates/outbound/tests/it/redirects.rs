//! Redirects: each hop is checked, their number is limited, and credentials are not sent to another server.

use outbound::{Fault, Outbound, Request};
use reqwest::{
    Method,
    header::{ACCEPT, AUTHORIZATION, COOKIE, HeaderName},
};

use crate::{
    LIMITS, allowing, get, names,
    site::{self, Site},
};

/// Two public names, as far as the guard knows: both resolve to their listening sites.
fn outbound() -> Outbound {
    let lookup = names(|name, _| match name {
        "one.example" => vec!["127.0.0.2"],
        "two.example" => vec!["127.0.0.3"],
        _ => vec!["127.0.0.1"],
    });
    Outbound::with_lookup(allowing(&["127.0.0.2", "127.0.0.3"]), lookup)
}

#[tokio::test]
async fn a_redirect_to_this_machine_is_not_followed() {
    let inside = Site::start(|_| site::text("inside"));
    for to in [
        format!("http://127.0.0.1:{}/", inside.port),
        format!("http://2130706433:{}/", inside.port),
        format!("http://localhost:{}/", inside.port),
        format!("http://inside.example:{}/", inside.port),
        format!("//127.0.0.1:{}/", inside.port),
        format!("http://[::ffff:7f00:1]:{}/", inside.port),
        "file:///etc/passwd".to_owned(),
        "gopher://one.example/".to_owned(),
    ] {
        let sent_to = to.clone();
        let outside = Site::start_at("127.0.0.2", 0, move |_| site::redirect(302, &sent_to));
        let fault = get(
            &outbound(),
            &format!("http://one.example:{}/", outside.port),
        )
        .await
        .unwrap_err();
        assert!(
            matches!(fault, Fault::NotAllowed | Fault::NoAddress),
            "{to}: {fault}"
        );
    }
    assert_eq!(inside.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn a_chain_ends() {
    let site = Site::start_at("127.0.0.2", 0, |asked| {
        match asked.path().trim_start_matches('/').parse() {
            Ok(0) => site::text("the end"),
            Ok(left) => site::redirect(301, &format!("/{}", left - 1_u32)),
            Err(_) => site::redirect(307, asked.path()),
        }
    });
    let at = |path: &str| format!("http://one.example:{}/{path}", site.port);
    let answer = get(&outbound(), &at("3")).await.unwrap();
    assert_eq!(
        (&answer.body[..], answer.url.path()),
        (&b"the end"[..], "/0")
    );
    assert_eq!(
        get(&outbound(), &at("4")).await.unwrap_err(),
        Fault::TooManyHops
    );
    let before = site.requests().len();
    assert_eq!(
        get(&outbound(), &at("round")).await.unwrap_err(),
        Fault::TooManyHops
    );
    assert_eq!(site.requests().len(), before + 4);
}

fn with_secrets(url: String, method: Method) -> Request {
    let request = Request::new(method, url.parse().unwrap(), LIMITS).header(ACCEPT, "text/html");
    let request = request
        .header(AUTHORIZATION, "Bearer canary")
        .header(COOKIE, "canary");
    request.header(HeaderName::from_static("x-key"), "canary")
}

#[tokio::test]
async fn credentials_do_not_go_to_another_server() {
    let two = Site::start_at("127.0.0.3", 0, |_| site::text("two"));
    let to = format!("http://two.example:{}/", two.port);
    let one = Site::start_at("127.0.0.2", 0, move |asked| match asked.path() {
        "/here" => site::redirect(302, "/away"),
        "/away" => site::redirect(302, &to),
        // The same host, but another server.
        path => site::redirect(
            302,
            &format!("http://one.example:{}/", path.trim_start_matches('/')),
        ),
    });
    let other_port = Site::start_at("127.0.0.2", 0, |_| site::text("other"));
    let at = |path: &str| format!("http://one.example:{}/{path}", one.port);
    let answer = outbound()
        .send(with_secrets(at("here"), Method::GET))
        .await
        .unwrap();
    assert_eq!(answer.body, "two");
    assert_eq!(one.requests().len(), 2);
    assert!(
        one.requests()
            .iter()
            .all(|asked| asked.matches("canary").count() == 3),
        "the same server: {one:?}",
        one = one.requests()
    );
    assert!(
        !two.requests()[0].contains("canary"),
        "{:?}",
        two.requests()
    );
    assert!(two.requests()[0].contains("accept: text/html"));
    let answer = outbound()
        .send(with_secrets(at(&other_port.port.to_string()), Method::GET))
        .await
        .unwrap();
    assert_eq!(answer.body, "other");
    assert!(!other_port.requests()[0].contains("canary"));
}

#[tokio::test]
async fn a_body_is_sent_once_to_its_target() {
    let two = Site::start_at("127.0.0.3", 0, |_| site::text("two"));
    let to = format!("http://two.example:{}/", two.port);
    let one = Site::start_at("127.0.0.2", 0, move |asked| match asked.path() {
        "/see-other" => site::redirect(303, &to),
        _ => site::redirect(307, &to),
    });
    let post = |path: &str| {
        let url = format!("http://one.example:{}/{path}", one.port);
        with_secrets(url, Method::POST).body("text/plain", "canary")
    };
    assert_eq!(
        outbound().send(post("temporary")).await.unwrap_err(),
        Fault::NotAllowed
    );
    assert_eq!(two.requests().len(), 0);
    assert_eq!(
        outbound().send(post("see-other")).await.unwrap().body,
        "two"
    );
    let asked = &two.requests()[0];
    assert!(
        asked.starts_with("GET ") && !asked.contains("canary") && !asked.contains("content-type"),
        "{asked}"
    );
}

#[tokio::test]
async fn without_hops_a_redirect_is_the_answer() {
    let one = Site::start_at("127.0.0.2", 0, |_| site::redirect(302, "http://127.0.0.1/"));
    let url = format!("http://one.example:{}/", one.port).parse().unwrap();
    let limits = outbound::Limits { hops: 0, ..LIMITS };
    assert_eq!(
        outbound()
            .send(Request::new(Method::GET, url, limits))
            .await
            .unwrap()
            .status,
        302
    );
}
