//! Groups where two servers share a database: what an administrator changes at one holds at the other within a second.

use std::time::{Duration, Instant};

use scripted::{Behaviour, Reply};
use serde_json::json;
use server::identity::auth::LOCAL_EMAIL;

use super::{
    several_servers::{Servers, start},
    until,
};
use crate::openai::{CHAT, ask};

#[tokio::test]
async fn what_one_server_is_told_holds_at_the_other() {
    let Some(Servers {
        a,
        b,
        upstream: _upstream,
        cluster: _cluster,
    }) = start(Behaviour::always(Reply::text("Hello."))).await
    else {
        return;
    };
    let put = async |path: &str, body| {
        let put = a
            .client
            .put(format!("{}{path}", a.url))
            .json(&body)
            .send()
            .await
            .unwrap();
        assert_eq!(put.status(), 204);
    };
    let group = a
        .post("/api/v1/groups", &json!({"name": "Research"}))
        .await
        .json();
    let rule =
        json!({"kind": "model", "name": "scripted", "everybody": false, "groups": [group["id"]]});
    put("/api/v1/permissions", rule.clone()).await;
    let said = Instant::now();
    until("the other to know the rule", async || {
        b.get("/api/v1/permissions").await.json()["permissions"][0] == rule
    })
    .await;
    put(
        "/api/v1/limits",
        json!({"of": {"group_total": group["id"]}, "limits": {"day": {"requests": 1}}}),
    )
    .await;
    let members = format!("/api/v1/groups/{}/members", group["id"].as_str().unwrap());
    b.post(&members, &json!({"users": [LOCAL_EMAIL]}))
        .await
        .expect(204);
    until("the first to know who is in the group", async || {
        a.get("/api/v1/limits/own").await.json()["limits"][0]["group"] == "Research"
    })
    .await;
    assert!(
        said.elapsed() < Duration::from_secs(10),
        "{:?}",
        said.elapsed()
    );
    a.post(CHAT, &ask("scripted", "Hi")).await.expect(200);
    assert_eq!(
        a.post(CHAT, &ask("scripted", "Hi")).await.expect(429),
        "rate_limited"
    );
    until("the other to count it too", async || {
        b.post(CHAT, &ask("scripted", "Hi")).await.status == 429
    })
    .await;
}
