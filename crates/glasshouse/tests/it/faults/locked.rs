//! Another program holds SQLite's lock for half a minute: what is written waits or is refused, what was taken is kept.

use std::time::Duration;

use domain::{EventBody, Outcome};
use reqwest::Method;
use scripted::{Behaviour, ScriptedServer};
use serde_json::json;
use sqlx::{Connection, Executor, SqliteConnection};
use tokio::time::{Instant, sleep};

use super::{until, whole_log, words};
use crate::{
    harness::{Answer, Server, new_folder},
    openai::connect,
    runs::events,
};

/// Longer than any single statement waits.
const LOCKED: Duration = Duration::from_secs(31);

#[tokio::test]
async fn a_database_locked_for_half_a_minute_loses_nothing() {
    let upstream = ScriptedServer::start(Behaviour::always(words(200, 50.0)))
        .await
        .unwrap();
    let folder = new_folder();
    let database = format!("sqlite://{}", folder.join("test.db").display());
    let server = Server::start_with(&[("GLASSHOUSE_DATABASE_URL", &database)]).await;
    let cookie = server.set_up().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let chat = server
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json()["id"]
        .clone();
    let chat = format!("/api/v1/chats/{}", chat.as_str().unwrap());
    let said = json!({"content": "Hi", "model": "scripted"});
    let begun = server
        .post(&format!("{chat}/messages"), &cookie, &said)
        .await
        .json();
    let run = format!("/runs/{}/events", begun["run"].as_str().unwrap());
    let mut watching = events(&server, &cookie, &run).await;
    watching
        .until(|event| event["body"]["type"] == "text_delta")
        .await;

    let mut other = SqliteConnection::connect(&database).await.unwrap();
    other
        .execute("PRAGMA busy_timeout = 60000; BEGIN EXCLUSIVE")
        .await
        .unwrap();
    let locked = Instant::now();
    let refused = server
        .post(
            &format!("{chat}/messages"),
            &cookie,
            &json!({"content": "Lost?"}),
        )
        .await;
    assert_eq!(refused.expect(503), "unavailable");
    let read = server
        .request(Method::GET, &chat, &cookie)
        .timeout(Duration::from_secs(2));
    Answer::of(read).await.expect(200);
    sleep(LOCKED.saturating_sub(locked.elapsed())).await;
    other.execute("ROLLBACK").await.unwrap();

    let end = watching
        .until(|event| event["body"]["type"] == "run_finished")
        .await;
    assert_eq!(end["body"]["outcome"], "completed", "{end}");
    whole_log(&server.get(&run, &cookie).await.text);
    let messages = server.get(&chat, &cookie).await.json()["messages"].clone();
    assert_eq!(
        messages.as_array().unwrap().len(),
        2,
        "what was refused is not there: {messages}"
    );
    assert_eq!(messages[1]["content"][0]["text"], "word ".repeat(200));
    server
        .post(&format!("{chat}/messages"), &cookie, &said)
        .await
        .expect(200);
    until("all runs end", async || {
        server.app.store.unfinished_runs().await.unwrap().is_empty()
    })
    .await;
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn a_run_that_was_given_up_goes_on_once_the_lock_is_gone() {
    let upstream = Behaviour::sequence(vec![words(600, 50.0), words(5, 50.0)]);
    let upstream = ScriptedServer::start(upstream).await.unwrap();
    let folder = new_folder();
    let database = format!("sqlite://{}", folder.join("test.db").display());
    let server = Server::start_with(&[("GLASSHOUSE_DATABASE_URL", &database)]).await;
    server.app.runs.give_up_after(Duration::ZERO);
    let cookie = server.set_up().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let chat = server
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json()["id"]
        .clone();
    let said = json!({"content": "Hi", "model": "scripted"});
    let path = format!("/api/v1/chats/{}/messages", chat.as_str().unwrap());
    let run = server.post(&path, &cookie, &said).await.json()["run"]
        .as_str()
        .unwrap()
        .to_owned();
    let id = run.parse().unwrap();
    let run = format!("/runs/{run}/events");
    events(&server, &cookie, &run)
        .await
        .until(|event| event["body"]["type"] == "text_delta")
        .await;

    let mut other = SqliteConnection::connect(&database).await.unwrap();
    other
        .execute("PRAGMA busy_timeout = 60000; BEGIN EXCLUSIVE")
        .await
        .unwrap();
    until("it is given up", async || {
        server.app.runs.live(id).is_none()
    })
    .await;
    other.execute("ROLLBACK").await.unwrap();

    let log = whole_log(&server.get(&run, &cookie).await.text);
    let resumed = log
        .iter()
        .filter(|event| matches!(event.body, EventBody::RunResumed { .. }))
        .count();
    let end = &log.last().unwrap().body;
    assert!(
        matches!(
            end,
            EventBody::RunFinished {
                outcome: Outcome::Completed,
                ..
            }
        ),
        "{end:?}"
    );
    assert_eq!(
        (resumed, upstream.requests().len()),
        (1, 2),
        "as after a crash"
    );
    std::fs::remove_dir_all(folder).unwrap();
}
