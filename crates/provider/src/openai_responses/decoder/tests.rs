//! Streams and bodies of all kinds through the decoder.

use serde_json::json;

use super::*;
use crate::DataPart;

fn read(events: &[Value]) -> Result<Vec<AnswerEvent>, AnswerError> {
    let mut decoder = ResponsesDecoder::new();
    let mut out = Vec::new();
    for event in events {
        decoder.event(event["type"].as_str(), &event.to_string(), &mut out)?;
    }
    decoder.end(&mut out)?;
    Ok(out)
}

fn added(at: u64, item: &Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": at, "item": item})
}

fn done(at: u64, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": at, "item": item})
}

fn delta(kind: &str, at: u64, delta: &str) -> Value {
    json!({"type": format!("response.{kind}.delta"), "output_index": at, "delta": delta})
}

fn over(kind: &str, response: &Value) -> Value {
    json!({"type": format!("response.{kind}"), "response": response})
}

fn completed() -> Value {
    over("completed", &json!({"status": "completed", "output": []}))
}

fn message(text: &str) -> Value {
    json!({"type": "message", "id": "msg", "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn text(text: &str) -> AnswerEvent {
    AnswerEvent::Text(text.to_owned())
}

fn data(part: DataPart, data: Value) -> AnswerEvent {
    AnswerEvent::Data { part, data }
}

fn finished(reason: StopReason) -> AnswerEvent {
    AnswerEvent::Finished {
        reason,
        usage: None,
    }
}

fn call(index: usize, id: &str, name: &str) -> AnswerEvent {
    AnswerEvent::CallStarted {
        index,
        id: id.to_owned(),
        name: name.to_owned(),
    }
}

fn arguments(index: usize, delta: &str) -> AnswerEvent {
    AnswerEvent::Arguments {
        index,
        delta: delta.to_owned(),
    }
}

#[test]
fn missing_deltas_come_with_the_item_or_response() {
    let expected = [
        text("hello"),
        data(DataPart::Text, json!({"id": "msg"})),
        finished(StopReason::Stop),
    ];
    let joined = |events: &[Value]| {
        let events = read(events).unwrap();
        let words: String = events
            .iter()
            .filter_map(|it| match it {
                AnswerEvent::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        (words, events[events.len() - 2..].to_vec())
    };
    for events in [
        vec![
            added(0, &message("")),
            done(0, &message("hello")),
            completed(),
        ],
        vec![done(0, &message("hello")), completed()],
        vec![
            delta("output_text", 0, "hel"),
            done(0, &message("hello")),
            completed(),
        ],
        vec![over(
            "completed",
            &json!({"status": "completed", "output": [message("hello")]}),
        )],
        vec![
            added(0, &message("")),
            delta("output_text", 0, "he"),
            over(
                "completed",
                &json!({"status": "completed", "output": [message("hello")]}),
            ),
        ],
    ] {
        assert_eq!(
            joined(&events),
            ("hello".to_owned(), expected[1..].to_vec()),
            "{events:?}"
        );
    }
}

#[test]
fn parallel_calls_keep_their_order() {
    let item = |id: &str, arguments: &str| json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "ls", "arguments": arguments});
    let events = read(&[
        added(0, &item("a", "")),
        added(1, &item("b", "")),
        delta("function_call_arguments", 1, "{\"p\":"),
        delta("function_call_arguments", 0, "{}"),
        delta("function_call_arguments", 1, "1}"),
        done(1, &item("b", "{\"p\":1}")),
        done(0, &item("a", "{}")),
        completed(),
    ]);
    let id = |id: &str| json!({"id": format!("fc_{id}")});
    assert_eq!(
        events.unwrap(),
        [
            call(0, "a", "ls"),
            arguments(0, "{}"),
            data(DataPart::Call(0), id("a")),
            call(1, "b", "ls"),
            arguments(1, "{\"p\":"),
            arguments(1, "1}"),
            data(DataPart::Call(1), id("b")),
            finished(StopReason::ToolCalls),
        ]
    );
}

#[test]
fn text_waits_for_the_reasoning_before_it() {
    let reasoning =
        json!({"type": "reasoning", "id": "rs", "encrypted_content": "gAAA", "summary": []});
    let events = read(&[
        added(0, &reasoning),
        added(1, &message("")),
        delta("output_text", 1, "hi"),
        done(0, &reasoning),
        delta("output_text", 1, "!"),
        done(1, &message("hi!")),
        completed(),
    ]);
    let kept = json!({"id": "rs", "encrypted_content": "gAAA", "summary": []});
    assert_eq!(
        events.unwrap(),
        [
            data(DataPart::Reasoning, kept),
            text("hi"),
            text("!"),
            data(DataPart::Text, json!({"id": "msg"})),
            finished(StopReason::Stop),
        ]
    );
}

#[test]
fn calls_that_are_written_otherwise() {
    let whole = |item: Value| {
        let mut out = Vec::new();
        let body = json!({"status": "completed", "output": [item]}).to_string();
        ResponsesDecoder::new().whole(&body, &mut out).unwrap();
        out
    };
    let custom = json!({"type": "custom_tool_call", "id": "ctc", "call_id": "c", "name": "patch", "input": "*** Begin"});
    let end = finished(StopReason::ToolCalls);
    assert_eq!(
        whole(custom),
        [
            call(0, "c", "patch"),
            arguments(0, "*** Begin"),
            data(DataPart::Call(0), json!({"id": "ctc", "custom": true})),
            end.clone(),
        ]
    );
    let object = json!({"type": "function_call", "name": "ls", "arguments": {"p": 1}});
    assert_eq!(
        whole(object),
        [
            call(0, "call_0", "ls"),
            arguments(0, r#"{"p":1}"#),
            end.clone()
        ]
    );
    let nameless = json!({"type": "function_call", "call_id": "c", "arguments": "{}"});
    assert_eq!(whole(nameless), [call(0, "c", ""), arguments(0, "{}"), end]);
}

#[test]
fn why_it_ended() {
    let reason = |response: Value| match read(&[over("incomplete", &response)]).unwrap().pop() {
        Some(AnswerEvent::Finished { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    let incomplete = |why: &str| json!({"status": "incomplete", "incomplete_details": {"reason": why}, "output": []});
    assert_eq!(reason(incomplete("max_output_tokens")), StopReason::Length);
    assert_eq!(reason(incomplete("content_filter")), StopReason::Refused);
    assert_eq!(reason(incomplete("something")), StopReason::Stop);
    let events = read(&[
        added(0, &message("")),
        delta("refusal", 0, "I can't"),
        json!({"type": "response.refusal.done", "output_index": 0, "refusal": "I can't help."}),
        completed(),
    ]);
    assert_eq!(
        events.unwrap(),
        [
            text("I can't"),
            text(" help."),
            data(DataPart::Text, json!({"id": "msg", "refusal": true})),
            finished(StopReason::Refused),
        ]
    );
}

#[test]
fn errors_in_a_stream() {
    let check = |event: Value, kind: ErrorKind, message: &str| {
        let error = read(&[event]).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, message));
    };
    check(
        over(
            "failed",
            &json!({"status": "failed", "error": {"code": "server_error", "message": "broke"}}),
        ),
        ErrorKind::Server,
        "broke",
    );
    check(
        json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow down", "param": null}),
        ErrorKind::RateLimit,
        "slow down",
    );
    check(
        json!({"type": "error", "error": {"type": "invalid_request_error", "code": "context_length_exceeded",
            "message": "too long"}}),
        ErrorKind::ContextFull,
        "too long",
    );
    check(
        json!({"error": {"message": "Internal", "code": 500}}),
        ErrorKind::Server,
        "Internal",
    );
    check(
        over("completed", &json!({"status": "cancelled"})),
        ErrorKind::Server,
        "the response ended as `cancelled`",
    );
}

#[test]
fn unknown_events_are_ignored() {
    let mut decoder = ResponsesDecoder::new();
    let mut out = Vec::new();
    for noise in [
        "",
        "null",
        "[DONE]",
        "[]",
        r#"{"type":"ping"}"#,
        r#"{"type":"response.new_thing"}"#,
        r#"{"error":{}}"#,
    ] {
        decoder.event(Some("ping"), noise, &mut out).unwrap();
    }
    assert_eq!(
        decoder.event(None, "{broken", &mut out).unwrap_err().kind,
        ErrorKind::Protocol
    );
    decoder
        .event(None, &completed().to_string(), &mut out)
        .unwrap();
    decoder.event(None, "{broken", &mut out).unwrap();
    decoder.end(&mut out).unwrap();
    assert_eq!(
        out,
        [finished(StopReason::Stop)],
        "junk after the end harms nothing"
    );
}

#[test]
fn a_stream_that_breaks_off() {
    let kind = |events: &[Value]| read(events).map_err(|error| error.kind);
    assert_eq!(kind(&[]), Err(ErrorKind::Protocol));
    assert_eq!(
        kind(&[delta("output_text", 0, "he")]),
        Err(ErrorKind::Protocol)
    );
    let call = json!({"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"});
    assert_eq!(
        kind(&[done(0, &call)]),
        Err(ErrorKind::Protocol),
        "more calls may have been on their way"
    );
    assert_eq!(
        kind(&[done(0, &message("hello"))]).unwrap().pop(),
        Some(finished(StopReason::Stop))
    );
}

#[test]
fn complete_bodies_without_an_answer() {
    let error = |body: &str| {
        ResponsesDecoder::new()
            .whole(body, &mut Vec::new())
            .unwrap_err()
    };
    assert_eq!(error("<html>").kind, ErrorKind::Protocol);
    assert_eq!(error("[]").kind, ErrorKind::Protocol);
    assert_eq!(error(r#"{"choices":[]}"#).kind, ErrorKind::Protocol);
    assert_eq!(
        error(r#"{"status":"in_progress","output":[]}"#).kind,
        ErrorKind::Protocol
    );
    assert_eq!(
        error(r#"{"status":"failed","error":{"code":"server_error","message":"x"}}"#).message,
        "x"
    );
    assert_eq!(
        error(r#"{"error":{"code":"insufficient_quota","message":"x"}}"#).kind,
        ErrorKind::NoCredit
    );
}
