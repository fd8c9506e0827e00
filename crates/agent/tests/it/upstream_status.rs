//! Source document 003, patch 3: what a model's server says that it is doing becomes the status of the agent that asked.

use std::sync::Arc;

use domain::{EventBody, ProblemCode, RunEvent};
use llm::{
    ChatRequest, Line, ModelError, ModelEvent,
    script::{call, text},
};
use serde_json::json;

use crate::play::{Play, lines};

fn status(description: &str) -> Line {
    Line::Event(ModelEvent::Status {
        description: description.into(),
        done: false,
        hidden: false,
    })
}

fn hide(description: &str) -> Line {
    Line::Event(ModelEvent::Status {
        description: description.into(),
        done: true,
        hidden: true,
    })
}

fn pause() -> Line {
    Line::Pause { ms: 150 }
}

/// Statuses and texts of an agent in their order: `-` before a status that is hidden.
fn told(log: &[RunEvent], agent: Option<&str>) -> Vec<String> {
    let of_agent = log.iter().filter(|event| event.agent.id() == agent);
    let told = of_agent.filter_map(|event| match &event.body {
        EventBody::Status {
            description,
            hidden: true,
            done: true,
            ..
        } => Some(format!("-{description}")),
        EventBody::Status {
            description, done, ..
        } => {
            assert!(!description.is_empty(), "an empty line is shown nowhere");
            Some(format!(
                "{description}{}",
                if *done { " (done)" } else { "" }
            ))
        }
        EventBody::TextDelta { delta, .. } => Some(format!("text {delta}")),
        _ => None,
    });
    told.collect()
}

/// The log of a run, whose clock does not make the test wait.
async fn log_of(play: Play) -> Vec<RunEvent> {
    // Only now: the database is opened in real time.
    tokio::time::pause();
    play.log().await
}

async fn played(turn: Vec<Line>) -> Vec<String> {
    let log = log_of(Play::turns(vec![turn]).await).await;
    tokio::time::resume();
    told(&log, None)
}

#[tokio::test]
async fn document_003_statuses_are_shown_replaced_and_cleared_and_never_content() {
    let turn = [
        vec![
            status("Searching"),
            pause(),
            status("Crawling"),
            pause(),
            hide("Done"),
            pause(),
        ],
        text("Hi"),
    ];
    let told = played(turn.concat()).await;
    assert_eq!(
        told,
        ["Thinking…", "Searching", "Crawling", "-Done", "text Hi"]
    );
    let turn = [vec![status("Searching"), pause(), hide("")], text("Hi")].concat();
    assert_eq!(
        played(turn).await,
        ["Thinking…", "Searching", "-Searching", "text Hi"],
        "in its own words"
    );
}

#[tokio::test]
async fn document_003_the_next_text_clears_a_status() {
    let turn = [
        vec![status("Searching"), pause()],
        text("Hi "),
        vec![status("Reading"), pause()],
        text("there"),
    ];
    assert_eq!(
        played(turn.concat()).await,
        [
            "Thinking…",
            "Searching",
            "-Searching",
            "text Hi ",
            "Reading",
            "-Reading",
            "text there"
        ]
    );
    let ended = Line::Event(ModelEvent::Status {
        description: "Read".into(),
        done: true,
        hidden: false,
    });
    let told = played([vec![ended, pause()], text("Hi")].concat()).await;
    assert_eq!(told, ["Thinking…", "Read (done)", "-Read", "text Hi"]);
    // Only text that comes at once is quicker than a line that was held back.
    let turn = [vec![status("one"), status("two")], text("Hi")].concat();
    assert_eq!(played(turn).await, ["Thinking…", "one", "-one", "text Hi"]);
}

#[tokio::test]
async fn a_server_cannot_hide_our_status() {
    let turn = [vec![hide("Done"), pause(), hide(""), pause()], text("Hi")].concat();
    assert_eq!(played(turn).await, ["Thinking…", "-Thinking…", "text Hi"]);
}

/// A hostile server: what it says so often is shown ten times a second, and later less often, the last line in any case.
#[tokio::test]
async fn statuses_are_bounded_in_rate() {
    let flood = |count: u32, ms| {
        (0..count).flat_map(move |number| [status(&number.to_string()), Line::Pause { ms }])
    };
    let second = flood(100, 10)
        .chain([pause(), status("99"), pause()])
        .collect();
    let told = played([second, text("Hi")].concat()).await;
    assert!((9..17).contains(&told.len()), "in a second: {told:?}");
    assert_eq!(
        told[told.len() - 3..],
        ["99", "-99", "text Hi"],
        "the last one is shown, and once"
    );
    let half_an_hour = flood(85_000, 20)
        .chain([Line::Pause { ms: 2_000 }])
        .collect();
    let told = played([half_an_hour, text("Hi")].concat()).await;
    assert!(
        (1_000..2_000).contains(&told.len()),
        "in half an hour: {}",
        told.len()
    );
    assert_eq!(told[told.len() - 3..], ["84999", "-84999", "text Hi"]);
}

#[tokio::test]
async fn document_003_a_status_stays_with_its_agent_and_its_call() {
    let script = |request: &ChatRequest<'_>| {
        let task = || {
            call(
                0,
                "task",
                &json!({"description": "look", "subagent_type": "general"}),
            )
        };
        match (
            request.messages[1].plain_text().as_str(),
            request.messages.len(),
        ) {
            ("Please.", 2) => [vec![status("asking for help"), pause()], task()].concat(),
            ("look", _) => [vec![status("looking"), pause()], text("Found")].concat(),
            _ => text("Done"),
        }
    };
    let log = log_of(Play::new(Arc::new(script)).await).await;
    assert_eq!(
        told(&log, Some("a1")),
        ["Thinking…", "looking", "-looking", "text Found"]
    );
    let main = told(&log, None);
    assert_eq!(
        main[..3],
        ["Thinking…", "asking for help", "-asking for help"],
        "{main:?}"
    );
    assert!(!main.contains(&"looking".to_owned()), "{main:?}");
}

#[tokio::test]
async fn the_status_of_an_abandoned_server_is_not_shown() {
    let fail = || Line::Fail(ModelError::new(ProblemCode::ModelFailed, "It broke."));
    let log = log_of(Play::turns(vec![vec![status("Searching"), pause(), fail()]]).await).await;
    tokio::time::resume();
    assert_eq!(
        told(&log, None),
        ["Thinking…", "Searching", "Thinking…", "-Thinking…"]
    );
    assert_eq!(lines(&log), ["main finished Failed: It broke."]);
    let turned = || {
        Line::Event(ModelEvent::FailedOver {
            words: "Another is asked.".into(),
        })
    };
    let told = played(
        [
            vec![status("Searching"), pause(), turned(), pause()],
            text("Hi"),
        ]
        .concat(),
    )
    .await;
    assert_eq!(
        told,
        [
            "Thinking…",
            "Searching",
            "Thinking…",
            "-Thinking…",
            "text Hi"
        ]
    );
}
