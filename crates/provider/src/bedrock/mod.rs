//! Codec for Amazon Bedrock's Converse API: requests, answers, and the binary frames of streams.

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
pub use request::{embedding_path, encode, encode_with_left_out, path, unsupported};

use domain::Parameter;

use super::OptionalField;

/// The name under which answers in this format are stored; see [`domain::Provenance`].
pub const PROVIDER: &str = "bedrock";

/// Fields that requests can do without.
pub const OPTIONAL_FIELDS: &[OptionalField] = &[
    OptionalField::new(
        &["inferenceConfig", "temperature"],
        &["temperature"],
        Some(Parameter::Temperature),
    ),
    OptionalField::new(
        &["inferenceConfig", "topP"],
        &["topP", "top_p"],
        Some(Parameter::TopP),
    ),
    OptionalField::new(
        &["inferenceConfig", "stopSequences"],
        &["stopSequences", "stop_sequences"],
        Some(Parameter::Stop),
    ),
    OptionalField::new(
        &["additionalModelRequestFields", "output_config"],
        &["effort", "output_config"],
        Some(Parameter::ReasoningEffort),
    ),
    OptionalField::new(
        &["additionalModelRequestFields", "thinking"],
        &["thinking"],
        Some(Parameter::ReasoningEffort),
    ),
    OptionalField::new(
        &["additionalModelRequestFields", "reasoningConfig"],
        &["reasoningConfig", "reasoning"],
        Some(Parameter::ReasoningEffort),
    ),
    OptionalField::new(
        &["additionalModelRequestFields", "reasoning_effort"],
        &["reasoning_effort", "reasoning"],
        Some(Parameter::ReasoningEffort),
    ),
    OptionalField::new(
        &["additionalModelRequestFields", "reasoning_config"],
        &["reasoning_config", "reasoning"],
        Some(Parameter::ReasoningEffort),
    ),
];
