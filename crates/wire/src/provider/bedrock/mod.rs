//! Amazon Bedrock's Converse API: requests, answers, and the binary frames that streamed answers come in.

mod answer;
mod embedding;
mod error;
mod event_stream;
mod families;
mod models;
mod request;

pub use answer::Decoder;
pub use embedding::{EmbeddingFamily, decode_embeddings};
pub use error::error;
pub use event_stream::{FrameDecoder, FrameError, Message};
pub use models::{ListedModel, decode_models};
pub use request::{counted_tokens, encode, encode_count, path, path_of_count};

/// The name under which answers in this format are stored; see [`domain::Provenance`].
pub const PROVIDER: &str = "bedrock";
