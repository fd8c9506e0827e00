//! Research that ends before its report gives what it knows; one that is forked goes on as research.

use domain::{AgentPath, Outcome, ProblemCode, RunId, event::Forked};
use llm::ModelError;

use super::*;

/// How the run ended.
fn outcome(log: &[RunEvent]) -> Option<Outcome> {
    log.iter().find_map(|event| match event.body {
        EventBody::RunFinished { outcome, .. } => Some(outcome),
        _ => None,
    })
}

#[tokio::test]
async fn stopping_early_returns_the_notes() {
    let whole = play(good).await.0.log().await;
    let mut with_notes = 0;
    for at in 1..whole.len() {
        let (play, _) = play(good).await;
        let log = play
            .watched(&mut |event, play| {
                if event.seq == at as u64 {
                    play.stop.cancel.cancel();
                }
            })
            .await;
        // All had been done by then, perhaps.
        let is_done = answer(&log) == answer(&whole);
        assert!(
            outcome(&log) == Some(Outcome::Cancelled) || is_done,
            "at {at}: {:?}",
            lines(&log)
        );
        quotes_stand(&log);
        let (found, said) = (sources(&log), answer(&log));
        assert_eq!(
            found.is_empty(),
            said.is_none(),
            "at {at}: {:?}",
            lines(&log)
        );
        let texts = log.iter().filter(|event| {
            matches!(&event.body, EventBody::TextFinished { text, answer: true, .. } if !text.is_empty())
        });
        assert!(texts.count() <= 1, "at {at}: one answer: {:?}", lines(&log));
        let is_list = said.as_deref().is_some_and(|said| said.starts_with("- "));
        if is_list {
            with_notes += 1;
            let cited: Vec<String> = found
                .iter()
                .map(|source| format!("[{}]", source.id))
                .collect();
            assert!(
                cited
                    .iter()
                    .all(|mark| said.as_ref().unwrap().contains(mark)),
                "at {at}: {said:?}"
            );
        }
    }
    assert!(with_notes > 3, "the notes were given {with_notes} times");
}

#[tokio::test]
async fn a_finished_readers_notes_survive_the_failure_of_others() {
    let (play, _) = play(|request| match asked(request) {
        "read" if last(request).contains("104 passengers") => vec![Line::Pause { ms: 600_000 }],
        _ => good(request),
    })
    .await;
    let log = play
        .watched(&mut |event, play| {
            if matches!(
                &event.body,
                EventBody::AgentFinished {
                    outcome: Outcome::Completed,
                    ..
                }
            ) {
                play.stop.cancel.cancel();
            }
        })
        .await;
    assert_eq!(outcome(&log), Some(Outcome::Cancelled));
    assert!(
        answer(&log)
            .unwrap()
            .contains("It sailed on 6 September 1620. [1]"),
        "{:?}",
        lines(&log)
    );
    quotes_stand(&log);
}

#[tokio::test]
async fn a_model_that_fails_at_the_report_leaves_the_notes() {
    let (play, _) = play(|request| match asked(request) {
        "report" => {
            vec![Line::Fail(ModelError::new(
                ProblemCode::ModelRejected,
                "No more today.",
            ))]
        }
        _ => good(request),
    })
    .await;
    let log = play.log().await;
    assert_eq!(outcome(&log), Some(Outcome::Failed));
    assert!(
        answer(&log).unwrap().contains("It had 102 passengers. [2]"),
        "{:?}",
        lines(&log)
    );
}

#[tokio::test]
async fn a_fork_of_research_continues_as_research_from_any_step() {
    let whole = play(good).await.0.log().await;
    let steps = whole.iter().filter(|event| {
        event.agent.is_main() && matches!(event.body, EventBody::StepStarted { .. })
    });
    for step in steps {
        let (mut play, web) = play(good).await;
        let after = step.seq - 1;
        play.before = whole
            .iter()
            .filter(|event| event.seq <= after)
            .cloned()
            .collect();
        let (searched, read) = (
            done(&play.before, "web_search"),
            done(&play.before, "read_source"),
        );
        let guidance = Some("In one line, please.".to_owned());
        let body = EventBody::RunForked(Forked {
            from: RunId::generate(),
            after,
            guidance,
        });
        let (run, at) = (step.run, step.at);
        play.before.push(RunEvent {
            run,
            seq: after + 1,
            at,
            agent: AgentPath::main(),
            body,
        });
        let log = play.log().await;
        assert_eq!(outcome(&log), Some(Outcome::Completed), "after {after}");
        assert_eq!(
            answer(&log),
            answer(&whole),
            "after {after}: {:?}",
            lines(&log)
        );
        quotes_stand(&log);
        assert_eq!(
            web.searched.lock().unwrap().len(),
            2 - searched,
            "after {after}"
        );
        assert!(web.read.lock().unwrap().len() <= 4 - read, "after {after}");
        let report = play.requests().pop().unwrap();
        let said = report
            .iter()
            .filter(|message| message.plain_text() == "In one line, please.")
            .count();
        assert_eq!(
            said, 1,
            "after {after}: the report hears what the person said there"
        );
    }
}

/// How many calls of the tool are done.
fn done(log: &[RunEvent], tool: &str) -> usize {
    let is_it = |event: &&RunEvent| matches!(&event.body, EventBody::ToolFinished { name, .. } if name == tool);
    log.iter().filter(is_it).count()
}
