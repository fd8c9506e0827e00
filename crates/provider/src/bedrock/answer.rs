//! Reads answers of the Converse API, streamed and whole.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use domain::Usage;
use serde_json::{Map, Value, json};

use super::error;
use crate::{
    AnswerDecoder, AnswerError, AnswerEvent, DataPart, ErrorKind, StopReason,
    anthropic::usage::count,
};

/// The state of one answer. The events of its stream are those of [`super::FrameDecoder`], by name.
#[derive(Debug, Default)]
pub struct Decoder {
    open: Option<Open>,
    calls: usize,
    stop: Option<String>,
    usage: Option<Usage>,
    finished: bool,
    /// The last block was text: text of the next block is another part.
    after_text: bool,
}

/// The open block. Blocks do not overlap.
#[derive(Debug)]
enum Open {
    Text {
        citations: Vec<Value>,
    },
    Reasoning {
        signature: String,
        redacted: String,
    },
    Call {
        index: usize,
        has_arguments: bool,
    },
    /// A provider-specific block, with the text of its `input` so far.
    Other {
        block: Map<String, Value>,
        input: String,
    },
}

impl AnswerDecoder for Decoder {
    fn event(
        &mut self,
        name: Option<&str>,
        data: &str,
        out: &mut Vec<AnswerEvent>,
    ) -> Result<(), AnswerError> {
        let name = name.unwrap_or_default();
        if self.finished {
            return Ok(());
        }
        if let Some(exception) = name.strip_prefix("exception/") {
            return match self.stop {
                Some(_) => Ok(()),
                None => Err(error::of_exception(exception, data)),
            };
        }
        match json_repair::parse(data) {
            Ok(mut event) => self.take(name, &mut event, out),
            Err(_) if self.stop.is_some() => {}
            Err(fault) => return Err(protocol(format!("an event is not valid JSON: {fault}"))),
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<AnswerEvent>) -> Result<(), AnswerError> {
        if self.finished {
            return Ok(());
        }
        if self.stop.is_none() {
            return Err(protocol("the stream ended before the answer did"));
        }
        self.finish(out);
        Ok(())
    }

    fn whole(&mut self, body: &str, out: &mut Vec<AnswerEvent>) -> Result<(), AnswerError> {
        let mut answer = json_repair::parse(body)
            .map_err(|fault| protocol(format!("the answer is not valid JSON: {fault}")))?;
        let Value::Array(content) = taken(&mut answer, "/output/message/content") else {
            return Err(protocol("the answer has no list `output.message.content`"));
        };
        for block in content {
            self.take_block(block, out);
        }
        self.stop = answer["stopReason"].as_str().map(str::to_owned);
        self.usage = usage(&answer["usage"]);
        self.finish(out);
        Ok(())
    }
}

impl Decoder {
    fn take(&mut self, name: &str, event: &mut Value, out: &mut Vec<AnswerEvent>) {
        match name {
            "contentBlockStart" => self.start(taken(event, "/start"), out),
            "contentBlockDelta" => self.take_delta(taken(event, "/delta"), out),
            "contentBlockStop" => self.close(out),
            "messageStop" => {
                self.close(out);
                self.stop = event["stopReason"].as_str().map(str::to_owned);
            }
            "metadata" => {
                self.usage = usage(&event["usage"]).or(self.usage);
                if self.stop.is_some() {
                    self.finish(out);
                }
            }
            // The start of the message, and unknown events.
            _ => {}
        }
    }

    fn start(&mut self, mut start: Value, out: &mut Vec<AnswerEvent>) {
        self.close(out);
        self.after_text = false;
        let call = &start["toolUse"];
        if call.is_object() && call["type"] != "server_tool_use" {
            return self.start_call(&taken(&mut start, "/toolUse"), out);
        }
        if let Value::Object(block) = start {
            self.open = Some(Open::Other {
                block,
                input: String::new(),
            });
        }
    }

    fn start_call(&mut self, call: &Value, out: &mut Vec<AnswerEvent>) {
        let index = self.calls;
        self.calls += 1;
        let text = |field: &str| {
            call[field]
                .as_str()
                .filter(|it| !it.is_empty())
                .map(str::to_owned)
        };
        let id = text("toolUseId").unwrap_or_else(|| format!("call_{index}"));
        out.push(AnswerEvent::CallStarted {
            index,
            id,
            name: text("name").unwrap_or_default(),
        });
        self.open = Some(Open::Call {
            index,
            has_arguments: false,
        });
    }

    fn take_delta(&mut self, mut delta: Value, out: &mut Vec<AnswerEvent>) {
        if let Value::String(text) = taken(&mut delta, "/text") {
            return self.take_text(text, out);
        }
        if delta["reasoningContent"].is_object() {
            return self.take_reasoning(taken(&mut delta, "/reasoningContent"), out);
        }
        match &mut self.open {
            Some(Open::Call {
                index,
                has_arguments,
            }) => {
                if let Value::String(delta) = taken(&mut delta, "/toolUse/input")
                    && !delta.is_empty()
                {
                    *has_arguments = true;
                    out.push(AnswerEvent::Arguments {
                        index: *index,
                        delta,
                    });
                }
            }
            Some(Open::Text { citations }) => {
                let citation = taken(&mut delta, "/citation");
                citations.extend(Some(citation).filter(|it| !it.is_null()));
            }
            Some(Open::Other { block, input }) => {
                input.push_str(delta["toolUse"]["input"].as_str().unwrap_or_default());
                if let (Value::Array(content), Some(Value::Object(result))) = (
                    taken(&mut delta, "/toolResult"),
                    block.get_mut("toolResult"),
                ) {
                    match result.get_mut("content") {
                        Some(Value::Array(before)) => before.extend(content),
                        _ => drop(result.insert("content".to_owned(), Value::Array(content))),
                    }
                }
            }
            _ => {}
        }
    }

    /// Text and reasoning start with their first delta.
    fn take_text(&mut self, text: String, out: &mut Vec<AnswerEvent>) {
        if text.is_empty() {
            return;
        }
        if !matches!(self.open, Some(Open::Text { .. })) {
            self.close(out);
            if std::mem::take(&mut self.after_text) {
                out.push(AnswerEvent::Data {
                    part: DataPart::Text,
                    data: json!({"type": "text"}),
                });
            }
            self.open = Some(Open::Text {
                citations: Vec::new(),
            });
        }
        out.push(AnswerEvent::Text(text));
    }

    fn take_reasoning(&mut self, mut content: Value, out: &mut Vec<AnswerEvent>) {
        if !matches!(self.open, Some(Open::Reasoning { .. })) {
            self.close(out);
            self.after_text = false;
            self.open = Some(Open::Reasoning {
                signature: String::new(),
                redacted: String::new(),
            });
        }
        if let Some(Open::Reasoning {
            signature,
            redacted,
        }) = &mut self.open
        {
            signature.push_str(content["signature"].as_str().unwrap_or_default());
            append_base64(
                redacted,
                content["redactedContent"].as_str().unwrap_or_default(),
            );
        }
        if let Value::String(text) = taken(&mut content, "/text")
            && !text.is_empty()
        {
            out.push(AnswerEvent::Reasoning(text));
        }
    }

    fn close(&mut self, out: &mut Vec<AnswerEvent>) {
        let (part, data) = match self.open.take() {
            None => return,
            Some(Open::Text { citations }) if citations.is_empty() => {
                self.after_text = true;
                return;
            }
            Some(Open::Text { citations }) => (
                DataPart::Text,
                json!({"type": "text", "citations": citations}),
            ),
            Some(Open::Reasoning { redacted, .. }) if !redacted.is_empty() => (
                DataPart::Reasoning,
                json!({"type": "redacted_thinking", "data": redacted}),
            ),
            Some(Open::Reasoning { signature, .. }) if signature.is_empty() => {
                (DataPart::Reasoning, json!({"type": "thinking"}))
            }
            Some(Open::Reasoning { signature, .. }) => (
                DataPart::Reasoning,
                json!({"type": "thinking", "signature": signature}),
            ),
            Some(Open::Call {
                index,
                has_arguments,
            }) => {
                if !has_arguments {
                    out.push(AnswerEvent::Arguments {
                        index,
                        delta: "{}".to_owned(),
                    });
                }
                return;
            }
            Some(Open::Other { mut block, input }) => {
                if let (Some(Value::Object(call)), false) =
                    (block.get_mut("toolUse"), input.is_empty())
                {
                    call.insert("input".to_owned(), domain::message::arguments_value(&input));
                }
                (DataPart::Other, Value::Object(block))
            }
        };
        out.push(AnswerEvent::Data { part, data });
    }

    /// A block of a whole answer.
    fn take_block(&mut self, mut block: Value, out: &mut Vec<AnswerEvent>) {
        if let Value::String(text) = taken(&mut block, "/text") {
            self.take_text(text, out);
        } else if block["citationsContent"].is_object() {
            self.take_cited(taken(&mut block, "/citationsContent"), out);
        } else if block["reasoningContent"].is_object() {
            let mut content = taken(&mut block, "/reasoningContent");
            let text = taken(&mut content, "/reasoningText");
            self.take_reasoning(if text.is_object() { text } else { content }, out);
        } else {
            let input = block["toolUse"]["input"].clone();
            self.start(block, out);
            if let Some(Open::Call {
                index,
                has_arguments,
            }) = &mut self.open
                && !input.is_null()
            {
                *has_arguments = true;
                out.push(AnswerEvent::Arguments {
                    index: *index,
                    delta: input.to_string(),
                });
            }
        }
        self.close(out);
    }

    fn take_cited(&mut self, mut cited: Value, out: &mut Vec<AnswerEvent>) {
        for part in cited
            .get_mut("content")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            if let Value::String(text) = taken(part, "/text") {
                self.take_text(text, out);
            }
        }
        if let (Some(Open::Text { citations }), Value::Array(more)) =
            (&mut self.open, taken(&mut cited, "/citations"))
        {
            citations.extend(more);
        }
    }

    fn finish(&mut self, out: &mut Vec<AnswerEvent>) {
        self.close(out);
        self.finished = true;
        let reason = match self.stop.as_deref() {
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
            Some("guardrail_intervened" | "content_filtered") => StopReason::Refused,
            _ if self.calls > 0 => StopReason::ToolCalls,
            _ => StopReason::Stop,
        };
        out.push(AnswerEvent::Finished {
            reason,
            usage: self.usage,
        });
    }
}

/// The value at a JSON pointer; `null` if there is none.
fn taken(value: &mut Value, pointer: &str) -> Value {
    value
        .pointer_mut(pointer)
        .map(Value::take)
        .unwrap_or_default()
}

/// Bytes may come in several pieces, each encoded separately.
fn append_base64(all: &mut String, more: &str) {
    match (BASE64.decode(all.as_bytes()), BASE64.decode(more)) {
        (Ok(mut bytes), Ok(more)) => {
            bytes.extend(more);
            *all = BASE64.encode(bytes);
        }
        _ => all.push_str(more),
    }
}

/// Bedrock's `inputTokens` exclude cached tokens, ours include them.
fn usage(value: &Value) -> Option<Usage> {
    let of = |field: &str| count(&value[field]);
    let input = of("inputTokens");
    let output = of("outputTokens");
    input.or(output)?;
    let cached = of("cacheReadInputTokens").unwrap_or_default();
    let written = of("cacheWriteInputTokens").unwrap_or_default();
    let input = input.unwrap_or_default() + cached + written;
    Some(Usage {
        cached_tokens: cached,
        cache_write_tokens: written,
        ..Usage::of(input, output.unwrap_or_default())
    })
}

fn protocol(message: impl Into<String>) -> AnswerError {
    AnswerError::new(ErrorKind::Protocol, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(events: &[(&str, &str)]) -> (Vec<AnswerEvent>, Option<AnswerError>) {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        for (name, data) in events {
            if let Err(error) = decoder.event(Some(name), data, &mut out) {
                return (out, Some(error));
            }
        }
        let error = decoder.end(&mut out).err();
        (out, error)
    }

    #[test]
    fn an_exception_ends_an_incomplete_answer() {
        let text = (
            "contentBlockDelta",
            r#"{"contentBlockIndex":0,"delta":{"text":"a"}}"#,
        );
        let slow = ("exception/throttlingException", r#"{"message":"slow"}"#);
        let stop = ("messageStop", r#"{"stopReason":"end_turn"}"#);
        let error = AnswerError::new(ErrorKind::RateLimit, "slow");
        let said = AnswerEvent::Text("a".to_owned());
        assert_eq!(read(&[text, slow]), (vec![said.clone()], Some(error)));
        let finished = AnswerEvent::Finished {
            reason: StopReason::Stop,
            usage: None,
        };
        assert_eq!(read(&[text, stop, slow]), (vec![said, finished], None));
        assert_eq!(
            read(&[text]).1.map(|error| error.kind),
            Some(ErrorKind::Protocol)
        );
    }

    #[test]
    fn every_stop_reason_is_known() {
        for (word, reason) in [
            ("end_turn", StopReason::Stop),
            ("stop_sequence", StopReason::Stop),
            ("max_tokens", StopReason::Length),
            ("model_context_window_exceeded", StopReason::Length),
            ("guardrail_intervened", StopReason::Refused),
            ("content_filtered", StopReason::Refused),
            ("malformed_model_output", StopReason::Stop),
        ] {
            let stop = format!(r#"{{"stopReason":"{word}"}}"#);
            let expected = AnswerEvent::Finished {
                reason,
                usage: None,
            };
            assert_eq!(
                read(&[("messageStop", &stop)]),
                (vec![expected], None),
                "{word}"
            );
        }
    }

    #[test]
    fn redacted_reasoning_may_come_in_pieces() {
        let piece = |data: &str| {
            format!(r#"{{"delta":{{"reasoningContent":{{"redactedContent":"{data}"}}}}}}"#)
        };
        let (out, _) = read(&[
            ("contentBlockDelta", &piece("YQ==")),
            ("contentBlockDelta", &piece("YmM=")),
            ("messageStop", r#"{"stopReason":"end_turn"}"#),
        ]);
        let data = json!({"type": "redacted_thinking", "data": BASE64.encode("abc")});
        let expected = AnswerEvent::Data {
            part: DataPart::Reasoning,
            data,
        };
        assert_eq!(out[0], expected);
    }

    #[test]
    fn a_call_may_have_no_arguments() {
        let start = r#"{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"t","name":"ls"}}}"#;
        let empty = r#"{"contentBlockIndex":0,"delta":{"toolUse":{"input":""}}}"#;
        let (out, _) = read(&[
            ("contentBlockStart", start),
            ("contentBlockDelta", empty),
            ("contentBlockStop", r#"{"contentBlockIndex":0}"#),
            ("messageStop", r#"{"stopReason":"tool_use"}"#),
            (
                "metadata",
                r#"{"usage":{"inputTokens":1,"outputTokens":2,"cacheReadInputTokens":4}}"#,
            ),
        ]);
        let usage = Some(Usage {
            cached_tokens: 4,
            ..Usage::of(5, 2)
        });
        let expected = [
            AnswerEvent::CallStarted {
                index: 0,
                id: "t".to_owned(),
                name: "ls".to_owned(),
            },
            AnswerEvent::Arguments {
                index: 0,
                delta: "{}".to_owned(),
            },
            AnswerEvent::Finished {
                reason: StopReason::ToolCalls,
                usage,
            },
        ];
        assert_eq!(out, expected);
    }
}
