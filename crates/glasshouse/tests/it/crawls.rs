//! Pages and sites of the web that become documents: what comes in, what stays out, and what goes on after a restart.

use scripted::web::{ClosedWeb, NEVER_ANSWERS};
use serde_json::{Value, json};

use crate::{
    faults::until,
    harness::{EMAIL, PASSWORD, Server},
    restart::{Kept, stop},
};

const SETTINGS: [(&str, &str); 3] = [
    ("GLASSHOUSE_OUTBOUND_ALLOW", "127.0.0.0/8"),
    ("GLASSHOUSE_WEB_PAUSE_MS", "0"),
    ("GLASSHOUSE_WEB_SECONDS", "2"),
];

async fn collection(server: &Server, who: &str) -> String {
    let made = server
        .post("/api/v1/knowledge", who, &json!({"name": "Coast"}))
        .await
        .json();
    format!("/api/v1/knowledge/{}", made["id"].as_str().unwrap())
}

async fn begin(server: &Server, who: &str, at: &str, crawl: &Value) -> Value {
    let begun = server.post(&format!("{at}/crawls"), who, crawl).await;
    begun.expect(202);
    begun.json()
}

async fn latest(server: &Server, who: &str, at: &str) -> Value {
    server.get(&format!("{at}/crawls"), who).await.json()["crawls"][0].clone()
}

async fn ended(server: &Server, who: &str, at: &str) -> Value {
    until("the crawl has ended", async || {
        latest(server, who, at).await["state"] != "running"
    })
    .await;
    latest(server, who, at).await
}

async fn names(server: &Server, who: &str, at: &str) -> Vec<String> {
    let all = server.get(&format!("{at}/documents"), who).await.json();
    all["documents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_site_comes_in_within_its_bounds() {
    let web = ClosedWeb::start().await.unwrap();
    let server = Server::start_with(&SETTINGS).await;
    let ada = server.set_up().await;
    let at = collection(&server, &ada).await;
    begin(
        &server,
        &ada,
        &at,
        &json!({"url": web.url("/traps"), "depth": 2, "pages": 80}),
    )
    .await;
    let crawl = ended(&server, &ada, &at).await;
    assert_eq!(
        (&crawl["state"], &crawl["done"]),
        (&json!("done"), &json!(80)),
        "its budget: {crawl}"
    );
    let all = names(&server, &ada, &at).await;
    let host = web.address().to_string();
    assert!(
        all.len() >= 8 && all.len() == usize::try_from(crawl["done"].as_u64().unwrap()).unwrap(),
        "{all:?}"
    );
    assert!(all.iter().all(|name| name.starts_with(&host)), "{all:?}");
    assert!(all.contains(&format!("{host}/traps.html")), "{all:?}");
    // Traps: each level of the calendar is two pages, a maze ends where it repeats itself, and session ids are no pages.
    let of = |part: &str| all.iter().filter(|name| name.contains(part)).count();
    assert!(
        (1..=8).contains(&of("/calendar/")) && of("/maze/") <= 3 && of("session") == 0,
        "{all:?}"
    );
    assert!(web.visits().len() < 130, "{}", web.visits().len());
    assert!(
        web.canary_visits().is_empty(),
        "another host is another site"
    );
    let problems = crawl["problems"].to_string();
    assert!(
        problems.contains("/dead/2") && problems.contains("redirects too often"),
        "{problems}"
    );
    let loops = web
        .visits()
        .iter()
        .filter(|visit| visit.target.starts_with("/loop"))
        .count();
    assert!(loops <= 11, "{loops}");
}

#[tokio::test]
async fn pages_count_once_and_rules_hold_and_what_came_is_found() {
    let web = ClosedWeb::start().await.unwrap();
    web.set_robots(
        "User-agent: *\nDisallow: /private/\nDisallow: /keepers/\nDisallow: /calendar/\n",
    );
    let server = Server::start_with(&SETTINGS).await;
    let ada = server.set_up().await;
    let at = collection(&server, &ada).await;
    // One below a list of sixty, and one more for what those link to.
    begin(
        &server,
        &ada,
        &at,
        &json!({"url": web.url("/lights/"), "depth": 1, "pages": 30}),
    )
    .await;
    let crawl = ended(&server, &ada, &at).await;
    assert_eq!(crawl["done"], 30, "its budget: {crawl}");
    assert_eq!((web.count("/private/rota"), web.count("/keepers/")), (0, 0));
    until("all are read", async || {
        let all = server.get(&format!("{at}/documents"), &ada).await.json();
        all["documents"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["state"] == "ready")
    })
    .await;
    let fact = web
        .facts()
        .iter()
        .find(|fact| fact.question.contains("year was the Korra"))
        .unwrap();
    let found = server
        .post(
            "/api/v1/knowledge/search",
            &ada,
            &json!({ "query": fact.question }),
        )
        .await
        .json();
    assert!(
        found["results"][0]["text"]
            .as_str()
            .unwrap()
            .contains(&fact.answer),
        "{found}"
    );
    // A page alone, twice: its document takes the place of the one before.
    let before = names(&server, &ada, &at).await.len();
    for _ in 0..2 {
        begin(
            &server,
            &ada,
            &at,
            &json!({"url": web.url("/towns/elmhaven")}),
        )
        .await;
        assert_eq!(ended(&server, &ada, &at).await["done"], 1);
    }
    assert_eq!(names(&server, &ada, &at).await.len(), before + 1);
}

#[tokio::test]
async fn a_crawl_is_ended_tried_again_and_bounded() {
    let web = ClosedWeb::start().await.unwrap();
    let server = Server::start_with(&SETTINGS).await;
    let ada = server.set_up().await;
    let bob = server.key_of_plain_user("bob@example.org").await;
    let at = collection(&server, &ada).await;
    let crawls = format!("{at}/crawls");
    let url = web.url("/");
    for bad in [
        json!({"url": "http://10.0.0.1/"}),
        json!({"url": "file:///etc/passwd"}),
        json!({"url": url, "depth": 11}),
        json!({"url": url, "depth": -1}),
        json!({"url": url, "pages": 0}),
        json!({"url": url, "pages": 5001}),
        json!({}),
    ] {
        server.post(&crawls, &ada, &bad).await.expect(400);
    }
    server
        .post(&crawls, &bob, &json!({ "url": url }))
        .await
        .expect(404);
    let begun = begin(&server, &ada, &at, &json!({"url": web.url(NEVER_ANSWERS)})).await;
    let path = format!("{crawls}/{}", begun["id"].as_str().unwrap());
    server
        .post(&format!("{path}/cancel"), &bob, &json!({}))
        .await
        .expect(404);
    server
        .post(&format!("{path}/retry"), &ada, &json!({}))
        .await
        .expect(404);
    let failed = ended(&server, &ada, &at).await;
    assert_eq!(
        (&failed["state"], &failed["failed"]),
        (&json!("done"), &json!(1)),
        "{failed}"
    );
    assert!(
        failed["problems"][0]["message"]
            .as_str()
            .unwrap()
            .contains("in time"),
        "{failed}"
    );
    assert_eq!(failed["problems"][0]["sentence"], json!({"code": "slow"}));
    server
        .post(&format!("{path}/retry"), &ada, &json!({}))
        .await
        .expect(204);
    until("it is tried again", async || web.count(NEVER_ANSWERS) == 2).await;
    server
        .post(&format!("{path}/cancel"), &ada, &json!({}))
        .await
        .expect(204);
    assert_eq!(latest(&server, &ada, &at).await["state"], "cancelled");
    server
        .post(&format!("{path}/cancel"), &ada, &json!({}))
        .await
        .expect(404);
    // It may be taken off the list once it has ended, by whom the collection is.
    let dismiss = format!("{path}/dismiss");
    server.post(&dismiss, &bob, &json!({})).await.expect(404);
    server.post(&dismiss, &ada, &json!({})).await.expect(204);
    assert_eq!(latest(&server, &ada, &at).await, Value::Null);
    server.post(&dismiss, &ada, &json!({})).await.expect(404);
    // One that goes on after all is listed again.
    server
        .post(&format!("{path}/retry"), &ada, &json!({}))
        .await
        .expect(204);
    assert_eq!(latest(&server, &ada, &at).await["state"], "running");
    server.post(&dismiss, &ada, &json!({})).await.expect(404);
    server.delete(&at, &ada).await.expect(204);
    server.get(&crawls, &ada).await.expect(404);
}

#[tokio::test]
async fn a_crawl_goes_on_after_a_restart() {
    let web = ClosedWeb::start().await.unwrap();
    let kept = Kept::new();
    let at = {
        let slow = [SETTINGS[0], ("GLASSHOUSE_WEB_PAUSE_MS", "200"), SETTINGS[2]];
        let server = kept.start_with(&slow).await;
        let ada = server.set_up().await;
        let at = collection(&server, &ada).await;
        begin(
            &server,
            &ada,
            &at,
            &json!({"url": web.url("/towns/"), "depth": 1, "pages": 25}),
        )
        .await;
        until("some are there", async || {
            latest(&server, &ada, &at).await["done"].as_u64() >= Some(3)
        })
        .await;
        stop(&server).await;
        at
    };
    // As a server leaves it that is killed.
    kept.execute("UPDATE crawls SET claimed_until = 4000000000000")
        .await;
    let before = web.count("/towns/");
    let server = kept.start_with(&SETTINGS).await;
    let login = server
        .post(
            "/api/v1/login",
            "",
            &json!({"email": EMAIL, "password": PASSWORD}),
        )
        .await;
    let ada = login.cookie();
    let crawl = ended(&server, &ada, &at).await;
    assert_eq!(
        (&crawl["state"], &crawl["done"]),
        (&json!("done"), &json!(25)),
        "{crawl}"
    );
    assert_eq!(names(&server, &ada, &at).await.len(), 25);
    assert_eq!(
        web.count("/towns/"),
        before,
        "what was read is not asked for again"
    );
}

#[tokio::test]
async fn from_its_front_page_a_site_comes_in_with_what_it_names_itself() {
    let web = ClosedWeb::start().await.unwrap();
    let server = Server::start_with(&SETTINGS).await;
    let ada = server.set_up().await;
    let at = collection(&server, &ada).await;
    // Nothing is more than one link deep, so it is the sitemap that knows what lies deeper.
    begin(
        &server,
        &ada,
        &at,
        &json!({"url": web.url("/"), "depth": 1, "pages": 150}),
    )
    .await;
    ended(&server, &ada, &at).await;
    let asked = web
        .visits()
        .iter()
        .filter(|visit| visit.target == "/sitemap.xml")
        .count();
    assert_eq!(asked, 1);
    let deep = names(&server, &ada, &at)
        .await
        .iter()
        .filter(|name| name.matches('/').count() >= 2)
        .count();
    assert!(deep > 50, "{deep}");
    // Not from another page.
    let other = collection(&server, &ada).await;
    begin(
        &server,
        &ada,
        &other,
        &json!({"url": web.url("/lights/"), "depth": 1, "pages": 5}),
    )
    .await;
    ended(&server, &ada, &other).await;
    let asked = web
        .visits()
        .iter()
        .filter(|visit| visit.target == "/sitemap.xml")
        .count();
    assert_eq!(asked, 1);
}

/// Two sites, of which one takes its time: the other does not wait for it, and no host is asked twice at a time.
#[tokio::test]
async fn sites_are_read_side_by_side_and_each_one_page_at_a_time() {
    let (slow, quick) = (
        ClosedWeb::start().await.unwrap(),
        ClosedWeb::start().await.unwrap(),
    );
    let server =
        Server::start_with(&[SETTINGS[0], SETTINGS[1], ("GLASSHOUSE_WEB_SECONDS", "600")]).await;
    let ada = server.set_up().await;
    let (one, other) = (
        collection(&server, &ada).await,
        collection(&server, &ada).await,
    );
    begin(
        &server,
        &ada,
        &one,
        &json!({"url": slow.url(NEVER_ANSWERS)}),
    )
    .await;
    until("the slow one is asked", async || {
        slow.count(NEVER_ANSWERS) == 1
    })
    .await;
    // Another of the same site waits and is not asked for meanwhile.
    begin(
        &server,
        &ada,
        &one,
        &json!({"url": slow.url("/towns/elmhaven")}),
    )
    .await;
    begin(
        &server,
        &ada,
        &other,
        &json!({"url": quick.url("/towns/"), "depth": 1, "pages": 12}),
    )
    .await;
    assert_eq!(ended(&server, &ada, &other).await["done"], 12);
    assert_eq!(
        (slow.open_requests(), slow.count("/towns/elmhaven")),
        (1, 0)
    );
    assert_eq!(latest(&server, &ada, &one).await["state"], "running");
}

/// The same page at two addresses, of which one is asked for before a restart and the other after it.
#[tokio::test]
async fn what_was_met_is_known_after_a_restart() {
    let web = ClosedWeb::start().await.unwrap();
    let kept = Kept::new();
    let mirror = web
        .paths()
        .into_iter()
        .find(|path| path.starts_with("/mirror/"))
        .unwrap();
    let first = mirror.replace("/mirror/", "/lights/");
    let links =
        format!("<a href='{first}'>1</a><a href='{NEVER_ANSWERS}'>2</a><a href='{mirror}'>3</a>");
    web.change("/towns/", &links);
    let at = {
        let server = kept
            .start_with(&[SETTINGS[0], SETTINGS[1], ("GLASSHOUSE_WEB_SECONDS", "600")])
            .await;
        let ada = server.set_up().await;
        let at = collection(&server, &ada).await;
        begin(
            &server,
            &ada,
            &at,
            &json!({"url": web.url("/towns/"), "depth": 1, "pages": 25}),
        )
        .await;
        until("the first of them is there", async || {
            web.count(NEVER_ANSWERS) == 1
        })
        .await;
        stop(&server).await;
        at
    };
    assert_eq!((web.count(&first), web.count(&mirror)), (1, 0));
    let server = kept.start_with(&SETTINGS).await;
    let login = server
        .post(
            "/api/v1/login",
            "",
            &json!({"email": EMAIL, "password": PASSWORD}),
        )
        .await;
    let crawl = ended(&server, &login.cookie(), &at).await;
    assert_eq!((web.count(&first), web.count(&mirror)), (1, 1), "{crawl}");
    let all = names(&server, &login.cookie(), &at).await;
    let of = |path: &str| all.iter().filter(|name| name.contains(path)).count();
    assert_eq!((of(&first), of(&mirror)), (1, 0), "{all:?}");
}
