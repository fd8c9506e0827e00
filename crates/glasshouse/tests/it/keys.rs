//! Bearer keys for programs.

use reqwest::Method;
use serde_json::json;

use crate::harness::Server;

#[tokio::test]
async fn a_key_works_until_it_is_deleted() {
    let (server, cookie) = Server::start_signed_in().await;
    let created = server
        .post("/api/v1/keys", &cookie, &json!({ "name": " laptop " }))
        .await
        .json();
    let secret = created["secret"].as_str().unwrap();
    assert!(secret.starts_with("gh_") && secret.len() == 67, "{secret}");
    assert_eq!(created["key"]["name"], "laptop");
    assert!(secret.starts_with(created["key"]["prefix"].as_str().unwrap()));
    assert_eq!(created["key"]["last_used_at"], json!(null));

    let listed = server.get("/api/v1/keys", secret).await;
    listed.expect(200);
    assert!(!listed.text.contains(secret));
    let listed = listed.json();
    assert_eq!(listed["keys"][0]["id"], created["key"]["id"]);
    assert_eq!(listed["keys"][0]["last_used_at"], server.clock.now_ms());

    let path = format!("/api/v1/keys/{}", created["key"]["id"].as_str().unwrap());
    server.delete(&path, &cookie).await.expect(204);
    assert_eq!(
        server.get("/api/v1/keys", secret).await.expect(401),
        "unauthenticated"
    );
    server.delete(&path, &cookie).await.expect(404);
}

#[tokio::test]
async fn use_is_written_down_once_a_minute() {
    let (server, cookie) = Server::start_signed_in().await;
    let created = server
        .post("/api/v1/keys", &cookie, &json!({ "name": "x" }))
        .await
        .json();
    let secret = created["secret"].as_str().unwrap();
    let last_used =
        async || server.get("/api/v1/keys", secret).await.json()["keys"][0]["last_used_at"].clone();
    let first = last_used().await;
    server.clock.advance_ms(59_999);
    assert_eq!(last_used().await, first);
    server.clock.advance_ms(1);
    assert_eq!(last_used().await, server.clock.now_ms());
}

#[tokio::test]
async fn keys_are_their_owners_alone() {
    let (server, cookie) = Server::start_signed_in().await;
    let other = server.key_of_plain_user("bob@example.org").await;
    let created = server
        .post("/api/v1/keys", &cookie, &json!({ "name": "x" }))
        .await
        .json();
    let path = format!("/api/v1/keys/{}", created["key"]["id"].as_str().unwrap());
    assert_eq!(
        server.get("/api/v1/keys", &other).await.json()["keys"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(server.delete(&path, &other).await.expect(404), "not_found");
}

#[tokio::test]
async fn what_is_no_key_is_refused() {
    let (server, cookie) = Server::start_signed_in().await;
    for bad in ["gh_", "gh_0000", "gh_' OR 1=1 --"] {
        assert_eq!(
            server.get("/api/v1/keys", bad).await.expect(401),
            "unauthenticated"
        );
    }
    let foreign = server
        .request(reqwest::Method::GET, "/api/v1/keys", &cookie)
        .bearer_auth("sk-other");
    // A key that is sent is meant; the cookie does not stand in for it.
    assert_eq!(
        crate::harness::Answer::of(foreign).await.expect(401),
        "unauthenticated"
    );
    for name in ["", "   ", &"x".repeat(101)] {
        server
            .post("/api/v1/keys", &cookie, &json!({ "name": name }))
            .await
            .expect(400);
    }
}

#[tokio::test]
async fn a_key_ends_when_it_was_said_to() {
    let (server, cookie) = Server::start_signed_in().await;
    let now = server.clock.now_ms();
    let body = json!({"name": "x", "expires_at": now + 5_000});
    let created = server.post("/api/v1/keys", &cookie, &body).await.json();
    let secret = created["secret"].as_str().unwrap();
    server.get("/api/v1/keys", secret).await.expect(200);
    server.clock.advance_ms(5_000);
    // Also while it is still remembered.
    assert_eq!(
        server.get("/api/v1/keys", secret).await.expect(401),
        "unauthenticated"
    );
    let past = json!({"name": "x", "expires_at": now});
    server
        .post("/api/v1/keys", &cookie, &past)
        .await
        .expect(400);
}

#[tokio::test]
async fn a_new_secret_leaves_time_for_the_old_one() {
    let (server, cookie) = Server::start_signed_in().await;
    let created = server
        .post("/api/v1/keys", &cookie, &json!({"name": "x"}))
        .await
        .json();
    let path = format!(
        "/api/v1/keys/{}/rotate",
        created["key"]["id"].as_str().unwrap()
    );
    let rotate = async |grace_s: u64| {
        let answer = server
            .post(&path, &cookie, &json!({"grace_s": grace_s}))
            .await
            .json();
        assert_eq!(answer["key"]["id"], created["key"]["id"]);
        answer["secret"].as_str().unwrap().to_owned()
    };
    let works = async |secret: &str| server.get("/api/v1/keys", secret).await.status == 200;
    let first = created["secret"].as_str().unwrap();
    let second = rotate(60).await;
    assert!(works(first).await && works(&second).await);
    server.clock.advance_ms(60_000);
    assert!(!works(first).await && works(&second).await);
    let third = rotate(0).await;
    assert!(!works(&second).await && works(&third).await, "at once");
    server
        .post(&path, &cookie, &json!({"grace_s": 2_592_001}))
        .await
        .expect(400);
    let bob = server.key_of_plain_user("bob@example.org").await;
    assert_eq!(
        server.post(&path, &bob, &json!({})).await.expect(404),
        "not_found"
    );
}

#[tokio::test]
async fn no_key_makes_one_that_is_good_for_more() {
    let (server, cookie) = Server::start_signed_in().await;
    let make = async |credential: &str, body: serde_json::Value| {
        server.post("/api/v1/keys", credential, &body).await
    };
    let expires = server.clock.now_ms() + 60_000;
    for narrow in [
        json!({"name": "x", "scopes": ["read", "write", "chat", "admin"]}),
        json!({"name": "x", "scopes": ["chat"], "models": ["tour"]}),
        json!({"name": "x", "expires_at": expires}),
        json!({"name": "x", "front_end": true}),
    ] {
        let key = make(&cookie, narrow.clone()).await;
        key.expect(200);
        let secret = key.json()["secret"].as_str().unwrap().to_owned();
        assert_eq!(
            make(&secret, json!({"name": "y"})).await.expect(403),
            "forbidden",
            "{narrow}"
        );
    }
    let bob = server.key_of_plain_user("bob@example.org").await;
    for more in [
        json!({"name": "x", "scopes": ["admin"]}),
        json!({"name": "x", "front_end": true}),
    ] {
        assert_eq!(make(&bob, more).await.expect(403), "forbidden");
    }
    for bad in [
        json!({"name": "x", "scopes": []}),
        json!({"name": "x", "scopes": ["root"]}),
        json!({"name": "x", "models": ["tour"]}),
        json!({"name": "x", "scopes": ["chat"], "models": []}),
        json!({"name": "x", "signing_key": "0123456789abcdef"}),
        json!({"name": "x", "front_end": true, "signing_key": "short"}),
    ] {
        assert_eq!(
            make(&cookie, bad.clone()).await.expect(400),
            "invalid_request",
            "{bad}"
        );
    }
}

#[tokio::test]
async fn fields_that_would_give_more_have_no_effect() {
    let (server, cookie) = Server::start_signed_in().await;
    let ada = server.get("/api/v1/me", &cookie).await.json()["user"]["id"].clone();
    let bob = server.key_of_plain_user("bob@example.org").await;
    let body = json!({"name": "x", "owner_id": ada, "owner": ada, "user": ada, "role": "admin", "id": "key_1"});
    let key = server.post("/api/v1/keys", &bob, &body).await.json();
    let secret = key["secret"].as_str().unwrap();
    let me = server.get("/api/v1/me", secret).await.json();
    assert_eq!(
        (&me["user"]["email"], &me["user"]["role"]),
        (&json!("bob@example.org"), &json!("user"))
    );
    server.get("/api/v1/connections", secret).await.expect(403);
    assert_eq!(
        server.get("/api/v1/keys", &cookie).await.json()["keys"],
        json!([])
    );
}

#[tokio::test]
async fn a_key_for_some_models_is_for_no_others() {
    let (server, cookie) = Server::start_signed_in().await;
    let default = json!({"model": "tour"});
    server
        .put("/api/v1/settings/default-model", &cookie, &default)
        .await
        .expect(204);
    let body = json!({"name": "x", "scopes": ["chat", "read"], "models": ["glasshouse/agent"]});
    let key = server.post("/api/v1/keys", &cookie, &body).await.json();
    let key = key["secret"].as_str().unwrap();
    let list = server.get("/v1/models", key).await.json();
    assert_eq!(list["data"].as_array().unwrap().len(), 1);
    assert_eq!(list["data"][0]["id"], "glasshouse/agent");
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let doors = [
        (
            "/v1/chat/completions",
            json!({"model": "tour", "messages": messages}),
        ),
        ("/v1/responses", json!({"model": "tour", "input": "Hi"})),
        ("/v1/embeddings", json!({"model": "tour", "input": "Hi"})),
        (
            "/chat/stream",
            json!({"model": "tour", "messages": messages}),
        ),
        (
            "/api/ui-message-stream",
            json!({"model": "tour", "messages": [
                {"id": "1", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}
            ]}),
        ),
        (
            "/ag-ui/tour",
            json!({"threadId": "t", "runId": "r", "messages": [
            {"id": "1", "role": "user", "content": "Hi"}
        ], "tools": [], "context": [], "state": {}, "forwardedProps": {}}),
        ),
        ("/api/chat", json!({"model": "tour", "message": "Hi"})),
    ];
    for (door, body) in doors {
        let answer = server.post(door, key, &body).await;
        assert_eq!(answer.expect(403), "forbidden", "{door}: {}", answer.text);
        assert!(
            answer.text.contains("may not use “tour”"),
            "{door}: {}",
            answer.text
        );
    }
    let own = json!({"model": "glasshouse/agent", "messages": messages});
    server
        .post("/v1/chat/completions", key, &own)
        .await
        .expect(200);
    let unnamed = server
        .request(Method::POST, "/chat/stream", key)
        .json(&json!({"messages": messages}));
    assert_eq!(unnamed.send().await.unwrap().status(), 200);
}
