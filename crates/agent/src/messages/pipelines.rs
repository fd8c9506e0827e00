//! Messages: why a prompt template cannot be used.

use domain::{CodedMessage, LocalizedText};
use schemars::JsonSchema;
use serde::Serialize;

/// Why a prompt template cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Pipelines {
    // Pipelines and tasks.
    #[error("Line {line}, column {column}: {why}")]
    WrongTemplate {
        line: u64,
        column: u64,
        why: LocalizedText,
    },
    #[error("A template can have at most {limit} bytes.")]
    LongTemplate { limit: u64 },
    #[error("“|” can be used only in MESSAGES, not in {name}.")]
    BarInVariable { name: String },
    #[error("“:” can be used only in MESSAGES and prompt, not in {name}.")]
    ColonInVariable { name: String },
    #[error("Unknown variable: {name}.")]
    NoSuchVariable { name: String },
    #[error("The variable {name} is not available in this template.")]
    VariableNotHere { name: String },
    #[error("“{text}” must be start:N, end:N or middletruncate:N.")]
    BadCut { text: String },
    #[error("The template must contain MESSAGES or prompt; otherwise the model does not see them.")]
    TemplateNeedsConversation,
    #[error("The template must contain {name}; otherwise the model does not see it.")]
    TemplateNeeds { name: String },
    #[error(
        "The template must contain the tag <code_interpreter>; otherwise the model does not see it."
    )]
    TemplateNeedsTag,
}

impl CodedMessage for Pipelines {}
