//! A server that ended in the middle of a run: the next one goes on with it, or closes its log and keeps what was
//! written.

use std::{future::ready, path::PathBuf, time::Duration};

use agent::Agents;
use domain::{AgentPath, EventBody, MessageId, Outcome, Role, RunEvent, RunId, laws};
use scripted::{Behaviour, Reply, ScriptedServer, Step};
use serde_json::{Value, json};
use server::app::App;
use sqlx::{Connection, SqliteConnection};
use store::{ChatMessage, NewRun, NewTurn, Segment};

use crate::{
    faults::until,
    harness::{EMAIL, PASSWORD, SECRET_KEY, Server, new_folder},
    openai::connect,
    runs::events,
    sse::Event,
};

#[tokio::test]
async fn an_interrupted_run_is_closed_and_kept() {
    let folder = new_folder();
    let database = format!("sqlite://{}", folder.join("test.db").display());
    let settings = [
        ("GLASSHOUSE_DATABASE_URL", database.as_str()),
        ("GLASSHOUSE_SECRET_KEY", SECRET_KEY),
    ];
    let (run, chat) = {
        let server = Server::start_with(&settings).await;
        let cookie = server.set_up().await;
        let chat = server
            .post("/api/v1/chats", &cookie, &json!({"title": "Cut"}))
            .await
            .json()["id"]
            .clone();
        let run = leave_half_a_run(&server, chat.as_str().unwrap()).await;
        server.app.stopping.cancel();
        server.stopped().await;
        server.app.close().await;
        (run, chat.as_str().unwrap().to_owned())
    };
    let server = Server::start_with(&settings).await;
    let login = server
        .post(
            "/api/v1/login",
            "",
            &json!({"email": EMAIL, "password": PASSWORD}),
        )
        .await;
    let cookie = login.cookie();
    let log = events(&server, &cookie, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    let log: Vec<RunEvent> = log
        .iter()
        .map(|event| serde_json::from_str(&event.data).unwrap())
        .collect();
    assert_eq!(laws::check(&log), Ok(()));
    let chat = server
        .get(&format!("/api/v1/chats/{chat}"), &cookie)
        .await
        .json();
    let message = &chat["messages"][1];
    assert_eq!(message["content"][0]["text"], "Half an answer");
    assert_eq!(message["summary"]["problem"]["code"], "interrupted");
    assert_eq!(server.app.store.unfinished_runs().await.unwrap(), []);
}

/// A folder with everything a server keeps.
pub(crate) struct Kept {
    folder: PathBuf,
    pub(crate) database: String,
}

impl Kept {
    pub(crate) fn new() -> Self {
        let folder = new_folder();
        let database = format!("sqlite://{}", folder.join("test.db").display());
        Self { folder, database }
    }

    /// Changes the database while no server uses it.
    pub(crate) async fn execute(&self, sql: &'static str) {
        let mut rows = SqliteConnection::connect(&self.database).await.unwrap();
        sqlx::query(sql).execute(&mut rows).await.unwrap();
    }

    pub(crate) async fn start(&self) -> Server {
        self.start_with(&[]).await
    }

    /// Starts a server on it, with these settings too.
    pub(crate) async fn start_with(&self, more: &[(&str, &str)]) -> Server {
        let folder = self.folder.join("data");
        let settings = [
            ("GLASSHOUSE_DATABASE_URL", self.database.as_str()),
            ("GLASSHOUSE_DATA_DIR", folder.to_str().unwrap()),
        ];
        Server::start_with(&[&settings, more].concat()).await
    }
}

/// As the program does it when it is told to stop, without waiting for runs.
pub(crate) async fn stop(server: &Server) {
    server.app.runs.drain(ready(())).await;
    server.app.stopping.cancel();
    server.app.runs.end_readers();
    server.stopped().await;
    server.app.close().await;
}

pub(crate) fn parsed(events: &[Event]) -> Vec<RunEvent> {
    events
        .iter()
        .map(|event| serde_json::from_str(&event.data).unwrap())
        .collect()
}

#[tokio::test]
async fn a_run_that_waits_goes_on_with_the_next_server() {
    let upstream = ScriptedServer::start(Behaviour::answer(|request| match request.number {
        1 => Reply::calls(&[
            ("write_file", json!({"path": "/b.md", "content": "b"})),
            ("ask_user", json!({"question": "Which?"})),
        ]),
        _ => Reply::text("This one then."),
    }))
    .await
    .unwrap();
    let kept = Kept::new();
    let first = kept.start().await;
    let cookie = first.set_up().await;
    connect(&first, &cookie, "Up", &upstream.base_url()).await;
    let pinned = json!({"name": "likes", "text": "Tea", "pinned": true});
    first
        .post("/api/v1/memories", &cookie, &pinned)
        .await
        .expect(201);
    let chat = first
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let said = json!({"content": "Do it.", "model": "scripted"});
    let sent = first
        .post(&format!("/api/v1/chats/{chat}/messages"), &cookie, &said)
        .await
        .json();
    let path = format!("/runs/{}/events", sent["run"].as_str().unwrap());
    let mut reader = events(&first, &cookie, &path).await;
    let mut before = Vec::new();
    let has = |seen: &[Event], kind: &str| {
        seen.iter()
            .any(|event| event.json()["body"]["type"] == kind)
    };
    while !["question_asked", "file_changed"]
        .iter()
        .all(|kind| has(&before, kind))
    {
        before.push(reader.next().await.unwrap());
    }
    // The run goes on with what it was told when it began.
    let changed = json!({"name": "more", "text": "Coffee", "pinned": true});
    first
        .post("/api/v1/memories", &cookie, &changed)
        .await
        .expect(201);
    stop(&first).await;
    before.extend(reader.rest().await);
    drop(first);

    let second = kept.start().await;
    let mut reader = events(&second, &cookie, &path).await;
    let mut again = Vec::new();
    while again.len() < before.len() {
        again.push(reader.next().await.unwrap());
    }
    let log = parsed(&again);
    assert_eq!(log, parsed(&before), "what was seen is kept");
    let run = second
        .get(path.trim_end_matches("/events"), &cookie)
        .await
        .json();
    assert_eq!(run["state"], "waiting", "{run}");
    let asked = log.iter().find_map(|event| match &event.body {
        EventBody::QuestionAsked { question, .. } => Some(question.clone()),
        _ => None,
    });
    let answer = format!(
        "{}/questions/{}",
        path.trim_end_matches("/events"),
        asked.unwrap()
    );
    second
        .post(&answer, &cookie, &json!({"answer": "This one"}))
        .await
        .expect(204);
    let log = parsed(&events(&second, &cookie, &path).await.rest().await);
    assert_eq!(laws::check(&log), Ok(()));
    let count =
        |is_it: fn(&EventBody) -> bool| log.iter().filter(|event| is_it(&event.body)).count();
    assert_eq!(
        count(|body| matches!(body, EventBody::RunStarted { .. })),
        1
    );
    assert_eq!(
        count(|body| matches!(body, EventBody::QuestionAsked { .. })),
        1
    );
    assert_eq!(
        count(|body| matches!(body, EventBody::FileChanged { .. })),
        1,
        "{log:?}"
    );
    let asked = upstream.requests();
    assert_eq!(asked.len(), 2);
    let before: Vec<Value> = asked[0]["messages"].as_array().unwrap().clone();
    assert_eq!(
        asked[1]["messages"].as_array().unwrap()[..before.len()],
        before,
        "the same conversation"
    );
    assert!(before[1].to_string().contains("Tea"), "{}", before[1]);
    let chat = second
        .get(&format!("/api/v1/chats/{chat}"), &cookie)
        .await
        .json();
    assert_eq!(
        chat["messages"][1]["content"][0]["text"], "This one then.",
        "{chat}"
    );
    assert_eq!(second.app.store.unfinished_runs().await.unwrap(), []);
}

/// A fork that waits is a run like any other: its past and what the person told it there are in its log.
#[tokio::test]
async fn a_fork_goes_on_with_the_next_server() {
    let upstream = ScriptedServer::start(Behaviour::answer(|request| match request.number {
        1 => Reply::calls(&[("write_file", json!({"path": "/b.md", "content": "b"}))]),
        2 => Reply::text("Written."),
        3 => Reply::calls(&[("ask_user", json!({"question": "Which?"}))]),
        _ => Reply::text("This one then."),
    }))
    .await
    .unwrap();
    let kept = Kept::new();
    let first = kept.start().await;
    let cookie = first.set_up().await;
    connect(&first, &cookie, "Up", &upstream.base_url()).await;
    let chat = first
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json();
    let said = json!({"content": "Do it.", "model": "scripted"});
    let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
    let sent = first.post(&path, &cookie, &said).await.json();
    let run = sent["run"].as_str().unwrap();
    let log = parsed(
        &events(&first, &cookie, &format!("/runs/{run}/events"))
            .await
            .rest()
            .await,
    );
    let second_step = log
        .iter()
        .find(|event| {
            event.body
                == EventBody::StepStarted {
                    step: 2,
                    last: None,
                }
        })
        .unwrap();
    let body = json!({"after": second_step.seq - 1, "guidance": "Ask me first."});
    let forked = first
        .post(&format!("/api/v1/runs/{run}/fork"), &cookie, &body)
        .await
        .json();
    let path = format!("/runs/{}", forked["run"].as_str().unwrap());
    let mut reader = events(&first, &cookie, &format!("{path}/events")).await;
    let asked = loop {
        let event = reader.next().await.unwrap().json();
        if event["body"]["type"] == "question_asked" {
            break event["body"]["question"].as_str().unwrap().to_owned();
        }
    };
    stop(&first).await;
    drop(first);

    let second = kept.start().await;
    let answer = json!({"answer": "This one"});
    second
        .post(&format!("{path}/questions/{asked}"), &cookie, &answer)
        .await
        .expect(204);
    let log = parsed(
        &events(&second, &cookie, &format!("{path}/events"))
            .await
            .rest()
            .await,
    );
    assert_eq!(laws::check(&log), Ok(()));
    let writes = log
        .iter()
        .filter(|event| matches!(event.body, EventBody::FileChanged { .. }))
        .count();
    assert_eq!(writes, 1, "{log:?}");
    let asked = upstream.requests();
    assert_eq!(asked.len(), 4);
    let before = asked[2]["messages"].as_array().unwrap().clone();
    assert_eq!(before.last().unwrap()["content"], "Ask me first.");
    assert_eq!(
        asked[3]["messages"].as_array().unwrap()[..before.len()],
        before,
        "the same conversation"
    );
    let chat = second
        .get(
            &format!("/api/v1/chats/{}", forked["chat"].as_str().unwrap()),
            &cookie,
        )
        .await
        .json();
    assert_eq!(
        chat["messages"][1]["content"][0]["text"], "This one then.",
        "{chat}"
    );
}

/// The model server of the environment is not up, so that nobody knows yet whether the runs of before can go on.
#[tokio::test]
async fn a_run_whose_model_server_is_away_can_be_stopped() {
    let kept = Kept::new();
    let upstream = ScriptedServer::start(Behaviour::always(Reply::calls(&[(
        "ask_user",
        json!({"question": "Which?"}),
    )])));
    let upstream = upstream.await.unwrap();
    let url = upstream.base_url();
    let settings = [("OPENAI_API_BASE_URL", url.as_str())];
    let first = kept.start_with(&settings).await;
    let cookie = first.set_up().await;
    let is_known = async || {
        first
            .get("/api/v1/models", &cookie)
            .await
            .text
            .contains("\"scripted\"")
    };
    while !is_known().await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut left = Vec::new();
    for _ in 0..2 {
        let chat = first
            .post("/api/v1/chats", &cookie, &json!({}))
            .await
            .json()["id"]
            .clone();
        let chat = format!("/api/v1/chats/{}", chat.as_str().unwrap());
        let said = json!({"content": "Do it.", "model": "scripted"});
        let begun = first
            .post(&format!("{chat}/messages"), &cookie, &said)
            .await
            .json();
        let run = format!("/runs/{}", begun["run"].as_str().unwrap());
        let mut reader = events(&first, &cookie, &format!("{run}/events")).await;
        let asked = reader
            .until(|event| event["body"]["type"] == "question_asked")
            .await;
        left.push((
            chat,
            run,
            asked["body"]["question"].as_str().unwrap().to_owned(),
        ));
    }
    stop(&first).await;
    drop((first, upstream));

    let second = kept.start_with(&settings).await;
    let [(_, stopped, question), (chat, deleted, _)] = left.try_into().unwrap();
    let answer = json!({"answer": "This one"});
    let answered = second
        .post(&format!("{stopped}/questions/{question}"), &cookie, &answer)
        .await;
    assert_eq!(answered.expect(503), "unavailable");
    second
        .post(&format!("{stopped}/cancel"), &cookie, &json!({}))
        .await
        .expect(204);
    let log = parsed(
        &events(&second, &cookie, &format!("{stopped}/events"))
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
                outcome: Outcome::Cancelled,
                problem: None,
                ..
            }
        ),
        "{end:?}"
    );
    second.delete(&chat, &cookie).await.expect(204);
    second.get(&deleted, &cookie).await.expect(404);
    assert_eq!(second.app.store.unfinished_runs().await.unwrap(), []);
}

/// Two servers that go on with the same runs would do everything twice.
#[tokio::test]
async fn a_second_server_on_the_same_data_is_refused() {
    let kept = Kept::new();
    let first = kept.start().await;
    let config = (*first.app.config.now()).clone();
    let second = App::open(
        config,
        first.clock.clone(),
        agent::tour::model(0),
        Agents::built_in().unwrap(),
    )
    .await;
    let said = second
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert!(
        said.contains("another Glasshouse uses the data folder"),
        "{said}"
    );
    stop(&first).await;
    drop(first);
    stop(&kept.start().await).await;
}

/// What a process leaves that is killed while the model writes.
async fn leave_half_a_run(server: &Server, chat: &str) -> RunId {
    let (store, now) = (&server.app.store, server.clock.now_ms());
    let owner = store.user_by_email(EMAIL).await.unwrap().user.id;
    let (chat, run) = (chat.parse().unwrap(), RunId::generate());
    let message = |role, parent, run| ChatMessage {
        id: MessageId::generate(),
        chat,
        parent,
        role,
        content: vec![domain::Part::Text {
            text: "Question".into(),
        }],
        created_at: now,
        model: None,
        run,
        summary: None,
        schedule: None,
        author: None,
    };
    let user = message(Role::User, None, None);
    let assistant = message(Role::Assistant, Some(user.id), Some(run));
    let row = NewRun {
        id: run,
        principal: store::Principal::of_account(owner),
        key_models: None,
        chat: Some(chat),
        message: Some(assistant.id),
        model: "tour".into(),
        started_at: now,
        request: None,
        idempotency: None,
        origin: None,
        research: None,
        workspace: None,
    };
    store
        .begin_turn(&NewTurn {
            user: Some(user),
            assistant,
            run: row,
            title: None,
            beside: None,
            queued: None,
        })
        .await
        .unwrap();
    let bodies = [
        EventBody::RunStarted {
            chat: Some(chat),
            message: None,
            model: "tour".into(),
        },
        EventBody::ToolRequested {
            call: "c1".into(),
            name: "ls".into(),
            model_id: None,
            by_provider: false,
        },
        EventBody::TextStarted { item: "t1".into() },
        EventBody::TextDelta {
            item: "t1".into(),
            delta: "Half an ".into(),
        },
        EventBody::TextDelta {
            item: "t1".into(),
            delta: "answer".into(),
        },
    ];
    let mut lines = String::new();
    for (body, seq) in bodies.into_iter().zip(1..) {
        let event = RunEvent {
            run,
            seq,
            at: now,
            agent: AgentPath::main(),
            body,
        };
        lines.push_str(&serde_json::to_string(&event).unwrap());
        lines.push('\n');
    }
    store
        .append(Segment {
            run,
            first_seq: 1,
            last_seq: 5,
            lines: lines.into(),
        })
        .await
        .unwrap();
    run
}

/// An answer that takes longer than the time between two updates: nothing crashes, so it is not given up.
#[tokio::test]
async fn orderly_restarts_are_not_counted_as_crashes() {
    const RESTARTS: usize = 12;
    let upstream = ScriptedServer::start(Behaviour::answer(|request| match request.number {
        ..=RESTARTS => Reply::stream(&[Step::Silence]),
        _ => Reply::text("At last."),
    }))
    .await
    .unwrap();
    let kept = Kept::new();
    let mut server = kept.start().await;
    let cookie = server.set_up().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let chat = server
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json();
    let said = json!({"content": "Do it.", "model": "scripted"});
    let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
    let sent = server.post(&path, &cookie, &said).await.json();
    let path = format!("/runs/{}/events", sent["run"].as_str().unwrap());
    for restart in 1..=RESTARTS {
        until("the model is asked", async || {
            upstream.requests().len() == restart
        })
        .await;
        stop(&server).await;
        drop(server);
        server = kept.start().await;
    }
    let log = parsed(&events(&server, &cookie, &path).await.rest().await);
    assert_eq!(laws::check(&log), Ok(()));
    let resumed = |event: &&RunEvent| event.body == EventBody::RunResumed { released: true };
    assert_eq!(log.iter().filter(resumed).count(), RESTARTS);
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
