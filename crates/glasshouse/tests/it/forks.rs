//! Forks: a new chat goes on from a step of a run, with its past and its files, and does nothing of it again.

use domain::{EventBody, RunEvent, laws};
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::{harness::Server, openai::connect, runs::events};

/// Writes `/a.md` in each of two steps, then says what it did; whatever else is asked is answered with a number.
fn writes_twice() -> Behaviour {
    let write =
        |text: &str| Reply::calls(&[("write_file", json!({"path": "/a.md", "content": text}))]);
    Behaviour::answer(move |request| match request.number {
        1 => write("one"),
        2 => write("two"),
        3 => Reply::text("Wrote it twice."),
        number => Reply::text(&format!("Answer {number}.")),
    })
}

struct Forkable {
    server: Server,
    upstream: ScriptedServer,
    cookie: String,
    chat: String,
    run: String,
    log: Vec<RunEvent>,
}

impl Forkable {
    async fn new(behaviour: Behaviour) -> Self {
        let upstream = ScriptedServer::start(behaviour).await.unwrap();
        let (server, cookie) = Server::start_signed_in().await;
        connect(&server, &cookie, "Up", &upstream.base_url()).await;
        let chat = server
            .post("/api/v1/chats", &cookie, &json!({"title": "First"}))
            .await
            .json();
        let chat = chat["id"].as_str().unwrap().to_owned();
        server
            .put(
                &format!("/api/v1/chats/{chat}/files/content?path=/kept.md"),
                &cookie,
                &json!("kept"),
            )
            .await
            .expect(200);
        let said = json!({"content": "Write it.", "model": "scripted"});
        let sent = server
            .post(&format!("/api/v1/chats/{chat}/messages"), &cookie, &said)
            .await
            .json();
        let run = sent["run"].as_str().unwrap().to_owned();
        let log = log_of(&server, &cookie, &run).await;
        Self {
            server,
            upstream,
            cookie,
            chat,
            run,
            log,
        }
    }

    /// The event before the main agent's model call number `step`.
    fn before_step(&self, step: u32) -> u64 {
        let is_it = |event: &&RunEvent| {
            event.agent.is_main() && event.body == EventBody::StepStarted { step, last: None }
        };
        self.log.iter().find(is_it).unwrap().seq - 1
    }

    async fn fork(&self, body: &Value) -> crate::harness::Answer {
        self.server
            .post(
                &format!("/api/v1/runs/{}/fork", self.run),
                &self.cookie,
                body,
            )
            .await
    }

    async fn chat(&self, id: &str) -> Value {
        self.server
            .get(&format!("/api/v1/chats/{id}"), &self.cookie)
            .await
            .json()
    }

    async fn file(&self, chat: &str, path: &str) -> String {
        let path = format!("/api/v1/chats/{chat}/files/content?path={path}");
        self.server.get(&path, &self.cookie).await.text
    }
}

async fn log_of(server: &Server, cookie: &str, run: &str) -> Vec<RunEvent> {
    let log = events(server, cookie, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    log.iter()
        .map(|event| serde_json::from_str(&event.data).unwrap())
        .collect()
}

/// What a model was sent, without the ids of calls, which differ.
fn said(request: &Value) -> Vec<(String, String, String)> {
    let messages = request["messages"].as_array().unwrap();
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let call = |message: &Value| {
        let call = &message["tool_calls"][0]["function"];
        format!("{} {}", call["name"], call["arguments"])
    };
    messages
        .iter()
        .map(|it| (text(&it["role"]), text(&it["content"]), call(it)))
        .collect()
}

#[tokio::test]
async fn a_fork_goes_on_from_a_step_with_its_past_and_its_files() {
    let it = Forkable::new(writes_twice()).await;
    let body = json!({"after": it.before_step(2), "guidance": "Stop here."});
    let forked = it.fork(&body).await;
    forked.expect(200);
    let forked = forked.json();
    let (chat, run) = (
        forked["chat"].as_str().unwrap(),
        forked["run"].as_str().unwrap(),
    );
    let log = log_of(&it.server, &it.cookie, run).await;
    assert_eq!(laws::check(&log), Ok(()));

    // The same past under another name, then one new step.
    let taken = log
        .iter()
        .position(|event| matches!(event.body, EventBody::RunForked { .. }))
        .unwrap();
    assert_eq!(log[taken].seq, it.before_step(2) + 1);
    for (copy, first) in log[1..taken].iter().zip(&it.log[1..]) {
        assert_eq!(
            (copy.seq, copy.at, &copy.body),
            (first.seq, first.at, &first.body)
        );
    }
    let EventBody::RunStarted {
        chat: Some(in_chat),
        ..
    } = &log[0].body
    else {
        panic!("{:?}", log[0])
    };
    assert_eq!(in_chat.to_string(), chat);
    assert!(
        !log.iter()
            .any(|event| matches!(event.body, EventBody::RunResumed { .. }))
    );
    let writes = log
        .iter()
        .filter(|event| matches!(event.body, EventBody::FileChanged { .. }))
        .count();
    assert_eq!(writes, 1, "what the past did is not done again");

    // The model reads exactly what it read before its second answer, and the guidance.
    let asked = it.upstream.requests();
    assert_eq!(asked.len(), 4);
    let (before, now) = (said(&asked[1]), said(&asked[3]));
    assert_eq!(now[..before.len()], before[..]);
    assert_eq!(now.len(), before.len() + 1);
    assert_eq!(
        now.last().map(|(role, text, _)| (&**role, &**text)),
        Some(("user", "Stop here."))
    );

    // The files of each chat are its own.
    assert_eq!(it.file(chat, "/a.md").await, "one");
    assert_eq!(it.file(&it.chat, "/a.md").await, "two");
    assert_eq!(
        it.file(chat, "/kept.md").await,
        it.file(&it.chat, "/kept.md").await
    );

    let new = it.chat(chat).await;
    assert_eq!(new["title"], "First (fork)");
    let messages = new["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[0]["content"][0]["text"], "Write it.");
    assert_eq!(messages[1]["content"][0]["text"], "Answer 4.");
    assert_eq!(new["current"], forked["message"]);
    let old = it.chat(&it.chat).await;
    assert_eq!(old["messages"][1]["content"][0]["text"], "Wrote it twice.");

    // Only the new model call is paid for.
    let EventBody::RunFinished { usage, .. } = log.last().unwrap().body else {
        panic!("{log:?}")
    };
    let called = log[taken..].iter().find_map(|event| match &event.body {
        EventBody::ModelCalled { usage, .. } => Some(*usage),
        _ => None,
    });
    assert_eq!(Some(usage), called);
    let metrics = it.server.get("/metrics", &it.cookie).await.text;
    for line in [
        "glasshouse_model_call_seconds_count 4",
        "glasshouse_runs_started_total 2",
    ] {
        assert!(
            metrics.lines().any(|written| written == line),
            "{line} in {metrics}"
        );
    }

    // The next turn knows the past, the guidance and the answer.
    let said_next =
        json!({"parent": forked["message"], "content": "And now?", "model": "scripted"});
    let next = it
        .server
        .post(
            &format!("/api/v1/chats/{chat}/messages"),
            &it.cookie,
            &said_next,
        )
        .await
        .json();
    log_of(&it.server, &it.cookie, next["run"].as_str().unwrap()).await;
    let next = said(&it.upstream.requests()[4]);
    let texts: Vec<&str> = next
        .iter()
        .skip(1)
        .map(|(_, text, _)| text.as_str())
        .collect();
    assert_eq!(texts[0], "Write it.");
    assert_eq!(
        texts[texts.len() - 3..],
        ["Stop here.", "Answer 4.", "And now?"]
    );
}

#[tokio::test]
async fn a_fork_can_be_forked_and_outlives_the_first_chat() {
    let it = Forkable::new(writes_twice()).await;
    let first = it.fork(&json!({"after": it.before_step(3)})).await.json();
    let run = first["run"].as_str().unwrap();
    let log = log_of(&it.server, &it.cookie, run).await;
    it.server
        .delete(&format!("/api/v1/chats/{}", it.chat), &it.cookie)
        .await
        .expect(204);
    let body = json!({"after": it.before_step(2), "title": "Once more"});
    let second = it
        .server
        .post(&format!("/api/v1/runs/{run}/fork"), &it.cookie, &body)
        .await;
    second.expect(200);
    let second = second.json();
    let again = log_of(&it.server, &it.cookie, second["run"].as_str().unwrap()).await;
    for log in [&log, &again] {
        assert_eq!(laws::check(log), Ok(()));
    }
    let chat = second["chat"].as_str().unwrap();
    assert_eq!(it.chat(chat).await["title"], "Once more");
    assert_eq!(
        it.file(first["chat"].as_str().unwrap(), "/a.md").await,
        "two"
    );
    assert_eq!(it.file(chat, "/a.md").await, "one");
}

#[tokio::test]
async fn a_run_is_forked_at_its_steps_only_and_by_its_owner() {
    let it = Forkable::new(writes_twice()).await;
    let last = it.log.last().unwrap().seq;
    for after in [
        0,
        it.before_step(2) + 1,
        it.before_step(3) - 1,
        last,
        9_999_999,
    ] {
        let refused = it.fork(&json!({"after": after})).await;
        assert_eq!(refused.expect(400), "invalid_request", "{after}");
    }
    let refused = it.fork(&json!({"after": it.before_step(3) - 1})).await.text;
    assert!(
        refused.contains(&format!("Use event {}.", it.before_step(2))),
        "{refused}"
    );
    let long = it
        .fork(&json!({"after": it.before_step(2), "guidance": "x".repeat(100_001)}))
        .await;
    assert_eq!(long.expect(400), "invalid_request");
    let key = it.server.key_of_plain_user("eve@example.org").await;
    let path = format!("/api/v1/runs/{}/fork", it.run);
    let theirs = it
        .server
        .post(&path, &key, &json!({"after": it.before_step(2)}))
        .await;
    assert_eq!(theirs.expect(404), "not_found");

    let free = json!({"messages": [{"role": "user", "content": "Hi"}], "model": "scripted", "stream": false});
    let run = it
        .server
        .post("/chat/stream", &it.cookie, &free)
        .await
        .json()["run_id"]
        .clone();
    if let Some(run) = run.as_str() {
        let path = format!("/api/v1/runs/{run}/fork");
        let refused = it
            .server
            .post(&path, &it.cookie, &json!({"after": 1}))
            .await;
        assert_eq!(refused.expect(409), "conflict");
    }
    assert_eq!(it.upstream.requests().len(), 4, "nothing was begun");
    let chats = it.server.get("/api/v1/chats", &it.cookie).await.json();
    assert_eq!(chats["chats"].as_array().unwrap().len(), 1, "{chats}");
}

#[tokio::test]
async fn a_run_that_is_going_is_not_forked() {
    let asks = Behaviour::always(Reply::calls(&[("ask_user", json!({"question": "Which?"}))]));
    let upstream = ScriptedServer::start(asks).await.unwrap();
    let (server, cookie) = Server::start_signed_in().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let chat = server
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json();
    let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
    let sent = server
        .post(
            &path,
            &cookie,
            &json!({"content": "Ask.", "model": "scripted"}),
        )
        .await
        .json();
    let path = format!("/api/v1/runs/{}/fork", sent["run"].as_str().unwrap());
    let refused = server.post(&path, &cookie, &json!({"after": 1})).await;
    assert_eq!(refused.expect(409), "conflict");
}

/// Another model is no other agent: what follows in the fork's chat is the agent's too.
#[tokio::test]
async fn a_fork_with_another_model_keeps_its_agent() {
    let upstream = ScriptedServer::start(writes_twice()).await.unwrap();
    let (server, cookie) = Server::start_signed_in().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let writer =
        json!({"name": "writer", "description": "Writes.", "instructions": "You write poems."});
    server
        .post("/api/v1/agents", &cookie, &writer)
        .await
        .expect(200);
    let chat = server
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json();
    let said = json!({"content": "Write it.", "model": "glasshouse/writer"});
    let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
    let run = server.post(&path, &cookie, &said).await.json()["run"]
        .as_str()
        .unwrap()
        .to_owned();
    let log = log_of(&server, &cookie, &run).await;
    let is_step = |event: &&RunEvent| {
        event.body
            == EventBody::StepStarted {
                step: 2,
                last: None,
            }
    };
    let after = log.iter().find(is_step).unwrap().seq - 1;
    let body = json!({"after": after, "model": "scripted"});
    let forked = server
        .post(&format!("/api/v1/runs/{run}/fork"), &cookie, &body)
        .await;
    forked.expect(200);
    let forked = forked.json();
    log_of(&server, &cookie, forked["run"].as_str().unwrap()).await;
    let chat = server
        .get(
            &format!("/api/v1/chats/{}", forked["chat"].as_str().unwrap()),
            &cookie,
        )
        .await
        .json();
    let answer = chat["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(answer["model"], "glasshouse/writer", "{answer}");
    let asked = upstream.requests().pop().unwrap();
    assert!(
        asked["messages"][0]["content"]
            .as_str()
            .unwrap()
            .contains("You write poems."),
        "{asked}"
    );
}
