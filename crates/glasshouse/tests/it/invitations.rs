//! Invitations that give a role and groups, and their new links.

use serde_json::{Value, json};

use crate::{
    doors::{BOB, BOBS, HOUR_MS},
    harness::Server,
};

impl Server {
    /// Creates a group; its id.
    async fn new_group(&self, admin: &str, name: &str) -> String {
        let made = self
            .post("/api/v1/groups", admin, &json!({ "name": name }))
            .await;
        made.expect(200);
        made.json()["id"].as_str().unwrap().to_owned()
    }
}

/// The account gets the role and the groups at once, and what it asks for itself does not count.
#[tokio::test]
async fn an_invitation_gives_a_role_and_groups() {
    let (server, ada) = Server::start_signed_in().await;
    server.mode(&ada, "invitation").await.expect(204);
    let finance = server.new_group(&ada, "Finance").await;
    let sales = server.new_group(&ada, "Sales").await;
    let body = json!({"email": BOB, "role": "admin", "groups": [finance, sales]});
    let (token, id) = server.invite(&ada, body).await;
    let listed = server.get("/api/v1/invitations", &ada).await.json();
    let invitation = &listed["invitations"][0];
    let mut groups = [&finance, &sales];
    groups.sort_unstable();
    assert_eq!(
        (&invitation["role"], &invitation["groups"]),
        (&json!("admin"), &json!(groups))
    );

    server
        .delete(&format!("/api/v1/groups/{sales}"), &ada)
        .await
        .expect(204);
    server.sign_up(BOB, Some(&token)).await.expect(204);
    let bob = server.enter(BOB, BOBS).await;
    assert_eq!(bob.json()["user"]["role"], "admin");
    let accounts = server.get("/api/v1/users", &bob.cookie()).await;
    accounts.expect(200);
    let accounts = accounts.json();
    let of_bob = accounts["users"].as_array().unwrap().iter();
    let of_bob = of_bob.clone().find(|user| user["email"] == BOB).unwrap();
    assert_eq!(of_bob["groups"], json!([finance]));

    let told = server.get("/api/v1/audit", &ada).await.json();
    let told = told["entries"].as_array().unwrap();
    let of = |action: &str| told.iter().find(|entry| entry["action"] == action).unwrap();
    assert_eq!(
        of("invitation.create")["details"],
        json!({"role": "admin", "groups": ["Finance", "Sales"], "uses": 1})
    );
    assert_eq!(
        of("user.sign_up")["details"],
        json!({"invitation": id, "role": "admin", "groups": ["Finance"]})
    );
}

/// A link for an administrator does not make one of an account that is there.
#[tokio::test]
async fn an_invitation_does_not_change_an_account() {
    let (server, ada) = Server::start_signed_in().await;
    server.mode(&ada, "open").await.expect(204);
    server.sign_up(BOB, None).await.expect(204);
    let finance = server.new_group(&ada, "Finance").await;
    let body = json!({"role": "admin", "groups": [finance]});
    let (token, _) = server.invite(&ada, body).await;
    server.sign_up(BOB, Some(&token)).await.expect(204);
    let bob = server.enter(BOB, BOBS).await;
    assert_eq!(bob.json()["user"]["role"], "user");
    let members = format!("/api/v1/groups/{finance}/members");
    assert_eq!(
        server.get(&members, &ada).await.json(),
        json!({"members": []})
    );
}

#[tokio::test]
async fn roles_and_groups_of_invitations_are_checked() {
    let (server, ada) = Server::start_signed_in().await;
    let gone = server.new_group(&ada, "Gone").await;
    server
        .delete(&format!("/api/v1/groups/{gone}"), &ada)
        .await
        .expect(204);
    for (wrong, field) in [
        (json!({"role": "owner"}), None),
        (json!({"role": "admin", "uses": 2}), Some("uses")),
        (json!({"groups": "Finance"}), None),
        (json!({"groups": ["Finance"]}), None),
        (json!({"groups": [gone]}), Some("groups")),
        (json!({"groups": vec![&gone; 1001]}), Some("groups")),
    ] {
        let refused = server.post("/api/v1/invitations", &ada, &wrong).await;
        refused.expect(400);
        if let Some(field) = field {
            assert_eq!(refused.json()["error"]["field"], field, "{wrong}");
        }
    }
    let listed = server.get("/api/v1/invitations", &ada).await.json();
    assert_eq!(listed["invitations"], json!([]));
}

#[tokio::test]
async fn another_link_ends_the_one_before() {
    let (server, ada) = Server::start_signed_in().await;
    server.mode(&ada, "invitation").await.expect(204);
    let finance = server.new_group(&ada, "Finance").await;
    let body = json!({"uses": 2, "days": 3, "groups": [finance]});
    let (first, id) = server.invite(&ada, body).await;
    server.sign_up(BOB, Some(&first)).await.expect(204);
    server.clock.advance_ms(HOUR_MS);
    let path = format!("/api/v1/invitations/{id}/link");
    let renewed = server.post(&path, &ada, &Value::Null).await;
    renewed.expect(200);
    let renewed = renewed.json();
    let invitation = &renewed["invitation"];
    assert_eq!(
        (
            &invitation["id"],
            &invitation["uses"],
            &invitation["groups"]
        ),
        (&json!(id), &json!(1), &json!([finance]))
    );
    assert_eq!(
        invitation["expires_at"],
        server.clock.now_ms() + 72 * HOUR_MS
    );
    let second = renewed["path"].as_str().unwrap();
    let second = second.strip_prefix("/sign-up#").unwrap();
    let eve = "eve@example.org";
    server.sign_up(eve, Some(&first)).await.expect(404);
    server.sign_up(eve, Some(second)).await.expect(204);
    // It is used up now.
    server.post(&path, &ada, &Value::Null).await.expect(409);

    // Inviting an address again replaces its link, too.
    let carol = "carol@example.org";
    let (old, _) = server
        .invite(&ada, json!({"email": carol, "role": "admin"}))
        .await;
    let (new, _) = server
        .invite(&ada, json!({"email": carol.to_uppercase()}))
        .await;
    server.sign_up(carol, Some(&old)).await.expect(404);
    server.sign_up(carol, Some(&new)).await.expect(204);
    let login = server.enter(carol, BOBS).await;
    assert_eq!(login.json()["user"]["role"], "user");
}
