//! Pages that show nothing until their scripts have run: by a real Chromium, and by what answers as Crawl4AI does.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use scripted::web::SHOWN_BY_SCRIPT;
use serde_json::{Value, json};

use crate::{faults::until, harness::serve_other, knowledge::KNOWLEDGE, web_pages::Desk};

const FETCH: &str = "fetch_page";

/// A server with a real browser; nothing where none is installed.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests are set up through the environment, and say what is missing"
)]
async fn with_chromium(more: &[(&str, &str)]) -> Option<Desk> {
    let Some(program) = std::env::var_os("GLASSHOUSE_TEST_CHROMIUM") else {
        let required = std::env::var_os("GLASSHOUSE_TEST_REQUIRE").is_some();
        assert!(
            !required,
            "`cargo xtask test` sets GLASSHOUSE_TEST_CHROMIUM"
        );
        println!("skipped: GLASSHOUSE_TEST_CHROMIUM names no Chromium");
        return None;
    };
    let settings = [
        &[("GLASSHOUSE_WEB_BROWSER", program.to_str().unwrap())],
        more,
    ]
    .concat();
    Some(Desk::open(&settings).await)
}

async fn read(desk: &Desk, path: &str) -> String {
    desk.call_as(&desk.ada, FETCH, json!({ "url": desk.web.url(path) }))
        .await
        .0
}

#[tokio::test]
async fn a_page_is_read_after_its_scripts() {
    let Some(desk) = with_chromium(&[("GLASSHOUSE_WEB_BROWSER_SECONDS", "60")]).await else {
        return;
    };
    let heard = read(&desk, "/app").await;
    assert!(
        heard.contains(SHOWN_BY_SCRIPT) && heard.contains("The boat"),
        "{heard}"
    );
    assert_eq!(
        desk.web.count("/app"),
        1,
        "the page itself is not asked for twice"
    );
    let unneeded = ["/picture.png", "/app/look.css", "/dead/1", "/favicon.ico"];
    assert!(
        unneeded.iter().all(|path| desk.web.count(path) == 0),
        "{:?}",
        desk.web.visits()
    );
    // A page that says something without its scripts needs no browser.
    let scripts = desk.web.count("/app/main.js");
    assert!(read(&desk, "/towns/elmhaven").await.contains("Elmhaven"));
    assert_eq!(desk.web.count("/app/main.js"), scripts);

    // In a collection it is what it shows, and its links lead on.
    let collection = desk.server.collection(&desk.ada, "Boats").await;
    let at = format!("{KNOWLEDGE}/{collection}");
    let crawl = json!({"url": desk.web.url("/app"), "depth": 1, "pages": 2});
    desk.server
        .post(&format!("{at}/crawls"), &desk.ada, &crawl)
        .await
        .expect(202);
    until("both are read", async || {
        let all = desk
            .server
            .get(&format!("{at}/documents"), &desk.ada)
            .await
            .json();
        let all = all["documents"].as_array().unwrap().clone();
        all.len() == 2 && all.iter().all(|one| one["state"] == "ready")
    })
    .await;
    assert_eq!(desk.web.count("/towns/"), 1);
    let found = desk
        .server
        .find(&desk.ada, "When leaves the boat to Korvel?")
        .await;
    assert!(
        found[0]["text"].as_str().unwrap().contains(SHOWN_BY_SCRIPT),
        "{found:?}"
    );
}

#[tokio::test]
async fn what_the_rules_close_is_not_asked_for_by_scripts_either() {
    let Some(desk) = with_chromium(&[("GLASSHOUSE_WEB_BROWSER_SECONDS", "60")]).await else {
        return;
    };
    desk.web.set_robots("User-agent: *\nDisallow: /app/boat\n");
    read(&desk, "/app").await;
    assert_eq!(
        (
            desk.web.count("/app/old.json"),
            desk.web.count("/app/boat.json")
        ),
        (1, 0)
    );
}

#[tokio::test]
async fn a_page_reaches_nothing_but_its_own_site_and_the_open_internet() {
    let Some(desk) = with_chromium(&[("GLASSHOUSE_WEB_BROWSER_SECONDS", "60")]).await else {
        return;
    };
    let heard = read(&desk, "/app/spy").await;
    let ways = [
        "fetch", "blind", "led", "metadata", "post", "socket", "worker", "import",
    ];
    for way in ways {
        assert!(heard.contains(&format!("{way} failed")), "{way}: {heard}");
    }
    assert!(
        !["FETCHED", "LED", "POSTED", "IMPORTED"]
            .iter()
            .any(|word| heard.contains(word)),
        "{heard}"
    );
    assert!(
        desk.web.canary_visits().is_empty(),
        "{:?}",
        desk.web.canary_visits()
    );
}

#[tokio::test]
async fn scripts_without_end_are_ended() {
    let Some(desk) = with_chromium(&[("GLASSHOUSE_WEB_BROWSER_SECONDS", "12")]).await else {
        return;
    };
    let heard = read(&desk, "/app/endless").await;
    let is_told =
        heard.contains("behind a script without end") || heard.contains("did not end in time");
    assert!(is_told && heard.len() < 600, "{heard}");
    let heard = read(&desk, "/app/busy").await;
    assert!(heard.contains("Counted to"), "{heard}");
    assert!(
        desk.web.count("/app/nothing") <= 100,
        "{}",
        desk.web.count("/app/nothing")
    );
    assert!(
        read(&desk, "/app").await.contains(SHOWN_BY_SCRIPT),
        "all is well after that"
    );
}

#[tokio::test]
async fn a_page_that_takes_too_much_memory_is_ended() {
    let Some(desk) = with_chromium(&[("GLASSHOUSE_WEB_BROWSER_SECONDS", "60")]).await else {
        return;
    };
    let heard = read(&desk, "/app/greedy").await;
    let words = "and they took more memory or disk space than one page may use.";
    assert!(
        heard.contains(words) && !heard.contains("TOOK IT ALL"),
        "{heard}"
    );
    until("nothing of it runs", async || browsers() == 0).await;
    assert!(
        read(&desk, "/app").await.contains(SHOWN_BY_SCRIPT),
        "all is well after that"
    );
}

/// Browsers of this process that run. Those of others have other folders in their command lines.
fn browsers() -> usize {
    let of_this = |line: &[u8], stat: &str| {
        let parent = stat
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(1))
            .unwrap_or("");
        parent == std::process::id().to_string()
            && String::from_utf8_lossy(line).contains("glasshouse-browser-")
    };
    let entries = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    let read = |path: std::path::PathBuf| {
        Some((
            std::fs::read(path.join("cmdline")).ok()?,
            std::fs::read_to_string(path.join("stat")).ok()?,
        ))
    };
    entries
        .filter_map(read)
        .filter(|(line, stat)| of_this(line, stat))
        .count()
}

#[tokio::test]
async fn a_browser_that_does_not_work_is_told() {
    for program in ["/bin/false", "/bin/cat", "/nowhere/chromium"] {
        let settings = [
            ("GLASSHOUSE_WEB_BROWSER", program),
            ("GLASSHOUSE_WEB_BROWSER_SECONDS", "5"),
        ];
        let desk = Desk::open(&settings).await;
        let heard = read(&desk, "/app").await;
        let words = "The page shows nothing until its scripts have run, and ";
        assert!(
            heard.contains(words) && heard.len() < 300,
            "{program}: {heard}"
        );
        assert!(read(&desk, "/towns/elmhaven").await.contains("Elmhaven"));
    }
}

/// Answers as Crawl4AI's server does, and is as strict.
#[derive(Clone, Default)]
struct Crawler(Arc<Mutex<(Value, Vec<String>)>>);

const TOKEN: &str = "token-of-the-crawler";

async fn crawl(
    State(crawler): State<Crawler>,
    headers: HeaderMap,
    Json(asked): Json<Value>,
) -> Response {
    let refused = |status: StatusCode, words: &str| {
        (status, Json(json!({ "detail": words }))).into_response()
    };
    let sent = headers
        .get("authorization")
        .and_then(|value| value.to_str().ok());
    if sent != Some(&format!("Bearer {TOKEN}")) {
        return refused(StatusCode::UNAUTHORIZED, "Invalid or missing token");
    }
    let known = ["urls", "browser_config", "crawler_config"];
    let fields = asked.as_object().unwrap();
    let is_typed = |name: &str, kind: &str| {
        fields
            .get(name)
            .is_none_or(|config| config["type"] == kind && config["params"].is_object())
    };
    let fits = fields.keys().all(|name| known.contains(&name.as_str()))
        && is_typed("browser_config", "BrowserConfig")
        && is_typed("crawler_config", "CrawlerRunConfig");
    let Some([Value::String(url)]) = asked["urls"].as_array().filter(|_| fits).map(Vec::as_slice)
    else {
        return refused(
            StatusCode::UNPROCESSABLE_ENTITY,
            "Input should be a valid request",
        );
    };
    let mut crawler = crawler.0.lock().unwrap();
    crawler.1.push(url.clone());
    let mut result = json!({
        "url": url, "success": true, "status_code": 200, "cleaned_html": "", "metadata": {"title": "Boats"},
        "html": format!("<html><body><article><h1>Boats</h1><p>{SHOWN_BY_SCRIPT}</p></article></body></html>"),
        "markdown": {"raw_markdown": "# Boats"}, "links": {"internal": [], "external": []}, "error_message": "",
    });
    if let Some(more) = crawler.0.as_object() {
        result.as_object_mut().unwrap().extend(more.clone());
    }
    Json(json!({ "success": true, "results": [result], "server_memory_delta_mb": 1.5 }))
        .into_response()
}

#[tokio::test]
async fn crawl4ai_is_asked_for_pages_that_we_may_read() {
    let crawler = Crawler::default();
    let routes = Router::new()
        .route("/crawl", post(crawl))
        .with_state(crawler.clone());
    let (address, _running) = serve_other(routes).await;
    let at = format!("http://{address}");
    let settings = [
        ("GLASSHOUSE_WEB_BROWSER", at.as_str()),
        ("GLASSHOUSE_WEB_BROWSER_KEY", TOKEN),
    ];
    let desk = Desk::open(&settings).await;
    assert!(read(&desk, "/app").await.contains(SHOWN_BY_SCRIPT));
    assert_eq!(crawler.0.lock().unwrap().1, [desk.web.url("/app")]);

    // What is not for us is not for it.
    for url in [
        "http://10.0.0.1/app",
        "http://169.254.169.254/",
        "file:///etc/passwd",
    ] {
        desk.call_as(&desk.ada, FETCH, json!({ "url": url })).await;
    }
    assert!(
        read(&desk, "/towns/elmhaven").await.contains("Elmhaven"),
        "this one needs no scripts"
    );
    assert_eq!(crawler.0.lock().unwrap().1.len(), 1);

    let says = async |says: Value| {
        crawler.0.lock().unwrap().0 = says;
        read(&desk, "/app/spy").await
    };
    let led = says(json!({"redirected_url": "http://169.254.169.254/latest"})).await;
    assert!(
        led.contains("Crawl4AI could not load it: it was led to another site."),
        "{led}"
    );
    let failed =
        says(json!({"success": false, "error_message": "page.goto: Timeout\nCall log"})).await;
    assert!(
        failed.contains("it says “page.goto: Timeout Call log”"),
        "{failed}"
    );
    let empty = says(json!({"html": ""})).await;
    assert!(empty.contains("its answer has no page"), "{empty}");

    let settings = [
        ("GLASSHOUSE_WEB_BROWSER", at.as_str()),
        ("GLASSHOUSE_WEB_BROWSER_KEY", "another"),
    ];
    let desk = Desk::open(&settings).await;
    let heard = read(&desk, "/app").await;
    assert!(
        heard.contains("it does not take our token (web.browser_key)"),
        "{heard}"
    );
}
