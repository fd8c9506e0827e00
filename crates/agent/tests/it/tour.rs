//! The tour plays through the same loop and tools as any model.

use agent::{ApprovalDecision, tour};
use domain::{EventBody, event::Decision};

use crate::play::{Play, lines};

async fn tour(question: &str, decision: Decision) -> (Vec<String>, String) {
    let mut play = Play::with_model(tour::model(0)).await;
    play.agents = tour::agents(&play.agents);
    play.question = question.into();
    let log = play
        .watched(&mut |event, play| {
            if let EventBody::ApprovalAsked { approval, .. } = &event.body {
                let answer = ApprovalDecision::only(decision);
                play.pending_input
                    .answer_approval(approval, answer)
                    .unwrap();
            }
        })
        .await;
    let answer = log.iter().rev().find_map(|event| match &event.body {
        EventBody::TextFinished {
            text, answer: true, ..
        } if event.agent.is_main() => Some(text.clone()),
        _ => None,
    });
    (lines(&log), answer.unwrap())
}

#[tokio::test]
async fn shows_everything_once() {
    let (all, answer) = tour("Show me around", Decision::Allow).await;
    let count = |words: &str| all.iter().filter(|line| line.contains(words)).count();
    assert_eq!(count("ends Completed"), 2, "{all:#?}");
    assert_eq!(count("failed c"), 1, "one tool fails: {all:#?}");
    assert_eq!(count("asks to run"), 1);
    assert_eq!(count("changed /report.md v2"), 1);
    assert!(count("thinks") >= 3 && count("plans 4 tasks") >= 4);
    assert!(
        answer.contains("| October |")
            && answer.contains("```python")
            && answer.contains("marked final")
    );
    assert_eq!(all.last().unwrap(), "main finished Completed");
}

#[tokio::test]
async fn speaks_russian_and_takes_no_for_an_answer() {
    let (all, answer) = tour("Покажи, как это работает", Decision::Deny).await;
    assert!(
        answer.contains("остался черновиком") && answer.contains("| Октябрь |"),
        "{answer}"
    );
    assert!(
        all.iter().any(|line| line.contains("Осадки за")),
        "{all:#?}"
    );
}

/// The sub-agents' sums, found with grep over two halves, add up to the year that was read from the file.
#[tokio::test]
async fn its_figures_are_read_from_real_results() {
    let (all, answer) = tour("Show me around", Decision::Allow).await;
    let millimetres = |text: &str| -> f64 {
        let before = text.split(" mm").next().unwrap();
        before
            .rsplit([' ', '*'])
            .find(|word| !word.is_empty())
            .unwrap()
            .parse()
            .unwrap()
    };
    let halves: f64 = all
        .iter()
        .filter(|line| line.contains("ends Completed"))
        .map(|line| millimetres(line))
        .sum();
    assert!(
        (halves - millimetres(&answer)).abs() < 0.2,
        "{halves} and {answer}"
    );
}
