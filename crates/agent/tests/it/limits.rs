//! Limits and stop: the run ends with what it has, and says so.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use agent::Prices;
use domain::{EventBody, MessageCode, Outcome, ProblemCode, Usage};
use futures_util::{
    FutureExt,
    future::{BoxFuture, ready},
};
use llm::{
    ChatRequest, FinishReason, Line,
    script::{call, finish_with, text},
};
use serde_json::json;

use crate::play::{Play, lines};

fn spend(input_tokens: u64) -> Vec<Line> {
    let usage = Usage::of(input_tokens, 0);
    [
        call(0, "ls", &json!({})),
        finish_with(FinishReason::ToolCalls, usage),
    ]
    .concat()
}

fn outcome(log: &[domain::RunEvent]) -> (Outcome, Option<ProblemCode>) {
    let EventBody::RunFinished {
        outcome, problem, ..
    } = &log.last().unwrap().body
    else {
        unreachable!()
    };
    (*outcome, problem.as_ref().map(|problem| problem.code))
}

#[tokio::test]
async fn out_of_steps_it_answers_without_tools() {
    let script = |request: &ChatRequest<'_>| {
        if request.tools.is_empty() {
            text("What I know so far.")
        } else {
            call(0, "ls", &json!({}))
        }
    };
    let mut play = Play::new(Arc::new(script)).await;
    play.limits.steps = 3;
    let log = play.log().await;
    assert_eq!(play.requests().len(), 3);
    assert_eq!(
        outcome(&log),
        (Outcome::Limited, Some(ProblemCode::LimitReached))
    );
    assert!(lines(&log).contains(&r#"main answers "What I know so far.""#.to_owned()));
}

#[tokio::test]
async fn an_answer_cut_at_the_callers_limit_is_no_whole_one() {
    for (limit, expected) in [(None, Outcome::Completed), (Some(2), Outcome::Limited)] {
        let cut = [
            text("Half an"),
            finish_with(FinishReason::Length, Usage::default()),
        ]
        .concat();
        let mut play = Play::turns(vec![cut]).await;
        play.spec.parameters.max_output_tokens = limit;
        let log = play.log().await;
        assert_eq!(outcome(&log).0, expected);
        assert!(
            lines(&log).contains(&r#"main answers "Half an""#.to_owned()),
            "{:?}",
            lines(&log)
        );
    }
}

#[tokio::test]
async fn tokens_and_money_end_it() {
    let mut play = Play::turns(vec![spend(60), spend(60), spend(60)]).await;
    play.limits.tokens = 100;
    let log = play.log().await;
    assert_eq!(play.requests().len(), 2);
    assert_eq!(
        outcome(&log),
        (Outcome::Limited, Some(ProblemCode::LimitReached))
    );

    let mut play = Play::turns(vec![spend(60), spend(60), spend(60)]).await;
    play.limits.cost_micro_usd = 100;
    play.settings.prices = Some(Prices::of(1.0, 1.0));
    let log = play.log().await;
    let EventBody::RunFinished { cost_micro_usd, .. } = &log.last().unwrap().body else {
        unreachable!()
    };
    assert_eq!(*cost_micro_usd, Some(120));
    assert!(
        lines(&log).last().unwrap().contains("$0.0001"),
        "{:?}",
        lines(&log).last()
    );
}

#[tokio::test]
async fn time_ends_it_in_the_middle_of_a_word() {
    let turn = [
        text("Half an"),
        vec![Line::Pause { ms: 3_600_000 }],
        text(" answer"),
    ]
    .concat();
    let mut play = Play::turns(vec![turn]).await;
    play.limits.time = Duration::from_millis(100);
    let log = play.log().await;
    assert_eq!(lines(&log)[0], r#"main answers "Half an""#);
    assert_eq!(
        outcome(&log),
        (Outcome::Limited, Some(ProblemCode::LimitReached))
    );
}

#[tokio::test]
async fn stop_ends_all_sub_agents_and_keeps_what_was_written() {
    let script = |request: &ChatRequest<'_>| match request.messages[1].plain_text().as_str() {
        "Please." => [0, 1]
            .map(|index| {
                call(
                    index,
                    "task",
                    &json!({"description": "slow", "subagent_type": "general"}),
                )
            })
            .concat(),
        _ => [text("I have begun"), vec![Line::Pause { ms: 600_000 }]].concat(),
    };
    let play = Play::new(Arc::new(script)).await;
    let mut writing = 0;
    let log = play
        .watched(&mut |event, play| {
            writing += usize::from(
                matches!(&event.body, EventBody::TextDelta { delta, .. } if delta == "begun"),
            );
            if writing == 2 {
                play.stop.cancel.cancel();
            }
        })
        .await;
    let all = lines(&log);
    assert_eq!(
        all.iter()
            .filter(|line| line.ends_with(r#"answers "I have begun""#))
            .count(),
        2,
        "{all:#?}"
    );
    assert_eq!(
        all.iter()
            .filter(|line| line.ends_with("ends Cancelled: Stopped."))
            .count(),
        2,
        "{all:#?}"
    );
    assert_eq!(outcome(&log), (Outcome::Cancelled, None));
}

#[tokio::test]
async fn a_restart_says_so() {
    let play = Play::turns(vec![vec![Line::Pause { ms: 600_000 }]]).await;
    play.stop.shutdown.cancel();
    assert_eq!(
        outcome(&play.log().await),
        (Outcome::Failed, Some(ProblemCode::Interrupted))
    );
}

#[tokio::test]
async fn near_a_limit_it_answers_with_what_it_has() {
    let answering = |request: &ChatRequest<'_>| {
        if request.tools.is_empty() {
            text("What I know so far.")
        } else {
            spend(46)
        }
    };
    let mut tokens = Play::new(Arc::new(answering)).await;
    tokens.limits.tokens = 100;
    let mut steps = Play::new(Arc::new(answering)).await;
    steps.limits.all_steps = 3;
    for (play, why) in [
        (tokens, "used 92 tokens"),
        (steps, "took 2 steps with all its agents"),
    ] {
        let log = play.log().await;
        let said = lines(&log);
        assert_eq!(play.requests().len(), 3, "{why}");
        assert_eq!(
            outcome(&log),
            (Outcome::Limited, Some(ProblemCode::LimitReached))
        );
        assert!(
            said.contains(&r#"main answers "What I know so far.""#.to_owned()),
            "{said:#?}"
        );
        assert!(said.last().unwrap().contains(why), "{said:#?}");
        let notice = log.iter().find_map(|event| match &event.body {
            EventBody::Notice { sentence, .. } => sentence.as_deref(),
            _ => None,
        });
        let is_of_limits =
            |said: &MessageCode| ["limit_tokens", "limit_all_steps"].contains(&said.code.as_str());
        assert!(
            notice.is_some_and(is_of_limits),
            "it has a code: {notice:?}"
        );
    }
}

#[tokio::test]
async fn the_steps_of_all_agents_are_counted() {
    let script = |request: &ChatRequest<'_>| match request.messages[1].plain_text().as_str() {
        "Please." => call(
            0,
            "task",
            &json!({"description": "busy", "subagent_type": "general"}),
        ),
        _ => call(0, "ls", &json!({})),
    };
    let mut play = Play::new(Arc::new(script)).await;
    play.limits.all_steps = 20;
    let log = play.log().await;
    assert_eq!(play.requests().len(), 20);
    assert_eq!(
        outcome(&log),
        (Outcome::Limited, Some(ProblemCode::LimitReached))
    );
}

/// A crash between the last answer and the end does not make a run complete that a limit ended.
#[tokio::test]
async fn a_run_that_a_limit_ended_is_limited_after_a_restart_too() {
    let answering = |request: &ChatRequest<'_>| {
        if request.tools.is_empty() {
            text("What I know so far.")
        } else {
            spend(46)
        }
    };
    let mut play = Play::new(Arc::new(answering)).await;
    play.limits.tokens = 100;
    let whole = play.log().await;
    assert_eq!(
        outcome(&whole),
        (Outcome::Limited, Some(ProblemCode::LimitReached))
    );
    let last_step = whole
        .iter()
        .rposition(|event| matches!(event.body, EventBody::StepStarted { .. }));
    for cut in last_step.unwrap() + 1..whole.len() {
        let mut again = Play::new(Arc::new(answering)).await;
        again.limits.tokens = 100;
        again.spec.ends_with_server = false;
        again.before = whole[..cut].to_vec();
        let log = again.log().await;
        assert_eq!(
            outcome(&log),
            outcome(&whole),
            "cut after {cut}: {:?}",
            lines(&log)
        );
    }
}

/// Allows so many calls, and remembers what they used.
#[derive(Debug)]
struct Calls {
    left: Mutex<u64>,
    used: Arc<Mutex<Vec<Option<u64>>>>,
}

impl agent::Quota for Calls {
    fn begin<'a>(
        &'a self,
        call: agent::CallEstimate<'a>,
    ) -> BoxFuture<'a, Result<agent::EndCall, domain::Problem>> {
        let begun = self.check(call, 1).map(|()| {
            *self.left.lock().unwrap() -= 1;
            let used = Arc::clone(&self.used);
            let end: agent::EndCall = Box::new(move |usage| {
                used.lock()
                    .unwrap()
                    .push(usage.map(|(usage, _)| usage.total_tokens()))
            });
            end
        });
        ready(begun).boxed()
    }

    fn check(&self, _: agent::CallEstimate<'_>, calls: u64) -> Result<(), domain::Problem> {
        if *self.left.lock().unwrap() >= calls {
            return Ok(());
        }
        Err(domain::Problem::new(
            ProblemCode::LimitReached,
            "This account has reached its limit.",
        ))
    }

    fn allows_tool(&self, _: &str) -> bool {
        true
    }

    fn allows_agent(&self, _: &str) -> bool {
        true
    }
}

/// Plays a run that lists files until it has no tools, with so many calls allowed.
async fn with_quota(calls: u64) -> (Vec<domain::RunEvent>, usize, Vec<Option<u64>>) {
    let script = |request: &ChatRequest<'_>| {
        if request.tools.is_empty() {
            text("What I know so far.")
        } else {
            spend(5)
        }
    };
    let mut play = Play::new(Arc::new(script)).await;
    let used: Arc<Mutex<Vec<Option<u64>>>> = Arc::default();
    play.quota = Some(Arc::new(Calls {
        left: Mutex::new(calls),
        used: Arc::clone(&used),
    }));
    let log = play.log().await;
    let used = used.lock().unwrap().clone();
    (log, play.requests().len(), used)
}

#[tokio::test]
async fn near_a_limit_it_shares_it_answers_without_tools() {
    let (log, requests, used) = with_quota(3).await;
    assert_eq!((requests, used.len()), (3, 3));
    assert_eq!(used[0], Some(5));
    assert_eq!(
        outcome(&log),
        (Outcome::Limited, Some(ProblemCode::LimitReached))
    );
    assert!(lines(&log).contains(&r#"main answers "What I know so far.""#.to_owned()));
}

#[tokio::test]
async fn without_anything_left_it_asks_no_model() {
    let (log, requests, _) = with_quota(0).await;
    assert_eq!(
        (requests, outcome(&log)),
        (0, (Outcome::Failed, Some(ProblemCode::RateLimited)))
    );
}
