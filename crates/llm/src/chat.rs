//! Requests to chat models and the events that they send back, independent of the server's protocol.

use std::sync::Arc;

use domain::{
    CallTrace, LeftOut, LocalizedText, Message, MessageCode, ModelParameters, Problem, ProblemCode,
    Usage,
};
use provider::{
    Citation, DataPart, ServerTool,
    tool_schema::{Change, ToolSchema},
};
use serde_json::{Map, Value};

use crate::CallerInfo;

/// One call of a chat model. Borrowed: the client encodes it at once and keeps nothing.
#[derive(Debug, Clone, Copy)]
pub struct ChatRequest<'a> {
    /// The conversation so far.
    pub messages: &'a [Message],
    /// The tools the model may call.
    pub tools: &'a [ToolSpec],
    /// How tools are offered to the model.
    pub tool_mode: ToolMode,
    /// The template that describes tools where the protocol does not; `None` if such models get no tools.
    pub tool_prompt: Option<&'a ToolPrompt>,
    /// The parameters of the call; the system prompt must be among the messages.
    pub parameters: &'a ModelParameters,
    /// The required format of the answer, as in `response_format`. Only without tools, and left out if the server does
    /// not support it: the conversation has to ask for it too.
    pub answer_format: Option<&'a Value>,
    /// Asks a reasoning model to answer without thinking, if its server supports that. Only without tools.
    pub without_thinking: bool,
    /// Additional fields of the request, such as `top_k`, sent unchanged.
    pub extra: Option<&'a Map<String, Value>>,
    /// The trace that the call belongs to, which is passed to the server.
    pub trace: Option<&'a CallTrace>,
    /// The caller, disclosed to trusted servers only.
    pub caller: Option<&'a Arc<CallerInfo>>,
}

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ToolSpec {
    /// Name, `[a-zA-Z0-9_-]{1,64}`.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON Schema of the arguments, an object.
    pub parameters: ToolSchema,
}

/// How a tool is reduced because its server does not accept it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolLoss {
    /// A part of the schema of its arguments is left out.
    Simpler,
    /// The whole tool is left out.
    LeftOut,
}

impl From<Change> for ToolLoss {
    fn from(change: Change) -> Self {
        match change {
            Change::Plain => Self::Simpler,
            Change::LeftOut => Self::LeftOut,
        }
    }
}

/// The texts that describe tools in prompt mode.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolPrompt {
    /// The text around the places for the tools, as a list in JSON.
    pub tools: Vec<String>,
    /// The description of code in tags, if a tool runs it.
    pub code: Option<CodePrompt>,
}

/// The description of code in tags, `<code_interpreter type="code" lang="python">`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodePrompt {
    /// The tool that runs the code, passed as its argument `code`.
    pub tool: String,
    /// The text around the places for the tool's description.
    pub text: Vec<String>,
    /// A note below code that a model has learned to write but that no offered tool runs.
    pub not_run: Option<String>,
}

/// How tools are offered to a model.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ToolMode {
    /// Tools of the protocol; an answer that consists only of calls in the markup of the model's template counts as
    /// calls.
    #[default]
    Native,
    /// The answer is forced into a JSON schema that chooses between a call and a reply: for small models.
    Schema,
    /// Tools are described in text and calls are written as text: for servers that support neither tools nor schemas.
    Prompt,
    /// No tools are offered.
    Off,
}

/// The next event of a model's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// More of the answer's text.
    TextDelta(String),
    /// More reasoning.
    ReasoningDelta(String),
    /// All text of the answer so far was reasoning: a closing tag has come without an opening one.
    TextWasReasoning,
    /// A tool call begins. Calls may interleave; `index` tells them apart.
    ToolCallStarted {
        /// Which call of this answer, from 0.
        index: usize,
        /// The server's id for it; generated if the server sent none.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// More of a call's argument text.
    ToolArgumentsDelta {
        /// Which call.
        index: usize,
        /// What to append.
        delta: String,
    },
    /// The server failed and will be asked again. Only before the first token.
    Retrying {
        /// The number of failed attempts.
        failed_attempts: u32,
        /// The maximum number of attempts.
        max_attempts: u32,
        /// The wait before the next attempt, milliseconds.
        wait_ms: u64,
        /// Why.
        reason: LocalizedText,
    },
    /// Another key or another server of the same model is tried at once. Only before the first token.
    FailedOver {
        /// The failure, and the next key or server.
        words: LocalizedText,
    },
    /// The server has refused the schemas of these tools, and the request is repeated with reduced ones. Only before
    /// the first token.
    ToolsRefused {
        /// The tools by name.
        tools: Vec<(String, ToolLoss)>,
    },
    /// A parameter of the call is not sent, as the model does not accept it. Only before the first token.
    ParameterLeftOut(LeftOut),
    /// Opaque data that the provider needs back with a part of the answer.
    ProviderData {
        /// The part it belongs to.
        part: DataPart,
        /// The provider's JSON.
        data: Value,
    },
    /// Citations for the text so far.
    Citations(Vec<Citation>),
    /// Progress of a tool that the provider runs.
    ServerTool(ServerTool),
    /// The server's activity, on one line without secrets. Each replaces the previous one.
    Status {
        /// The line; may be empty if it is only hidden.
        description: String,
        /// The activity has ended.
        done: bool,
        /// The line should be taken away.
        hidden: bool,
    },
    /// The model is done; nothing follows.
    Finished {
        /// Why it stopped.
        reason: FinishReason,
        /// Tokens used, if the server says.
        usage: Option<Usage>,
    },
}

impl ModelEvent {
    /// Whether the event is part of the answer's content.
    #[must_use]
    pub fn is_of_answer(&self) -> bool {
        match self {
            Self::TextDelta(_)
            | Self::ReasoningDelta(_)
            | Self::TextWasReasoning
            | Self::ToolCallStarted { .. }
            | Self::ToolArgumentsDelta { .. }
            | Self::ProviderData { .. }
            | Self::Citations(_)
            | Self::ServerTool(_)
            | Self::Finished { .. } => true,
            Self::Retrying { .. }
            | Self::FailedOver { .. }
            | Self::ToolsRefused { .. }
            | Self::ParameterLeftOut(_)
            | Self::Status { .. } => false,
        }
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// It was complete.
    Stop,
    /// It waits for tool results.
    ToolCalls,
    /// It only wrote that it calls no tool: it has not answered the person yet.
    CallsNothing,
    /// It reached the token limit.
    Length,
    /// The server's filter cut it off.
    ContentFilter,
    /// The provider paused it: the request has to be repeated with the answer so far, and the model continues.
    Paused,
}

/// A model call that failed for good. `Display` is the sentence for the person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// One of the `Model…` codes.
    pub code: ProblemCode,
    /// What happened and how to fix it; never contains a key.
    pub message: String,
    /// The same as a message code, if it has one.
    pub sentence: Option<Box<MessageCode>>,
    /// Seconds after which the server wants to be asked again, if it says so.
    pub retry_after_s: Option<u32>,
}

impl ModelError {
    /// An error with this code and message.
    pub fn new(code: ProblemCode, words: impl Into<LocalizedText>) -> Self {
        let LocalizedText { message, sentence } = words.into();
        Self {
            code,
            message,
            sentence,
            retry_after_s: None,
        }
    }

    /// The message and its code.
    #[must_use]
    pub fn words(self) -> LocalizedText {
        LocalizedText {
            message: self.message,
            sentence: self.sentence,
        }
    }
}

impl From<ModelError> for Problem {
    fn from(error: ModelError) -> Self {
        Self {
            code: error.code,
            message: error.message,
            sentence: error.sentence,
        }
    }
}
