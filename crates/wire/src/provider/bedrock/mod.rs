//! Amazon Bedrock's Converse API: requests, answers, and the binary frames that streamed answers come in.

mod answer;
mod error;
mod event_stream;
mod families;
mod models;
mod request;

pub use answer::Decoder;
pub use error::error;
pub use event_stream::{FrameDecoder, FrameError, Message};
pub use models::{ListedModel, decode_models};
pub use request::{encode, path};

/// The name under which answers in this format are stored; see [`domain::Provenance`].
pub const PROVIDER: &str = "bedrock";
