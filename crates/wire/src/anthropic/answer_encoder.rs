//! Encodes answers for clients of the Messages API, streamed and complete.

use domain::{StoredBlock, Usage};
use provider::{
    AnswerError, AnswerEvent, Citation, DataPart, StopReason,
    anthropic::{PROVIDER, usage_value},
};
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};
use sse::Frame;

use super::error;
use crate::sealed::SealedBlock;

/// Encodes one answer as a stream.
#[derive(Debug)]
pub struct AnswerEncoder {
    id: String,
    model: String,
    /// The owner of the answer's opaque data.
    provider: String,
    started: bool,
    /// The index of the next block.
    next: usize,
    text: Option<OpenText>,
    calls: Vec<OpenCall>,
}

#[derive(Debug, Clone, Copy)]
struct OpenText {
    index: usize,
    is_thinking: bool,
}

#[derive(Debug)]
struct OpenCall {
    /// The index of the call.
    call: usize,
    index: usize,
    id: String,
    arguments: String,
    /// Opaque data of another provider for it.
    data: Option<Value>,
}

impl AnswerEncoder {
    /// `id` is the answer's id, usually `msg_…`; `provider` is the one that the answer's data is stored under.
    #[must_use]
    pub fn new(id: &str, model: &str, provider: &str) -> Self {
        let id = id.to_owned();
        let model = model.to_owned();
        let provider = provider.to_owned();
        Self {
            id,
            model,
            provider,
            started: false,
            next: 0,
            text: None,
            calls: Vec::new(),
        }
    }

    /// Encodes the frames for an event. [`AnswerEvent::Finished`] ends the stream.
    pub fn event(&mut self, event: &AnswerEvent, out: &mut Vec<Frame>) {
        self.start(out);
        match event {
            AnswerEvent::Text(text) => {
                let index = self.open_text(false, out);
                delta(index, "text_delta", "text", text, out);
            }
            AnswerEvent::Reasoning(text) => {
                let index = self.open_text(true, out);
                delta(index, "thinking_delta", "thinking", text, out);
            }
            AnswerEvent::CallStarted { index, id, name } => self.start_call(*index, id, name, out),
            AnswerEvent::Arguments { index, delta } => self.write_arguments(*index, delta, out),
            AnswerEvent::Data { part, data } => self.write_data(*part, data, out),
            AnswerEvent::Citations(citations) => self.write_citations(citations, out),
            AnswerEvent::ServerTool(_) => {}
            AnswerEvent::Finished { reason, usage } => self.finish(*reason, *usage, out),
        }
    }

    /// Ends the stream with an error.
    pub fn error(&mut self, fault: &AnswerError, out: &mut Vec<Frame>) {
        push(
            "error",
            &error::error_body(error::error_type(fault.kind), &fault.message),
            out,
        );
    }

    fn start(&mut self, out: &mut Vec<Frame>) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        let message = json!({
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": usage_value(Usage::default()),
        });
        push(
            "message_start",
            &json!({"type": "message_start", "message": message}),
            out,
        );
    }

    fn begin_block(&mut self, block: &Value, out: &mut Vec<Frame>) -> usize {
        let index = self.next;
        self.next += 1;
        let event = json!({"type": "content_block_start", "index": index, "content_block": block});
        push("content_block_start", &event, out);
        index
    }

    /// A complete block.
    fn write_block(&mut self, block: &Value, out: &mut Vec<Frame>) {
        self.close_text(out);
        let index = self.begin_block(block, out);
        end_block(index, out);
    }

    fn open_text(&mut self, is_thinking: bool, out: &mut Vec<Frame>) -> usize {
        if let Some(text) = self.text.filter(|text| text.is_thinking == is_thinking) {
            return text.index;
        }
        self.close_text(out);
        self.close_whole_calls(out);
        let block = match is_thinking {
            true => json!({"type": "thinking", "thinking": "", "signature": ""}),
            false => json!({"type": "text", "text": ""}),
        };
        let index = self.begin_block(&block, out);
        self.text = Some(OpenText { index, is_thinking });
        index
    }

    fn close_text(&mut self, out: &mut Vec<Frame>) {
        if let Some(text) = self.text.take() {
            end_block(text.index, out);
        }
    }

    fn start_call(&mut self, call: usize, id: &str, name: &str, out: &mut Vec<Frame>) {
        self.close_text(out);
        self.close_whole_calls(out);
        let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
        let index = self.begin_block(&block, out);
        let id = id.to_owned();
        self.calls.push(OpenCall {
            call,
            index,
            id,
            arguments: String::new(),
            data: None,
        });
    }

    fn write_arguments(&mut self, call: usize, more: &str, out: &mut Vec<Frame>) {
        if let Some(open) = self.calls.iter_mut().find(|open| open.call == call) {
            open.arguments.push_str(more);
            delta(open.index, "input_json_delta", "partial_json", more, out);
        }
    }

    /// Ends calls whose arguments are complete. Calls may interleave, then they stay open concurrently.
    fn close_whole_calls(&mut self, out: &mut Vec<Frame>) {
        let is_whole =
            |call: &OpenCall| serde_json::from_str::<IgnoredAny>(&call.arguments).is_ok();
        self.close_calls(is_whole, out);
    }

    fn close_calls(&mut self, matches: impl Fn(&OpenCall) -> bool, out: &mut Vec<Frame>) {
        let (closed, open) = std::mem::take(&mut self.calls)
            .into_iter()
            .partition(matches);
        self.calls = open;
        let closed: Vec<OpenCall> = closed;
        for call in &closed {
            end_block(call.index, out);
        }
        for OpenCall { id, data, .. } in closed {
            if data.is_some() {
                self.write_foreign(StoredBlock::Call { id, data }, out);
            }
        }
    }

    fn write_data(&mut self, part: DataPart, data: &Value, out: &mut Vec<Frame>) {
        let is_ours = self.provider == PROVIDER;
        match part {
            DataPart::Reasoning if is_ours => self.end_thinking(data, out),
            DataPart::Reasoning => {
                let block = StoredBlock::Reasoning {
                    text: String::new(),
                    data: Some(data.clone()),
                };
                let signature = self.seal(block);
                self.end_thinking(&json!({ "signature": signature }), out);
            }
            DataPart::Text if is_ours => {
                let index = self.open_text(false, out);
                for citation in data["citations"].as_array().into_iter().flatten() {
                    let of = json!({"type": "citations_delta", "citation": citation});
                    push_delta(index, &of, out);
                }
                self.close_text(out);
            }
            DataPart::Text => {
                self.open_text(false, out);
                self.write_foreign(
                    StoredBlock::Text {
                        data: Some(data.clone()),
                    },
                    out,
                );
            }
            // The block has started, and this would have been part of its start.
            DataPart::Call(_) if is_ours => {}
            DataPart::Call(call) => {
                if let Some(open) = self.calls.iter_mut().find(|open| open.call == call) {
                    open.data = Some(data.clone());
                }
            }
            DataPart::Other if is_ours => {
                self.close_whole_calls(out);
                self.write_block(data, out);
            }
            DataPart::Other => self.write_foreign(StoredBlock::Other { data: data.clone() }, out),
        }
    }

    /// Citations of another provider, in the current text. Without their data they are not sent back to Claude.
    fn write_citations(&mut self, citations: &[Citation], out: &mut Vec<Frame>) {
        let Some(text) = self
            .text
            .filter(|text| !text.is_thinking && self.provider != PROVIDER)
        else {
            return;
        };
        for Citation {
            url, title, quote, ..
        } in citations.iter().filter(|citation| !citation.url.is_empty())
        {
            let citation = json!({
                "type": "web_search_result_location",
                "url": url,
                "title": title,
                "cited_text": quote.as_deref().unwrap_or_default(),
                "encrypted_index": "",
            });
            push_delta(
                text.index,
                &json!({"type": "citations_delta", "citation": citation}),
                out,
            );
        }
    }

    fn end_thinking(&mut self, data: &Value, out: &mut Vec<Frame>) {
        if data["type"] == "redacted_thinking" {
            return self.write_block(data, out);
        }
        let index = self.open_text(true, out);
        if let Some(signature) = data["signature"].as_str() {
            delta(index, "signature_delta", "signature", signature, out);
        }
        self.close_text(out);
    }

    fn seal(&self, block: StoredBlock) -> String {
        SealedBlock {
            provider: self.provider.to_owned(),
            block,
        }
        .seal()
    }

    fn write_foreign(&mut self, block: StoredBlock, out: &mut Vec<Frame>) {
        let data = self.seal(block);
        self.write_block(&json!({"type": "redacted_thinking", "data": data}), out);
    }

    fn finish(&mut self, reason: StopReason, used: Option<Usage>, out: &mut Vec<Frame>) {
        self.close_text(out);
        self.close_calls(|_| true, out);
        let reason = match reason {
            StopReason::Stop => "end_turn",
            StopReason::ToolCalls => "tool_use",
            StopReason::Length => "max_tokens",
            StopReason::Refused => "refusal",
            StopReason::Paused => "pause_turn",
        };
        let event = json!({
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": null},
            "usage": usage_value(used.unwrap_or_default()),
        });
        push("message_delta", &event, out);
        push("message_stop", &json!({"type": "message_stop"}), out);
    }
}

fn push(event: &'static str, data: &Value, out: &mut Vec<Frame>) {
    out.push(Frame {
        id: None,
        event: Some(event),
        data: data.to_string(),
    });
}

fn push_delta(index: usize, delta: &Value, out: &mut Vec<Frame>) {
    push(
        "content_block_delta",
        &json!({"type": "content_block_delta", "index": index, "delta": delta}),
        out,
    );
}

/// A text delta. This is on the path of every token, so no tree is built.
fn delta(index: usize, kind: &str, field: &str, text: &str, out: &mut Vec<Frame>) {
    // Serializing a string to memory cannot fail.
    let text = serde_json::to_string(text).unwrap_or_default();
    let data = format!(
        r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"{kind}","{field}":{text}}}}}"#
    );
    out.push(Frame {
        id: None,
        event: Some("content_block_delta"),
        data,
    });
}

fn end_block(index: usize, out: &mut Vec<Frame>) {
    push(
        "content_block_stop",
        &json!({"type": "content_block_stop", "index": index}),
        out,
    );
}

/// The complete answer: the result of accumulating the stream.
///
/// `events` must end with [`AnswerEvent::Finished`].
#[must_use]
pub fn encode_whole(id: &str, model: &str, provider: &str, events: &[AnswerEvent]) -> Value {
    let mut encoder = AnswerEncoder::new(id, model, provider);
    let mut frames = Vec::new();
    for event in events {
        encoder.event(event, &mut frames);
    }
    let mut message = Value::Null;
    let mut blocks: Vec<Value> = Vec::new();
    for frame in frames {
        // We have encoded it ourselves.
        let mut event: Value = serde_json::from_str(&frame.data).unwrap_or_default();
        let index = event["index"]
            .as_u64()
            .and_then(|index| usize::try_from(index).ok());
        match frame.event {
            Some("message_start") => message = event["message"].take(),
            Some("content_block_start") => blocks.push(event["content_block"].take()),
            Some("content_block_delta") => {
                if let Some(block) = index.and_then(|index| blocks.get_mut(index)) {
                    append(block, event["delta"].take());
                }
            }
            Some("message_delta") => {
                message["stop_reason"] = event["delta"]["stop_reason"].take();
                message["usage"] = event["usage"].take();
            }
            _ => {}
        }
    }
    blocks.iter_mut().for_each(parse_input);
    message["content"] = Value::Array(blocks);
    message
}

fn append(block: &mut Value, delta: Value) {
    let Value::Object(fields) = delta else { return };
    for (field, value) in fields.into_iter().filter(|(field, _)| field != "type") {
        match (field.as_str(), value) {
            ("citation", citation) => match &mut block["citations"] {
                Value::Array(citations) => citations.push(citation),
                none => *none = Value::Array(vec![citation]),
            },
            (field, Value::String(more)) => match &mut block[field] {
                Value::String(text) => text.push_str(&more),
                none => *none = Value::String(more),
            },
            _ => {}
        }
    }
}

/// Replaces the text of the arguments by the object that the API uses.
fn parse_input(block: &mut Value) {
    let Some(arguments) = block
        .as_object_mut()
        .and_then(|block| block.shift_remove("partial_json"))
    else {
        return;
    };
    let arguments = domain::message::arguments_value(arguments.as_str().unwrap_or_default());
    block["input"] = match arguments {
        Value::Object(_) => arguments,
        broken => Value::Object(Map::from_iter([("INVALID_JSON".to_owned(), broken)])),
    };
}
