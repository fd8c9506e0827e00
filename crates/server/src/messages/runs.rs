//! Messages: why a run did not go on.

use domain::CodedMessage;
use schemars::JsonSchema;
use serde::Serialize;

/// Why a run did not go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Runs {
    // Research, and retrieval before an answer.
    #[error("Web search is not available here, so this is answered without it.")]
    NoWebHere,

    // Unintended ends of runs.
    #[error(
        "The server stopped repeatedly during this run, so it was ended. What it wrote is kept; ask again to continue."
    )]
    GivenUp,
    #[error(
        "The server was restarted during this run, and the model {name} is no longer available."
    )]
    ModelGone { name: String },
}

impl CodedMessage for Runs {}
