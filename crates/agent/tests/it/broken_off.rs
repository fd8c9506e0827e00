//! Model calls that break off or are stopped: what they have used is booked, reported and told to the quota.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use agent::{Prices, history::messages_of};
use domain::{EventBody, ProblemCode, RunEvent, Usage};
use futures_util::{
    FutureExt,
    future::{BoxFuture, ready},
};
use llm::{
    ChatRequest, FinishReason, Line, ModelError,
    script::{call, finish_with, reasoning, text},
};
use serde_json::json;

use crate::play::{Play, lines};

/// What a quota was told of each call.
type Reported = Arc<Mutex<Vec<Option<(Usage, Option<u64>)>>>>;

#[derive(Debug)]
struct Open(Reported);

impl agent::Quota for Open {
    fn begin<'a>(
        &'a self,
        _: agent::CallEstimate<'a>,
    ) -> BoxFuture<'a, Result<agent::EndCall, domain::Problem>> {
        let told = Arc::clone(&self.0);
        let end: agent::EndCall = Box::new(move |used| told.lock().unwrap().push(used));
        ready(Ok(end)).boxed()
    }

    fn check(&self, _: agent::CallEstimate<'_>, _: u64) -> Result<(), domain::Problem> {
        Ok(())
    }

    fn allows_tool(&self, _: &str) -> bool {
        true
    }

    fn allows_agent(&self, _: &str) -> bool {
        true
    }
}

async fn play(
    script: impl Fn(&ChatRequest<'_>) -> Vec<Line> + Send + Sync + 'static,
) -> (Play, Reported) {
    let mut play = Play::new(Arc::new(script)).await;
    let told = Reported::default();
    play.quota = Some(Arc::new(Open(Arc::clone(&told))));
    play.settings.prices = Some(Prices::of(1_000.0, 1_000.0));
    (play, told)
}

/// The calls that broke off: the agent, what was used, and what that cost.
fn broken_off(log: &[RunEvent]) -> Vec<(String, Usage, u64)> {
    let lost = log.iter().filter_map(|event| match &event.body {
        EventBody::ModelCalled {
            usage,
            cost_micro_usd,
            broken_off: true,
            ..
        } => Some((
            format!("{:?}", event.agent),
            *usage,
            cost_micro_usd.unwrap(),
        )),
        _ => None,
    });
    lost.collect()
}

/// What the events of all calls add up to.
fn sum(log: &[RunEvent]) -> (Usage, u64) {
    let mut sum = (Usage::default(), 0);
    for event in log {
        if let EventBody::ModelCalled {
            usage,
            cost_micro_usd: Some(cost),
            ..
        }
        | EventBody::ContextCompacted {
            usage,
            cost_micro_usd: Some(cost),
            ..
        } = &event.body
        {
            sum.0 += *usage;
            sum.1 += cost;
        }
    }
    sum
}

/// The events, the end of the run and the quota have the same sum.
#[track_caller]
fn check_sums(log: &[RunEvent], told: &Reported) {
    let EventBody::RunFinished {
        usage,
        cost_micro_usd,
        ..
    } = &log.last().unwrap().body
    else {
        panic!("{:#?}", lines(log));
    };
    assert_eq!(
        (*usage, cost_micro_usd.unwrap_or(0)),
        sum(log),
        "{:#?}",
        lines(log)
    );
    let mut quota = (Usage::default(), 0);
    for (usage, cost) in told.lock().unwrap().iter().flatten() {
        quota.0 += *usage;
        quota.1 += cost.unwrap();
    }
    assert_eq!(quota, sum(log));
}

fn cut() -> Vec<Line> {
    vec![Line::Fail(ModelError::new(
        ProblemCode::ModelFailed,
        "Cut.",
    ))]
}

#[tokio::test]
async fn an_answer_that_its_server_cuts_is_booked() {
    let script =
        |_: &ChatRequest<'_>| [reasoning("Let me think."), text("Half an answer"), cut()].concat();
    let (play, told) = play(script).await;
    let log = play.log().await;
    let lost = broken_off(&log);
    // 27 bytes were written.
    assert!(
        matches!(
            &lost[..],
            [(
                _,
                Usage {
                    output_tokens: 6,
                    estimated: true,
                    ..
                },
                _
            )]
        ),
        "{lost:?}"
    );
    assert!(lost[0].1.input_tokens > 100, "{lost:?}");
    check_sums(&log, &told);
}

#[tokio::test]
async fn a_call_that_fails_before_anything_came_has_used_nothing() {
    let (play, told) = play(|_: &ChatRequest<'_>| cut()).await;
    let log = play.log().await;
    assert_eq!((broken_off(&log).len(), sum(&log).1), (0, 0));
    assert_eq!(*told.lock().unwrap(), [None]);
}

#[tokio::test]
async fn cancelled_calls_are_booked_for_each_agent() {
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
    let (play, told) = play(script).await;
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
    let mut agents: Vec<String> = broken_off(&log)
        .into_iter()
        .map(|(agent, ..)| agent)
        .collect();
    agents.sort();
    assert_eq!(agents, ["a1", "a2"]);
    check_sums(&log, &told);
}

#[tokio::test]
async fn timed_out_calls_are_booked() {
    let script =
        |_: &ChatRequest<'_>| [text("Half an"), vec![Line::Pause { ms: 3_600_000 }]].concat();
    let (mut play, told) = play(script).await;
    play.limits.time = Duration::from_millis(100);
    let log = play.log().await;
    assert_eq!(broken_off(&log).len(), 1, "{:#?}", lines(&log));
    check_sums(&log, &told);
}

/// The next server asks again, and the run has paid for both.
#[tokio::test]
async fn calls_stopped_by_shutdown_are_booked_and_are_no_answer() {
    let script =
        |_: &ChatRequest<'_>| [text("Half an"), vec![Line::Pause { ms: 600_000 }]].concat();
    let (mut first, told) = play(script).await;
    first.spec.ends_with_server = false;
    let before = first
        .unchecked(&mut |event, play| {
            if matches!(&event.body, EventBody::TextDelta { delta, .. } if delta == "an") {
                play.stop.shutdown.cancel();
            }
        })
        .await;
    assert_eq!(broken_off(&before).len(), 1, "{:#?}", lines(&before));
    let whole = |_: &ChatRequest<'_>| {
        [
            text("A whole answer."),
            finish_with(FinishReason::Stop, Usage::of(100, 3)),
        ]
        .concat()
    };
    let (mut again, told_again) = play(whole).await;
    (again.spec.ends_with_server, again.before) = (false, before);
    let log = again.log().await;
    told.lock().unwrap().append(&mut told_again.lock().unwrap());
    check_sums(&log, &told);
    let said: Vec<String> = messages_of(&log)
        .iter()
        .map(domain::Message::plain_text)
        .collect();
    assert_eq!(said, ["A whole answer."]);
}

#[tokio::test]
async fn a_summary_that_breaks_off_is_booked() {
    let script = |request: &ChatRequest<'_>| match request.messages[0]
        .plain_text()
        .starts_with("You sum up")
    {
        true => [text("The summary begins"), cut()].concat(),
        false => {
            let content = "word ".repeat(1_000);
            call(
                0,
                "write_file",
                &json!({"path": "/a.md", "content": content}),
            )
        }
    };
    let (mut play, told) = play(script).await;
    play.agents.main.tools = play
        .agents
        .main
        .tools
        .chosen(&agent::ToolChoice::named(&["write_file"]).unwrap());
    play.settings.context_tokens = Some(3_000);
    let log = play.log().await;
    assert!(!broken_off(&log).is_empty(), "{:#?}", lines(&log));
    check_sums(&log, &told);
}
