//! Sub-agents: parallel, nested to a limit, and on their own when they fail.

use std::sync::Arc;

use domain::{EventBody, ProblemCode};
use llm::{
    ChatRequest, Line, ModelError,
    script::{call, interleave, text},
};
use serde_json::json;

use crate::play::{Play, lines};

fn task(index: usize, description: &str) -> Vec<Line> {
    call(
        index,
        "task",
        &json!({"description": description, "subagent_type": "general"}),
    )
}

/// What the agent that is asked was told, and how often it has answered.
fn asked(request: &ChatRequest<'_>) -> (String, usize) {
    let messages = request.messages;
    let answers = messages
        .iter()
        .filter(|message| message.role == domain::Role::Assistant)
        .count();
    (messages[1].plain_text(), answers)
}

#[tokio::test]
async fn one_failing_sub_agent_does_not_touch_its_sibling() {
    let script = |request: &ChatRequest<'_>| {
        let (told, answers) = asked(request);
        match (told.as_str(), answers) {
            ("Please.", 0) => interleave(vec![task(0, "good"), task(1, "bad"), task(2, "panic")]),
            ("good", 0) => call(
                0,
                "write_file",
                &json!({"path": "good.md", "content": "yes"}),
            ),
            ("good", _) => text("It went well."),
            ("panic", _) => panic!("a fault in the model's code"),
            ("bad", _) => [
                text("I try"),
                vec![Line::Fail(ModelError::new(
                    ProblemCode::ModelFailed,
                    "It broke.",
                ))],
            ]
            .concat(),
            _ => text("All done."),
        }
    };
    let play = Play::new(Arc::new(script)).await;
    let log = play.log().await;
    let answers: Vec<String> = play.requests().last().unwrap()[3..]
        .iter()
        .map(domain::Message::plain_text)
        .collect();
    assert_eq!(
        answers,
        [
            "It went well.",
            "Error: The sub-agent failed. It broke.",
            "Error: The sub-agent failed. It met a fault in the server."
        ]
    );
    let all = lines(&log);
    for line in [
        r#"a1 starts "good" for c1"#,
        "a1 changed /good.md v1",
        "a1 ends Completed: It went well.",
        r#"a2 answers "I try""#,
        "a2 ends Failed: It broke.",
        "main failed c2: The sub-agent failed. It broke.",
        r#"main answers "All done.""#,
    ] {
        assert!(
            all.iter().any(|found| found == line),
            "{line:?} is missing in {all:#?}"
        );
    }
}

#[tokio::test]
async fn nesting_ends_at_the_limit() {
    let script = |request: &ChatRequest<'_>| {
        let (_, answers) = asked(request);
        let may_nest = request.tools.iter().any(|tool| tool.name == "task");
        if answers == 0 && may_nest {
            task(0, "deeper")
        } else {
            text("bottom")
        }
    };
    let mut play = Play::new(Arc::new(script)).await;
    play.limits.depth = 2;
    let log = play.log().await;
    let depths: Vec<usize> = log
        .iter()
        .filter(|event| matches!(event.body, EventBody::AgentStarted { .. }))
        .map(|event| event.agent.depth())
        .collect();
    assert_eq!(depths, [1, 2]);
    assert!(lines(&log).contains(&"a1.1 ends Completed: bottom".to_owned()));
}

#[tokio::test]
async fn an_unknown_kind_of_sub_agent_is_answered() {
    let turn = call(
        0,
        "task",
        &json!({"description": "x", "subagent_type": "wizard"}),
    );
    let play = Play::turns(vec![turn, text("Well.")]).await;
    play.log().await;
    let answer = play.requests()[1].last().unwrap().plain_text();
    assert_eq!(
        answer,
        "Error: There is no sub-agent wizard. There are: general, explore."
    );
}

#[tokio::test]
async fn an_explorer_cannot_write() {
    let script = |request: &ChatRequest<'_>| {
        let (told, answers) = asked(request);
        match (told.as_str(), answers) {
            ("Please.", 0) => call(
                0,
                "task",
                &json!({"description": "look", "subagent_type": "explore"}),
            ),
            ("look", 0) => call(0, "write_file", &json!({"path": "x", "content": "y"})),
            _ => text("Over."),
        }
    };
    let log = Play::new(Arc::new(script)).await.log().await;
    let refused = lines(&log).iter().any(|line| {
        line.contains("There is no tool write_file. The tools are: ls, read_file, glob, grep.")
    });
    assert!(refused, "{:#?}", lines(&log));
}
