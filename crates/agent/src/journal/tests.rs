//! Unit tests of the journal: recorded results are returned, everything else is performed once.

use std::{cell::Cell, convert::Infallible, time::Duration};

use domain::{
    AgentPath, EventBody, LocalizedText, Outcome, Reply, RunEvent, RunId, Usage,
    event::{NoticeLevel, Source},
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::{AgentJournal, Ask, CallEnd, CallRecord, CallResult, Journal, Recorded, SubAgentEnd};
use crate::{
    Emitter, PendingInput,
    answer::{Answer, RequestedCall},
    emitter::Emitted,
    pending_input::NoAnswer,
};

/// How long to wait for people's answers.
const WAITING: Duration = Duration::from_secs(60);
/// When the run is resumed. The timestamps of its events count from zero.
const NOW_MS: i64 = 45_000;

struct Play {
    journal: AgentJournal,
    events: mpsc::Receiver<Emitted>,
    pending_input: PendingInput,
}

impl Play {
    /// A run whose main agent has this log, with one second between events.
    fn after(log: Vec<EventBody>) -> Self {
        Self::after_all(log.into_iter().map(|body| (AgentPath::main(), body)))
    }

    fn after_all(log: impl IntoIterator<Item = (AgentPath, EventBody)>) -> Self {
        let run = RunId::generate();
        let mut journal = Journal::default();
        for ((agent, body), seq) in log.into_iter().zip(1_u32..) {
            journal.push(&RunEvent {
                run,
                seq: seq.into(),
                at: i64::from(seq) * 1_000,
                agent,
                body,
            });
        }
        journal.goes_on_at(NOW_MS);
        let (emitter, events) = Emitter::channel(100);
        let pending_input = PendingInput::default();
        Self {
            journal: AgentJournal::main(journal, emitter, pending_input.clone(), WAITING),
            events,
            pending_input,
        }
    }

    /// The events emitted since the last call.
    fn emitted(&mut self) -> Vec<EventBody> {
        std::iter::from_fn(|| self.events.try_recv().ok())
            .map(|emitted| emitted.body)
            .collect()
    }
}

fn step_started(step: u32, last: Option<&str>) -> EventBody {
    let last = last.map(str::to_owned);
    EventBody::StepStarted { step, last }
}

fn requested(call: &str) -> EventBody {
    EventBody::ToolRequested {
        call: call.to_owned(),
        name: "launch".to_owned(),
        model_id: None,
        by_provider: false,
    }
}

fn started(call: &str) -> EventBody {
    EventBody::ToolStarted {
        call: call.to_owned(),
        name: "launch".to_owned(),
        arguments: json!({"what": "it"}),
        repeatable: false,
    }
}

fn finished(call: &str, text: &str) -> EventBody {
    EventBody::ToolFinished {
        call: call.to_owned(),
        name: "launch".to_owned(),
        arguments: json!({"what": "it"}),
        result: text.to_owned(),
        model_note: None,
        error: false,
        truncated: false,
        duration_ms: 1,
        stopped: false,
        in_doubt: false,
        file: None,
        files: Vec::new(),
    }
}

fn called() -> EventBody {
    EventBody::ModelCalled {
        model: "m".to_owned(),
        usage: Usage::default(),
        cost_micro_usd: None,
        duration_ms: 1,
        first_token_ms: None,
        broken_off: false,
    }
}

fn said(text: &str, answer: bool) -> EventBody {
    EventBody::TextFinished {
        item: "t1".to_owned(),
        text: text.to_owned(),
        answer,
        reasoning: false,
    }
}

fn asked(question: &str, text: &str) -> EventBody {
    EventBody::QuestionAsked {
        question: question.to_owned(),
        call: "c1".to_owned(),
        text: text.to_owned(),
        options: Vec::new(),
        schema: None,
        expires_in_ms: None,
    }
}

async fn nothing_kept() -> Option<String> {
    None
}

#[tokio::test]
async fn a_recorded_answer_is_not_requested_again() {
    let mut play = Play::after(vec![
        step_started(1, Some("It is late.")),
        said("Done.", true),
        called(),
    ]);
    let mut step = play.journal.step(1);
    let begin = async { Err("begun again") };
    let last = step.begin(begin).await.unwrap();
    assert_eq!(
        last.map(|words| words.to_string()).as_deref(),
        Some("It is late.")
    );
    let ask = async { Err("asked again") };
    let answer = step.answer(nothing_kept(), ask).await.unwrap();
    assert_eq!(answer.text, "Done.");
    assert!(step.is_replayed() && step.is_answered());
    assert!(play.emitted().is_empty());
}

#[tokio::test]
async fn an_incomplete_step_is_started_and_asked_again() {
    let play = Play::after(vec![step_started(1, Some("It was late."))]);
    let mut step = play.journal.step(1);
    assert!(step.is_begun() && !step.is_answered());
    assert!(!play.journal.step(2).is_begun());
    let begin = async { Ok::<_, Infallible>(None::<LocalizedText>) };
    assert_eq!(step.begin(begin).await, Ok(None));
    let answer = Answer {
        text: "New.".to_owned(),
        ..Answer::default()
    };
    let ask = async { Ok::<_, Infallible>(answer) };
    let answer = step.answer(nothing_kept(), ask).await.unwrap();
    assert!(answer.text == "New." && !step.is_replayed());
}

#[tokio::test]
async fn an_empty_answer_is_the_stored_one_or_is_requested_again() {
    for kept in [Some("Kept."), None] {
        let play = Play::after(vec![step_started(1, None), called()]);
        let mut step = play.journal.step(1);
        let new = Answer {
            text: "New.".to_owned(),
            ..Answer::default()
        };
        let ask = async { Ok::<_, Infallible>(new) };
        let kept_text = async { kept.map(str::to_owned) };
        let answer = step.answer(kept_text, ask).await.unwrap();
        assert_eq!(answer.text, kept.unwrap_or("New."));
        assert_eq!(
            (answer.held, step.is_replayed()),
            (kept.is_some(), kept.is_some())
        );
    }
}

#[tokio::test]
async fn the_calls_of_a_step_are_decided_once() {
    let decide = || async {
        vec![RequestedCall::of_ours(
            "c9".to_owned(),
            "launch",
            String::new(),
        )]
    };
    // One call of the step has started, so the step has all its calls.
    let mut play = Play::after(vec![step_started(1, None), requested("c1"), started("c1")]);
    let calls = play.journal.step(1).calls(decide()).await;
    assert_eq!(
        calls.iter().map(|call| &*call.id).collect::<Vec<_>>(),
        ["c1"]
    );
    assert!(play.emitted().is_empty());
    // No call has started, so there may have been more to come.
    let mut play = Play::after(vec![step_started(1, None), requested("c1")]);
    let calls = play.journal.step(1).calls(decide()).await;
    assert_eq!(
        calls.iter().map(|call| &*call.id).collect::<Vec<_>>(),
        ["c9"]
    );
    assert_eq!(play.emitted(), [step_started(1, None)]);
}

#[tokio::test]
async fn why_a_step_is_the_last_is_decided_when_it_begins() {
    let log = vec![
        step_started(1, None),
        called(),
        step_started(2, Some("A limit is near.")),
    ];
    let play = Play::after(log);
    let decide = || Some("decided now");
    assert_eq!(play.journal.step(1).last(decide), None);
    assert_eq!(play.journal.step(2).last(decide), Some("A limit is near."));
    assert_eq!(play.journal.step(3).last(decide), Some("decided now"));
}

/// Runs `call` on a log. Returns its result, the arguments passed to `perform` if it is called, and the emitted events.
async fn call(log: Vec<EventBody>) -> (String, Option<Option<Value>>, Vec<EventBody>) {
    let mut play = Play::after(log);
    let performed = Cell::new(None);
    let replayed = Cell::new(false);
    let perform = async |arguments: Option<Value>| {
        performed.set(Some(arguments));
        let result = CallResult {
            text: "new".to_owned(),
            error: false,
            note: None,
            files: Vec::new(),
        };
        CallEnd {
            result,
            finished: finished("c1", "new"),
            at_work: None,
        }
    };
    let result = play
        .journal
        .call("c1", |_| replayed.set(true), perform)
        .await;
    let performed = performed.take();
    assert_ne!(
        replayed.get(),
        performed.is_some(),
        "either replayed or performed"
    );
    (result.text, performed, play.emitted())
}

#[tokio::test]
async fn a_call_is_performed_once() {
    let log = vec![step_started(1, None), requested("c1")];
    let end = vec![finished("c1", "new")];
    assert_eq!(
        call(log.clone()).await,
        ("new".to_owned(), Some(None), end.clone())
    );
    let log = [log, vec![started("c1")]].concat();
    let arguments = Some(json!({"what": "it"}));
    assert_eq!(
        call(log.clone()).await,
        ("new".to_owned(), Some(arguments), end)
    );
    let log = [log, vec![finished("c1", "recorded")]].concat();
    assert_eq!(call(log).await, ("recorded".to_owned(), None, Vec::new()));
}

/// A question without a form.
struct Question(&'static str);

impl Ask for Question {
    type Answer = Reply;
    const KIND: char = 'q';

    fn recorded(&self, call: &CallRecord) -> Recorded<Reply> {
        match call.questions.first() {
            None => Recorded::Nothing,
            Some(asked) if asked.text != self.0 => Recorded::Other {
                id: asked.id.clone(),
            },
            Some(asked) => match &asked.answer {
                Some(Some(reply)) => Recorded::Answered(reply.clone()),
                _ => Recorded::Open {
                    id: asked.id.clone(),
                    asked_at: asked.asked_at,
                },
            },
        }
    }

    fn asked(&self, id: &str, _: &str, _: Option<u64>) -> EventBody {
        asked(id, self.0)
    }

    fn answered(id: String, answer: &Result<Reply, NoAnswer>) -> EventBody {
        Reply::answered(id, answer.clone().ok())
    }

    fn register(self, id: &str, pending_input: &PendingInput) -> oneshot::Receiver<Reply> {
        pending_input.question(id, None)
    }
}

async fn answer(pending_input: &PendingInput, id: &str, reply: &str) {
    pending_input.asked(id).await;
    pending_input.answer_question(id, reply.into()).unwrap();
}

#[tokio::test]
async fn an_answered_request_is_not_repeated() {
    let reply = Reply::from("Yes.");
    let log = vec![
        asked("q4", "Really?"),
        Reply::answered("q4".to_owned(), Some(reply.clone())),
    ];
    let mut play = Play::after(log);
    let ask = play.journal.ask_until_answered("c1", Question("Really?"));
    assert_eq!(ask.await, Ok(reply));
    assert!(play.emitted().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_is_open_keeps_its_id_and_its_deadline() {
    let mut play = Play::after(vec![asked("q4", "Really?")]);
    let ask = play.journal.ask_until_answered("c1", Question("Really?"));
    let (answered, ()) = tokio::join!(ask, answer(&play.pending_input, "q4", "Yes."));
    let reply = answered.unwrap();
    assert_eq!(
        play.emitted(),
        [Reply::answered("q4".to_owned(), Some(reply))]
    );
    // It was asked at second one; 44 of its 60 seconds have passed.
    let began = tokio::time::Instant::now();
    let ask = play.journal.ask_until_answered("c1", Question("Really?"));
    assert_eq!(ask.await, Err(NoAnswer::Expired));
    assert_eq!(began.elapsed(), Duration::from_secs(16));
}

#[tokio::test]
async fn a_different_question_is_asked_after_the_open_one_is_withdrawn() {
    let mut play = Play::after(vec![asked("q4", "Really?")]);
    let ask = play.journal.ask_until_answered("c1", Question("When?"));
    let (answered, ()) = tokio::join!(ask, answer(&play.pending_input, "q5", "Now."));
    let reply = answered.unwrap();
    let expected = [
        Reply::answered("q4".to_owned(), None),
        asked("q5", "When?"),
        Reply::answered("q5".to_owned(), Some(reply)),
    ];
    assert_eq!(play.emitted(), expected);
}

#[tokio::test]
async fn a_withdrawn_question_is_closed() {
    let mut play = Play::after(Vec::new());
    let ask = play
        .journal
        .ask("c1", Question("When?"), std::future::ready(()));
    assert_eq!(ask.await, Err(NoAnswer::Withdrawn));
    let expected = [asked("q1", "When?"), Reply::answered("q1".to_owned(), None)];
    assert_eq!(play.emitted(), expected);
}

#[tokio::test]
async fn a_sub_agent_is_started_once_and_ends_once() {
    let child = AgentPath::main().child(1);
    let started = EventBody::AgentStarted {
        name: "Reader".to_owned(),
        call: "c1".to_owned(),
        task: "Read.".to_owned(),
        agent_type: None,
        continues: None,
    };
    let ended = EventBody::AgentFinished {
        outcome: Outcome::Completed,
        result: "recorded".to_owned(),
    };
    let log = [(child.clone(), started), (child.clone(), ended)];
    let end = |result: &str| SubAgentEnd {
        outcome: Outcome::Completed,
        result: result.to_owned(),
    };
    for (known, starts, works) in [(0, true, true), (1, false, true), (2, false, false)] {
        let play = Play::after_all(log[..known].to_vec());
        let was_started = Cell::new(false);
        let has_worked = Cell::new(false);
        let start = async {
            was_started.set(true);
            play.journal.next_child()
        };
        let work = async |_| {
            has_worked.set(true);
            end("new")
        };
        let (path, ended) = play.journal.sub_agent("c1", start, work).await;
        assert_eq!(
            (was_started.get(), has_worked.get()),
            (starts, works),
            "{known}"
        );
        let expected = end(if works { "new" } else { "recorded" });
        assert_eq!((path, ended), (child.clone(), expected));
        assert_ne!(play.journal.next_child(), child);
    }
}

#[tokio::test]
async fn recorded_events_are_not_emitted_again() {
    let source = |id: &str| Source::new(id.to_owned(), "T".to_owned(), "u".to_owned(), None);
    let sources = |ids: &[&str]| EventBody::SourcesFound {
        sources: ids.iter().map(|id| source(id)).collect(),
    };
    let handed_over = |call: &str| EventBody::ToolHandedOver {
        call: call.to_owned(),
        name: "theirs".to_owned(),
        arguments: json!({}),
    };
    let memory_begun = |call: &str| EventBody::MemoryUpdateStarted {
        call: Some(call.to_owned()),
        name: None,
        chat: None,
    };
    let memory_changed =
        |call: &str| EventBody::memory_update_failed(Some(call.to_owned()), None, "It is full.");
    let notice = |words: &str| EventBody::notice(NoticeLevel::Info, words.to_owned());
    let mut play = Play::after(vec![
        sources(&["1", "2"]),
        handed_over("c1"),
        memory_begun("c2"),
        memory_changed("c3"),
        notice("Known."),
    ]);
    for known in [
        sources(&["2"]),
        handed_over("c1"),
        memory_begun("c2"),
        memory_begun("c3"),
        memory_changed("c3"),
        notice("Known."),
    ] {
        play.journal.once(known).await;
    }
    assert!(play.emitted().is_empty());
    let new = [
        handed_over("c2"),
        memory_begun("c1"),
        memory_changed("c2"),
        notice("New."),
    ];
    for body in &new {
        play.journal.once(body.clone()).await;
    }
    assert_eq!(play.emitted(), new);
    play.journal.once(sources(&["2", "3"])).await;
    assert_eq!(play.emitted(), [sources(&["3"])]);
}

#[tokio::test]
async fn counting_continues_after_the_highest_id() {
    let play = Play::after(vec![
        step_started(1, None),
        requested("c7"),
        requested("c3"),
        called(),
    ]);
    assert_eq!(play.journal.next_item('t'), "t8");
    assert_eq!(play.journal.next_model_call(), 2);
    let child = play.journal.for_agent(AgentPath::main().child(1));
    assert!(
        child.next_item('c').ends_with(".c1"),
        "each agent counts by itself"
    );
}

#[tokio::test]
async fn a_new_log_is_begun_and_an_old_one_taken_over() {
    for log in [Vec::new(), vec![step_started(1, None), requested("c1")]] {
        let is_new = log.is_empty();
        let (emitter, mut events) = Emitter::channel(100);
        let mut journal = Journal::default();
        for body in log {
            journal.push(&RunEvent {
                run: RunId::generate(),
                seq: 1,
                at: 0,
                agent: AgentPath::main(),
                body,
            });
        }
        let begun = Cell::new(false);
        journal.begin(&emitter, async { begun.set(true) }).await;
        assert_eq!(begun.get(), is_new);
        let first = events.try_recv().ok().map(|emitted| emitted.body);
        assert_eq!(
            first,
            (!is_new).then_some(EventBody::RunResumed { released: false })
        );
        // The call was not completely written, so it is closed.
        let closed = events.try_recv().ok().map(|emitted| emitted.body);
        assert_eq!(
            matches!(closed, Some(EventBody::ToolFinished { .. })),
            !is_new
        );
    }
}
