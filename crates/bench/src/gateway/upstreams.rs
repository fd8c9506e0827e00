//! Model servers that give the same answer, each in its own format.

use scripted::{Behaviour, Reply, Request, ScriptedServer, ServerOptions, event_stream};
use serde_json::{Value, json};

use super::load::{TOKEN, TOKENS};

/// The model whose answers arrive in one write, as of a server that is fast relative to the network.
pub(super) const WHOLE: &str = "whole";
/// The model that writes each token separately.
pub(super) const STREAM: &str = "stream";
/// Number of tokens of a whole answer.
const WHOLE_TOKENS: usize = 150;

/// The format of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Chat,
    Messages,
    Gemini,
    Responses,
    Converse,
}

impl Format {
    pub(super) const ALL: [Self; 5] = [
        Self::Chat,
        Self::Messages,
        Self::Gemini,
        Self::Responses,
        Self::Converse,
    ];

    /// The kind of a connection to it.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Chat => "openai",
            Self::Messages => "anthropic",
            Self::Gemini => "gemini",
            Self::Responses => "openai_responses",
            Self::Converse => "bedrock",
        }
    }

    /// Its server's unique name for one of the two models.
    pub(super) fn model(self, name: &str) -> String {
        format!("{}-{name}", self.kind())
    }

    /// Starts a server with both models.
    pub(super) async fn start(self) -> anyhow::Result<ScriptedServer> {
        let stream = Reply::writes(self.content_type(), self.events(TOKENS));
        let at_once = Reply::writes(
            self.content_type(),
            vec![self.events(WHOLE_TOKENS).concat()],
        );
        let object = Reply::json(&self.whole());
        let choose = move |request: &Request| {
            let model = request.body["model"].as_str().unwrap_or(&request.path);
            // Requests that always stream say so in their URL.
            match (
                model.contains(WHOLE),
                request.body["stream"] == false || request.body["stream"].is_null(),
            ) {
                (false, _) => stream.clone(),
                (true, true) if !request.path.contains(WHOLE) => object.clone(),
                (true, _) => at_once.clone(),
            }
        };
        let models = [WHOLE, STREAM].map(|name| self.model(name)).to_vec();
        let options = ServerOptions {
            keep_requests: false,
            models,
            ..ServerOptions::default()
        };
        Ok(ScriptedServer::start_with(Behaviour::answer(choose), options).await?)
    }

    fn content_type(self) -> &'static str {
        match self {
            Self::Converse => event_stream::CONTENT_TYPE,
            _ => "text/event-stream",
        }
    }

    /// The events of an answer: those before its tokens with the first token, those after them with the last.
    pub(super) fn events(self, tokens: usize) -> Vec<Vec<u8>> {
        let texts: Vec<String> = (0..tokens).map(token).collect();
        let (before, after) = self.around(&texts.concat());
        let mut writes: Vec<Vec<u8>> = texts
            .iter()
            .map(|text| self.event(&self.delta(text)))
            .collect();
        let all = |events: &[Value]| {
            events
                .iter()
                .flat_map(|event| self.event(event))
                .collect::<Vec<u8>>()
        };
        if let Some(first) = writes.first_mut() {
            first.splice(..0, all(&before));
        }
        if let Some(last) = writes.last_mut() {
            last.extend(all(&after));
            if self == Self::Chat {
                last.extend(b"data: [DONE]\n\n");
            }
        }
        writes
    }

    fn event(self, event: &Value) -> Vec<u8> {
        let name = event["type"].as_str().unwrap_or_default();
        match self {
            Self::Chat | Self::Gemini => format!("data: {event}\n\n").into_bytes(),
            Self::Messages | Self::Responses => {
                format!("event: {name}\ndata: {event}\n\n").into_bytes()
            }
            Self::Converse => event_stream::event(name, &event["data"]),
        }
    }

    fn delta(self, text: &str) -> Value {
        match self {
            Self::Chat => chunk(json!({ "content": text }), Value::Null),
            Self::Messages => json!({
                "type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text},
            }),
            Self::Gemini => json!({
                "candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}],
                "modelVersion": "scripted", "responseId": "r1",
            }),
            Self::Responses => json!({
                "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0,
                "delta": text, "logprobs": [], "sequence_number": 4,
            }),
            Self::Converse => json!({
                "type": "contentBlockDelta", "data": {"contentBlockIndex": 0, "delta": {"text": text}, "p": "abcdefgh"},
            }),
        }
    }

    /// The events before and after the tokens, whose concatenation is `text`.
    fn around(self, text: &str) -> (Vec<Value>, Vec<Value>) {
        match self {
            Self::Chat => {
                let usage =
                    json!({"prompt_tokens": 200, "completion_tokens": 500, "total_tokens": 700});
                let mut last = chunk(json!({}), "stop".into());
                last["usage"] = usage;
                (
                    vec![chunk(
                        json!({"role": "assistant", "content": ""}),
                        Value::Null,
                    )],
                    vec![last],
                )
            }
            Self::Messages => (
                vec![
                    json!({"type": "message_start", "message": message(json!([]), Value::Null)}),
                    json!({
                        "type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""},
                    }),
                ],
                vec![
                    json!({"type": "content_block_stop", "index": 0}),
                    json!({
                        "type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},
                        "usage": {"output_tokens": 500},
                    }),
                    json!({"type": "message_stop"}),
                ],
            ),
            Self::Gemini => {
                let usage = json!({"promptTokenCount": 200, "candidatesTokenCount": 500, "totalTokenCount": 700});
                let last = json!({
                    "candidates": [{"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": "STOP", "index": 0}],
                    "usageMetadata": usage, "modelVersion": "scripted", "responseId": "r1",
                });
                (Vec::new(), vec![last])
            }
            Self::Responses => responses_around(text),
            Self::Converse => (
                vec![json!({"type": "messageStart", "data": {"role": "assistant"}})],
                vec![
                    json!({"type": "contentBlockStop", "data": {"contentBlockIndex": 0}}),
                    json!({"type": "messageStop", "data": {"stopReason": "end_turn"}}),
                    json!({"type": "metadata", "data": {
                        "usage": {"inputTokens": 200, "outputTokens": 500, "totalTokens": 700}, "metrics": {"latencyMs": 1},
                    }}),
                ],
            ),
        }
    }

    /// The answer without streaming.
    fn whole(self) -> Value {
        let text: String = (0..WHOLE_TOKENS).map(token).collect();
        if self == Self::Messages {
            return message(json!([{"type": "text", "text": text}]), "end_turn".into());
        }
        let message = json!({"role": "assistant", "content": text});
        json!({
            "id": "chatcmpl-scripted", "object": "chat.completion", "created": 0, "model": "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 200, "completion_tokens": 150, "total_tokens": 350},
        })
    }
}

fn token(number: usize) -> String {
    format!("{TOKEN}{number} ")
}

fn chunk(delta: Value, reason: Value) -> Value {
    json!({
        "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": "scripted",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    })
}

fn message(content: Value, reason: Value) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": content,
        "stop_reason": reason, "stop_sequence": null, "usage": {"input_tokens": 200, "output_tokens": 150},
    })
}

fn responses_around(text: &str) -> (Vec<Value>, Vec<Value>) {
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let item = |status: &str, content: Value| {
        json!({
            "id": "msg_1", "type": "message", "status": status, "role": "assistant", "content": content,
        })
    };
    let response = |status: &str, output: Value, usage: Value| {
        json!({
            "id": "resp_1", "object": "response", "status": status, "output": output, "usage": usage,
        })
    };
    let done = item("completed", json!([part(text)]));
    let usage = json!({"input_tokens": 200, "output_tokens": 500, "total_tokens": 700});
    let before = vec![
        json!({"type": "response.created", "response": response("in_progress", json!([]), Value::Null)}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item("in_progress", json!([]))}),
        json!({
            "type": "response.content_part.added", "item_id": "msg_1", "output_index": 0, "content_index": 0, "part": part(""),
        }),
    ];
    let after = vec![
        json!({
            "type": "response.output_text.done", "item_id": "msg_1", "output_index": 0, "content_index": 0, "text": text,
        }),
        json!({
            "type": "response.content_part.done", "item_id": "msg_1", "output_index": 0, "content_index": 0,
            "part": part(text),
        }),
        json!({"type": "response.output_item.done", "output_index": 0, "item": done}),
        json!({"type": "response.completed", "response": response("completed", json!([done]), usage)}),
    ];
    (before, after)
}
