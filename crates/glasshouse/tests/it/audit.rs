//! The audit log: what leaves a line, what stands in it, and what never does.

use serde_json::{Value, json};

use crate::harness::{EMAIL, PASSWORD, Server};

const BOB: &str = "bob@example.org";
const DAY_MS: i64 = 86_400_000;

impl Server {
    /// The lines that fit, the oldest first.
    async fn audit(&self, admin: &str, query: &str) -> Vec<Value> {
        let answer = self
            .get(&format!("/api/v1/audit?limit=200&{query}"), admin)
            .await;
        answer.expect(200);
        let mut entries = answer.json()["entries"].as_array().unwrap().clone();
        entries.reverse();
        entries
    }
}

fn actions(entries: &[Value]) -> Vec<&str> {
    entries
        .iter()
        .map(|entry| entry["action"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn what_is_done_to_an_account_is_told_in_order() {
    let (server, ada) = Server::start_signed_in().await;
    let body =
        json!({"email": BOB, "name": "Bob", "role": "user", "password": "quite secret words"});
    let bob = server.post("/api/v1/users", &ada, &body).await.json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    server
        .post(
            "/api/v1/login",
            "",
            &json!({"email": BOB, "password": "wrong words"}),
        )
        .await
        .expect(401);
    server
        .post(
            "/api/v1/login",
            "",
            &json!({"email": "no@x", "password": "wrong"}),
        )
        .await
        .expect(401);
    let entered = json!({"email": BOB, "password": "quite secret words"});
    let session = server.post("/api/v1/login", "", &entered).await.cookie();
    let key = server
        .post(
            "/api/v1/keys",
            &session,
            &json!({"name": "mine", "scopes": ["chat"]}),
        )
        .await
        .json();
    let path = format!("/api/v1/users/{bob}");
    let change = json!({"role": "admin", "suspended": true});
    let changed = server
        .request(reqwest::Method::PATCH, &path, &ada)
        .header("x-request-id", "look-1");
    crate::harness::Answer::of(changed.json(&change))
        .await
        .expect(200);
    server.delete(&path, &ada).await.expect(204);

    let all = server.audit(&ada, "").await;
    let expected = [
        "user.set_up",
        "user.create",
        "session.failed",
        "session.open",
        "key.create",
        "user.change",
        "user.delete",
    ];
    assert_eq!(actions(&all), expected);
    let [set_up, _, failed, _, made, changed, deleted] = &all[..] else {
        panic!("{all:?}")
    };
    assert_eq!(set_up["actor_email"], EMAIL);
    assert_eq!(
        (&failed["actor"], &failed["subject_name"]),
        (&Value::Null, &json!(BOB))
    );
    assert_eq!(
        (&made["subject"], &made["subject_name"]),
        (&key["key"]["id"], &json!("mine"))
    );
    assert_eq!(made["details"], json!({"scopes": ["chat"]}));
    assert_eq!(
        (&changed["subject"], &changed["subject_name"]),
        (&json!(bob), &json!(BOB))
    );
    assert_eq!(
        changed["details"],
        json!({"role": "admin", "suspended": true})
    );
    assert_eq!(
        (&changed["request_id"], &changed["address"]),
        (&json!("look-1"), &json!("127.0.0.1"))
    );
    assert_eq!(changed["at"], server.clock.now_ms());
    assert_eq!(
        deleted["subject_name"], BOB,
        "the account is gone, its name is not"
    );
    let text = Value::from(all.clone()).to_string();
    for secret in [
        "quite secret words",
        "wrong",
        key["secret"].as_str().unwrap(),
        PASSWORD,
    ] {
        assert!(!text.contains(secret), "{secret}");
    }
    // With a key it is told with which.
    let body = json!({"name": "all"});
    let whole = server.post("/api/v1/keys", &ada, &body).await.json();
    let secret = whole["secret"].as_str().unwrap();
    server
        .put("/api/v1/settings/sign-up", secret, &json!({"mode": "open"}))
        .await
        .expect(204);
    let last = server.audit(&ada, "action=settings.").await;
    assert_eq!(
        (&last[0]["key"], &last[0]["details"]),
        (&whole["key"]["id"], &json!({"mode": "open"}))
    );
}

#[tokio::test]
async fn what_is_refused_or_does_nothing_leaves_no_line() {
    let (server, ada) = Server::start_signed_in().await;
    let bob = server.key_of_plain_user(BOB).await;
    let before = server.audit(&ada, "").await.len();
    for (path, body) in [
        ("/api/v1/logout", json!(null)),
        ("/api/v1/users", json!({"email": "x"})),
        ("/api/v1/invitations", json!({"days": -1})),
        (
            "/api/v1/password-reset",
            json!({"token": "x", "password": "long enough"}),
        ),
        (
            "/api/v1/setup",
            json!({"email": "e@x", "name": "E", "password": "long enough"}),
        ),
    ] {
        for credential in ["", &bob, &ada] {
            if (path, credential) != ("/api/v1/logout", &ada) {
                server.post(path, credential, &body).await;
            }
        }
    }
    server.get("/oauth/login/callback?state=x&code=y", "").await;
    server
        .put("/api/v1/settings/sign-up", &ada, &json!({"mode": "open"}))
        .await
        .expect(204);
    // Somebody has the address: nothing was made, and nobody learns that.
    let body = json!({"email": BOB, "name": "Bob", "password": "long enough"});
    server.post("/api/v1/sign-up", "", &body).await.expect(204);
    let after = server.audit(&ada, "").await;
    assert_eq!(actions(&after[before..]), ["settings.sign_up"]);
}

#[tokio::test]
async fn it_is_found_by_words_action_and_day_and_had_as_a_file() {
    let (server, ada) = Server::start_signed_in().await;
    let invite = json!({"email": "=cmd|'x'@example.org"});
    server
        .post("/api/v1/invitations", &ada, &invite)
        .await
        .expect(200);
    server.clock.advance_ms(2 * DAY_MS);
    let ada = server
        .post(
            "/api/v1/login",
            "",
            &json!({"email": EMAIL, "password": PASSWORD}),
        )
        .await
        .cookie();
    server
        .put("/api/v1/settings/sign-up", &ada, &json!({"mode": "open"}))
        .await
        .expect(204);
    let today = jiff::Timestamp::from_millisecond(server.clock.now_ms()).unwrap();
    let today = today.to_zoned(jiff::tz::TimeZone::UTC).date().to_string();

    assert_eq!(
        actions(&server.audit(&ada, "query=CMD").await),
        ["invitation.create"]
    );
    assert_eq!(
        actions(&server.audit(&ada, "action=settings").await),
        ["settings.sign_up"]
    );
    let of_today = server
        .audit(&ada, &format!("from={today}&to={today}"))
        .await;
    assert_eq!(actions(&of_today), ["session.open", "settings.sign_up"]);
    let newest = server.get("/api/v1/audit?limit=1", &ada).await.json();
    assert_eq!(
        (&newest["more"], newest["entries"].as_array().unwrap().len()),
        (&json!(true), 1)
    );
    let id = newest["entries"][0]["id"].as_str().unwrap();
    let older = server
        .get(&format!("/api/v1/audit?limit=1&before={id}"), &ada)
        .await
        .json();
    assert_eq!(older["entries"][0]["action"], "session.open");
    for bad in [
        "from=yesterday",
        "format=xml",
        "before=x",
        "limit=-1",
        "action=%00",
        &format!("query={}", "x".repeat(201)),
    ] {
        let answer = server.get(&format!("/api/v1/audit?{bad}"), &ada).await;
        assert!(
            answer.status == 400 || bad == "action=%00" && answer.status == 200,
            "{bad}: {}",
            answer.text
        );
    }

    let file = server.get("/api/v1/audit?format=csv", &ada).await;
    file.expect(200);
    assert_eq!(
        file.headers["content-disposition"],
        "attachment; filename=\"audit.csv\""
    );
    let lines: Vec<&str> = file.text.lines().collect();
    assert!(lines[0].starts_with("at,actor,"), "{}", lines[0]);
    assert!(
        lines[1].contains("audit.export"),
        "taking it away is itself noted: {}",
        lines[1]
    );
    assert!(
        file.text.contains("\"'=cmd|'x'@example.org\""),
        "no cell is a formula: {}",
        file.text
    );
    assert_eq!(lines.len(), 1 + server.audit(&ada, "").await.len());
}

#[tokio::test]
async fn a_file_of_many_pages_has_every_line() {
    let (server, ada) = Server::start_signed_in().await;
    for _ in 0..450 {
        server
            .put("/api/v1/settings/sign-up", &ada, &json!({"mode": "closed"}))
            .await
            .expect(204);
    }
    let file = server
        .get("/api/v1/audit?format=csv&action=settings.", &ada)
        .await;
    assert_eq!(file.text.lines().count(), 451);
}
