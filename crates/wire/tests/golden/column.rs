//! Properties that every resumable encoder must have.

use domain::RunEvent;
use proptest::{
    strategy::Strategy,
    test_runner::{Config, TestRunner},
};
use serde_json::Value;
use sse::Frame;

use crate::{
    any_log::{any_log, any_run},
    scenarios,
};

/// The name of a generated log.
pub(crate) const ANY_LOG: &str = "any log";

/// An encoder.
pub(crate) trait Column {
    fn prime(&mut self, event: &RunEvent);
    fn push(&mut self, event: &RunEvent) -> Vec<Frame>;
}

macro_rules! columns {
    ($($encoder:ty),+ $(,)?) => {$(
        impl Column for $encoder {
            fn prime(&mut self, event: &RunEvent) {
                <$encoder>::prime(self, event);
            }
            fn push(&mut self, event: &RunEvent) -> Vec<Frame> {
                <$encoder>::push(self, event)
            }
        }
    )+};
}

columns!(
    wire::openai::CompletionEncoder,
    wire::responses::ResponseEncoder,
    wire::tool_calls::ToolCallsEncoder,
    wire::markup::MarkupEncoder,
    wire::details::DetailsEncoder,
    wire::ui_message_stream::UiMessageEncoder,
);

pub(crate) fn encode<'a>(
    mut column: impl Column,
    log: impl IntoIterator<Item = &'a RunEvent>,
) -> Vec<Frame> {
    log.into_iter()
        .flat_map(|event| column.push(event))
        .collect()
}

pub(crate) fn payloads(frames: &[Frame]) -> Vec<Value> {
    frames
        .iter()
        .map(|frame| serde_json::from_str(&frame.data).unwrap())
        .collect()
}

/// The stream in readable form: long lines are cut.
pub(crate) fn readable(frames: &[Frame]) -> String {
    let mut bytes = Vec::new();
    frames.iter().for_each(|frame| frame.write(&mut bytes));
    let text = String::from_utf8(bytes).unwrap();
    let lines = text.lines().map(|line| match line.len() {
        0..2000 => line.to_owned(),
        size => format!("{}… ({size} bytes)", &line[..line.floor_char_boundary(120)]),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A reader may disconnect after any event or frame, resume with the last id, and have everything; and no text breaks
/// out of its frame.
pub(crate) fn assert_resumes<C: Column>(name: &str, log: &[RunEvent], make: impl Fn() -> C) {
    let mut column = make();
    let mut counts = vec![0];
    let mut whole = Vec::new();
    for event in log {
        whole.extend(column.push(event));
        counts.push(whole.len());
    }
    for cut in places(name, log.len()) {
        let mut column = make();
        log[..cut].iter().for_each(|event| column.prime(event));
        let rest: Vec<Frame> = log[cut..]
            .iter()
            .flat_map(|event| column.push(event))
            .collect();
        assert!(rest == whole[counts[cut]..], "{name} after event {cut}");
    }
    assert!(whole.is_sorted_by_key(|frame| frame.id), "{name}");
    for (at, frame) in whole.iter().enumerate() {
        let after = events_up_to(log, frame.id.unwrap());
        assert!(
            counts[after] <= at + 1,
            "{name}: frame {at} with id {after} promises too much"
        );
        assert!(
            !frame.data.contains(['\n', '\r', '\0']),
            "{name}: {}",
            frame.data
        );
    }
}

/// How many events of the log have this number or a lower one.
pub(crate) fn events_up_to(log: &[RunEvent], seq: u64) -> usize {
    log.partition_point(|event| event.seq <= seq)
}

/// Where to cut: everywhere, but only at some places of generated logs, since there are many.
pub(crate) fn places(name: &str, length: usize) -> impl Iterator<Item = usize> {
    (0..=length).step_by(if name == ANY_LOG { 1 + length / 12 } else { 1 })
}

/// Checks a property on every scenario, and on any lawful log.
pub(crate) fn on_every_log(rule: impl Fn(&str, &[RunEvent])) {
    ask(any_log(), rule);
}

/// Checks a property on every scenario, and on any log that our own loop could write: for formats of one text, which
/// can show concurrent items in one order only.
pub(crate) fn on_every_run(rule: impl Fn(&str, &[RunEvent])) {
    ask(any_run(), rule);
}

fn ask(logs: impl Strategy<Value = Vec<RunEvent>>, rule: impl Fn(&str, &[RunEvent])) {
    for (name, log) in scenarios::all() {
        rule(name, &log);
    }
    // A quarter of proptest's default or `PROPTEST_CASES`: a log is long.
    let cases = Config::default().cases / 4;
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let asked = TestRunner::new(config).run(&logs, |log| {
        rule(ANY_LOG, &log);
        Ok(())
    });
    assert!(asked.is_ok(), "{}", asked.unwrap_err());
}
