//! Pure codecs for the APIs of model providers. The types here are a model's side of a conversation in no provider's
//! format; each module below is one provider's format, both ways, and [`openai`] is that of chat completions.

mod annotator;
pub mod anthropic;
pub mod bedrock;
pub mod file_part;
pub mod gemini;
pub mod media;
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

/// One call of a model, to be written in the format of its provider.
#[derive(Debug, Clone, Copy)]
pub struct ModelRequest<'a> {
    /// The model's name at the provider.
    pub model: &'a str,
    /// The conversation; what `Message::blocks` gives for the provider of the format goes back to it.
    pub messages: &'a [Message],
    /// The tools the model may call.
    pub tools: &'a [Tool<'a>],
    /// What is asked for beside them.
    pub parameters: &'a Parameters,
    /// Whether the answer is to come in pieces.
    pub stream: bool,
}

/// What people and programs can set for a model call. `None` is the provider's default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters {
    /// 0 to 2; some providers take 0 to 1.
    pub temperature: Option<f64>,
    /// 0 to 1.
    pub top_p: Option<f64>,
    /// Upper limit on written tokens, reasoning included.
    pub max_output_tokens: Option<u64>,
    /// Texts that end the answer.
    pub stop: Vec<String>,
    /// Makes answers repeatable where the provider can do so.
    pub seed: Option<i64>,
    /// How much the model is to reason.
    pub reasoning: Option<Reasoning>,
    /// Which tools it has to call.
    pub tool_choice: ToolChoice,
    /// Whether it may make several calls at once.
    pub parallel_tool_calls: Option<bool>,
    /// What the text of the answer has to be.
    pub answer_format: Option<AnswerFormat>,
}

/// How much a model is to reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reasoning {
    /// Not at all.
    Off,
    /// As the provider thinks right.
    On,
    /// As much as that.
    Effort(Effort),
    /// At most so many tokens.
    Budget(u64),
}

/// Levels of reasoning, from little to much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say all there is")]
pub enum Effort {
    Minimal,
    Low,
    Medium,
    High,
    XHigh,
}

/// Which tools a model has to call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// It decides.
    #[default]
    Auto,
    /// None.
    None,
    /// At least one.
    Required,
    /// The one of this name.
    Tool(String),
}

/// What the text of an answer has to be.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerFormat {
    /// Any JSON object.
    Json,
    /// JSON of this schema.
    Schema {
        /// What the schema is called, `[a-zA-Z0-9_-]{1,64}`.
        name: String,
        /// JSON Schema.
        schema: Value,
        /// Whether the provider has to hold the model to it.
        strict: bool,
    },
}

/// The next piece of an answer.
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
        /// The provider's id for it; made up where it sends none.
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
    /// What the provider wants back with a part of the answer. It ends a piece of reasoning; a text goes on as one for
    /// those who read it, and is parted here only for the provider.
    Data {
        /// The part it belongs to.
        part: DataPart,
        /// The provider's JSON, in a form that only the codec that made it reads.
        data: Value,
    },
    /// What the text so far rests on. [`Annotator`] reads it from the data.
    Citations(Vec<Citation>),
    /// News of a tool that the provider runs. [`Annotator`] reads it from the data.
    ServerTool(ServerTool),
    /// The model is done; nothing follows.
    Finished {
        /// Why it stopped.
        reason: StopReason,
        /// Tokens used, where the provider says.
        usage: Option<Usage>,
    },
}

/// The part of an answer that data belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataPart {
    /// The reasoning since the last part; where there is none, reasoning that nobody can read.
    Reasoning,
    /// The text since the last part; where there is none, an empty text.
    Text,
    /// The call of this index.
    Call(usize),
    /// It is a part by itself, such as the call of a tool that runs at the provider.
    Other,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// It had said all.
    Stop,
    /// It waits for tool results.
    ToolCalls,
    /// It reached the limit on written tokens.
    Length,
    /// The provider's filter cut it, or the model refuses.
    Refused,
    /// The provider wants to be asked again with the answer as it is, and the model goes on.
    Paused,
}

/// What a provider says is wrong, in an answer or in its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AnswerError {
    /// What kind of fault it is.
    pub kind: ErrorKind,
    /// The provider's words.
    pub message: String,
    /// How long the provider wants to be left alone, where the error itself says so.
    pub retry_after: Option<Duration>,
}

impl AnswerError {
    /// An error that says nothing of when to ask again.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry_after: None,
        }
    }
}

/// Kinds of faults, by what can be done about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request: asking again does not help.
    Request,
    /// The conversation is longer than the model can read.
    ContextFull,
    /// The key.
    Key,
    /// The account has no credit left.
    NoCredit,
    /// Too many requests or tokens: later.
    RateLimit,
    /// Too much to do for all: later.
    Overloaded,
    /// The model does not exist.
    NoModel,
    /// The reasoning that was given back is not accepted: the same messages without provenance may be.
    StaleReasoning,
    /// Anything else at the server.
    Server,
    /// What came is not the format.
    Protocol,
}

/// Reads an answer of one format. Pure: bytes have become events of the stream before.
pub trait AnswerDecoder: Send + std::fmt::Debug {
    /// Reads the next event of a stream; `name` is that of the server-sent event.
    ///
    /// # Errors
    /// What the provider says is wrong, or that the event is none of the format.
    fn event(
        &mut self,
        name: Option<&str>,
        data: &str,
        out: &mut Vec<AnswerEvent>,
    ) -> Result<(), AnswerError>;

    /// The stream is over, properly or not. Gives `Finished` where the model was done and it was not given.
    ///
    /// # Errors
    /// The answer is not whole.
    fn end(&mut self, out: &mut Vec<AnswerEvent>) -> Result<(), AnswerError>;

    /// Reads an answer that comes in one piece.
    ///
    /// # Errors
    /// What the provider says is wrong, or that it is none of the format.
    fn whole(&mut self, body: &str, out: &mut Vec<AnswerEvent>) -> Result<(), AnswerError>;
}
