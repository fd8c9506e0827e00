//! One absurd figure or damaged value harms nobody else.

use domain::{RunEvent, laws};
use reqwest::Method;
use scripted::{Behaviour, Reply, Step};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row, SqliteConnection};

use crate::{
    faults::postgres::Cluster,
    harness::{Server, new_folder},
    openai::{CHAT, Door, ask, finish, streaming, text},
    runs::{play, start_tour},
    sse::Events,
};

fn file() -> String {
    format!("sqlite://{}", new_folder().join("damage.db").display())
}

async fn execute(url: &str, sql: &str) {
    let sql = AssertSqlSafe(sql.to_owned());
    if url.starts_with("postgres") {
        PgConnection::connect(url)
            .await
            .unwrap()
            .execute(sql)
            .await
            .unwrap();
    } else {
        SqliteConnection::connect(url)
            .await
            .unwrap()
            .execute(sql)
            .await
            .unwrap();
    }
}

fn absurd() -> Behaviour {
    let usage = Step::Usage {
        input_tokens: u64::MAX,
        output_tokens: u64::MAX,
    };
    Behaviour::always(Reply::stream(&[text("Hello"), usage, finish()]))
}

async fn total(door: &Door, credential: &str) -> Value {
    let answer = door.server.get("/api/v1/usage?by=user", credential).await;
    answer.expect(200);
    answer.json()["total"].clone()
}

/// Two such answers of one person stopped everybody: nobody could read usage, and with limits nobody could call a model.
async fn absurd_usage_harms_nobody(database: &str) {
    let door = Door::open_with(absurd(), &[("GLASSHOUSE_DATABASE_URL", database)]).await;
    for model in [
        "scripted",
        "scripted",
        "glasshouse/agent",
        "glasshouse/agent",
    ] {
        door.stream(&streaming(model, "Hi")).await;
        door.post(&ask(model, "Hi")).await.expect(200);
    }
    door.server
        .post(CHAT, &door.cookie, &ask("scripted", "Hi"))
        .await
        .expect(200);
    let (all, own) = (
        total(&door, &door.cookie).await,
        total(&door, &door.key).await,
    );
    assert_eq!((&all["requests"], &own["requests"]), (&json!(9), &json!(8)));
    // What nobody can have used is estimated instead.
    let tokens = all["input_tokens"].as_u64().unwrap() + all["output_tokens"].as_u64().unwrap();
    assert!((1..1_000_000).contains(&tokens), "{all}");
    let limits = json!({"day": {"tokens": 1_000_000}, "month": {"tokens": 10_000_000}});
    let body = json!({"of": "default", "limits": limits});
    door.server
        .put("/api/v1/limits", &door.cookie, &body)
        .await
        .expect(204);
    for _ in 0..2 {
        door.post(&ask("scripted", "Hi")).await.expect(200);
        door.server
            .post(CHAT, &door.cookie, &ask("scripted", "Hi"))
            .await
            .expect(200);
    }
    total(&door, &door.cookie).await;
}

#[tokio::test]
async fn absurd_usage_harms_nobody_on_sqlite() {
    absurd_usage_harms_nobody(&file()).await;
}

#[tokio::test]
async fn absurd_usage_harms_nobody_on_postgresql() {
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    absurd_usage_harms_nobody(&cluster.url()).await;
}

/// The database refuses what one person has used: that is dropped, and all others are booked.
async fn a_row_that_is_refused_stops_no_booking(database: &str) {
    let usage = Step::Usage {
        input_tokens: 10,
        output_tokens: 20,
    };
    let behaviour = Behaviour::always(Reply::stream(&[text("Hello"), usage, finish()]));
    let door = Door::open_with(behaviour, &[("GLASSHOUSE_DATABASE_URL", database)]).await;
    let me = door.server.get("/api/v1/me", &door.key).await.json();
    let bob = me["user"]["id"].as_str().unwrap().to_owned();
    let refuse = if database.starts_with("postgres") {
        format!(
            "CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'no'; END $$ LANGUAGE plpgsql; \
             CREATE TRIGGER refuse BEFORE INSERT ON usage FOR EACH ROW WHEN (NEW.owner = '{bob}') \
             EXECUTE FUNCTION refuse()"
        )
    } else {
        format!(
            "CREATE TRIGGER refuse BEFORE INSERT ON usage WHEN NEW.owner = '{bob}' \
             BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
    };
    execute(database, &refuse).await;
    let body = json!({"of": "default", "limits": {"day": {"tokens": 1_000_000}}});
    door.server
        .put("/api/v1/limits", &door.cookie, &body)
        .await
        .expect(204);
    for model in ["scripted", "glasshouse/agent"] {
        for credential in [&door.key, &door.cookie, &door.key] {
            door.server
                .post(CHAT, credential, &ask(model, "Hi"))
                .await
                .expect(200);
        }
    }
    door.server.app.usage.write_down().await.unwrap();
    assert_eq!(total(&door, &door.cookie).await["requests"], 2);
    assert_eq!(total(&door, &door.key).await["requests"], 0);
    // Nothing of it is left to be tried again and again.
    assert_eq!(
        door.server.app.store.unbooked_runs(i64::MAX).await.unwrap(),
        []
    );
}

#[tokio::test]
async fn a_row_that_is_refused_stops_no_booking_on_sqlite() {
    a_row_that_is_refused_stops_no_booking(&file()).await;
}

#[tokio::test]
async fn a_row_that_is_refused_stops_no_booking_on_postgresql() {
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    a_row_that_is_refused_stops_no_booking(&cluster.url()).await;
}

/// A server with a chat whose run has its log in several segments.
async fn with_a_log(database: &str) -> (Server, String, String, String) {
    let server = Server::start_with(&[("GLASSHOUSE_DATABASE_URL", database)]).await;
    let cookie = server.set_up().await;
    let (chat, run) = start_tour(&server, &cookie).await;
    let log = play(&server, &cookie, &run).await;
    let log: Vec<RunEvent> = log
        .iter()
        .map(|event| serde_json::from_str(&event.data).unwrap())
        .collect();
    assert_eq!(laws::check(&log), Ok(()));
    (server, cookie, chat, run)
}

#[tokio::test]
async fn a_damaged_log_is_told_and_its_chat_goes_on() {
    let database = file();
    let (server, cookie, chat, run) = with_a_log(&database).await;
    let mut rows = SqliteConnection::connect(&database).await.unwrap();
    let places = sqlx::query("SELECT first_seq FROM segments ORDER BY first_seq")
        .fetch_all(&mut rows)
        .await;
    let places: Vec<i64> = places.unwrap().iter().map(|row| row.get(0)).collect();
    assert!(places.len() > 3, "{places:?}");
    let events = format!("/runs/{run}/events");
    let damage = |at: i64| format!("UPDATE segments SET lines = x'00ff' WHERE first_seq = {at}");

    // In the middle: what comes before is shown, then why there is no more.
    let middle = places[places.len() / 2];
    execute(&database, &damage(middle)).await;
    let stream = server
        .request(Method::GET, &events, &cookie)
        .send()
        .await
        .unwrap();
    assert_eq!(stream.status(), 200);
    let mut heard = Events::of(stream).rest().await;
    let last = heard.pop().unwrap();
    assert_eq!(last.name.as_deref(), Some("problem"), "{last:?}");
    let problem: Value = serde_json::from_str(&last.data).unwrap();
    assert_eq!(problem["error"]["sentence"]["code"], "damaged_log");
    assert_eq!(heard.len() as i64, middle - 1);

    // At the beginning: there is no stream.
    execute(&database, &damage(1)).await;
    let refused = server.get(&events, &cookie).await;
    assert_eq!(refused.expect(500), "internal");
    assert_eq!(refused.json()["error"]["sentence"]["code"], "damaged_log");

    // The chat opens, and the next question is answered.
    server
        .get(&format!("/api/v1/chats/{chat}"), &cookie)
        .await
        .expect(200);
    let body = json!({"content": "Again", "model": "tour"});
    let again = server
        .post(&format!("/api/v1/chats/{chat}/messages"), &cookie, &body)
        .await;
    again.expect(200);
    play(&server, &cookie, again.json()["run"].as_str().unwrap()).await;
}

#[tokio::test]
async fn an_export_has_all_that_is_not_damaged() {
    let database = file();
    let (server, cookie, chat, run) = with_a_log(&database).await;
    for name in ["style", "tone"] {
        let memory = json!({"name": name, "text": "Short.", "description": "how", "pinned": true});
        server
            .post("/api/v1/memories", &cookie, &memory)
            .await
            .expect(201);
    }
    execute(
        &database,
        "UPDATE segments SET lines = x'00ff' WHERE first_seq = 1",
    )
    .await;
    execute(
        &database,
        "UPDATE memories SET content = x'00ff' WHERE name = 'style'",
    )
    .await;
    let export = server.get("/api/v1/me/export", &cookie).await;
    export.expect(200);
    let lines: Vec<Value> = export
        .text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of =
        |kind: &str| -> Vec<&Value> { lines.iter().filter_map(|line| line.get(kind)).collect() };
    assert_eq!(lines.last().unwrap()["end"]["lines"], lines.len() - 1);
    assert_eq!(
        (of("chat")[0]["id"].as_str(), of("run")[0]["id"].as_str()),
        (Some(&*chat), Some(&*run))
    );
    assert_eq!((of("message").len(), of("log").len()), (2, 0));
    assert_eq!(
        of("memory")
            .iter()
            .map(|memory| &memory["name"])
            .collect::<Vec<_>>(),
        ["tone"]
    );
    let damaged: Vec<&str> = of("damaged")
        .iter()
        .map(|line| line["of"].as_str().unwrap())
        .collect();
    assert_eq!(damaged, [&*format!("log of {run}"), "memories"]);

    // It comes in elsewhere, and the report names what is missing.
    let (there, bob) = Server::start_signed_in().await;
    let import = there
        .request(Method::POST, "/api/v1/me/import", &bob)
        .body(export.text.clone());
    let answer = crate::harness::Answer::of(import).await;
    answer.expect(200);
    let report = answer.json();
    assert_eq!(
        (&report["made"]["chats"], &report["made"]["memories"]),
        (&json!(1), &json!(1)),
        "{report}"
    );
    assert!(report.to_string().contains("memories"), "{report}");
}
