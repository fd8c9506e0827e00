//! Recordings of real traffic with providers in `tests/recordings`, shared by the tests of all formats.

use std::{fs, path::Path};

use provider::{AnswerDecoder, AnswerError, AnswerEvent};
use serde::Deserialize;
use serde_json::Value;

/// A request and its answer.
#[derive(Debug, Deserialize)]
pub(crate) struct Exchange {
    /// The path of the request.
    pub(crate) path: String,
    pub(crate) request: Value,
    pub(crate) status: u16,
    /// JSON, the text of a stream, or `{"base64": …}`.
    pub(crate) response: Value,
}

/// The recordings of a provider, by name.
pub(crate) fn recordings(provider: &str) -> Vec<(String, Vec<Exchange>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../provider/tests/recordings")
        .join(provider);
    let mut read: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (
                name,
                serde_json::from_slice(&fs::read(&path).unwrap()).unwrap(),
            )
        })
        .collect();
    read.sort_by(|(one, _), (other, _)| one.cmp(other));
    assert!(!read.is_empty(), "no recordings in {}", folder.display());
    read
}

type Decoded = Result<Vec<AnswerEvent>, AnswerError>;

pub(crate) fn decode_whole(mut decoder: impl AnswerDecoder, body: &str) -> Decoded {
    let mut events = Vec::new();
    decoder.whole(body, &mut events)?;
    Ok(events)
}

/// Reads a stream of server-sent events that arrives in these pieces.
pub(crate) fn decode_stream<'a>(
    mut decoder: impl AnswerDecoder,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Decoded {
    let mut frames = sse::Decoder::new(1 << 24);
    let mut events = Vec::new();
    for piece in pieces {
        frames.feed(piece);
        while let Some(frame) = frames.next() {
            let frame = frame.unwrap();
            decoder.event(frame.name, &frame.data, &mut events)?;
        }
    }
    if let Some(frame) = frames.finish() {
        decoder.event(frame.name, &frame.data, &mut events)?;
    }
    decoder.end(&mut events)?;
    Ok(events)
}

/// The events with deltas of the same text, reasoning or arguments joined.
pub(crate) fn joined(events: Vec<AnswerEvent>) -> Vec<AnswerEvent> {
    let mut joined: Vec<AnswerEvent> = Vec::new();
    for event in events {
        match (joined.last_mut(), &event) {
            (Some(AnswerEvent::Text(text)), AnswerEvent::Text(more))
            | (Some(AnswerEvent::Reasoning(text)), AnswerEvent::Reasoning(more)) => {
                text.push_str(more)
            }
            (
                Some(AnswerEvent::Arguments { index, delta }),
                AnswerEvent::Arguments {
                    index: of,
                    delta: more,
                },
            ) if index == of => {
                delta.push_str(more);
            }
            _ => joined.push(event),
        }
    }
    joined
}

/// The events as lines, with long data cut.
pub(crate) fn shown(events: &[AnswerEvent]) -> String {
    let line = |event: &AnswerEvent| match event {
        AnswerEvent::Text(text) => format!("text {}", cut(&format!("{text:?}"))),
        AnswerEvent::Reasoning(text) => format!("reasoning {}", cut(&format!("{text:?}"))),
        AnswerEvent::CallStarted { index, id, name } => format!("call {index} {id} {name}"),
        AnswerEvent::Arguments { index, delta } => format!("arguments {index} {}", cut(delta)),
        AnswerEvent::Data { part, data } => format!("data {part:?} {}", shortened(data)),
        AnswerEvent::ServerTool(updates) => format!("{updates:?}"),
        AnswerEvent::Citations(citations) => format!("citations {citations:?}"),
        AnswerEvent::Finished { reason, usage } => format!("finished {reason:?} {usage:?}"),
    };
    events.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(120) {
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
        None => text.to_owned(),
    }
}

fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() > 60 => {
            let end = (0..=40)
                .rev()
                .find(|at| text.is_char_boundary(*at))
                .unwrap();
            Value::String(format!("{}… ({} bytes)", &text[..end], text.len()))
        }
        Value::Array(list) => list.iter().take(3).map(shortened).collect(),
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, value)| (name.clone(), shortened(value)))
                .collect(),
        ),
        value => value.clone(),
    }
}
