//! Providers with formats other than OpenAI's Chat Completions: URLs, request signing, and the adapters from the pure
//! codecs of [`provider`] to requests and model events.

mod address;
mod answer;
mod authorize;
mod aws;
mod aws_chain;
mod embedding;
mod fault;
mod format;
mod google;
mod request;

pub(crate) use address::{FOUNDATION_MODELS, headers, key_header, url};
pub(crate) use answer::NativeAnswer;
pub(crate) use authorize::{Tokens, authorize};
pub(crate) use embedding::EmbeddingFormat;
pub(crate) use fault::{of_answer, of_status};
pub(crate) use format::{Format, listed};
pub(crate) use request::NativeRequest;
