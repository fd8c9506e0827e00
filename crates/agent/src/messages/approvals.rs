//! Messages: why an answer to a waiting call is refused.

use domain::CodedMessage;
use schemars::JsonSchema;
use serde::Serialize;

/// Why an answer to a waiting call is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Approvals {
    // Questions of a run.
    #[error(
        "This is no longer waiting for an answer: it was already answered, or the run has ended."
    )]
    NotWaiting,
    #[error("The edited arguments do not fit the tool: {why}")]
    ArgumentsUnfit { why: String },
    #[error("The administrator requires approval for each of these calls. Allow only this one.")]
    AskedEachTime,
    #[error("A pattern can have at most {limit} bytes.")]
    LongPattern { limit: u64 },
    #[error("A rule can name at most {count} arguments.")]
    TooManyArguments { count: u64 },
}

impl CodedMessage for Approvals {}
