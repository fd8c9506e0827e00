//! Answers, complete and in pieces.

use domain::Usage;

use super::*;

/// The events of a stream, and how it ends.
fn events(data: &[Value]) -> Result<Vec<AnswerEvent>, AnswerError> {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    for data in data {
        decoder.event(None, &data.to_string(), &mut out)?;
    }
    decoder.end(&mut out)?;
    Ok(out)
}

fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}}], "responseId": "r-1/x"})
}

fn finish(reason: &str) -> Value {
    json!({"candidates": [{"finishReason": reason, "finishMessage": "Because."}]})
}

fn finished(reason: StopReason) -> AnswerEvent {
    AnswerEvent::Finished {
        reason,
        usage: None,
    }
}

fn call(index: usize, id: &str, name: &str, arguments: &str) -> [AnswerEvent; 2] {
    [
        AnswerEvent::CallStarted {
            index,
            id: id.to_owned(),
            name: name.to_owned(),
        },
        AnswerEvent::Arguments {
            index,
            delta: arguments.to_owned(),
        },
    ]
}

fn signed(part: DataPart, signature: &str) -> AnswerEvent {
    AnswerEvent::Data {
        part,
        data: json!(signature),
    }
}

#[test]
fn parallel_calls_have_unique_ids_and_one_signature() {
    let calls = parts(json!([
        {"functionCall": {"name": "ls", "args": {"a": 1}}, "thoughtSignature": "sig"},
        {"functionCall": {"name": "_3d", "id": "given"}},
        {"functionCall": {"name": "ls", "id": "given", "args": null}},
    ]));
    let mut expected = call(0, "r-1x_0", "ls", r#"{"a":1}"#).to_vec();
    expected.push(signed(DataPart::Call(0), "sig"));
    expected.extend(call(1, "given", "3d", "{}"));
    expected.extend(call(2, "r-1x_2", "ls", "{}"));
    expected.push(finished(StopReason::ToolCalls));
    assert_eq!(events(&[calls, finish("STOP")]), Ok(expected));
}

#[test]
fn arguments_may_come_in_pieces() {
    let stream = [
        parts(
            json!([{"functionCall": {"name": "say", "id": "1", "willContinue": true}, "thoughtSignature": "s"}]),
        ),
        parts(json!([{"functionCall": {"willContinue": true,
            "partialArgs": [{"jsonPath": "$.text", "stringValue": "a", "willContinue": true}]}}])),
        parts(json!([{"functionCall": {"willContinue": true,
            "partialArgs": [{"jsonPath": "$.text", "stringValue": "b"}]}}])),
        parts(json!([{"functionCall": {}}])),
        parts(json!([{"functionCall": {"name": "go", "id": "2", "willContinue": true}}])),
        finish("STOP"),
    ];
    let [started, arguments] = call(0, "1", "say", r#"{"text":"ab"}"#);
    let mut expected = vec![started, signed(DataPart::Call(0), "s"), arguments];
    // Pieces that never came are not missed.
    expected.extend(call(1, "2", "go", "{}"));
    expected.push(finished(StopReason::ToolCalls));
    assert_eq!(events(&stream), Ok(expected));
}

#[test]
fn signatures_belong_to_their_part() {
    let stream = [
        parts(
            json!([{"text": "hm", "thought": true}, {"text": "", "thought": true, "thoughtSignature": "a"}]),
        ),
        parts(json!([{"text": "Hi", "thoughtSignature": "b"}, {"text": ""}, {"text": "!"}, {}])),
        parts(json!([{"thoughtSignature": "c"}, {"text": "", "thoughtSignature": ""}])),
        finish("STOP"),
    ];
    let alone = json!({"part": {"thoughtSignature": "c", "text": ""}});
    let expected = vec![
        AnswerEvent::Reasoning("hm".to_owned()),
        signed(DataPart::Reasoning, "a"),
        AnswerEvent::Text("Hi".to_owned()),
        signed(DataPart::Text, "b"),
        AnswerEvent::Text("!".to_owned()),
        AnswerEvent::Data {
            part: DataPart::Other,
            data: alone,
        },
        finished(StopReason::Stop),
    ];
    assert_eq!(events(&stream), Ok(expected));
}

#[test]
fn every_reason_to_stop_is_understood() {
    let reason = |name: &str, said: Value| {
        events(&[parts(said), finish(name)]).map(|events| match events.last() {
            Some(AnswerEvent::Finished { reason, .. }) => *reason,
            other => panic!("{other:?}"),
        })
    };
    let text = || json!([{"text": "a"}]);
    for (name, expected) in [
        ("STOP", StopReason::Stop),
        ("MAX_TOKENS", StopReason::Length),
        ("SAFETY", StopReason::Refused),
        ("RECITATION", StopReason::Refused),
        ("LANGUAGE", StopReason::Refused),
        ("BLOCKLIST", StopReason::Refused),
        ("PROHIBITED_CONTENT", StopReason::Refused),
        ("SPII", StopReason::Refused),
        ("IMAGE_SAFETY", StopReason::Refused),
        ("MODEL_ARMOR", StopReason::Refused),
        ("OTHER", StopReason::Stop),
        ("SOMETHING_NEW", StopReason::Stop),
    ] {
        assert_eq!(reason(name, text()), Ok(expected), "{name}");
    }
    assert_eq!(reason("STOP", json!([])), Ok(StopReason::Stop));
    let calls = || json!([{"functionCall": {"name": "ls"}}]);
    assert_eq!(reason("SOMETHING_NEW", calls()), Ok(StopReason::ToolCalls));
    assert_eq!(reason("MAX_TOKENS", calls()), Ok(StopReason::Length));
    let failed = |name: &str, kind, message: &str| {
        assert_eq!(
            reason(name, json!([])),
            Err(AnswerError::new(kind, message))
        );
    };
    let server = ErrorKind::Server;
    failed(
        "MALFORMED_FUNCTION_CALL",
        server,
        "The model wrote a tool call that cannot be read. Because.",
    );
    failed(
        "UNEXPECTED_TOOL_CALL",
        server,
        "The model called a tool that it was not given. Because.",
    );
    failed(
        "TOO_MANY_TOOL_CALLS",
        server,
        "The model made too many tool calls in a row. Because.",
    );
    failed(
        "MALFORMED_RESPONSE",
        server,
        "The model wrote an answer that cannot be read. Because.",
    );
    failed(
        "MISSING_THOUGHT_SIGNATURE",
        ErrorKind::Request,
        "A thought signature is missing. Because.",
    );
    failed(
        "OTHER",
        server,
        "The model gave no answer (OTHER). Because.",
    );
}

#[test]
fn a_blocked_prompt_is_refused() {
    let feedback = json!({"blockReason": "PROHIBITED_CONTENT", "safetyRatings": []});
    let body = json!({"promptFeedback": feedback, "usageMetadata": {"promptTokenCount": 7, "totalTokenCount": 7}});
    let expected = vec![
        AnswerEvent::Data {
            part: DataPart::Other,
            data: json!({"metadata": {"promptFeedback": feedback}}),
        },
        AnswerEvent::Finished {
            reason: StopReason::Refused,
            usage: Some(Usage::of(7, 0)),
        },
    ];
    assert_eq!(events(std::slice::from_ref(&body)), Ok(expected.clone()));
    let mut out = Vec::new();
    Decoder::default()
        .whole(&body.to_string(), &mut out)
        .unwrap();
    assert_eq!(out, expected);
}

#[test]
fn additions_of_proxies_are_ignored() {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    for data in [
        "",
        "null",
        "{}",
        r#"{"error":{},"candidates":null,"usageMetadata":7}"#,
        r#"{"candidates":[{"index":1,"content":{"parts":[{"text":"no"}]}}]}"#,
        r#"{"candidates":[{"index":0,"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"error":null}"#,
        "junk",
        r#"{"error":{"code":500,"message":"too late"}}"#,
        "[DONE]",
    ] {
        decoder.event(None, data, &mut out).unwrap();
    }
    decoder.end(&mut out).unwrap();
    decoder
        .event(
            None,
            r#"{"candidates":[{"content":{"parts":[{"text":"b"}]}}]}"#,
            &mut out,
        )
        .unwrap();
    decoder.end(&mut out).unwrap();
    assert_eq!(
        out,
        [
            AnswerEvent::Text("a".to_owned()),
            finished(StopReason::Stop)
        ]
    );
}

#[test]
fn malformed_json_is_repaired() {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    for data in [
        r#"{"candidates":[{"content":{"parts":[{"text":"a\ud83db"}]}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"c"},],},"avgLogprobs":NaN}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":1}}}]},"finishReason":"STOP"}]}"#,
    ] {
        decoder.event(None, data, &mut out).unwrap();
    }
    decoder.end(&mut out).unwrap();
    let mut expected = vec![
        AnswerEvent::Text("a\u{FFFD}b".to_owned()),
        AnswerEvent::Text("c".to_owned()),
    ];
    expected.extend(call(0, "call_0", "f", r#"{"a":1}"#));
    expected.push(finished(StopReason::ToolCalls));
    assert_eq!(out, expected);
}

#[test]
fn failures_are_explained() {
    let kind = |data: &[Value]| events(data).map_err(|error| error.kind);
    let error = json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}});
    assert_eq!(
        kind(&[parts(json!([{"text": "a"}])), error.clone()]),
        Err(ErrorKind::Overloaded)
    );
    assert_eq!(kind(&[json!([error])]), Err(ErrorKind::Overloaded));
    assert_eq!(
        kind(&[parts(json!([{"text": "a"}]))]),
        Err(ErrorKind::Protocol),
        "it broke off"
    );
    assert_eq!(kind(&[]), Err(ErrorKind::Protocol));
    let mut out = Vec::new();
    for body in ["<html>", "", "[{]", "7"] {
        let error = Decoder::default().whole(body, &mut out).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Protocol, "{body}");
    }
    // An unstreamed answer cannot break off.
    Decoder::default()
        .whole(&parts(json!([{"text": "a"}])).to_string(), &mut out)
        .unwrap();
    assert_eq!(
        out,
        [
            AnswerEvent::Text("a".to_owned()),
            finished(StopReason::Stop)
        ]
    );
}
