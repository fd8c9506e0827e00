//! Messages for people that this crate raises, each with a stable code for translation. Their English texts exist only
//! here.

use domain::CodedMessage;
use schemars::JsonSchema;
use serde::Serialize;

/// Why a run was stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Runs {
    #[error("The log could not be stored, so the run was stopped.")]
    NotStored,
}

impl CodedMessage for Runs {}
