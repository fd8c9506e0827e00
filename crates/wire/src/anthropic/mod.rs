//! Anthropic's Messages API as we serve it: requests, answers and errors.

mod answer_encoder;
mod client_messages;
mod client_request;
mod error;

pub use answer_encoder::{AnswerEncoder, encode_whole};
pub use client_request::{ClientRequest, ClientTool};
pub use error::{error_body, error_type, status};
