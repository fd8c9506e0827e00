//! What groups are not made of.

use serde_json::{Value, json};

use super::{BOB, door, plain};

#[tokio::test]
async fn bad_input_is_refused_in_words() {
    let (server, cookie) = plain().await;
    let made = server
        .post("/api/v1/groups", &cookie, &json!({"name": " Команда "}))
        .await
        .json();
    assert_eq!(made["name"], "Команда");
    let group = format!("/api/v1/groups/{}", made["id"].as_str().unwrap());
    let long = "x".repeat(10_000);
    for body in [
        json!({}),
        json!({"name": ""}),
        json!({"name": "a\u{0}b"}),
        json!({"name": "a\nb"}),
        json!({"name": long}),
        json!({"name": 7}),
        json!({"name": "A", "description": long}),
        json!({"name": "A", "description": "\u{0}"}),
        json!({"name": "A", "provider_name": "a\u{0}"}),
        json!({"name": "A", "provider_name": long}),
        json!([]),
    ] {
        server
            .post("/api/v1/groups", &cookie, &body)
            .await
            .expect(400);
    }
    for body in [
        json!({"name": "\u{0}"}),
        json!({"description": long}),
        json!({"provider_name": 5}),
    ] {
        server
            .request(reqwest::Method::PATCH, &group, &cookie)
            .json(&body)
            .send()
            .await
            .unwrap();
    }
    server
        .post("/api/v1/groups", &cookie, &json!({"name": "КОМАНДА"}))
        .await
        .expect(409);
    let members = format!("{group}/members");
    let nobody = "user_00000000000000000000000000000000";
    for body in [
        json!({"users": []}),
        json!({"users": ["nobody@example.org"]}),
        json!({"users": ["\u{0}"]}),
        json!({"users": [long]}),
        json!({"users": [nobody]}),
        json!({"users": vec![nobody; 10_001]}),
        json!({"users": "ada@example.org"}),
        json!({}),
    ] {
        server.post(&members, &cookie, &body).await.expect(400);
    }
    assert_eq!(
        server.get(&members, &cookie).await.json()["members"],
        json!([])
    );
    server
        .delete(&format!("{members}/{nobody}"), &cookie)
        .await
        .expect(404);
    let rights = json!({"kind": "right", "name": "everything"});
    for body in [
        rights,
        json!({"kind": "colour", "name": "red"}),
        json!({"kind": "model", "name": ""}),
        json!({"kind": "model", "name": "a\u{0}"}),
        json!({"kind": "model", "name": long}),
        json!({"kind": "model", "name": "m", "everybody": "no"}),
        json!({"kind": "model", "name": "m", "groups": ["x"]}),
        json!({"kind": "model", "name": "m", "groups": ["group_00000000000000000000000000000000"]}),
        json!({"kind": "model", "name": "m", "groups": vec![made["id"].clone(); 1_001]}),
    ] {
        server
            .put("/api/v1/permissions", &cookie, &body)
            .await
            .expect(400);
    }
    assert_eq!(
        server.get("/api/v1/permissions", &cookie).await.json()["permissions"],
        json!([])
    );
    let twice = json!({"kind": "model", "name": "'; --", "everybody": false, "groups": [made["id"], made["id"]]});
    server
        .put("/api/v1/permissions", &cookie, &twice)
        .await
        .expect(204);
}

#[tokio::test]
async fn nobody_puts_themselves_into_a_group() {
    let door = door().await;
    let group = door.group("Staff").await;
    let me = json!({"users": [BOB]});
    door.server
        .post(&format!("/api/v1/groups/{group}/members"), &door.key, &me)
        .await
        .expect(403);
    door.server
        .put(
            "/api/v1/permissions",
            &door.key,
            &json!({"kind": "model", "name": "m"}),
        )
        .await
        .expect(403);
    // Nor do fields that other bodies have no place for.
    let body = json!({"name": "k", "groups": [group]});
    door.server
        .post("/api/v1/keys", &door.key, &body)
        .await
        .expect(200);
    let members = door
        .server
        .get(&format!("/api/v1/groups/{group}/members"), &door.cookie)
        .await
        .json();
    assert_eq!(members["members"], json!([]));
}

#[tokio::test]
async fn ten_thousand_are_in_one_group() {
    let (server, cookie) = plain().await;
    let store = &server.app.store;
    let mut ids: Vec<Value> = Vec::new();
    for number in 0..10_000 {
        let id = domain::UserId::generate();
        ids.push(json!(id.to_string()));
        let new = store::NewUser {
            id,
            email: format!("p{number}@example.org"),
            name: "Person".to_owned(),
            role: store::UserRole::User,
            password_hash: "!".to_owned(),
            created_at: 1,
        };
        store.create_user(&new).await.unwrap();
    }
    let made = server
        .post("/api/v1/groups", &cookie, &json!({"name": "All"}))
        .await
        .json();
    let members = format!("/api/v1/groups/{}/members", made["id"].as_str().unwrap());
    server
        .post(&members, &cookie, &json!({"users": ids}))
        .await
        .expect(204);
    let all = server.get(&members, &cookie).await.json();
    assert_eq!(all["members"].as_array().unwrap().len(), 10_000);
    let groups = server.get("/api/v1/groups", &cookie).await.json();
    assert_eq!(groups["groups"][0]["members"], 10_000);
}
