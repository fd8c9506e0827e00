//! Messages: why an input to a running run is refused.

use domain::CodedMessage;
use schemars::JsonSchema;
use serde::Serialize;

/// Why an input to a running run is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Inputs {
    #[error("The run has ended. Send this as a new message.")]
    RunHasEnded,
    #[error("The run cannot take a message just now. Try again in a moment.")]
    RunNotWorking,
    #[error("{count} messages are waiting for this run. Wait until it has read some.")]
    TooManyInputs { count: u64 },
    #[error("This run has no such message.")]
    NoSuchInput,
    #[error("The agent has already read this message.")]
    InputWasRead,
}

impl CodedMessage for Inputs {}
