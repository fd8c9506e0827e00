//! `POST /v1/chat/completions` for agents: golden chunks, properties of every log, and our own client as reader.

use std::collections::BTreeMap;

use domain::{EventBody, Outcome, RunEvent};
use provider::openai::{Chunk, DONE};
use serde_json::Value;
use sse::Frame;
use wire::openai::{Completion, CompletionEncoder, CompletionOptions};

use crate::{
    column::{assert_resumes, encode, on_every_log, readable},
    scenarios,
};

fn encoder(extras: bool) -> CompletionEncoder {
    let model = "glasshouse/agent".to_owned();
    CompletionEncoder::new(CompletionOptions {
        model,
        include_usage: true,
        extras,
        sources: true,
        numbered: true,
    })
}

/// The final state of a reader of OpenAI's format.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    text: String,
    reasoning: String,
    /// Name and arguments by index.
    calls: BTreeMap<u64, (String, String, String)>,
    reason: Option<String>,
    error: Option<String>,
    done: bool,
}

fn read(frames: &[Frame]) -> Seen {
    let mut seen = Seen::default();
    for frame in frames {
        assert!(
            !seen.done && seen.error.is_none(),
            "nothing follows the end"
        );
        if frame.data == DONE {
            seen.done = true;
            continue;
        }
        let chunk = Chunk::decode(&frame.data).unwrap();
        assert!(
            seen.reason.is_none()
                || chunk
                    == Chunk {
                        usage: chunk.usage,
                        ..Chunk::default()
                    }
        );
        seen.text.push_str(&chunk.content);
        seen.reasoning.push_str(&chunk.reasoning);
        for piece in chunk.calls {
            let index = piece.index.unwrap();
            if let (Some(id), Some(name)) = (piece.id, piece.name) {
                let before = seen
                    .calls
                    .insert(index, (id.into(), name.into(), String::new()));
                assert_eq!(before, None, "each call starts once");
            }
            seen.calls
                .get_mut(&index)
                .unwrap()
                .2
                .push_str(&piece.arguments);
        }
        seen.reason = seen.reason.or(chunk.finish_reason.map(Into::into));
        seen.error = chunk.error.map(|error| error.message);
    }
    seen
}

fn chunks(frames: &[Frame]) -> Vec<Value> {
    let chunks = frames.iter().filter(|frame| frame.data != DONE);
    chunks
        .map(|frame| serde_json::from_str(&frame.data).unwrap())
        .collect()
}

#[test]
fn golden_chunks() {
    for (name, log) in scenarios::all() {
        insta::assert_snapshot!(
            format!("openai__{name}"),
            readable(&encode(encoder(false), &log))
        );
    }
}

#[test]
fn golden_chunks_with_extras() {
    for (name, log) in scenarios::all() {
        insta::assert_snapshot!(
            format!("openai_extras__{name}"),
            readable(&encode(encoder(true), &log))
        );
    }
}

fn collected(log: &[RunEvent]) -> Result<Value, domain::Problem> {
    let mut completion = Completion::new("glasshouse/agent".to_owned());
    log.iter().for_each(|event| completion.push(event));
    completion.finish()
}

#[test]
fn golden_collected_answers() {
    for (name, log) in scenarios::all() {
        let answer = match collected(&log) {
            Ok(answer) => serde_json::to_string_pretty(&answer).unwrap(),
            Err(problem) => format!("{}: {:?}", problem.code.as_str(), problem.message),
        };
        insta::assert_snapshot!(format!("openai_collected__{name}"), answer);
    }
}

/// Streaming and other readers get the same, with or without extras, with or without deltas.
#[test]
fn all_readers_see_the_same() {
    on_every_log(|name, log| {
        let plain = read(&encode(encoder(false), log));
        assert_eq!(
            read(&encode(encoder(true), log)),
            plain,
            "{name} with extras"
        );
        let replay: Vec<&RunEvent> = log.iter().filter(|event| !event.body.is_delta()).collect();
        assert_eq!(
            read(&encode(encoder(false), replay)),
            plain,
            "{name} without deltas"
        );
        let Ok(answer) = collected(log) else {
            assert!(plain.error.is_some() && !plain.done, "{name}");
            return;
        };
        let choice = &answer["choices"][0];
        assert_eq!(
            choice["finish_reason"].as_str(),
            plain.reason.as_deref(),
            "{name}"
        );
        assert_eq!(
            choice["message"]["content"].as_str().unwrap_or_default(),
            plain.text,
            "{name}"
        );
        let reasoning = &choice["message"]["reasoning_content"];
        assert_eq!(
            reasoning.as_str().unwrap_or_default(),
            plain.reasoning,
            "{name}"
        );
        let empty = Vec::new();
        let calls = choice["message"]["tool_calls"].as_array().unwrap_or(&empty);
        assert_eq!(calls.len(), plain.calls.len(), "{name}");
        for (call, (id, tool, arguments)) in calls.iter().zip(plain.calls.values()) {
            assert_eq!(
                (call["id"].as_str(), call["type"].as_str()),
                (Some(&**id), Some("function"))
            );
            assert_eq!(call["function"]["name"].as_str(), Some(&**tool));
            assert_eq!(call["function"]["arguments"].as_str(), Some(&**arguments));
        }
        assert!(plain.done, "{name}");
    });
}

/// Our own client reads our own server: it receives the content of the log.
#[test]
fn our_client_reads_the_content_of_the_log() {
    on_every_log(|name, log| {
        let mut texts = Vec::new();
        let mut thoughts = Vec::new();
        let mut calls = Vec::new();
        for event in log.iter().filter(|event| event.agent.is_main()) {
            match &event.body {
                EventBody::TextFinished { text, .. } if !text.is_empty() => {
                    texts.push(text.as_str())
                }
                EventBody::ReasoningFinished { text, .. } if !text.is_empty() => {
                    thoughts.push(text.as_str())
                }
                EventBody::ToolHandedOver {
                    name, arguments, ..
                } => calls.push((name, arguments)),
                _ => {}
            }
        }
        let heard = read(&encode(encoder(true), log));
        assert_eq!(
            heard.text,
            texts.join("\n\n").replace('\0', "\u{FFFD}"),
            "{name}"
        );
        assert_eq!(
            heard.reasoning,
            thoughts.join("\n\n").replace('\0', "\u{FFFD}"),
            "{name}"
        );
        assert_eq!(heard.calls.len(), calls.len(), "{name}");
        for ((_, tool, text), (expected, arguments)) in heard.calls.values().zip(calls) {
            assert_eq!(
                (tool, &domain::message::arguments_value(text)),
                (expected, arguments),
                "{name}"
            );
        }
    });
}

#[test]
fn the_end_tells_how_the_run_ended() {
    on_every_log(|name, log| {
        let Some(EventBody::RunFinished { outcome, .. }) = log.last().map(|event| &event.body)
        else {
            return;
        };
        let expected = match outcome {
            Outcome::Completed | Outcome::Cancelled => Some("stop"),
            Outcome::Limited => Some("length"),
            Outcome::HandedOver => Some("tool_calls"),
            Outcome::Failed => None,
        };
        let seen = read(&encode(encoder(false), log));
        assert_eq!(seen.reason.as_deref(), expected, "{name}");
        assert_eq!(
            !seen.calls.is_empty(),
            *outcome == Outcome::HandedOver,
            "{name}"
        );
    });
}

#[test]
fn the_first_chunk_names_the_speaker_and_all_have_one_id() {
    on_every_log(|name, log| {
        let chunks = chunks(&encode(encoder(true), log));
        assert_eq!(
            chunks[0]["choices"][0]["delta"]["role"], "assistant",
            "{name}"
        );
        for chunk in chunks.iter().filter(|chunk| chunk["error"].is_null()) {
            assert_eq!(chunk["object"], "chat.completion.chunk", "{name}");
            assert_eq!(chunk["id"], chunks[0]["id"], "{name}");
            assert!(chunk["choices"].is_array(), "{name}: {chunk}");
        }
    });
}

/// Open WebUI would execute an unanswered call, and keep a status that is not hidden.
#[test]
fn extras_close_all_rows() {
    on_every_log(|name, log| {
        let mut open = Vec::new();
        let mut shown = false;
        let mut thought = None;
        for chunk in chunks(&encode(encoder(true), log)) {
            let item = &chunk["item"];
            let call = item["call_id"].as_str().unwrap_or_default().to_owned();
            match (chunk["type"].as_str(), item["type"].as_str()) {
                (Some("response.output_item.done"), Some("reasoning")) => {
                    assert_eq!(
                        thought.take(),
                        Some(item["id"].clone()),
                        "{name}: a row closes once"
                    );
                }
                (Some("response.output_item.added"), _) if thought.is_some() => {
                    panic!("{name}: {item} before the row of reasoning was closed");
                }
                (Some("response.output_item.added"), Some("reasoning")) => {
                    thought = Some(item["id"].clone())
                }
                (Some("status"), _) => {
                    assert_eq!(chunk["event"]["data"], chunk["data"], "{name}");
                    shown = chunk["data"]["done"] == false;
                }
                (Some("response.output_item.added"), Some("function_call")) => {
                    assert_eq!(item["status"], "completed", "{name}");
                    assert!(!open.contains(&call), "{name}: a call with two rows");
                    open.push(call);
                }
                (Some("response.output_item.added"), Some("function_call_output")) => {
                    assert!(item["output"].is_array(), "{name}");
                    assert!(open.contains(&call), "{name}: a result without its call");
                    open.retain(|other| *other != call);
                }
                _ => {}
            }
            let said = chunk["choices"][0]["delta"]["content"]
                .as_str()
                .unwrap_or_default();
            assert!(
                said.is_empty() || !shown,
                "{name}: the status still shows beside the answer"
            );
        }
        assert!(
            open.is_empty() && !shown && thought.is_none(),
            "{name}: {open:?} {thought:?}"
        );
    });
}

/// Open WebUI puts a finished item in place of its last one, and reasoning into the last row of reasoning.
#[test]
fn a_finished_row_is_the_last_one() {
    on_every_log(|name, log| {
        let mut last = String::new();
        for chunk in chunks(&encode(encoder(true), log)) {
            let delta = &chunk["choices"][0]["delta"];
            let id = chunk["item"]["id"].as_str().unwrap_or_default();
            match chunk["type"].as_str() {
                Some("response.output_item.added") => last = id.to_owned(),
                Some("response.output_item.done") => assert_eq!(last, id, "{name}"),
                _ if delta["reasoning_content"].is_string() => {
                    assert!(
                        last.starts_with("rs_"),
                        "{name}: reasoning without a row of its own"
                    );
                }
                _ if delta["content"]
                    .as_str()
                    .is_some_and(|text| !text.is_empty()) =>
                {
                    last.clear()
                }
                _ => {}
            }
        }
    });
}

#[test]
fn a_reader_can_come_back_after_any_event() {
    on_every_log(|name, log| {
        for extras in [false, true] {
            assert_resumes(name, log, || encoder(extras));
        }
    });
}

#[test]
fn statuses_are_limited_to_one_per_100_ms() {
    let log = scenarios::all()
        .into_iter()
        .find(|(name, _)| *name == "sub_agents")
        .unwrap()
        .1;
    let mut encoder = encoder(true);
    let mut times = Vec::new();
    for event in &log {
        for chunk in chunks(&encoder.push(event)) {
            if chunk["type"] == "status" && chunk["data"]["done"] == false {
                times.push(event.at);
            }
        }
    }
    assert!(
        times.len() > 1 && times.windows(2).all(|pair| pair[1] - pair[0] >= 100),
        "{times:?}"
    );
}

#[test]
fn a_held_back_status_can_be_had() {
    let log = scenarios::all()
        .into_iter()
        .find(|(name, _)| *name == "sub_agents")
        .unwrap()
        .1;
    let mut encoder = encoder(true);
    let held = log.iter().position(|event| {
        encoder.push(event);
        encoder.holds_back()
    });
    assert!(held.is_some());
    let frame = encoder.flush().unwrap();
    assert!(
        frame.id.is_none() && frame.data.contains("Writer"),
        "{}",
        frame.data
    );
    assert!(!encoder.holds_back() && encoder.flush().is_none());
}
