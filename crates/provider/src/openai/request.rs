//! The body of `POST /chat/completions`.

use std::borrow::Cow;

use domain::{FileRef, Message, Part, Role, ToolCall};
use serde::{Serialize, de::IgnoredAny};
use serde_json::{Map, Value, json, value::RawValue};

use super::{
    parameters::ParameterFields,
    returned_data::{AnswerFields, ReturnedData},
};
use crate::{
    file_part::{PDF, file_in_words},
    media::audio_format,
    tool_schema::{ToolFormat, ToolSchema},
};

/// The body of a request. Fields that are `None` or empty are left out.
#[derive(Debug, Clone, Copy)]
pub struct ChatBody<'a> {
    /// The model's name on that server.
    pub model: &'a str,
    /// The conversation.
    pub messages: &'a [Message],
    /// The owner of the opaque data that is sent back, as in `Message::blocks`.
    pub provider: &'a str,
    /// Tools in the protocol's own form.
    pub tools: &'a [Tool<'a>],
    /// The required format of the answer.
    pub response_format: Option<&'a Value>,
    /// The parameters of the call.
    pub parameters: ParameterFields<'a>,
    /// The output token limit under the name that the server knows.
    pub output_limit: Option<OutputLimit>,
    /// Additional fields, none of those above.
    pub extra: Option<&'a Map<String, Value>>,
}

/// The output token limit under the name that the server knows.
#[derive(Debug, Clone, Copy)]
pub enum OutputLimit {
    /// `max_tokens`, which nearly all servers accept.
    MaxTokens(u64),
    /// `max_completion_tokens`, which newer OpenAI models require.
    MaxCompletionTokens(u64),
}

/// A tool as offered to the model.
#[derive(Debug, Clone, Copy)]
pub struct Tool<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it does.
    pub description: &'a str,
    /// JSON Schema of its arguments.
    pub parameters: &'a ToolSchema,
}

impl ChatBody<'_> {
    /// The JSON of a streaming request that asks for usage at the end.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let (max_tokens, max_completion_tokens) = match self.output_limit {
            Some(OutputLimit::MaxTokens(limit)) => (Some(limit), None),
            Some(OutputLimit::MaxCompletionTokens(limit)) => (None, Some(limit)),
            None => (None, None),
        };
        let body = Body {
            model: self.model,
            messages: messages(self.messages, self.provider),
            tools: self.tools.iter().map(tool).collect(),
            response_format: self.response_format,
            parameters: self.parameters,
            max_tokens,
            max_completion_tokens,
            stream: true,
            stream_options: StreamOptions {
                include_usage: true,
            },
            extra: self.extra,
        };
        let mut json = Vec::with_capacity(self.size_hint());
        // Serializing plain structs to memory cannot fail.
        match serde_json::to_writer(&mut json, &body) {
            Ok(()) => json,
            Err(_) => Vec::new(),
        }
    }

    /// The approximate size of the JSON, so that it is seldom reallocated.
    fn size_hint(&self) -> usize {
        let tools = self
            .tools
            .iter()
            .map(|tool| tool.description.len() + tool.parameters.json().get().len() + 128);
        let content = |part: &Part| match part {
            Part::Text { text } => text.len() + text.len() / 8 + 32,
            Part::Image { url }
            | Part::Audio { url }
            | Part::Video { url }
            | Part::File { url, .. } => url.len() + 128,
            Part::Document { .. } | Part::Collection { .. } => 0,
        };
        let messages = self.messages.iter().map(|message| {
            let calls = message
                .tool_calls
                .iter()
                .map(|call| call.arguments.len() * 2 + 128)
                .sum::<usize>();
            message.content.iter().map(content).sum::<usize>() + calls + 96
        });
        512 + tools.sum::<usize>() + messages.sum::<usize>()
    }
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<&'a Value>,
    #[serde(flatten)]
    parameters: ParameterFields<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(flatten)]
    extra: Option<&'a Map<String, Value>>,
}

/// Borrowed, since every call of the model sends all schemas again.
#[derive(Serialize)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireDescription<'a>,
}

#[derive(Serialize)]
struct WireDescription<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: Role,
    // Omitted with calls, not null, which llama-cpp-python refuses.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Content<'a>>,
    #[serde(flatten)]
    fields: AnswerFields<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<WireCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<WirePart<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum WirePart<'a> {
    Text {
        text: Cow<'a, str>,
    },
    /// Mistral's form.
    Thinking {
        thinking: [ThinkingText<'a>; 1],
    },
    ImageUrl {
        image_url: Url<'a>,
    },
    InputAudio {
        input_audio: InputAudio<'a>,
    },
    AudioUrl {
        audio_url: Url<'a>,
    },
    VideoUrl {
        video_url: Url<'a>,
    },
    File {
        file: FileData<'a>,
    },
}

#[derive(Debug, Serialize)]
pub(super) struct FileData<'a> {
    filename: &'a str,
    file_data: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "text")]
pub(super) struct ThinkingText<'a> {
    pub(super) text: &'a str,
}

#[derive(Debug, Serialize)]
pub(super) struct Url<'a> {
    url: &'a str,
}

#[derive(Debug, Serialize)]
pub(super) struct InputAudio<'a> {
    data: &'a str,
    format: &'a str,
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunction<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a Value>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: Cow<'a, str>,
}

/// Precedes the pictures and sounds of tools.
const RETURNED: &str = "What the tool calls above returned beside text:";

/// The messages of the conversation. Nearly all servers accept only text in a tool message, so pictures and sounds
/// follow in a user message, after the results of all calls of a step.
fn messages<'a>(messages: &'a [Message], provider: &str) -> Vec<WireMessage<'a>> {
    let mut written = Vec::with_capacity(messages.len());
    let mut returned = Vec::new();
    for it in messages {
        if it.role == Role::Tool {
            returned.extend(
                it.content
                    .iter()
                    .filter(|part| part.medium().is_some())
                    .filter_map(part),
            );
        } else {
            written.extend(user_message(&mut returned));
        }
        written.push(message(it, provider));
    }
    written.extend(user_message(&mut returned));
    written
}

/// A user message with these parts, which are taken; `None` if there are none.
fn user_message<'a>(parts: &mut Vec<WirePart<'a>>) -> Option<WireMessage<'a>> {
    if parts.is_empty() {
        return None;
    }
    parts.insert(
        0,
        WirePart::Text {
            text: Cow::Borrowed(RETURNED),
        },
    );
    let content = Some(Content::Parts(std::mem::take(parts)));
    Some(WireMessage {
        role: Role::User,
        content,
        fields: AnswerFields::default(),
        tool_calls: Vec::new(),
        tool_call_id: None,
    })
}

fn message<'a>(message: &'a Message, provider: &str) -> WireMessage<'a> {
    let given = ReturnedData::of(message, provider);
    let content = match (message.role, given.content) {
        (_, Some(content)) => content,
        (Role::Tool, None) => Content::Text(message.result_text()),
        // It was split for another provider.
        (Role::Assistant, None) if message.provenance.is_some() => {
            Content::Text(Cow::Owned(message.plain_text()))
        }
        (_, None) => content(&message.content),
    };
    let only_calls =
        !message.tool_calls.is_empty() && matches!(&content, Content::Text(t) if t.is_empty());
    let extra = |call: &ToolCall| {
        given
            .calls
            .iter()
            .find(|(id, _)| *id == call.id)
            .map(|(_, extra)| *extra)
    };
    WireMessage {
        role: message.role,
        content: (!only_calls).then_some(content),
        fields: given.fields,
        tool_calls: message
            .tool_calls
            .iter()
            .map(|it| call(it, extra(it)))
            .collect(),
        tool_call_id: message.tool_call_id.as_deref(),
    }
}

/// Text alone is sent as a string, which every server understands.
fn content(parts: &[Part]) -> Content<'_> {
    match parts {
        parts if !parts.iter().any(|part| part.medium().is_some()) => text_content(parts),
        parts => Content::Parts(parts.iter().filter_map(part).collect()),
    }
}

fn text_content(parts: &[Part]) -> Content<'_> {
    match parts {
        [] => Content::Text(Cow::Borrowed("")),
        [Part::Text { text }] => Content::Text(Cow::Borrowed(text)),
        parts => Content::Text(Cow::Owned(domain::message::plain_text(parts))),
    }
}

/// References of a person are resolved to text before, so they have no form here.
pub(super) fn part(part: &Part) -> Option<WirePart<'_>> {
    if let Some(file) = part.as_file() {
        return Some(file_part(file));
    }
    match part {
        Part::Text { text } => Some(WirePart::Text {
            text: Cow::Borrowed(text),
        }),
        Part::Image { url } => Some(WirePart::ImageUrl {
            image_url: Url { url },
        }),
        Part::Audio { url } => Some(match input_audio(url) {
            Some(input_audio) => WirePart::InputAudio { input_audio },
            // vLLM's form.
            None => WirePart::AudioUrl {
                audio_url: Url { url },
            },
        }),
        Part::Video { url } => Some(WirePart::VideoUrl {
            video_url: Url { url },
        }),
        Part::File { .. } | Part::Document { .. } | Part::Collection { .. } => None,
    }
}

/// PDF files in OpenAI's form; other files become text.
fn file_part(file: FileRef<'_>) -> WirePart<'_> {
    match file {
        FileRef {
            url,
            media_type: PDF,
            name,
        } if url.starts_with("data:") => {
            let filename = if name.is_empty() { "file.pdf" } else { name };
            WirePart::File {
                file: FileData {
                    filename,
                    file_data: url,
                },
            }
        }
        file => WirePart::Text {
            text: Cow::Owned(file_in_words(file)),
        },
    }
}

/// Sound in OpenAI's form: Base64 and the name of the format.
fn input_audio(url: &str) -> Option<InputAudio<'_>> {
    let (format, data) = url.strip_prefix("data:audio/")?.split_once(";base64,")?;
    Some(InputAudio {
        data,
        format: audio_format(format),
    })
}

fn call<'a>(call: &'a ToolCall, extra_content: Option<&'a Value>) -> WireCall<'a> {
    let arguments = readable_arguments(&call.arguments);
    let function = WireFunction {
        name: &call.name,
        arguments,
    };
    WireCall {
        id: &call.id,
        kind: "function",
        function,
        extra_content,
    }
}

/// Some servers parse the arguments in the history and answer 500 if they are no object; then the model sees its own
/// text inside one.
fn readable_arguments(raw: &str) -> Cow<'_, str> {
    let text = raw.trim();
    if text.is_empty() {
        return Cow::Borrowed("{}");
    }
    if text.starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok() {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(json!({ "not_json": raw }).to_string())
}

fn tool<'a>(tool: &Tool<'a>) -> WireTool<'a> {
    let &Tool {
        name,
        description,
        parameters,
    } = tool;
    let function = WireDescription {
        name,
        description,
        parameters: parameters.json_for(ToolFormat::Chat),
    };
    WireTool {
        kind: "function",
        function,
    }
}

#[cfg(test)]
mod tests;
