//! OpenAI's chat completions, both ways: as we ask model servers, and as programs ask us.

pub mod chunk;
pub mod chunk_encoder;
pub mod completion;
pub mod completion_encoder;
pub mod completion_request;
pub mod embeddings;
pub mod error_object;
mod given_back;
pub mod model_list;
mod open_webui;
pub mod parameters;
pub mod passing;
pub mod reasoning_complaint;
pub mod request;
pub mod rerank;
pub mod research_prefix;
pub mod status;
mod text_count;
pub mod upstream_error;
mod usage_reader;
pub mod usage_watch;

pub use chunk::{Chunk, CitationFields};
pub use chunk_encoder::ChunkEncoder;
pub use completion::Completion;
pub use completion_encoder::{CompletionEncoder, CompletionOptions, outer_call_id, run_of_call};
pub use completion_request::{CallerTool, CompletionRequest};
pub use error_object::ErrorObject;
pub use parameters::{Dialect, OPTIONAL_FIELDS, ParameterFields};
pub use passing::{Passing, text_bytes};
pub use reasoning_complaint::ReasoningComplaint;
pub use request::{ChatBody, Tool};
pub use research_prefix::{asks_for_research, without_research_prefixes};
pub use status::Status;
pub use upstream_error::UpstreamError;
pub use usage_reader::read_usage;
pub use usage_watch::UsageWatch;

/// The data of the event that ends a stream.
pub const DONE: &str = "[DONE]";
