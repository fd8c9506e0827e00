//! Passkeys: made, used, taken away; and everything that a browser or an authenticator could say wrongly.

mod authenticator;

use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::harness::{Answer, EMAIL, PASSWORD, Server};
use authenticator::{Authenticator, Lie};

const BEGIN: &str = "/api/v1/login/passkey/challenge";
const FINISH: &str = "/api/v1/login/passkey";
const OWN: &str = "/api/v1/me/passkeys";

/// A server that is asked as localhost.
struct World {
    server: Server,
    ada: String,
}

/// The cookies of a browser beside its session.
fn cookie(answer: &Answer, name: &str) -> String {
    let lines = answer
        .headers
        .get_all(header::SET_COOKIE)
        .iter()
        .map(|line| line.to_str().unwrap());
    let of = |line: &str| line.split(';').next().unwrap().to_owned();
    lines
        .map(of)
        .find(|line| line.starts_with(&format!("{name}=")))
        .unwrap()
}

impl World {
    async fn new() -> Self {
        let (server, ada) = Server::start_signed_in().await;
        Self { server, ada }
    }

    fn origin(&self) -> String {
        format!("http://localhost:{}", self.server.address.port())
    }

    async fn ask(&self, method: Method, path: &str, cookies: &str, body: Option<&Value>) -> Answer {
        let host = format!("localhost:{}", self.server.address.port());
        let request = self
            .server
            .request(method, path, cookies)
            .header(header::HOST, host);
        Answer::of(
            body.into_iter()
                .fold(request, |request, body| request.json(body)),
        )
        .await
    }

    async fn post(&self, path: &str, cookies: &str, body: &Value) -> Answer {
        self.ask(Method::POST, path, cookies, Some(body)).await
    }

    /// What the browser is to make a passkey with, and the cookies it has then.
    async fn begin(&self, session: &str, password: &str) -> (Value, String) {
        let begun = self
            .post(
                &format!("{OWN}/challenge"),
                session,
                &json!({"current": password}),
            )
            .await;
        begun.expect(200);
        (
            begun.json(),
            format!("{session}; {}", cookie(&begun, "glasshouse_passkey")),
        )
    }

    async fn make(&self, session: &str, device: &mut Authenticator) -> Answer {
        let (options, cookies) = self.begin(session, PASSWORD).await;
        let credential = device.make(&self.origin(), &options);
        self.post(
            OWN,
            &cookies,
            &json!({"name": " Phone ", "credential": credential}),
        )
        .await
    }

    async fn challenge(&self) -> (Value, String) {
        let begun = self.post(BEGIN, "", &json!({})).await;
        begun.expect(200);
        (begun.json(), cookie(&begun, "glasshouse_passkey"))
    }

    async fn log_in(&self, device: &mut Authenticator) -> Answer {
        self.log_in_with(device, Lie::None).await
    }

    async fn log_in_with(&self, device: &mut Authenticator, lie: Lie) -> Answer {
        let (options, cookies) = self.challenge().await;
        let credential = device.use_it(&self.origin(), &options, lie);
        self.post(FINISH, &cookies, &json!({ "credential": credential }))
            .await
    }

    async fn list(&self) -> Value {
        self.ask(Method::GET, OWN, &self.ada, None).await.json()["passkeys"].clone()
    }
}

#[tokio::test]
async fn a_passkey_opens_a_session_in_the_place_of_the_password() {
    let world = World::new().await;
    let seen =
        async || world.ask(Method::GET, "/api/v1/me", "", None).await.json()["passkeys"].clone();
    assert_eq!(seen().await, false);
    for mut device in [Authenticator::es256(), Authenticator::ed_dsa()] {
        let made = world.make(&world.ada, &mut device).await;
        made.expect(200);
        assert_eq!(
            (&made.json()["name"], &made.json()["host"]),
            (&json!("Phone"), &json!("localhost"))
        );
        for _ in 0..2 {
            world.server.clock.advance_ms(1_000);
            let entered = world.log_in(&mut device).await;
            entered.expect(200);
            assert_eq!(entered.json()["user"]["email"], EMAIL);
            let session = cookie(&entered, "glasshouse_session");
            world
                .server
                .get("/api/v1/chats", &session)
                .await
                .expect(200);
            // It is a session as any other.
            let sessions = world
                .server
                .get("/api/v1/me/sessions", &session)
                .await
                .json();
            assert!(
                sessions["sessions"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|one| one["current"] == true)
            );
        }
        let own = world.list().await;
        let own = own.as_array().unwrap();
        assert_eq!(
            own.last().unwrap()["last_used_at"],
            world.server.clock.now_ms()
        );
        // One authenticator is asked for one passkey.
        assert_eq!(
            world.make(&world.ada, &mut device).await.expect(409),
            "conflict"
        );
    }
    assert_eq!(seen().await, true);
    assert_eq!(world.list().await.as_array().unwrap().len(), 2);
    let noted = world.server.get("/api/v1/audit", &world.ada).await.json();
    let actions: Vec<&str> = noted["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["action"].as_str().unwrap())
        .collect();
    assert_eq!(
        actions
            .iter()
            .filter(|action| **action == "passkey.create")
            .count(),
        2
    );
    let opened = noted["entries"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["action"] == "session.open");
    assert_eq!(
        opened.unwrap()["details"],
        json!({"with": "passkey", "passkey": "Phone"})
    );
}

#[tokio::test]
async fn making_one_takes_the_password_and_a_browser() {
    let world = World::new().await;
    let begin = format!("{OWN}/challenge");
    for wrong in [
        json!({"current": "not it"}),
        json!({}),
        json!({"current": null}),
    ] {
        let refused = world.post(&begin, &world.ada, &wrong).await;
        refused.expect(400);
        assert_eq!(refused.json()["error"]["field"], "current");
    }
    let key = world
        .server
        .post("/api/v1/keys", &world.ada, &json!({"name": "x"}))
        .await
        .json();
    let key = key["secret"].as_str().unwrap();
    assert_eq!(
        world
            .post(&begin, key, &json!({"current": PASSWORD}))
            .await
            .expect(400),
        "invalid_request"
    );
    world
        .post(&begin, "", &json!({"current": PASSWORD}))
        .await
        .expect(401);
    // An address is no name to browsers.
    let by_address = world
        .server
        .post(&begin, &world.ada, &json!({"current": PASSWORD}))
        .await;
    assert_eq!(by_address.expect(409), "conflict");
    assert_eq!(
        world.server.post(BEGIN, "", &json!({})).await.expect(409),
        "conflict"
    );
    // The challenge belongs to the session that it was made for.
    let mut device = Authenticator::es256();
    let (options, cookies) = world.begin(&world.ada, PASSWORD).await;
    let ticket = cookies.split("; ").nth(1).unwrap();
    let credential = device.make(&world.origin(), &options);
    let body = json!({"name": "x", "credential": credential});
    let log_in = json!({"email": EMAIL, "password": PASSWORD});
    let other = world
        .server
        .post("/api/v1/login", "", &log_in)
        .await
        .cookie();
    world
        .post(OWN, &format!("{other}; {ticket}"), &body)
        .await
        .expect(409);
    world.post(OWN, &world.ada, &body).await.expect(409);
    let again = world
        .post(
            OWN,
            &cookies,
            &json!({"name": "", "credential": credential}),
        )
        .await;
    again.expect(400);
    world.server.clock.advance_ms(5 * 60_000);
    world.post(OWN, &cookies, &body).await.expect(409);
    assert_eq!(world.list().await, json!([]));
}

#[tokio::test]
async fn without_a_password_the_sign_in_is_fresh() {
    let world = World::new().await;
    // As a provider makes accounts.
    let me = world.server.get("/api/v1/me", &world.ada).await.json();
    let store = &world.server.app.store;
    let old = store.user_by_email(EMAIL).await.unwrap().password_hash;
    let owner: domain::UserId = me["user"]["id"].as_str().unwrap().parse().unwrap();
    store.replace_password_hash(owner, &old, "!").await.unwrap();
    let begin = format!("{OWN}/challenge");
    world.post(&begin, &world.ada, &json!({})).await.expect(200);
    world.server.clock.advance_ms(10 * 60_000 + 1);
    assert_eq!(
        world.post(&begin, &world.ada, &json!({})).await.expect(409),
        "conflict"
    );
}

#[tokio::test]
async fn what_is_not_made_rightly_is_not_kept() {
    let world = World::new().await;
    for lie in Lie::ALL {
        let mut device = Authenticator::es256();
        let (options, cookies) = world.begin(&world.ada, PASSWORD).await;
        let credential = device.make_with(&world.origin(), &options, lie);
        let body = json!({"name": "x", "credential": credential});
        assert_eq!(
            world.post(OWN, &cookies, &body).await.expect(400),
            "invalid_request",
            "{lie:?}"
        );
    }
    let (options, cookies) = world.begin(&world.ada, PASSWORD).await;
    let good = Authenticator::es256().make(&world.origin(), &options);
    let attestation = good["response"]["attestationObject"]
        .as_str()
        .unwrap()
        .to_owned();
    let changed = |attestation: Value| {
        let mut credential = good.clone();
        credential["response"]["attestationObject"] = attestation;
        json!({"name": "x", "credential": credential})
    };
    for bad in [
        json!(""),
        json!("====="),
        json!("ä"),
        json!(7),
        json!(null),
        json!("A".repeat(30_000)),
    ] {
        world.post(OWN, &cookies, &changed(bad)).await.expect(400);
    }
    for end in (0..attestation.len() - 1).step_by(7) {
        world
            .post(OWN, &cookies, &changed(json!(attestation[..end])))
            .await
            .expect(400);
    }
    assert_eq!(world.list().await, json!([]));
    // All that was refused has not used up the challenge; what is good does.
    let body = json!({"name": "x", "credential": good});
    world.post(OWN, &cookies, &body).await.expect(200);
    assert_eq!(
        world.post(OWN, &cookies, &body).await.expect(409),
        "conflict"
    );
}

#[tokio::test]
async fn what_is_not_used_rightly_opens_nothing() {
    let world = World::new().await;
    let mut device = Authenticator::es256();
    world.make(&world.ada, &mut device).await.expect(200);
    for lie in Lie::ALL {
        // Guesses are slowed down; that is another test.
        world.server.clock.advance_ms(16 * 60_000);
        let refused = world.log_in_with(&mut device, lie).await;
        assert_eq!(refused.expect(401), "unauthenticated", "{lie:?}");
        assert!(!refused.headers.contains_key(header::SET_COOKIE), "{lie:?}");
        assert_eq!(refused.json()["error"]["field"], "passkey", "{lie:?}");
    }
    world.server.clock.advance_ms(16 * 60_000);
    // One that nobody has is refused in the same words.
    let unknown = world.log_in(&mut Authenticator::es256()).await;
    let wrong = world.log_in_with(&mut device, Lie::Signature).await;
    assert_eq!(
        (unknown.status, &unknown.json()["error"]["message"]),
        (wrong.status, &wrong.json()["error"]["message"])
    );
    // Longer ids than there are, cut off data, and what is no base64url.
    for (field, value, status) in [
        ("rawId", json!("A".repeat(1366)), 401),
        ("rawId", json!("A".repeat(40_000)), 400),
        ("rawId", json!(null), 400),
        ("signature", json!(""), 401),
        ("signature", json!("%%%"), 400),
        ("authenticatorData", json!(""), 401),
        ("authenticatorData", json!("AAAA"), 401),
        ("clientDataJSON", json!(""), 401),
        ("clientDataJSON", json!("e30"), 401),
        ("userHandle", json!("AAAA"), 401),
    ] {
        world.server.clock.advance_ms(16 * 60_000);
        let (options, cookies) = world.challenge().await;
        let mut credential = device.use_it(&world.origin(), &options, Lie::None);
        let place = if field == "rawId" {
            &mut credential
        } else {
            &mut credential["response"]
        };
        place[field] = value.clone();
        let refused = world
            .post(FINISH, &cookies, &json!({ "credential": credential }))
            .await;
        assert_eq!(
            refused.status.as_u16(),
            status,
            "{field} {value}: {}",
            refused.text
        );
    }
    let noted = world
        .server
        .get("/api/v1/audit?action=session.passkey_failed", &world.ada)
        .await
        .json();
    assert!(
        noted["entries"]
            .as_array()
            .unwrap()
            .iter()
            .any(|entry| entry["action"] == "session.passkey_failed")
    );
}

#[tokio::test]
async fn an_answer_is_good_once_and_in_its_browser() {
    let world = World::new().await;
    let mut device = Authenticator::es256();
    world.make(&world.ada, &mut device).await.expect(200);
    let (options, cookies) = world.challenge().await;
    let credential = device.use_it(&world.origin(), &options, Lie::None);
    let body = json!({ "credential": credential });
    // Another browser has another challenge, or none.
    let (_, others) = world.challenge().await;
    assert_eq!(
        world.post(FINISH, &others, &body).await.expect(401),
        "unauthenticated"
    );
    world.post(FINISH, "", &body).await.expect(401);
    world
        .post(FINISH, "glasshouse_passkey=AAAA", &body)
        .await
        .expect(401);
    // A challenge for making one is none for signing in.
    let (_, making) = world.begin(&world.ada, PASSWORD).await;
    world
        .post(FINISH, making.split("; ").nth(1).unwrap(), &body)
        .await
        .expect(401);
    // Of many at once one is let in.
    let all = (0..4).map(|_| world.post(FINISH, &cookies, &body));
    let all = futures_util::future::join_all(all).await;
    assert_eq!(all.iter().filter(|answer| answer.status == 200).count(), 1);
    world.post(FINISH, &cookies, &body).await.expect(401);
    assert_eq!(world.list().await[0]["copied"], false);
    // And not too late.
    world.server.clock.advance_ms(16 * 60_000);
    let (options, cookies) = world.challenge().await;
    let late = json!({ "credential": device.use_it(&world.origin(), &options, Lie::None) });
    world.server.clock.advance_ms(5 * 60_000);
    assert_eq!(
        world.post(FINISH, &cookies, &late).await.expect(401),
        "unauthenticated"
    );
}

#[tokio::test]
async fn two_of_one_passkey_are_noticed() {
    let world = World::new().await;
    let mut device = Authenticator::es256();
    world.make(&world.ada, &mut device).await.expect(200);
    world.log_in(&mut device).await.expect(200);
    let mut copy = device.copy();
    world.log_in(&mut device).await.expect(200);
    let refused = world.log_in(&mut copy).await;
    assert_eq!(refused.expect(401), "unauthenticated");
    assert!(
        refused.text.contains("two copies of this passkey"),
        "{}",
        refused.text
    );
    assert_eq!(world.list().await[0]["copied"], true);
    // Nobody can tell which one is the owner's.
    world.log_in(&mut device).await.expect(401);
    let noted = world.server.get("/api/v1/audit", &world.ada).await.json();
    let line = noted["entries"].as_array().unwrap().iter();
    assert_eq!(
        line.filter(|entry| entry["action"] == "session.passkey_copied")
            .count(),
        2
    );
    // Many authenticators do not count.
    let mut uncounted = Authenticator::es256().uncounted();
    world.make(&world.ada, &mut uncounted).await.expect(200);
    world.log_in(&mut uncounted.copy()).await.expect(200);
    world.log_in(&mut uncounted).await.expect(200);
}

#[tokio::test]
async fn somebody_elses_passkey_does_not_pass_for_ones_own() {
    let world = World::new().await;
    let body =
        json!({"email": "bob@example.org", "name": "Bob", "password": PASSWORD, "role": "user"});
    world
        .server
        .post("/api/v1/users", &world.ada, &body)
        .await
        .expect(200);
    let log_in = json!({"email": "bob@example.org", "password": PASSWORD});
    let bob = world
        .server
        .post("/api/v1/login", "", &log_in)
        .await
        .cookie();
    let (mut adas, mut bobs) = (Authenticator::es256(), Authenticator::es256());
    world.make(&world.ada, &mut adas).await.expect(200);
    world.make(&bob, &mut bobs).await.expect(200);
    // With the other one's id, and with the other one's name.
    let mut forged = bobs.copy();
    forged.id.clone_from(&adas.id);
    world.log_in(&mut forged).await.expect(401);
    let mut named = bobs.copy();
    named.user.clone_from(&adas.user);
    world.log_in(&mut named).await.expect(401);
    assert_eq!(
        world.log_in(&mut bobs).await.json()["user"]["email"],
        "bob@example.org"
    );
    // A known id cannot be made somebody else's.
    let mut taken = Authenticator::es256();
    taken.id.clone_from(&adas.id);
    assert_eq!(world.make(&bob, &mut taken).await.expect(409), "conflict");
    assert_eq!(world.log_in(&mut adas).await.json()["user"]["email"], EMAIL);
    let own = world.list().await[0]["id"].as_str().unwrap().to_owned();
    world
        .ask(Method::DELETE, &format!("{OWN}/{own}"), &bob, None)
        .await
        .expect(404);
}

#[tokio::test]
async fn a_passkey_is_taken_away_by_its_owner_and_by_administrators() {
    let world = World::new().await;
    let mut device = Authenticator::es256();
    world.make(&world.ada, &mut device).await.expect(200);
    let own = world.list().await[0]["id"].as_str().unwrap().to_owned();
    world
        .ask(Method::DELETE, &format!("{OWN}/{own}"), &world.ada, None)
        .await
        .expect(204);
    world
        .ask(Method::DELETE, &format!("{OWN}/{own}"), &world.ada, None)
        .await
        .expect(404);
    world.log_in(&mut device).await.expect(401);

    let body =
        json!({"email": "bob@example.org", "name": "Bob", "password": PASSWORD, "role": "user"});
    let bob = world
        .server
        .post("/api/v1/users", &world.ada, &body)
        .await
        .json();
    let path = format!("/api/v1/users/{}", bob["id"].as_str().unwrap());
    let log_in = json!({"email": "bob@example.org", "password": PASSWORD});
    let his = world
        .server
        .post("/api/v1/login", "", &log_in)
        .await
        .cookie();
    let mut bobs = Authenticator::ed_dsa();
    world.make(&his, &mut bobs).await.expect(200);
    let entered = world.log_in(&mut bobs).await.cookie();
    let people = world.server.get("/api/v1/users", &world.ada).await.json();
    let is_his = |person: &&Value| person["email"] == "bob@example.org";
    assert_eq!(
        people["users"]
            .as_array()
            .unwrap()
            .iter()
            .find(is_his)
            .unwrap()["passkeys"],
        true
    );
    // The suspended are not let in, and are told so.
    let change = async |suspended: bool| {
        let body = json!({ "suspended": suspended });
        world
            .ask(Method::PATCH, &path, &world.ada, Some(&body))
            .await
            .expect(200);
    };
    change(true).await;
    world
        .server
        .get("/api/v1/chats", &entered)
        .await
        .expect(401);
    assert_eq!(world.log_in(&mut bobs).await.expect(403), "forbidden");
    change(false).await;
    let entered = world.log_in(&mut bobs).await.cookie();
    world
        .ask(Method::DELETE, &format!("{path}/passkeys"), &entered, None)
        .await
        .expect(403);
    world
        .ask(
            Method::DELETE,
            &format!("{path}/passkeys"),
            &world.ada,
            None,
        )
        .await
        .expect(204);
    world
        .ask(
            Method::DELETE,
            &format!("{path}/passkeys"),
            &world.ada,
            None,
        )
        .await
        .expect(404);
    world
        .server
        .get("/api/v1/chats", &entered)
        .await
        .expect(401);
    world.log_in(&mut bobs).await.expect(401);
}

#[tokio::test]
async fn guesses_are_slowed_down() {
    let world = World::new().await;
    let mut device = Authenticator::es256();
    world.make(&world.ada, &mut device).await.expect(200);
    for _ in 0..5 {
        world
            .log_in_with(&mut device, Lie::Signature)
            .await
            .expect(401);
    }
    let slowed = world.log_in_with(&mut device, Lie::Signature).await;
    assert_eq!(slowed.expect(429), "rate_limited");
    assert!(slowed.headers.contains_key(header::RETRY_AFTER));
    // It is that passkey's guesses that wait.
    let mut other = Authenticator::es256();
    world.make(&world.ada, &mut other).await.expect(200);
    world.log_in(&mut other).await.expect(200);
}

/// Who has turned two-step sign-in on has shown two things with a passkey already.
#[tokio::test]
async fn no_code_is_asked_for_after_a_passkey() {
    let world = World::new().await;
    let mut device = Authenticator::es256();
    world.make(&world.ada, &mut device).await.expect(200);
    let me = world.server.get("/api/v1/me", &world.ada).await.json();
    let owner = me["user"]["id"].as_str().unwrap().parse().unwrap();
    let sessions = world
        .server
        .get("/api/v1/me/sessions", &world.ada)
        .await
        .json();
    let session = sessions["sessions"][0]["id"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    let store = &world.server.app.store;
    store.begin_second_factor(owner, &[1]).await.unwrap();
    store
        .confirm_second_factor(owner, &[1], 1, &[], session, world.server.clock.now_ms())
        .await
        .unwrap();
    let log_in = json!({"email": EMAIL, "password": PASSWORD});
    let asked = world.server.post("/api/v1/login", "", &log_in).await;
    assert_eq!(asked.json(), json!({"code_needed": true}));
    let entered = world.log_in(&mut device).await;
    assert_eq!(entered.json()["user"]["email"], EMAIL);
    world
        .server
        .get("/api/v1/chats", &cookie(&entered, "glasshouse_session"))
        .await
        .expect(200);
}
