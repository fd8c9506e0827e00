//! An item of a response's output, complete or in progress.

use serde_json::{Value, json};

use super::tools::FunctionName;

/// Longer results of our tools are cut here; the log has them complete.
const RESULT_LIMIT_BYTES: usize = 16 << 10;
/// The server label in items of our own tool calls.
const SERVER_LABEL: &str = "glasshouse";

/// An item. Its content grows while it is open.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) status: &'static str,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// A text of the agent.
    Message {
        text: String,
        annotations: Vec<Value>,
        /// Whether it is the answer or commentary; known at its end.
        phase: Option<&'static str>,
    },
    Reasoning {
        text: String,
        /// The provider's opaque data, sealed.
        encrypted: Option<String>,
    },
    /// A call of a tool that the caller runs.
    FunctionCall {
        call_id: String,
        name: FunctionName,
        arguments: String,
    },
    /// A call of a caller's tool that takes a text.
    CustomCall {
        call_id: String,
        name: FunctionName,
        input: String,
    },
    /// A call of one of our tools: clients see it as a server-side call.
    ServerCall {
        name: String,
        arguments: String,
        result: Option<Result<String, String>>,
    },
}

impl Item {
    pub(super) fn new(id: String, kind: Kind) -> Self {
        Self {
            id,
            status: "in_progress",
            kind,
        }
    }

    /// The announced form: without content.
    pub(super) fn announced(&self) -> Value {
        let kind = match &self.kind {
            Kind::Message { .. } => Kind::Message {
                text: String::new(),
                annotations: Vec::new(),
                phase: None,
            },
            Kind::Reasoning { .. } => Kind::Reasoning {
                text: String::new(),
                encrypted: None,
            },
            Kind::FunctionCall { call_id, name, .. } => Kind::FunctionCall {
                call_id: call_id.clone(),
                name: name.clone(),
                arguments: String::new(),
            },
            Kind::CustomCall { call_id, name, .. } => Kind::CustomCall {
                call_id: call_id.clone(),
                name: name.clone(),
                input: String::new(),
            },
            Kind::ServerCall { name, .. } => Kind::ServerCall {
                name: name.clone(),
                arguments: String::new(),
                result: None,
            },
        };
        Self {
            id: self.id.clone(),
            status: "in_progress",
            kind,
        }
        .to_json()
    }

    pub(super) fn to_json(&self) -> Value {
        let Self { id, status, kind } = self;
        match kind {
            Kind::Message { text, phase, .. } => {
                let is_announced = text.is_empty() && *status == "in_progress";
                let content = if is_announced {
                    json!([])
                } else {
                    json!([self.part()])
                };
                let mut message = json!({
                    "id": id, "type": "message", "status": status, "role": "assistant", "content": content,
                });
                if let Some(phase) = phase {
                    message["phase"] = json!(phase);
                }
                message
            }
            Kind::Reasoning { text, encrypted } => {
                let summary = if text.is_empty() {
                    json!([])
                } else {
                    json!([self.part()])
                };
                let mut reasoning =
                    json!({"id": id, "type": "reasoning", "status": status, "summary": summary});
                if let Some(encrypted) = encrypted {
                    reasoning["encrypted_content"] = json!(encrypted);
                }
                reasoning
            }
            Kind::FunctionCall {
                call_id,
                name,
                arguments,
            } => {
                let call = json!({
                    "id": id, "type": "function_call", "status": status,
                    "call_id": call_id, "name": name.name, "arguments": arguments,
                });
                with_namespace(call, name)
            }
            Kind::CustomCall {
                call_id,
                name,
                input,
            } => {
                let call = json!({
                    "id": id, "type": "custom_tool_call", "status": status,
                    "call_id": call_id, "name": name.name, "input": input,
                });
                with_namespace(call, name)
            }
            Kind::ServerCall {
                name,
                arguments,
                result,
            } => {
                let output = result.as_ref().and_then(|result| result.as_ref().ok());
                let error = result
                    .as_ref()
                    .and_then(|result| result.as_ref().err())
                    .map(|error| {
                        let content = json!([{"type": "text", "text": error}]);
                        json!({"type": "mcp_tool_execution_error", "content": content})
                    });
                json!({
                    "id": id, "type": "mcp_call", "status": status, "server_label": SERVER_LABEL,
                    "name": name, "arguments": arguments, "approval_request_id": null,
                    "output": output, "error": error,
                })
            }
        }
    }

    /// The only part of a message's content, or of reasoning's summary.
    pub(super) fn part(&self) -> Value {
        match &self.kind {
            Kind::Message {
                text, annotations, ..
            } => {
                json!({"type": "output_text", "text": text, "annotations": annotations, "logprobs": []})
            }
            Kind::Reasoning { text, .. }
            | Kind::FunctionCall {
                arguments: text, ..
            }
            | Kind::CustomCall { input: text, .. }
            | Kind::ServerCall {
                arguments: text, ..
            } => json!({"type": "summary_text", "text": text}),
        }
    }

    /// The text that deltas append to.
    pub(super) fn text(&mut self) -> &mut String {
        match &mut self.kind {
            Kind::Message { text, .. }
            | Kind::Reasoning { text, .. }
            | Kind::FunctionCall {
                arguments: text, ..
            }
            | Kind::CustomCall { input: text, .. }
            | Kind::ServerCall {
                arguments: text, ..
            } => text,
        }
    }
}

fn with_namespace(mut call: Value, name: &FunctionName) -> Value {
    if let Some(namespace) = &name.namespace {
        call["namespace"] = json!(namespace);
    }
    call
}

/// A result of one of our tools in the form for clients.
pub(super) fn shown_result(result: &str) -> String {
    if result.len() <= RESULT_LIMIT_BYTES {
        return result.to_owned();
    }
    format!(
        "{}…",
        &result[..result.floor_char_boundary(RESULT_LIMIT_BYTES)]
    )
}
