//! Runs at set times: started when they are due, once, and what happens where that cannot be.

use reqwest::{Method, StatusCode};
use scripted::{Behaviour, Reply, ScriptedServer, Step};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, Executor, SqliteConnection};

use crate::{
    faults::{until, words},
    harness::{Answer, Server, new_folder},
    openai::connect,
};

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// The tests begin on a Friday at 8:00 UTC.
const BEGIN: i64 = 1_800_000_000_000;

struct Office {
    server: Server,
    key: String,
    upstream: ScriptedServer,
}

impl Office {
    async fn open(behaviour: Behaviour) -> Self {
        Self::open_with(behaviour, &[]).await
    }

    async fn open_with(behaviour: Behaviour, settings: &[(&str, &str)]) -> Self {
        let upstream = ScriptedServer::start(behaviour).await.unwrap();
        let server = Server::start_with(settings).await;
        let session = server.set_up().await;
        connect(&server, &session, "Up", &upstream.base_url()).await;
        // Somebody who is away for days is not signed in any more; a key lasts.
        let made = server
            .post("/api/v1/keys", &session, &json!({"name": "test"}))
            .await
            .json();
        Self {
            server,
            key: made["secret"].as_str().unwrap().to_owned(),
            upstream,
        }
    }

    async fn create(&self, change: Value) -> Value {
        let answer = self
            .server
            .post("/api/v1/schedules", &self.key, &daily(change))
            .await;
        answer.expect(200);
        answer.json()
    }

    async fn only(&self) -> Value {
        self.server.get("/api/v1/schedules", &self.key).await.json()["schedules"][0].clone()
    }

    fn pass(&self, time_ms: i64) {
        self.server.clock.advance_ms(time_ms);
        self.server.app.schedules.look_again();
    }

    /// Waits for so many turns; the newest first, by their kinds and outcomes.
    async fn turns(&self, count: usize) -> Vec<Value> {
        let mut turns = Vec::new();
        until("the turns", async || {
            turns = self.only().await["turns"].as_array().unwrap().clone();
            turns.len() == count
                && turns
                    .iter()
                    .all(|turn| turn["run"].is_null() || !turn["outcome"].is_null())
        })
        .await;
        turns
    }

    async fn chats(&self) -> Vec<Value> {
        self.server.get("/api/v1/chats", &self.key).await.json()["chats"]
            .as_array()
            .unwrap()
            .clone()
    }

    async fn run_now(&self, schedule: &Value) -> Answer {
        let path = format!("/api/v1/schedules/{}/run", schedule["id"].as_str().unwrap());
        self.server.post(&path, &self.key, &json!({})).await
    }
}

/// Every day at 9:00, with these changes.
fn daily(change: Value) -> Value {
    let mut content = json!({
        "name": "Morning report", "prompt": "Report", "model": "scripted", "cron": "0 9 * * *", "time_zone": "UTC",
    });
    content
        .as_object_mut()
        .unwrap()
        .extend(change.as_object().unwrap().clone());
    content
}

fn kinds(turns: &[Value]) -> Vec<&str> {
    turns
        .iter()
        .map(|turn| turn["kind"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn what_is_due_is_run_in_its_chat_and_says_by_whom() {
    let office = Office::open(Behaviour::always(Reply::text("All is well."))).await;
    let made = office.create(json!({})).await;
    assert_eq!(
        (&made["next_at"], &made["turns"]),
        (&json!(BEGIN + 60 * MINUTE_MS), &json!([]))
    );
    office.pass(59 * MINUTE_MS);
    office.pass(MINUTE_MS);
    let turns = office.turns(1).await;
    assert_eq!(
        (kinds(&turns), &turns[0]["outcome"]),
        (vec!["started"], &json!("completed"))
    );
    assert_eq!(
        office.only().await["next_at"],
        json!(BEGIN + 60 * MINUTE_MS + DAY_MS)
    );
    office.pass(DAY_MS);
    let turns = office.turns(2).await;
    assert_eq!(turns[0]["chat"], turns[1]["chat"]);

    let chats = office.chats().await;
    assert_eq!(
        (chats.len(), &chats[0]["title"], &chats[0]["unread"]),
        (1, &json!("Morning report"), &json!(true))
    );
    let path = format!("/api/v1/chats/{}", chats[0]["id"].as_str().unwrap());
    let chat = office.server.get(&path, &office.key).await.json();
    let messages = chat["messages"].as_array().unwrap();
    let said: Vec<&Value> = messages
        .iter()
        .map(|message| &message["schedule"])
        .collect();
    assert_eq!(
        said,
        [
            &json!("Morning report"),
            &Value::Null,
            &json!("Morning report"),
            &Value::Null
        ]
    );
    assert_eq!(
        messages[2]["parent"], messages[1]["id"],
        "the second goes on from the first"
    );
    assert_eq!(office.upstream.requests().len(), 2);

    let path = format!("/api/v1/schedules/{}", made["id"].as_str().unwrap());
    office.server.delete(&path, &office.key).await.expect(204);
    office.pass(DAY_MS);
    assert_eq!(office.chats().await.len(), 1, "its chat stays");
}

#[tokio::test]
async fn each_run_may_have_a_chat_of_its_own() {
    let office = Office::open(Behaviour::always(Reply::text("All is well."))).await;
    office.create(json!({"new_chat": true})).await;
    for count in 1..=2 {
        office.pass(if count == 1 { 60 * MINUTE_MS } else { DAY_MS });
        let wait = office.turns(count).await;
        assert_eq!(kinds(&wait), vec!["started"; count]);
        office.pass(-DAY_MS + 60 * MINUTE_MS);
        office.pass(DAY_MS - 60 * MINUTE_MS);
    }
    assert_eq!(office.chats().await.len(), 2);
    assert_eq!(
        office.upstream.requests().len(),
        2,
        "a clock that goes back and comes again starts nothing twice"
    );
}

#[tokio::test]
async fn a_start_of_which_nothing_was_noted_is_found_again() {
    for new_chat in [false, true] {
        let database = format!("sqlite://{}", new_folder().join("test.db").display());
        let silent = Behaviour::always(Reply::stream(&[Step::Silence]));
        let office = Office::open_with(silent, &[("GLASSHOUSE_DATABASE_URL", &database)]).await;
        let made = office.create(json!({"new_chat": new_chat})).await;
        office.pass(60 * MINUTE_MS);
        until("the run", async || {
            office.only().await["turns"][0]["run"].is_string()
        })
        .await;
        // As a server leaves it that is killed right after the start of the run.
        let mut database = SqliteConnection::connect(&database).await.unwrap();
        let unsettled = format!(
            "DELETE FROM schedule_turns; UPDATE schedules SET next_at = {}, last_run = NULL, claimed_until = {}",
            made["next_at"],
            BEGIN + 61 * MINUTE_MS
        );
        database.execute(AssertSqlSafe(unsettled)).await.unwrap();
        office.pass(MINUTE_MS);
        until("the note", async || {
            !office.only().await["turns"][0].is_null()
        })
        .await;
        let turns = office.only().await["turns"].as_array().unwrap().clone();
        assert_eq!(
            (kinds(&turns), turns[0]["run"].is_string()),
            (vec!["started"], true),
            "{new_chat}"
        );
        assert_eq!(
            (office.chats().await.len(), office.upstream.requests().len()),
            (1, 1),
            "{new_chat}"
        );
        assert_eq!(
            office.only().await["next_at"],
            json!(BEGIN + 60 * MINUTE_MS + DAY_MS)
        );
    }
}

#[tokio::test]
async fn a_clock_that_was_years_ahead_silences_nothing() {
    let office = Office::open(Behaviour::always(Reply::text("All is well."))).await;
    office.create(json!({})).await;
    office.pass(7000 * DAY_MS + 180 * MINUTE_MS);
    assert_eq!(kinds(&office.turns(1).await), ["missed"]);
    office.pass(-7000 * DAY_MS - 180 * MINUTE_MS);
    until("the right time", async || {
        office.only().await["next_at"] == json!(BEGIN + 60 * MINUTE_MS)
    })
    .await;
    office.pass(60 * MINUTE_MS);
    assert_eq!(kinds(&office.turns(2).await), ["started", "missed"]);
}

#[tokio::test]
async fn a_time_that_was_missed_is_made_up_for_only_within_an_hour() {
    let office = Office::open(Behaviour::always(Reply::text("All is well."))).await;
    office.create(json!({})).await;
    // 11:00 three days later: the last time was two hours ago.
    office.pass(3 * DAY_MS + 180 * MINUTE_MS);
    assert_eq!(kinds(&office.turns(1).await), ["missed"]);
    // 9:30 two days later: the first of the two is gone, the second is only late.
    office.pass(2 * DAY_MS - 90 * MINUTE_MS);
    let turns = office.turns(2).await;
    assert_eq!(kinds(&turns), ["started", "missed"]);
    assert_eq!(
        turns[0]["due_at"],
        json!(BEGIN + 60 * MINUTE_MS + 5 * DAY_MS)
    );
    assert_eq!(office.upstream.requests().len(), 1);
}

#[tokio::test]
async fn never_two_runs_at_once() {
    let office = Office::open(Behaviour::always(words(600, 20.0))).await;
    let made = office.create(json!({"new_chat": true})).await;
    let begun = office.run_now(&made).await;
    begun.expect(200);
    assert_eq!(office.run_now(&made).await.expect(409), "conflict");
    office.pass(60 * MINUTE_MS);
    until("it is skipped", async || {
        office.only().await["turns"][0]["kind"] == "still_going"
    })
    .await;
    let path = format!("/runs/{}/cancel", begun.json()["run"].as_str().unwrap());
    office
        .server
        .post(&path, &office.key, &json!({}))
        .await
        .expect(204);
    let turns = office.turns(2).await;
    assert_eq!(
        (kinds(&turns), &turns[1]["outcome"]),
        (vec!["still_going", "started"], &json!("cancelled"))
    );
    assert_eq!(
        office.only().await["next_at"],
        json!(BEGIN + 60 * MINUTE_MS + DAY_MS)
    );
}

#[tokio::test]
async fn one_that_fails_again_and_again_turns_itself_off() {
    let office = Office::open(Behaviour::always(Reply::error(400, "no"))).await;
    let made = office.create(json!({})).await;
    for count in 1..=5 {
        office.pass(if count == 1 { 60 * MINUTE_MS } else { DAY_MS });
        assert_eq!(office.turns(count).await[0]["outcome"], "failed");
        assert_eq!(office.only().await["enabled"], true);
    }
    office.pass(DAY_MS);
    until("it is off", async || {
        office.only().await["enabled"] == false
    })
    .await;
    let off = office.only().await;
    assert_eq!(
        (&off["problem"], &off["next_at"]),
        (&json!("failed_often"), &Value::Null)
    );
    assert_eq!(office.chats().await.len(), 1);
    // Turned on again it has as many tries as before.
    office.pass(1);
    let path = format!("/api/v1/schedules/{}", made["id"].as_str().unwrap());
    office
        .server
        .put(&path, &office.key, &daily(json!({})))
        .await
        .expect(200);
    assert_eq!(office.only().await["problem"], Value::Null);
    office.pass(DAY_MS);
    office.turns(7).await;
    assert_eq!(office.only().await["enabled"], true);
}

#[tokio::test]
async fn a_model_that_is_gone_is_noted() {
    let office = Office::open(Behaviour::always(Reply::text("Hi"))).await;
    office.create(json!({})).await;
    let connections = office
        .server
        .get("/api/v1/connections", &office.key)
        .await
        .json();
    let path = format!(
        "/api/v1/connections/{}",
        connections["connections"][0]["id"].as_str().unwrap()
    );
    office.server.delete(&path, &office.key).await.expect(204);
    office.pass(60 * MINUTE_MS);
    let turns = office.turns(1).await;
    assert_eq!(kinds(&turns), ["failed"]);
    assert!(
        turns[0]["note"].as_str().unwrap().contains("scripted"),
        "{}",
        turns[0]
    );
    assert_eq!(office.chats().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_schedule_is_its_owners_and_says_what_is_wrong() {
    let office = Office::open(Behaviour::always(Reply::text("Hi"))).await;
    let (server, key) = (&office.server, &office.key);
    let made = office.create(json!({"enabled": false})).await;
    assert_eq!(made["next_at"], Value::Null);
    let path = format!("/api/v1/schedules/{}", made["id"].as_str().unwrap());
    let other = server.key_of_plain_user("bob@example.org").await;
    server
        .put(&path, &other, &daily(json!({})))
        .await
        .expect(404);
    server.delete(&path, &other).await.expect(404);
    server
        .post(&format!("{path}/run"), &other, &json!({}))
        .await
        .expect(404);
    assert_eq!(
        server.get("/api/v1/schedules", &other).await.json()["schedules"],
        json!([])
    );
    for (wrong, status) in [
        (json!({"cron": "at dawn"}), 400),
        (json!({"cron": "* * * * *"}), 400),
        (json!({"cron": null}), 400),
        (json!({"cron": null, "once_at": 5}), 400),
        (json!({"time_zone": "Mars/Base"}), 400),
        (json!({"name": " "}), 400),
        (json!({"prompt": ""}), 400),
        (json!({"prompt": "x".repeat(8001)}), 400),
        (json!({"model": "nobody"}), 404),
    ] {
        server
            .post("/api/v1/schedules", key, &daily(wrong))
            .await
            .expect(status);
    }
    for _ in 1..50 {
        office.create(json!({})).await;
    }
    assert_eq!(
        server
            .post("/api/v1/schedules", key, &daily(json!({})))
            .await
            .expect(409),
        "conflict"
    );
    let request = server
        .request(Method::DELETE, &path, key)
        .send()
        .await
        .unwrap();
    assert_eq!(request.status(), StatusCode::NO_CONTENT);
    office.create(json!({})).await;
}
