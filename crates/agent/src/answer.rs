//! What a model said in one call.

use domain::{Message, Role, ToolCall};

use crate::provenance::Blocks;

/// What the model said in one call.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) calls: Vec<RequestedCall>,
    /// It reached the limit on written tokens.
    pub(crate) cut: bool,
    /// Its provider wants to be asked again with it as it is: the model is not done.
    pub(crate) paused: bool,
    /// It says that no tool is called, and nothing else.
    pub(crate) calls_nothing: bool,
    /// Tokens that the model read for it.
    pub(crate) input_tokens: u64,
    /// It is the agent's answer and nobody has seen it: hooks look at it first.
    pub(crate) held: bool,
    /// What its provider wants back.
    pub(crate) blocks: Blocks,
}

/// A tool call as the model wrote it, under the id it has in the log.
#[derive(Debug)]
pub(crate) struct RequestedCall {
    /// Unique within the run.
    pub(crate) id: String,
    /// As the model knows it.
    pub(crate) written: ToolCall,
    /// The index the stream tells calls apart by.
    pub(crate) index: usize,
}

impl RequestedCall {
    /// A call that no model wrote.
    pub(crate) fn of_ours(id: String, name: &str, arguments: String) -> Self {
        let written = ToolCall { id: id.clone(), name: name.to_owned(), arguments };
        Self { id, written, index: 0 }
    }
}

impl Answer {
    /// An answer of before: its text, and the calls with id, name and arguments.
    pub(crate) fn from_log(
        text: String,
        calls: impl Iterator<Item = (String, String, String)>,
        input_tokens: u64,
        blocks: Blocks,
    ) -> Self {
        let call = |(index, (id, name, arguments)): (usize, (String, String, String))| {
            // The model's own id for the call is not in the log; any will do that its result has too.
            let written = ToolCall { id: id.clone(), name, arguments };
            RequestedCall { id, written, index }
        };
        Self { text, calls: calls.enumerate().map(call).collect(), input_tokens, blocks, ..Self::default() }
    }

    /// Whether nothing was said and nothing called.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty()
    }

    /// The assistant's message for the next call.
    pub(crate) fn into_message(self) -> Message {
        let written =
            |id: &str| self.calls.iter().find(|call| call.id == id).map(|call| call.written.id.clone());
        let (content, provenance) = self.blocks.finish(self.text, written);
        let tool_calls = self.calls.into_iter().map(|call| call.written).collect();
        Message { tool_calls, provenance, ..Message::of(Role::Assistant, content) }
    }
}
