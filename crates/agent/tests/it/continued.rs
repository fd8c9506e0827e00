//! Sub-agents that are continued, in their run and in a later one, and those that are stopped by themselves.

use std::sync::Arc;

use domain::{EventBody, Message, Role, RunEvent, laws};
use llm::{
    ChatRequest, Line,
    script::{call, interleave, text},
};
use serde_json::json;

use crate::play::{Play, lines};

/// The name of a sub-agent that stands at the end of a result.
fn name_in(result: &str) -> String {
    let (_, name) = result.rsplit_once("with continue \"").unwrap();
    name.trim_end_matches("\".)").to_owned()
}

fn task(index: usize, description: &str, continues: &str) -> Vec<Line> {
    let arguments =
        json!({"description": description, "subagent_type": "general", "continue": continues});
    call(index, "task", &arguments)
}

fn last_result(messages: &[Message]) -> String {
    let result = messages.iter().rfind(|message| message.role == Role::Tool);
    result.map(Message::plain_text).unwrap_or_default()
}

/// The main agent has a sub-agent read, lets it read on, and then lets that one sum up.
fn reader(request: &ChatRequest<'_>) -> Vec<Line> {
    let messages = request.messages;
    let latest = messages
        .iter()
        .rfind(|message| message.role == Role::User)
        .unwrap()
        .plain_text();
    let answers = messages
        .iter()
        .filter(|message| message.role == Role::Assistant)
        .count();
    match (latest.as_str(), answers) {
        ("Please.", 0) => task(0, "Read one.", ""),
        ("Please.", 1) => task(0, "Read two.", &name_in(&last_result(messages))),
        ("Please.", 2) => task(0, "Sum up.", &name_in(&last_result(messages))),
        ("Please.", _) => text("All done."),
        ("Read one.", 0) => call(0, "write_file", &json!({"path": "/one.md", "content": "1"})),
        ("Read one.", _) => text("One says A."),
        ("Read two.", _) => text("Two says B."),
        ("Sum up.", _) => text("A and B."),
        other => panic!("{other:?}"),
    }
}

async fn play(script: fn(&ChatRequest<'_>) -> Vec<Line>, earlier: &[RunEvent]) -> Play {
    let mut play = Play::new(Arc::new(script)).await;
    play.earlier = Some(earlier.to_vec());
    play.spec.ends_with_server = false;
    play
}

/// A conversation without its instructions, as short lines.
fn told(messages: &[Message]) -> Vec<String> {
    let short = |message: &Message| match message.tool_calls.first() {
        Some(call) => format!("calls {}", call.name),
        None => format!(
            "{:?} {}",
            message.role,
            message.plain_text().lines().next().unwrap_or_default()
        ),
    };
    messages
        .iter()
        .filter(|message| message.role != Role::System)
        .map(short)
        .collect()
}

#[tokio::test]
async fn it_knows_what_it_did_and_can_be_continued_again() {
    let play = play(reader, &[]).await;
    let log = play.log().await;
    let requests = play.requests();
    let sum_up = requests
        .iter()
        .find(|request| request.last().unwrap().plain_text() == "Sum up.")
        .unwrap();
    assert_eq!(
        told(sum_up),
        [
            "User Read one.",
            "calls write_file",
            "Tool Wrote /one.md, 1 bytes.",
            "Assistant One says A.",
            "User Read two.",
            "Assistant Two says B.",
            "User Sum up.",
        ]
    );
    let result = last_result(requests.last().unwrap());
    assert!(
        result.starts_with("A and B.\n\n(To continue this sub-agent: task with continue \""),
        "{result}"
    );
    let said = lines(&log);
    assert!(
        said.contains(&"a3 ends Completed: A and B.".to_owned()),
        "its own answer has no name in it: {said:#?}"
    );
    let continues: Vec<_> = log
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::AgentStarted {
                agent_type,
                continues,
                ..
            } => Some((agent_type.clone().unwrap(), continues.is_some())),
            _ => None,
        })
        .collect();
    let general = || "general".to_owned();
    assert_eq!(
        continues,
        [(general(), false), (general(), true), (general(), true)]
    );
}

/// A later run of the chat goes on with the reader of the one before.
fn later(request: &ChatRequest<'_>) -> Vec<Line> {
    let latest = request
        .messages
        .iter()
        .rfind(|message| message.role == Role::User)
        .unwrap()
        .plain_text();
    match latest.strip_prefix("Go on with ") {
        Some(name) if last_result(request.messages).is_empty() => task(0, "Read three.", name),
        Some(_) => text("All done."),
        None => text("Three says C."),
    }
}

#[tokio::test]
async fn a_later_run_continues_it() {
    let first = play(reader, &[]).await;
    let log = first.log().await;
    let name = name_in(&last_result(first.requests().last().unwrap()));
    let mut second = play(later, &log).await;
    second.question = format!("Go on with {name}");
    second.log().await;
    let requests = second.requests();
    let told = told(&requests[1]);
    assert_eq!(
        (told.len(), told.last().unwrap().as_str()),
        (9, "User Read three."),
        "{told:?}"
    );
    assert_eq!(told[7], "Assistant A and B.");
}

#[tokio::test]
async fn an_agent_that_cannot_be_continued_is_reported() {
    let first = play(reader, &[]).await;
    let log = first.log().await;
    let run = log[0].run.to_string();
    let mark = &run[run.len() - 8..];
    let begun = 1 + log
        .iter()
        .position(|event| event.agent.id() == Some("a1"))
        .unwrap();
    let no_such = "There is no sub-agent of this chat to continue under that name.";
    for (earlier, name, kind, why) in [
        (&log[..], "a1", "general", no_such),
        (&log[..], "ffffffff/a1", "general", no_such),
        (&log[..], &format!("{mark}/a9"), "general", no_such),
        (
            &log[..],
            &format!("{mark}/a1"),
            "explore",
            "That sub-agent is of type general.",
        ),
        (
            &log[..begun],
            &format!("{mark}/a1"),
            "general",
            "That sub-agent is still at work.",
        ),
    ] {
        let arguments = json!({"description": "More.", "subagent_type": kind, "continue": name});
        let mut play = Play::turns(vec![call(0, "task", &arguments), text("Well.")]).await;
        play.earlier = Some(earlier.to_vec());
        play.log().await;
        let answer = last_result(play.requests().last().unwrap());
        assert!(
            answer.starts_with(&format!("Error: The sub-agent failed. {why}")),
            "{name}: {answer}"
        );
    }
}

#[tokio::test]
async fn killed_after_any_event_the_same_conversation_continues() {
    let first = play(reader, &[]).await;
    let whole = first.log().await;
    let sum_up = |play: &Play| {
        let requests = play.requests();
        requests
            .iter()
            .find(|request| request.last().unwrap().plain_text() == "Sum up.")
            .map(|found| told(found))
    };
    let expected = sum_up(&first).unwrap();
    for cut in 1..whole.len() {
        let mut again = play(reader, &[]).await;
        again.before = whole[..cut].to_vec();
        let log = again.log().await;
        laws::check(&log).unwrap_or_else(|law| panic!("cut after {cut}: {law}"));
        let said = lines(&log);
        assert!(
            said.contains(&"main answers \"All done.\"".to_owned()),
            "cut after {cut}: {said:?}"
        );
        let agents = log
            .iter()
            .filter(|event| matches!(event.body, EventBody::AgentStarted { .. }))
            .count();
        assert_eq!(agents, 3, "cut after {cut}: {said:?}");
        if let Some(told) = sum_up(&again) {
            assert_eq!(told, expected, "cut after {cut}");
        }
    }
}

#[tokio::test]
async fn one_is_stopped_and_its_sibling_continues() {
    let script = |request: &ChatRequest<'_>| {
        let told = request.messages[1].plain_text();
        let answers = request
            .messages
            .iter()
            .filter(|message| message.role == Role::Assistant)
            .count();
        match (told.as_str(), answers) {
            ("Please.", 0) => interleave(vec![
                task(0, "slow", ""),
                task(1, "asking", ""),
                task(2, "quick", ""),
                task(3, "never", ""),
            ]),
            ("slow", _) => [text("Half"), vec![Line::Pause { ms: 60_000 }]].concat(),
            ("asking", 0) => task(0, "inner", ""),
            ("inner", 0) => call(0, "ask_user", &json!({"question": "Which?"})),
            ("quick", _) => text("Quick is done."),
            _ => text("All done."),
        }
    };
    let play = Play::new(Arc::new(script)).await;
    assert!(!play.stop.agents.stop("a4"), "nothing is at work before");
    let log = play
        .watched(&mut |event, play| match &event.body {
            EventBody::TextDelta { .. } if event.agent.id() == Some("a1") => {
                assert!(play.stop.agents.stop("a1"));
            }
            // The one above the one that asks.
            EventBody::QuestionAsked { .. } => assert!(play.stop.agents.stop("a2")),
            _ => {}
        })
        .await;
    let results: Vec<String> = play.requests().last().unwrap()[3..]
        .iter()
        .map(Message::plain_text)
        .collect();
    let stopped = "Error: The person stopped this sub-agent. Go on without it; do not start it again unless they ask for it.";
    assert_eq!(
        results,
        [stopped, stopped, "Quick is done.", stopped],
        "the last before it began"
    );
    let said = lines(&log);
    for line in [
        "a1 answers \"Half\"",
        "a2.1 hears None",
        "main answers \"All done.\"",
        "main finished Completed",
    ] {
        assert!(
            said.iter().any(|found| found == line),
            "{line:?} is missing in {said:#?}"
        );
    }
    assert!(
        said.iter()
            .filter(|line| line.contains("ends Cancelled"))
            .count()
            == 4,
        "{said:#?}"
    );
    assert!(!play.stop.agents.stop("a1"), "nothing is at work after");
}
