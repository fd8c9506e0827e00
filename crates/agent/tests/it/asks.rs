//! Approvals and questions: asked, answered, edited, denied, left unanswered.

use std::sync::Arc;

use agent::{ApprovalAnswer, AskError};
use domain::{EventBody, event::Decision};
use llm::{
    ChatRequest,
    script::{call, text},
};
use serde_json::json;

use crate::play::{Play, lines};

fn answer(decision: Decision) -> ApprovalAnswer {
    ApprovalAnswer { decision, arguments: None, reason: None }
}

async fn writer() -> Play {
    let turn = call(0, "write_file", &json!({"path": "a.md", "content": "draft"}));
    let mut play = Play::turns(vec![turn, text("Ok.")]).await;
    play.agents.main.tools = play.agents.main.tools.with_approval("write_file");
    play
}

#[tokio::test]
async fn allowed_it_runs() {
    let play = writer().await;
    let log = play.watched(&mut |event, play| play.allow(event)).await;
    assert_eq!(
        lines(&log)[1..5],
        [
            "main asks to run c1",
            "main is told Allow edited=false",
            r#"main runs c1 {"path":"a.md","content":"draft"}"#,
            "main changed /a.md v1"
        ]
    );
}

#[tokio::test]
async fn edited_arguments_are_checked_and_used() {
    let play = writer().await;
    let log = play
        .watched(&mut |event, play| {
            let EventBody::ApprovalAsked { approval, .. } = &event.body else { return };
            let mut edit = answer(Decision::Allow);
            edit.arguments = Some(json!({"path": 5}));
            let refused = play.asks.answer_approval(approval, edit.clone()).unwrap_err();
            assert!(matches!(refused, AskError::InvalidArguments(_)), "{refused}");
            edit.arguments = Some(json!({"path": "b.md", "content": "better"}));
            play.asks.answer_approval(approval, edit.clone()).unwrap();
            assert_eq!(play.asks.answer_approval(approval, edit), Err(AskError::NotWaiting));
        })
        .await;
    assert!(lines(&log).contains(&"main changed /b.md v1".to_owned()), "{:?}", lines(&log));
    assert!(lines(&log).contains(&"main is told Allow edited=true".to_owned()));
}

#[tokio::test]
async fn denied_the_model_is_told_why() {
    let play = writer().await;
    let log = play
        .watched(&mut |event, play| {
            if let EventBody::ApprovalAsked { approval, .. } = &event.body {
                let mut deny = answer(Decision::Deny);
                deny.reason = Some("not there".into());
                play.asks.answer_approval(approval, deny).unwrap();
            }
        })
        .await;
    let told = play.requests()[1].last().unwrap().plain_text();
    assert_eq!(told, "Error: The person did not allow this call; the reason: not there. Do not repeat it.");
    assert!(!lines(&log).iter().any(|line| line.contains("main runs")), "it must not run");
}

#[tokio::test]
async fn a_sub_agent_waits_alone() {
    let script = |request: &ChatRequest<'_>| {
        let told = request.messages[1].plain_text();
        let answers =
            request.messages.iter().filter(|message| message.role == domain::Role::Assistant).count();
        let task = |index, name: &str| {
            call(index, "task", &json!({"description": name, "subagent_type": "general"}))
        };
        match (told.as_str(), answers) {
            ("Please.", 0) => [task(0, "asker"), task(1, "worker")].concat(),
            ("asker", 0) => call(0, "ask_user", &json!({"question": "Which?", "options": ["red", "blue"]})),
            ("asker", _) => text(&request.messages.last().unwrap().plain_text()),
            ("worker", 0) => call(0, "ls", &json!({})),
            ("worker", _) => text("worked"),
            _ => text("End."),
        }
    };
    let play = Play::new(Arc::new(script)).await;
    let (mut question, mut worked) = (None, false);
    let log = play
        .watched(&mut |event, play| {
            match &event.body {
                EventBody::QuestionAsked { question: asked, .. } => question = Some(asked.clone()),
                EventBody::AgentFinished { result, .. } => worked |= result == "worked",
                _ => {}
            }
            // Only when its sibling is done does the person answer.
            if worked && let Some(question) = question.take() {
                play.asks.answer_question(&question, "blue".into()).unwrap();
            }
        })
        .await;
    let all = lines(&log);
    assert!(all.contains(&r#"a1 asks "Which?" ["red", "blue"]"#.to_owned()), "{all:#?}");
    assert!(all.contains(&"a1 ends Completed: blue".to_owned()), "{all:#?}");
}

#[tokio::test]
async fn stopped_while_it_waits_nothing_stays_open() {
    let play = writer().await;
    let log = play
        .watched(&mut |event, play| {
            if matches!(event.body, EventBody::ApprovalAsked { .. }) {
                play.stop.cancel.cancel();
            }
        })
        .await;
    assert_eq!(
        lines(&log)[1..],
        [
            "main asks to run c1",
            "main is told Withdrawn edited=false",
            "main failed c1: Stopped.",
            "main finished Cancelled"
        ]
    );
    assert_eq!(play.asks.answer_approval("p2", answer(Decision::Allow)), Err(AskError::NotWaiting));
}
