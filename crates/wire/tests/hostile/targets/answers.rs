//! Answers of model servers in each provider's format, streamed and complete.

use provider::{
    AnswerDecoder, AnswerError, AnswerEvent, anthropic,
    bedrock::{self, FrameDecoder},
    gemini, openai_responses,
};
use serde_json::Value;
use wire::anthropic::{AnswerEncoder, encode_whole};

/// Maximum length of a frame of a stream.
const FRAME_LIMIT_BYTES: usize = 1 << 20;

/// An event of a stream: its name and its data.
type Event = (Option<String>, String);

/// Anthropic's Messages.
pub fn anthropic(bytes: &[u8]) {
    let text = read(bytes, anthropic::Decoder::default, typed);
    assert!(!anthropic::error(400, &text).message.is_empty());
    let _ = anthropic::decode_models(&text);
}

/// Bedrock's Converse, and its binary frames: chunk boundaries do not matter.
pub fn bedrock(bytes: &[u8]) {
    let text = read(bytes, bedrock::Decoder::default, only_field);
    assert!(!bedrock::error(400, None, &text).message.is_empty());
    let _ = bedrock::decode_models(&text);
    let size = 1 + usize::from(bytes.first().copied().unwrap_or(0) % 13);
    assert_eq!(
        frames(bytes.chunks(size)),
        frames(std::iter::once(bytes)),
        "in pieces of {size}"
    );
}

/// OpenAI's Responses.
pub fn openai_responses(bytes: &[u8]) {
    let text = read(bytes, openai_responses::ResponsesDecoder::new, typed);
    assert!(!openai_responses::error(400, &text).message.is_empty());
}

/// Gemini's answers, errors, lists of models, vectors and schemas.
pub fn gemini(bytes: &[u8]) {
    let text = read(bytes, gemini::Decoder::default, |value| {
        (None, value.to_string())
    });
    assert!(!gemini::error(400, &text).message.is_empty());
    let _ = gemini::models(&text);
    if let Ok(embedded) = gemini::decode_embeddings(bytes, 2) {
        assert_eq!(embedded.vectors.len(), 2);
    }
    let Ok(schema) = serde_json::from_str::<Value>(&text) else {
        return;
    };
    assert!(gemini::lower_schema(&schema).is_object());
}

/// Reads the bytes as a whole answer, as a list of the events of a stream, and as server-sent events.
fn read<D: AnswerDecoder>(
    bytes: &[u8],
    new: impl Fn() -> D,
    event: impl Fn(&Value) -> Event,
) -> String {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut whole = Vec::new();
    let is_read = new().whole(&text, &mut whole);
    holds(&whole, &is_read, &text);
    let listed = match serde_json::from_str(&text) {
        Ok(Value::Array(list)) => list.iter().map(event).collect(),
        _ => Vec::new(),
    };
    for stream in [listed, server_sent(bytes)] {
        let mut events = Vec::new();
        let is_read = streamed(new(), &stream, &mut events);
        holds(&events, &is_read, &text);
    }
    text
}

fn streamed(
    mut decoder: impl AnswerDecoder,
    stream: &[Event],
    out: &mut Vec<AnswerEvent>,
) -> Result<(), AnswerError> {
    for (name, data) in stream {
        decoder.event(name.as_deref(), data, out)?;
    }
    decoder.end(out)
}

/// The decoded events are consistent: one end, if everything was read; calls are numbered as they begin; they can be
/// encoded for Anthropic clients.
fn holds(events: &[AnswerEvent], is_read: &Result<(), AnswerError>, text: &str) {
    let ends = events
        .iter()
        .filter(|event| matches!(event, AnswerEvent::Finished { .. }))
        .count();
    let is_last = matches!(events.last(), Some(AnswerEvent::Finished { .. }));
    assert!(
        ends <= 1 && is_last == (ends == 1),
        "something follows the end: {text}"
    );
    match is_read {
        Ok(()) => assert!(is_last, "it has no end: {text}"),
        Err(error) => assert!(!is_last && !error.message.is_empty(), "{error:?}: {text}"),
    }
    let mut calls = 0;
    let mut encoder = AnswerEncoder::new("msg_1", "m", anthropic::PROVIDER);
    let mut sent = Vec::new();
    for event in events {
        match event {
            AnswerEvent::CallStarted { index, .. } => {
                assert_eq!(*index, calls, "{text}");
                calls += 1;
            }
            AnswerEvent::Arguments { index, .. } => assert!(*index < calls, "{text}"),
            _ => {}
        }
        encoder.event(event, &mut sent);
    }
    assert!(encode_whole("msg_1", "m", anthropic::PROVIDER, events).is_object());
}

fn server_sent(bytes: &[u8]) -> Vec<Event> {
    let mut decoder = sse::Decoder::new(FRAME_LIMIT_BYTES);
    let mut events = Vec::new();
    decoder.feed(bytes);
    while let Some(Ok(event)) = decoder.next() {
        events.push((event.name.map(str::to_owned), event.data.to_string()));
    }
    events
}

fn frames<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Vec<Result<bedrock::Message, bedrock::FrameError>> {
    let mut decoder = FrameDecoder::new(FRAME_LIMIT_BYTES);
    let mut read = Vec::new();
    for piece in pieces {
        decoder.feed(piece);
        read.extend(std::iter::from_fn(|| decoder.next()));
    }
    read
}

/// An event with its type in its data.
fn typed(event: &Value) -> Event {
    (event["type"].as_str().map(str::to_owned), event.to_string())
}

/// An event whose only field is its type.
fn only_field(event: &Value) -> Event {
    match event.as_object().and_then(|fields| fields.iter().next()) {
        Some((name, data)) => (Some(name.clone()), data.to_string()),
        None => (None, event.to_string()),
    }
}
