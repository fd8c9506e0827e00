//! Every route with input that nobody should send: it is refused in words, none of them the database's, and nothing
//! panics.

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    cases::{CASES, Case, Others},
    world::{By, World},
};
use crate::harness::{Answer, plain_client};

/// What only a database, a driver or a panic would say.
const LEAKS: [&str; 9] = [
    "sqlite",
    "sqlx",
    "postgres",
    "syntax error",
    "select ",
    "insert into",
    "panicked",
    "constraint",
    ".rs:",
];

const QUERIES: [&str; 12] = [
    "limit=-1",
    "limit=18446744073709551616",
    "limit=4294967295&before=9223372036854775807",
    "before=-9223372036854775808&limit=0",
    "before=1'%20OR%20'1'='1",
    "query='%3B%20DROP%20TABLE%20users%3B--",
    "query=%25_%5C%22%27%60",
    "sort=id%20DESC%3B--&order='&filter[owner]=x",
    "after=18446744073709551615&preview=18446744073709551615&batch_ms=18446744073709551615",
    "after=-1&from=18446744073709551615&to=0&path=/kept.md",
    "path=/..%2f..%2fetc%2fpasswd&path=/kept.md",
    "path=%ff%fe&stream=true&starting_after=18446744073709551615",
];

/// Values in the place of what a field should hold.
fn values() -> Vec<Value> {
    let deep = (0..90).fold(json!(1), |inner, _| json!([inner]));
    vec![
        Value::Null,
        json!(-1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e308),
        json!(true),
        json!([]),
        json!({"'; DROP TABLE users; --": {"$gt": ""}}),
        json!("'; DROP TABLE users; --\"`%_\\"),
        json!("\u{202e}\u{0007}\u{fffd}💥"),
        json!("x".repeat(300_000)),
        deep,
    ]
}

/// Whole bodies.
fn bodies() -> Vec<Vec<u8>> {
    let deep =
        |open: &str, close: &str| format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
    vec![
        Vec::new(),
        b"{".to_vec(),
        b"null".to_vec(),
        b"[]".to_vec(),
        b"\"x\"".to_vec(),
        b"-0".to_vec(),
        b"1e999999".to_vec(),
        b"{\"a\":\"\xff\xfe\"}".to_vec(),
        br#"{"a":"\u0000"}"#.to_vec(),
        br#"{"a":"\ud800"}"#.to_vec(),
        br#"{"":1,"__proto__":{"role":"admin"},"constructor":1,"a'\"b":2}"#.to_vec(),
        deep("[", "]").into_bytes(),
        deep("{\"a\":", "}").into_bytes(),
    ]
}

/// Every field of `body`, one at a time, holding `value`.
fn with_each_field(body: &Value, value: &Value) -> Vec<Value> {
    let children: Vec<String> = match body {
        Value::Object(fields) => fields.keys().cloned().collect(),
        Value::Array(items) => (0..items.len()).map(|at| at.to_string()).collect(),
        _ => Vec::new(),
    };
    let mut all = Vec::new();
    for name in children {
        let replaced = |by: Value| {
            let mut changed = body.clone();
            match &mut changed {
                Value::Object(fields) => _ = fields.insert(name.clone(), by),
                Value::Array(items) => items[name.parse::<usize>().unwrap()] = by,
                _ => {}
            }
            changed
        };
        all.push(replaced(value.clone()));
        let child = match body {
            Value::Object(fields) => &fields[&name],
            _ => &body[name.parse::<usize>().unwrap()],
        };
        all.extend(with_each_field(child, value).into_iter().map(replaced));
    }
    all
}

struct Asked<'a> {
    world: &'a World,
    wrong: Vec<String>,
}

impl Asked<'_> {
    async fn ask(&mut self, case: &Case, at: &str, headers: &[(&str, String)], body: Vec<u8>) {
        let who = if matches!(case.others, Others::Admin(_)) {
            &self.world.admin
        } else {
            &self.world.owner
        };
        let said: String = String::from_utf8_lossy(&body).chars().take(120).collect();
        let method: Method = case.method.parse().unwrap();
        let request = self
            .world
            .server
            .request(method, at, who.credential(By::Session));
        let mut request = request
            .header("content-type", "application/json")
            .body(body);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let sent = match request.send().await {
            Ok(sent) => sent,
            Err(error) => {
                return self
                    .wrong
                    .push(format!("no answer: {} {at} {said} {error}", case.method));
            }
        };
        let status = sent.status().as_u16();
        if status < 400 {
            return;
        }
        let text = sent.text().await.unwrap();
        let lower = text.to_lowercase().replace(&said.to_lowercase(), "");
        let leak = LEAKS.into_iter().find(|word| lower.contains(word));
        if status >= 500 || leak.is_some() {
            let text: String = text.chars().take(300).collect();
            self.wrong.push(format!(
                "{status} {leak:?}: {} {at} {said}: {text}",
                case.method
            ));
        }
    }
}

fn asked() -> impl Iterator<Item = &'static Case> {
    // A new session for each of the requests to come would be none of the owner's.
    // What stands at `/tasks` are the same handlers as below `/api/v1`.
    let is_other =
        |case: &&Case| !case.route.starts_with("/tasks/") && !case.route.ends_with("/logout");
    CASES
        .iter()
        .filter(|case| case.method != "DELETE")
        .filter(is_other)
}

fn headers(world: &World, case: &Case) -> Vec<(&'static str, String)> {
    case.headers
        .iter()
        .map(|(name, value)| {
            (
                *name,
                world.fill(value, &world.owner.mine, super::Ids::Real),
            )
        })
        .collect()
}

#[tokio::test]
async fn queries_bodies_and_fields_that_nobody_should_send() {
    let world = World::make().await;
    let mut asked_ = Asked {
        world: &world,
        wrong: Vec::new(),
    };
    for case in asked() {
        let at = world.fill(case.at, &world.owner.mine, super::Ids::Real);
        let headers = headers(&world, case);
        let body = world.fill(case.body, &world.owner.mine, super::Ids::Real);
        for query in QUERIES {
            let with = if at.contains('?') { '&' } else { '?' };
            asked_
                .ask(
                    case,
                    &format!("{at}{with}{query}"),
                    &headers,
                    body.clone().into(),
                )
                .await;
        }
        if case.method == "GET" {
            continue;
        }
        for body in bodies() {
            asked_.ask(case, &at, &headers, body).await;
        }
        let Ok(body) = serde_json::from_str::<Value>(&body) else {
            continue;
        };
        for value in values() {
            for body in with_each_field(&body, &value) {
                asked_
                    .ask(case, &at, &headers, body.to_string().into())
                    .await;
            }
        }
    }
    let wrong = asked_.wrong;
    assert!(
        wrong.is_empty(),
        "{} of them:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(30)].join("\n")
    );
    assert_eq!(world.server.get("/healthz", "").await.text, "ok\n");
}

#[tokio::test]
async fn ids_and_headers_that_nobody_should_send() {
    let world = World::make().await;
    let mut asked_ = Asked {
        world: &world,
        wrong: Vec::new(),
    };
    let long = "a".repeat(4_000);
    let ids = [
        "'%20OR%201=1--",
        "%22%3B",
        "%00",
        "%ff",
        "..%2f..",
        "-1",
        "null",
        "%F0%9F%92%A5",
        &long,
    ];
    for case in CASES {
        let own = headers(&world, case);
        for id in ids.iter().filter(|_| case.route.contains('{')) {
            let at: String = case
                .route
                .split('/')
                .map(|part| if part.starts_with('{') { *id } else { part })
                .collect::<Vec<_>>()
                .join("/");
            asked_.ask(case, &at, &own, b"{}".to_vec()).await;
        }
        if case.method == "DELETE" || case.route.ends_with("/logout") {
            continue;
        }
        let at = world.fill(case.at, &world.owner.mine, super::Ids::Real);
        for (name, value) in [
            ("last-event-id", "'; DROP TABLE users"),
            ("last-event-id", "18446744073709551616"),
            ("if-match", "\"99999999999999999999\""),
            ("if-none-match", "'"),
            ("idempotency-key", "'; DROP TABLE runs; --"),
            ("idempotency-key", &long),
            ("mcp-session-id", "'\"\\"),
            ("x-request-id", &long),
            ("traceparent", "00-'-'-zz"),
            ("range", "bytes=-18446744073709551616"),
            ("content-type", "application/x-\u{fc}"),
            ("accept", "'"),
            ("x-openwebui-user-id", "' OR 1=1"),
        ] {
            let mut headers = own.clone();
            headers.push((name, value.to_owned()));
            let body = world.fill(case.body, &world.owner.mine, super::Ids::Real);
            asked_.ask(case, &at, &headers, body.into()).await;
        }
    }
    let wrong = asked_.wrong;
    assert!(
        wrong.is_empty(),
        "{} of them:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(30)].join("\n")
    );
}

/// LiteLLM read what stood in this header into a statement, before anybody had signed in.
#[tokio::test]
async fn credentials_that_are_none() {
    let world = World::make().await;
    let before = world.rows().await;
    let client = plain_client();
    let long = "a".repeat(60_000);
    for (name, value) in [
        ("authorization", "Bearer ' OR '1'='1".to_owned()),
        (
            "authorization",
            "Bearer gh_' UNION SELECT * FROM users; --".to_owned(),
        ),
        ("authorization", "Bearer gh_\u{0080}\u{00ff}".to_owned()),
        ("authorization", format!("Bearer gh_{long}")),
        ("authorization", "Bearer ".to_owned()),
        ("authorization", "Basic YTpi".to_owned()),
        ("cookie", "glasshouse_session=' OR '1'='1".to_owned()),
        ("cookie", format!("glasshouse_session={long}")),
        (
            "cookie",
            "glasshouse_session=; glasshouse_session=x".to_owned(),
        ),
        ("cookie", format!("{}=1", ";".repeat(30_000))),
        ("x-api-key", "gh_1".to_owned()),
        ("x-forwarded-user", "ada@example.org".to_owned()),
        ("x-openwebui-user-email", "ada@example.org".to_owned()),
    ] {
        for path in ["/api/v1/chats", "/v1/models", "/runs/run_1"] {
            let value = reqwest::header::HeaderValue::from_bytes(value.as_bytes()).unwrap();
            let answer = Answer::of(client.get(world.server.url(path)).header(name, value)).await;
            assert_eq!(answer.expect(401), "unauthenticated", "{name}");
            let lower = answer.text.to_lowercase();
            assert!(
                !LEAKS.iter().any(|word| lower.contains(word)),
                "{}",
                answer.text
            );
        }
    }
    assert_eq!(before, world.rows().await);
}
