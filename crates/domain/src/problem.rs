//! A problem as it is shown to people and programs: a stable code and a sentence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{LocalizedText, MessageCode, localized_text::readable};

/// Stable names of everything that can end a run or refuse a request. Documented in `docs/reference/errors.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ProblemCode {
    /// The request is not what this address takes.
    InvalidRequest,
    /// No valid key or session came with the request.
    Unauthenticated,
    /// The caller may not do this.
    Forbidden,
    /// There is no such thing, or it is not the caller's.
    NotFound,
    /// The thing has changed or ended meanwhile.
    Conflict,
    /// The idempotency key was used for another request.
    KeyReused,
    /// The body or a field is over its limit.
    TooLarge,
    /// The caller asks too often.
    RateLimited,
    /// No such model is configured.
    ModelNotFound,
    /// No model can answer now: none is connected, or its server has not been heard of yet.
    ModelUnavailable,
    /// The model server could not be reached.
    ModelUnreachable,
    /// The model server refused the key.
    ModelUnauthorized,
    /// The model server asks to slow down, and kept asking.
    ModelRateLimited,
    /// The model server refused the request.
    ModelRejected,
    /// The conversation is longer than the model can read.
    ModelContextFull,
    /// The model server failed.
    ModelFailed,
    /// The model server sent something that is not the protocol.
    ModelProtocol,
    /// The model server was silent for too long.
    ModelTimeout,
    /// A limit on steps, tokens, time or money was reached.
    LimitReached,
    /// The server stopped while the run was going.
    Interrupted,
    /// The database did not answer.
    Unavailable,
    /// There is no room left where the database is kept.
    StorageFull,
    /// A fault of ours.
    Internal,
}

impl ProblemCode {
    /// Every code, for the documentation check.
    pub const ALL: [Self; 23] = [
        Self::InvalidRequest,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::NotFound,
        Self::Conflict,
        Self::KeyReused,
        Self::TooLarge,
        Self::RateLimited,
        Self::ModelNotFound,
        Self::ModelUnavailable,
        Self::ModelUnreachable,
        Self::ModelUnauthorized,
        Self::ModelRateLimited,
        Self::ModelRejected,
        Self::ModelContextFull,
        Self::ModelFailed,
        Self::ModelProtocol,
        Self::ModelTimeout,
        Self::LimitReached,
        Self::Interrupted,
        Self::Unavailable,
        Self::StorageFull,
        Self::Internal,
    ];

    /// Whether a model call has ended so.
    #[must_use]
    pub fn is_of_model(self) -> bool {
        self.as_str().starts_with("model_")
    }

    /// The code as it stands in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::KeyReused => "key_reused",
            Self::TooLarge => "too_large",
            Self::RateLimited => "rate_limited",
            Self::ModelNotFound => "model_not_found",
            Self::ModelUnavailable => "model_unavailable",
            Self::ModelUnreachable => "model_unreachable",
            Self::ModelUnauthorized => "model_unauthorized",
            Self::ModelRateLimited => "model_rate_limited",
            Self::ModelRejected => "model_rejected",
            Self::ModelContextFull => "model_context_full",
            Self::ModelFailed => "model_failed",
            Self::ModelProtocol => "model_protocol",
            Self::ModelTimeout => "model_timeout",
            Self::LimitReached => "limit_reached",
            Self::Interrupted => "interrupted",
            Self::Unavailable => "unavailable",
            Self::StorageFull => "storage_full",
            Self::Internal => "internal",
        }
    }
}

/// What went wrong, for the person or program that asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[error("{message}")]
pub struct Problem {
    /// Stable name.
    pub code: ProblemCode,
    /// One or two sentences that say what happened and what to do. Never holds secrets.
    pub message: String,
    /// The same by its own code, if it has one.
    #[serde(
        default,
        deserialize_with = "readable",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub sentence: Option<Box<MessageCode>>,
}

impl Problem {
    /// A problem with this code, in these words.
    pub fn new(code: ProblemCode, words: impl Into<LocalizedText>) -> Self {
        let LocalizedText { message, sentence } = words.into();
        Self {
            code,
            message,
            sentence,
        }
    }

    /// What is said of it.
    #[must_use]
    pub fn words(self) -> LocalizedText {
        LocalizedText {
            message: self.message,
            sentence: self.sentence,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_json_names() {
        for code in ProblemCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}
