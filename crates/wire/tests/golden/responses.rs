//! `POST /v1/responses`: golden events, the order that its readers require, and the accumulated response.

use domain::{EventBody, Outcome, RunEvent, event::seq_after_restart};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sse::Frame;
use wire::responses::{ResponseEncoder, ResponseOptions, conversation};

use crate::{
    any_log::any_log,
    column::{assert_resumes, encode, on_every_log, payloads, places, readable},
    scenarios,
};

/// The request's echo: the caller runs `weather` itself.
fn echo() -> Map<String, Value> {
    let mut echo = ResponseOptions::watching().echo;
    echo["tools"] =
        json!([{"type": "function", "name": "weather", "parameters": {"type": "object"}}]);
    echo
}

fn encoder(starting_after: Option<u64>) -> ResponseEncoder {
    ResponseEncoder::new(ResponseOptions {
        echo: echo(),
        starting_after,
        with_ids: true,
    })
}

/// The response after these events.
fn response<'a>(log: impl IntoIterator<Item = &'a RunEvent>) -> Value {
    let mut encoder = encoder(None);
    log.into_iter().for_each(|event| encoder.prime(event));
    encoder.response()
}

#[test]
fn golden_events() {
    for (name, log) in scenarios::all() {
        insta::assert_snapshot!(
            format!("responses__{name}"),
            readable(&encode(encoder(None), &log))
        );
    }
}

#[test]
fn golden_responses() {
    for (name, log) in scenarios::all() {
        let mut response = response(&log);
        let fields = response.as_object_mut().unwrap();
        // The repeated request fields are the same everywhere.
        echo().keys().for_each(|name| _ = fields.shift_remove(name));
        let text = serde_json::to_string_pretty(&response).unwrap();
        let text: Vec<&str> = text
            .lines()
            .map(|line| &line[..line.floor_char_boundary(200)])
            .collect();
        insta::assert_snapshot!(format!("responses_collected__{name}"), text.join("\n"));
    }
}

/// An item accumulated by a reader from the events.
#[derive(Default)]
struct Item {
    kind: String,
    id: Value,
    parts: usize,
    /// The accumulated deltas, and the final text.
    text: String,
    whole: Option<String>,
    done: Option<Value>,
}

/// Numbers have no gaps except at a restart of the server: then they increase by more than this.
const A_JUMP: u64 = 900_000;

/// Reads a stream at least as strictly as OpenAI's packages.
fn read(frames: &[Frame]) -> Value {
    let events = payloads(frames);
    let (mut items, mut end, mut next) = (Vec::<Item>::new(), None, 0);
    for (at, (frame, event)) in frames.iter().zip(&events).enumerate() {
        let kind = event["type"].as_str().unwrap();
        assert_eq!(frame.event, Some(kind));
        let number = event["sequence_number"].as_u64().unwrap();
        assert!(number == next || number > next + A_JUMP, "{event}");
        next = number + 1;
        assert!(end.is_none(), "{event} after the end");
        let index = || usize::try_from(event["output_index"].as_u64().unwrap()).unwrap();
        match kind {
            "response.created" | "response.in_progress" => {
                assert_eq!(at, usize::from(kind == "response.in_progress"));
                assert_eq!(event["response"]["status"], "in_progress");
                continue;
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                end = Some(event["response"].clone());
                continue;
            }
            "response.output_item.added" => {
                assert_eq!(index(), items.len(), "{event}");
                assert_eq!(event["item"]["status"], "in_progress");
                let kind = event["item"]["type"].as_str().unwrap().to_owned();
                let id = event["item"]["id"].clone();
                items.push(Item {
                    kind,
                    id,
                    ..Item::default()
                });
                continue;
            }
            _ => {}
        }
        let item = &mut items[index()];
        assert!(item.done.is_none(), "{event} after its item was done");
        if kind == "response.output_item.done" {
            let done = &event["item"];
            assert_eq!((&done["type"], &done["id"]), (&json!(item.kind), &item.id));
            assert_ne!(done["status"], "in_progress");
            item.done = Some(done.clone());
            continue;
        }
        assert_eq!(event["item_id"], item.id, "{event}");
        let of = |kind: &str| match kind {
            kind if kind.contains("function_call") => "function_call",
            kind if kind.contains("mcp_call") => "mcp_call",
            kind if kind.contains("reasoning") => "reasoning",
            _ => "message",
        };
        assert_eq!(item.kind, of(kind), "{event}");
        let has_part = item.parts == 1 || item.kind.ends_with("_call");
        match kind.rsplit_once('.').unwrap() {
            ("response.content_part" | "response.reasoning_summary_part", "added") => {
                item.parts += 1
            }
            ("response.content_part" | "response.reasoning_summary_part", "done") => {
                assert_eq!(
                    event["part"]["text"].as_str(),
                    item.whole.as_deref(),
                    "{event}"
                );
            }
            (_, "delta") => {
                assert!(has_part && item.whole.is_none(), "{event}");
                let delta = event["delta"].as_str().unwrap();
                assert_ne!(delta, "");
                item.text.push_str(delta);
            }
            ("response.output_text.annotation", "added") | ("response.mcp_call", _) => {}
            (_, "done") => {
                let whole = event["text"]
                    .as_str()
                    .or(event["arguments"].as_str())
                    .unwrap();
                assert!(has_part && item.text == whole, "{event}");
                assert_eq!(item.whole.replace(whole.to_owned()), None);
            }
            _ => assert_eq!(kind, "an event of the format", "{event}"),
        }
    }
    let end = end.unwrap();
    let done: Vec<Value> = items.into_iter().map(|item| item.done.unwrap()).collect();
    assert_eq!(
        end["output"],
        json!(done),
        "the response holds the items that were shown"
    );
    end
}

#[test]
fn events_come_in_order_and_add_up() {
    on_every_log(|name, log| {
        let end = read(&encode(encoder(None), log));
        assert_eq!(end, response(log), "{name}");
        let replay: Vec<&RunEvent> = log.iter().filter(|event| !event.body.is_delta()).collect();
        assert_eq!(
            read(&encode(encoder(None), replay)),
            end,
            "{name} without deltas"
        );
    });
}

#[test]
fn the_end_tells_how_the_run_ended() {
    on_every_log(|name, log| {
        let Some(EventBody::RunFinished { outcome, .. }) = log.last().map(|event| &event.body)
        else {
            return;
        };
        let end = response(log);
        let status = match outcome {
            Outcome::Completed | Outcome::HandedOver => "completed",
            Outcome::Cancelled => "cancelled",
            Outcome::Limited => "incomplete",
            Outcome::Failed => "failed",
        };
        assert_eq!(end["status"], status, "{name}");
        assert_eq!(
            end["error"].is_null(),
            *outcome != Outcome::Failed,
            "{name}"
        );
        let calls = end["output"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|item| item["type"] == "function_call");
        let expected = log
            .iter()
            .filter(|event| matches!(event.body, EventBody::ToolHandedOver { .. }));
        assert_eq!(
            calls.count(),
            expected.count(),
            "{name}: only the caller's own tools are its to run"
        );
        let items = |kind: &str| {
            let output = end["output"].as_array().unwrap().iter();
            output.filter(|item| item["type"] == kind).count()
        };
        let of_main = |is: fn(&EventBody) -> bool| {
            log.iter()
                .filter(|event| event.agent.is_main() && is(&event.body))
                .count()
        };
        let texts = of_main(|body| matches!(body, EventBody::TextStarted { .. }));
        let thoughts = of_main(|body| matches!(body, EventBody::ReasoningStarted { .. }));
        let reasoning: Vec<&Value> = end["output"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|item| item["type"] == "reasoning")
            .collect();
        let is_sealed_alone = |item: &&&Value| item["id"].as_str().unwrap().contains("_p");
        let alone = reasoning.iter().filter(is_sealed_alone).count();
        assert_eq!(
            (items("message"), reasoning.len() - alone),
            (texts, thoughts),
            "{name}: the main agent's only"
        );
        let sealed = reasoning
            .iter()
            .filter(|item| item["encrypted_content"].is_string())
            .count();
        let data = of_main(|body| matches!(body, EventBody::ProviderData(_)));
        assert_eq!(sealed, data, "{name}: all that the provider wants back");
    });
}

/// The output is accepted as input.
#[test]
fn the_output_is_an_input() {
    for (name, log) in scenarios::all() {
        let output = response(&log)["output"].as_array().unwrap().clone();
        // Texts with NUL are rejected by every API.
        assert_eq!(
            conversation(&output).is_ok(),
            name != "hostile_text",
            "{name}"
        );
    }
}

#[test]
fn a_broken_stream_is_reported_without_a_number() {
    let (_, log) = scenarios::all().swap_remove(0);
    let mut encoder = encoder(None);
    let sent: usize = log[..4].iter().map(|event| encoder.push(event).len()).sum();
    let frame = encoder.broken_off("Gone.");
    let error: Value = serde_json::from_str(&frame.data).unwrap();
    assert_eq!(
        error,
        json!({"type": "error", "sequence_number": sent - 1, "code": "unavailable", "message": "Gone.", "param": null})
    );
}

#[test]
fn sources_are_citations() {
    let (_, log) = scenarios::all()
        .into_iter()
        .find(|(name, _)| *name == "sources")
        .unwrap();
    let found = &response(&log)["output"][0]["content"][0]["annotations"];
    assert_eq!(
        *found,
        json!([{"type": "url_citation", "start_index": 9, "end_index": 12, "url": "https://example.com/", "title": "A page"}])
    );
}

/// At each position of the stream: exactly the rest.
#[test]
fn a_reader_resumes_at_exactly_the_next_number() {
    on_every_log(|name, log| {
        let whole = encode(encoder(None), log);
        for after in places(name, whole.len() - 1) {
            let had = payloads(&whole[after..=after])[0]["sequence_number"].as_u64();
            let rest = encode(encoder(had), log);
            assert_eq!(
                payloads(&rest),
                payloads(&whole[after + 1..]),
                "{name} after {after}"
            );
        }
    });
}

/// Readers have seen deltas that were not stored when the server died: later events have other numbers.
#[test]
fn lost_events_keep_their_numbers() {
    let (_, log) = scenarios::all()
        .into_iter()
        .find(|(name, _)| *name == "plain")
        .unwrap();
    let first = log.iter().position(|event| event.body.is_delta()).unwrap();
    let lost = log[first..]
        .iter()
        .take_while(|event| event.body.is_delta())
        .count();
    assert!(lost > 1);
    let seen = encode(encoder(None), &log[..first + lost]);
    let mut stored = log[..=first].to_vec();
    let restarted = seq_after_restart(log[first].seq);
    let rest = log[first + lost..].iter().zip(restarted..);
    stored.extend(rest.map(|(event, seq)| RunEvent {
        seq,
        ..event.clone()
    }));

    let whole = payloads(&encode(encoder(None), &stored));
    let number = |frame: &Value| frame["sequence_number"].as_u64().unwrap();
    let had = number(payloads(&seen).last().unwrap());
    let after = payloads(&encode(encoder(Some(had)), &stored));
    let kept = encode(encoder(None), &stored[..=first]).len();
    assert_eq!(
        after,
        whole[kept..],
        "all that comes after the crash, and nothing else"
    );
    assert!(
        number(&after[0]) > had && after.is_sorted_by_key(number),
        "{after:?}"
    );
}

#[test]
fn a_reader_can_come_back_after_any_event() {
    on_every_log(|name, log| {
        assert_resumes(name, log, || encoder(None));
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The reader's rules hold for any run, and streaming and other callers see the same.
    #[test]
    fn any_lawful_log_keeps_the_rules(log in any_log()) {
        let end = read(&encode(encoder(None), &log));
        prop_assert_eq!(&end, &response(&log));
        // All calls are the caller's: those that were handed over are to be run, and no others.
        let mut echo = echo();
        echo["tools"][0]["name"] = json!("tool");
        let all_theirs =
            ResponseEncoder::new(ResponseOptions { echo, starting_after: None, with_ids: false });
        let theirs = read(&encode(all_theirs, &log));
        let handed_over = log.iter().filter(|event| matches!(event.body, EventBody::ToolHandedOver { .. }));
        let output = theirs["output"].as_array().unwrap().iter();
        let to_run = output.filter(|item| item["type"] == "function_call" && item["status"] != "incomplete");
        prop_assert_eq!(to_run.count(), handed_over.count());
        let mut half = encoder(None);
        for event in &log {
            half.prime(event);
            prop_assert!(half.response()["output"].is_array());
        }
    }
}
