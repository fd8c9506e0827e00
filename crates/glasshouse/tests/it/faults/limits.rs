//! Limits where two servers share a database: what one has written down counts at the other.

use scripted::{Behaviour, Reply, Step};
use serde_json::json;

use super::{
    several_servers::{Servers, start},
    until,
};
use crate::openai::{CHAT, ask, finish, text};

#[tokio::test]
async fn what_one_server_counts_holds_at_the_other() {
    let usage = Step::Usage {
        input_tokens: 10,
        output_tokens: 20,
    };
    let answer = [text("Hello"), usage, finish()];
    let Some(Servers {
        a,
        b,
        upstream: _upstream,
        cluster: _cluster,
    }) = start(Behaviour::always(Reply::stream(&answer))).await
    else {
        return;
    };
    let limits = json!({"of": "default", "limits": {"month": {"tokens": 100}}});
    let put = a
        .client
        .put(format!("{}/api/v1/limits", a.url))
        .json(&limits)
        .send()
        .await
        .unwrap();
    assert_eq!(put.status(), 204);
    until("the other knows the limit", async || {
        b.get("/api/v1/limits").await.json()["default"]["month"]["tokens"] == 100
    })
    .await;
    // Neither server knows how long answers are here.
    let mut short = ask("scripted", "Hi");
    short["max_tokens"] = json!(20);
    b.post(CHAT, &short).await.expect(200);
    until("the first counts the call of the other", async || {
        let own = a.get("/api/v1/limits/own").await.json();
        own["limits"][0]["used"]["tokens"] == 30
    })
    .await;
    a.post(CHAT, &short).await.expect(200);
    a.post(CHAT, &short).await.expect(200);
    assert_eq!(a.post(CHAT, &short).await.expect(429), "rate_limited");
    until("the other refuses too", async || {
        b.get("/api/v1/limits/own").await.json()["limits"][0]["used"]["tokens"] == 90
    })
    .await;
    assert_eq!(b.post(CHAT, &short).await.expect(429), "rate_limited");
    let total = b.get("/api/v1/usage").await.json()["total"].clone();
    assert_eq!(
        (&total["requests"], &total["input_tokens"]),
        (&json!(3), &json!(30))
    );
}
