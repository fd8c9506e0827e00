//! Requests of programs for a model itself, and its answers in the format of the program, whichever provider gives them.

mod call_ids;
mod chat;
mod messages;
mod run;

use domain::{Message, ProblemCode, Usage};
use provider::{AnswerEvent, StopReason};
use serde_json::{Map, Value};
use sse::Frame;

pub use call_ids::CallIds;
pub use chat::ChatAnswer;
pub use messages::{MessagesAnswer, messages_error, messages_error_body};
pub use run::RunAnswer;

use crate::openai::CallerTool;

/// A request for a model, in no program's format.
#[derive(Debug, Clone, PartialEq)]
pub struct PlainRequest {
    /// The conversation.
    pub messages: Vec<Message>,
    /// Tools that the program runs itself.
    pub tools: Vec<CallerTool>,
    /// Further fields as Chat Completions calls them, such as `temperature`.
    pub fields: Map<String, Value>,
    /// Whether the answer is to come in pieces.
    pub stream: bool,
    /// Whether a stream ends with the tokens used.
    pub include_usage: bool,
}

/// What a model call has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// Tokens.
    pub usage: Usage,
    /// Millionths of a US dollar, where the price is known.
    pub cost_micro_usd: Option<u64>,
}

/// Writes an answer in the format of the program that asked, in pieces or whole.
pub trait AnswerEncoder: Send {
    /// What a stream begins with.
    fn begin(&mut self, out: &mut Vec<Frame>);

    /// The next piece. `Finished` is passed to [`AnswerEncoder::finish`] instead.
    fn push(&mut self, event: AnswerEvent, out: &mut Vec<Frame>);

    /// The model is done.
    fn finish(&mut self, reason: StopReason, used: Used, out: &mut Vec<Frame>);

    /// The answer broke off, for this reason in words.
    fn fail(&mut self, code: ProblemCode, message: &str, out: &mut Vec<Frame>);

    /// The whole answer, for a program that did not ask for a stream. Everything was pushed before.
    fn whole(&mut self) -> Value;
}
