//! Pure codecs for every wire format: no clock, no sockets, no database.

pub mod chat_stream;
pub mod openai;
pub mod sse;

pub use sse::Frame;
