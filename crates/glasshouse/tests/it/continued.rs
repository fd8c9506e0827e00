//! Sub-agents that a later turn of the chat continues, and those that are stopped by themselves.

use domain::{EventBody, Outcome, RunEvent};
use scripted::{Behaviour, Reply, Request, ScriptedServer, Step};
use serde_json::{Value, json};

use crate::{
    harness::Server, openai::connect, restart::parsed, resting::put_to_rest, runs::events,
};

fn task(description: &str, continues: Option<&str>) -> Value {
    json!({"description": description, "subagent_type": "general", "continue": continues})
}

fn text_of(message: &Value) -> String {
    message["content"].as_str().unwrap_or_default().to_owned()
}

/// The name at the end of the latest result that has one.
fn name_in(messages: &[Value]) -> String {
    let results = messages
        .iter()
        .rev()
        .filter(|message| message["role"] == "tool")
        .map(text_of);
    let (_, name) = results
        .filter_map(|text| {
            text.rsplit_once("with continue \"")
                .map(|(_, name)| ((), name.to_owned()))
        })
        .next()
        .unwrap();
    name.trim_end_matches("\".)").to_owned()
}

/// Has something read, and goes on with that when told so.
fn readers() -> Behaviour {
    Behaviour::answer(|request: &Request| {
        let messages = request.body["messages"].as_array().unwrap();
        let last = messages.last().unwrap();
        if last["role"] == "tool" {
            return Reply::text("Done.");
        }
        match text_of(last).as_str() {
            "Read." => Reply::calls(&[("task", task("Read one.", None))]),
            "Go on." => Reply::calls(&[("task", task("Read two.", Some(&name_in(messages))))]),
            "Read one." => Reply::text("One says A."),
            "Read two." => {
                let knows = messages
                    .iter()
                    .any(|message| text_of(message) == "One says A.");
                Reply::text(if knows { "A, then B." } else { "Only B." })
            }
            other => match other.strip_prefix("Use ") {
                Some(name) => Reply::calls(&[("task", task("Read two.", Some(name)))]),
                None => panic!("{other}"),
            },
        }
    })
}

struct Reading {
    server: Server,
    cookie: String,
    _upstream: ScriptedServer,
}

impl Reading {
    async fn open(behaviour: Behaviour) -> Self {
        let upstream = ScriptedServer::start(behaviour).await.unwrap();
        let (server, cookie) = Server::start_signed_in().await;
        connect(&server, &cookie, "Up", &upstream.base_url()).await;
        Self {
            server,
            cookie,
            _upstream: upstream,
        }
    }

    async fn chat(&self) -> String {
        let chat = self
            .server
            .post("/api/v1/chats", &self.cookie, &json!({}))
            .await
            .json();
        chat["id"].as_str().unwrap().to_owned()
    }

    /// Says it in a chat; the run.
    async fn say(&self, chat: &str, parent: &Value, words: &str) -> (String, Value) {
        let said = json!({"content": words, "model": "scripted", "parent": parent});
        let path = format!("/api/v1/chats/{chat}/messages");
        let sent = self.server.post(&path, &self.cookie, &said).await.json();
        (
            sent["run"].as_str().unwrap().to_owned(),
            sent["assistant"]["id"].clone(),
        )
    }

    async fn log(&self, run: &str) -> Vec<RunEvent> {
        parsed(
            &events(&self.server, &self.cookie, &format!("/runs/{run}/events"))
                .await
                .rest()
                .await,
        )
    }

    async fn said(&self, chat: &str, parent: &Value, words: &str) -> (Vec<String>, Value) {
        let (run, answer) = self.say(chat, parent, words).await;
        (results(&self.log(&run).await), answer)
    }
}

/// What the model reads of the calls.
fn results(log: &[RunEvent]) -> Vec<String> {
    let results = log.iter().filter_map(|event| match &event.body {
        EventBody::ToolFinished {
            result, model_note, ..
        } => {
            assert!(
                !result.contains("(To continue"),
                "people need not read it: {result}"
            );
            Some(format!(
                "{result}\n\n{}",
                model_note.as_deref().unwrap_or_default()
            ))
        }
        _ => None,
    });
    results.collect()
}

#[tokio::test]
async fn a_later_turn_goes_on_and_so_does_a_fork_but_no_other_chat() {
    let reading = Reading::open(readers()).await;
    let chat = reading.chat().await;
    let (run, answer) = reading.say(&chat, &Value::Null, "Read.").await;
    let log = reading.log(&run).await;
    let (later, _) = reading.said(&chat, &answer, "Go on.").await;
    assert!(later[0].starts_with("A, then B.\n\n"), "{later:?}");

    // Forked where the reader has answered, the copy has another run, and the same name in it.
    let is_second = |event: &&RunEvent| {
        event.agent.is_main() && matches!(event.body, EventBody::StepStarted { step: 2, .. })
    };
    let after = log.iter().find(is_second).unwrap().seq - 1;
    let path = format!("/api/v1/runs/{run}/fork");
    let fork = reading
        .server
        .post(&path, &reading.cookie, &json!({"after": after}))
        .await
        .json();
    reading.log(fork["run"].as_str().unwrap()).await;
    let (forked, _) = reading
        .said(fork["chat"].as_str().unwrap(), &fork["message"], "Go on.")
        .await;
    assert!(forked[0].starts_with("A, then B.\n\n"), "{forked:?}");

    let name = results(&log)[0]
        .rsplit_once('"')
        .unwrap()
        .0
        .rsplit_once('"')
        .unwrap()
        .1
        .to_owned();
    let other = reading.chat().await;
    let (refused, _) = reading
        .said(&other, &Value::Null, &format!("Use {name}"))
        .await;
    assert!(
        refused[0].contains("There is no sub-agent of this chat to continue"),
        "{refused:?}"
    );
}

#[tokio::test]
async fn one_is_stopped_and_the_run_goes_on() {
    let reading = Reading::open(Behaviour::answer(|request: &Request| {
        let messages = request.body["messages"].as_array().unwrap();
        match text_of(&messages[1]).as_str() {
            _ if messages.last().unwrap()["role"] == "tool" => Reply::text("Done."),
            "Work." => {
                Reply::calls(&[("task", task("slow", None)), ("task", task("asking", None))])
            }
            "slow" => Reply::stream(&[
                Step::Text {
                    text: "Half".into(),
                    tokens_per_second: None,
                },
                Step::Silence,
            ]),
            _ => Reply::calls(&[("ask_user", json!({"question": "Which?"}))]),
        }
    }))
    .await;
    let (run, _) = reading
        .say(&reading.chat().await, &Value::Null, "Work.")
        .await;
    let stop = async |agent: &str, who: &str| {
        let path = format!("/runs/{run}/agents/{agent}/stop");
        reading
            .server
            .post(&path, who, &json!({}))
            .await
            .status
            .as_u16()
    };
    let mut watching = events(
        &reading.server,
        &reading.cookie,
        &format!("/runs/{run}/events"),
    )
    .await;
    watching
        .until(|event| event["body"]["type"] == "text_delta")
        .await;
    let other = reading.server.key_of_plain_user("bob@example.org").await;
    assert_eq!(stop("a1", &other).await, 404);
    assert_eq!(
        stop("a9", &reading.cookie).await,
        204,
        "one that is not there needs no stop"
    );
    assert_eq!(stop(&"a".repeat(100), &reading.cookie).await, 400);
    assert_eq!(stop("a1", &reading.cookie).await, 204);
    watching
        .until(|event| event["body"]["type"] == "agent_finished")
        .await;
    // What is left only waits for a person, and is stopped where it rests.
    put_to_rest(&reading.server, &run).await;
    assert_eq!(stop("a2", &reading.cookie).await, 204);
    let log = reading.log(&run).await;
    let stopped = log.iter().filter(|event| {
        matches!(
            event.body,
            EventBody::AgentFinished {
                outcome: Outcome::Cancelled,
                ..
            }
        )
    });
    assert_eq!(stopped.count(), 2);
    assert!(matches!(
        log.last().unwrap().body,
        EventBody::RunFinished {
            outcome: Outcome::Completed,
            ..
        }
    ));
    let told = results(&log);
    let is_told = |result: &&String| {
        result.starts_with("The person stopped this sub-agent.") && result.contains("(To continue")
    };
    assert_eq!(told.iter().filter(is_told).count(), 2, "{told:?}");
}
