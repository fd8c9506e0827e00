//! Pure codecs for the APIs of model providers. The types here are independent of a provider; each module below encodes
//! and decodes one provider's format, and [`openai`] is that of Chat Completions.

mod annotator;
pub mod anthropic;
pub mod bedrock;
pub mod file_part;
pub mod gemini;
pub mod media;
pub mod multipart;
mod of_chat;
pub mod openai;
mod openai_family;
pub mod openai_responses;
mod pictures;
pub mod refused_field;
mod sent;
pub mod tool_schema;
pub mod url_path;

use std::time::Duration;

use domain::{Message, Usage};
use serde_json::Value;

use crate::openai::Tool;
pub use annotator::{
    Annotator, Citation, MAX_CITATIONS, ServerTool, chat_citations, is_of_whole_answer,
    server_tools, web_address,
};
pub use file_part::file_in_words;
pub(crate) use of_chat::effort_name;
pub use openai_family::budget_effort;
pub use pictures::{IMAGE_GENERATION, chat_images, picture_places};
pub use refused_field::{OptionalField, refused_field};
pub(crate) use sent::{Sent, never_taken};

/// One model call, independent of the provider's format.
#[derive(Debug, Clone, Copy)]
pub struct ModelRequest<'a> {
    /// The model's name at the provider.
    pub model: &'a str,
    /// The conversation; the blocks of `Message::blocks` for the format's provider are sent back.
    pub messages: &'a [Message],
    /// The tools the model may call.
    pub tools: &'a [Tool<'a>],
    /// The parameters of the call.
    pub parameters: &'a Parameters,
    /// Whether the answer is streamed.
    pub stream: bool,
}

/// The settings of a model call. `None` is the provider's default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters {
    /// 0 to 2; some providers accept 0 to 1.
    pub temperature: Option<f64>,
    /// 0 to 1.
    pub top_p: Option<f64>,
    /// Maximum output tokens, including reasoning.
    pub max_output_tokens: Option<u64>,
    /// Stop sequences.
    pub stop: Vec<String>,
    /// Makes answers reproducible if the provider supports it.
    pub seed: Option<i64>,
    /// The reasoning setting.
    pub reasoning: Option<Reasoning>,
    /// The tool choice.
    pub tool_choice: ToolChoice,
    /// Whether parallel calls are allowed.
    pub parallel_tool_calls: Option<bool>,
    /// The format of the answer's text.
    pub answer_format: Option<AnswerFormat>,
}

/// How much a model reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reasoning {
    /// Not at all.
    Off,
    /// The provider's default effort.
    On,
    /// This effort.
    Effort(Effort),
    /// At most this many tokens.
    Budget(u64),
}

/// Levels of reasoning, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say all there is")]
pub enum Effort {
    Minimal,
    Low,
    Medium,
    High,
    XHigh,
}

/// The tool choice of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// None.
    None,
    /// At least one.
    Required,
    /// The tool of this name.
    Tool(String),
}

/// The format of an answer's text.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerFormat {
    /// Any JSON object.
    Json,
    /// JSON that matches this schema.
    Schema {
        /// The name of the schema, `[a-zA-Z0-9_-]{1,64}`.
        name: String,
        /// JSON Schema.
        schema: Value,
        /// Whether the provider must enforce it.
        strict: bool,
    },
}

/// The next event of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerEvent {
    /// More text.
    Text(String),
    /// More reasoning.
    Reasoning(String),
    /// A tool call begins. Calls may interleave; `index` tells them apart.
    CallStarted {
        /// Which call of this answer, from 0.
        index: usize,
        /// The provider's id; generated if it sends none.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// More of a call's argument text.
    Arguments {
        /// Which call.
        index: usize,
        /// What to append.
        delta: String,
    },
    /// Opaque data that the provider needs back with a part of the answer. It ends a piece of reasoning; a text
    /// continues for its readers, and is split here only for the provider.
    Data {
        /// The part it belongs to.
        part: DataPart,
        /// The provider's JSON, in a form that only its own codec reads.
        data: Value,
    },
    /// Citations for the text so far. [`Annotator`] reads them from the data.
    Citations(Vec<Citation>),
    /// Progress of a tool that the provider runs. [`Annotator`] reads it from the data.
    ServerTool(ServerTool),
    /// The model is done; nothing follows.
    Finished {
        /// Why it stopped.
        reason: StopReason,
        /// Tokens used, if the provider says.
        usage: Option<Usage>,
    },
}

/// The part of an answer that opaque data belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataPart {
    /// The reasoning since the last part; if there is none, reasoning that is hidden.
    Reasoning,
    /// The text since the last part; if there is none, an empty text.
    Text,
    /// The call of this index.
    Call(usize),
    /// A separate part, such as the call of a server-side tool.
    Other,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// It was complete.
    Stop,
    /// It waits for tool results.
    ToolCalls,
    /// It reached the output token limit.
    Length,
    /// The provider's filter cut it off, or the model refused.
    Refused,
    /// The provider paused it: the request has to be repeated with the answer so far, and the model continues.
    Paused,
}

/// A provider's error, in or instead of an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AnswerError {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The provider's message.
    pub message: String,
    /// The retry delay in the error itself, if any.
    pub retry_after: Option<Duration>,
}

impl AnswerError {
    /// An error without a retry delay.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry_after: None,
        }
    }
}

/// Kinds of errors, by their remedy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request is invalid: retrying does not help.
    Request,
    /// The conversation is longer than the model can read.
    ContextFull,
    /// The API key is invalid.
    Key,
    /// The account has no credit left.
    NoCredit,
    /// Too many requests or tokens: retry later.
    RateLimit,
    /// The provider is overloaded: retry later.
    Overloaded,
    /// The model does not exist.
    NoModel,
    /// The returned reasoning is not accepted: the same messages without provenance may be.
    StaleReasoning,
    /// Any other server error.
    Server,
    /// The response does not follow the format.
    Protocol,
}

/// Decodes an answer of one format. Pure: the bytes are split into stream events before.
pub trait AnswerDecoder: Send + std::fmt::Debug {
    /// Reads the next event of a stream; `name` is that of the server-sent event.
    ///
    /// # Errors
    /// The provider's error, or that the event does not follow the format.
    fn event(
        &mut self,
        name: Option<&str>,
        data: &str,
        out: &mut Vec<AnswerEvent>,
    ) -> Result<(), AnswerError>;

    /// The stream has ended. Emits `Finished` if the model was done and it was not emitted.
    ///
    /// # Errors
    /// The answer is incomplete.
    fn end(&mut self, out: &mut Vec<AnswerEvent>) -> Result<(), AnswerError>;

    /// Reads an unstreamed answer.
    ///
    /// # Errors
    /// The provider's error, or that the body does not follow the format.
    fn whole(&mut self, body: &str, out: &mut Vec<AnswerEvent>) -> Result<(), AnswerError>;
}
