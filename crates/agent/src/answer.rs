//! The output of one model call.

use domain::{Message, Role, ToolCall};

use crate::provenance::Blocks;

/// The output of one model call.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) calls: Vec<RequestedCall>,
    /// The model reached its output token limit.
    pub(crate) cut: bool,
    /// The provider has paused: repeating the conversation with this answer appended continues it.
    pub(crate) paused: bool,
    /// The model wrote only that it calls no tool.
    pub(crate) calls_nothing: bool,
    /// Input tokens of the call.
    pub(crate) input_tokens: u64,
    /// The agent's answer is held back until hooks have checked it.
    pub(crate) held: bool,
    /// Opaque data that has to be sent back to the provider.
    pub(crate) blocks: Blocks,
}

/// A tool call as the model wrote it, with its id in the log.
#[derive(Debug)]
pub(crate) struct RequestedCall {
    /// Unique within the run.
    pub(crate) id: String,
    /// The call with the model's own id.
    pub(crate) written: ToolCall,
    /// Its index in the stream.
    pub(crate) index: usize,
}

impl RequestedCall {
    /// A call made by our own code.
    pub(crate) fn of_ours(id: String, name: &str, arguments: String) -> Self {
        let written = ToolCall {
            id: id.clone(),
            name: name.to_owned(),
            arguments,
        };
        Self {
            id,
            written,
            index: 0,
        }
    }
}

impl Answer {
    /// An answer read from the log: its text, and its calls with their ids in the log.
    pub(crate) fn from_log(
        text: String,
        calls: impl Iterator<Item = (String, ToolCall)>,
        input_tokens: u64,
        blocks: Blocks,
    ) -> Self {
        let calls = calls
            .enumerate()
            .map(|(index, (id, written))| RequestedCall { id, written, index });
        Self {
            text,
            calls: calls.collect(),
            input_tokens,
            blocks,
            ..Self::default()
        }
    }

    /// Whether there is neither text nor a call.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty()
    }

    /// The assistant message for the next model call.
    pub(crate) fn into_message(self) -> Message {
        let written = |id: &str| {
            self.calls
                .iter()
                .find(|call| call.id == id)
                .map(|call| call.written.id.clone())
        };
        let (content, provenance) = self.blocks.finish(self.text, written);
        let tool_calls = self.calls.into_iter().map(|call| call.written).collect();
        Message {
            tool_calls,
            provenance,
            ..Message::of(Role::Assistant, content)
        }
    }
}
