//! Bearer keys for programs.

use serde_json::json;

use crate::harness::Server;

#[tokio::test]
async fn a_key_works_until_it_is_deleted() {
    let (server, cookie) = Server::start_signed_in().await;
    let created = server.post("/api/v1/keys", &cookie, &json!({ "name": " laptop " })).await.json();
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
    assert_eq!(server.get("/api/v1/keys", secret).await.expect(401), "unauthenticated");
    server.delete(&path, &cookie).await.expect(404);
}

#[tokio::test]
async fn use_is_written_down_once_a_minute() {
    let (server, cookie) = Server::start_signed_in().await;
    let created = server.post("/api/v1/keys", &cookie, &json!({ "name": "x" })).await.json();
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
    let created = server.post("/api/v1/keys", &cookie, &json!({ "name": "x" })).await.json();
    let path = format!("/api/v1/keys/{}", created["key"]["id"].as_str().unwrap());
    assert_eq!(server.get("/api/v1/keys", &other).await.json()["keys"].as_array().unwrap().len(), 1);
    assert_eq!(server.delete(&path, &other).await.expect(404), "not_found");
}

#[tokio::test]
async fn what_is_no_key_is_refused() {
    let (server, cookie) = Server::start_signed_in().await;
    for bad in ["gh_", "gh_0000", "gh_' OR 1=1 --"] {
        assert_eq!(server.get("/api/v1/keys", bad).await.expect(401), "unauthenticated");
    }
    let foreign = server.request(reqwest::Method::GET, "/api/v1/keys", &cookie).bearer_auth("sk-other");
    // A key that is sent is meant; the cookie does not stand in for it.
    assert_eq!(crate::harness::Answer::of(foreign).await.expect(401), "unauthenticated");
    for name in ["", "   ", &"x".repeat(101)] {
        server.post("/api/v1/keys", &cookie, &json!({ "name": name })).await.expect(400);
    }
}
