//! What agents learn about people: only where it is on, only from the person's own words, each message once.

use std::sync::{Arc, Mutex};

use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer, Step};
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server},
    openai::connect,
    runs::events,
};

const FACTS: &str = "/api/v1/facts";
const USE: &str = "/api/v1/memory-use";

/// A server whose model answers people with a word and looks at chats as it is told to.
struct Lesson {
    server: Server,
    ada: String,
    upstream: ScriptedServer,
    answers: Arc<Mutex<Vec<Reply>>>,
}

fn is_look(request: &Value) -> bool {
    request["messages"][0]["content"]
        .to_string()
        .contains("lasting facts about one person")
}

fn add(facts: &[&str]) -> Value {
    let facts: Vec<Value> = facts
        .iter()
        .map(|fact| json!({"fact": fact, "message": 1}))
        .collect();
    json!({"add": facts})
}

impl Lesson {
    async fn new() -> Self {
        let answers: Arc<Mutex<Vec<Reply>>> = Arc::default();
        let looks = Arc::clone(&answers);
        let behaviour = Behaviour::answer(move |request| match is_look(&request.body) {
            true => looks
                .lock()
                .unwrap()
                .pop()
                .unwrap_or_else(|| Reply::text("{}")),
            false => Reply::text("SECRET ANSWER"),
        });
        let upstream = ScriptedServer::start(behaviour).await.unwrap();
        let (server, ada) = Server::start_signed_in().await;
        connect(&server, &ada, "Up", &upstream.base_url()).await;
        let lesson = Self {
            server,
            ada,
            upstream,
            answers,
        };
        lesson.turn(true).await;
        lesson
    }

    async fn turn(&self, on: bool) {
        let body = json!({"uses_memory": true, "learns": on});
        self.server.put(USE, &self.ada, &body).await.expect(200);
        self.server.clock.advance_ms(10);
    }

    /// Says it in a chat, a new one where none is given, and waits until the chat rests.
    async fn say(&self, credential: &str, chat: Option<&str>, text: &str) -> String {
        let server = &self.server;
        let (chat, parent) = match chat {
            Some(chat) => {
                let view = server
                    .get(&format!("/api/v1/chats/{chat}"), credential)
                    .await
                    .json();
                (
                    chat.to_owned(),
                    view["messages"].as_array().unwrap().last().unwrap()["id"].clone(),
                )
            }
            None => {
                let made = server
                    .post("/api/v1/chats", credential, &json!({}))
                    .await
                    .json();
                (made["id"].as_str().unwrap().to_owned(), Value::Null)
            }
        };
        let said = json!({"content": text, "model": "scripted", "parent": parent});
        let sent = server
            .post(&format!("/api/v1/chats/{chat}/messages"), credential, &said)
            .await;
        sent.expect(200);
        let run = sent.json()["run"].as_str().unwrap().to_owned();
        events(server, credential, &format!("/runs/{run}/events"))
            .await
            .rest()
            .await;
        server.app.runs.ended(run.parse().unwrap()).await;
        server.clock.advance_ms(121_000);
        chat
    }

    /// Looks at what rests; the model gives these answers.
    async fn look(&self, mut answers: Vec<Reply>) {
        answers.reverse();
        *self.answers.lock().unwrap() = answers;
        self.server.app.learning.clone().learn().await.unwrap();
    }

    /// What the model was asked when it looked.
    fn looks(&self) -> Vec<Value> {
        self.upstream
            .requests()
            .into_iter()
            .filter(is_look)
            .collect()
    }

    async fn facts(&self, credential: &str) -> Vec<String> {
        let facts = self.server.get(FACTS, credential).await.json()["facts"]
            .as_array()
            .unwrap()
            .clone();
        facts
            .iter()
            .map(|fact| fact["text"].as_str().unwrap().to_owned())
            .collect()
    }
}

fn text(answer: impl ToString) -> Reply {
    Reply::text(&answer.to_string())
}

#[tokio::test]
async fn what_a_person_writes_is_learned_once_and_told_to_later_runs() {
    let lesson = Lesson::new().await;
    let (server, ada) = (&lesson.server, lesson.ada.as_str());
    let chat = lesson.say(ada, None, "I live in Riga.").await;
    lesson.look(vec![text(add(&["Lives in Riga"]))]).await;
    let fact = server.get(FACTS, ada).await.json()["facts"][0].clone();
    assert_eq!(
        (&fact["text"], &fact["chat"]),
        (&json!("Lives in Riga"), &json!(chat))
    );
    let view = server
        .get(&format!("/api/v1/chats/{chat}"), ada)
        .await
        .json();
    assert_eq!(
        fact["message"], view["messages"][0]["id"],
        "the message that says it"
    );
    let look = lesson.looks()[0]["messages"].to_string();
    assert!(
        look.contains("I live in Riga.") && !look.contains("SECRET ANSWER"),
        "{look}"
    );
    // Nothing new is said, so nothing is looked at; a later message is looked at without the earlier one.
    lesson.look(vec![]).await;
    assert_eq!(lesson.looks().len(), 1);
    lesson.say(ada, Some(&chat), "And now in Tartu.").await;
    let change = json!({"change": [{"number": 1, "fact": "Lives in Tartu", "message": 1}]});
    lesson
        .look(vec![text(format!("```json\n{change}\n```"))])
        .await;
    let look = lesson.looks()[1]["messages"][1].to_string();
    assert!(
        look.contains("Lives in Riga") && look.contains("Tartu") && !look.contains("I live"),
        "{look}"
    );
    assert_eq!(lesson.facts(ada).await, ["Lives in Tartu"]);
    lesson.say(ada, None, "Hello").await;
    let told = lesson.upstream.requests().pop().unwrap()["messages"][1].to_string();
    assert!(told.contains("- Lives in Tartu"), "{told}");
    let figures = server.get("/metrics", ada).await.text;
    assert!(
        figures.contains("glasshouse_learning_looks_total{end=\"ok\"} 2"),
        "{figures}"
    );
}

#[tokio::test]
async fn a_temporary_chat_uses_and_makes_no_memories() {
    let lesson = Lesson::new().await;
    let (server, ada) = (&lesson.server, lesson.ada.as_str());
    lesson.say(ada, None, "I live in Riga.").await;
    lesson.look(vec![text(add(&["Lives in Riga"]))]).await;
    let new = json!({"expires_in_seconds": 86_400});
    let chat = server.post("/api/v1/chats", ada, &new).await.json();
    let chat = chat["id"].as_str().unwrap();
    let path = format!("/api/v1/chats/{chat}");
    let body = json!({"content": "I am moving to Tartu.", "model": "scripted", "parent": null});
    let sent = server.post(&format!("{path}/messages"), ada, &body).await;
    let run: domain::RunId = sent.json()["run"].as_str().unwrap().parse().unwrap();
    server.app.runs.ended(run).await;
    let asked = lesson.upstream.requests().pop().unwrap().to_string();
    assert!(asked.contains("Tartu"), "{asked}");
    assert!(!asked.contains("Riga"), "{asked}");
    assert!(!asked.contains("memor"), "{asked}");
    server.clock.advance_ms(121_000);
    lesson.look(vec![]).await;
    assert_eq!(lesson.looks().len(), 1);
    // It can be learned from once it is an ordinary chat.
    let keep = json!({"expires_in_seconds": null});
    let kept = server.request(Method::PATCH, &path, ada).json(&keep);
    Answer::of(kept).await.expect(200);
    lesson.look(vec![text("{}")]).await;
    assert_eq!(lesson.looks().len(), 2);
}

async fn read(server: &Server, credential: &str, run: &str) -> Vec<Value> {
    let log = events(server, credential, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    log.iter().map(|event| event.json()).collect()
}

#[tokio::test]
async fn document_001_background_learning_is_started_and_completed_in_a_log_of_its_own() {
    let lesson = Lesson::new().await;
    let (server, ada) = (&lesson.server, lesson.ada.as_str());
    let chat = lesson.say(ada, None, "I live in Riga.").await;
    let mut changes = server.app.runs.subscribe();
    lesson.look(vec![text(add(&["Lives in Riga"]))]).await;
    let mut told = Vec::new();
    while let Ok(change) = changes.try_recv() {
        let change = serde_json::to_value(&change).unwrap();
        assert_eq!(change["chat"], Value::Null, "no chat is busy: {change}");
        told.push((
            change["state"].as_str().unwrap().to_owned(),
            change["run"].clone(),
        ));
    }
    let states: Vec<&str> = told.iter().map(|(state, _)| state.as_str()).collect();
    assert_eq!(
        states,
        [
            "running",
            "memory_update_started",
            "memory_update_completed",
            "finished"
        ]
    );
    let run = told[0].1.as_str().unwrap().to_owned();
    assert!(told.iter().all(|(_, of)| *of == run), "{told:?}");
    let log = read(server, ada, &run).await;
    let types: Vec<&str> = log
        .iter()
        .map(|event| event["body"]["type"].as_str().unwrap())
        .collect();
    let expected = [
        "run_started",
        "memory_update_started",
        "model_requested",
        "model_called",
        "memory_update_completed",
        "run_finished",
    ];
    assert_eq!(types, expected);
    assert_eq!(log[1]["body"]["chat"], chat);
    assert_eq!(
        log[4]["body"]["facts"],
        json!({"added": 1, "changed": 0, "removed": 0})
    );
    assert_eq!(log[5]["body"]["outcome"], "completed");
    assert!(
        !json!(log).to_string().contains("Riga"),
        "what was learned can be forgotten: {log:?}"
    );
    let used = server.get("/api/v1/usage?by=model", ada).await;
    used.expect(200);
    // One that fails says so, and is nobody else's to read.
    lesson.say(ada, Some(&chat), "And I like tea.").await;
    lesson.look(vec![Reply::error(400, "No.")]).await;
    let mut failed = None;
    while let Ok(change) = changes.try_recv() {
        failed = change.run.or(failed);
    }
    let failed = failed.unwrap().to_string();
    let log = read(server, ada, &failed).await;
    let (update, end) = (&log[log.len() - 2]["body"], &log[log.len() - 1]["body"]);
    assert!(
        update["type"] == "memory_update_completed" && update["error"].is_string(),
        "{update}"
    );
    assert_eq!(
        (&end["outcome"], end["problem"]["code"].is_string()),
        (&json!("failed"), true),
        "{end}"
    );
    let bob = server.key_of_plain_user("bob@example.org").await;
    let path = format!("/runs/{failed}/events");
    assert_eq!(server.get(&path, &bob).await.expect(404), "not_found");
}

#[tokio::test]
async fn turned_off_nothing_is_sent_or_told() {
    let lesson = Lesson::new().await;
    let ada = lesson.ada.as_str();
    lesson.say(ada, None, "I like tea.").await;
    lesson.look(vec![text(add(&["Likes tea"]))]).await;
    lesson.turn(false).await;
    lesson.say(ada, None, "I like cake.").await;
    lesson.look(vec![]).await;
    assert_eq!(lesson.looks().len(), 1);
    let told = lesson.upstream.requests().pop().unwrap()["messages"].to_string();
    assert!(!told.contains("Likes tea"), "{told}");
    // What was said meanwhile stays unseen.
    lesson.turn(true).await;
    lesson.look(vec![]).await;
    assert_eq!(lesson.looks().len(), 1);
    assert_eq!(lesson.facts(ada).await, ["Likes tea"]);
}

#[tokio::test]
async fn facts_are_corrected_and_forgotten_and_do_not_come_back() {
    let lesson = Lesson::new().await;
    let (server, ada) = (&lesson.server, lesson.ada.as_str());
    let bob = server.key_of_plain_user("bob@example.org").await;
    let chat = lesson
        .say(ada, None, "I like tea and cake and live in Riga.")
        .await;
    lesson
        .look(vec![text(add(&[
            "Likes tea",
            "Likes cake",
            "Lives in Riga",
        ]))])
        .await;
    assert_eq!(lesson.facts(&bob).await, [""; 0]);
    let facts = server.get(FACTS, ada).await.json()["facts"].clone();
    let path = |place: usize| format!("{FACTS}/{}", facts[place]["id"].as_str().unwrap());
    let hates = json!({"text": "Hates  tea"});
    assert_eq!(
        server.put(&path(0), &bob, &hates).await.expect(404),
        "not_found"
    );
    assert_eq!(
        server
            .put(&path(0), ada, &json!({"text": " "}))
            .await
            .expect(400),
        "invalid_request"
    );
    let corrected = server.put(&path(0), ada, &hates).await.json();
    assert_eq!(
        (&corrected["text"], &corrected["corrected"]),
        (&json!("Hates tea"), &json!(true))
    );
    assert_eq!(server.delete(&path(1), &bob).await.expect(404), "not_found");
    server.delete(&path(1), ada).await.expect(204);
    assert_eq!(lesson.facts(ada).await, ["Hates tea", "Lives in Riga"]);
    // The next look hears neither the old messages nor what was forgotten, and cannot change the person's words.
    lesson.say(ada, Some(&chat), "Thanks!").await;
    let wild = json!({"change": [{"number": 1, "fact": "Likes tea"}], "remove": [1, 2]});
    lesson.look(vec![text(wild)]).await;
    let look = lesson.looks()[1]["messages"].to_string();
    assert!(
        !look.contains("cake") && look.contains("corrected"),
        "{look}"
    );
    assert_eq!(lesson.facts(ada).await, ["Hates tea"]);

    lesson.say(ada, Some(&chat), "I like jam.").await;
    server.delete(FACTS, ada).await.expect(204);
    lesson.look(vec![text(add(&["Likes jam"]))]).await;
    assert_eq!(
        lesson.facts(ada).await,
        [""; 0],
        "what was said before all was forgotten is not looked at"
    );
    assert_eq!(lesson.looks().len(), 2);
}

#[tokio::test]
async fn answers_that_cannot_be_used_change_nothing() {
    let endless = Step::Text {
        text: "word ".repeat(20_000),
        tokens_per_second: None,
    };
    for (answers, looks, facts) in [
        (
            vec![text("I found nothing."), text(add(&["Likes tea"]))],
            2,
            vec!["Likes tea"],
        ),
        (vec![text("{\"add\": ["), text("Sorry.")], 2, vec![]),
        (
            vec![Reply::stream(&[endless.clone(), Step::Silence]), text("{}")],
            2,
            vec![],
        ),
    ] {
        let lesson = Lesson::new().await;
        let ada = lesson.ada.as_str();
        lesson.say(ada, None, "I like tea.").await;
        lesson.look(answers).await;
        assert_eq!(
            (lesson.looks().len(), lesson.facts(ada).await),
            (looks, facts.iter().map(|fact| (*fact).to_owned()).collect())
        );
        lesson.look(vec![]).await;
        assert_eq!(lesson.looks().len(), looks, "it is not tried again");
    }
}

#[tokio::test]
async fn a_model_that_does_not_answer_is_asked_later_and_not_for_ever() {
    let lesson = Lesson::new().await;
    let ada = lesson.ada.as_str();
    lesson.say(ada, None, "I like tea.").await;
    let refused = || vec![Reply::error(400, "No.")];
    lesson.look(refused()).await;
    lesson.look(refused()).await;
    assert_eq!(lesson.looks().len(), 1, "not at once");
    lesson.server.clock.advance_ms(600_000);
    lesson.look(refused()).await;
    lesson.server.clock.advance_ms(1_200_000);
    lesson.look(refused()).await;
    lesson.server.clock.advance_ms(10_000_000);
    lesson.look(refused()).await;
    assert_eq!(
        (lesson.looks().len(), lesson.facts(ada).await.len()),
        (3, 0)
    );
}

/// A look that takes long, while the person forgets all.
#[tokio::test]
async fn what_is_forgotten_during_a_look_stays_forgotten() {
    let lesson = Lesson::new().await;
    let ada = lesson.ada.as_str();
    lesson.say(ada, None, "I like tea.").await;
    let slow = Step::Text {
        text: add(&["Likes tea"]).to_string(),
        tokens_per_second: Some(20.0),
    };
    let finish = Step::Finish {
        reason: scripted::Finish::Stop,
    };
    let forget = async {
        while lesson.looks().is_empty() {
            tokio::task::yield_now().await;
        }
        lesson.server.delete(FACTS, ada).await.expect(204);
    };
    tokio::join!(lesson.look(vec![Reply::stream(&[slow, finish])]), forget);
    assert_eq!(lesson.facts(ada).await, [""; 0]);
}
