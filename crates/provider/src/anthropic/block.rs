//! A content block of an answer while it is being received.

use serde_json::{Map, Value, json};

use crate::{AnswerEvent, DataPart};

/// An open block.
#[derive(Debug)]
pub(super) enum Open {
    Text {
        citations: Vec<Value>,
        /// Whether it has any text yet.
        written: bool,
    },
    Thinking {
        signature: String,
    },
    RedactedThinking {
        data: Value,
    },
    Call {
        index: usize,
        /// The input given at the start, which is usually empty.
        input: Value,
        has_arguments: bool,
        caller: Option<Value>,
    },
    /// A provider-specific block, with the text of its `input` so far.
    Other {
        block: Map<String, Value>,
        input: String,
    },
}

impl Open {
    /// The block that this JSON starts.
    pub(super) fn new(
        mut block: Map<String, Value>,
        calls: &mut usize,
        out: &mut Vec<AnswerEvent>,
    ) -> Self {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => {
                let citations = match block.remove("citations") {
                    Some(Value::Array(citations)) => citations,
                    _ => Vec::new(),
                };
                let written = push_text(AnswerEvent::Text, block.remove("text"), out);
                Self::Text { citations, written }
            }
            Some("thinking") => {
                push_text(AnswerEvent::Reasoning, block.remove("thinking"), out);
                let signature = block
                    .get("signature")
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned();
                Self::Thinking { signature }
            }
            Some("redacted_thinking") => Self::RedactedThinking {
                data: block.remove("data").unwrap_or_default(),
            },
            Some("tool_use") => {
                let index = *calls;
                *calls += 1;
                let text =
                    |field: &str| block.get(field).and_then(Value::as_str).unwrap_or_default();
                let id = match text("id") {
                    "" => format!("call_{index}"),
                    id => id.to_owned(),
                };
                out.push(AnswerEvent::CallStarted {
                    index,
                    id,
                    name: text("name").to_owned(),
                });
                // Direct calls by the model need no note.
                let direct = |caller: &Value| caller.is_null() || caller["type"] == "direct";
                let caller = block.remove("caller").filter(|caller| !direct(caller));
                let input = block.remove("input").unwrap_or_default();
                Self::Call {
                    index,
                    input,
                    has_arguments: false,
                    caller,
                }
            }
            _ => Self::Other {
                block,
                input: String::new(),
            },
        }
    }

    /// Adds a delta other than text, reasoning or arguments.
    pub(super) fn take(&mut self, delta: Map<String, Value>) {
        match self {
            Self::Text { citations, .. } => citations.extend(delta.get("citation").cloned()),
            Self::Thinking { signature } => {
                signature.push_str(
                    delta
                        .get("signature")
                        .and_then(Value::as_str)
                        .unwrap_or_default(),
                );
            }
            Self::RedactedThinking { .. } | Self::Call { .. } => {}
            Self::Other { block, input } => {
                for (field, value) in delta.into_iter().filter(|(field, _)| field != "type") {
                    match (value, block.get_mut(&field)) {
                        (Value::String(more), _) if field == "partial_json" => {
                            input.push_str(&more)
                        }
                        (Value::String(more), Some(Value::String(text))) => text.push_str(&more),
                        (value, _) => drop(block.insert(field, value)),
                    }
                }
            }
        }
    }

    /// The block is complete.
    pub(super) fn close(self, out: &mut Vec<AnswerEvent>) {
        let (part, data) = match self {
            Self::Text { citations, written } if citations.is_empty() || !written => return,
            Self::Text { citations, .. } => (
                DataPart::Text,
                json!({"type": "text", "citations": citations}),
            ),
            Self::Thinking { signature } if signature.is_empty() => {
                (DataPart::Reasoning, json!({"type": "thinking"}))
            }
            Self::Thinking { signature } => (
                DataPart::Reasoning,
                json!({"type": "thinking", "signature": signature}),
            ),
            Self::RedactedThinking { data } => (
                DataPart::Reasoning,
                json!({"type": "redacted_thinking", "data": data}),
            ),
            Self::Call {
                index,
                input,
                has_arguments,
                caller,
            } => {
                if !has_arguments {
                    let delta = if input.is_null() {
                        "{}".to_owned()
                    } else {
                        input.to_string()
                    };
                    out.push(AnswerEvent::Arguments { index, delta });
                }
                let Some(caller) = caller else { return };
                (
                    DataPart::Call(index),
                    json!({"type": "tool_use", "caller": caller}),
                )
            }
            Self::Other { mut block, input } => {
                if !input.is_empty() {
                    block.insert("input".to_owned(), domain::message::arguments_value(&input));
                }
                (DataPart::Other, Value::Object(block))
            }
        };
        out.push(AnswerEvent::Data { part, data });
    }
}

/// Whether there was any text.
fn push_text(
    event: fn(String) -> AnswerEvent,
    text: Option<Value>,
    out: &mut Vec<AnswerEvent>,
) -> bool {
    match text {
        Some(Value::String(text)) if !text.is_empty() => {
            out.push(event(text));
            true
        }
        _ => false,
    }
}
