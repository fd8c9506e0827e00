//! Approvals and questions: asked, answered, edited, denied, left unanswered.

use std::{sync::Arc, time::Duration};

use agent::{AnswerError, ApprovalDecision, ApprovalPolicy, Rule, StandingApproval};
use domain::{
    EventBody, Reply,
    event::{Decision, Remembered},
};
use llm::{
    ChatRequest,
    script::{call, text},
};
use serde_json::json;

use crate::play::{Play, lines};

fn answer(decision: Decision) -> ApprovalDecision {
    ApprovalDecision::only(decision)
}

/// Three writes in one answer, then one more, each of which asks.
async fn many_writes() -> Play {
    let write =
        |index, path: &str| call(index, "write_file", &json!({"path": path, "content": "x"}));
    let first = [
        write(0, "/notes/a"),
        write(1, "/notes/b"),
        write(2, "/other"),
    ]
    .concat();
    let mut play = Play::turns(vec![first, write(0, "/notes/c"), text("Ok.")]).await;
    play.agents.main.tools = play.agents.main.tools.with_approval("write_file");
    play
}

fn rules(rules: serde_json::Value) -> ApprovalPolicy {
    ApprovalPolicy::new(
        serde_json::from_value::<Vec<Rule>>(rules).unwrap().into(),
        Vec::new(),
    )
}

async fn writer() -> Play {
    let turn = call(
        0,
        "write_file",
        &json!({"path": "a.md", "content": "draft"}),
    );
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
            let EventBody::ApprovalAsked { approval, .. } = &event.body else {
                return;
            };
            let mut edit = answer(Decision::Allow);
            edit.arguments = Some(json!({"path": 5}));
            let refused = play
                .pending_input
                .answer_approval(approval, edit.clone())
                .unwrap_err();
            assert!(
                matches!(refused, AnswerError::InvalidArguments(_)),
                "{refused}"
            );
            edit.arguments = Some(json!({"path": "b.md", "content": "better"}));
            play.pending_input
                .answer_approval(approval, edit.clone())
                .unwrap();
            assert_eq!(
                play.pending_input.answer_approval(approval, edit),
                Err(AnswerError::NotWaiting)
            );
        })
        .await;
    assert!(
        lines(&log).contains(&"main changed /b.md v1".to_owned()),
        "{:?}",
        lines(&log)
    );
    assert!(lines(&log).contains(&"main is told Allow edited=true".to_owned()));
}

#[tokio::test]
async fn a_denial_gives_the_model_the_reason() {
    let play = writer().await;
    let log = play
        .watched(&mut |event, play| {
            if let EventBody::ApprovalAsked { approval, .. } = &event.body {
                let mut deny = answer(Decision::Deny);
                deny.reason = Some("not there".into());
                play.pending_input.answer_approval(approval, deny).unwrap();
            }
        })
        .await;
    let told = play.requests()[1].last().unwrap().plain_text();
    assert_eq!(
        told,
        "Error: The person did not allow this call; the reason: not there. Do not repeat it."
    );
    assert!(
        !lines(&log).iter().any(|line| line.contains("main runs")),
        "it must not run"
    );
}

#[tokio::test]
async fn a_sub_agent_waits_alone() {
    let script = |request: &ChatRequest<'_>| {
        let told = request.messages[1].plain_text();
        let answers = request
            .messages
            .iter()
            .filter(|message| message.role == domain::Role::Assistant)
            .count();
        let task = |index, name: &str| {
            call(
                index,
                "task",
                &json!({"description": name, "subagent_type": "general"}),
            )
        };
        match (told.as_str(), answers) {
            ("Please.", 0) => [task(0, "asker"), task(1, "worker")].concat(),
            ("asker", 0) => call(
                0,
                "ask_user",
                &json!({"question": "Which?", "options": ["red", "blue"]}),
            ),
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
                EventBody::QuestionAsked {
                    question: asked, ..
                } => question = Some(asked.clone()),
                EventBody::AgentFinished { result, .. } => worked |= result == "worked",
                _ => {}
            }
            // Only when its sibling is done does the person answer.
            if worked && let Some(question) = question.take() {
                play.pending_input
                    .answer_question(&question, "blue".into())
                    .unwrap();
            }
        })
        .await;
    let all = lines(&log);
    assert!(
        all.contains(&r#"a1 asks "Which?" ["red", "blue"]"#.to_owned()),
        "{all:#?}"
    );
    assert!(
        all.contains(&"a1 ends Completed: blue".to_owned()),
        "{all:#?}"
    );
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
    assert_eq!(
        play.pending_input
            .answer_approval("p2", answer(Decision::Allow)),
        Err(AnswerError::NotWaiting)
    );
}

#[tokio::test]
async fn a_standing_approval_covers_waiting_and_later_calls() {
    let play = many_writes().await;
    let allowed: StandingApproval = serde_json::from_value(json!({
        "tool": "write_file", "arguments": {"path": "/notes/*", "content": "*"}, "remembered": "chat"
    }))
    .unwrap();
    let mut asked = Vec::new();
    let log = play
        .watched(&mut |event, play| {
            let EventBody::ApprovalAsked {
                approval,
                arguments,
                may_remember,
                ..
            } = &event.body
            else {
                return;
            };
            assert!(may_remember);
            asked.push((approval.clone(), arguments["path"].clone()));
            if asked.len() == 3 {
                let answer = ApprovalDecision {
                    remembered: Some(Remembered::Chat),
                    ..answer(Decision::Allow)
                };
                play.pending_input
                    .answer_approval(&asked[0].0, answer)
                    .unwrap();
                play.approval_policy.allow(allowed.clone());
                play.pending_input.allow_all(&allowed);
                // It goes on only with this one: the rule does not fit it.
                play.pending_input
                    .answer_approval(&asked[2].0, ApprovalDecision::only(Decision::Deny))
                    .unwrap();
            }
        })
        .await;
    let paths: Vec<_> = asked
        .iter()
        .map(|(_, path)| path.as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        ["/notes/a", "/notes/b", "/other"],
        "the fourth asks no more"
    );
    let remembered = |event: &&domain::RunEvent| {
        matches!(
            event.body,
            EventBody::ApprovalAnswered {
                remembered: Some(Remembered::Chat),
                ..
            }
        )
    };
    assert_eq!(log.iter().filter(remembered).count(), 1);
    let said = lines(&log);
    for path in ["/notes/a", "/notes/b", "/notes/c"] {
        assert!(
            said.contains(&format!("main changed {path} v1")),
            "{said:#?}"
        );
    }
    assert!(!said.iter().any(|line| line.contains("changed /other")));
    let why = "Runs without asking: you allowed such calls in this chat.";
    let told = |event: &&domain::RunEvent| matches!(&event.body, EventBody::ToolProgress { message, .. } if message == why);
    assert_eq!(log.iter().filter(told).count(), 1);
}

#[tokio::test]
async fn the_administrators_rules_come_first() {
    let mut play = many_writes().await;
    play.approval_policy = rules(json!([
        {"tool": "write_*", "arguments": {"path": "/other"}, "then": "deny"},
        {"tool": "write_file", "arguments": {"path": "/notes/c"}, "then": "ask_each_time"},
        {"tool": "write_file", "then": "allow"},
    ]));
    let mut asked = Vec::new();
    let log = play
        .watched(&mut |event, play| {
            let EventBody::ApprovalAsked { approval, .. } = &event.body else {
                return;
            };
            let for_good = ApprovalDecision {
                remembered: Some(Remembered::Always),
                ..answer(Decision::Allow)
            };
            assert_eq!(
                play.pending_input.answer_approval(approval, for_good),
                Err(AnswerError::EachTime)
            );
            // Nobody can edit a call into one that is refused.
            let edited = Some(json!({"path": "/other", "content": "x"}));
            let edit = ApprovalDecision {
                arguments: edited,
                ..answer(Decision::Allow)
            };
            play.pending_input.answer_approval(approval, edit).unwrap();
            asked.push(approval.clone());
        })
        .await;
    assert_eq!(asked.len(), 1);
    let said = lines(&log);
    let refused = "The administrator's rules do not allow this call. Do not repeat it.";
    assert_eq!(
        said.iter().filter(|line| line.ends_with(refused)).count(),
        2,
        "{said:#?}"
    );
    assert!(
        !said
            .iter()
            .any(|line| line.contains("changed /other") || line.contains("changed /notes/c"))
    );
}

#[tokio::test]
async fn unanswered_requests_expire() {
    let ask = call(0, "ask_user", &json!({"question": "Which?"}));
    let write = call(
        1,
        "write_file",
        &json!({"path": "a.md", "content": "draft"}),
    );
    let mut play = Play::turns(vec![[ask, write].concat(), text("Ok.")]).await;
    play.agents.main.tools = play.agents.main.tools.with_approval("write_file");
    play.limits.waiting = Duration::from_millis(200);
    let log = play.log().await;
    let expiry = |event: &domain::RunEvent| match &event.body {
        EventBody::ApprovalAsked { expires_in_ms, .. }
        | EventBody::QuestionAsked { expires_in_ms, .. } => *expires_in_ms,
        _ => None,
    };
    assert_eq!(
        log.iter().filter_map(expiry).collect::<Vec<_>>(),
        [200, 200]
    );
    let said = lines(&log);
    assert!(
        said.contains(&"main is told Expired edited=false".to_owned()),
        "{said:#?}"
    );
    assert!(said.contains(&"main hears None".to_owned()), "{said:#?}");
    assert!(
        said.iter()
            .any(|line| line.contains("Nobody decided about this call in time")),
        "{said:#?}"
    );
    assert!(
        said.iter()
            .any(|line| line.contains("Nobody answered in time")),
        "{said:#?}"
    );
    assert_eq!(said.last().unwrap(), "main finished Completed");
}

fn form_asker(fields: serde_json::Value) -> Vec<llm::Line> {
    call(
        0,
        "ask_user",
        &json!({"question": "Where to?", "fields": fields}),
    )
}

fn trip() -> serde_json::Value {
    json!([
        {"name": "city", "label": "City", "type": "text", "required": true},
        {"name": "seats", "type": "integer", "min": 1, "max": 9, "default": 2},
    ])
}

#[tokio::test]
async fn a_form_accepts_only_valid_replies() {
    let play = Play::turns(vec![form_asker(trip()), text("Ok.")]).await;
    let log = play
        .watched(&mut |event, play| {
            let EventBody::QuestionAsked { question, .. } = &event.body else {
                return;
            };
            let reply =
                |values: serde_json::Value| Reply::Values(values.as_object().cloned().unwrap());
            let refused = play
                .pending_input
                .answer_question(question, reply(json!({"city": "Rome", "seats": 10})));
            let Err(AnswerError::Unfit(fault)) = refused else {
                panic!("{refused:?}")
            };
            assert_eq!(fault.field.as_deref(), Some("seats"));
            assert!(
                play.pending_input
                    .check_reply(question, "Rome for two".into())
                    .is_err()
            );
            play.pending_input
                .check_reply(question, "City: Rome".into())
                .unwrap();
            play.pending_input
                .answer_question(question, reply(json!({"seats": 3, "city": "Rome"})))
                .unwrap();
            assert_eq!(
                play.pending_input.answer_question(question, "x".into()),
                Err(AnswerError::NotWaiting)
            );
        })
        .await;
    let said = lines(&log);
    let asked = r#"main asks "Where to?" with a form: City: a text of 1 to 500 characters; seats: a whole number, 1 to 9 (may be left out)"#;
    assert!(said.contains(&asked.to_owned()), "{said:#?}");
    assert!(
        said.contains(&r#"main hears {"city":"Rome","seats":3}"#.to_owned()),
        "{said:#?}"
    );
    assert_eq!(
        play.requests()[1].last().unwrap().plain_text(),
        r#"{"city":"Rome","seats":3}"#
    );
}

#[tokio::test]
async fn who_does_not_want_to_answer_says_so() {
    for fields in [trip(), json!([])] {
        let play = Play::turns(vec![form_asker(fields), text("Ok.")]).await;
        let log = play
            .watched(&mut |event, play| {
                if let EventBody::QuestionAsked { question, .. } = &event.body {
                    play.pending_input
                        .answer_question(question, Reply::Declined(None))
                        .unwrap();
                }
            })
            .await;
        assert!(
            lines(&log).contains(&"main hears that there is no answer".to_owned()),
            "{:#?}",
            lines(&log)
        );
        let told = play.requests()[1].last().unwrap().plain_text();
        assert!(
            told.starts_with("The person does not want to answer."),
            "{told}"
        );
    }
}

#[tokio::test]
async fn an_invalid_form_is_reported_to_the_model() {
    let many: Vec<_> = (0..13)
        .map(|n| json!({"name": format!("f{n}"), "type": "text"}))
        .collect();
    for (arguments, fault) in [
        (
            json!({"question": "?", "fields": many}),
            "The arguments do not fit: /fields",
        ),
        (
            json!({"question": "?", "fields": [{"name": "a", "type": "colour"}]}),
            "The arguments do not fit",
        ),
        (
            json!({"question": "?", "fields": [{"name": "a", "type": "choice"}]}),
            "The field “a” needs options.",
        ),
        (
            json!({"question": "?", "options": ["x"], "fields": [{"name": "a", "type": "text"}]}),
            "not both",
        ),
        (
            json!({"question": "?", "fields": [{"name": "a", "type": "text"}, {"name": "a", "type": "text"}]}),
            "The field “a” comes twice.",
        ),
    ] {
        let play = Play::turns(vec![call(0, "ask_user", &arguments), text("Ok.")]).await;
        let log = play.log().await;
        assert!(
            !log.iter()
                .any(|event| matches!(event.body, EventBody::QuestionAsked { .. }))
        );
        let told = play.requests()[1].last().unwrap().plain_text();
        assert!(
            told.starts_with("Error: ") && told.contains(fault),
            "{told}"
        );
    }
}
