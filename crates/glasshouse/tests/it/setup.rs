//! Set-up, sign-in, sign-out, and sessions that end.

use serde_json::json;
use server::identity::auth::Attempt;
use sqlx::{Connection, Executor, SqliteConnection};

use crate::harness::{Answer, EMAIL, PASSWORD, Server};

const HOUR_MS: i64 = 3_600_000;

#[tokio::test]
async fn the_first_visitor_becomes_the_administrator() {
    let server = Server::start().await;
    let me = server.get("/api/v1/me", "").await.json();
    assert_eq!(
        (&me["user"], &me["setup_needed"]),
        (&json!(null), &json!(true))
    );
    assert_eq!(me["auth"], "password");

    let cookie = server.set_up().await;
    let me = server.get("/api/v1/me", &cookie).await.json();
    assert_eq!(me["user"]["email"], EMAIL);
    assert_eq!(me["user"]["role"], "admin");
    assert_eq!(me["setup_needed"], false);

    let body = json!({ "email": "eve@example.org", "name": "Eve", "password": PASSWORD });
    assert_eq!(
        server.post("/api/v1/setup", "", &body).await.expect(409),
        "conflict"
    );
    assert_eq!(
        server.get("/api/v1/me", "").await.json()["setup_needed"],
        false
    );
}

#[tokio::test]
async fn of_two_first_visitors_one_wins() {
    let server = Server::start().await;
    let body = |email: &str| json!({ "email": email, "name": "A", "password": PASSWORD });
    let (a, b) = (body("a@example.org"), body("b@example.org"));
    let (a, b) = tokio::join!(
        server.post("/api/v1/setup", "", &a),
        server.post("/api/v1/setup", "", &b)
    );
    let mut statuses = [a.status.as_u16(), b.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
}

#[tokio::test]
async fn bad_accounts_are_refused_and_nothing_stays() {
    let server = Server::start().await;
    for (email, name, password) in [
        ("ada", "Ada", PASSWORD),
        ("a b@example.org", "Ada", PASSWORD),
        ("@example.org", "Ada", PASSWORD),
        (EMAIL, " ", PASSWORD),
        (EMAIL, "Ada\nEve", PASSWORD),
        (EMAIL, "Ada", "short"),
        (EMAIL, "Ada", &"x".repeat(257)),
    ] {
        let body = json!({ "email": email, "name": name, "password": password });
        assert_eq!(
            server.post("/api/v1/setup", "", &body).await.expect(400),
            "invalid_request"
        );
    }
    assert_eq!(
        server.get("/api/v1/me", "").await.json()["setup_needed"],
        true
    );
    let body = json!({ "email": EMAIL, "name": "Ада", "password": "пароль👍 " });
    server.post("/api/v1/setup", "", &body).await.expect(200);
    let body = json!({ "email": EMAIL.to_uppercase(), "password": "пароль👍 " });
    server.post("/api/v1/login", "", &body).await.expect(200);
}

#[tokio::test]
async fn where_others_can_reach_us_the_printed_link_is_needed() {
    for settings in [
        &[("GLASSHOUSE_LISTEN", "127.0.0.1:0,0.0.0.0:0")][..],
        &[("GLASSHOUSE_PUBLIC_URL", "https://ai.example.org")],
    ] {
        let server = Server::start_with(settings).await;
        let token = server.app.identity.setup_token.clone().unwrap();
        let link = server::start::link(&server.app, "0.0.0.0:80".parse().unwrap());
        assert!(
            link.ends_with(&format!("/setup?token={}", token.reveal()))
                && !link.contains("0.0.0.0"),
            "{link}"
        );
        let body =
            |token| json!({ "email": EMAIL, "name": "Ada", "password": PASSWORD, "token": token });
        for wrong in [json!(null), json!(""), json!("0".repeat(64))] {
            assert_eq!(
                server
                    .post("/api/v1/setup", "", &body(wrong))
                    .await
                    .expect(403),
                "forbidden"
            );
        }
        let answer = server
            .post("/api/v1/setup", "", &body(json!(token.reveal())))
            .await;
        answer.expect(200);
        let secure = answer.headers["set-cookie"]
            .to_str()
            .unwrap()
            .contains("; Secure");
        assert_eq!(secure, settings[0].1.starts_with("https"));
    }
    assert!(Server::start().await.app.identity.setup_token.is_none());
}

#[tokio::test]
async fn signing_in_and_out() {
    let (server, first) = Server::start_signed_in().await;
    let login = |email: &str, password: &str| {
        let body = json!({ "email": email, "password": password });
        let server = &server;
        async move { server.post("/api/v1/login", "", &body).await }
    };
    assert_eq!(
        login(EMAIL, "wrong horse").await.expect(401),
        "unauthenticated"
    );
    assert_eq!(
        login("nobody@example.org", PASSWORD).await.expect(401),
        "unauthenticated"
    );
    let answer = login(" Ada@Example.org ", PASSWORD).await;
    answer.expect(200);
    let line = answer.headers["set-cookie"].to_str().unwrap();
    assert!(
        line.contains("HttpOnly") && line.contains("SameSite=Lax") && line.contains("Path=/"),
        "{line}"
    );
    let second = answer.cookie();

    let out = server.post("/api/v1/logout", &second, &json!({})).await;
    out.expect(204);
    assert_eq!(out.cookie(), "glasshouse_session=");
    server.get("/api/v1/keys", &second).await.expect(401);
    server.get("/api/v1/keys", &first).await.expect(200);
    server
        .post("/api/v1/logout", "", &json!({}))
        .await
        .expect(204);
}

#[tokio::test]
async fn sessions_end_after_their_time() {
    let (server, cookie) = Server::start_signed_in().await;
    // 90 days in all, and 30 without use.
    for _ in 0..3 {
        server.clock.advance_ms(30 * 24 * HOUR_MS - 1);
        server.get("/api/v1/keys", &cookie).await.expect(200);
    }
    server.clock.advance_ms(3);
    server.get("/api/v1/keys", &cookie).await.expect(401);
    let entered = json!({ "email": EMAIL, "password": PASSWORD });
    let cookie = server.post("/api/v1/login", "", &entered).await.cookie();
    server.clock.advance_ms(30 * 24 * HOUR_MS);
    assert_eq!(
        server.get("/api/v1/keys", &cookie).await.expect(401),
        "unauthenticated"
    );
    assert_eq!(
        server.get("/api/v1/me", &cookie).await.json()["user"],
        json!(null)
    );
}

#[tokio::test]
async fn guessing_is_slowed_down() {
    let (server, _) = Server::start_signed_in().await;
    let wrong = json!({ "email": EMAIL, "password": "wrong horse" });
    let right = json!({ "email": EMAIL, "password": PASSWORD });
    for _ in 0..5 {
        server.post("/api/v1/login", "", &wrong).await.expect(401);
    }
    let refused = server.post("/api/v1/login", "", &right).await;
    assert_eq!(refused.expect(429), "rate_limited");
    assert_eq!(refused.headers["retry-after"], "1");
    server.clock.advance_ms(1000);
    server.post("/api/v1/login", "", &right).await.expect(200);
    server.post("/api/v1/login", "", &wrong).await.expect(401);
}

/// Who guesses from elsewhere keeps nobody out, and a proxy between them changes that only where its word is taken.
#[tokio::test]
async fn a_flood_from_elsewhere_does_not_lock_the_owner_out() {
    let server = Server::start_with(&[("GLASSHOUSE_TRUSTED_PROXIES", "127.0.0.1")]).await;
    server.set_up().await;
    let login = async |from: &str, email: &str, password: &str| {
        let body = json!({ "email": email, "password": password });
        let request = server.request(reqwest::Method::POST, "/api/v1/login", "");
        Answer::of(request.header("x-forwarded-for", from).json(&body)).await
    };
    // The guesser writes other addresses into the header; the proxy adds the true one.
    for n in 0..5 {
        login(&format!("10.0.0.{n}, 203.0.113.7"), EMAIL, "wrong horse")
            .await
            .expect(401);
    }
    login("10.0.0.9, 203.0.113.7", EMAIL, PASSWORD)
        .await
        .expect(429);
    for n in 0..45 {
        login("203.0.113.7", &format!("{n}@example.org"), "wrong horse")
            .await
            .expect(401);
    }
    login("203.0.113.7", "another@example.org", "wrong horse")
        .await
        .expect(429);
    login("198.51.100.1", EMAIL, PASSWORD).await.expect(200);

    let server = Server::start().await;
    server.set_up().await;
    for n in 0..6 {
        let body = json!({ "email": EMAIL, "password": "wrong horse" });
        let request = server
            .request(reqwest::Method::POST, "/api/v1/login", "")
            .json(&body);
        let answer = Answer::of(request.header("x-forwarded-for", format!("10.0.0.{n}"))).await;
        answer.expect(if n < 5 { 401 } else { 429 });
    }
}

/// Whoever guesses from thousands of addresses is slowed down. A browser that has signed in before is not, and a link to a new
/// password makes one such.
#[tokio::test]
async fn guesses_from_everywhere_are_slowed_but_not_for_known_browsers() {
    let (server, admin) = Server::start_signed_in().await;
    let login = async |password: &str, cookies: &str| {
        let body = json!({ "email": EMAIL, "password": password });
        let request = server.request(reqwest::Method::POST, "/api/v1/login", cookies);
        Answer::of(request.json(&body)).await
    };
    let device = |answer: &Answer| {
        let lines = answer
            .headers
            .get_all("set-cookie")
            .iter()
            .map(|line| line.to_str().unwrap());
        let line = lines
            .into_iter()
            .find(|line| line.starts_with("glasshouse_device="))
            .unwrap();
        assert!(
            line.contains("HttpOnly") && line.contains("Path=/api/v1/login;"),
            "{line}"
        );
        line.split(';').next().unwrap().to_owned()
    };
    let first = login(PASSWORD, "").await;
    first.expect(200);
    let known = device(&first);
    let guess = async |from: u32| {
        let address = std::net::Ipv4Addr::from(0x0a00_0000 + from).into();
        server
            .app
            .identity
            .backoff
            .begin(
                &Attempt::sign_in(address, EMAIL, None),
                server.clock.now_ms(),
            )
            .await
    };
    for n in 0..100 {
        guess(n).await.unwrap();
    }
    guess(100).await.unwrap_err();
    login(PASSWORD, "").await.expect(429);
    for cookie in ["glasshouse_device=x", "glasshouse_device="] {
        login(PASSWORD, cookie).await.expect(429);
    }
    let cookies = format!("{known}; glasshouse_session=x");
    login("wrong horse", &cookies).await.expect(401);
    login(PASSWORD, &cookies).await.expect(200);
    // It is good for the account that was signed in to, and for guesses no more than an address.
    let body = json!({ "email": "eve@example.org", "password": "x" });
    server
        .post("/api/v1/login", &known, &body)
        .await
        .expect(401);
    for _ in 0..5 {
        login("wrong horse", &known).await.expect(401);
    }
    login(PASSWORD, &known).await.expect(429);
    // Another one comes with a link to a new password.
    let me = server.get("/api/v1/me", &admin).await.json();
    let path = format!(
        "/api/v1/users/{}/password-reset",
        me["user"]["id"].as_str().unwrap()
    );
    let link = server.post(&path, &admin, &json!(null)).await.json();
    let body = json!({"token": &link["path"].as_str().unwrap()[7..], "password": "another horse"});
    let reset = server.post("/api/v1/password-reset", "", &body).await;
    reset.expect(204);
    login("another horse", "").await.expect(429);
    login("another horse", &device(&reset)).await.expect(200);
}

/// What is over stays over where the machine's clock is set back.
#[tokio::test]
async fn a_clock_that_goes_back_makes_nothing_good_again() {
    let (server, cookie) = Server::start_signed_in().await;
    let body = json!({ "name": "x", "expires_at": server.clock.now_ms() + HOUR_MS });
    let key = server.post("/api/v1/keys", &cookie, &body).await.json()["secret"]
        .as_str()
        .unwrap()
        .to_owned();
    server.get("/v1/models", &key).await.expect(200);
    let me = server.get("/api/v1/me", &cookie).await.json();
    let path = format!(
        "/api/v1/users/{}/password-reset",
        me["user"]["id"].as_str().unwrap()
    );
    let link = server.post(&path, &cookie, &json!(null)).await.json();
    let token = json!({ "token": &link["path"].as_str().unwrap()[7..] });
    server
        .post("/api/v1/password-reset/check", "", &token)
        .await
        .expect(200);
    server.clock.advance_ms(31 * 24 * HOUR_MS);
    for _ in 0..2 {
        server.get("/api/v1/keys", &cookie).await.expect(401);
        server.get("/v1/models", &key).await.expect(401);
        server
            .post("/api/v1/password-reset/check", "", &token)
            .await
            .expect(404);
        server.clock.advance_ms(-31 * 24 * HOUR_MS);
    }
}

/// That a line is written of somebody who is known here takes time, most where the disk is slow: a guesser does not wait
/// for it.
#[tokio::test]
async fn a_wrong_password_is_answered_before_it_is_noted() {
    let folder = crate::harness::new_folder();
    let database = format!("sqlite://{}", folder.join("slow.db").display());
    let server = Server::start_with(&[("GLASSHOUSE_DATABASE_URL", &database)]).await;
    let cookie = server.set_up().await;
    let mut other = SqliteConnection::connect(&database).await.unwrap();
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    for email in [EMAIL, "nobody@example.org"] {
        let body = json!({ "email": email, "password": "wrong horse" });
        let request = server
            .request(reqwest::Method::POST, "/api/v1/login", "")
            .json(&body);
        // Less than a locked database is waited for.
        let answer = Answer::of(request.timeout(std::time::Duration::from_secs(4))).await;
        assert_eq!(answer.expect(401), "unauthenticated");
    }
    other.execute("ROLLBACK").await.unwrap();
    crate::faults::until("it is noted", async || {
        server
            .get("/api/v1/audit?action=session.failed", &cookie)
            .await
            .text
            .contains(EMAIL)
    })
    .await;
    server.app.close().await;
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn without_passwords_everybody_is_the_administrator() {
    let server = Server::start_with(&[("GLASSHOUSE_AUTH", "none")]).await;
    let me = server.get("/api/v1/me", "").await.json();
    assert_eq!(
        (&me["user"]["role"], &me["auth"]),
        (&json!("admin"), &json!("none"))
    );
    assert_eq!(me["setup_needed"], false);
    assert_eq!(
        server.get("/api/v1/me", "gh_unknown").await.json()["user"],
        me["user"]
    );
    server.get("/api/v1/connections", "").await.expect(200);
    // Nobody signs in to that account with a password.
    for password in ["", "x"] {
        let body = json!({ "email": me["user"]["email"], "password": password });
        server.post("/api/v1/login", "", &body).await.expect(401);
    }
}

#[tokio::test]
async fn an_account_without_password_is_kept_when_passwords_come() {
    let dir = crate::harness::new_folder();
    let url = format!("sqlite://{}", dir.join("kept.db").display());
    let settings = [
        ("GLASSHOUSE_DATABASE_URL", url.as_str()),
        ("GLASSHOUSE_SECRET_KEY", crate::harness::SECRET_KEY),
        ("GLASSHOUSE_AUTH", "none"),
    ];
    let open = Server::start_with(&settings).await;
    let local = open.get("/api/v1/me", "").await.json()["user"]["id"].clone();
    open.app.close().await;

    let closed = Server::start_with(&settings[..2]).await;
    assert_eq!(
        closed.get("/api/v1/me", "").await.json()["setup_needed"],
        true
    );
    let cookie = closed.set_up().await;
    let me = closed.get("/api/v1/me", &cookie).await.json();
    assert_eq!(
        (&me["user"]["id"], &me["user"]["email"]),
        (&local, &json!(EMAIL))
    );
    closed.app.close().await;

    let open = Server::start_with(&settings).await;
    assert_eq!(open.get("/api/v1/me", "").await.json()["user"], me["user"]);
    open.app.close().await;
    std::fs::remove_dir_all(dir).unwrap();
}

#[tokio::test]
async fn a_new_password_ends_the_other_sessions() {
    let (server, here) = Server::start_signed_in().await;
    let log_in = async |password: &str| {
        server
            .post(
                "/api/v1/login",
                "",
                &json!({"email": EMAIL, "password": password}),
            )
            .await
    };
    let elsewhere = log_in(PASSWORD).await.cookie();
    let key = server
        .post("/api/v1/keys", &here, &json!({"name": "k"}))
        .await
        .json()["secret"]
        .clone();
    let key = key.as_str().unwrap();
    let change = async |who: &str, current: &str, new: &str| {
        server
            .put(
                "/api/v1/me/password",
                who,
                &json!({"current": current, "new": new}),
            )
            .await
    };
    let fresh = "another horse";
    let wrong = change(&here, "not it", fresh).await;
    assert_eq!(
        (wrong.expect(400), &wrong.json()["error"]["field"]),
        ("invalid_request".into(), &json!("current"))
    );
    change(&here, PASSWORD, "short").await.expect(400);
    change(&here, &"x".repeat(5000), fresh).await.expect(400);
    change(key, PASSWORD, fresh).await.expect(400);
    assert_eq!(
        server.get("/api/v1/keys", &elsewhere).await.status,
        200,
        "nothing has changed yet"
    );

    change(&here, PASSWORD, fresh).await.expect(204);
    for (who, status) in [(here.as_str(), 200), (&elsewhere, 401), (key, 200)] {
        assert_eq!(server.get("/api/v1/keys", who).await.status, status);
    }
    log_in(PASSWORD).await.expect(401);
    log_in(fresh).await.expect(200);
}

#[tokio::test]
async fn administrators_see_what_is_set_and_where() {
    let server = Server::start_with(&[("GLASSHOUSE_LIMITS_STEPS", "12")]).await;
    let cookie = server.set_up().await;
    let shown = server.get("/api/v1/settings", &cookie).await;
    shown.expect(200);
    let shown = shown.json();
    let named = |name: &str| {
        shown["settings"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == name)
            .unwrap()
    };
    let steps = json!({
        "name": "limits.steps", "variable": "GLASSHOUSE_LIMITS_STEPS", "summary": "Model calls of one agent.",
        "details": "In the last one the agent has no tools, so that it answers.",
        "default": 50, "value": 12, "from": "environment", "changed_in": "web_app",
    });
    assert_eq!(*named("limits.steps"), steps);
    assert_eq!(named("limits.usd")["from"], "default");
    assert!(
        shown["file"].as_str().unwrap().ends_with("glasshouse.toml") && shown["file_read"] == false
    );
    let bob = server.key_of_plain_user("bob@example.org").await;
    server.get("/api/v1/settings", &bob).await.expect(403);
}
