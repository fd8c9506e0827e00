//! A proxy in front that says who somebody is: whom it is believed for, and what it never gets around.

use futures_util::future::join_all;
use reqwest::{Method, RequestBuilder, header};
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server},
    sse::Events,
};

const NAME: &str = "ai.example.org";
const ADMINS: &[(&str, &str)] = &[
    ("x-user", "ada"),
    ("x-email", "ada@example.org"),
    ("x-groups", "staff, admins"),
];
const BOB: &[(&str, &str)] = &[
    ("x-user", "bob"),
    ("x-email", "bob@example.org"),
    ("x-groups", "staff"),
];

/// A server behind a proxy at this address, with these settings more.
async fn behind(proxies: &str, more: &[(&str, &str)]) -> Server {
    let settings = [
        ("GLASSHOUSE_PUBLIC_URL", "https://ai.example.org"),
        ("GLASSHOUSE_TRUSTED_HEADER_USER", "X-User"),
        ("GLASSHOUSE_TRUSTED_HEADER_EMAIL", "X-Email"),
        ("GLASSHOUSE_TRUSTED_HEADER_NAME", "X-Name"),
        ("GLASSHOUSE_TRUSTED_HEADER_GROUPS", "X-Groups"),
        ("GLASSHOUSE_TRUSTED_HEADER_ADMIN_GROUPS", "admins"),
        ("GLASSHOUSE_TRUSTED_HEADER_PROXIES", proxies),
    ];
    Server::start_with(&[&settings, more].concat()).await
}

impl Server {
    fn by_proxy(
        &self,
        method: Method,
        path: &str,
        credential: &str,
        says: &[(&str, &str)],
    ) -> RequestBuilder {
        let request = self
            .request(method, path, credential)
            .header(header::HOST, NAME);
        says.iter().fold(request, |request, (name, value)| {
            request.header(*name, *value)
        })
    }

    async fn seen(&self, path: &str, says: &[(&str, &str)]) -> Answer {
        Answer::of(self.by_proxy(Method::GET, path, "", says)).await
    }

    async fn sent(&self, path: &str, says: &[(&str, &str)], body: &Value) -> Answer {
        Answer::of(self.by_proxy(Method::POST, path, "", says).json(body)).await
    }

    async fn me(&self, says: &[(&str, &str)]) -> Value {
        let answer = self.seen("/api/v1/me", says).await;
        answer.expect(200);
        answer.json()
    }
}

#[tokio::test]
async fn who_the_proxy_names_is_in() {
    let server = behind(
        "127.0.0.1",
        &[("GLASSHOUSE_TRUSTED_HEADER_SIGN_OUT_URL", "/out")],
    )
    .await;
    let nobody = server.me(&[]).await;
    assert_eq!(
        nobody["proxy"],
        json!({"signs_in": false, "problem": null, "sign_out_url": "/out"})
    );
    // The first one has to be an administrator.
    let early = server.me(BOB).await;
    assert_eq!(
        (&early["user"], &early["proxy"]["problem"]),
        (&json!(null), &json!("not_set_up"))
    );
    let ada = server.me(ADMINS).await;
    assert_eq!(
        (&ada["user"]["email"], &ada["user"]["role"]),
        (&json!("ada@example.org"), &json!("admin"))
    );
    assert_eq!(ada["proxy"]["signs_in"], true);
    // Many requests at once make one account.
    let named = [BOB, &[("x-name", "Боб")]].concat();
    let answers = join_all((0..8).map(|_| server.seen("/api/v1/chats", &named))).await;
    answers
        .iter()
        .for_each(|answer| assert_eq!(answer.expect(200), ""));
    let bob = server.me(BOB).await;
    assert_eq!(
        (&bob["user"]["name"], &bob["user"]["role"]),
        (&json!("Боб"), &json!("user"))
    );
    server.seen("/api/v1/users", BOB).await.expect(403);
    let people = server.seen("/api/v1/users", ADMINS).await.json();
    assert_eq!(people["users"].as_array().unwrap().len(), 2);
    // A role holds as long as the groups do, with the next request.
    let risen = [&BOB[..2], &[("x-groups", "admins")]].concat();
    server.seen("/api/v1/users", &risen).await.expect(200);
    server.seen("/api/v1/users", BOB).await.expect(403);
    let noted = server.seen("/api/v1/audit", ADMINS).await.json();
    let by_proxy = |action: &str| {
        let entries = noted["entries"].as_array().unwrap().iter();
        entries
            .filter(|entry| entry["action"] == action && entry["details"]["by"] == "proxy")
            .count()
    };
    assert_eq!((by_proxy("user.create"), by_proxy("user.change")), (2, 2));
    // The name counts and not the address.
    let other = [("x-user", "eve"), ("x-email", "bob@example.org")];
    assert_eq!(server.me(&other).await["proxy"]["problem"], "address_taken");
    let moved = [("x-user", "bob"), ("x-email", "robert@example.org")];
    assert_eq!(server.me(&moved).await["user"]["email"], "bob@example.org");
    // What needs a session of one's own says who signs people in.
    let refused = server
        .sent("/api/v1/me/second-factor", BOB, &json!({"current": "x"}))
        .await;
    assert!(refused.text.contains("proxy"), "{}", refused.text);
    refused.expect(400);
}

#[tokio::test]
async fn nobody_else_is_believed() {
    let server = behind("10.9.9.9", &[]).await;
    assert_eq!(server.me(ADMINS).await["user"], json!(null));
    server.seen("/api/v1/chats", ADMINS).await.expect(401);
    // An address that is only said is not that of the connection.
    let said = [
        ADMINS,
        &[
            ("x-forwarded-for", "10.9.9.9"),
            ("forwarded", "for=10.9.9.9"),
        ],
    ]
    .concat();
    server.seen("/api/v1/chats", &said).await.expect(401);
    let off = Server::start_with(&[("GLASSHOUSE_TRUSTED_PROXIES", "127.0.0.1")]).await;
    let request = off
        .request(Method::GET, "/api/v1/chats", "")
        .header("x-forwarded-user", "ada");
    Answer::of(request).await.expect(401);
}

#[tokio::test]
async fn what_is_unclear_names_nobody() {
    let server = behind("127.0.0.1", &[]).await;
    server.seen("/api/v1/chats", ADMINS).await.expect(200);
    let long = "x".repeat(256);
    for says in [
        &[("x-user", "ada"), ("x-user", "bob")][..],
        &[("x-user", "ada"), ("x-user", "ada")],
        &[
            ("x-user", "bob"),
            ("x-email", "bob@example.org"),
            ("x-email", "ada@example.org"),
        ],
        &[
            ("x-user", "bob"),
            ("x-groups", "staff"),
            ("x-groups", "admins"),
        ],
        &[("x-user", &long)],
        &[("x-user", "a\u{85}b")],
    ] {
        let answer = server.seen("/api/v1/chats", says).await;
        assert_eq!(answer.expect(401), "unauthenticated", "{says:?}");
    }
    for nobody in [
        &[("x-user", "")][..],
        &[("x-user", "  ")],
        &[("x-email", "ada@example.org")],
    ] {
        assert_eq!(server.me(nobody).await["user"], json!(null), "{nobody:?}");
    }
    for email in ["not an address", ""] {
        let says = [("x-user", "carl"), ("x-email", email)];
        assert_eq!(
            server.me(&says).await["proxy"]["problem"],
            "no_address",
            "{email}"
        );
    }
}

/// Nobody has to have a cookie: a proxy may know people by their network.
#[tokio::test]
async fn pages_of_other_sites_do_not_act_as_the_visitor() {
    let settings = [("GLASSHOUSE_CORS_ALLOW_ORIGINS", "https://app.example.com")];
    let server = behind("127.0.0.1", &settings).await;
    let asks = async |method: Method, path: &str, more: &[(&str, &str)]| {
        let says = [ADMINS, more].concat();
        let body = json!({"messages": [{"role": "user", "content": "Hi"}], "model": "none"});
        let request = server.by_proxy(method.clone(), path, "", &says);
        Answer::of(if method == Method::GET {
            request
        } else {
            request.json(&body)
        })
        .await
    };
    let own = [
        ("origin", "https://ai.example.org"),
        ("sec-fetch-site", "same-origin"),
    ];
    asks(Method::GET, "/v1/models", &own).await.expect(200);
    asks(Method::POST, "/chat/stream", &own).await.expect(404);
    for foreign in ["https://app.example.com", "https://evil.example", "null"] {
        for more in [
            &[("origin", foreign)][..],
            &[("origin", foreign), ("sec-fetch-site", "cross-site")],
        ] {
            asks(Method::GET, "/v1/models", more).await.expect(401);
            asks(Method::POST, "/chat/stream", more).await.expect(403);
            asks(Method::DELETE, "/api/v1/facts", more)
                .await
                .expect(403);
        }
    }
    asks(
        Method::POST,
        "/chat/stream",
        &[("sec-fetch-site", "cross-site")],
    )
    .await
    .expect(403);
    // A name that was made to point here.
    for name in [
        "evil.example",
        "127.0.0.1",
        "ai.example.org:8000",
        "localhost",
    ] {
        let request = server
            .request(Method::GET, "/api/v1/chats", "")
            .header(header::HOST, name);
        let request = ADMINS.iter().fold(request, |request, (name, value)| {
            request.header(*name, *value)
        });
        assert_eq!(Answer::of(request).await.expect(403), "forbidden", "{name}");
    }
}

/// Every way to say who one is, beside every word of the proxy, for people who may be here and who may not.
#[tokio::test]
async fn it_is_no_second_way_in() {
    let settings = [("GLASSHOUSE_TRUSTED_HEADER_LINK_BY_EMAIL", "true")];
    let server = behind("127.0.0.1", &settings).await;
    server.me(ADMINS).await;
    let mut people = Vec::new();
    for name in ["bob", "eve"] {
        let email = format!("{name}@example.org");
        let body =
            json!({"email": email, "name": name, "password": "battery staple", "role": "user"});
        let made = server.sent("/api/v1/users", ADMINS, &body).await;
        made.expect(200);
        let body = json!({"email": email, "password": "battery staple"});
        let session = server.sent("/api/v1/login", &[], &body).await.cookie();
        let key = Answer::of(
            server
                .by_proxy(Method::POST, "/api/v1/keys", &session, &[])
                .json(&json!({"name": "x"})),
        );
        let key = key.await.json()["secret"].as_str().unwrap().to_owned();
        people.push((
            made.json()["id"].as_str().unwrap().to_owned(),
            email,
            session,
            key,
        ));
    }
    let [
        (bob, bobs, bob_session, bob_key),
        (_, eves, eve_session, eve_key),
    ] = &people[..]
    else {
        panic!()
    };
    let as_bob = [("x-user", "bob"), ("x-email", "bob@example.org")];
    let as_eve = [("x-user", "eve"), ("x-email", "eve@example.org")];
    let as_nobody = [("x-user", "carl"), ("x-email", "")];
    let who = async |credential: &str, says: &[(&str, &str)]| {
        let me = Answer::of(server.by_proxy(Method::GET, "/api/v1/me", credential, says)).await;
        let chats =
            Answer::of(server.by_proxy(Method::GET, "/api/v1/chats", credential, says)).await;
        let user = me.json()["user"]["email"].as_str().map(str::to_owned);
        assert_eq!(
            chats.status.as_u16(),
            if user.is_some() { 200 } else { 401 },
            "{credential} {says:?}"
        );
        user
    };
    let path = format!("/api/v1/users/{bob}");
    for suspended in [false, true] {
        let change = json!({ "suspended": suspended });
        let change = server
            .by_proxy(Method::PATCH, &path, "", ADMINS)
            .json(&change);
        Answer::of(change).await.expect(200);
        let bobs = (!suspended).then(|| bobs.clone());
        let eves = Some(eves.clone());
        for (credential, says, expected) in [
            ("", &[][..], &None),
            ("", &as_bob, &bobs),
            ("", &as_eve, &eves),
            ("", &as_nobody, &None),
            (bob_session, &[], &bobs),
            // The proxy's word counts more than a session that was left behind in the browser.
            (bob_session, &as_eve, &eves),
            (eve_session, &as_bob, &bobs),
            (eve_session, &as_nobody, &None),
            // A key is meant, whatever the proxy says.
            (bob_key, &[], &bobs),
            (bob_key, &as_eve, &bobs),
            (bob_key, &as_nobody, &bobs),
            (eve_key, &as_bob, &eves),
            ("gh_0000", &as_eve, &None),
        ] {
            let found = who(credential, says).await;
            assert_eq!(
                &found, expected,
                "{credential} {says:?}, suspended: {suspended}"
            );
        }
    }
}

#[tokio::test]
async fn suspending_ends_what_it_has_opened() {
    let server = behind("127.0.0.1", &[]).await;
    server.me(ADMINS).await;
    let bob = server.me(BOB).await["user"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let stream = server
        .by_proxy(Method::GET, "/api/v1/activity", "", BOB)
        .send()
        .await
        .unwrap();
    let stream = Events::of(stream);
    let path = format!("/api/v1/users/{bob}");
    let change = server
        .by_proxy(Method::PATCH, &path, "", ADMINS)
        .json(&json!({"suspended": true}));
    Answer::of(change).await.expect(200);
    let ended = tokio::time::timeout(std::time::Duration::from_secs(5), stream.rest()).await;
    assert!(ended.is_ok(), "the stream is still open");
    assert_eq!(server.me(BOB).await["proxy"]["problem"], "suspended");
    server.seen("/api/v1/chats", BOB).await.expect(401);
}

#[tokio::test]
async fn it_is_the_first_step_for_whoever_is_asked_for_a_second() {
    let settings = [("GLASSHOUSE_TRUSTED_HEADER_LINK_BY_EMAIL", "true")];
    let server = behind("127.0.0.1", &settings).await;
    server.me(ADMINS).await;
    let body = json!({"email": "bob@example.org", "name": "Bob", "password": "battery staple", "role": "user"});
    let bob = server.sent("/api/v1/users", ADMINS, &body).await.json();
    let log_in = json!({"email": "bob@example.org", "password": "battery staple"});
    let session = server.sent("/api/v1/login", &[], &log_in).await.cookie();
    assert_eq!(server.me(BOB).await["user"]["id"], bob["id"]);
    // Turned on as the page does it, but for the code.
    let store = &server.app.store;
    let owner = bob["id"].as_str().unwrap().parse().unwrap();
    let (own, _) = store
        .session_user(
            &server::platform::secret::hash_token(session.split_once('=').unwrap().1),
            0,
            server.app.config.now().session,
        )
        .await
        .unwrap()
        .unwrap();
    store.begin_second_factor(owner, &[1]).await.unwrap();
    store
        .confirm_second_factor(owner, &[1], 1, &[], own, server.clock.now_ms())
        .await
        .unwrap();
    assert_eq!(server.me(BOB).await["proxy"]["problem"], "code_needed");
    server.seen("/api/v1/chats", BOB).await.expect(401);
    let with_session = server.by_proxy(Method::GET, "/api/v1/chats", &session, BOB);
    Answer::of(with_session).await.expect(200);
    let of_other = server.by_proxy(Method::GET, "/api/v1/chats", &session, ADMINS);
    Answer::of(of_other).await.expect(200);
    // Somebody else's session does not stand in for it.
    let body = json!({"email": "eve@example.org", "name": "Eve", "password": "battery staple", "role": "user"});
    server
        .sent("/api/v1/users", ADMINS, &body)
        .await
        .expect(200);
    let log_in = json!({"email": "eve@example.org", "password": "battery staple"});
    let eves = server.sent("/api/v1/login", &[], &log_in).await.cookie();
    let request = server.by_proxy(Method::GET, "/api/v1/chats", &eves, BOB);
    Answer::of(request).await.expect(401);
}

#[tokio::test]
async fn its_groups_put_people_into_ours() {
    let server = behind("127.0.0.1", &[]).await;
    server.me(ADMINS).await;
    let group = json!({"name": "Heads", "provider_name": "staff"});
    let made = server.sent("/api/v1/groups", ADMINS, &group).await;
    made.expect(200);
    let id = made.json()["id"].clone();
    let put = server.by_proxy(Method::PUT, "/api/v1/permissions", "", ADMINS);
    Answer::of(
        put.json(&json!({"kind": "right", "name": "sharing", "everybody": false, "groups": [id]})),
    )
    .await
    .expect(204);
    let may_share = async |says: &[(&str, &str)]| {
        let rights = server.me(says).await["rights"].clone();
        rights.as_array().unwrap().contains(&json!("sharing"))
    };
    let elsewhere = [
        ("x-user", "bob"),
        ("x-email", "bob@example.org"),
        ("x-groups", "guests"),
    ];
    assert!(may_share(BOB).await);
    assert!(!may_share(&elsewhere).await);
    assert!(may_share(BOB).await);
    assert!(!may_share(&elsewhere[..2]).await);
}
