//! A server that died in the middle of a run: the next one closes the log and keeps what was written.

use domain::{AgentPath, EventBody, MessageId, Role, RunEvent, RunId, laws};
use serde_json::json;
use store::{ChatMessage, NewRun, NewTurn, Segment};

use crate::{
    harness::{EMAIL, PASSWORD, Server, new_folder},
    runs::events,
};

#[tokio::test]
async fn an_interrupted_run_is_closed_and_kept() {
    let folder = new_folder();
    let database = format!("sqlite://{}", folder.join("test.db").display());
    let settings = [("GLASSHOUSE_DATABASE_URL", database.as_str())];
    let (run, chat) = {
        let server = Server::start_with(&settings).await;
        let cookie = server.set_up().await;
        let chat = server.post("/api/v1/chats", &cookie, &json!({"title": "Cut"})).await.json()["id"].clone();
        let run = leave_half_a_run(&server, chat.as_str().unwrap()).await;
        server.app.stopping.cancel();
        server.stopped().await;
        server.app.close().await;
        (run, chat.as_str().unwrap().to_owned())
    };
    let server = Server::start_with(&settings).await;
    let login = server.post("/api/v1/login", "", &json!({"email": EMAIL, "password": PASSWORD})).await;
    let cookie = login.cookie();
    let log = events(&server, &cookie, &format!("/runs/{run}/events")).await.rest().await;
    let log: Vec<RunEvent> = log.iter().map(|event| serde_json::from_str(&event.data).unwrap()).collect();
    assert_eq!(laws::check(&log), Ok(()));
    let chat = server.get(&format!("/api/v1/chats/{chat}"), &cookie).await.json();
    let message = &chat["messages"][1];
    assert_eq!(message["content"][0]["text"], "Half an answer");
    assert_eq!(message["summary"]["problem"]["code"], "interrupted");
    assert_eq!(server.app.store.unfinished_runs().await.unwrap(), []);
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
        content: vec![domain::Part::Text { text: "Question".into() }],
        created_at: now,
        model: None,
        run,
        summary: None,
    };
    let user = message(Role::User, None, None);
    let assistant = message(Role::Assistant, Some(user.id), Some(run));
    let row = NewRun {
        id: run,
        owner,
        chat: Some(chat),
        message: Some(assistant.id),
        model: "tour".into(),
        started_at: now,
    };
    store.begin_turn(&NewTurn { user: Some(user), assistant, run: row }).await.unwrap();
    let bodies = [
        EventBody::RunStarted { chat: Some(chat), message: None, model: "tour".into() },
        EventBody::ToolRequested { call: "c1".into(), name: "ls".into() },
        EventBody::TextStarted { item: "t1".into() },
        EventBody::TextDelta { item: "t1".into(), delta: "Half an ".into() },
        EventBody::TextDelta { item: "t1".into(), delta: "answer".into() },
    ];
    let mut lines = String::new();
    for (body, seq) in bodies.into_iter().zip(1..) {
        let event = RunEvent { run, seq, at: now, agent: AgentPath::main(), body };
        lines.push_str(&serde_json::to_string(&event).unwrap());
        lines.push('\n');
    }
    store.append(Segment { run, first_seq: 1, last_seq: 5, lines }).await.unwrap();
    run
}
