//! Logs that somebody has changed in the database: what cannot be read is an error with a code, and nothing of it is told.

use domain::laws;
use serde_json::Value;
use sqlx::{Connection, Row, SqliteConnection};

use crate::{
    harness::{Answer, Server, new_folder},
    runs::{play, start_tour},
};

#[tokio::test]
async fn a_changed_log_is_an_error_and_not_a_crash() {
    let database = format!("sqlite://{}", new_folder().join("tampered.db").display());
    let server = Server::start_with(&[("GLASSHOUSE_DATABASE_URL", &database)]).await;
    let cookie = server.set_up().await;
    let (_, run) = start_tour(&server, &cookie).await;
    let log = play(&server, &cookie, &run).await;
    let log: Vec<_> = log
        .iter()
        .map(|event| serde_json::from_str(&event.data).unwrap())
        .collect();
    assert_eq!(laws::check(&log), Ok(()));
    let call = format!("/runs/{run}/calls/none");
    server.get(&call, &cookie).await.expect(404);
    let mut rows = SqliteConnection::connect(&database).await.unwrap();
    let first = "SELECT lines FROM segments WHERE first_seq = 1";
    let first: String = sqlx::query(first)
        .fetch_one(&mut rows)
        .await
        .unwrap()
        .get(0);
    let (_, but_the_first) = first.split_once('\n').unwrap();
    let of_another = first.replace(&run, &domain::RunId::generate().to_string());
    for lines in [
        but_the_first,
        &of_another,
        "",
        "canary\n",
        "{\"canary\":1}\n",
        "[\"langchain_core\",{\"lc\":1,\"type\":\"constructor\",\"id\":[\"canary\"]}]\n",
        "{\"run\":\"run_1\",\"seq\":-1,\"at\":1e999,\"body\":{\"type\":\"canary\"}}\n",
        "\u{fffd}{{{{{{{{",
    ] {
        let change = "UPDATE segments SET lines = $1 WHERE first_seq = 1";
        sqlx::query(change)
            .bind(lines)
            .execute(&mut rows)
            .await
            .unwrap();
        let answer = server.get(&call, &cookie).await;
        assert_eq!(answer.expect(500), "internal", "{lines}");
        assert!(!answer.text.contains("canary"), "{}", answer.text);
        let stream = server.get(&format!("/runs/{run}/events"), &cookie).await;
        assert_eq!(stream.expect(500), "internal", "{lines}");
        assert_eq!(stream.json()["error"]["sentence"]["code"], "damaged_log");
        assert!(!stream.text.contains("canary"), "{}", stream.text);
    }
    let fork = serde_json::json!({"after": 2});
    let answer = server
        .post(&format!("/api/v1/runs/{run}/fork"), &cookie, &fork)
        .await;
    assert_eq!(answer.expect(500), "internal");
    let me: Value = Answer::json(&server.get("/api/v1/me", &cookie).await);
    assert_eq!(me["user"]["role"], "admin", "the server goes on");
}
