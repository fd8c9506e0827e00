//! Translates requests and answers between a program's format and any model provider.

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

/// A model request, independent of the program's format.
#[derive(Debug, Clone, PartialEq)]
pub struct PlainRequest {
    /// The conversation.
    pub messages: Vec<Message>,
    /// Tools that the program runs itself.
    pub tools: Vec<CallerTool>,
    /// Additional fields under their Chat Completions names, such as `temperature`.
    pub fields: Map<String, Value>,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Whether a stream ends with the usage.
    pub include_usage: bool,
}

/// The usage of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// Tokens.
    pub usage: Usage,
    /// Cost in millionths of a US dollar, if the price is known.
    pub cost_micro_usd: Option<u64>,
}

/// Encodes an answer in the format of the requesting program, streamed or complete.
pub trait AnswerEncoder: Send {
    /// The frames at the start of a stream.
    fn begin(&mut self, out: &mut Vec<Frame>);

    /// Encodes the next event. `Finished` is passed to [`AnswerEncoder::finish`] instead.
    fn push(&mut self, event: AnswerEvent, out: &mut Vec<Frame>);

    /// The model is done.
    fn finish(&mut self, reason: StopReason, used: Used, out: &mut Vec<Frame>);

    /// The answer broke off for this reason.
    fn fail(&mut self, code: ProblemCode, message: &str, out: &mut Vec<Frame>);

    /// The complete answer, for a program that did not request a stream. All events were pushed before.
    fn whole(&mut self) -> Value;
}
