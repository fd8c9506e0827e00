//! OpenAI's chat completions: what we send to a model server, and what comes back.

pub mod chunk;
pub mod chunk_encoder;
pub mod request;
pub mod upstream_error;

pub use chunk::Chunk;
pub use chunk_encoder::ChunkEncoder;
pub use request::{ChatBody, Tool};
pub use upstream_error::UpstreamError;

/// The data of the event that ends a stream.
pub const DONE: &str = "[DONE]";
