//! The AI SDK's UI message stream: the request its chat sends, and the parts it is answered with.

mod encoder;
mod request;

pub use encoder::UiMessageEncoder;
pub use request::{ApprovalResponse, UiMessageRequest};
