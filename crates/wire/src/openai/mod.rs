//! OpenAI's Chat Completions and embeddings as we serve them.

pub(crate) mod annotation;
pub mod completion;
pub mod completion_encoder;
pub mod completion_request;
pub mod embeddings;
pub mod error_object;
mod open_webui;
pub mod passed_request;
pub mod research_prefix;
mod text_count;
pub mod usage;
pub mod usage_watch;

pub use completion::Completion;
pub use completion_encoder::{CompletionEncoder, CompletionOptions, outer_call_id, run_of_call};
pub use completion_request::{CallerTool, CompletionRequest};
pub use error_object::ErrorObject;
pub use passed_request::{PassedRequest, text_bytes};
pub use research_prefix::{asks_for_research, without_research_prefixes};
pub use usage_watch::UsageWatch;
