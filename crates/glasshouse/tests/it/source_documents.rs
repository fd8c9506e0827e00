//! The source documents, requirement by requirement: `docs/source-documents.md` lists which test holds which.

mod document_000;
mod document_001;
mod document_001_native;
mod document_002;
mod document_003;
mod document_004;

use reqwest::Method;
use scripted::{Behaviour, Call, Finish, Reply, Request, Step};
use serde_json::{Value, json};

use crate::{
    openai::{Door, text},
    runs::events,
    sse::{Event, Events},
};

/// What the agent that is asked was told, and how often it has answered.
fn asked(request: &Request) -> (String, usize) {
    let messages = request.body["messages"].as_array().unwrap();
    let answers = messages
        .iter()
        .filter(|message| message["role"] == "assistant")
        .count();
    (messages[1]["content"].to_string(), answers)
}

/// Words and calls in one answer of a model.
fn says_and_calls(words: &str, calls: &[(&str, Value)]) -> Reply {
    let calls = calls.iter().map(|(name, arguments)| Call {
        name: (*name).into(),
        arguments: arguments.clone(),
    });
    Reply::stream(&[
        text(words),
        Step::Calls {
            calls: calls.collect(),
        },
        Step::Finish {
            reason: Finish::ToolCalls,
        },
    ])
}

fn task(description: &str) -> Reply {
    Reply::calls(&[(
        "task",
        json!({"description": description, "subagent_type": "general"}),
    )])
}

/// Writes a file, reads one that is not there, and has a sub-agent that has a sub-agent of its own.
fn deep() -> Behaviour {
    Behaviour::answer(|request| {
        let (told, answers) = asked(request);
        let is = |words: &str| told.contains(words);
        match answers {
            0 if is("The inner part") => Reply::text("Deep down."),
            0 if is("The outer part") => task("The inner part"),
            _ if is("The outer part") => Reply::text("Halfway."),
            0 => says_and_calls(
                "I look first.",
                &[(
                    "write_file",
                    json!({"path": "/a.md", "content": "<b>one</b>"}),
                )],
            ),
            1 => Reply::calls(&[("read_file", json!({"path": "/none.md"}))]),
            2 => task("The outer part"),
            _ => Reply::text("All of it is done."),
        }
    })
}

/// The request of the documents: messages, and that the answer is wanted as it is written.
fn say(words: &str) -> Value {
    json!({"messages": [{"role": "user", "content": words}], "stream": true})
}

/// All frames of an answer, and its run.
async fn frames(door: &Door, query: &str, body: &Value) -> (String, Vec<Event>) {
    let request = door
        .server
        .request(Method::POST, &format!("/chat/stream{query}"), &door.key)
        .json(body);
    let response = request.send().await.unwrap();
    let run = response.headers()["x-run-id"].to_str().unwrap().to_owned();
    (run, Events::of(response).rest().await)
}

/// The events of a finished run: the number and the body of each.
async fn log(door: &Door, run: &str) -> Vec<(u64, Value)> {
    let all = events(&door.server, &door.key, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    all.iter()
        .map(|event| (event.id.unwrap(), event.json()["body"].clone()))
        .collect()
}

/// The names of an object's fields.
fn fields(object: &Value) -> Vec<&str> {
    object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

/// What a client that knows only texts has on its screen after each frame.
fn screens(frames: &[Event]) -> Vec<String> {
    let mut shown = String::new();
    let after = |event: &Event| {
        let frame = event.json();
        let content = frame["data"]["content"].as_str().unwrap_or_default();
        match frame["type"].as_str().unwrap() {
            "token" => shown.push_str(content),
            "replace" => content.clone_into(&mut shown),
            _ => {}
        }
        shown.clone()
    };
    frames.iter().map(after).collect()
}
