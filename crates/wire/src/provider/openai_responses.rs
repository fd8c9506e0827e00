//! OpenAI's Responses API, which Azure (`/openai/v1/responses`), DeepSeek and OpenRouter speak as well: the body of
//! `POST /responses`, its stream and whole answers, and its errors. Nothing is stored at the provider: reasoning comes
//! encrypted and goes back with the conversation.

mod answer_items;
mod content;
mod decoder;
mod error;
mod input;
mod item_data;
mod lenient;
mod model_family;
mod refused_parameter;
mod request;
mod strict_schema;

pub use decoder::ResponsesDecoder;
pub use error::error;
pub use refused_parameter::{RequestWithout, without_refused_parameter};
pub use request::encode;

/// The name under which data of this format is stored with a message.
pub const PROVIDER: &str = "openai_responses";
