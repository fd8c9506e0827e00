//! Codec for Anthropic's Messages API: requests and answers.

mod answer;
mod block;
mod ids;
mod models;
mod request;

pub(super) mod cache;
pub(super) mod content;
pub(super) mod error;
pub(super) mod messages;
pub(super) mod model;
pub(super) mod schema;
pub(super) mod thinking;
pub(super) mod usage;

pub use answer::Decoder;
pub use error::error;
pub use models::{ListedModel, ModelPage, decode_models};
pub use request::{betas, counted_tokens, encode, encode_count, encode_with_left_out, unsupported};
pub use usage::usage_value;

use domain::Parameter;

use super::OptionalField;

/// The name under which answers in this format are stored; see [`domain::Provenance`].
pub const PROVIDER: &str = "anthropic";

/// The value of the header `anthropic-version` that this module writes and reads.
pub const VERSION: &str = "2023-06-01";

/// The header that carries the API key.
pub const KEY_HEADER: &str = "x-api-key";

/// The header that carries [`VERSION`].
pub const VERSION_HEADER: &str = "anthropic-version";

/// The header that lists betas, comma-separated; see [`betas`].
pub const BETA_HEADER: &str = "anthropic-beta";

/// Fields that requests can do without.
pub const OPTIONAL_FIELDS: &[OptionalField] = &[
    OptionalField::new(
        &["temperature"],
        &["temperature"],
        Some(Parameter::Temperature),
    ),
    OptionalField::new(&["top_p"], &["top_p"], Some(Parameter::TopP)),
    OptionalField::new(
        &["stop_sequences"],
        &["stop_sequences"],
        Some(Parameter::Stop),
    ),
    OptionalField::new(
        &["output_config", "effort"],
        &["effort"],
        Some(Parameter::ReasoningEffort),
    ),
    OptionalField::new(
        &["thinking"],
        &["thinking"],
        Some(Parameter::ReasoningEffort),
    ),
];
