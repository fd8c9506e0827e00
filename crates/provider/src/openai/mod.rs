//! Codec for OpenAI's Chat Completions as model servers speak them, with model lists, embeddings, reranking and
//! transcription.

pub mod chunk;
pub mod chunk_encoder;
pub mod embeddings;
pub mod model_list;
pub mod parameters;
pub mod reasoning_complaint;
pub mod request;
pub mod rerank;
mod returned_data;
pub mod status;
pub mod transcription;
pub mod upstream_error;
mod usage_reader;

pub use chunk::{Chunk, CitationFields};
pub use chunk_encoder::ChunkEncoder;
pub use parameters::{Dialect, OPTIONAL_FIELDS, ParameterFields};
pub use reasoning_complaint::ReasoningComplaint;
pub use request::{ChatBody, Tool};
pub use status::Status;
pub use upstream_error::UpstreamError;
pub use usage_reader::read_usage;

/// The data of the event that ends a stream.
pub const DONE: &str = "[DONE]";
