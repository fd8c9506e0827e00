//! Messages: why a connection to a model server cannot be used.

use domain::CodedMessage;
use schemars::JsonSchema;
use serde::Serialize;

/// Why a connection to a model server cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Connections {
    // Connections.
    #[error("The header “{name}” cannot be set, or its value cannot be sent.")]
    BadExtraHeader { name: String },
    #[error("The query parameter “{name}” cannot be sent.")]
    BadExtraQuery { name: String },
    #[error(
        "A connection can have at most {count} headers and {count} query parameters of its own."
    )]
    TooManyExtras { count: u64 },
    #[error(
        "“{text}” is not a server address. Use one like http://localhost:11434/v1 or https://api.example.com/v1."
    )]
    BadBaseUrl { text: String },
}

impl CodedMessage for Connections {}
