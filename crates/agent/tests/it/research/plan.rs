//! The plan: changed or skipped while it waits, and in letters that the person reads, as is what they are asked.

use domain::{EventBody, Reply, RunEvent};
use llm::script::text;
use serde_json::json;

use super::{asked, good, last, play};
use crate::play::lines;

async fn with_reply(reply: Reply) -> Vec<RunEvent> {
    let (mut play, _) = play(good).await;
    play.research.as_mut().unwrap().interactive = true;
    let pending_input = play.pending_input.clone();
    play.watched(&mut |event, _| {
        if let EventBody::QuestionAsked { question, .. } = &event.body {
            pending_input
                .answer_question(question, reply.clone())
                .unwrap();
        }
    })
    .await
}

fn last_plan(log: &[RunEvent]) -> Vec<String> {
    let mut plans = log.iter().filter_map(|event| match &event.body {
        EventBody::PlanChanged { todos } => {
            Some(todos.iter().map(|todo| todo.content.clone()).collect())
        }
        _ => None,
    });
    plans.next_back().unwrap()
}

#[tokio::test]
async fn the_plan_can_be_changed_or_skipped_while_it_waits() {
    let changed = json!({"plan": "- Only the day\n\n- And the port"})
        .as_object()
        .cloned()
        .unwrap();
    assert_eq!(
        last_plan(&with_reply(Reply::Values(changed)).await),
        ["Only the day", "And the port"]
    );
    assert_eq!(
        last_plan(&with_reply(Reply::Declined(None)).await),
        ["When it sailed", "How many were aboard"]
    );
}

#[tokio::test]
async fn a_plan_in_letters_that_the_person_does_not_write_in_is_none() {
    let asked_for = "Когда отплыл корабль, и сколько было людей?";
    for (planned, expected) in [
        (
            vec!["When it sailed", "How many were aboard"],
            vec![asked_for],
        ),
        (
            vec!["Mayflower", "Сколько было людей"],
            vec!["Mayflower", "Сколько было людей"],
        ),
    ] {
        let (mut play, _) = play(move |request| match asked(request) {
            "plan" => text(&json!({"plan": planned, "question": ""}).to_string()),
            _ => good(request),
        })
        .await;
        play.question = asked_for.into();
        assert_eq!(last_plan(&play.log().await), expected);
    }
}

#[tokio::test]
async fn the_question_uses_the_persons_script_and_is_not_theirs_repeated() {
    for (question, is_asked) in [
        ("Which of the ships do you mean?", false),
        ("когда отплыл корабль и сколько было людей", false),
        ("О каком из кораблей речь: Mayflower?", true),
    ] {
        let (mut play, _) = play(move |request| match asked(request) {
            "plan" => {
                assert!(
                    last(request).contains("in Cyrillic letters"),
                    "{}",
                    last(request)
                );
                let may_ask = last(request).contains("put one short question");
                let question = if may_ask { question } else { "" };
                text(&json!({"plan": ["Когда отплыл"], "question": question}).to_string())
            }
            _ => good(request),
        })
        .await;
        play.question = "Когда отплыл корабль, и сколько было людей?".into();
        play.research.as_mut().unwrap().interactive = true;
        let pending_input = play.pending_input.clone();
        let mut told = Vec::new();
        let log = play
            .watched(&mut |event, _| {
                if let EventBody::QuestionAsked { question, text, .. } = &event.body {
                    told.push(text.clone());
                    pending_input
                        .answer_question(question, Reply::Declined(None))
                        .unwrap();
                }
            })
            .await;
        assert_eq!(
            told.iter().any(|text| text == question),
            is_asked,
            "{told:?}"
        );
        assert_eq!(lines(&log).last().unwrap(), "main finished Completed");
    }
}
