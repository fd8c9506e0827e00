//! Encodes the conversation as instructions and input items.

use std::collections::HashSet;

use domain::{Message, Part, Role, message::plain_text};
use serde::Serialize;
use serde_json::Value;

use super::{
    PROVIDER,
    answer_items::{AnswerMessage, CallItem, answer_items},
    content::{Content, InputPart, content, input_part, is_for_output},
    item_data::ReasoningItem,
};

/// Precedes media that follow their message.
const MEDIA_OF_ABOVE: &str = "Media of the messages above:";

/// An item of the input.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum InputItem<'a> {
    Message {
        role: &'static str,
        content: Content<'a>,
    },
    Answer(AnswerMessage<'a>),
    Call(CallItem<'a>),
    Output(CallOutput<'a>),
    Reasoning(ReasoningItem<'a>),
    Verbatim(&'a Value),
}

#[derive(Debug, Serialize)]
pub(super) struct CallOutput<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    call_id: &'a str,
    output: Content<'a>,
}

/// The system messages at the beginning, and everything after them as items.
pub(super) fn input(messages: &[Message]) -> (Option<String>, Vec<InputItem<'_>>) {
    let leading = messages
        .iter()
        .take_while(|message| message.role == Role::System)
        .count();
    let (system, rest) = messages.split_at(leading);
    let system: Vec<String> = system
        .iter()
        .map(|message| plain_text(&message.content))
        .collect();
    let instructions = (!system.is_empty()).then(|| system.join("\n\n"));
    let mut writer = Writer::default();
    rest.iter().for_each(|message| writer.message(message));
    writer.flush_media();
    if writer.items.is_empty() {
        // An empty list is refused.
        writer.items.push(InputItem::Message {
            role: "user",
            content: Content::Text("".into()),
        });
    }
    (instructions, writer.items)
}

#[derive(Debug, Default)]
struct Writer<'a> {
    items: Vec<InputItem<'a>>,
    /// Parts that follow the tool outputs in a user message.
    media: Vec<InputPart<'a>>,
    /// Ids of calls of tools that take free text.
    custom: HashSet<&'a str>,
}

impl<'a> Writer<'a> {
    fn message(&mut self, message: &'a Message) {
        if message.role != Role::Tool {
            self.flush_media();
        }
        match message.role {
            Role::System => self.push("developer", message),
            Role::User => self.push("user", message),
            Role::Tool => self.output(message),
            Role::Assistant => {
                let items = answer_items(message.blocks(PROVIDER), &mut self.custom);
                self.items.extend(items);
                let media = |part: &&Part| part.medium().is_some();
                self.media
                    .extend(message.content.iter().filter(media).filter_map(input_part));
            }
        }
    }

    fn push(&mut self, role: &'static str, message: &'a Message) {
        self.items.push(InputItem::Message {
            role,
            content: content(message.content.iter()),
        });
    }

    fn output(&mut self, message: &'a Message) {
        let call_id = message.tool_call_id.as_deref().unwrap_or_default();
        let (output, media): (Vec<_>, Vec<_>) =
            message.content.iter().partition(|part| is_for_output(part));
        self.media.extend(media.into_iter().filter_map(input_part));
        let kind = match self.custom.contains(call_id) {
            true => "custom_tool_call_output",
            false => "function_call_output",
        };
        let output = match content(output.into_iter()) {
            Content::Text(_) if message.is_error => Content::Text(message.result_text()),
            output => output,
        };
        self.items.push(InputItem::Output(CallOutput {
            kind,
            call_id,
            output,
        }));
    }

    fn flush_media(&mut self) {
        if !self.media.is_empty() {
            let mut parts = std::mem::take(&mut self.media);
            parts.insert(
                0,
                InputPart::Text {
                    text: MEDIA_OF_ABOVE.into(),
                },
            );
            self.items.push(InputItem::Message {
                role: "user",
                content: Content::Parts(parts),
            });
        }
    }
}
