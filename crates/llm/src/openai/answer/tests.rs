//! Valid, odd and hostile answers of servers, as bytes.

use std::sync::LazyLock;

use domain::ProblemCode;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::openai::template_calls::TemplateCalls;
use crate::{BaseUrl, HttpClient, OpenAiSettings, Secret, openai::ModelEndpoint};

fn target() -> &'static Target {
    static TARGET: LazyLock<Target> = LazyLock::new(new_target);
    &TARGET
}

fn new_target() -> Target {
    let base_url = BaseUrl::parse("http://127.0.0.1:1/v1").expect("valid");
    let settings = OpenAiSettings::new(base_url, Some(Secret::new("sk-secret")), "m");
    ModelEndpoint::new(
        settings,
        &HttpClient::new().expect("set up"),
        "chat/completions",
    )
    .any()
}

fn read(chunks: &[&[u8]], text: TextReader, target: &Target) -> (Vec<ModelEvent>, Option<Fault>) {
    let mut answer = Answer::new(text);
    let fed = chunks
        .iter()
        .try_for_each(|chunk| answer.feed(chunk, target));
    let fault = fed.and_then(|()| answer.end(target)).err();
    (std::iter::from_fn(|| answer.pop()).collect(), fault)
}

/// Reads a body that must be refused.
fn refused(body: &str) -> (ProblemCode, String) {
    let (_, fault) = read(&[body.as_bytes()], TextReader::Plain, target());
    let error = fault.expect("refused").error;
    (error.code, error.message)
}

fn finished(reason: FinishReason) -> ModelEvent {
    ModelEvent::Finished {
        reason,
        usage: None,
    }
}

fn check(body: &str, expected: &[ModelEvent]) {
    let (events, fault) = read(&[body.as_bytes()], TextReader::Plain, target());
    assert!(fault.is_none(), "{body}: {fault:?}");
    assert_eq!(events, expected, "{body}");
}

#[test]
fn every_end_of_a_stream() {
    let text = || ModelEvent::TextDelta("Hi".into());
    let delta = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    let stop = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let expected = [text(), finished(FinishReason::Stop)];
    check(&format!("{delta}{stop}data: [DONE]\n\n"), &expected);
    check(&format!("{delta}data: [DONE]"), &expected);
    check(&format!("{delta}{stop}"), &expected);
    check(&format!("{delta}data: [DONE]\n\n{delta}"), &expected);
    check(&format!("\u{FEFF}: hello\r\n\r\n{delta}{stop}"), &expected);
    check(
        r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#,
        &expected,
    );
    for (word, reason) in [
        ("MAX_TOKENS", FinishReason::Length),
        ("model_length", FinishReason::Length),
        ("SAFETY", FinishReason::ContentFilter),
        ("TOOL_CALLS", FinishReason::Stop),
    ] {
        check(
            &format!("{delta}{}", stop.replace("stop", word)),
            &[text(), finished(reason)],
        );
    }
    let interrupted = format!(
        "{delta}{}",
        stop.replace("stop", "insufficient_system_resource")
    );
    assert_eq!(refused(&interrupted).0, ProblemCode::ModelFailed);
    let length = delta.replace("}}]", "},\"finish_reason\":\"length\"}]");
    check(&length, &[text(), finished(FinishReason::Length)]);
    check(
        &format!("data: {{\"message\":\"loading\"}}\n\n{delta}{stop}"),
        &expected,
    );
    check("data: [DONE]\n\n", &[finished(FinishReason::Stop)]);
}

#[test]
fn malformed_streams_are_errors() {
    let delta = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    for (body, code, words) in [
        ("", ProblemCode::ModelProtocol, "in the middle"),
        (delta, ProblemCode::ModelProtocol, "in the middle"),
        (
            "data: {\"choices\":[{\"del",
            ProblemCode::ModelProtocol,
            "not the OpenAI protocol",
        ),
        (
            "data: sk-secret\n\n",
            ProblemCode::ModelProtocol,
            "protocol: [key]",
        ),
        (
            "<!doctype html><h1>Hi</h1>",
            ProblemCode::ModelProtocol,
            "web page",
        ),
        (
            "{\"x\":1}",
            ProblemCode::ModelProtocol,
            "not the OpenAI protocol",
        ),
        (
            "{\"error\":{\"message\":\"overloaded\"}}",
            ProblemCode::ModelFailed,
            "overloaded",
        ),
        ("{\"detail\":\"no\"}", ProblemCode::ModelFailed, "no"),
        (
            "data: {\"detail\":\"no\"}\n\n",
            ProblemCode::ModelFailed,
            "no",
        ),
        (
            "data: {\"detail\":\"no\"}\n\ndata: [DONE]\n\n",
            ProblemCode::ModelFailed,
            "no",
        ),
        (
            "data: {\"error\":{\"message\":\"slow down\",\"code\":429}}\n\n",
            ProblemCode::ModelRateLimited,
            "slow down",
        ),
        (
            "event: error\ndata: broken\n\n",
            ProblemCode::ModelFailed,
            "broken",
        ),
        (
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\n",
            ProblemCode::ModelFailed,
            "gave up",
        ),
    ] {
        let (got, message) = refused(body);
        assert_eq!(got, code, "{body}: {message}");
        assert!(message.contains(words), "{message:?} should say {words:?}");
    }
}

#[test]
fn long_quotes_are_cut() {
    let body = format!("data: {}\n\n", "é ".repeat(10_000));
    let (_, message) = refused(&body);
    assert!(
        message.chars().count() < 420 && message.ends_with('…'),
        "{message}"
    );
}

#[test]
fn endless_answers_are_refused() {
    let target = target();
    let mut answer = Answer::new(TextReader::Plain);
    let block = [b'x'; 1 << 20];
    let fed = (0..64)
        .take_while(|_| answer.feed(&block, target).is_ok())
        .count();
    assert_eq!(fed, 32, "a line may be 32 MB");
}

/// The memory for an answer is bounded, however it is split and whatever it contains.
#[test]
fn an_endless_answer_is_bounded_by_its_content() {
    let text = "x".repeat(64 << 10);
    for delta in [
        format!(r#"{{"content":"{text}"}}"#),
        format!(r#"{{"reasoning":"{text}"}}"#),
        format!(
            r#"{{"tool_calls":[{{"index":0,"id":"c","function":{{"name":"f","arguments":"{text}"}}}}]}}"#
        ),
    ] {
        let event = format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n");
        let mut answer = Answer::new(TextReader::Plain);
        let mut held = 0;
        let fault = loop {
            if let Err(fault) = answer.feed(event.as_bytes(), target()) {
                break fault;
            }
            held += text.len();
            while answer.pop().is_some() {}
            assert!(held <= ANSWER_LIMIT_BYTES, "{delta:.20}");
        };
        assert!(
            fault.error.message.contains("4 MB"),
            "{}",
            fault.error.message
        );
        assert_eq!(held, ANSWER_LIMIT_BYTES);
    }
}

/// Pieces of streams, good and bad.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(&b"data: {\"choices\":[{\"delta\":{\"content\":\"```json\\n{\\\"name\\\":\\\"ls\\\"}\"}}]}"[..]),
        Just(&b"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":4000000000,\"id\":\"\"}]}}]}"[..]),
        Just(&b"data: {\"choices\":[{\"delta\":{\"reasoning\":\"\xC3\xA9\"}}]}"[..]),
        Just(&b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}"[..]),
        Just(
            &b"data: {\"choices\":[{\"delta\":{\"content\":\"<tool_call>{\\\"name\\\":\\\"ls\\\"}\"}}]}"[..]
        ),
        Just(&b"data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"}}]}"[..]),
        Just(&b"data: {\"choices\":[{\"delta\":{\"content\":\"</think>\"}}]}"[..]),
        Just(&b"data: ping"[..]),
        Just(&b"data: null"[..]),
        Just(&b"\n"[..]),
        Just(&b"data: [DONE]"[..]),
        Just(&b"\n\n"[..]),
        Just(&b"\r\n\r\n"[..]),
        Just(&b"\xFF\xFE"[..]),
        Just(&b"{"[..]),
        Just(&b"<"[..]),
    ];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn chunking_changes_nothing(body in body(), size in 1usize..9) {
        let target = target();
        let parser = || TextReader::Native(TemplateCalls::new(vec!["ls".into()]));
        let chunks: Vec<&[u8]> = body.chunks(size).collect();
        let whole = read(&[&body], parser(), target);
        let cut = read(&chunks, parser(), target);
        let code = |fault: &Option<Fault>| fault.as_ref().map(|fault| fault.error.clone());
        prop_assert_eq!(code(&whole.1), code(&cut.1));
        if whole.1.is_none() {
            prop_assert_eq!(whole.0, cut.0);
        }
    }
}

/// Source document 003, patch 3: a status is no text, and its content is not trusted.
#[test]
fn document_003_a_status_is_one_line_without_secrets_and_only_the_last_at_once_counts() {
    let status = |description: &str| {
        format!(
            "data: {}\n\n",
            json!({"type": "status", "data": {"description": description}})
        )
    };
    let event = |description: &str| ModelEvent::Status {
        description: description.into(),
        done: false,
        hidden: false,
    };
    let end = || finished(FinishReason::Stop);
    let wild =
        status(" a\n\tb\u{202E}c\u{1b}[31m sk-secret password=hunter2 ") + "data: [DONE]\n\n";
    check(
        &wild,
        &[event("a b c [31m [key] password=[redacted]"), end()],
    );
    let delta = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    let mixed = format!(
        "{}{}{delta}{}data: [DONE]\n\n",
        status("one"),
        status("two"),
        status("three")
    );
    check(
        &mixed,
        &[
            event("two"),
            ModelEvent::TextDelta("Hi".into()),
            event("three"),
            end(),
        ],
    );
    let long = status(&"é".repeat(1 << 20)) + "data: [DONE]\n\n";
    check(&long, &[event(&format!("{}…", "é".repeat(300))), end()]);
    let hidden = "data: {\"event\":{\"type\":\"status\",\"data\":{\"done\":true,\"hidden\":true}}}\n\ndata: [DONE]\n\n";
    check(
        hidden,
        &[
            ModelEvent::Status {
                description: String::new(),
                done: true,
                hidden: true,
            },
            end(),
        ],
    );
    let mut answer = Answer::new(TextReader::Plain);
    answer
        .feed(status("x").repeat(100_000).as_bytes(), target())
        .unwrap();
    assert_eq!(answer.events.len(), 1, "nobody fills the queue with them");
    assert!(
        answer.is_at_work() && !answer.has_begun(),
        "the request may be sent again"
    );
}
