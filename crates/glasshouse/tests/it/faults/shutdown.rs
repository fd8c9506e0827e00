//! Servers that are told to stop: what is in progress ends, runs go on elsewhere, and no model call is made twice.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use domain::{EventBody, Outcome};
use scripted::{Behaviour, Finish, Reply, ScriptedServer, Step};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection, Row};
use tokio::{process::Command, task::JoinSet};

use super::{
    Program,
    postgres::Cluster,
    several_servers::{is, watch},
    until, words,
};
use crate::harness::new_folder;

const RUNS: usize = 30;

/// A server on this cluster.
fn command(cluster: &Cluster, upstream: &ScriptedServer) -> Command {
    let mut command = Program::command(&new_folder(), &upstream.base_url());
    command.env("GLASSHOUSE_DATABASE_URL", cluster.url());
    command.env("GLASSHOUSE_LEASE_SECONDS", "4");
    command.env("GLASSHOUSE_SHUTDOWN_DELAY_SECONDS", "1");
    command
}

async fn begin(server: &Program, said: &str) -> String {
    let chat = server.new_chat().await;
    let body = json!({"content": said, "model": "scripted"});
    let begun = server
        .post(&format!("/api/v1/chats/{chat}/messages"), &body)
        .await;
    begun.expect(200);
    begun.json()["run"].as_str().unwrap().to_owned()
}

/// Three servers.
async fn fleet(cluster: &Cluster, upstream: &ScriptedServer) -> Vec<Program> {
    let mut servers = Vec::new();
    for _ in 0..3 {
        servers.push(Program::spawn(command(cluster, upstream)).await);
    }
    servers
}

/// Begins the runs, on one server after the other.
async fn begin_all(servers: &[Program]) -> Vec<String> {
    let mut runs = Vec::new();
    for number in 0..RUNS {
        runs.push(begin(&servers[number % servers.len()], "Hi").await);
    }
    runs
}

/// Stops each server and starts another one in its place.
async fn roll(servers: &mut [Program], cluster: &Cluster, upstream: &ScriptedServer) {
    for server in servers {
        server.signal("-TERM");
        assert!(server.child.wait().await.unwrap().success());
        *server = Program::spawn(command(cluster, upstream)).await;
    }
}

/// Waits until all runs have completed; returns how often they were resumed.
async fn complete(server: &Program, runs: &[String]) -> usize {
    let mut resumed = 0;
    for run in runs {
        let log = server.log(run).await;
        let outcome = match &log[log.len() - 1].body {
            EventBody::RunFinished { outcome, .. } => *outcome,
            _ => unreachable!(),
        };
        assert_eq!(outcome, Outcome::Completed, "{run}");
        for event in &log {
            if let EventBody::RunResumed { released } = event.body {
                assert!(released, "{run}: nothing has crashed");
                resumed += 1;
            }
        }
    }
    resumed
}

#[tokio::test]
async fn a_rolling_restart_pays_for_each_answer_once() {
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    let upstream = ScriptedServer::start(Behaviour::always(words(150, 25.0)))
        .await
        .unwrap();
    let mut servers = fleet(&cluster, &upstream).await;
    let runs = begin_all(&servers).await;
    roll(&mut servers, &cluster, &upstream).await;
    complete(&servers[0], &runs).await;
    let calls = upstream.requests().len();
    println!("{RUNS} runs: {calls} model calls");
    assert!(
        calls <= RUNS * 12 / 10,
        "{calls} model calls for {RUNS} runs"
    );
}

/// Runs of many steps do not keep their server: another one takes the next step.
#[tokio::test]
async fn runs_are_handed_over_between_two_steps() {
    const STEPS: usize = 12;
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    let behaviour = Behaviour::answer(|request| {
        let messages = request.body["messages"].as_array().unwrap();
        let done = messages.iter().filter(|it| it["role"] == "tool").count();
        let thinks = Step::Reasoning {
            text: "word ".repeat(25),
            tokens_per_second: Some(25.0),
        };
        match done + 1 < STEPS {
            true => Reply::stream(&[
                thinks,
                Step::Calls {
                    calls: vec![scripted::Call {
                        name: "write_file".to_owned(),
                        arguments: json!({"path": format!("/{done}.md"), "content": "a"}),
                    }],
                },
                Step::Finish {
                    reason: Finish::ToolCalls,
                },
            ]),
            false => Reply::text("Done."),
        }
    });
    let upstream = ScriptedServer::start(behaviour).await.unwrap();
    let mut servers = fleet(&cluster, &upstream).await;
    let runs = begin_all(&servers).await;
    roll(&mut servers, &cluster, &upstream).await;
    let resumed = complete(&servers[0], &runs).await;
    println!(
        "{RUNS} runs of {STEPS} steps: {} model calls, resumed {resumed} times",
        upstream.requests().len()
    );
    assert!(
        resumed >= RUNS / 3,
        "those of the first server at least: {resumed}"
    );
    assert_eq!(
        upstream.requests().len(),
        RUNS * STEPS,
        "no step is paid twice"
    );
}

#[tokio::test]
async fn a_server_that_stops_is_not_ready_and_still_answers() {
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    let upstream = ScriptedServer::start(Behaviour::always(words(3, 20.0)))
        .await
        .unwrap();
    let mut command = command(&cluster, &upstream);
    command.env("GLASSHOUSE_SHUTDOWN_DELAY_SECONDS", "3600");
    let mut server = Program::spawn(command).await;
    server.get("/readyz").await.expect(200);
    server.signal("-TERM");
    until("it is not ready", async || {
        server.get("/readyz").await.status == 503
    })
    .await;
    assert_eq!(server.get("/healthz").await.status, 200);
    // The balancer has not noticed yet: a person's message is answered.
    let run = begin(&server, "Hi").await;
    watch(&server, &run).await.until(is("run_finished")).await;
    // Not for an hour.
    server.signal("-TERM");
    assert!(server.child.wait().await.unwrap().success());
}

#[tokio::test]
async fn a_single_server_waits_for_answers_and_not_for_people() {
    let holds = Arc::new(AtomicBool::new(true));
    let held = Arc::clone(&holds);
    let behaviour =
        Behaviour::answer(
            move |request| match request.body.to_string().contains("Ask me") {
                true => Reply::calls(&[("ask_user", json!({"question": "Which?"}))]),
                false if held.load(Ordering::Relaxed) => Reply::stream(&[
                    Step::Text {
                        text: "word".to_owned(),
                        tokens_per_second: None,
                    },
                    Step::Silence,
                ]),
                false => words(50, 25.0),
            },
        );
    let upstream = ScriptedServer::start(behaviour).await.unwrap();
    let folder = new_folder();
    let start = async || {
        let mut command = Program::command(&folder, &upstream.base_url());
        command.env("GLASSHOUSE_DRAIN_SECONDS", "3600");
        Program::spawn(command).await
    };
    let mut server = start().await;
    let waits = begin(&server, "Ask me").await;
    let mut reader = watch(&server, &waits).await;
    reader.until(is("question_asked")).await;
    server.signal("-INT");
    assert!(
        server.child.wait().await.unwrap().success(),
        "not for an hour"
    );
    assert!(
        !reader
            .rest()
            .await
            .iter()
            .any(|event| is("run_finished")(&event.json()))
    );

    // An answer that comes to its end is kept.
    holds.store(false, Ordering::Relaxed);
    let mut server = start().await;
    let run = begin(&server, "Hi").await;
    let mut reader = watch(&server, &run).await;
    reader.until(is("text_delta")).await;
    server.signal("-TERM");
    assert_eq!(
        reader.until(is("run_finished")).await["body"]["outcome"],
        "completed"
    );
    assert!(server.child.wait().await.unwrap().success());

    // Who does not want to wait asks again.
    holds.store(true, Ordering::Relaxed);
    let mut server = start().await;
    let run = begin(&server, "Hi").await;
    watch(&server, &run).await.until(is("text_delta")).await;
    server.signal("-INT");
    server.signal("-INT");
    assert!(server.child.wait().await.unwrap().success());
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn survivors_share_the_runs_of_a_dead_server() {
    const LEFT: usize = 60;
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    let upstream = ScriptedServer::start(Behaviour::always(Reply::stream(&[Step::Silence])))
        .await
        .unwrap();
    let mut servers = fleet(&cluster, &upstream).await;
    let mut beginning = JoinSet::new();
    for _ in 0..LEFT {
        let (url, client) = (servers[0].url.clone(), servers[0].client.clone());
        beginning.spawn(async move {
            let body =
                json!({"messages": [{"role": "user", "content": "Hi"}], "model": "scripted"});
            let response = client
                .post(format!("{url}/chat/stream"))
                .json(&body)
                .send()
                .await
                .unwrap();
            // Leaving does not end the run.
            assert_eq!(response.status(), 200);
        });
    }
    while let Some(begun) = beginning.join_next().await {
        begun.unwrap();
    }
    until("all ask their model", async || {
        upstream.requests().len() == LEFT
    })
    .await;
    let mut database = PgConnection::connect(&cluster.url()).await.unwrap();
    let mut owners = async || {
        let sql =
            "SELECT server, COUNT(*) AS runs FROM runs WHERE finished_at IS NULL GROUP BY server";
        let rows = sqlx::query(sql).fetch_all(&mut database).await.unwrap();
        rows.iter()
            .map(|row| {
                (
                    row.get::<Option<String>, _>("server"),
                    row.get::<i64, _>("runs"),
                )
            })
            .collect::<HashMap<_, _>>()
    };
    let dead = owners().await.into_keys().next().unwrap();
    servers[0].child.start_kill().unwrap();
    servers[0].child.wait().await.unwrap();
    let mut after = HashMap::new();
    until("all are taken over", async || {
        after = owners().await;
        !after.contains_key(&dead) && !after.contains_key(&None)
    })
    .await;
    println!("{LEFT} runs: {after:?}");
    assert_eq!(after.len(), 2, "{after:?}");
    assert!(
        after.values().all(|runs| *runs as usize >= LEFT / 5),
        "both have some: {after:?}"
    );
    until("they ask their model again", async || {
        upstream.requests().len() == 2 * LEFT
    })
    .await;
}

/// The events of a client that cannot come back.
#[tokio::test]
async fn a_client_that_cannot_come_back_follows_its_run_to_the_next_server() {
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    let behaviour = Behaviour::answer(|request| match request.number {
        1 => Reply::stream(&[
            Step::Reasoning {
                text: "word ".repeat(50),
                tokens_per_second: Some(25.0),
            },
            Step::Calls {
                calls: vec![scripted::Call {
                    name: "write_file".to_owned(),
                    arguments: json!({"path": "/a.md", "content": "a"}),
                }],
            },
            Step::Finish {
                reason: Finish::ToolCalls,
            },
        ]),
        _ => words(20, 25.0),
    });
    let upstream = ScriptedServer::start(behaviour).await.unwrap();
    let mut a = Program::spawn(command(&cluster, &upstream)).await;
    let _b = Program::spawn(command(&cluster, &upstream)).await;
    let body = json!({
        "messages": [{"role": "user", "content": "Hi"}], "model": "glasshouse/agent", "stream": true,
    });
    let asked = a
        .client
        .post(format!("{}/v1/chat/completions", a.url))
        .header("idempotency-key", "once")
        .json(&body);
    let mut response = asked.send().await.unwrap();
    let mut text = String::new();
    let mut is_told = false;
    while let Some(chunk) = response.chunk().await.unwrap() {
        text.push_str(std::str::from_utf8(&chunk).unwrap());
        if !is_told {
            is_told = true;
            a.signal("-TERM");
        }
    }
    assert!(a.child.wait().await.unwrap().success());
    let chunks: Vec<Value> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter_map(|data| serde_json::from_str(data).ok())
        .collect();
    let reason = |chunk: &Value| chunk["choices"][0]["finish_reason"] == "stop";
    assert!(chunks.iter().any(reason), "{text}");
    assert!(text.contains("[DONE]"), "{text}");
    assert_eq!(upstream.requests().len(), 2);
}
