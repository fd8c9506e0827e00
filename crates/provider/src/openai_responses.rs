//! Codec for OpenAI's Responses API, which Azure (`/openai/v1/responses`), DeepSeek and OpenRouter speak as well: the
//! body of `POST /responses`, streamed and complete answers, and errors. Nothing is stored at the provider: reasoning
//! is encrypted and sent back with the conversation.

mod answer_items;
mod content;
mod decoder;
mod error;
mod input;
mod item_data;
mod lenient;
mod request;
mod strict_schema;

pub use decoder::ResponsesDecoder;
pub use error::error;
pub use request::{encode, encode_with_left_out, unsupported};

use domain::Parameter;

use super::OptionalField;

/// The name under which data of this format is stored with a message.
pub const PROVIDER: &str = "openai_responses";

/// Fields that requests can do without.
pub const OPTIONAL_FIELDS: &[OptionalField] = &[
    OptionalField::new(&["reasoning", "summary"], &["reasoning.summary"], None),
    OptionalField::new(
        &["reasoning", "effort"],
        &["reasoning.effort"],
        Some(Parameter::ReasoningEffort),
    ),
    OptionalField::new(
        &["reasoning"],
        &["reasoning"],
        Some(Parameter::ReasoningEffort),
    ),
    OptionalField::new(&["include"], &["include", "encrypted content"], None),
    OptionalField::new(
        &["temperature"],
        &["temperature"],
        Some(Parameter::Temperature),
    ),
    OptionalField::new(&["top_p"], &["top_p"], Some(Parameter::TopP)),
    OptionalField::new(&["parallel_tool_calls"], &["parallel_tool_calls"], None),
    OptionalField::new(
        &["max_output_tokens"],
        &["max_output_tokens"],
        Some(Parameter::MaxOutputTokens),
    ),
    OptionalField::new(&["tool_choice"], &["tool_choice"], None),
    OptionalField::new(&["text", "format"], &["text.format"], None),
    OptionalField::new(&["text"], &["text"], None),
];
