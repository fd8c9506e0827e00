//! What goes back to a server of chat completions with a message that its model wrote: reasoning in the very field in
//! which it came, and the data of calls. The server that reads our messages has no standard for either:
//!
//! | data of the block | server | how it goes back |
//! |---|---|---|
//! | `{"field": "reasoning_content"}` | DeepSeek, Kimi, GLM, Qwen, vLLM | the text under that name |
//! | `{"field": "reasoning"}`, `{"field": "thinking"}` | Groq, Cerebras, Ollama | the same |
//! | `{"reasoning_details": […]}` | OpenRouter | as it came, beside the text as `reasoning` |
//! | `{"content_thinking": true}` | Mistral | a part of the content |
//! | `{"extra_content": {…}}` of a call | Gemini | beside the call |
//! | `{"images": […]}` | OpenRouter, LiteLLM | beside the content |

use std::borrow::Cow;

use domain::{Block, Message};
use serde::Serialize;
use serde_json::Value;

use super::request::{Content, ThinkingText, WirePart, part};

/// The fields of an assistant's message that carry reasoning and generated pictures.
#[derive(Debug, Default, Serialize)]
pub(super) struct AnswerFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasoning_details: Vec<&'a Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<&'a Value>,
}

/// The data to send back with one message.
#[derive(Debug, Default)]
pub(super) struct ReturnedData<'a> {
    pub(super) fields: AnswerFields<'a>,
    /// The content, if it differs from that for other servers.
    pub(super) content: Option<Content<'a>>,
    /// The `extra_content` of calls by their ids.
    pub(super) calls: Vec<(&'a str, &'a Value)>,
}

impl<'a> ReturnedData<'a> {
    /// Nothing for messages of other providers.
    pub(super) fn of(message: &'a Message, provider: &str) -> Self {
        let is_its_own = message
            .provenance
            .as_deref()
            .is_some_and(|it| it.provider == provider);
        if !is_its_own {
            return Self::default();
        }
        let mut given = Self::default();
        let mut parts = Vec::new();
        for block in message.blocks(provider) {
            match block {
                Block::Reasoning {
                    text,
                    data: Some(data),
                } => given.add_reasoning(text, data, &mut parts),
                Block::Part { part: it, .. } => parts.extend(part(it)),
                Block::Call {
                    call,
                    data: Some(data),
                } => {
                    given.calls.extend(
                        data.get("extra_content")
                            .map(|extra| (call.id.as_str(), extra)),
                    );
                }
                Block::Other { data } => {
                    let images = data.get("images").and_then(Value::as_array);
                    given.fields.images.extend(images.into_iter().flatten());
                }
                Block::Reasoning { data: None, .. } | Block::Call { data: None, .. } => {}
            }
        }
        given.content = Some(content(parts));
        given
    }

    fn add_reasoning(&mut self, text: &'a str, data: &'a Value, parts: &mut Vec<WirePart<'a>>) {
        let fields = &mut self.fields;
        if data.get("content_thinking").is_some() {
            parts.push(WirePart::Thinking {
                thinking: [ThinkingText { text }],
            });
            return;
        }
        let details = data.get("reasoning_details").and_then(Value::as_array);
        fields
            .reasoning_details
            .extend(details.into_iter().flatten());
        let field = match data.get("field").and_then(Value::as_str) {
            Some("reasoning_content") => &mut fields.reasoning_content,
            Some("thinking") => &mut fields.thinking,
            Some("reasoning") => &mut fields.reasoning,
            None if details.is_some() && !text.is_empty() => &mut fields.reasoning,
            Some(_) | None => return,
        };
        match field {
            Some(before) => before.to_mut().push_str(text),
            None => *field = Some(Cow::Borrowed(text)),
        }
    }
}

/// Text alone is sent as a string, joined as it came.
fn content(mut parts: Vec<WirePart<'_>>) -> Content<'_> {
    if !parts
        .iter()
        .all(|part| matches!(part, WirePart::Text { .. }))
    {
        return Content::Parts(parts);
    }
    match parts.as_mut_slice() {
        [WirePart::Text { text }] => Content::Text(std::mem::take(text)),
        _ => {
            let texts = parts.into_iter().filter_map(|part| match part {
                WirePart::Text { text } => Some(text),
                _ => None,
            });
            Content::Text(Cow::Owned(texts.collect()))
        }
    }
}
