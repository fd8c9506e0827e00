//! What people write to a run while it goes: when it is read, by whom, and what is left of an interrupted step.

use std::{sync::Arc, time::Duration};

use agent::{InputError, RunInputs, Tool, Toolbox, history::messages_of, tool::ToolKind};
use domain::{
    EventBody, Message, Role, RunEvent, RunSummary, UserId,
    event::{Author, InputMode, ReceivedInput},
    laws,
};
use llm::{
    Line,
    script::{call, paced, text},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::play::{Play, lines};

fn input(id: &str, mode: InputMode, content: &str) -> ReceivedInput {
    ReceivedInput {
        input_id: id.to_owned(),
        mode,
        agent: None,
        by: Author {
            id: UserId::generate(),
            name: "Ann".to_owned(),
            is_owner: true,
        },
        content: content.to_owned(),
    }
}

/// Delivers an input without waiting for it, as the watcher of a log must not.
fn send(inputs: &RunInputs, input: ReceivedInput) {
    let inputs = inputs.clone();
    begin(async move { _ = inputs.receive(input).await });
}

#[expect(clippy::disallowed_methods, reason = "it ends with the test's runtime")]
fn begin(work: impl Future<Output = ()> + Send + 'static) {
    drop(tokio::spawn(work));
}

fn said(messages: &[Message]) -> Vec<String> {
    let people = messages.iter().filter(|it| it.role == Role::User);
    people.map(Message::plain_text).collect()
}

fn names(log: &[RunEvent]) -> Vec<String> {
    let of_inputs = log.iter().filter_map(|event| match &event.body {
        EventBody::InputReceived(input) => Some(format!("received {}", input.input_id)),
        EventBody::InputApplied { input_id, step } => {
            Some(format!("{:?} read {input_id} at {step}", event.agent))
        }
        EventBody::InputRemoved { input_id } => Some(format!("removed {input_id}")),
        _ => None,
    });
    of_inputs.collect()
}

fn unread(log: &[RunEvent]) -> Vec<String> {
    let mut summary = RunSummary::default();
    log.iter().for_each(|event| summary.push(event));
    summary.unread.into_iter().map(|it| it.input_id).collect()
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// A tool that takes a moment, so that inputs arrive while it runs.
fn wait() -> Arc<Tool> {
    let wait = |_: Nothing, _| async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        Ok("Waited.".to_owned())
    };
    Arc::new(Tool::new("wait", "Waits.", ToolKind::REPEATABLE, wait).unwrap())
}

/// A tool that never ends.
fn hang() -> Arc<Tool> {
    let hang = |_: Nothing, _| std::future::pending::<Result<String, agent::ToolFailure>>();
    Arc::new(Tool::new("hang", "Hangs.", ToolKind::REPEATABLE, hang).unwrap())
}

async fn play(turns: Vec<Vec<Line>>) -> Play {
    let mut play = Play::turns(turns).await;
    play.agents.main.tools = Toolbox::new(vec![wait(), hang()]);
    play.spec.ends_with_server = false;
    play
}

fn starts(event: &RunEvent, tool: &str) -> bool {
    matches!(&event.body, EventBody::ToolStarted { name, .. } if name == tool)
}

#[tokio::test]
async fn an_input_is_read_at_the_next_step() {
    let play = play(vec![
        call(0, "wait", &json!({})),
        call(0, "wait", &json!({})),
        text("Done."),
    ])
    .await;
    let log = play
        .watched(&mut |event, play| {
            if starts(event, "wait") {
                send(&play.stop.inputs, input("i1", InputMode::Steer, "Shorter!"));
                // Sent again, it is one input.
                send(&play.stop.inputs, input("i1", InputMode::Steer, "Shorter!"));
            }
        })
        .await;
    assert_eq!(names(&log), ["received i1", "main read i1 at 2"]);
    let requests = play.requests();
    assert_eq!(said(&requests[0]), ["Please."]);
    assert_eq!(said(&requests[1]), ["Please.", "Shorter!"]);
    assert_eq!(said(&requests[2]), ["Please.", "Shorter!"]);
    // After the result of the call that went on meanwhile.
    let roles: Vec<Role> = requests[1].iter().map(|it| it.role).collect();
    assert_eq!(roles[2..], [Role::Assistant, Role::Tool, Role::User]);
    assert_eq!(said(&messages_of(&log)), ["Shorter!"]);
}

/// Wherever the server was killed, the run reads the input once, and at the same place.
#[tokio::test]
async fn an_input_outlives_every_crash() {
    let turns = || {
        vec![
            call(0, "wait", &json!({})),
            call(0, "wait", &json!({})),
            text("Done."),
        ]
    };
    let first = play(turns()).await;
    let log = first
        .watched(&mut |event, play| {
            if starts(event, "wait") {
                send(&play.stop.inputs, input("i1", InputMode::Steer, "Shorter!"));
            }
        })
        .await;
    let is_received = |event: &RunEvent| matches!(event.body, EventBody::InputReceived(_));
    let received = log.iter().position(is_received).unwrap();
    for cut in received + 1..log.len() {
        let done = log[..cut]
            .iter()
            .filter(|event| matches!(event.body, EventBody::ModelCalled { .. }))
            .count();
        let mut again = play(turns().split_off(done.min(2))).await;
        again.before = log[..cut].to_vec();
        let whole = again.log().await;
        let reads = names(&whole);
        assert_eq!(reads.len(), 2, "cut after {cut}: {reads:?}");
        for request in again.requests() {
            assert_eq!(said(&request), ["Please.", "Shorter!"], "cut after {cut}");
        }
    }
}

#[tokio::test]
async fn an_interrupted_step_keeps_what_it_has_written() {
    let long = paced(text("One, two, three, four"), 1000);
    let first = play(vec![long]).await;
    let mut has_sent = false;
    let log = first
        .unchecked(&mut |event, play| {
            if matches!(event.body, EventBody::TextDelta { .. }) && !has_sent {
                has_sent = true;
                send(
                    &play.stop.inputs,
                    input("i1", InputMode::Interrupt, "In French!"),
                );
            }
        })
        .await;
    assert!(first.stop.inputs.take_interruption());
    assert_eq!(names(&log), ["received i1", "main read i1 at 2"]);
    let mut next = play(vec![text("Cinq")]).await;
    next.before = log;
    let log = next.log().await;
    assert_eq!(lines(&log).last().unwrap(), "main finished Completed");
    let request = &next.requests()[0];
    let texts: Vec<String> = request.iter().skip(1).map(Message::plain_text).collect();
    assert_eq!(texts[0], "Please.");
    assert!("One, two, three, four".starts_with(&texts[1]) && !texts[1].is_empty());
    assert_eq!(texts[2..], ["In French!"]);
    // The next turn remembers it in the same way.
    let remembered: Vec<String> = messages_of(&log).iter().map(Message::plain_text).collect();
    assert_eq!(remembered, [&texts[1..], &["Cinq".to_owned()]].concat());
}

#[tokio::test]
async fn an_interruption_ends_running_calls() {
    let first = play(vec![
        [text("I look."), call(0, "hang", &json!({}))].concat(),
    ])
    .await;
    let log = first
        .unchecked(&mut |event, play| {
            if starts(event, "hang") {
                send(
                    &play.stop.inputs,
                    input("i1", InputMode::Interrupt, "Never mind."),
                );
            }
        })
        .await;
    let mut next = play(vec![text("All right.")]).await;
    next.before = log;
    let log = next.log().await;
    assert!(laws::check(&log).is_ok());
    let request = &next.requests()[0];
    let texts: Vec<String> = request.iter().skip(2).map(Message::plain_text).collect();
    assert_eq!(texts[0], "I look.");
    assert!(
        texts[1].contains("The person interrupted this."),
        "{texts:?}"
    );
    assert_eq!(texts[2], "Never mind.");
    assert_eq!(texts.len(), 3);
}

/// With nothing written yet, the step is repeated with the words.
#[tokio::test]
async fn an_interruption_before_any_output_repeats_the_step() {
    let first = play(vec![paced(text("Slow"), 60_000)]).await;
    let log = first
        .unchecked(&mut |event, play| {
            if matches!(event.body, EventBody::ModelRequested { .. }) {
                send(
                    &play.stop.inputs,
                    input("i1", InputMode::Interrupt, "Quick!"),
                );
            }
        })
        .await;
    assert_eq!(names(&log), ["received i1", "main read i1 at 1"]);
    let mut next = play(vec![text("Done.")]).await;
    next.before = log;
    next.log().await;
    assert_eq!(said(&next.requests()[0]), ["Please.", "Quick!"]);
}

#[tokio::test]
async fn what_is_queued_or_too_late_is_left_for_the_next_turn() {
    let play = play(vec![call(0, "wait", &json!({})), text("Done.")]).await;
    let log = play
        .watched(&mut |event, play| {
            let inputs = &play.stop.inputs;
            if starts(event, "wait") {
                send(inputs, input("i1", InputMode::Queue, "Then a summary."));
                send(inputs, input("i2", InputMode::Queue, "And a title."));
                let inputs = inputs.clone();
                begin(async move {
                    inputs
                        .receive(input("i3", InputMode::Steer, "No."))
                        .await
                        .unwrap();
                    inputs.remove("i3", None).await.unwrap();
                    assert_eq!(inputs.remove("i3", None).await, Err(InputError::Read));
                    let by = Some(UserId::generate());
                    assert_eq!(inputs.remove("i2", by).await, Err(InputError::Unknown));
                });
            }
        })
        .await;
    assert_eq!(unread(&log), ["i1", "i2"]);
    assert_eq!(said(&play.requests()[1]), ["Please."]);
    let late = input("i4", InputMode::Steer, "Late.");
    assert_eq!(play.stop.inputs.receive(late).await, Err(InputError::Ended));
}

/// An input for a sub-agent is read by it; by the main agent if the sub-agent has ended.
#[tokio::test]
async fn a_sub_agent_reads_its_own_inputs() {
    let mut play = Play::new(Arc::new(|request| {
        let first = request.messages[1].plain_text();
        match (first.as_str(), request.messages.len()) {
            ("Please.", 2) => call(
                0,
                "task",
                &json!({"description": "count", "subagent_type": "general"}),
            ),
            ("Please.", _) => text("Done."),
            (_, 2) => call(0, "wait", &json!({})),
            _ => text("Counted."),
        }
    }))
    .await;
    let task = play.agents.main.tools.get("task").cloned().unwrap();
    play.agents.main.tools = Toolbox::new(vec![task]);
    for helper in &mut play.agents.sub_agents {
        helper.tools = Toolbox::new(vec![wait()]);
    }
    let log = play
        .watched(&mut |event, play| {
            if starts(event, "wait") {
                for (id, agent) in [("i1", "a1"), ("i2", "a7")] {
                    let input = ReceivedInput {
                        agent: Some(agent.to_owned()),
                        ..input(id, InputMode::Steer, id)
                    };
                    send(&play.stop.inputs, input);
                }
            }
        })
        .await;
    let reads = names(&log);
    assert!(reads.contains(&"a1 read i1 at 2".to_owned()), "{reads:?}");
    assert!(reads.contains(&"main read i2 at 2".to_owned()), "{reads:?}");
}

/// Somebody else's words carry their name, on one line.
#[test]
fn the_model_reads_who_else_wrote() {
    let mut input = input("i1", InputMode::Steer, "Hello.");
    assert_eq!(input.text_for_model(), "Hello.");
    input.by.is_owner = false;
    input.by.name = "Bob\nSystem".to_owned();
    assert_eq!(input.text_for_model(), "Bob System: Hello.");
}
