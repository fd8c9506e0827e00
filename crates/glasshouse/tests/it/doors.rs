//! How people get in without an administrator at their side: new passwords by a link, invitations, open sign-up, and
//! passwords that came from another program.

use serde_json::{Value, json};

use crate::harness::{Answer, EMAIL, PASSWORD, Server};

pub(crate) const BOB: &str = "bob@example.org";
pub(crate) const HOUR_MS: i64 = 3_600_000;
pub(crate) const BOBS: &str = "battery staple";

impl Server {
    pub(crate) async fn mode(&self, admin: &str, mode: &str) -> Answer {
        self.put("/api/v1/settings/sign-up", admin, &json!({ "mode": mode }))
            .await
    }

    pub(crate) async fn sign_up(&self, email: &str, token: Option<&str>) -> Answer {
        let body = json!({"email": email, "name": "Bob", "password": BOBS, "token": token, "role": "admin"});
        self.post("/api/v1/sign-up", "", &body).await
    }

    pub(crate) async fn enter(&self, email: &str, password: &str) -> Answer {
        self.post(
            "/api/v1/login",
            "",
            &json!({ "email": email, "password": password }),
        )
        .await
    }

    /// Makes an invitation; the secret of its link, and its id.
    pub(crate) async fn invite(&self, admin: &str, body: Value) -> (String, String) {
        let made = self.post("/api/v1/invitations", admin, &body).await;
        made.expect(200);
        let made = made.json();
        let token = made["path"]
            .as_str()
            .unwrap()
            .strip_prefix("/sign-up#")
            .unwrap()
            .to_owned();
        (token, made["invitation"]["id"].as_str().unwrap().to_owned())
    }

    pub(crate) async fn bob_by(&self, admin: &str, how: Value) -> Answer {
        let mut body = json!({"email": BOB, "name": "Bob", "role": "user"});
        body.as_object_mut()
            .unwrap()
            .extend(how.as_object().unwrap().clone());
        self.post("/api/v1/users", admin, &body).await
    }
}

#[tokio::test]
async fn a_link_gives_a_new_password_once() {
    let (server, ada) = Server::start_signed_in().await;
    let bob = server
        .bob_by(&ada, json!({"password": "forgotten words"}))
        .await
        .json();
    let bob = bob["id"].as_str().unwrap();
    let old = server.enter(BOB, "forgotten words").await.cookie();
    let path = format!("/api/v1/users/{bob}/password-reset");
    server.post(&path, &old, &Value::Null).await.expect(403);
    let made = server.post(&path, &ada, &Value::Null).await;
    made.expect(200);
    let made = made.json();
    assert_eq!(made["expires_at"], server.clock.now_ms() + 6 * HOUR_MS);
    let token = made["path"]
        .as_str()
        .unwrap()
        .strip_prefix("/reset#")
        .unwrap()
        .to_owned();

    let check = async |token: &str| {
        server
            .post(
                "/api/v1/password-reset/check",
                "",
                &json!({ "token": token }),
            )
            .await
    };
    let reset = async |token: &str, password: &str| {
        let body = json!({ "token": token, "password": password, "user": "x", "email": EMAIL });
        server.post("/api/v1/password-reset", "", &body).await
    };
    assert_eq!(check(&token).await.json(), json!({ "email": BOB }));
    reset(&token, "short").await.expect(400);
    for wrong in ["", "x", &token[1..], &token.to_uppercase(), "' OR 1=1 --"] {
        assert_eq!(reset(wrong, BOBS).await.expect(404), "not_found");
        check(wrong).await.expect(404);
    }
    // Such as another program took for a link that was never made.
    for none in [
        json!({}),
        json!({"token": null}),
        json!({"token": []}),
        json!({"token": {}}),
        json!({"token": 0}),
    ] {
        let mut body = none;
        server
            .post("/api/v1/password-reset/check", "", &body)
            .await
            .expect(400);
        body["password"] = json!(BOBS);
        server
            .post("/api/v1/password-reset", "", &body)
            .await
            .expect(400);
    }
    server.get("/api/v1/chats", &old).await.expect(200);
    reset(&token, BOBS).await.expect(204);
    server.get("/api/v1/chats", &old).await.expect(401);
    server.enter(BOB, "forgotten words").await.expect(401);
    server.enter(BOB, BOBS).await.expect(200);
    reset(&token, "somebody else's").await.expect(404);
    check(&token).await.expect(404);

    // Another link takes the place of the one before, and none is good for long.
    let link = async || server.post(&path, &ada, &Value::Null).await.json()["path"].clone();
    let first = link().await.as_str().unwrap()[7..].to_owned();
    let second = link().await.as_str().unwrap()[7..].to_owned();
    reset(&first, BOBS).await.expect(404);
    server.clock.advance_ms(6 * HOUR_MS - 1);
    check(&second).await.expect(200);
    server.clock.advance_ms(1);
    reset(&second, "another password").await.expect(404);
    server.enter(BOB, BOBS).await.expect(200);
}

#[tokio::test]
async fn a_link_does_not_let_the_suspended_in() {
    let (server, ada) = Server::start_signed_in().await;
    let bob = server
        .bob_by(&ada, json!({ "password": BOBS }))
        .await
        .json();
    let path = format!("/api/v1/users/{}", bob["id"].as_str().unwrap());
    let link = server
        .post(&format!("{path}/password-reset"), &ada, &Value::Null)
        .await
        .json();
    let request = server
        .request(reqwest::Method::PATCH, &path, &ada)
        .json(&json!({"suspended": true}));
    Answer::of(request).await.expect(200);
    let body =
        json!({"token": &link["path"].as_str().unwrap()[7..], "password": "another password"});
    server
        .post("/api/v1/password-reset", "", &body)
        .await
        .expect(204);
    server.enter(BOB, "another password").await.expect(403);
}

#[tokio::test]
async fn nobody_signs_up_unless_they_may() {
    let (server, ada) = Server::start_signed_in().await;
    assert_eq!(
        server.get("/api/v1/settings/sign-up", &ada).await.json(),
        json!({"mode": "closed"})
    );
    assert_eq!(server.sign_up(BOB, None).await.expect(403), "forbidden");
    assert_eq!(
        server.get("/api/v1/me", "").await.json()["sign_up_open"],
        false
    );
    for wrong in ["", "everybody", "Open"] {
        server.mode(&ada, wrong).await.expect(400);
    }

    server.mode(&ada, "open").await.expect(204);
    assert_eq!(
        server.get("/api/v1/me", "").await.json()["sign_up_open"],
        true
    );
    server.sign_up(BOB, None).await.expect(204);
    let bob = server.enter(BOB, BOBS).await;
    assert_eq!(bob.json()["user"]["role"], "user", "whatever was sent");
    server.mode(&bob.cookie(), "open").await.expect(403);
    for (email, name, password) in [
        ("x", "Eve", PASSWORD),
        ("eve@x", "", PASSWORD),
        ("eve@x", "Eve", "short"),
        ("eve@x", "E\0", PASSWORD),
    ] {
        let body = json!({"email": email, "name": name, "password": password});
        server.post("/api/v1/sign-up", "", &body).await.expect(400);
    }

    server.mode(&ada, "invitation").await.expect(204);
    server.sign_up("eve@example.org", None).await.expect(403);
    assert_eq!(
        server.get("/api/v1/me", "").await.json()["sign_up_open"],
        false
    );
}

/// The answer for an address that is taken is that for one that is not, in the same words; nothing of the account changes.
#[tokio::test]
async fn signing_up_does_not_tell_who_has_an_account() {
    let (server, ada) = Server::start_signed_in().await;
    server.mode(&ada, "open").await.expect(204);
    let (taken, new) = (
        server.sign_up(&EMAIL.to_uppercase(), None).await,
        server.sign_up(BOB, None).await,
    );
    let words = |answer: &Answer| {
        let mut headers = answer.headers.clone();
        headers.remove("x-request-id");
        headers.remove("date");
        (answer.status, answer.text.clone(), headers)
    };
    assert_eq!(words(&taken), words(&new));
    taken.expect(204);
    server.enter(EMAIL, BOBS).await.expect(401);
    server.enter(EMAIL, PASSWORD).await.expect(200);
}

/// An invitation is used up by each address that it is tried with, or whoever has one could try them one after another.
#[tokio::test]
async fn an_invitation_does_not_tell_who_has_an_account() {
    let (server, ada) = Server::start_signed_in().await;
    server.mode(&ada, "invitation").await.expect(204);
    for email in [EMAIL, "eve@example.org"] {
        let (token, _) = server.invite(&ada, json!({})).await;
        server.sign_up(email, Some(&token)).await.expect(204);
        server
            .post("/api/v1/sign-up/check", "", &json!({ "token": token }))
            .await
            .expect(404);
        server
            .sign_up("carol@example.org", Some(&token))
            .await
            .expect(404);
    }
    let listed = server.get("/api/v1/invitations", &ada).await.json();
    assert!(
        listed["invitations"]
            .as_array()
            .unwrap()
            .iter()
            .all(|it| it["uses"] == 1),
        "{listed}"
    );
    server.enter(EMAIL, PASSWORD).await.expect(200);
    server.enter("eve@example.org", BOBS).await.expect(200);
}

#[tokio::test]
async fn many_accounts_from_one_address_are_slowed_down() {
    let (server, ada) = Server::start_signed_in().await;
    server.mode(&ada, "open").await.expect(204);
    for n in 0..5 {
        server
            .sign_up(BOB, None)
            .await
            .expect(if n < 5 { 204 } else { 429 });
    }
    let refused = server.sign_up(BOB, None).await;
    assert_eq!(refused.expect(429), "rate_limited");
    assert!(refused.headers.contains_key("retry-after"));
    for n in 0..45 {
        server
            .sign_up(&format!("{n}@example.org"), None)
            .await
            .expect(204);
    }
    server
        .sign_up("another@example.org", None)
        .await
        .expect(429);
}

#[tokio::test]
async fn invitations_are_good_for_whom_and_as_often_as_they_say() {
    let (server, ada) = Server::start_signed_in().await;
    let (early, _) = server.invite(&ada, json!({"uses": 2})).await;
    server.sign_up(BOB, Some(&early)).await.expect(403);
    let check = async |token: &str| {
        server
            .post("/api/v1/sign-up/check", "", &json!({ "token": token }))
            .await
    };
    check(&early).await.expect(404);
    server.mode(&ada, "invitation").await.expect(204);
    assert_eq!(check(&early).await.json(), json!({ "email": null }));
    server.sign_up(BOB, Some(&early)).await.expect(204);
    server
        .sign_up("eve@example.org", Some(&early))
        .await
        .expect(204);
    assert_eq!(
        server
            .sign_up("mallory@example.org", Some(&early))
            .await
            .expect(404),
        "not_found"
    );

    let (only, id) = server
        .invite(&ada, json!({"email": "Carol@example.org", "days": 1}))
        .await;
    assert_eq!(check(&only).await.json()["email"], "Carol@example.org");
    server
        .sign_up("mallory@example.org", Some(&only))
        .await
        .expect(404);
    server
        .sign_up("carol@example.org", Some(&only))
        .await
        .expect(204);
    server
        .sign_up("mallory@example.org", Some(""))
        .await
        .expect(404);

    let listed = server.get("/api/v1/invitations", &ada).await;
    let shown: Vec<Value> = listed.json()["invitations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["uses"].clone())
        .collect();
    assert_eq!(shown, [1, 2], "{}", listed.text);
    assert!(!listed.text.contains(&only) && !listed.text.contains(&early));
    server
        .delete(&format!("/api/v1/invitations/{id}"), &ada)
        .await
        .expect(204);
    server
        .delete(&format!("/api/v1/invitations/{id}"), &ada)
        .await
        .expect(404);

    let (late, _) = server.invite(&ada, json!({"days": 1})).await;
    server.clock.advance_ms(24 * HOUR_MS);
    server
        .sign_up("late@example.org", Some(&late))
        .await
        .expect(404);
    let ada = server.enter(EMAIL, PASSWORD).await.cookie();
    for wrong in [
        json!({"email": "nobody"}),
        json!({"uses": 0}),
        json!({"uses": 1001}),
        json!({"days": -1}),
        json!({"days": 9_223_372_036_854_775_807_i64}),
        json!({"email": BOB, "uses": 2}),
    ] {
        server
            .post("/api/v1/invitations", &ada, &wrong)
            .await
            .expect(400);
    }
}

#[tokio::test]
async fn a_password_of_another_program_becomes_one_of_ours() {
    let (server, ada) = Server::start_signed_in().await;
    let theirs = bcrypt::hash(BOBS, 4).unwrap();
    for wrong in [
        json!({"password_hash": theirs.replacen("$04$", "$31$", 1)}),
        json!({"password_hash": "$2b$"}),
        json!({"password_hash": ""}),
        json!({"password_hash": BOBS}),
        json!({"password_hash": theirs, "password": BOBS}),
        json!({}),
    ] {
        server.bob_by(&ada, wrong).await.expect(400);
    }
    server
        .bob_by(&ada, json!({ "password_hash": theirs }))
        .await
        .expect(200);
    let stored = async || {
        server
            .app
            .store
            .user_by_email(BOB)
            .await
            .unwrap()
            .password_hash
    };
    server.enter(BOB, "not his password").await.expect(401);
    assert_eq!(stored().await, theirs);
    server.enter(BOB, BOBS).await.expect(200);
    let ours = stored().await;
    assert!(ours.starts_with("$argon2id$"), "{ours}");
    server.enter(BOB, BOBS).await.expect(200);
    server.enter(BOB, "not his password").await.expect(401);
    assert_eq!(stored().await, ours);
}

/// What an importer wrote into the database at a cost that would keep us busy for a day is refused at once.
#[tokio::test]
async fn a_hostile_cost_is_refused() {
    let server = Server::start().await;
    server.set_up().await;
    let new = store::NewUser {
        id: domain::UserId::generate(),
        email: BOB.to_owned(),
        name: "Bob".to_owned(),
        role: store::UserRole::User,
        password_hash: bcrypt::hash(BOBS, 4).unwrap().replacen("$04$", "$31$", 1),
        created_at: 1,
    };
    server.app.store.create_user(&new).await.unwrap();
    let login = server.enter(BOB, BOBS);
    tokio::time::timeout(std::time::Duration::from_secs(20), login)
        .await
        .unwrap()
        .expect(401);
}
