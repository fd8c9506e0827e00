//! Responses of the server: steps that are encoded once and can be played any number of times.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use domain::Usage;
use provider::openai::{ChunkEncoder, DONE};
use serde::Deserialize;
use serde_json::{Value, json};

/// One step of a streamed response.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Step {
    /// Text, one chunk per word.
    Text {
        /// The whole text.
        text: String,
        /// Tokens per second. If absent, all in one write; if infinite, without pauses but one write per token.
        #[serde(default)]
        tokens_per_second: Option<f64>,
    },
    /// Reasoning, one chunk per word.
    Reasoning {
        /// The whole text.
        text: String,
        /// Tokens per second; all at once if absent.
        #[serde(default)]
        tokens_per_second: Option<f64>,
    },
    /// Parallel tool calls with interleaved argument fragments.
    Calls {
        /// The calls, numbered from 0.
        calls: Vec<Call>,
    },
    /// A pause.
    Pause {
        /// Its duration, milliseconds.
        ms: u64,
    },
    /// The chunk with the token usage.
    Usage {
        /// Input tokens.
        input_tokens: u64,
        /// Output tokens.
        output_tokens: u64,
    },
    /// The chunk with the finish reason, and `[DONE]`.
    Finish {
        /// The reason.
        reason: Finish,
    },
    /// An event with arbitrary data.
    Event {
        /// The data.
        data: String,
    },
    /// An error object within the stream.
    Error {
        /// The error message.
        message: String,
    },
    /// Raw text without any framing.
    Raw {
        /// The text.
        text: String,
    },
    /// Raw bytes in a separate write, for characters cut in two.
    Bytes {
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// A single line of this size, which is never held in memory.
    Flood {
        /// Its size, bytes.
        size_bytes: u64,
    },
    /// The connection breaks.
    Cut,
    /// Nothing more is sent, and the connection stays open until the client disconnects.
    Silence,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Call {
    /// The tool's name.
    pub name: String,
    /// The arguments; a string is used as the raw argument text.
    pub arguments: Value,
}

/// Why the model stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It is complete.
    Stop,
    /// Tools have to be run.
    ToolCalls,
    /// The token limit was reached.
    Length,
    /// The content filter.
    ContentFilter,
}

/// A complete response that can be sent any number of times.
#[derive(Debug, Clone)]
pub struct Reply(pub(crate) Arc<Kind>);

#[derive(Debug)]
pub(crate) enum Kind {
    Answer {
        status: u16,
        headers: Vec<(String, String)>,
        parts: Vec<Part>,
    },
    Close,
}

/// What to write, and when.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Bytes(Bytes),
    Pause(Duration),
    Flood(u64),
    Cut,
    Silence,
}

impl Reply {
    /// A stream of these steps.
    #[must_use]
    pub fn stream(steps: &[Step]) -> Self {
        Self::answer(200, &[("content-type", "text/event-stream")], encode(steps))
    }

    /// The same stream with CRLF line ends.
    #[must_use]
    pub fn crlf_stream(steps: &[Step]) -> Self {
        let crlf = |part| match part {
            Part::Bytes(bytes) => Part::Bytes(with_crlf(&bytes)),
            other => other,
        };
        let parts = encode(steps).into_iter().map(crlf).collect();
        Self::answer(200, &[("content-type", "text/event-stream")], parts)
    }

    /// Text at once, with the usual end.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let text = Step::Text {
            text: text.to_owned(),
            tokens_per_second: None,
        };
        Self::stream(&[
            text,
            Step::Finish {
                reason: Finish::Stop,
            },
        ])
    }

    /// Tool calls at once, with the usual end.
    #[must_use]
    pub fn calls(calls: &[(&str, Value)]) -> Self {
        let calls = calls.iter().map(|(name, arguments)| Call {
            name: (*name).into(),
            arguments: arguments.clone(),
        });
        Self::stream(&[
            Step::Calls {
                calls: calls.collect(),
            },
            Step::Finish {
                reason: Finish::ToolCalls,
            },
        ])
    }

    /// A response that is not streamed, with a content length like real servers.
    #[must_use]
    pub fn status(status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        let length = body.len().to_string();
        let headers = [headers, &[("content-length", length.as_str())]].concat();
        Self::answer(
            status,
            &headers,
            vec![Part::Bytes(Bytes::copy_from_slice(body.as_bytes()))],
        )
    }

    /// Like [`Reply::status`], with bytes that need not be text.
    #[must_use]
    pub fn bytes(status: u16, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let length = body.len().to_string();
        let headers = [headers, &[("content-length", length.as_str())]].concat();
        Self::answer(status, &headers, vec![Part::Bytes(body)])
    }

    /// A stream of these pieces, each in a separate write without pauses.
    #[must_use]
    pub fn writes(content_type: &str, pieces: Vec<Vec<u8>>) -> Self {
        let parts = pieces
            .into_iter()
            .map(|piece| Part::Bytes(piece.into()))
            .collect();
        Self::answer(200, &[("content-type", content_type)], parts)
    }

    pub(crate) fn parts(status: u16, headers: &[(&str, &str)], parts: Vec<Part>) -> Self {
        Self::answer(status, headers, parts)
    }

    /// OpenAI's error object.
    #[must_use]
    pub fn error(status: u16, message: &str) -> Self {
        let body = json!({ "error": { "message": message, "type": "scripted", "code": null } });
        Self::status(
            status,
            &[("content-type", "application/json")],
            &body.to_string(),
        )
    }

    /// A JSON response that is not streamed.
    #[must_use]
    pub fn json(body: &Value) -> Self {
        Self::status(
            200,
            &[("content-type", "application/json")],
            &body.to_string(),
        )
    }

    /// A web page.
    #[must_use]
    pub fn html() -> Self {
        let page = "<!doctype html>\n<html><body><h1>It works!</h1></body></html>";
        Self::status(200, &[("content-type", "text/html")], page)
    }

    /// Closes the connection without a response.
    #[must_use]
    pub fn close() -> Self {
        Self(Arc::new(Kind::Close))
    }

    fn answer(status: u16, headers: &[(&str, &str)], parts: Vec<Part>) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self(Arc::new(Kind::Answer {
            status,
            headers: headers.iter().map(owned).collect(),
            parts,
        }))
    }
}

/// Encodes steps; all bytes between two pauses become one write.
fn encode(steps: &[Step]) -> Vec<Part> {
    let mut out = Encoder {
        chunks: ChunkEncoder::new("chatcmpl-scripted", 0, "scripted"),
        parts: vec![],
        written: vec![],
    };
    if steps.iter().any(|step| {
        matches!(
            step,
            Step::Text { .. } | Step::Reasoning { .. } | Step::Calls { .. }
        )
    }) {
        out.event(&out.chunks.role());
    }
    steps.iter().for_each(|step| out.step(step));
    out.flush();
    out.parts
}

struct Encoder {
    chunks: ChunkEncoder,
    parts: Vec<Part>,
    written: Vec<u8>,
}

impl Encoder {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Text {
                text,
                tokens_per_second,
            } => {
                for word in words(text) {
                    self.pace(*tokens_per_second);
                    self.event(&self.chunks.content(word));
                }
            }
            Step::Reasoning {
                text,
                tokens_per_second,
            } => {
                for word in words(text) {
                    self.pace(*tokens_per_second);
                    self.event(&self.chunks.reasoning(word));
                }
            }
            Step::Calls { calls } => self.calls(calls),
            Step::Pause { ms } => self.part(Part::Pause(Duration::from_millis(*ms))),
            Step::Usage {
                input_tokens,
                output_tokens,
            } => {
                let usage = Usage::of(*input_tokens, *output_tokens);
                self.event(&self.chunks.usage(usage));
            }
            Step::Finish { reason } => {
                self.event(&self.chunks.finish(reason.as_str()));
                self.event(DONE);
            }
            Step::Event { data } => self.event(data),
            Step::Error { message } => {
                self.event(&json!({ "error": { "message": message } }).to_string())
            }
            Step::Raw { text } => self.written.extend_from_slice(text.as_bytes()),
            Step::Bytes { bytes } => {
                self.part(Part::Bytes(Bytes::copy_from_slice(bytes)));
                // A minimal pause makes hyper flush.
                self.part(Part::Pause(Duration::from_millis(1)));
            }
            Step::Flood { size_bytes } => self.part(Part::Flood(*size_bytes)),
            Step::Cut => self.part(Part::Cut),
            Step::Silence => self.part(Part::Silence),
        }
    }

    fn calls(&mut self, calls: &[Call]) {
        let texts: Vec<String> = calls.iter().map(Call::argument_text).collect();
        for (index, call) in calls.iter().enumerate() {
            self.event(
                &self
                    .chunks
                    .call_started(index, &format!("call_{index}"), &call.name),
            );
        }
        let mut fragments: Vec<_> = texts.iter().map(|text| fragments(text)).collect();
        let mut any = true;
        while any {
            any = false;
            for (index, rest) in fragments.iter_mut().enumerate() {
                if let Some(fragment) = rest.next() {
                    any = true;
                    let data = self.chunks.call_arguments(index, &fragment);
                    sse::write_data(&data, &mut self.written);
                }
            }
        }
    }

    fn pace(&mut self, tokens_per_second: Option<f64>) {
        let pause = tokens_per_second.and_then(|rate| Duration::try_from_secs_f64(1.0 / rate).ok());
        if let Some(pause) = pause {
            self.part(Part::Pause(pause));
        }
    }

    fn event(&mut self, data: &str) {
        sse::write_data(data, &mut self.written);
    }

    fn part(&mut self, part: Part) {
        self.flush();
        // A zero pause only ends the write.
        if !matches!(part, Part::Pause(Duration::ZERO)) {
            self.parts.push(part);
        }
    }

    fn flush(&mut self) {
        if !self.written.is_empty() {
            self.parts
                .push(Part::Bytes(std::mem::take(&mut self.written).into()));
        }
    }
}

impl Call {
    fn argument_text(&self) -> String {
        match &self.arguments {
            Value::String(raw) => raw.clone(),
            arguments => arguments.to_string(),
        }
    }
}

impl Finish {
    fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::ToolCalls => "tool_calls",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
        }
    }
}

/// Words with their trailing white space.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' ', '\n'])
}

/// Pieces of 16 characters.
fn fragments(text: &str) -> impl Iterator<Item = String> {
    let mut chars = text.chars();
    std::iter::from_fn(move || {
        let piece: String = chars.by_ref().take(16).collect();
        (!piece.is_empty()).then_some(piece)
    })
}

fn with_crlf(bytes: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(bytes.len() + 64);
    for byte in bytes {
        if *byte == b'\n' {
            out.push(b'\r');
        }
        out.push(*byte);
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(steps: &[Step]) -> Vec<String> {
        let shown = encode(steps).into_iter().map(|part| match part {
            Part::Bytes(bytes) => String::from_utf8_lossy(&bytes)
                .matches("data: ")
                .count()
                .to_string(),
            other => format!("{other:?}"),
        });
        shown.collect()
    }

    #[test]
    fn one_write_per_stretch_without_a_pause() {
        let text = |rate| Step::Text {
            text: "a b c".into(),
            tokens_per_second: rate,
        };
        let finish = Step::Finish {
            reason: Finish::Stop,
        };
        assert_eq!(parts(&[text(None), finish.clone()]), ["6"]);
        assert_eq!(
            parts(&[text(Some(f64::INFINITY)), finish.clone()]),
            ["1", "1", "1", "3"]
        );
        assert_eq!(
            parts(&[text(None), Step::Pause { ms: 5 }, finish.clone()]),
            ["4", "Pause(5ms)", "2"]
        );
        assert_eq!(
            parts(&[text(Some(100.0)), finish]),
            [
                "1",
                "Pause(10ms)",
                "1",
                "Pause(10ms)",
                "1",
                "Pause(10ms)",
                "3"
            ]
        );
    }

    #[test]
    fn parallel_calls_interleave() {
        let call = |name: &str| Call {
            name: name.into(),
            arguments: json!({"path": "/a/long/path/indeed"}),
        };
        let encoded = encode(&[Step::Calls {
            calls: vec![call("a"), call("b")],
        }]);
        let [Part::Bytes(bytes)] = encoded.as_slice() else {
            panic!("one write")
        };
        let text = String::from_utf8_lossy(bytes);
        let order: Vec<&str> = text
            .lines()
            .filter(|line| line.contains("tool_calls"))
            .map(|line| {
                if line.contains(r#""index":1"#) {
                    "b"
                } else {
                    "a"
                }
            })
            .collect();
        assert_eq!(order.concat(), "ababab");
    }
}
