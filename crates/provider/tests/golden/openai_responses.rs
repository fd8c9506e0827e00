//! OpenAI's Responses API against recorded traffic: decoded answers, and the data sent back in the next turn.

use domain::{Message, Role};
use proptest::prelude::*;
use provider::{
    AnswerDecoder, AnswerError, AnswerEvent, ErrorKind, ModelRequest, Parameters,
    openai_responses::{PROVIDER, ResponsesDecoder, encode, error},
};
use serde_json::{Map, Value, json};

use crate::answers::{lines, message, read_stream};

macro_rules! recordings {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../recordings/openai_responses/", $name, ".json")))),*]
    };
}

const RECORDINGS: [(&str, &str); 10] = recordings![
    "call_without_reasoning",
    "code_interpreter_stream",
    "encrypted_reasoning_stream",
    "function_call_stream",
    "interleaved_calls_refused",
    "mcp_two_turns",
    "modified_history_refused",
    "reasoning_and_call",
    "reasoning_two_turns",
    "web_search_stream",
];

fn exchanges(recording: &str) -> Vec<Value> {
    serde_json::from_str(recording).unwrap()
}

fn streams() -> impl Iterator<Item = String> {
    let all = RECORDINGS
        .iter()
        .flat_map(|(_, recording)| exchanges(recording));
    all.filter_map(|exchange| exchange["stream"].as_str().map(str::to_owned))
}

fn read_whole(response: &Value) -> Result<Vec<AnswerEvent>, AnswerError> {
    let mut out = Vec::new();
    ResponsesDecoder::new().whole(&response.to_string(), &mut out)?;
    Ok(out)
}

fn read(exchange: &Value) -> Result<Vec<AnswerEvent>, AnswerError> {
    let status = u16::try_from(exchange["status"].as_u64().unwrap()).unwrap();
    match exchange["stream"].as_str() {
        Some(stream) => read_stream(ResponsesDecoder::new(), stream, usize::MAX),
        None if status != 200 => Err(error(status, &exchange["response"].to_string())),
        None => read_whole(&exchange["response"]),
    }
}

#[test]
fn golden_answers() {
    for (name, recording) in RECORDINGS {
        let answers = exchanges(recording)
            .into_iter()
            .map(|exchange| match read(&exchange) {
                Ok(events) => lines(&events),
                Err(error) => format!("{:?}: {error}", error.kind),
            });
        let text = answers.collect::<Vec<_>>().join("\n--\n");
        insta::assert_snapshot!(format!("openai_responses__{name}"), text);
    }
}

/// The conversation of a recorded request, with these answers in place of the assistant's items.
fn conversation(input: &[Value], answers: &[Message]) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut answers = answers.iter();
    let mut is_answer = false;
    for item in input {
        let text = |name: &str| item[name].as_str().unwrap();
        let was_answer = std::mem::replace(&mut is_answer, false);
        match (item["type"].as_str(), item["role"].as_str()) {
            (Some("function_call_output"), _) => {
                messages.push(Message::tool_result(text("call_id"), text("output")));
            }
            (_, Some("user")) => messages.push(Message::text(Role::User, text("content"))),
            _ => {
                is_answer = true;
                messages.extend((!was_answer).then(|| answers.next().unwrap().clone()));
            }
        }
    }
    messages
}

fn input_of(model: &str, messages: &[Message]) -> Value {
    let parameters = Parameters::default();
    let request = ModelRequest {
        model,
        messages,
        tools: &[],
        parameters: &parameters,
        stream: false,
    };
    let mut body: Value = serde_json::from_slice(&encode(&request)).unwrap();
    body["input"].take()
}

/// Without empty values (`null`, empty annotations), redundant ones (`status`), and phases, which the recorded client
/// did not know.
fn plain(value: &Value) -> Value {
    let says_something = |(name, value): &(&String, &Value)| {
        !value.is_null()
            && !["status", "phase", "logprobs", "approval_request_id"].contains(&name.as_str())
    };
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().filter(says_something).collect();
            fields.sort_by_key(|(name, _)| *name);
            let fields = fields
                .into_iter()
                .map(|(name, value)| (name.clone(), plain(value)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Value::Array(list) => Value::Array(list.iter().map(plain).collect()),
        other => other.clone(),
    }
}

/// In each later turn the recorded answers are sent back as the recorded client did, including ids and order.
#[test]
fn the_next_turn_sends_back_received_items() {
    for name in [
        "call_without_reasoning",
        "function_call_stream",
        "reasoning_and_call",
        "reasoning_two_turns",
    ] {
        let (_, recording) = RECORDINGS.iter().find(|(known, _)| *known == name).unwrap();
        let exchanges = exchanges(recording);
        let answer = message(PROVIDER, &read(&exchanges[0]).unwrap());
        let request = &exchanges[1]["request"];
        let input = request["input"].as_array().unwrap();
        let ours = input_of(
            request["model"].as_str().unwrap(),
            &conversation(input, &[answer]),
        );
        assert_eq!(plain(&ours), plain(&request["input"]), "{name}");
    }
}

/// The recorded client emptied the items of server-side tools; we send them back complete.
#[test]
fn items_of_tools_at_the_provider_go_back_as_they_came() {
    for name in ["mcp_two_turns", "code_interpreter_stream"] {
        let (_, recording) = RECORDINGS.iter().find(|(known, _)| *known == name).unwrap();
        let exchange = &exchanges(recording)[0];
        let answer = message(PROVIDER, &read(exchange).unwrap());
        let output = match exchange["stream"].as_str() {
            Some(stream) => done_items(stream),
            None => exchange["response"]["output"].clone(),
        };
        assert_eq!(
            plain(&input_of("o4-mini", &[answer])),
            plain(&output),
            "{name}"
        );
    }
}

/// The items of a stream as they were when they were done.
fn done_items(stream: &str) -> Value {
    let events = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let events = events.map(|data| serde_json::from_str::<Value>(data).unwrap());
    events
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|event| event["item"].clone())
        .collect()
}

#[test]
fn another_provider_gets_text_and_calls_only() {
    let exchanges = exchanges(RECORDINGS[7].1);
    let mut answer = message("anthropic", &read(&exchanges[0]).unwrap());
    let call = json!([{"type": "function_call", "call_id": "call_cp3x6W9eeyMIryJUNhgMaP5w",
        "name": "get_meaning_of_life", "arguments": "{}"}]);
    assert_eq!(input_of("gpt-5", &[answer.clone()]), call);
    answer.provenance = None;
    assert_eq!(input_of("gpt-5", &[answer]), call);
}

#[test]
fn whole_and_streamed_answers_are_the_same_message() {
    for stream in streams() {
        let streamed = read_stream(ResponsesDecoder::new(), &stream, usize::MAX).unwrap();
        let last = stream
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix("data: "))
            .unwrap();
        let last: Value = serde_json::from_str(last).unwrap();
        let whole = read_whole(&last["response"]).unwrap();
        // Reasoning is encrypted differently each time.
        let without_encryption = |events: &[AnswerEvent]| {
            let text = serde_json::to_value(message(PROVIDER, events)).unwrap();
            without(&text, "encrypted_content")
        };
        assert_eq!(without_encryption(&streamed), without_encryption(&whole));
        assert_eq!(streamed.last(), whole.last());
    }
}

fn without(value: &Value, name: &str) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(of, _)| *of != name)
            .map(|(of, value)| (of.clone(), without(value, name)))
            .collect(),
        Value::Array(list) => list.iter().map(|value| without(value, name)).collect(),
        other => other.clone(),
    }
}

#[test]
fn byte_by_byte_is_the_same() {
    for stream in streams() {
        let at_once = read_stream(ResponsesDecoder::new(), &stream, usize::MAX);
        assert_eq!(read_stream(ResponsesDecoder::new(), &stream, 1), at_once);
        assert!(at_once.is_ok());
    }
}

fn any_stream() -> impl Strategy<Value = String> {
    proptest::sample::select(streams().collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A truncated stream yields a prefix of the whole one, and is not reported as complete.
    #[test]
    fn a_truncated_stream_is_not_complete(stream in any_stream(), at in any::<proptest::sample::Index>()) {
        let whole = read_stream(ResponsesDecoder::new(), &stream, usize::MAX).unwrap();
        let cut = &stream[..stream.floor_char_boundary(at.index(stream.len()))];
        if let Ok(events) = read_stream(ResponsesDecoder::new(), cut, usize::MAX) {
            // Only the usage may be missing: the last message was complete.
            prop_assert_eq!(message(PROVIDER, &events), message(PROVIDER, &whole));
        }
    }

    #[test]
    fn changed_bytes_never_panic(
        stream in any_stream(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..20),
        piece in 1_usize..4096,
    ) {
        let mut bytes = stream.into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(events) = read_stream(ResponsesDecoder::new(), &text, piece) {
            let message = message(PROVIDER, &events);
            input_of("gpt-5", &[message]);
        }
        let _ = error(400, &text);
        let _ = ResponsesDecoder::new().whole(&text, &mut Vec::new());
    }

    #[test]
    fn events_in_any_order_never_panic(stream in any_stream(), seed in any::<prop::sample::Index>(), step in 1_usize..50) {
        let events: Vec<&str> = stream.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
        let mut decoder = ResponsesDecoder::new();
        let mut out = Vec::new();
        let start = seed.index(events.len());
        for at in (0..events.len()).map(|at| (start + at * step) % events.len()) {
            let _ = decoder.event(None, events[at], &mut out);
        }
        let _ = decoder.end(&mut out);
        let finished = out.iter().filter(|event| matches!(event, AnswerEvent::Finished { .. })).count();
        prop_assert!(finished <= 1);
    }
}

#[test]
fn refused_histories_are_known() {
    let kind = |name: &str, at: usize| {
        let (_, recording) = RECORDINGS.iter().find(|(known, _)| *known == name).unwrap();
        read(&exchanges(recording)[at]).unwrap_err().kind
    };
    assert_eq!(
        kind("modified_history_refused", 1),
        ErrorKind::StaleReasoning
    );
    assert_eq!(kind("interleaved_calls_refused", 0), ErrorKind::Request);
}
