//! SIGTERM under load: what was taken goes on with the next start, and no log has a hole.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use domain::{EventBody, Outcome};
use reqwest::Client;
use scripted::{Behaviour, ScriptedServer};
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::sleep};

use super::{Program, words};
use crate::harness::{new_folder, plain_client};

const PEOPLE: usize = 12;

/// Posts until the server is gone; each message that was taken is noted with what was seen of its run.
async fn person(url: String, client: Client, taken: Arc<Mutex<BTreeMap<String, Vec<String>>>>) {
    loop {
        let body = json!({"messages": [{"role": "user", "content": "Hi"}], "model": "scripted"});
        let Ok(mut response) = client
            .post(format!("{url}/chat/stream?format=native"))
            .json(&body)
            .send()
            .await
        else {
            return;
        };
        if response.status() != 200 {
            assert_eq!(response.status(), 503, "refused in words or not at all");
            return;
        }
        let run = response.headers()["x-run-id"].to_str().unwrap().to_owned();
        let mut seen = Vec::new();
        while let Ok(Some(bytes)) = response.chunk().await {
            seen.extend_from_slice(&bytes);
        }
        let seen = String::from_utf8(seen).unwrap();
        let whole = seen
            .split_inclusive("\n\n")
            .filter(|frame| frame.ends_with("\n\n"));
        let events = whole
            .filter_map(|frame| frame.split_once("data: "))
            .map(|(_, data)| data.trim().to_owned());
        taken.lock().unwrap().insert(run, events.collect());
    }
}

#[cfg(unix)]
#[tokio::test]
async fn all_runs_outlive_a_stop_under_load() {
    let upstream = ScriptedServer::start(Behaviour::always(words(60, 20.0)))
        .await
        .unwrap();
    let folder = new_folder();
    let mut command = Program::command(&folder, &upstream.base_url());
    // Shorter than an answer.
    command.env("GLASSHOUSE_DRAIN_SECONDS", "1");
    let mut first = Program::spawn(command).await;
    let taken = Arc::new(Mutex::new(BTreeMap::new()));
    let mut people = JoinSet::new();
    for _ in 0..PEOPLE {
        people.spawn(person(
            first.url.clone(),
            plain_client(),
            Arc::clone(&taken),
        ));
        sleep(Duration::from_millis(130)).await;
    }
    sleep(Duration::from_secs(3)).await;
    first.signal("-TERM");
    assert!(first.child.wait().await.unwrap().success());
    while let Some(person) = people.join_next().await {
        person.unwrap();
    }

    let second = Program::start(&folder, &upstream.base_url()).await;
    let taken = taken.lock().unwrap().clone();
    assert!(taken.len() > PEOPLE, "{}", taken.len());
    let mut went_on = 0;
    for (run, seen) in &taken {
        let log = second.log(run).await;
        let EventBody::RunFinished { outcome, .. } = log[log.len() - 1].body else {
            unreachable!()
        };
        assert_eq!(outcome, Outcome::Completed, "{run}");
        went_on += usize::from(
            log.iter()
                .any(|event| matches!(event.body, EventBody::RunResumed { .. })),
        );
        let stored: Vec<Value> = log
            .iter()
            .map(|event| serde_json::to_value(event).unwrap())
            .collect();
        for event in seen {
            let event: Value = serde_json::from_str(event).unwrap();
            assert!(
                stored.contains(&event),
                "{run}: shown and not kept: {event}"
            );
        }
    }
    assert!(went_on > 0, "some were in the middle");
    drop(second);
    std::fs::remove_dir_all(folder).unwrap();
}
