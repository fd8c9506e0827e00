//! Settings of the server that administrators change while it runs.

use std::{path::Path, time::Duration};

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    faults::postgres::Cluster,
    harness::{Answer, Server, new_folder},
};

const SETTINGS: &str = "/api/v1/settings";

async fn change(server: &Server, ada: &str, values: Value) -> Answer {
    let request = server.request(Method::PATCH, SETTINGS, ada);
    Answer::of(request.json(&json!({ "values": values }))).await
}

async fn setting(server: &Server, ada: &str, name: &str) -> Value {
    let all = server.get(SETTINGS, ada).await.json();
    let all = all["settings"].as_array().unwrap();
    all.iter().find(|it| it["name"] == name).unwrap().clone()
}

async fn start(folder: &Path, more: &[(&str, &str)]) -> Server {
    let data = folder.join("data");
    let database = format!("sqlite://{}", folder.join("test.db").display());
    let mut settings = vec![
        ("GLASSHOUSE_DATA_DIR", data.to_str().unwrap()),
        ("GLASSHOUSE_DATABASE_URL", &database),
    ];
    settings.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
    settings.extend(more);
    Server::start_with(&settings).await
}

async fn stop(server: Server) {
    server.app.stopping.cancel();
    server.stopped().await;
    server.app.close().await;
}

/// A change applies at once, says where it comes from, survives a restart and can be taken back.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_applies_at_once_and_lasts() {
    let folder = new_folder();
    let server = start(&folder, &[]).await;
    let ada = server.set_up().await;
    let values = json!({"limits.steps": 7, "limits.usd": 2, "web.robots": false, "knowledge.graph_model": "big"});
    change(&server, &ada, values).await.expect(200);
    let config = server.app.config.now();
    assert_eq!(config.limits.steps, 7);
    assert_eq!(config.limits.cost_micro_usd, 2_000_000);
    assert!(!config.web.client.robots);
    assert_eq!(config.knowledge.graph_model.as_deref(), Some("big"));
    let steps = setting(&server, &ada, "limits.steps").await;
    assert_eq!(
        (&steps["value"], &steps["from"], &steps["changed_in"]),
        (&json!(7), &json!("web_app"), &json!("web_app"))
    );

    change(&server, &ada, json!({"limits.usd": null}))
        .await
        .expect(200);
    stop(server).await;
    let server = start(&folder, &[("GLASSHOUSE_WEB_ROBOTS", "true")]).await;
    let config = server.app.config.now();
    assert_eq!(
        (config.limits.steps, config.limits.cost_micro_usd),
        (7, 5_000_000)
    );
    // The environment takes precedence.
    assert!(config.web.client.robots);
    let robots = setting(&server, &ada, "web.robots").await;
    assert_eq!(robots["from"], "environment");
}

/// What cannot be changed says so, and changes nothing else of the same request.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_changed_is_refused_with_the_reason() {
    let folder = new_folder();
    let server = start(&folder, &[("GLASSHOUSE_LIMITS_DEPTH", "2")]).await;
    let ada = server.set_up().await;
    for (name, value, status, code) in [
        ("limits.stepz", json!(1), 400, "no_such_setting"),
        ("limits.steps", json!("many"), 400, "setting_of_other_type"),
        ("limits.steps", json!(1.5), 400, "setting_of_other_type"),
        ("limits.steps", json!([1]), 400, "setting_of_other_type"),
        ("limits.steps", json!(-1), 400, "setting_refused"),
        ("limits.context_share", json!(9), 400, "setting_refused"),
        ("session_max_hours", json!(1), 400, "setting_refused"),
        (
            "approvals",
            json!([{"tool": null}]),
            400,
            "setting_of_other_type",
        ),
        (
            "approvals",
            json!([{"tool": "x", "then": "perhaps"}]),
            400,
            "setting_refused",
        ),
        (
            "knowledge.graph_model",
            json!("x".repeat(200_000)),
            400,
            "long_setting",
        ),
        ("oidc.issuer", json!("nonsense"), 400, "setting_refused"),
        ("limits.depth", json!(3), 409, "setting_fixed"),
        ("listen", json!(["0.0.0.0:80"]), 409, "setting_not_here"),
        (
            "outbound.allow",
            json!(["10.0.0.0/8"]),
            409,
            "setting_not_here",
        ),
        ("web.search_key", json!("k"), 409, "setting_not_here"),
    ] {
        let mut values = json!({"limits.parallel": 3});
        values[name] = value;
        let answer = change(&server, &ada, values).await;
        answer.expect(status);
        assert!(answer.text.contains(code), "{name}: {}", answer.text);
    }
    let parallel = setting(&server, &ada, "limits.parallel").await;
    assert_eq!(parallel["from"], "default");
}

/// A value that became invalid, because the file changed, keeps neither the server from starting nor other values from
/// applying.
#[tokio::test(flavor = "multi_thread")]
async fn a_stored_value_that_is_invalid_now_is_left_out() {
    let folder = new_folder();
    let server = start(&folder, &[]).await;
    let ada = server.set_up().await;
    let values = json!({"session_hours": 1000, "limits.steps": 7});
    change(&server, &ada, values).await.expect(200);
    stop(server).await;
    let server = start(&folder, &[("GLASSHOUSE_SESSION_MAX_HOURS", "900")]).await;
    let config = server.app.config.now();
    assert_eq!(config.limits.steps, 7);
    assert_eq!(config.session.unused_ms, 720 * 3_600_000);
    let steps = setting(&server, &ada, "limits.steps").await;
    assert_eq!(steps["value"], 7);
}

/// The client secret of the sign-in provider is stored encrypted and never shown, neither in the settings nor in the
/// audit log, which tells what other values were.
#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_sealed_and_changes_are_audited() {
    let folder = new_folder();
    let server = start(&folder, &[]).await;
    let ada = server.set_up().await;
    let values = json!({
        "oidc.issuer": "https://id.example.org", "oidc.client_id": "glasshouse", "oidc.client_secret": "canary-1",
        "limits.steps": 7,
    });
    let answer = change(&server, &ada, values).await;
    answer.expect(200);
    assert!(!answer.text.contains("canary-1"));
    let config = server.app.config.now();
    let provider = config.oidc.as_ref().unwrap();
    assert_eq!(
        provider.client_secret.as_ref().unwrap().reveal(),
        "canary-1"
    );
    let me = server.get("/api/v1/me", &ada).await.json();
    assert!(me["oidc"].is_string(), "{me}");
    let stored = server.app.store.settings("server:oidc.").await.unwrap();
    assert_eq!(stored.len(), 3);
    assert!(!format!("{stored:?}").contains("canary-1"));
    let audit = server.get("/api/v1/audit", &ada).await;
    assert!(!audit.text.contains("canary-1"));
    let entry = &audit.json()["entries"][0];
    assert_eq!(entry["action"], "settings.change");
    assert_eq!(entry["details"]["before"]["limits.steps"], 50);
    assert_eq!(entry["details"]["values"]["limits.steps"], 7);
    assert_eq!(
        entry["details"]["values"]["oidc.client_secret"],
        Value::Null
    );
    // A provider without an issuer is none.
    change(&server, &ada, json!({"oidc.issuer": null}))
        .await
        .expect(200);
    let me = server.get("/api/v1/me", &ada).await.json();
    assert_eq!(me["oidc"], Value::Null);
}

/// What one server changes, another of the database has within a second.
#[tokio::test(flavor = "multi_thread")]
async fn another_server_of_the_database_has_the_change() {
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    let database = cluster.url();
    let database = [("GLASSHOUSE_DATABASE_URL", database.as_str())];
    let (folder, folder_of_second) = (new_folder(), new_folder());
    let first = start(&folder, &database).await;
    let ada = first.set_up().await;
    let key = |folder: &Path| folder.join("data").join("secret.key");
    std::fs::create_dir(folder_of_second.join("data")).unwrap();
    std::fs::copy(key(&folder), key(&folder_of_second)).unwrap();
    let second = start(&folder_of_second, &database).await;
    // Two servers that change different settings at once do not undo each other.
    let (one, other) = tokio::join!(
        change(&first, &ada, json!({"limits.depth": 2})),
        change(&second, &ada, json!({"limits.parallel": 4})),
    );
    one.expect(200);
    other.expect(200);
    let rules = json!([{"tool": "write_file", "then": "ask"}]);
    change(&first, &ada, json!({"limits.steps": 7, "approvals": rules}))
        .await
        .expect(200);
    for _ in 0..200 {
        if second.app.config.now().limits.steps == 7 {
            let config = second.app.config.now();
            assert_eq!(config.approvals.len(), 1);
            assert_eq!((config.limits.depth, config.limits.parallel_calls), (2, 4));
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the second server does not know of the change");
}
