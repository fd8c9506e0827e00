//! A run whose owner leaves a group while it goes on, waits, rests, or the server is down.

use domain::{EventBody, Outcome, RunEvent, laws};
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};

use super::{BOB, door};
use crate::{
    harness::{EMAIL, PASSWORD, Server},
    openai::{Door, connect},
    restart::{Kept, parsed, stop},
    resting::put_to_rest,
    runs::events,
    sse::Events,
};

const QUESTION: fn() -> Behaviour = || {
    Behaviour::answer(|request| match request.number {
        1 => Reply::calls(&[("ask_user", json!({"question": "Which?"}))]),
        _ => Reply::text("This one then."),
    })
};

/// A run of bob's that waits for his answer: its id, the question's address, and a reader.
struct Waiting {
    run: String,
    question: String,
    reader: Events,
}

async fn wait_for_bob(server: &Server, key: &str) -> Waiting {
    let chat = server.post("/api/v1/chats", key, &json!({})).await.json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let said = json!({"content": "Do it.", "model": "scripted"});
    let sent = server
        .post(&format!("/api/v1/chats/{chat}/messages"), key, &said)
        .await;
    sent.expect(200);
    let run = sent.json()["run"].as_str().unwrap().to_owned();
    let mut reader = events(server, key, &format!("/runs/{run}/events")).await;
    let asked = reader
        .until(|event| event["body"]["type"] == "question_asked")
        .await;
    let question = format!(
        "/runs/{run}/questions/{}",
        asked["body"]["question"].as_str().unwrap()
    );
    Waiting {
        run,
        question,
        reader,
    }
}

/// Asserts that it ended because its owner may not use the model any more.
fn assert_ended(log: &[RunEvent]) {
    let EventBody::RunFinished {
        outcome, problem, ..
    } = &log.last().unwrap().body
    else {
        panic!("it has no end: {log:?}")
    };
    assert_eq!(*outcome, Outcome::Failed);
    let message = &problem.as_ref().unwrap().message;
    assert!(
        message.starts_with("You may no longer use the model scripted"),
        "{message}"
    );
}

async fn log(server: &Server, credential: &str, run: &str) -> Vec<RunEvent> {
    let log = parsed(
        &events(server, credential, &format!("/runs/{run}/events"))
            .await
            .rest()
            .await,
    );
    assert_eq!(laws::check(&log), Ok(()));
    log
}

async fn of_group(behaviour: Behaviour) -> (Door, String) {
    let door = Door::open(behaviour).await;
    let group = door.group("Research").await;
    door.only_for("model", "scripted", &[&group]).await;
    door.join(&group, BOB).await;
    (door, group)
}

#[tokio::test]
async fn that_waits_does_not_go_on() {
    let (door, group) = of_group(QUESTION()).await;
    let waiting = wait_for_bob(&door.server, &door.key).await;
    door.leave(&group, BOB).await;
    door.server
        .post(&waiting.question, &door.key, &json!({"answer": "This"}))
        .await
        .expect(204);
    assert_ended(&parsed(&waiting.reader.rest().await));
    assert_ended(&log(&door.server, &door.key, &waiting.run).await);
    assert_eq!(door.upstream.requests().len(), 1);
}

#[tokio::test]
async fn that_rests_does_not_wake() {
    let (door, group) = of_group(QUESTION()).await;
    let waiting = wait_for_bob(&door.server, &door.key).await;
    put_to_rest(&door.server, &waiting.run).await;
    door.leave(&group, BOB).await;
    door.server
        .post(&waiting.question, &door.key, &json!({"answer": "This"}))
        .await;
    assert_ended(&parsed(&waiting.reader.rest().await));
    assert_ended(&log(&door.server, &door.key, &waiting.run).await);
    assert_eq!(door.upstream.requests().len(), 1);
}

#[tokio::test]
async fn that_rests_goes_on_for_whoever_has_stayed() {
    let (door, _) = of_group(QUESTION()).await;
    let waiting = wait_for_bob(&door.server, &door.key).await;
    put_to_rest(&door.server, &waiting.run).await;
    door.server
        .post(&waiting.question, &door.key, &json!({"answer": "This"}))
        .await
        .expect(204);
    let log = parsed(&waiting.reader.rest().await);
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
}

#[tokio::test]
async fn that_a_restart_cut_ends_where_they_have_left_meanwhile() {
    let upstream = ScriptedServer::start(QUESTION()).await.unwrap();
    let kept = Kept::new();
    let server = kept.start().await;
    let cookie = server.set_up().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let key = server.key_of_plain_user(BOB).await;
    let door = Door {
        server,
        upstream,
        cookie,
        key,
    };
    let group = door.group("Research").await;
    door.only_for("model", "scripted", &[&group]).await;
    door.join(&group, BOB).await;
    let waiting = wait_for_bob(&door.server, &door.key).await;
    let Door {
        server,
        upstream,
        key,
        ..
    } = door;
    stop(&server).await;
    drop(server);
    let store = store::Store::open(&kept.database).await.unwrap();
    let bob = store.user_by_email(BOB).await.unwrap().user.id;
    store
        .remove_group_member(group.parse().unwrap(), bob)
        .await
        .unwrap();
    store.close().await;
    let server = kept.start().await;
    assert_ended(&log(&server, &key, &waiting.run).await);
    assert_eq!(upstream.requests().len(), 1);
    // What it wrote is still its owner's, and the administrator's list is as it was.
    let login = server
        .post(
            "/api/v1/login",
            "",
            &json!({"email": EMAIL, "password": PASSWORD}),
        )
        .await;
    let groups = server.get("/api/v1/groups", &login.cookie()).await.json();
    assert_eq!(
        (
            &groups["groups"][0]["name"],
            &groups["groups"][0]["members"]
        ),
        (&json!("Research"), &json!(0))
    );
}

#[tokio::test]
async fn a_schedule_of_theirs_does_not_start() {
    let (door, group) = of_group(Behaviour::always(Reply::text("Done."))).await;
    let at = door.server.clock.now_ms() + 60_000;
    let schedule = json!({"name": "S", "prompt": "Do.", "model": "scripted", "once_at": at, "time_zone": "UTC"});
    door.server
        .post("/api/v1/schedules", &door.key, &schedule)
        .await
        .expect(200);
    door.leave(&group, BOB).await;
    door.server.clock.advance_ms(61_000);
    door.server.app.schedules.look_again();
    let turns = async || {
        door.server.get("/api/v1/schedules", &door.key).await.json()["schedules"][0]["turns"]
            .clone()
    };
    crate::faults::until("its turn to be noted", async || {
        turns().await.as_array().is_some_and(|it| !it.is_empty())
    })
    .await;
    let turn = &turns().await[0];
    assert_eq!(turn["kind"], "failed");
    assert!(
        turn["note"].as_str().unwrap().contains("scripted"),
        "{turn}"
    );
    assert_eq!(door.upstream.requests().len(), 0);
}

#[tokio::test]
async fn a_fork_needs_what_its_run_had() {
    let (door, group) = of_group(Behaviour::always(Reply::text("Done."))).await;
    let server = &door.server;
    let chat = server
        .post("/api/v1/chats", &door.key, &json!({}))
        .await
        .json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let said = json!({"content": "Do it.", "model": "scripted"});
    let sent = server
        .post(&format!("/api/v1/chats/{chat}/messages"), &door.key, &said)
        .await
        .json();
    let run = sent["run"].as_str().unwrap();
    let whole = log(server, &door.key, run).await;
    let step = whole
        .iter()
        .find(|event| matches!(event.body, EventBody::StepStarted { .. }))
        .unwrap();
    let fork = json!({"after": step.seq - 1});
    let path = format!("/api/v1/runs/{run}/fork");
    server.post(&path, &door.key, &fork).await.expect(200);
    door.leave(&group, BOB).await;
    server.post(&path, &door.key, &fork).await.expect(404);
    // The tour is everybody's.
    server
        .post(
            &path,
            &door.key,
            &json!({"after": step.seq - 1, "model": "tour"}),
        )
        .await
        .expect(200);
}

#[tokio::test]
async fn a_background_response_is_theirs_while_they_are_in_it() {
    let door = door().await;
    let group = door.group("Research").await;
    door.only_for("model", "scripted", &[&group]).await;
    let body = json!({"model": "scripted", "input": "Hi", "background": true});
    door.server
        .post("/v1/responses", &door.key, &body)
        .await
        .expect(404);
    door.join(&group, BOB).await;
    let made = door.server.post("/v1/responses", &door.key, &body).await;
    made.expect(200);
    let id: Value = made.json()["id"].clone();
    let path = format!("/v1/responses/{}", id.as_str().unwrap());
    crate::faults::until("it to end", async || {
        door.server.get(&path, &door.key).await.json()["status"] == "completed"
    })
    .await;
}
