//! What is asked of a chat model and what it sends back, whichever server it lives on.

use std::sync::Arc;

use domain::{
    CallTrace, Coded, LeftOut, Message, ModelParameters, Problem, ProblemCode, Usage, Words,
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
    /// How the model is to be told about the tools.
    pub tool_mode: ToolMode,
    /// The words that tell of them where the protocol does not; nothing where such models are to have no tools.
    pub tool_prompt: Option<&'a ToolPrompt>,
    /// What is set for the call; its system prompt is to be among the messages.
    pub parameters: &'a ModelParameters,
    /// The JSON that the answer has to be, as `response_format` says it. Only where no tools are offered, and left
    /// out where the server does not know it: the conversation has to ask for it too.
    pub answer_format: Option<&'a Value>,
    /// Whether a model that thinks before it answers is asked to leave that out, where its server knows how. Only where
    /// no tools are offered.
    pub without_thinking: bool,
    /// Further fields of the request, such as `top_k`, sent to the server as they are.
    pub extra: Option<&'a Map<String, Value>>,
    /// What the server is told of the trace that the call belongs to.
    pub trace: Option<&'a CallTrace>,
    /// Who the call is made for; only trusted servers are told.
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

/// What a model is not told of a tool, as its server does not take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolLoss {
    /// A part of the schema of its arguments.
    Simpler,
    /// The tool.
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

/// How tools are told in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolPrompt {
    /// The text around the places where the tools stand, as a list in JSON.
    pub tools: Vec<String>,
    /// How code in tags is told of, where a tool runs it.
    pub code: Option<CodePrompt>,
}

/// How code in tags, `<code_interpreter type="code" lang="python">`, is told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodePrompt {
    /// The tool that runs it, by its argument `code`.
    pub tool: String,
    /// The text around the places where the tool's description stands.
    pub text: Vec<String>,
    /// Why code is not run although the model has learned to write it: what stands below code where the tool is not offered.
    pub not_run: Option<String>,
}

/// How a model is told about tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolMode {
    /// The protocol's own tools; an answer that is nothing but calls in the markup of the model's template counts as calls.
    #[default]
    Native,
    /// The answer is forced into a JSON schema that chooses between a call and a reply: for small models.
    Schema,
    /// The tools are told in words and the calls are written as text: for servers that do neither.
    Prompt,
    /// No tools are offered.
    Off,
}

/// The next thing a model sent.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// More of the answer's text.
    TextDelta(String),
    /// More reasoning.
    ReasoningDelta(String),
    /// All text of the answer so far was reasoning: its end has come without a beginning.
    TextWasReasoning,
    /// A tool call begins. Calls may interleave; `index` tells them apart.
    ToolCallStarted {
        /// Which call of this answer, from 0.
        index: usize,
        /// The model's id for it; made up where the server sent none.
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
    /// The server did not answer properly and will be asked again. Only before the first token.
    Retrying {
        /// How many tries have failed.
        failed_attempts: u32,
        /// How long we wait, milliseconds.
        wait_ms: u64,
        /// Why.
        reason: Words,
    },
    /// Another key or another server of the same model is asked at once. Only before the first token.
    Turned {
        /// What went wrong, and who is asked now.
        words: Words,
    },
    /// The server has refused these tools' schemas and is asked again with what is said of each. Only before the first
    /// token.
    ToolsRefused {
        /// The tools by name.
        tools: Vec<(String, ToolLoss)>,
    },
    /// What was set for the call is not sent, as the model does not take it. Only before the first token.
    ParameterLeftOut(LeftOut),
    /// What the provider wants back with a part of the answer.
    ProviderData {
        /// The part it belongs to.
        part: DataPart,
        /// The provider's JSON.
        data: Value,
    },
    /// What the text so far rests on.
    Citations(Vec<Citation>),
    /// News of a tool that the provider runs.
    ServerTool(ServerTool),
    /// What the server says that it is doing, on one line without secrets. Each takes the place of the one before.
    Status {
        /// The line; may be empty where it is only taken away.
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
        /// Tokens used, where the server says.
        usage: Option<Usage>,
    },
}

impl ModelEvent {
    /// Whether it is a piece of the answer, and not something that is said about it.
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
            | Self::Turned { .. }
            | Self::ToolsRefused { .. }
            | Self::ParameterLeftOut(_)
            | Self::Status { .. } => false,
        }
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// It had said all.
    Stop,
    /// It waits for tool results.
    ToolCalls,
    /// All that it has written is that it calls no tool: it has said nothing to the person yet.
    CallsNothing,
    /// It reached the token limit.
    Length,
    /// The server's filter cut it.
    ContentFilter,
    /// Its provider wants to be asked again with the answer as it is, and the model goes on.
    Paused,
}

/// A model call that failed for good. `Display` is the sentence for the person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// One of the `Model…` codes.
    pub code: ProblemCode,
    /// What happened and what to do, in words; never holds a key.
    pub message: String,
    /// The same by its code, where it has one.
    pub sentence: Option<Box<Coded>>,
    /// In how many seconds the server wants to be asked again, where it says so.
    pub retry_after_s: Option<u32>,
}

impl ModelError {
    /// An error with this code, in these words.
    pub fn new(code: ProblemCode, words: impl Into<Words>) -> Self {
        let Words { message, sentence } = words.into();
        Self {
            code,
            message,
            sentence,
            retry_after_s: None,
        }
    }

    /// What is said of it.
    #[must_use]
    pub fn words(self) -> Words {
        Words {
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
