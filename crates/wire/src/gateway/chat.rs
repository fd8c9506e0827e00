//! OpenAI's Chat Completions for programs that use a model of another format.

use std::collections::BTreeMap;

use domain::{ProblemCode, Provenance, Role, RunId, StoredBlock};
use provider::{
    AnswerEvent, Citation, DataPart, StopReason, chat_images,
    openai::{ChunkEncoder, DONE},
};
use serde_json::{Value, json};
use sse::Frame;

use super::{AnswerEncoder, PlainRequest, Used};
use crate::{
    conversation::{Checked, check_says_something, messages, object},
    openai::{
        ErrorObject,
        annotation::url_citation,
        completion_encoder::completion_id,
        completion_request::{caller_tools, flag, stream_options, tool},
        usage::priced_usage_value,
    },
    sealed::SealedBlock,
};

/// The format name of our reasoning details, like those of providers such as `anthropic-claude-v1`.
const FORMAT: &str = "glasshouse-v1";

/// Fields that are decoded separately; the rest are parameters.
const READ: [&str; 6] = [
    "model",
    "messages",
    "tools",
    "stream",
    "stream_options",
    "metadata",
];

impl PlainRequest {
    /// Decodes the body of `POST /v1/chat/completions`.
    ///
    /// # Errors
    /// A sentence that names the field and the expected value.
    pub fn of_chat(body: &[u8]) -> Checked<Self> {
        let mut fields = object(body)?;
        let mut messages = messages(fields.get("messages"))?;
        for (message, value) in messages.iter_mut().zip(list(fields.get("messages"))) {
            message.provenance = given_back(message.role, value);
        }
        check_says_something(&messages)?;
        let tools = caller_tools(&fields, "function.name", tool)?;
        let stream = flag(&fields, "stream", "stream")?;
        let include_usage = flag(
            &stream_options(&fields)?,
            "include_usage",
            "stream_options.include_usage",
        )?;
        fields.retain(|name, value| !value.is_null() && !READ.contains(&name.as_str()));
        Ok(Self {
            messages,
            tools,
            fields,
            stream,
            include_usage,
        })
    }
}

/// Encodes an answer for a program that speaks Chat Completions.
#[derive(Debug)]
pub struct ChatAnswer {
    id: String,
    created: i64,
    model: String,
    chunks: ChunkEncoder,
    include_usage: bool,
    text: String,
    reasoning: String,
    /// The owner of the answer's opaque data.
    provider: String,
    /// The reasoning since the last data.
    thought: String,
    /// `reasoning_details` so far.
    details: Vec<Value>,
    /// `annotations` so far.
    annotations: Vec<Value>,
    /// `images` so far.
    images: Vec<Value>,
    /// Id, name and arguments by the index of the call.
    calls: BTreeMap<usize, (String, String, String)>,
    end: (StopReason, Used),
}

impl ChatAnswer {
    /// For the run `id` and the model name in the request; `at` is in milliseconds since 1970. `provider` is the owner
    /// of the answer's opaque data.
    #[must_use]
    pub fn new(id: RunId, at: i64, model: &str, provider: &str, include_usage: bool) -> Self {
        let id = completion_id(id);
        let created = at / 1000;
        Self {
            chunks: ChunkEncoder::new(&id, created, model),
            id,
            created,
            model: model.to_owned(),
            include_usage,
            text: String::new(),
            reasoning: String::new(),
            provider: provider.to_owned(),
            thought: String::new(),
            details: Vec::new(),
            annotations: Vec::new(),
            images: Vec::new(),
            calls: BTreeMap::new(),
            end: (StopReason::Stop, Used::default()),
        }
    }
}

impl ChatAnswer {
    /// Data that a program stores and sends back, in OpenRouter's form; only we read its content.
    fn detail(&mut self, part: DataPart, data: Value) -> Option<Value> {
        let data = Some(data);
        let block = match part {
            DataPart::Reasoning => StoredBlock::Reasoning {
                text: std::mem::take(&mut self.thought),
                data,
            },
            DataPart::Text => StoredBlock::Text { data },
            DataPart::Call(index) => StoredBlock::Call {
                id: self.calls.get(&index)?.0.clone(),
                data,
            },
            DataPart::Other => StoredBlock::Other { data: data? },
        };
        let sealed = SealedBlock {
            provider: self.provider.clone(),
            block,
        }
        .seal();
        let index = self.details.len();
        Some(
            json!({"type": "reasoning.encrypted", "data": sealed, "format": FORMAT, "index": index}),
        )
    }
}

/// The data that a program sends back with an assistant's message.
fn given_back(role: Role, message: &Value) -> Option<Box<Provenance>> {
    let sealed = list(message.get("reasoning_details"))
        .iter()
        .filter_map(|detail| detail.get("data")?.as_str());
    let blocks: Vec<SealedBlock> = sealed.filter_map(SealedBlock::open).collect();
    let provider = blocks
        .first()
        .filter(|_| role == Role::Assistant)?
        .provider
        .clone();
    let blocks = blocks
        .into_iter()
        .filter(|it| it.provider == provider)
        .map(|it| it.block)
        .collect();
    Some(Box::new(Provenance { provider, blocks }))
}

fn list(value: Option<&Value>) -> &[Value] {
    value
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

impl AnswerEncoder for ChatAnswer {
    fn begin(&mut self, out: &mut Vec<Frame>) {
        out.push(frame(self.chunks.role()));
    }

    fn push(&mut self, event: AnswerEvent, out: &mut Vec<Frame>) {
        match event {
            AnswerEvent::Text(delta) => {
                self.text.push_str(&delta);
                out.push(frame(self.chunks.content(&delta)));
            }
            AnswerEvent::Reasoning(delta) => {
                self.reasoning.push_str(&delta);
                self.thought.push_str(&delta);
                out.push(frame(self.chunks.reasoning(&delta)));
            }
            AnswerEvent::CallStarted { index, id, name } => {
                out.push(frame(self.chunks.call_started(index, &id, &name)));
                self.calls.insert(index, (id, name, String::new()));
            }
            AnswerEvent::Arguments { index, delta } => {
                if let Some((_, _, arguments)) = self.calls.get_mut(&index) {
                    arguments.push_str(&delta);
                }
                out.push(frame(self.chunks.call_arguments(index, &delta)));
            }
            AnswerEvent::Data { part, data } => {
                let images = if part == DataPart::Other {
                    chat_images(&data)
                } else {
                    Vec::new()
                };
                if !images.is_empty() {
                    out.push(frame(self.chunks.images(&images)));
                    self.images.extend(images);
                }
                if let Some(detail) = self.detail(part, data) {
                    out.push(frame(self.chunks.reasoning_details(&detail)));
                    self.details.push(detail);
                }
            }
            AnswerEvent::Citations(citations) => {
                let annotations: Vec<Value> = citations.iter().filter_map(annotation).collect();
                if !annotations.is_empty() {
                    out.push(frame(self.chunks.annotations(&annotations)));
                    self.annotations.extend(annotations);
                }
            }
            AnswerEvent::ServerTool(_) | AnswerEvent::Finished { .. } => {}
        }
    }

    fn finish(&mut self, reason: StopReason, used: Used, out: &mut Vec<Frame>) {
        self.end = (reason, used);
        out.push(frame(self.chunks.finish(finish_reason(reason))));
        if self.include_usage {
            out.push(frame(self.chunks.usage_with(&usage(used))));
        }
        out.push(frame(DONE.to_owned()));
    }

    fn fail(&mut self, code: ProblemCode, message: &str, out: &mut Vec<Frame>) {
        out.push(frame(
            ErrorObject::new(code, message, None).to_json().to_string(),
        ));
    }

    fn whole(&mut self) -> Value {
        let calls: Vec<Value> = std::mem::take(&mut self.calls)
            .into_values()
            .map(|(id, name, arguments)| {
                json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
            })
            .collect();
        let is_silent = self.text.is_empty() && !calls.is_empty();
        let content = if is_silent {
            Value::Null
        } else {
            std::mem::take(&mut self.text).into()
        };
        let mut message = json!({"role": "assistant", "content": content, "refusal": null});
        if !self.reasoning.is_empty() {
            message["reasoning_content"] = std::mem::take(&mut self.reasoning).into();
        }
        if !self.details.is_empty() {
            message["reasoning_details"] = std::mem::take(&mut self.details).into();
        }
        if !self.annotations.is_empty() {
            message["annotations"] = std::mem::take(&mut self.annotations).into();
        }
        if !self.images.is_empty() {
            message["images"] = std::mem::take(&mut self.images).into();
        }
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        let (reason, used) = self.end;
        let reason = finish_reason(reason);
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": reason}],
            "usage": usage(used),
        })
    }
}

/// A citation in OpenAI's form, with the quote in OpenRouter's form. `None` without a URL.
fn annotation(citation: &Citation) -> Option<Value> {
    let Citation {
        url,
        title,
        quote,
        place,
        ..
    } = citation;
    let place = place.as_ref().map(|place| (place.start, place.end));
    url_citation(url, title, quote.as_deref(), place)
}

fn usage(used: Used) -> Value {
    priced_usage_value(used.usage, used.cost_micro_usd)
}

fn finish_reason(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Stop | StopReason::Paused => "stop",
        StopReason::ToolCalls => "tool_calls",
        StopReason::Length => "length",
        StopReason::Refused => "content_filter",
    }
}

fn frame(data: String) -> Frame {
    Frame {
        id: None,
        event: None,
        data,
    }
}

#[cfg(test)]
mod tests {
    use domain::{Role, Usage};

    use super::*;

    fn answer() -> Vec<AnswerEvent> {
        vec![
            AnswerEvent::Reasoning("hm".to_owned()),
            AnswerEvent::Text("It is ".to_owned()),
            AnswerEvent::Text("so.".to_owned()),
            AnswerEvent::CallStarted {
                index: 0,
                id: "c1".to_owned(),
                name: "ls".to_owned(),
            },
            AnswerEvent::Arguments {
                index: 0,
                delta: "{\"path\":".to_owned(),
            },
            AnswerEvent::CallStarted {
                index: 1,
                id: "c2".to_owned(),
                name: "pwd".to_owned(),
            },
            AnswerEvent::Arguments {
                index: 0,
                delta: "\"/\"}".to_owned(),
            },
            AnswerEvent::Arguments {
                index: 1,
                delta: "{}".to_owned(),
            },
        ]
    }

    fn used() -> Used {
        let usage = Usage {
            cached_tokens: 9000,
            reasoning_tokens: 2,
            ..Usage::of(10_000, 5)
        };
        Used {
            usage,
            cost_micro_usd: Some(5_700),
        }
    }

    fn written(include_usage: bool) -> (ChatAnswer, Vec<String>) {
        let mut encoder = ChatAnswer::new(
            RunId::generate(),
            9_000,
            "claude",
            "anthropic",
            include_usage,
        );
        let mut out = Vec::new();
        encoder.begin(&mut out);
        for event in answer() {
            encoder.push(event, &mut out);
        }
        encoder.finish(StopReason::ToolCalls, used(), &mut out);
        (encoder, out.into_iter().map(|frame| frame.data).collect())
    }

    #[test]
    fn a_stream_is_read_as_it_was_meant() {
        let (_, frames) = written(true);
        let chunks: Vec<Value> = frames[..frames.len() - 1]
            .iter()
            .map(|data| serde_json::from_str(data).unwrap())
            .collect();
        let all = |pointer: &str| {
            let texts = chunks
                .iter()
                .filter_map(|chunk| chunk.pointer(pointer)?.as_str());
            texts.collect::<Vec<_>>().join("|")
        };
        assert_eq!(all("/choices/0/delta/content"), "|It is |so.");
        assert_eq!(all("/choices/0/delta/reasoning_content"), "hm");
        assert_eq!(
            all("/choices/0/delta/tool_calls/0/function/arguments"),
            "|{\"path\":||\"/\"}|{}"
        );
        assert_eq!(all("/choices/0/finish_reason"), "tool_calls");
        let usage = &chunks.last().unwrap()["usage"];
        assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 9000);
        assert_eq!(usage["completion_tokens_details"]["reasoning_tokens"], 2);
        assert_eq!(usage["cost"], 0.0057);
        assert_eq!(frames.last().unwrap(), "[DONE]");
        assert!(!written(false).1.iter().any(|data| data.contains("usage")));
    }

    #[test]
    fn a_whole_answer() {
        let whole = written(false).0.whole();
        let message = &whole["choices"][0]["message"];
        assert_eq!(message["content"], "It is so.");
        assert_eq!(message["reasoning_content"], "hm");
        assert_eq!(
            message["tool_calls"][0]["function"]["arguments"],
            "{\"path\":\"/\"}"
        );
        assert_eq!(message["tool_calls"][1]["id"], "c2");
        assert_eq!(
            (&whole["model"], &whole["usage"]["total_tokens"]),
            (&"claude".into(), &10_005.into())
        );
    }

    #[test]
    fn provider_data_round_trips() {
        let mut encoder = ChatAnswer::new(RunId::generate(), 0, "claude", "anthropic", false);
        let data = |part, data: Value| AnswerEvent::Data { part, data };
        let signed = json!({"signature": "s"});
        let mut out = Vec::new();
        for event in [
            AnswerEvent::Reasoning("hm".to_owned()),
            data(DataPart::Reasoning, signed.clone()),
            AnswerEvent::Text("So.".to_owned()),
            AnswerEvent::CallStarted {
                index: 0,
                id: "c1".to_owned(),
                name: "ls".to_owned(),
            },
            data(DataPart::Call(0), json!(7)),
            data(DataPart::Call(9), json!("of no call")),
        ] {
            encoder.push(event, &mut out);
        }
        assert_eq!(
            out.iter()
                .filter(|frame| frame.data.contains("reasoning_details"))
                .count(),
            2
        );
        let message = encoder.whole()["choices"][0]["message"].clone();
        let body =
            json!({"model": "claude", "messages": [{"role": "user", "content": "Hi"}, message]});
        let request = PlainRequest::of_chat(body.to_string().as_bytes()).unwrap();
        let blocks = vec![
            StoredBlock::Reasoning {
                text: "hm".to_owned(),
                data: Some(signed),
            },
            StoredBlock::Call {
                id: "c1".to_owned(),
                data: Some(json!(7)),
            },
        ];
        let expected = Provenance {
            provider: "anthropic".to_owned(),
            blocks,
        };
        assert_eq!(request.messages[1].provenance.as_deref(), Some(&expected));
        assert_eq!(request.messages[0].provenance, None);
        let forged = json!({"model": "claude", "messages": [
            {"role": "user", "content": "Hi", "reasoning_details": message["reasoning_details"]},
            {"role": "assistant", "content": "So.", "reasoning_details": [{"data": "x"}, 7, {"data": 7}]},
        ]});
        let request = PlainRequest::of_chat(forged.to_string().as_bytes()).unwrap();
        assert!(
            request
                .messages
                .iter()
                .all(|message| message.provenance.is_none())
        );
    }

    #[test]
    fn a_request() {
        let body = json!({
            "model": "claude", "stream": true, "stream_options": {"include_usage": true}, "temperature": 0.5, "seed": null,
            "messages": [{"role": "user", "content": "Hi"}], "tool_choice": "required",
            "tools": [{"type": "function", "function": {"name": "ls"}}],
        });
        let request = PlainRequest::of_chat(body.to_string().as_bytes()).unwrap();
        assert_eq!(request.messages, [domain::Message::text(Role::User, "Hi")]);
        assert_eq!(
            Value::Object(request.fields),
            json!({"temperature": 0.5, "tool_choice": "required"})
        );
        assert_eq!(request.tools[0].name, "ls");
        assert!(request.stream && request.include_usage);
        let error = PlainRequest::of_chat(br#"{"model":"m","messages":[]}"#).unwrap_err();
        assert_eq!(error.field(), Some("messages"));
    }
}
