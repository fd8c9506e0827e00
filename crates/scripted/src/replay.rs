//! Replays recorded traffic with a provider: the recorded responses in order, regardless of the requests.

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

/// A request and its response.
#[derive(Debug, Clone, Deserialize)]
pub struct Exchange {
    /// The path of the request, if recorded.
    #[serde(default)]
    pub path: String,
    /// The body of the request.
    pub request: Value,
    /// The status of the response.
    #[serde(default = "ok")]
    pub status: u16,
    /// JSON, the text of a stream, or `{"base64": …}` with its bytes.
    #[serde(alias = "answer", alias = "stream")]
    pub response: Value,
}

fn ok() -> u16 {
    200
}

/// How a response is split into writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pieces {
    /// All at once.
    Whole,
    /// This many bytes at a time, at arbitrary boundaries.
    Bytes(usize),
}

/// The exchanges of a conversation.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct Recording(pub Vec<Exchange>);

impl Recording {
    /// Reads a JSON file with a list of exchanges.
    ///
    /// # Errors
    /// If it cannot be read, or is not a recording.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(path)?)?)
    }

    /// Returns the recorded responses in order, and refuses further requests. For a streaming request to Bedrock, a
    /// response recorded as a whole is converted to the stream that a real server would send.
    #[must_use]
    pub fn behaviour(&self, pieces: Pieces) -> Behaviour {
        let exchanges = self.0.clone();
        // Not the number of the request, since token requests are counted too.
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
    // A minimal pause makes hyper flush.
    let paused = |from| [piece(from), Part::Pause(Duration::from_millis(1))];
    (0..bytes.len())
        .step_by(size.max(1))
        .flat_map(paused)
        .collect()
}

/// Converts a complete Bedrock response to a stream.
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

/// The start of a block, if it has one, and its deltas.
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
