//! The AI SDK's UI message stream: its chat request, and the parts of the answer.

mod encoder;
mod request;

pub use encoder::UiMessageEncoder;
pub use request::{ApprovalResponse, UiMessageRequest};
