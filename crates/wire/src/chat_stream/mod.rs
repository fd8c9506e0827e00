//! The protocol of `POST /chat/stream`: its request, its frames and its collected answer.

pub mod collected;
pub mod encoder;
pub mod request;

pub use collected::Collected;
pub use encoder::{ChatStreamEncoder, ChatStreamOptions};
pub(crate) use request::mode;
pub use request::{ChatStreamRequest, Mode};
