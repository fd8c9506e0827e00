//! Runs that only wait for people are taken out of memory, and nobody notices.

use std::time::Duration;

use domain::{EventBody, Outcome, RunEvent, RunId, event::Decision, laws};
use run_registry::{Activity, ActivityState};
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::{
    harness::Server,
    openai::connect,
    restart::{Kept, parsed, stop},
    runs::{events, start_tour},
    sse::Events,
};

/// Puts the run to rest, as the server does it to one that has been quiet for a while.
pub(crate) async fn put_to_rest(server: &Server, run: &str) {
    let live = server.app.runs.live(run.parse::<RunId>().unwrap()).unwrap();
    for _ in 0..500 {
        server.app.runs.hibernate_idle();
        if live.pending_input.rests() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the run does not rest");
}

/// An agent that hands work to another, which writes a file and asks a person.
async fn upstream() -> ScriptedServer {
    let behaviour = Behaviour::answer(|request| match request.number {
        1 => Reply::calls(&[(
            "task",
            json!({"description": "Find out.", "subagent_type": "general"}),
        )]),
        2 => Reply::calls(&[
            ("write_file", json!({"path": "/b.md", "content": "b"})),
            ("ask_user", json!({"question": "Which?"})),
        ]),
        3 => Reply::text("The person wants this one."),
        _ => Reply::text("This one then."),
    });
    ScriptedServer::start(behaviour).await.unwrap()
}

/// Starts a run on that and reads until it asks. Returns its address, its reader and the question's address.
async fn ask(server: &Server, cookie: &str, upstream: &ScriptedServer) -> (String, Events, String) {
    connect(server, cookie, "Up", &upstream.base_url()).await;
    let chat = server
        .post("/api/v1/chats", cookie, &json!({}))
        .await
        .json()["id"]
        .clone();
    let said = json!({"content": "Do it.", "model": "scripted"});
    let path = format!("/api/v1/chats/{}/messages", chat.as_str().unwrap());
    let run = server.post(&path, cookie, &said).await.json()["run"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/runs/{run}");
    let mut reader = events(server, cookie, &format!("{path}/events")).await;
    let asked = reader
        .until(|event| event["body"]["type"] == "question_asked")
        .await;
    let question = format!(
        "{path}/questions/{}",
        asked["body"]["question"].as_str().unwrap()
    );
    put_to_rest(server, &run).await;
    (path, reader, question)
}

#[tokio::test]
async fn a_run_that_rests_goes_on_as_if_it_had_not() {
    let (server, cookie) = Server::start_signed_in().await;
    let upstream = upstream().await;
    let (path, reader, question) = ask(&server, &cookie, &upstream).await;
    assert_eq!(server.get(&path, &cookie).await.json()["state"], "waiting");
    let inbox = server.get("/api/v1/inbox", &cookie).await.json();
    assert_eq!(inbox["items"].as_array().unwrap().len(), 1, "{inbox}");
    let nobody = path.clone() + "/questions/q99";
    server
        .post(&nobody, &cookie, &json!({"answer": "Hm"}))
        .await
        .expect(409);
    server
        .post(&question, &cookie, &json!({"answer": "This one"}))
        .await
        .expect(204);
    server
        .post(&question, &cookie, &json!({"answer": "Or that"}))
        .await
        .expect(409);

    let seen = parsed(&reader.rest().await);
    let log = parsed(
        &events(&server, &cookie, &format!("{path}/events"))
            .await
            .rest()
            .await,
    );
    assert_eq!(laws::check(&log), Ok(()));
    let from = seen[0].seq;
    assert!(
        seen.iter().zip(from..).all(|(event, seq)| event.seq == seq),
        "no gap: {seen:?}"
    );
    assert_eq!(
        seen.last(),
        log.last(),
        "who read all the time has read the end"
    );
    let count =
        |is_it: fn(&EventBody) -> bool| log.iter().filter(|event| is_it(&event.body)).count();
    assert_eq!(
        count(|body| matches!(body, EventBody::RunResumed { .. })),
        0
    );
    assert_eq!(
        count(|body| matches!(body, EventBody::QuestionAsked { .. })),
        1
    );
    assert_eq!(
        count(|body| matches!(body, EventBody::FileChanged { .. })),
        1
    );
    assert_eq!(
        count(|body| matches!(body, EventBody::AgentStarted { .. })),
        1
    );
    assert!(matches!(
        &log.last().unwrap().body,
        EventBody::RunFinished {
            outcome: Outcome::Completed,
            ..
        }
    ));
    let asked = upstream.requests();
    assert_eq!(asked.len(), 4, "no model call was repeated");
    let before: Vec<Value> = asked[1]["messages"].as_array().unwrap().clone();
    assert_eq!(
        asked[2]["messages"].as_array().unwrap()[..before.len()],
        before,
        "the same conversation"
    );
}

#[tokio::test]
async fn a_run_that_rests_can_be_stopped() {
    let (server, cookie) = Server::start_signed_in().await;
    let upstream = upstream().await;
    let (path, reader, question) = ask(&server, &cookie, &upstream).await;
    let mut activity = server.app.runs.subscribe();
    server
        .post(&format!("{path}/cancel"), &cookie, &json!({}))
        .await
        .expect(204);
    let seen = parsed(&reader.rest().await);
    let end = &seen.last().unwrap().body;
    assert!(
        matches!(
            end,
            EventBody::RunFinished {
                outcome: Outcome::Cancelled,
                ..
            }
        ),
        "{end:?}"
    );
    server
        .post(&question, &cookie, &json!({"answer": "This one"}))
        .await
        .expect(409);
    assert_eq!(upstream.requests().len(), 2);
    let log = parsed(
        &events(&server, &cookie, &format!("{path}/events"))
            .await
            .rest()
            .await,
    );
    assert_eq!(laws::check(&log), Ok(()));
    while activity.recv().await.unwrap().state != ActivityState::Finished {}
}

#[tokio::test]
async fn what_nobody_answers_expires_at_rest_too() {
    let (server, cookie) = Server::start_signed_in().await;
    let (_, run) = start_tour(&server, &cookie).await;
    // What a browser reads ends with its session, which does not last as long as the consent may take.
    let key = server
        .post("/api/v1/keys", &cookie, &json!({"name": "Reader"}))
        .await
        .json();
    let key = key["secret"].as_str().unwrap();
    let mut reader = events(&server, key, &format!("/runs/{run}/events")).await;
    reader
        .until(|event| event["body"]["type"] == "approval_asked")
        .await;
    server.clock.advance_ms(8 * 24 * 3600 * 1000);
    put_to_rest(&server, &run).await;
    let answered = reader
        .until(|event| event["body"]["type"] == "approval_answered")
        .await;
    assert_eq!(answered["body"]["decision"], json!(Decision::Expired));
    let end = parsed(&reader.rest().await).pop().unwrap();
    assert!(
        matches!(
            end.body,
            EventBody::RunFinished {
                outcome: Outcome::Completed,
                ..
            }
        ),
        "{end:?}"
    );
}

#[tokio::test]
async fn consent_for_good_reaches_those_that_rest() {
    let (server, cookie) = Server::start_signed_in().await;
    let (_, first) = start_tour(&server, &cookie).await;
    let (_, second) = start_tour(&server, &cookie).await;
    let mut approvals = Vec::new();
    for run in [&first, &second] {
        let mut reader = events(&server, &cookie, &format!("/runs/{run}/events")).await;
        let asked = reader
            .until(|event| event["body"]["type"] == "approval_asked")
            .await;
        approvals.push(asked["body"]["approval"].as_str().unwrap().to_owned());
        put_to_rest(&server, run).await;
    }
    let path = format!("/runs/{first}/approvals/{}", approvals[0]);
    let unfit = json!({"decision": "allow", "arguments": {"nonsense": true}});
    server.post(&path, &cookie, &unfit).await.expect(422);
    server
        .post(
            &path,
            &cookie,
            &json!({"decision": "allow", "remember": "always"}),
        )
        .await
        .expect(204);
    for run in [&first, &second] {
        let log = parsed(
            &events(&server, &cookie, &format!("/runs/{run}/events"))
                .await
                .rest()
                .await,
        );
        assert_eq!(laws::check(&log), Ok(()));
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
}

#[tokio::test]
async fn the_time_of_a_rest_is_nobodys_work() {
    let (server, cookie) = Server::start_signed_in().await;
    let (_, run) = start_tour(&server, &cookie).await;
    let mut reader = events(&server, &cookie, &format!("/runs/{run}/events")).await;
    let asked = reader
        .until(|event| event["body"]["type"] == "approval_asked")
        .await;
    put_to_rest(&server, &run).await;
    // Far more than a run may work.
    server.clock.advance_ms(20 * 3600 * 1000);
    let path = format!(
        "/runs/{run}/approvals/{}",
        asked["body"]["approval"].as_str().unwrap()
    );
    server
        .post(&path, &cookie, &json!({"decision": "allow"}))
        .await
        .expect(204);
    let after: Vec<RunEvent> = parsed(&reader.rest().await);
    assert!(
        matches!(after[0].body, EventBody::ApprovalAnswered { .. }),
        "{:?}",
        after[0]
    );
    let end = &after.last().unwrap().body;
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
async fn a_run_that_rests_outlives_the_server() {
    let kept = Kept::new();
    let first = kept.start().await;
    let cookie = first.set_up().await;
    let upstream = upstream().await;
    let (path, reader, question) = ask(&first, &cookie, &upstream).await;
    let mut activity = first.app.runs.subscribe();
    // Nobody waits for a run that rests: this would last for an hour.
    let drained = first.app.runs.drain(std::future::pending());
    tokio::time::timeout(Duration::from_secs(10), drained)
        .await
        .unwrap();
    let seen = parsed(&reader.rest().await);
    let is_end = |event: &RunEvent| matches!(event.body, EventBody::RunFinished { .. });
    assert!(
        !seen.iter().any(is_end),
        "whoever reads has to come back: {seen:?}"
    );
    let finished = |change: Activity| change.state == ActivityState::Finished;
    assert!(
        !activity.try_recv().is_ok_and(finished),
        "nobody is told that it has ended"
    );
    stop(&first).await;
    drop(first);

    let second = kept.start().await;
    second
        .post(&question, &cookie, &json!({"answer": "This one"}))
        .await
        .expect(204);
    let log = parsed(
        &events(&second, &cookie, &format!("{path}/events"))
            .await
            .rest()
            .await,
    );
    assert_eq!(laws::check(&log), Ok(()));
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

/// As long as the tools of a run that comes back are looked for it has not asked again, and an answer waits for that.
#[tokio::test]
async fn an_answer_right_after_a_restart_is_not_refused() {
    let kept = Kept::new();
    let first = kept.start().await;
    let cookie = first.set_up().await;
    let upstream = upstream().await;
    let (_, _, question) = ask(&first, &cookie, &upstream).await;
    stop(&first).await;
    drop(first);
    let config = crate::harness::new_folder().join("glasshouse.toml");
    // Nobody listens there.
    std::fs::write(
        &config,
        "[[mcp_servers]]\nname = 'away'\nurl = 'http://127.0.0.1:1/mcp'\n",
    )
    .unwrap();
    let second = kept
        .start_with(&[("GLASSHOUSE_CONFIG", config.to_str().unwrap())])
        .await;
    let body = json!({"answer": "This one"});
    let answered = second.post(&question, &cookie, &body);
    let answered = tokio::time::timeout(Duration::from_secs(1), answered).await;
    assert!(answered.is_err(), "{answered:?}");
}

#[tokio::test]
async fn the_ai_sdk_reaches_a_run_that_rests() {
    let (server, cookie) = Server::start_signed_in().await;
    let (_, run) = start_tour(&server, &cookie).await;
    let mut reader = events(&server, &cookie, &format!("/runs/{run}/events")).await;
    let asked = reader
        .until(|event| event["body"]["type"] == "approval_asked")
        .await;
    put_to_rest(&server, &run).await;
    let id = format!("{run}:{}", asked["body"]["approval"].as_str().unwrap());
    let part = json!({"type": "dynamic-tool", "toolName": "edit_file", "toolCallId": "c1", "input": {},
        "state": "approval-responded", "approval": {"id": id, "approved": true}});
    let answer = json!({"id": run, "role": "assistant", "parts": [part]});
    let said = json!({"role": "user", "parts": [{"type": "text", "text": "Hi"}]});
    let body = json!({"messages": [said, answer]});
    server
        .post("/api/ui-message-stream", &cookie, &body)
        .await
        .expect(200);
    let end = parsed(&reader.rest().await).pop().unwrap();
    assert!(
        matches!(
            end.body,
            EventBody::RunFinished {
                outcome: Outcome::Completed,
                ..
            }
        ),
        "{end:?}"
    );
}
