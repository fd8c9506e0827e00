//! Messages to a run that is going: accepted once they are in the log, read at the next step, and never lost.

use std::time::Duration;

use domain::{EventBody, RunEvent, event::InputMode, laws};
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server},
    openai::connect,
    restart::{Kept, parsed, stop},
    resting::put_to_rest,
    runs::events,
};

const BOB: &str = "bob@example.org";

/// A run of a chat whose agent asks a person before it answers.
struct Asking {
    server: Server,
    upstream: ScriptedServer,
    cookie: String,
    chat: String,
    run: String,
}

async fn upstream() -> ScriptedServer {
    let behaviour = Behaviour::answer(|request| match request.number {
        1 => Reply::calls(&[("ask_user", json!({"question": "Which?"}))]),
        number => Reply::text(&format!("Answer {number}.")),
    });
    ScriptedServer::start(behaviour).await.unwrap()
}

impl Asking {
    async fn new() -> Self {
        let (server, cookie) = Server::start_signed_in().await;
        Self::on(server, cookie).await
    }

    async fn on(server: Server, cookie: String) -> Self {
        let upstream = upstream().await;
        connect(&server, &cookie, "Up", &upstream.base_url()).await;
        let chat = server.post("/api/v1/chats", &cookie, &json!({})).await;
        let chat = chat.json()["id"].as_str().unwrap().to_owned();
        let said = json!({"content": "Do it.", "model": "scripted"});
        let path = format!("/api/v1/chats/{chat}/messages");
        let sent = server.post(&path, &cookie, &said).await.json();
        let run = sent["run"].as_str().unwrap().to_owned();
        let it = Self {
            server,
            upstream,
            cookie,
            chat,
            run,
        };
        it.question().await;
        it
    }

    /// Waits until the run asks. Returns the question's id.
    async fn question(&self) -> String {
        let path = format!("/runs/{}/events", self.run);
        let mut reader = events(&self.server, &self.cookie, &path).await;
        let asked = reader
            .until(|it| it["body"]["type"] == "question_asked")
            .await;
        asked["body"]["question"].as_str().unwrap().to_owned()
    }

    async fn send(&self, who: &str, input: &Value) -> Answer {
        let path = format!("/runs/{}/input", self.run);
        self.server.post(&path, who, input).await
    }

    async fn remove(&self, who: &str, input: &str) -> Answer {
        let path = format!("/runs/{}/input/{input}", self.run);
        self.server.delete(&path, who).await
    }

    async fn answer_question(&self) {
        let path = format!("/runs/{}/questions/{}", self.run, self.question().await);
        let answer = json!({"answer": "This one"});
        self.server
            .post(&path, &self.cookie, &answer)
            .await
            .expect(204);
    }

    async fn log_of(&self, run: &str) -> Vec<RunEvent> {
        let path = format!("/runs/{run}/events");
        let log = events(&self.server, &self.cookie, &path).await.rest().await;
        let log = parsed(&log);
        assert_eq!(laws::check(&log), Ok(()));
        log
    }

    async fn chat(&self) -> Value {
        let path = format!("/api/v1/chats/{}", self.chat);
        self.server.get(&path, &self.cookie).await.json()
    }

    async fn messages(&self) -> Vec<Value> {
        self.chat().await["messages"].as_array().unwrap().clone()
    }

    /// Waits until the chat has so many messages, all of them answered.
    async fn messages_when(&self, count: usize) -> Vec<Value> {
        for _ in 0..500 {
            let messages = self.messages().await;
            if messages.len() == count && !messages[count - 1]["summary"].is_null() {
                return messages;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the chat has {:?}", self.messages().await);
    }

    /// The texts of people in a request to the model.
    fn said(&self, request: usize) -> Vec<String> {
        let request = &self.upstream.requests()[request];
        let messages = request["messages"].as_array().unwrap().iter();
        let people = messages.filter(|it| it["role"] == "user");
        let text = |it: &Value| it["content"].as_str().unwrap_or_default().to_owned();
        people.map(text).collect()
    }
}

fn names(log: &[RunEvent]) -> Vec<String> {
    let of_inputs = log.iter().filter_map(|event| match &event.body {
        EventBody::InputReceived(input) => Some(format!("{} {:?}", input.content, input.mode)),
        EventBody::InputApplied { input_id, step } => Some(format!("{input_id} at {step}")),
        EventBody::InputRemoved { input_id } => Some(format!("{input_id} removed")),
        _ => None,
    });
    of_inputs.collect()
}

#[tokio::test]
async fn a_message_steers_the_run_at_its_next_step() {
    let it = Asking::new().await;
    let input = json!({"id": "one", "content": "Shorter.", "mode": "steer"});
    let sent = it.send(&it.cookie, &input).await;
    assert_eq!(sent.status, 202);
    assert_eq!(sent.json(), json!({"input_id": "one"}));
    // Sent again, it is one input.
    it.send(&it.cookie, &input).await.expect(202);
    let gone = json!({"id": "two", "content": "Never mind."});
    it.send(&it.cookie, &gone).await.expect(202);
    it.remove(&it.cookie, "two").await.expect(204);
    it.answer_question().await;
    let log = it.log_of(&it.run).await;
    let expected = [
        "Shorter. Steer",
        "Never mind. Steer",
        "two removed",
        "one at 2",
    ];
    assert_eq!(names(&log), expected);
    assert_eq!(it.said(1), ["Do it.", "Shorter."]);
    // The chat's next turn knows it too.
    let path = format!("/api/v1/chats/{}/messages", it.chat);
    let parent = it.messages().await[1]["id"].clone();
    let next = json!({"content": "Go on.", "model": "scripted", "parent": parent});
    let next = it.server.post(&path, &it.cookie, &next).await.json();
    it.log_of(next["run"].as_str().unwrap()).await;
    let said = it.said(it.upstream.requests().len() - 1);
    assert_eq!(said, ["Do it.", "Shorter.", "Go on."]);
}

#[tokio::test]
async fn a_message_interrupts_the_run() {
    let it = Asking::new().await;
    let input = json!({"content": "Forget the question.", "mode": "interrupt"});
    it.send(&it.cookie, &input).await.expect(202);
    let log = it.log_of(&it.run).await;
    assert_eq!(it.said(1), ["Do it.", "Forget the question."]);
    let unanswered = |event: &RunEvent| {
        matches!(
            &event.body,
            EventBody::QuestionAnswered { answer: None, .. }
        )
    };
    assert!(log.iter().any(unanswered));
    let resumed = |event: &RunEvent| matches!(event.body, EventBody::RunResumed { .. });
    assert!(!log.iter().any(resumed), "the server was not restarted");
    assert_eq!(it.messages().await.len(), 2);
}

#[tokio::test]
async fn what_is_not_read_begins_the_next_turn() {
    let it = Asking::new().await;
    for content in ["Then a summary.", "And a title."] {
        let input = json!({"content": content, "mode": "queue"});
        it.send(&it.cookie, &input).await.expect(202);
    }
    it.answer_question().await;
    let messages = it.messages_when(4).await;
    let said = json!([{"type": "text", "text": "Then a summary.\n\nAnd a title."}]);
    assert_eq!(messages[2]["content"], said);
    assert_eq!(messages[2]["parent"], messages[1]["id"]);
    assert_eq!(messages[3]["content"][0]["text"], "Answer 3.");
    assert_eq!(
        it.said(2).last().unwrap(),
        "Then a summary.\n\nAnd a title."
    );
    // It begins once.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(it.messages().await.len(), 4);
}

/// A turn that cannot begin loses no words: they wait, and can be taken back.
#[tokio::test]
async fn what_cannot_begin_can_be_taken_back() {
    let it = Asking::new().await;
    for id in ["one", "two"] {
        let input = json!({"id": id, "content": id, "mode": "queue"});
        it.send(&it.cookie, &input).await.expect(202);
    }
    let connections = it
        .server
        .get("/api/v1/connections", &it.cookie)
        .await
        .json();
    let connection = connections["connections"][0]["id"].as_str().unwrap();
    let path = format!("/api/v1/connections/{connection}");
    it.server.delete(&path, &it.cookie).await.expect(204);
    it.answer_question().await;
    it.log_of(&it.run).await;
    let bob = it.server.key_of_plain_user(BOB).await;
    it.remove(&bob, "one").await.expect(404);
    it.remove(&it.cookie, "one").await.expect(204);
    it.remove(&it.cookie, "one").await.expect(409);
    let chat = it.chat().await;
    assert_eq!(chat["queued"][0]["run"], it.run);
    assert_eq!(chat["queued"][0]["inputs"][0]["content"], "two");
    assert_eq!(chat["queued"][0]["inputs"][1], json!(null));
    assert_eq!(chat["messages"].as_array().unwrap().len(), 2);
    assert_eq!(chat["queued"][0]["given_up"], false);
    // A day later it is still there.
    it.server.clock.advance_ms(25 * 3_600_000);
    assert_eq!(it.chat().await["queued"][0]["given_up"], true);
    it.remove(&it.cookie, "two").await.expect(204);
    assert_eq!(it.chat().await["queued"], json!([]));
}

#[tokio::test]
async fn a_message_wakes_a_run_that_rests() {
    let it = Asking::new().await;
    put_to_rest(&it.server, &it.run).await;
    let input = json!({"content": "Shorter.", "mode": "steer"});
    it.send(&it.cookie, &input).await.expect(202);
    put_to_rest(&it.server, &it.run).await;
    it.answer_question().await;
    it.log_of(&it.run).await;
    assert_eq!(it.said(1), ["Do it.", "Shorter."]);
}

#[tokio::test]
async fn messages_outlive_the_server() {
    let kept = Kept::new();
    let first = kept.start().await;
    let cookie = first.set_up().await;
    let it = Asking::on(first, cookie).await;
    for (id, mode) in [("one", "steer"), ("two", "queue"), ("three", "steer")] {
        let input = json!({"id": id, "content": id, "mode": mode});
        it.send(&it.cookie, &input).await.expect(202);
    }
    stop(&it.server).await;
    let Asking {
        server,
        upstream,
        cookie,
        chat,
        run,
    } = it;
    drop(server);
    let it = Asking {
        server: kept.start().await,
        upstream,
        cookie,
        chat,
        run,
    };
    it.question().await;
    it.remove(&it.cookie, "three").await.expect(204);
    it.answer_question().await;
    let messages = it.messages_when(4).await;
    assert_eq!(messages[2]["content"][0]["text"], "two");
    assert_eq!(it.said(1), ["Do it.", "one"]);
    assert_eq!(it.said(2), ["Do it.", "one", "two"]);
}

#[tokio::test]
async fn a_bad_message_is_refused() {
    let it = Asking::new().await;
    for (input, field) in [
        (json!({"content": "  "}), "content"),
        (json!({"content": "x", "id": ""}), "id"),
        (json!({"content": "x", "id": "a b"}), "id"),
        (
            json!({"content": "x", "agent": "a1", "mode": "queue"}),
            "mode",
        ),
    ] {
        let refused = it.send(&it.cookie, &input).await;
        assert_eq!(refused.status, 400, "{input}");
        assert_eq!(refused.json()["error"]["field"], field, "{input}");
    }
    let long = json!({"content": "x".repeat(100_001)});
    it.send(&it.cookie, &long).await.expect(400);
    it.remove(&it.cookie, "unknown").await.expect(404);
    let bob = it.server.key_of_plain_user(BOB).await;
    it.send(&bob, &json!({"content": "x"})).await.expect(404);
    let cancel = format!("/runs/{}/cancel", it.run);
    it.server
        .post(&cancel, &it.cookie, &json!({}))
        .await
        .expect(204);
    it.log_of(&it.run).await;
    let late = it.send(&it.cookie, &json!({"content": "x"})).await;
    assert_eq!(late.status, 409, "{}", late.text);
}

#[tokio::test]
async fn who_can_reply_in_a_chat_writes_under_their_own_name() {
    let it = Asking::new().await;
    let bob = it.server.key_of_plain_user(BOB).await;
    let readers = format!("/api/v1/chats/{}/readers", it.chat);
    let share = async |may_reply: bool| {
        let reader = json!({"email": BOB, "may_reply": may_reply});
        it.server
            .post(&readers, &it.cookie, &reader)
            .await
            .expect(200);
    };
    let messages = format!("/api/v1/chats/{}/messages", it.chat);
    let chat = format!("/api/v1/chats/{}", it.chat);
    let hello = json!({"content": "Hello.", "parent": null});
    share(false).await;
    it.send(&bob, &json!({"content": "x"})).await.expect(404);
    it.server.post(&messages, &bob, &hello).await.expect(404);
    assert_eq!(it.server.get(&chat, &bob).await.json()["may_reply"], false);

    share(true).await;
    assert_eq!(it.server.get(&chat, &bob).await.json()["may_reply"], true);
    let mine = json!({"id": "owners", "content": "Shorter."});
    it.send(&it.cookie, &mine).await.expect(202);
    let theirs = json!({"id": "bobs", "content": "In French."});
    it.send(&bob, &theirs).await.expect(202);
    it.remove(&bob, "owners").await.expect(404);
    // Only the owner decides for the run.
    let cancel = format!("/runs/{}/cancel", it.run);
    it.server.post(&cancel, &bob, &json!({})).await.expect(404);
    it.answer_question().await;
    let log = it.log_of(&it.run).await;
    let bobs = log.iter().find_map(|event| match &event.body {
        EventBody::InputReceived(input) if input.input_id == "bobs" => Some(input),
        _ => None,
    });
    let bobs = bobs.unwrap();
    assert!(!bobs.by.is_owner && bobs.mode == InputMode::Steer);
    let name = &bobs.by.name;
    assert_eq!(
        it.said(1),
        ["Do it.", "Shorter.", &format!("{name}: In French.")]
    );

    let parent = it.messages().await[1]["id"].clone();
    let sent = json!({"content": "Thanks.", "parent": parent});
    let file = json!({"parent": parent, "content": [{"type": "document", "collection": "x", "document": "y"}]});
    let refused = it.server.post(&messages, &bob, &file).await;
    assert!(refused.status.is_client_error());
    let sent = it.server.post(&messages, &bob, &sent).await.json();
    assert_eq!(sent["user"]["author"]["name"], json!(name));
    it.log_of(sent["run"].as_str().unwrap()).await;
    let said = it.said(2);
    assert!(said.last().unwrap().contains(name.as_str()), "{said:?}");
}
