//! Pure codecs for every wire format: no clock, no sockets, no database.

pub mod chat_stream;
pub mod conversation;
pub mod openai;
pub mod sse;

pub use conversation::InvalidRequest;
pub use sse::Frame;
