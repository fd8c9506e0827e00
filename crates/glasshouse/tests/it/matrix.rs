//! Every route, asked by the owner of what it names, by others, by an administrator and by nobody, each with a session
//! and with a key: whoever does not own a thing learns not even that it exists, and changes nothing.

mod cases;
mod hostile;
mod people;
mod upgrades;
mod world;

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use server::{http::table, identity::auth::Access};

use self::{
    cases::{CASES, Case, Others},
    world::{By, CANARY, Person, World},
};
use crate::{harness::Answer, sse::Events};

/// Which ids a request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ids {
    /// The owner's.
    Real,
    /// Such as nobody has.
    Unknown,
}

impl World {
    fn fill(&self, template: &str, mine: &str, ids: Ids) -> String {
        let mut text = template.replace("{mine}", mine);
        for (name, id) in &self.names {
            let id = match ids {
                Ids::Unknown if !matches!(*name, "step" | "connection") => unknown(id),
                _ => id.clone(),
            };
            text = text.replace(&format!("{{{name}}}"), &id);
        }
        text
    }

    async fn ask(&self, case: &Case, who: &Person, credential: &str, ids: Ids) -> Answer {
        let fill = |template| self.fill(template, &who.mine, ids);
        let method: Method = case.method.parse().unwrap();
        let mut request = self
            .server
            .request(method, &fill(case.at), credential)
            .body(fill(case.body));
        request = request.header("content-type", "application/json");
        for (name, value) in case.headers {
            request = request.header(*name, fill(value));
        }
        Answer::of(request).await
    }

    /// The ids that say whose something is, or that it is there.
    fn secret_ids(&self) -> impl Iterator<Item = &String> {
        let tells = |name: &str| !matches!(name, "connection" | "reader");
        self.names
            .iter()
            .filter(move |(name, id)| tells(name) && id.len() > 20)
            .map(|(_, id)| id)
    }

    /// The rows that name something of the owner's.
    fn of_the_owner(&self, rows: &[String]) -> Vec<String> {
        rows.iter()
            .filter(|row| self.secret_ids().any(|id| row.contains(id)))
            .cloned()
            .collect()
    }

    /// The answer without the ids that were sent, which it may repeat.
    fn words(&self, answer: &Answer) -> String {
        let mut text = answer.text.clone();
        for id in self.secret_ids() {
            text = text.replace(id, "an id").replace(&unknown(id), "an id");
        }
        // Each request has one of its own.
        match answer
            .headers
            .get("x-request-id")
            .and_then(|id| id.to_str().ok())
        {
            Some(request) => text.replace(request, "a request"),
            None => text,
        }
    }
}

/// An id of the same form that nobody has.
fn unknown(id: &str) -> String {
    let other = |digit: char| {
        digit
            .to_digit(10)
            .and_then(|it| char::from_digit(9 - it, 10))
            .unwrap_or(digit)
    };
    id.chars().map(other).collect()
}

#[test]
fn every_route_is_in_the_matrix() {
    // Those of runners have tests of their own: no account opens them.
    let mut routes = table();
    routes.retain(|route| route.access != Access::Runner);
    let table: BTreeSet<_> = routes
        .iter()
        .map(|route| (route.method.as_str(), route.path))
        .collect();
    let cases: BTreeSet<_> = CASES.iter().map(|case| (case.method, case.route)).collect();
    assert_eq!(
        table, cases,
        "each route needs a line in matrix/cases.rs that says what others get"
    );
    for route in routes {
        let of_it = |case: &&Case| (case.method, case.route) == (route.method.as_str(), route.path);
        for case in CASES.iter().filter(of_it) {
            let is_public = route.access == Access::Public;
            let asks_itself = case.route == "/api/v1/me" && case.method == "GET";
            assert_eq!(
                case.others == Others::Public || asks_itself,
                is_public,
                "{case:?}"
            );
            assert_eq!(
                matches!(case.others, Others::Admin(_)),
                route.access == Access::Admin,
                "{case:?}"
            );
        }
    }
}

/// What is wrong, all of it: one run of the test tells everything.
#[derive(Default)]
struct Wrong(Vec<String>);

impl Wrong {
    fn unless(&mut self, is_right: bool, what: impl FnOnce() -> String) {
        if !is_right {
            self.0.push(what().chars().take(500).collect());
        }
    }
}

/// The rows in which two dumps differ.
fn difference(before: &[String], after: &[String]) -> Vec<String> {
    // Nearly always, and quicker to see than each row's twin.
    if before == after {
        return Vec::new();
    }
    let only_in = |one: &[String], other: &[String], sign: &str| {
        let lacks = one.iter().filter(|row| !other.contains(row));
        lacks
            .map(|row| format!("{sign} {}", row.chars().take(150).collect::<String>()))
            .collect::<Vec<_>>()
    };
    [only_in(before, after, "-"), only_in(after, before, "+")].concat()
}

/// Asks one route as somebody whose things they are not.
async fn check_stranger(
    wrong: &mut Wrong,
    world: &World,
    case: &Case,
    who: (&Person, &str),
    by: By,
) {
    let (person, role) = who;
    let asked = || {
        format!(
            "{role} by {by:?}: {} {} {}",
            case.method, case.at, case.body
        )
    };
    let (is_same, status) = match case.others {
        Others::Missing => (true, 404),
        Others::Same(status) => (true, status),
        Others::Own(status) => (false, status),
        Others::Admin(status) => (false, if role == "administrator" { status } else { 403 }),
        Others::Public | Others::Stream => return,
    };
    let before = world.rows().await;
    let real = world
        .ask(case, person, person.credential(by), Ids::Real)
        .await;
    wrong.unless(real.status == status, || {
        format!("{}, not {status}: {} {}", real.status, asked(), real.text)
    });
    if is_same {
        let unknown = world
            .ask(case, person, person.credential(by), Ids::Unknown)
            .await;
        let are_same = unknown.status == real.status && world.words(&real) == world.words(&unknown);
        wrong.unless(are_same, || {
            format!("one can tell: {} {} {}", asked(), real.text, unknown.text)
        });
    }
    let after = world.rows().await;
    // The audit log tells administrators what people's keys are called, and nothing else that they have written.
    let called = format!("\"subject_name\":\"{CANARY}\"");
    let text = if case.route == "/api/v1/audit" {
        real.text.replace(&called, "")
    } else {
        real.text.clone()
    };
    wrong.unless(!text.contains(CANARY), || {
        format!("shows what it holds: {} {}", asked(), real.text)
    });
    let changed = match case.others {
        Others::Admin(_) if role == "administrator" => return,
        Others::Own(_) => difference(&world.of_the_owner(&before), &world.of_the_owner(&after)),
        _ => difference(&before, &after),
    };
    wrong.unless(changed.is_empty(), || {
        format!("changes {changed:?}: {}", asked())
    });
    if matches!(case.others, Others::Own(_)) {
        let shown = world.secret_ids().find(|id| real.text.contains(*id));
        wrong.unless(shown.is_none(), || format!("shows {shown:?}: {}", asked()));
    }
}

/// Asks one route as somebody who is nobody here: without a credential, or with that of a suspended account.
async fn check_shut_out(wrong: &mut Wrong, world: &World, case: &Case, credential: &str) {
    let who = if credential.is_empty() {
        "anonymous"
    } else {
        "suspended"
    };
    let before = world.rows().await;
    for ids in [Ids::Real, Ids::Unknown] {
        let answer = world.ask(case, &world.suspended, credential, ids).await;
        let is_right = match case.route {
            // It says whether somebody is signed in.
            "/api/v1/me" if case.method == "GET" => !answer.text.contains('@'),
            _ => answer.status == 401,
        };
        wrong.unless(is_right, || {
            format!("{who}: {} {case:?} {}", answer.status, answer.text)
        });
    }
    let changed = difference(&before, &world.rows().await);
    wrong.unless(changed.is_empty(), || {
        format!("{who} changes {changed:?}: {case:?}")
    });
}

async fn check_all(by: By) {
    let (mut wrong, world) = (Wrong::default(), World::make().await);
    for case in CASES.iter().filter(|case| case.others != Others::Public) {
        check_shut_out(&mut wrong, &world, case, "").await;
        check_shut_out(&mut wrong, &world, case, world.suspended.credential(by)).await;
        check_stranger(&mut wrong, &world, case, (&world.other, "user"), by).await;
        check_stranger(
            &mut wrong,
            &world,
            case,
            (&world.admin, "administrator"),
            by,
        )
        .await;
        check_stranger(
            &mut wrong,
            &world,
            case,
            (&world.former, "former reader"),
            by,
        )
        .await;
        if case.readable {
            let before = world.rows().await;
            let answer = world
                .ask(case, &world.reader, world.reader.credential(by), Ids::Real)
                .await;
            let is_read = answer.status == 200 && before == world.rows().await;
            wrong.unless(is_read, || {
                format!(
                    "a reader by {by:?}: {} {case:?} {}",
                    answer.status, answer.text
                )
            });
        } else {
            check_stranger(&mut wrong, &world, case, (&world.reader, "reader"), by).await;
        }
        if matches!(case.others, Others::Own(_)) {
            // What they may begin for themselves goes on beside, and would be taken for what the next ones change.
            world.still().await;
        }
    }
    // What they were refused is there, and works for whom it belongs to.
    let is_asked = |case: &&Case| !matches!(case.others, Others::Public | Others::Stream);
    for case in CASES.iter().filter(is_asked) {
        let answer = world
            .ask(case, &world.owner, world.owner.credential(by), Ids::Real)
            .await;
        wrong.unless(answer.status == case.owner, || {
            format!(
                "the owner by {by:?} got {}: {case:?} {}",
                answer.status, answer.text
            )
        });
    }
    assert!(wrong.0.is_empty(), "{}", wrong.0.join("\n"));
}

#[tokio::test]
async fn others_get_nowhere_with_a_session() {
    check_all(By::Session).await;
}

#[tokio::test]
async fn others_get_nowhere_with_a_key() {
    check_all(By::Key).await;
}

/// The streams that do not end: on them is what happens to their reader, and nothing of others.
#[tokio::test]
async fn others_hear_nothing() {
    let world = World::make().await;
    for by in [By::Session, By::Key] {
        for (path, credential) in [
            ("/api/v1/activity", ""),
            ("/ws", ""),
            ("/ws", world.suspended.credential(by)),
        ] {
            assert_eq!(
                world.server.get(path, credential).await.expect(401),
                "unauthenticated",
                "{path}"
            );
        }
        let mut readers = Vec::new();
        for who in [&world.other, &world.admin] {
            let request = world
                .server
                .request(Method::GET, "/api/v1/activity", who.credential(by));
            readers.push((Events::of(request.send().await.unwrap()), who));
        }
        // The owner has runs that wait, and looks at a chat of theirs; then the reader does something.
        let read = format!("/api/v1/chats/{}/read", world.names["chat"]);
        world
            .server
            .post(&read, world.owner.credential(by), &Value::Null)
            .await
            .expect(204);
        for (mut reader, who) in readers {
            let said = json!({"content": "Hi", "model": "scripted"});
            let path = format!("/api/v1/chats/{}/messages", who.mine);
            world
                .server
                .post(&path, who.credential(by), &said)
                .await
                .expect(200);
            let first = reader.next().await.unwrap();
            assert_eq!(first.json()["chat"], json!(who.mine), "{}", first.data);
        }
    }
}

#[tokio::test]
async fn a_web_socket_is_for_the_runs_owner() {
    let world = World::make().await;
    let path = format!("/runs/{}/events", world.names["run"]);
    let status = async |credential: &str, origin: Option<&str>| {
        let request = world.server.request(Method::GET, &path, credential);
        let mut request = request
            .header("connection", "upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA==");
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        request.send().await.unwrap().status().as_u16()
    };
    for by in [By::Session, By::Key] {
        assert_eq!(status(world.owner.credential(by), None).await, 101);
        assert_eq!(status(world.other.credential(by), None).await, 404);
        assert_eq!(status(world.admin.credential(by), None).await, 404);
        assert_eq!(status(world.former.credential(by), None).await, 404);
        assert_eq!(status(world.reader.credential(by), None).await, 101);
    }
    for by in [By::Session, By::Key] {
        assert_eq!(status(world.suspended.credential(by), None).await, 401);
    }
    assert_eq!(status("", None).await, 401);
    // A page of another site, whose requests the browser gives the cookie along.
    for origin in [
        "https://evil.example",
        "null",
        "http://127.0.0.1:1",
        "http://localhost.evil.example",
    ] {
        assert_eq!(
            status(world.owner.credential(By::Session), Some(origin)).await,
            403,
            "{origin}"
        );
    }
}
