//! Limits of groups: for each who is in one, and for all of them together.

use scripted::{Behaviour, Reply, Step};
use serde_json::{Value, json};

use super::BOB;
use crate::openai::{Door, ask, finish, text};

const CAROL: &str = "carol@example.org";

/// 30 tokens a call.
async fn door() -> Door {
    let usage = Step::Usage {
        input_tokens: 10,
        output_tokens: 20,
    };
    Door::open(Behaviour::always(Reply::stream(&[
        text("Hello"),
        usage,
        finish(),
    ])))
    .await
}

async fn limit(door: &Door, of: Value, limits: Value) {
    let body = json!({"of": of, "limits": limits});
    door.server
        .put("/api/v1/limits", &door.cookie, &body)
        .await
        .expect(204);
}

async fn asks(door: &Door, key: &str) -> u16 {
    let answer = door
        .server
        .post(crate::openai::CHAT, key, &ask("scripted", "Hi"))
        .await;
    if answer.status.as_u16() == 429 {
        assert!(answer.headers.contains_key("retry-after"), "{answer:?}");
        assert_eq!(answer.headers["x-ratelimit-remaining-requests"], "0");
    }
    answer.status.as_u16()
}

#[tokio::test]
async fn of_each_stands_between_the_accounts_own_and_the_default() {
    let door = door().await;
    let (a, b) = (door.group("A").await, door.group("B").await);
    limit(&door, json!("default"), json!({"day": {"requests": 1}})).await;
    limit(&door, json!({"group": a}), json!({"day": {"requests": 2}})).await;
    limit(
        &door,
        json!({"group": b}),
        json!({"day": {"requests": 3}, "month": {"tokens": 1_000_000}}),
    )
    .await;
    assert_eq!(
        [asks(&door, &door.key).await, asks(&door, &door.key).await],
        [200, 429]
    );
    door.join(&a, BOB).await;
    assert_eq!(
        [asks(&door, &door.key).await, asks(&door, &door.key).await],
        [200, 429]
    );
    door.join(&b, BOB).await;
    assert_eq!(
        [asks(&door, &door.key).await, asks(&door, &door.key).await],
        [200, 429],
        "the most generous"
    );
    let own = door
        .server
        .get("/api/v1/limits/own", &door.key)
        .await
        .json();
    let of: Vec<_> = own["limits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["span"].clone(), it["of"].clone()))
        .collect();
    assert_eq!(
        of,
        [
            (json!("day"), json!("user")),
            (json!("month"), json!("user"))
        ]
    );
    limit(&door, json!({"user": BOB}), json!({"day": {"requests": 4}})).await;
    assert_eq!(
        [asks(&door, &door.key).await, asks(&door, &door.key).await],
        [200, 429]
    );
    limit(&door, json!({"user": BOB}), json!({})).await;
    door.leave(&b, BOB).await;
    assert_eq!(asks(&door, &door.key).await, 429);
}

#[tokio::test]
async fn of_all_together_is_what_those_have_used_who_are_in_it() {
    let door = door().await;
    let carol = door.server.key_of_plain_user(CAROL).await;
    let group = door.group("Team").await;
    for email in [BOB, CAROL] {
        door.join(&group, email).await;
    }
    limit(
        &door,
        json!({"group_total": group}),
        json!({"day": {"requests": 3}}),
    )
    .await;
    assert_eq!(
        [asks(&door, &door.key).await, asks(&door, &carol).await],
        [200, 200]
    );
    assert_eq!(
        [asks(&door, &carol).await, asks(&door, &door.key).await],
        [200, 429]
    );
    assert_eq!(asks(&door, &carol).await, 429);
    let own = door
        .server
        .get("/api/v1/limits/own", &door.key)
        .await
        .json();
    assert_eq!(
        (&own["limits"][0]["of"], &own["limits"][0]["group"]),
        (&json!("group"), &json!("Team"))
    );
    assert_eq!(own["limits"][0]["used"]["requests"], 3);
    let refused = door.post(&ask("glasshouse/agent", "Hi")).await;
    refused.expect(429);
    assert!(
        refused.text.contains("A group of this account"),
        "{}",
        refused.text
    );
    // Who leaves takes along what they have used.
    door.leave(&group, CAROL).await;
    assert_eq!(
        [asks(&door, &carol).await, asks(&door, &door.key).await],
        [200, 200]
    );
    let own = door
        .server
        .get("/api/v1/limits/own", &door.key)
        .await
        .json();
    assert_eq!(own["limits"][0]["used"]["requests"], 2);
    door.server.clock.advance_ms(24 * 3_600_000);
    assert_eq!(asks(&door, &door.key).await, 200);
}

#[tokio::test]
async fn a_hundred_at_once_stay_within_the_groups_limit() {
    let door = door().await;
    let carol = door.server.key_of_plain_user(CAROL).await;
    let group = door.group("Team").await;
    for email in [BOB, CAROL] {
        door.join(&group, email).await;
    }
    limit(
        &door,
        json!({"group_total": group}),
        json!({"month": {"requests": 40}}),
    )
    .await;
    let keys = [&door.key, &carol];
    let answers =
        futures_util::future::join_all((0..100).map(|at| asks(&door, keys[at % 2]))).await;
    assert_eq!(answers.iter().filter(|status| **status == 200).count(), 40);
    assert_eq!(answers.iter().filter(|status| **status == 429).count(), 60);
}

#[tokio::test]
async fn go_with_the_group() {
    let door = door().await;
    let group = door.group("Team").await;
    limit(
        &door,
        json!({"group": group}),
        json!({"day": {"requests": 1}}),
    )
    .await;
    limit(
        &door,
        json!({"group_total": group}),
        json!({"day": {"requests": 1}}),
    )
    .await;
    let all = door.server.get("/api/v1/limits", &door.cookie).await.json();
    assert_eq!(
        (&all["groups"][0]["group"], &all["group_totals"][0]["group"]),
        (&json!(group), &json!(group))
    );
    door.server
        .delete(&format!("/api/v1/groups/{group}"), &door.cookie)
        .await
        .expect(204);
    let all = door.server.get("/api/v1/limits", &door.cookie).await.json();
    assert_eq!(
        (&all["groups"], &all["group_totals"]),
        (&json!([]), &json!([]))
    );
    let body = json!({"of": {"group": group}, "limits": {}});
    door.server
        .put("/api/v1/limits", &door.cookie, &body)
        .await
        .expect(404);
}
