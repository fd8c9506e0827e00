//! Providers whose format is not OpenAI's Chat Completions: which address a call goes to, how it is signed, and how the
//! pure codecs of [`provider`] become requests and model events.

mod address;
mod answer;
mod ask;
mod authorize;
mod aws;
mod aws_chain;
mod embedding;
mod fault;
mod format;
mod google;

pub(crate) use address::{FOUNDATION_MODELS, headers, key_header, url};
pub(crate) use answer::NativeAnswer;
pub(crate) use ask::NativeAsk;
pub(crate) use authorize::{Tokens, authorize};
pub(crate) use embedding::EmbeddingFormat;
pub(crate) use fault::{of_answer, of_status};
pub(crate) use format::{Format, listed};
