//! Plays recorded traffic with a provider: the answers of a recording one after the other, whatever is asked.

use std::{
    fs, io,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Behaviour, Reply, event_stream, reply::Part};

/// A request and what was answered.
#[derive(Debug, Clone, Deserialize)]
pub struct Exchange {
    /// The path of the request, where it was kept.
    #[serde(default)]
    pub path: String,
    /// The body of the request.
    pub request: Value,
    /// The status of the answer.
    #[serde(default = "ok")]
    pub status: u16,
    /// JSON, the text of a stream, or `{"base64": …}` with its bytes.
    #[serde(alias = "answer", alias = "stream")]
    pub response: Value,
}

fn ok() -> u16 {
    200
}

/// How the bytes of an answer are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pieces {
    /// All at once.
    Whole,
    /// So many bytes at a time, wherever that cuts them.
    Bytes(usize),
}

/// The exchanges of a conversation.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct Recording(pub Vec<Exchange>);

impl Recording {
    /// Reads a file with a JSON list of exchanges.
    ///
    /// # Errors
    /// Where it cannot be read, or is none.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(path)?)?)
    }

    /// Gives the recorded answers in their order, and refuses what is asked after them. To who asks Bedrock for a stream an answer that was recorded whole is
    /// one: what a real server gives for the same answer.
    #[must_use]
    pub fn behaviour(&self, pieces: Pieces) -> Behaviour {
        let exchanges = self.0.clone();
        // Not the number of the request, as token requests are counted too.
        let next = AtomicUsize::new(0);
        Behaviour::answer(move |request| {
            match exchanges.get(next.fetch_add(1, Ordering::Relaxed)) {
                Some(exchange) => {
                    exchange.reply(request.path.ends_with("/converse-stream"), pieces)
                }
                None => Reply::error(400, "The recording is over."),
            }
        })
    }
}

impl Exchange {
    fn reply(&self, is_framed: bool, pieces: Pieces) -> Reply {
        let (content_type, bytes) = match (&self.response, self.response["base64"].as_str()) {
            (Value::String(text), _) => ("text/event-stream", Bytes::from(text.clone())),
            (_, Some(base64)) => {
                let kind = if is_framed {
                    event_stream::CONTENT_TYPE
                } else {
                    "text/event-stream"
                };
                (
                    kind,
                    BASE64_STANDARD.decode(base64).unwrap_or_default().into(),
                )
            }
            (answer, None) if is_framed && self.status == 200 => {
                (event_stream::CONTENT_TYPE, frames(answer).into())
            }
            (answer, None) => ("application/json", answer.to_string().into()),
        };
        Reply::parts(
            self.status,
            &[("content-type", content_type)],
            parts(&bytes, pieces),
        )
    }
}

fn parts(bytes: &Bytes, pieces: Pieces) -> Vec<Part> {
    let size = match pieces {
        Pieces::Whole => bytes.len(),
        Pieces::Bytes(size) => size,
    };
    let piece = |from: usize| Part::Bytes(bytes.slice(from..bytes.len().min(from + size.max(1))));
    // A moment of nothing makes hyper write what it has.
    let paused = |from| [piece(from), Part::Pause(Duration::from_millis(1))];
    (0..bytes.len())
        .step_by(size.max(1))
        .flat_map(paused)
        .collect()
}

/// Bedrock's stream of an answer that it gave whole.
fn frames(answer: &Value) -> Vec<u8> {
    let mut frames = event_stream::event("messageStart", &json!({"role": "assistant"}));
    let content = answer
        .pointer("/output/message/content")
        .and_then(Value::as_array);
    for (at, block) in content.into_iter().flatten().enumerate() {
        let (start, deltas) = block_events(block);
        let mut event = |name: &str, field: &str, value: Value| {
            frames.extend(event_stream::event(
                name,
                &json!({"contentBlockIndex": at, field: value}),
            ));
        };
        if let Some(start) = start {
            event("contentBlockStart", "start", start);
        }
        for delta in deltas {
            event("contentBlockDelta", "delta", delta);
        }
        frames.extend(event_stream::event(
            "contentBlockStop",
            &json!({"contentBlockIndex": at}),
        ));
    }
    frames.extend(event_stream::event(
        "messageStop",
        &json!({"stopReason": answer["stopReason"]}),
    ));
    frames.extend(event_stream::event(
        "metadata",
        &json!({"usage": answer["usage"]}),
    ));
    frames
}

/// How a block begins, where that is said, and its pieces.
fn block_events(block: &Value) -> (Option<Value>, Vec<Value>) {
    let without = |block: &Value, name: &str| {
        let mut fields = block.as_object().cloned().unwrap_or_default();
        fields.retain(|field, value| field != name && !value.is_null());
        Value::Object(fields)
    };
    if let Some(call) = block.get("toolUse") {
        let start = json!({"toolUse": without(call, "input")});
        return (
            Some(start),
            vec![json!({"toolUse": {"input": call["input"].to_string()}})],
        );
    }
    if let Some(result) = block.get("toolResult") {
        let start = json!({"toolResult": without(result, "content")});
        return (Some(start), vec![json!({"toolResult": result["content"]})]);
    }
    let Some(reasoning) = block.get("reasoningContent") else {
        return (None, vec![block.clone()]);
    };
    let piece = |piece: Value| json!({ "reasoningContent": piece });
    let deltas = match reasoning.get("reasoningText") {
        Some(text) => ["text", "signature"]
            .into_iter()
            .filter(|name| !text[name].is_null())
            .map(|name| piece(json!({name: text[name]})))
            .collect(),
        None => vec![piece(reasoning.clone())],
    };
    (None, deltas)
}
