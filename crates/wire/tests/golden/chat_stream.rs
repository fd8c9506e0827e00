//! `POST /chat/stream`: golden frames, and properties of every log.

use std::collections::HashMap;

use domain::{EventBody, Outcome, RunEvent};
use serde_json::Value;
use sse::Frame;
use wire::chat_stream::{ChatStreamEncoder, ChatStreamOptions, Collected};

use crate::{
    column::{events_up_to, on_every_log, on_every_run, places},
    scenarios,
};

const ARGS: ChatStreamOptions = ChatStreamOptions {
    tool_args_delta: true,
};

fn encode<'a>(
    options: ChatStreamOptions,
    log: impl IntoIterator<Item = &'a RunEvent>,
) -> Vec<Frame> {
    let mut encoder = ChatStreamEncoder::new(options);
    log.into_iter()
        .flat_map(|event| encoder.push(event))
        .collect()
}

/// The number of frames after none, one, two … events.
fn frame_counts(options: ChatStreamOptions, log: &[RunEvent]) -> Vec<usize> {
    let mut encoder = ChatStreamEncoder::new(options);
    let mut counts = vec![0];
    for event in log {
        counts.push(counts[counts.len() - 1] + encoder.push(event).len());
    }
    counts
}

fn sse(frames: &[Frame]) -> String {
    let mut bytes = Vec::new();
    frames.iter().for_each(|frame| frame.write(&mut bytes));
    String::from_utf8(bytes).unwrap()
}

/// Golden files are read by people: long lines are cut.
fn readable(text: &str) -> String {
    let lines = text.lines().map(|line| match line.len() {
        0..2000 => line.to_owned(),
        size => format!("{}… ({size} bytes)", &line[..line.floor_char_boundary(120)]),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn payloads(frames: &[Frame]) -> Vec<Value> {
    frames
        .iter()
        .map(|frame| serde_json::from_str(&frame.data).unwrap())
        .collect()
}

/// The texts a reader shows, by depth.
fn tokens(frames: &[Frame], depth: u64) -> String {
    let of_depth = |frame: Value| {
        (frame["type"] == "token" && frame["data"]["agent_depth"] == depth)
            .then(|| frame["data"]["content"].as_str().unwrap().to_owned())
    };
    payloads(frames).into_iter().filter_map(of_depth).collect()
}

#[test]
fn golden_frames() {
    for (name, log) in scenarios::all() {
        let frames = encode(ChatStreamOptions::default(), &log);
        insta::assert_snapshot!(format!("chat_stream__{name}"), readable(&sse(&frames)));
    }
}

#[test]
fn golden_frames_with_arguments() {
    for (name, log) in scenarios::all() {
        if ["parallel_tools", "approval", "question", "failing_tool"].contains(&name) {
            let frames = encode(ARGS, &log);
            insta::assert_snapshot!(format!("chat_stream_args__{name}"), readable(&sse(&frames)));
        }
    }
}

#[test]
fn golden_collected_answers() {
    for (name, log) in scenarios::all() {
        let mut collected = Collected::default();
        log.iter().for_each(|event| collected.push(event));
        let answer: Value = serde_json::from_str(&collected.to_json()).unwrap();
        let pretty = serde_json::to_string_pretty(&answer).unwrap();
        insta::assert_snapshot!(format!("chat_stream_collected__{name}"), readable(&pretty));
    }
}

#[test]
fn each_call_starts_once_and_before_it_ends() {
    on_every_log(|name, log| {
        for options in [ChatStreamOptions::default(), ARGS] {
            let mut started = Vec::new();
            for frame in payloads(&encode(options, log)) {
                let id = frame["data"]["tool_id"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned();
                match frame["type"].as_str().unwrap() {
                    "tool_start" => {
                        assert!(!started.contains(&id), "{name}: {id} starts twice");
                        started.push(id);
                    }
                    "tool_end" | "approval" | "question" | "agent_start" | "tool_args_delta" => {
                        assert!(started.contains(&id), "{name}: {frame} before the start");
                    }
                    _ => {}
                }
            }
            let calls = log
                .iter()
                .filter(|event| matches!(event.body, EventBody::ToolRequested { .. }))
                .count();
            assert_eq!(started.len(), calls, "{name}");
        }
    });
}

#[test]
fn agents_and_calls_end_and_done_is_the_end() {
    on_every_log(|name, log| {
        let frames = payloads(&encode(ChatStreamOptions::default(), log));
        let mut agents = HashMap::new();
        let mut ended = 0;
        for frame in &frames {
            let data = &frame["data"];
            let agent = || data["agent_id"].as_str().unwrap().to_owned();
            match frame["type"].as_str().unwrap() {
                "agent_start" => assert_eq!(agents.insert(agent(), true), None, "{name}: {frame}"),
                "agent_end" => {
                    assert_eq!(agents.insert(agent(), false), Some(true), "{name}: {frame}")
                }
                "tool_end" => ended += 1,
                _ => {}
            }
        }
        assert!(agents.values().all(|going| !going), "{name}: {agents:?}");
        let count = |is: fn(&EventBody) -> bool| log.iter().filter(|event| is(&event.body)).count();
        assert_eq!(
            agents.len(),
            count(|body| matches!(body, EventBody::AgentStarted { .. })),
            "{name}"
        );
        assert_eq!(
            ended,
            count(|body| matches!(body, EventBody::ToolFinished { .. })),
            "{name}"
        );
        let of = |kind: &str| frames.iter().filter(|frame| frame["type"] == kind).count();
        assert_eq!(
            (of("done"), &frames[frames.len() - 1]["type"]),
            (1, &"done".into()),
            "{name}"
        );
        let failed = count(|body| {
            matches!(
                body,
                EventBody::RunFinished {
                    outcome: Outcome::Failed,
                    ..
                }
            )
        });
        assert_eq!(of("error"), failed, "{name}");
    });
}

#[test]
fn a_replay_without_deltas_shows_the_same_text() {
    let is_same = |name: &str, log: &[RunEvent], depth: u64| {
        let whole = encode(ChatStreamOptions::default(), log);
        let replay = log.iter().filter(|event| !event.body.is_delta());
        let short = encode(ChatStreamOptions::default(), replay);
        assert_eq!(
            tokens(&short, depth),
            tokens(&whole, depth),
            "{name}, depth {depth}"
        );
    };
    on_every_log(|name, log| is_same(name, log, 0));
    // Concurrent agents of one depth cannot be told apart here, and come in the order of their deltas.
    on_every_run(|name, log| (1..=3).for_each(|depth| is_same(name, log, depth)));
}

#[test]
fn a_reader_can_come_back_after_any_event() {
    on_every_log(|name, log| {
        for options in [ChatStreamOptions::default(), ARGS] {
            let whole = encode(options, log);
            let counts = frame_counts(options, log);
            for cut in places(name, log.len()) {
                let mut encoder = ChatStreamEncoder::new(options);
                log[..cut].iter().for_each(|event| encoder.prime(event));
                let rest: Vec<Frame> = log[cut..]
                    .iter()
                    .flat_map(|event| encoder.push(event))
                    .collect();
                assert!(rest == whole[counts[cut]..], "{name} after {cut}");
            }
        }
    });
}

/// A reader cut off after any frame that resumes with its id misses none of the frames.
#[test]
fn an_id_never_promises_more_than_was_sent() {
    on_every_log(|name, log| {
        let whole = encode(ChatStreamOptions::default(), log);
        let counts = frame_counts(ChatStreamOptions::default(), log);
        for (at, frame) in whole.iter().enumerate() {
            let after = events_up_to(log, frame.id.unwrap());
            assert!(
                counts[after] <= at + 1,
                "{name}: frame {at} with id {after}"
            );
        }
        assert!(whole.is_sorted_by_key(|frame| frame.id), "{name}");
    });
}

#[test]
fn no_text_can_break_out_of_its_frame() {
    on_every_log(|name, log| {
        for frame in encode(ARGS, log) {
            assert!(
                !frame.data.contains(['\n', '\r', '\0']),
                "{name}: {}",
                frame.data
            );
        }
    });
}
