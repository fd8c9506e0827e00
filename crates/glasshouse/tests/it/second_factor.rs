//! A code of an app beside the password: turned on, asked for, used once, and lost.

use reqwest::{Method, header};
use ring::hmac;
use serde_json::{Value, json};

use crate::harness::{Answer, EMAIL, PASSWORD, Server};

const STEP_MS: i64 = 30_000;
const OWN: &str = "/api/v1/me/second-factor";

/// An app as people have it on their phones, written a second time on purpose.
pub(crate) struct Phone(Vec<u8>);

impl Phone {
    fn new(base32: &str) -> Self {
        let bits: String = base32
            .chars()
            .map(|sign| {
                format!(
                    "{:05b}",
                    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".find(sign).unwrap()
                )
            })
            .collect();
        let bytes = bits
            .as_bytes()
            .chunks(8)
            .map(|byte| std::str::from_utf8(byte).unwrap());
        Self(
            bytes
                .map(|byte| u8::from_str_radix(byte, 2).unwrap())
                .collect(),
        )
    }

    pub(crate) fn code(&self, at_ms: i64) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &self.0);
        let tag = hmac::sign(&key, &(at_ms / STEP_MS).to_be_bytes());
        let tag = tag.as_ref();
        let at = usize::from(tag[19] & 0xf);
        let number = u32::from_be_bytes(tag[at..at + 4].try_into().unwrap()) & 0x7fff_ffff;
        format!("{:06}", number % 1_000_000)
    }

    /// A code that is none of those around this time.
    fn wrong_code(&self, at_ms: i64) -> String {
        let near: Vec<_> = (-2..=2)
            .map(|step| self.code(at_ms + step * STEP_MS))
            .collect();
        (0..9)
            .map(|n| format!("00000{n}"))
            .find(|code| !near.contains(code))
            .unwrap()
    }
}

impl Server {
    fn next_step(&self) {
        self.clock.advance_ms(STEP_MS);
    }

    async fn first_step(&self, email: &str, password: &str) -> Answer {
        self.post(
            "/api/v1/login",
            "",
            &json!({ "email": email, "password": password }),
        )
        .await
    }

    /// Shows the password; what the browser keeps for the second step.
    async fn ticket(&self) -> String {
        let answer = self.first_step(EMAIL, PASSWORD).await;
        answer.expect(200);
        assert_eq!(answer.json(), json!({ "code_needed": true }));
        answer.cookie()
    }

    async fn second_step(&self, ticket: &str, code: &str) -> Answer {
        self.post("/api/v1/login/code", ticket, &json!({ "code": code }))
            .await
    }

    async fn delete_with(&self, path: &str, credential: &str, body: &Value) -> Answer {
        Answer::of(self.request(Method::DELETE, path, credential).json(body)).await
    }

    /// Turns it on for whoever has this cookie, a step of time before now; the phone and the recovery codes.
    pub(crate) async fn turn_on(&self, cookie: &str, password: &str) -> (Phone, Vec<String>) {
        let begun = self
            .post(OWN, cookie, &json!({ "current": password }))
            .await;
        begun.expect(200);
        let phone = Phone::new(begun.json()["secret"].as_str().unwrap());
        let code = phone.code(self.clock.now_ms());
        let confirmed = self
            .post(&format!("{OWN}/confirm"), cookie, &json!({ "code": code }))
            .await;
        confirmed.expect(200);
        let codes = confirmed.json()["recovery_codes"]
            .as_array()
            .unwrap()
            .clone();
        self.next_step();
        (
            phone,
            codes
                .iter()
                .map(|code| code.as_str().unwrap().to_owned())
                .collect(),
        )
    }
}

/// All cookies that an answer sets, by name.
fn set_cookies(answer: &Answer) -> Vec<String> {
    let lines = answer
        .headers
        .get_all(header::SET_COOKIE)
        .iter()
        .map(|line| line.to_str().unwrap());
    lines
        .map(|line| line.split('=').next().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn it_is_on_once_a_code_was_shown() {
    let (server, ada) = Server::start_signed_in().await;
    let off = json!({"is_on": false, "since": null, "recovery_codes": 0, "has_password": true});
    assert_eq!(server.get(OWN, &ada).await.json(), off);
    server
        .post(OWN, &ada, &json!({"current": "not it"}))
        .await
        .expect(400);
    let confirm = async |code: &str| {
        server
            .post(&format!("{OWN}/confirm"), &ada, &json!({ "code": code }))
            .await
    };
    assert_eq!(confirm("123456").await.expect(409), "conflict");

    let first = server
        .post(OWN, &ada, &json!({ "current": PASSWORD }))
        .await
        .json();
    let begun = server
        .post(OWN, &ada, &json!({ "current": PASSWORD }))
        .await
        .json();
    let secret = begun["secret"].as_str().unwrap();
    assert_ne!(first["secret"], begun["secret"]);
    assert_eq!(secret.len(), 32);
    assert_eq!(
        begun["address"],
        format!(
            "otpauth://totp/Glasshouse%20127.0.0.1%3A{port}:ada%40example.org?secret={secret}\
             &issuer=Glasshouse%20127.0.0.1%3A{port}",
            port = server.address.port()
        )
    );
    assert!(begun["qr"]["size"].as_u64().unwrap() > 20);
    assert!(
        begun["qr"]["path"]
            .as_str()
            .unwrap()
            .starts_with("M0 0h7v1h-7z"),
        "the corner of a QR code"
    );
    // Nothing is asked for yet.
    server.first_step(EMAIL, PASSWORD).await.expect(200);
    assert_eq!(server.get(OWN, &ada).await.json(), off);

    let (old, phone) = (
        Phone::new(first["secret"].as_str().unwrap()),
        Phone::new(secret),
    );
    let now = server.clock.now_ms();
    for wrong in [
        phone.wrong_code(now),
        old.code(now),
        phone.code(now - 2 * STEP_MS),
        String::new(),
    ] {
        let refused = confirm(&wrong).await;
        refused.expect(400);
        assert_eq!(refused.json()["error"]["field"], "code");
    }
    let elsewhere = server.first_step(EMAIL, PASSWORD).await.cookie();
    let confirmed = confirm(&phone.code(now)).await;
    confirmed.expect(200);
    let codes = confirmed.json()["recovery_codes"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(codes.len(), 10);
    server.get("/api/v1/chats", &ada).await.expect(200);
    server.get("/api/v1/chats", &elsewhere).await.expect(401);
    assert_eq!(
        server.get(OWN, &ada).await.json(),
        json!({"is_on": true, "since": now, "recovery_codes": 10, "has_password": true})
    );
    confirm(&phone.code(now)).await.expect(409);
    server
        .post(OWN, &ada, &json!({ "current": PASSWORD }))
        .await
        .expect(409);
    // The code that has turned it on is used up.
    let ticket = server.ticket().await;
    server
        .second_step(&ticket, &phone.code(now))
        .await
        .expect(401);
}

#[tokio::test]
async fn the_password_alone_opens_nothing() {
    let (server, ada) = Server::start_signed_in().await;
    let (phone, _) = server.turn_on(&ada, PASSWORD).await;
    // Wrong passwords are answered as those of nobody.
    let (wrong, nobody) = (
        server.first_step(EMAIL, "not it").await,
        server.first_step("nobody@example.org", "not it").await,
    );
    let words = |answer: &Answer| {
        let error = &answer.json()["error"];
        (
            answer.status,
            error["code"].clone(),
            error["message"].clone(),
            set_cookies(answer),
        )
    };
    assert_eq!(words(&wrong), words(&nobody));

    let first = server.first_step(EMAIL, PASSWORD).await;
    assert_eq!(set_cookies(&first), ["glasshouse_second_step"]);
    let line = first.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(
        line.contains("HttpOnly") && line.contains("Path=/api/v1/login;"),
        "{line}"
    );
    let ticket = first.cookie();
    let value = ticket.split_once('=').unwrap().1;
    for credential in [&ticket, &format!("glasshouse_session={value}")] {
        server.get("/api/v1/chats", credential).await.expect(401);
        assert_eq!(
            server.get("/api/v1/me", credential).await.json()["user"],
            Value::Null
        );
    }

    let code = phone.code(server.clock.now_ms());
    for forged in [
        "",
        "glasshouse_second_step=",
        "glasshouse_second_step=AAAA",
        &ticket[..ticket.len() - 3],
    ] {
        let refused = server.second_step(forged, &code).await;
        assert_eq!(refused.expect(401), "unauthenticated");
        assert_eq!(refused.json()["error"]["field"], Value::Null);
    }
    let refused = server
        .second_step(&ticket, &phone.wrong_code(server.clock.now_ms()))
        .await;
    refused.expect(401);
    assert_eq!(refused.json()["error"]["field"], "code");
    assert!(set_cookies(&refused).is_empty());
    server.second_step(&ticket, "12345").await.expect(401);

    let entered = server.second_step(&ticket, &code).await;
    entered.expect(200);
    assert_eq!(entered.json()["user"]["email"], EMAIL);
    assert_eq!(
        set_cookies(&entered),
        [
            "glasshouse_session",
            "glasshouse_second_step",
            "glasshouse_device"
        ]
    );
    server
        .get("/api/v1/chats", &entered.cookie())
        .await
        .expect(200);
}

#[tokio::test]
async fn a_code_is_good_once_and_for_a_minute_and_a_half() {
    let (server, ada) = Server::start_signed_in().await;
    let (phone, _) = server.turn_on(&ada, PASSWORD).await;
    let enter = async |code: &str| {
        server
            .second_step(&server.ticket().await, code)
            .await
            .status
            .as_u16()
    };
    // Counted as wrong ones, these would slow the others down.
    let now = server.clock.now_ms();
    let code = phone.code(now);
    let (ticket, other) = (server.ticket().await, server.ticket().await);
    let both = tokio::join!(
        server.second_step(&ticket, &code),
        server.second_step(&other, &code)
    );
    let mut both = [both.0.status.as_u16(), both.1.status.as_u16()];
    both.sort_unstable();
    assert_eq!(both, [200, 401], "of two at once one is let in");
    assert_eq!(enter(&code).await, 401);
    // The phone may be half a minute ahead; what it showed before that is over then.
    assert_eq!(enter(&phone.code(now + STEP_MS)).await, 200);
    server.next_step();
    assert_eq!(enter(&phone.code(now + STEP_MS)).await, 401);
    assert_eq!(enter(&code).await, 401);
    // Or behind.
    server.clock.advance_ms(3 * STEP_MS);
    let now = server.clock.now_ms();
    assert_eq!(enter(&phone.code(now - 2 * STEP_MS)).await, 401);
    assert_eq!(enter(&phone.code(now - STEP_MS)).await, 200);
    assert_eq!(enter(&phone.code(now)).await, 200);
}

#[tokio::test]
async fn a_first_step_is_good_for_five_minutes_and_one_password() {
    let (server, ada) = Server::start_signed_in().await;
    let (phone, _) = server.turn_on(&ada, PASSWORD).await;
    let ticket = server.ticket().await;
    server.clock.advance_ms(5 * 60_000);
    server
        .second_step(&ticket, &phone.code(server.clock.now_ms()))
        .await
        .expect(401);
    let ticket = server.ticket().await;
    server.clock.advance_ms(5 * 60_000 - 1);
    server
        .second_step(&ticket, &phone.code(server.clock.now_ms()))
        .await
        .expect(200);

    // Whoever changes a stolen password shuts out the thief between the steps.
    server.next_step();
    let ticket = server.ticket().await;
    let change = json!({"current": PASSWORD, "new": "another password"});
    server
        .put("/api/v1/me/password", &ada, &change)
        .await
        .expect(204);
    server
        .second_step(&ticket, &phone.code(server.clock.now_ms()))
        .await
        .expect(401);
}

#[tokio::test]
async fn recovery_codes_are_good_once_each() {
    let (server, ada) = Server::start_signed_in().await;
    let (_, codes) = server.turn_on(&ada, PASSWORD).await;
    let enter = async |code: &str| {
        server
            .second_step(&server.ticket().await, code)
            .await
            .status
            .as_u16()
    };
    let left = async || server.get(OWN, &ada).await.json()["recovery_codes"].clone();
    assert_eq!(enter(&codes[0]).await, 200);
    assert_eq!(enter(&codes[0]).await, 401);
    assert_eq!(enter(&codes[1].replace('-', " ").to_uppercase()).await, 200);
    assert_eq!(left().await, 8);
    let ticket = server.ticket().await;
    let both = tokio::join!(
        server.second_step(&ticket, &codes[2]),
        server.second_step(&ticket, &codes[2])
    );
    assert_ne!(both.0.status, both.1.status, "of two at once one is let in");

    let path = format!("{OWN}/recovery-codes");
    server
        .post(&path, &ada, &json!({"current": "not it"}))
        .await
        .expect(400);
    let renewed = server
        .post(&path, &ada, &json!({ "current": PASSWORD }))
        .await;
    renewed.expect(200);
    assert_eq!(left().await, 10);
    assert_eq!(enter(&codes[3]).await, 401);
    assert_eq!(
        enter(renewed.json()["recovery_codes"][0].as_str().unwrap()).await,
        200
    );
}

#[tokio::test]
async fn guesses_are_slowed_down_but_the_owner_gets_in() {
    let (server, ada) = Server::start_with(&[("GLASSHOUSE_TRUSTED_PROXIES", "127.0.0.1")])
        .await
        .with_ada()
        .await;
    let (phone, codes) = server.turn_on(&ada, PASSWORD).await;
    let wrong = phone.wrong_code(server.clock.now_ms());
    let ticket = server.ticket().await;
    let try_from = async |address: String, code: &str| {
        let request = server.request(Method::POST, "/api/v1/login/code", &ticket);
        let request = request
            .header("x-forwarded-for", address)
            .json(&json!({ "code": code }));
        Answer::of(request).await
    };
    for n in 0..6 {
        let refused = try_from("10.0.0.1".to_owned(), &wrong).await;
        refused.expect(if n < 5 { 401 } else { 429 });
        assert_eq!(refused.headers.contains_key("retry-after"), n >= 5);
    }
    // Elsewhere the owner is let in, and that takes nothing of the guesses back.
    try_from("10.0.0.2".to_owned(), &phone.code(server.clock.now_ms()))
        .await
        .expect(200);
    try_from("10.0.0.1".to_owned(), &wrong).await.expect(429);
    // Many addresses together are slowed down too.
    for n in 5..20 {
        try_from(format!("10.0.1.{n}"), &wrong).await.expect(401);
    }
    server.next_step();
    try_from("10.0.2.1".to_owned(), &wrong).await.expect(401);
    let now = server.clock.now_ms();
    try_from("10.0.2.2".to_owned(), &phone.code(now))
        .await
        .expect(429);
    // The owner still gets in by a recovery code, and changing the password ends the guessing.
    try_from("10.0.2.2".to_owned(), &codes[0]).await.expect(200);
    let change = json!({"current": PASSWORD, "new": "another password"});
    server
        .put("/api/v1/me/password", &ada, &change)
        .await
        .expect(204);
    server.clock.advance_ms(60 * 60_000);
    try_from("10.0.2.2".to_owned(), &phone.code(server.clock.now_ms()))
        .await
        .expect(401);
}

impl Server {
    async fn with_ada(self) -> (Self, String) {
        let ada = self.set_up().await;
        (self, ada)
    }
}

#[tokio::test]
async fn it_is_turned_off_with_the_password() {
    let (server, ada) = Server::start_signed_in().await;
    let off = async |password: &str| {
        server
            .delete_with(OWN, &ada, &json!({ "current": password }))
            .await
    };
    off(PASSWORD).await.expect(409);
    server.turn_on(&ada, PASSWORD).await;
    off("not it").await.expect(400);
    let ticket = server.ticket().await;
    off(PASSWORD).await.expect(204);
    // One that was begun before has to be begun again.
    server.second_step(&ticket, "123456").await.expect(401);
    let entered = server.first_step(EMAIL, PASSWORD).await;
    assert_eq!(
        set_cookies(&entered),
        ["glasshouse_session", "glasshouse_device"]
    );
    let left = server
        .post(
            &format!("{OWN}/recovery-codes"),
            &ada,
            &json!({ "current": PASSWORD }),
        )
        .await;
    left.expect(409);
}

#[tokio::test]
async fn a_link_to_a_new_password_does_not_go_around_it() {
    let (server, ada) = Server::start_signed_in().await;
    let id = server.get("/api/v1/me", &ada).await.json()["user"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let (phone, _) = server.turn_on(&ada, PASSWORD).await;
    let link = server
        .post(
            &format!("/api/v1/users/{id}/password-reset"),
            &ada,
            &Value::Null,
        )
        .await
        .json();
    let token = link["path"]
        .as_str()
        .unwrap()
        .strip_prefix("/reset#")
        .unwrap()
        .to_owned();
    let body = json!({"token": token, "password": "new password"});
    let reset = server.post("/api/v1/password-reset", "", &body).await;
    reset.expect(204);
    assert_eq!(
        set_cookies(&reset),
        ["glasshouse_device"],
        "which opens nothing"
    );
    let first = server.first_step(EMAIL, "new password").await;
    assert_eq!(first.json(), json!({ "code_needed": true }));
    server
        .second_step(&first.cookie(), &phone.code(server.clock.now_ms()))
        .await
        .expect(200);
}

#[tokio::test]
async fn keys_are_not_asked_for_a_code() {
    let (server, ada) = Server::start_signed_in().await;
    let key = server
        .post("/api/v1/keys", &ada, &json!({"name": "k"}))
        .await
        .json();
    let key = key["secret"].as_str().unwrap().to_owned();
    let (phone, _) = server.turn_on(&ada, PASSWORD).await;
    server.get("/api/v1/chats", &key).await.expect(200);
    assert_eq!(server.get(OWN, &key).await.json()["is_on"], true);
    // What the sign-in asks for is changed by a person, not by a program.
    let code = phone.code(server.clock.now_ms());
    server
        .post(OWN, &key, &json!({ "current": PASSWORD }))
        .await
        .expect(400);
    server
        .post(&format!("{OWN}/confirm"), &key, &json!({ "code": code }))
        .await
        .expect(400);
    server
        .post(
            &format!("{OWN}/recovery-codes"),
            &key,
            &json!({ "current": PASSWORD }),
        )
        .await
        .expect(400);
    server
        .delete_with(OWN, &key, &json!({ "current": PASSWORD }))
        .await
        .expect(400);
}

#[tokio::test]
async fn an_administrator_helps_whoever_has_lost_it() {
    let (server, ada) = Server::start_signed_in().await;
    let bob =
        json!({"email": "bob@example.org", "name": "Bob", "password": PASSWORD, "role": "user"});
    let made = server.post("/api/v1/users", &ada, &bob).await.json();
    assert_eq!(made["second_factor"], false);
    let path = format!(
        "/api/v1/users/{}/second-factor",
        made["id"].as_str().unwrap()
    );
    let bob = server
        .first_step("bob@example.org", PASSWORD)
        .await
        .cookie();
    server.delete(&path, &ada).await.expect(404);
    server.turn_on(&bob, PASSWORD).await;
    server.turn_on(&ada, PASSWORD).await;
    let listed = server.get("/api/v1/users", &ada).await.json();
    let with: Vec<_> = listed["users"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["second_factor"])
        .collect();
    assert_eq!(with, [true, true]);

    server.delete(&path, &bob).await.expect(403);
    let me = server.get("/api/v1/me", &ada).await.json()["user"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    server
        .delete(&format!("/api/v1/users/{me}/second-factor"), &ada)
        .await
        .expect(409);
    server.delete(&path, &ada).await.expect(204);
    server.get("/api/v1/chats", &bob).await.expect(401);
    server.get("/api/v1/chats", &ada).await.expect(200);
    let entered = server.first_step("bob@example.org", PASSWORD).await;
    assert_eq!(
        set_cookies(&entered),
        ["glasshouse_session", "glasshouse_device"]
    );
}

#[tokio::test]
async fn the_suspended_are_not_let_in_by_a_code() {
    let (server, ada) = Server::start_signed_in().await;
    let bob =
        json!({"email": "bob@example.org", "name": "Bob", "password": PASSWORD, "role": "user"});
    let made = server.post("/api/v1/users", &ada, &bob).await.json();
    let bob = server
        .first_step("bob@example.org", PASSWORD)
        .await
        .cookie();
    let (phone, _) = server.turn_on(&bob, PASSWORD).await;
    let ticket = server
        .first_step("bob@example.org", PASSWORD)
        .await
        .cookie();
    let path = format!("/api/v1/users/{}", made["id"].as_str().unwrap());
    let suspend = server
        .request(Method::PATCH, &path, &ada)
        .json(&json!({"suspended": true}));
    Answer::of(suspend).await.expect(200);
    let refused = server
        .second_step(&ticket, &phone.code(server.clock.now_ms()))
        .await;
    assert_eq!(refused.expect(403), "forbidden");
    assert!(set_cookies(&refused).is_empty());
}

#[tokio::test]
async fn what_becomes_of_it_is_noted() {
    let (server, ada) = Server::start_signed_in().await;
    let (phone, codes) = server.turn_on(&ada, PASSWORD).await;
    let ticket = server.ticket().await;
    server
        .second_step(&ticket, &phone.wrong_code(server.clock.now_ms()))
        .await
        .expect(401);
    server.second_step(&ticket, &codes[0]).await.expect(200);
    server
        .delete_with(OWN, &ada, &json!({ "current": PASSWORD }))
        .await
        .expect(204);
    let listed = server.get("/api/v1/audit", &ada).await;
    let entries = listed.json()["entries"].as_array().unwrap().clone();
    let lines: Vec<_> = entries
        .iter()
        .rev()
        .map(|it| (it["action"].as_str().unwrap(), it["actor_email"].clone()))
        .collect();
    let by_ada = |action| (action, json!(EMAIL));
    let expected = [
        by_ada("user.set_up"),
        by_ada("second_factor.begin"),
        by_ada("second_factor.on"),
        by_ada("session.first_step"),
        ("session.code_failed", Value::Null),
        by_ada("session.open"),
        by_ada("second_factor.off"),
    ];
    assert_eq!(lines, expected);
    assert_eq!(entries[1]["details"], json!({"with": "recovery code"}));
    assert_eq!(entries[2]["subject_name"], EMAIL);
    assert!(!listed.text.contains(&codes[0]));
}

/// Neither the secret nor a recovery code can be read in the database.
#[tokio::test]
async fn what_is_stored_gives_nothing_away() {
    let dir = crate::harness::new_folder();
    let url = format!("sqlite://{}", dir.join("it.db").display());
    let (server, ada) = Server::start_with(&[("GLASSHOUSE_DATABASE_URL", &url)])
        .await
        .with_ada()
        .await;
    let begun = server
        .post(OWN, &ada, &json!({ "current": PASSWORD }))
        .await
        .json();
    let secret = begun["secret"].as_str().unwrap().to_owned();
    let phone = Phone::new(&secret);
    let code = phone.code(server.clock.now_ms());
    let confirmed = server
        .post(&format!("{OWN}/confirm"), &ada, &json!({ "code": code }))
        .await
        .json();
    let mut stored = Vec::new();
    for file in std::fs::read_dir(&dir).unwrap() {
        stored.extend(std::fs::read(file.unwrap().path()).unwrap());
    }
    let has = |needle: &[u8]| stored.windows(needle.len()).any(|part| part == needle);
    assert!(has(EMAIL.as_bytes()), "the right files are read");
    assert!(!has(secret.as_bytes()) && !has(&phone.0));
    for code in confirmed["recovery_codes"].as_array().unwrap() {
        let shown = code.as_str().unwrap();
        let bare = shown.replace('-', "");
        assert!(
            !has(shown.as_bytes()) && !has(bare.as_bytes()) && !has(bare.to_uppercase().as_bytes())
        );
    }
    drop(server);
    let _ = std::fs::remove_dir_all(dir);
}
