//! Two servers on one PostgreSQL: a run has one of them, the other shows it, passes on what people say, and goes on with it
//! when the first is gone.

use std::time::Duration;

use domain::{EventBody, Outcome, RunEvent};
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{Program, postgres::Cluster, until, whole_log, words};
use crate::{harness::new_folder, sse::Events};

/// The longest that a run waits for another server: the lease, and the next look.
const TAKEN_OVER_WITHIN: Duration = Duration::from_secs(8);

pub(super) struct Servers {
    pub(super) upstream: ScriptedServer,
    pub(super) a: Program,
    pub(super) b: Program,
    pub(super) cluster: Cluster,
}

/// Both, with this model behind them; nothing where there is no PostgreSQL.
pub(super) async fn start(behaviour: Behaviour) -> Option<Servers> {
    start_with(behaviour, &[]).await
}

/// The same with these variables.
pub(super) async fn start_with(
    behaviour: Behaviour,
    environment: &[(&str, &str)],
) -> Option<Servers> {
    let cluster = Cluster::start().await?;
    let upstream = ScriptedServer::start(behaviour).await.unwrap();
    let server = async || {
        let mut command = Program::command(&new_folder(), &upstream.base_url());
        command.env("GLASSHOUSE_DATABASE_URL", cluster.url());
        command.env("GLASSHOUSE_LEASE_SECONDS", "4");
        command.env("GLASSHOUSE_SHUTDOWN_DELAY_SECONDS", "0");
        command.env("GLASSHOUSE_DRAIN_SECONDS", "0");
        command.envs(environment.iter().copied());
        command.env(
            "GLASSHOUSE_APPROVALS",
            r#"[{tool="write_file", then="ask"}]"#,
        );
        Program::spawn(command).await
    };
    let a = server().await;
    let b = server().await;
    Some(Servers {
        upstream,
        a,
        b,
        cluster,
    })
}

/// A run that begins at this server.
pub(super) async fn begin(server: &Program) -> String {
    let chat = server.new_chat().await;
    let said = json!({"content": "Hi", "model": "scripted"});
    let begun = server
        .post(&format!("/api/v1/chats/{chat}/messages"), &said)
        .await;
    begun.expect(200);
    begun.json()["run"].as_str().unwrap().to_owned()
}

pub(super) async fn watch(server: &Program, run: &str) -> Events {
    let url = format!("{}/runs/{run}/events", server.url);
    Events::of(server.client.get(url).send().await.unwrap())
}

pub(super) fn is(kind: &str) -> impl Fn(&Value) -> bool {
    move |event| event["body"]["type"] == kind
}

pub(super) fn outcome(log: &[RunEvent]) -> Option<Outcome> {
    match log.last()?.body {
        EventBody::RunFinished { outcome, .. } => Some(outcome),
        _ => None,
    }
}

pub(super) fn resumptions(log: &[RunEvent]) -> usize {
    log.iter()
        .filter(|event| matches!(event.body, EventBody::RunResumed { .. }))
        .count()
}

#[tokio::test]
async fn another_server_goes_on_with_the_runs_of_one_that_was_killed() {
    let Some(Servers {
        mut a,
        b,
        upstream,
        cluster: _cluster,
    }) = start(Behaviour::always(words(100, 25.0))).await
    else {
        return;
    };
    let run = begin(&a).await;
    let mut reader = watch(&b, &run).await;
    reader.until(is("text_delta")).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(
        upstream.requests().len(),
        1,
        "while its server lives nobody else begins"
    );
    a.child.start_kill().unwrap();
    a.child.wait().await.unwrap();
    let killed = Instant::now();
    reader.until(is("run_resumed")).await;
    assert!(
        killed.elapsed() < TAKEN_OVER_WITHIN,
        "{:?}",
        killed.elapsed()
    );
    // The same stream, from the one server over to the other.
    reader.until(is("run_finished")).await;
    let log = b.log(&run).await;
    assert_eq!(
        (outcome(&log), resumptions(&log), upstream.requests().len()),
        (Some(Outcome::Completed), 1, 2)
    );
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_leaves_its_runs_at_once() {
    let Some(Servers {
        mut a,
        b,
        upstream: _upstream,
        cluster: _cluster,
    }) = start(Behaviour::always(words(200, 25.0))).await
    else {
        return;
    };
    let run = begin(&a).await;
    let mut reader = watch(&b, &run).await;
    reader.until(is("text_delta")).await;
    a.signal("-TERM");
    assert!(a.child.wait().await.unwrap().success());
    let stopped = Instant::now();
    reader.until(is("run_resumed")).await;
    assert!(
        stopped.elapsed() < Duration::from_secs(6),
        "{:?}",
        stopped.elapsed()
    );
    b.post(&format!("/runs/{run}/cancel"), &json!({}))
        .await
        .expect(204);
    reader.until(is("run_finished")).await;
    whole_log(&b.get(&format!("/runs/{run}/events")).await.text);
}

/// A server that stood still for longer than its lease, as a machine that sleeps does: it must not go on as if nothing had
/// been.
#[tokio::test]
async fn a_server_that_was_paused_writes_no_more() {
    let Some(Servers {
        a,
        b,
        upstream: _upstream,
        cluster: _cluster,
    }) = start(Behaviour::always(words(600, 20.0))).await
    else {
        return;
    };
    let run = begin(&a).await;
    let mut at_a = watch(&a, &run).await;
    let mut at_b = watch(&b, &run).await;
    at_a.until(is("text_delta")).await;
    at_b.until(is("text_delta")).await;
    a.signal("-STOP");
    at_b.until(is("run_resumed")).await;
    a.signal("-CONT");
    // It knows that it may be cut off: its readers come back, here or elsewhere, and get what the other one writes now.
    assert!(
        !at_a
            .rest()
            .await
            .iter()
            .any(|event| is("run_finished")(&event.json()))
    );
    let mut at_a = watch(&a, &run).await;
    at_a.until(is("run_resumed")).await;
    sleep(Duration::from_secs(2)).await;
    b.post(&format!("/runs/{run}/cancel"), &json!({}))
        .await
        .expect(204);
    let (end_a, end_b) = tokio::join!(
        at_a.until(is("run_finished")),
        at_b.until(is("run_finished"))
    );
    assert_eq!(end_a, end_b);
    let log = b.log(&run).await;
    assert_eq!(
        (outcome(&log), resumptions(&log)),
        (Some(Outcome::Cancelled), 1)
    );
    assert_eq!(a.log(&run).await, log);
    // And it works on, with a lease of its own again.
    until("a new lease", async || {
        let run = begin(&a).await;
        let mut reader = watch(&b, &run).await;
        reader.until(is("text_delta")).await;
        a.post(&format!("/runs/{run}/cancel"), &json!({}))
            .await
            .expect(204);
        reader.until(is("run_finished")).await["body"]["outcome"] == "cancelled"
    })
    .await;
}

#[tokio::test]
async fn what_people_say_to_one_server_reaches_a_run_of_the_other() {
    let behaviour = Behaviour::answer(|request| match request.number {
        1 => Reply::calls(&[
            ("write_file", json!({"path": "/a.md", "content": "a"})),
            (
                "ask_user",
                json!({"question": "Which?", "fields": [{"name": "which", "type": "choice",
                "options": ["The red one", "The blue one"]}]}),
            ),
        ]),
        2 => Reply::text("Well then."),
        _ => words(600, 20.0),
    });
    let Some(Servers {
        a,
        b,
        upstream,
        cluster: _cluster,
    }) = start(behaviour).await
    else {
        return;
    };
    let run = begin(&a).await;
    let mut reader = watch(&b, &run).await;
    let (mut approval, mut question) = (None, None);
    while approval.is_none() || question.is_none() {
        let asked = reader
            .until(|event| is("approval_asked")(event) || is("question_asked")(event))
            .await;
        approval = asked["body"]["approval"]
            .as_str()
            .map(str::to_owned)
            .or(approval);
        question = asked["body"]["question"]
            .as_str()
            .filter(|id| *id != "Which?")
            .map(str::to_owned)
            .or(question);
    }
    let approval = format!("/runs/{run}/approvals/{}", approval.unwrap());
    assert_eq!(
        b.post(&format!("{approval}x"), &json!({"decision": "allow"}))
            .await
            .expect(409),
        "conflict"
    );
    b.post(&approval, &json!({"decision": "allow"}))
        .await
        .expect(204);
    let question = format!("/runs/{run}/questions/{}", question.unwrap());
    b.post(&question, &json!({"values": {"which": "The green one"}}))
        .await
        .expect(422);
    b.post(&question, &json!({"values": {"which": "The red one"}}))
        .await
        .expect(204);
    assert_eq!(
        reader.until(is("run_finished")).await["body"]["outcome"],
        "completed"
    );
    assert!(upstream.requests()[1].to_string().contains("The red one"));
    assert_eq!(
        b.post(&question, &json!({"answer": "again"}))
            .await
            .expect(409),
        "conflict"
    );

    let run = begin(&a).await;
    let mut reader = watch(&b, &run).await;
    reader.until(is("text_delta")).await;
    b.post(&format!("/runs/{run}/cancel"), &json!({}))
        .await
        .expect(204);
    assert_eq!(
        reader.until(is("run_finished")).await["body"]["outcome"],
        "cancelled"
    );
}

#[tokio::test]
async fn what_is_due_is_started_once_whoever_sees_it() {
    let Some(Servers {
        upstream,
        a,
        b,
        cluster: _cluster,
    }) = start(Behaviour::always(Reply::text("Done."))).await
    else {
        return;
    };
    let chat = a.post("/api/v1/chats", &json!({})).await.json();
    let once_at = chat["created_at"].as_i64().unwrap() + 3000;
    for number in 0..20 {
        let schedule = json!({
            "name": format!("Report {number}"), "prompt": "Report", "model": "scripted", "once_at": once_at,
            "time_zone": "UTC", "new_chat": number % 2 == 0,
        });
        // Neither has told the other: each finds what it was not given by itself.
        let server = if number < 10 { &a } else { &b };
        server
            .post("/api/v1/schedules", &schedule)
            .await
            .expect(200);
    }
    let all_ended = async || {
        let list = b.get("/api/v1/schedules").await.json();
        let schedules = list["schedules"].as_array().unwrap();
        schedules
            .iter()
            .all(|schedule| schedule["turns"][0]["outcome"] == "completed")
    };
    until("all have run", all_ended).await;
    // Long enough for the other one to look again.
    sleep(Duration::from_secs(2)).await;
    let list = a.get("/api/v1/schedules").await.json();
    for schedule in list["schedules"].as_array().unwrap() {
        assert_eq!(schedule["turns"].as_array().unwrap().len(), 1, "{schedule}");
        assert_eq!(
            (&schedule["enabled"], &schedule["next_at"]),
            (&json!(false), &Value::Null)
        );
    }
    assert_eq!(upstream.requests().len(), 20);
    let chats = a.get("/api/v1/chats?limit=100").await.json()["chats"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(chats, 21, "no chat is left over from one that came second");
}

#[tokio::test]
async fn a_page_at_one_server_is_told_what_runs_of_the_other_do() {
    let behaviour = Behaviour::answer(|request| match request.number {
        1 => Reply::calls(&[("write_file", json!({"path": "/a.md", "content": "a"}))]),
        2 => Reply::calls(&[("write_file", json!({"path": "/b.md", "content": "b"}))]),
        _ => words(3, 20.0),
    });
    let Some(Servers {
        a,
        b,
        cluster: _cluster,
        upstream: _upstream,
    }) = start(behaviour).await
    else {
        return;
    };
    let page = async || {
        let url = format!("{}/api/v1/activity", b.url);
        Events::of(b.client.get(url).send().await.unwrap())
    };
    let mut early = page().await;
    let run = begin(&a).await;
    let told = |state: &'static str| {
        let run = run.clone();
        move |told: &Value| told["run"] == *run && told["state"] == state
    };
    let mut log = watch(&a, &run).await;
    for _ in 0..2 {
        let asked = log.until(is("approval_asked")).await;
        // Also that it waits for something else than before.
        early.until(told("waiting")).await;
        // Who comes later is told first of all what there is.
        assert!(told("waiting")(&page().await.next().await.unwrap().json()));
        let id = asked["body"]["approval"].as_str().unwrap();
        b.post(
            &format!("/runs/{run}/approvals/{id}"),
            &json!({"decision": "allow"}),
        )
        .await
        .expect(204);
    }
    let end = early.until(told("finished")).await;
    assert_eq!(end["outcome"], "completed");
    assert!(end["chat"].is_string(), "{end}");
}
